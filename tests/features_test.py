"""`stoker features`: what is in a table, and a recipe for it that trains, evaluates and predicts as it stands."""
import json
import os
import random
import shlex
import subprocess
import unittest
import xml.etree.ElementTree

from program import ProgramTest

ROWS = 1000
COLUMNS = ["id", "size (m²)", "kind", "rooms", "euros", "empty", "note", "price"]
KINDS = ["house", "flat", "hut, old"]
SHORT = ["--set", "train.device=cpu", "--set", "train.threads=1", "--set", "train.tune=off", "--set", "train.epochs=3"]


def cell(text):
    return f'"{text}"' if "," in text else text


class FeaturesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        self.rows = [self.home(i, rng) for i in range(ROWS)]
        self.table("homes.csv", COLUMNS, self.rows)

    @staticmethod
    def home(i, rng):
        kind, size = rng.randrange(3), rng.uniform(20, 200)
        price = round(size * (3 - kind) * 100 + rng.gauss(0, 500), 2)
        return {"id": str(1000 + i), "size (m²)": f"{size:.1f}", "kind": KINDS[kind], "rooms": rng.choice(["1", "2", "3", "NA"]),
                "euros": f"{0.5 * price + 7:.4f}", "empty": "", "note": f"text {i}", "price": f"{price:.2f}"}

    def table(self, name, columns, rows):
        lines = [",".join(columns), *(",".join(cell(row[column]) for column in columns) for row in rows)]
        self.write(name, "\n".join(lines) + "\n")

    def columns_of(self, *arguments):
        report = self.run_json("features", "homes.csv", *arguments)
        self.assertEqual(report["rows"], ROWS)
        return {column["name"]: column for column in report["columns"]}

    def test_says_what_is_in_each_column_and_leaves_nothing_beside_the_file(self):
        before = set(os.listdir(self.folder))
        columns = self.columns_of()
        self.assertEqual([column["kind"] for column in columns.values()],
                         ["numbers", "numbers", "texts", "numbers", "numbers", "empty", "texts", "numbers"])
        self.assertEqual((columns["rooms"]["missing"], columns["rooms"]["marks"], columns["rooms"]["different"]),
                         (sum(row["rooms"] == "NA" for row in self.rows), ["NA"], 3))
        self.assertEqual({value["value"]: value["count"] for value in columns["kind"]["common"]},
                         {kind: sum(row["kind"] == kind for row in self.rows) for kind in KINDS})
        sizes = [float(row["size (m²)"]) for row in self.rows]
        self.assertEqual((columns["size (m²)"]["least"], columns["size (m²)"]["greatest"]), (min(sizes), max(sizes)))
        self.assertAlmostEqual(columns["size (m²)"]["mean"], sum(sizes) / ROWS, places=6)
        self.assertEqual(sum(columns["size (m²)"]["histogram"]), ROWS)
        self.assertEqual(set(os.listdir(self.folder)), before)

    def test_says_what_each_column_tells_of_the_target_and_finds_what_leaks_it(self):
        columns = self.columns_of("--target", "price")
        self.assertEqual({name: column["use"] for name, column in columns.items()},
                         {"id": "left out", "size (m²)": "number", "kind": "category", "rooms": "number", "euros": "left out",
                          "empty": "left out", "note": "left out", "price": "target"})
        self.assertIn("the target in another form", columns["euros"]["why"])
        self.assertGreater(columns["size (m²)"]["explains"], 0.3)
        self.assertGreater(columns["kind"]["explains"], 0.2)
        self.assertLess(columns["rooms"]["explains"], 0.05)

    def predictions(self, recipe, columns):
        """Of five rows without the target, by the line that stands in the recipe."""
        self.table("new.csv", columns, self.rows[:5])
        line = next(line for line in self.read(recipe).decode().splitlines() if "data.source=" in line)
        source = shlex.split(line)[-1].replace("NEW.csv", self.path("new.csv"))
        out, _ = self.run_stoker("predict", "run", "--set", "data.split=null", "--set", source)
        return [json.loads(line) for line in out.splitlines()]

    def train(self, *draft):
        out, _ = self.run_stoker("features", "homes.csv", *draft, "--to", "drafts/r.yaml")
        self.assertIn("next: stoker train drafts/r.yaml", out)
        said = "".join(self.run_stoker("check", "drafts/r.yaml"))
        self.assertIn("nothing is wrong with it", said)
        self.run_stoker("train", "drafts/r.yaml", *SHORT, "--run", "run", "--quiet")
        return self.run_json("eval", "run")

    def test_its_recipe_learns_a_number_and_predicts_it_for_new_rows(self):
        os.mkdir(self.path("drafts"))
        evaluation = self.train("--target", "price")
        self.assertEqual(evaluation["samples"], ROWS // 5)
        self.assertGreater(evaluation["metrics"]["r2"], 0)
        found = self.predictions("drafts/r.yaml", [name for name in COLUMNS if name != "price"])
        self.assertEqual(len(found), 5)
        for row in found:
            self.assertTrue(100 < row["numbers"][0] < 100_000, row)

    def test_its_recipe_learns_a_class_and_predicts_its_word_for_new_rows(self):
        os.mkdir(self.path("drafts"))
        evaluation = self.train("--target", "kind")
        self.assertGreater(evaluation["accuracy"], 0.5)
        found = self.predictions("drafts/r.yaml", [name for name in COLUMNS if name != "kind"])
        self.assertEqual(len(found), 5)
        for row in found:
            self.assertIn(row["class"], KINDS)

    def test_numbers_of_a_few_values_are_classes_unless_said_otherwise(self):
        self.table("homes.csv", ["size (m²)", "rooms", "price"], [row for row in self.rows if row["rooms"] != "NA"])
        self.assertEqual(self.run_json("features", "homes.csv", "--target", "rooms")["target"]["meaning"], "class")
        self.assertEqual(self.run_json("features", "homes.csv", "--target", "rooms", "--as", "number")["target"]["meaning"], "number")
        self.assertEqual(self.run_json("features", "homes.csv", "--target", "price")["target"]["meaning"], "number")

    def test_draws_each_column(self):
        self.table("homes.csv", ["a<b>", "note"], [{"a<b>": row["id"], "note": "<&>" + row["kind"]} for row in self.rows])
        self.run_stoker("features", "homes.csv", "--to", "a.svg")
        drawn = xml.etree.ElementTree.fromstring(self.read("a.svg"))
        texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("a<b>", texts)
        self.assertIn("<&>house", texts)

    def test_what_cannot_be_done_is_refused_with_what_to_do(self):
        self.table("few.csv", ["a", "b", "c"], [{"a": "1", "b": "x", "c": "1"}, {"a": "2", "b": "x", "c": ""}])
        self.table("gap.csv", ["a", "b"], [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}, {"a": "", "b": "x"}, {"a": "1", "b": "y"}])
        self.write("there.yaml", "mine")
        self.assert_fails(["features", "none.csv"], 1, "none.csv")
        for arguments, says in [(["homes.csv", "--target", "prise"], "--target: there is no column 'prise'; did you mean 'price'?"),
                                (["few.csv", "--target", "b"], "is x in all rows; there is nothing to learn"),
                                (["homes.csv", "--target", "kind", "--as", "number"], "is no number everywhere"),
                                (["gap.csv", "--target", "a", "--to", "r.yaml"], "one row is without it"),
                                (["homes.csv", "--target", "empty"], "every cell of the column is missing"),
                                (["few.csv", "--to", "r.yaml"], "a recipe needs --target"),
                                (["homes.csv", "--target", "price", "--to", "there.yaml"], "is there already"),
                                (["-", "--target", "price", "--to", "r.yaml"], "a recipe needs a file"),
                                (["few.csv", "--to", "few.png"], "neither .yaml (a recipe) nor .svg (a picture)"),
                                (["few.csv", "--as", "number"], "--target names none"),
                                (["few.csv", "--target", "a", "--as", "colour"], "colour is not number or class")]:
            with self.subTest(arguments=arguments):
                self.assert_fails(["features", *arguments], 2, says)
        self.assertFalse(os.path.exists(self.path("r.yaml")))
        self.assertEqual(self.read("there.yaml"), b"mine")

    def test_its_recipe_takes_a_compressed_table_with_rare_classes_and_odd_names(self):
        names = ["owner's size", "NA", "y: {x}"]
        rows = [{"owner's size": str(i % 17), "NA": "NA" if i % 9 == 0 else str(i % 5), "y: {x}": "rare" if i == 1 else f"c{i % 3}"}
                for i in range(300)]
        self.table("odd.csv", names, rows)
        subprocess.run(["gzip", self.path("odd.csv")], check=True)
        self.run_stoker("features", "odd.csv.gz", "--target", "y: {x}", "--to", "odd.yaml")
        self.assertIn("nothing is wrong with it", "".join(self.run_stoker("check", "odd.yaml")))


if __name__ == "__main__":
    unittest.main()

"""Recipes whose train and eval are the two sides of one source, in all commands that read them."""
import random
import unittest

from program import CLASSES, RECIPE, ProgramTest

ROWS = 300
TABLE = """\
data:
  source:
    - csv: {files: rows.csv, fields: {image: {columns: [a, b, c, d]}, label: int64, id: int64, kind: text}}
  split: {eval: 0.2, seed: 1, stratify: kind}
  train: [shuffle, {padded_batch: 16}]
  eval: [{padded_batch: 50}]
  classes: [north-west, north-east, south-west, south-east]
model: {mlp: {classes: 4, hidden: [8]}}
train: {epochs: 2, device: cpu, threads: 1, schedule: {constant: {lr: 0.01}}}
"""
IDX = """\
data:
  root: data
  source: [idx: {images: train-images, labels: train-labels}]
  split: {eval: 0.25}
  train: [shuffle, normalize: {mean: 0.2, std: 0.3}, batch: 32]
  eval: [normalize: {mean: 0.2, std: 0.3}, batch: 64]
""" + RECIPE[RECIPE.index("model:"):]


class SplitCase(ProgramTest):
    def rows(self, count=ROWS, seed=3):
        """A table in which the largest of four numbers is the class, and `kind` is one of two words."""
        rng = random.Random(seed)
        lines = ["a,b,c,d,label,id,kind"]
        for number in range(count):
            values = [rng.random() for _ in CLASSES]
            kind = "rare" if number % 10 == 0 else "common"
            lines.append(",".join([*(f"{value:.4f}" for value in values), str(values.index(max(values))), str(number), kind]))
        self.write("rows.csv", "\n".join(lines) + "\n")

    def table(self, text=TABLE, **options):
        self.rows(**options)
        self.write("recipe.yaml", text)


class SplitDataTest(SplitCase):
    def test_bench_reads_the_training_side_and_inspect_shows_both(self):
        self.table()
        # All but what was read before the measuring began.
        self.assertIn(self.run_json("bench", "recipe.yaml", "--epochs", "1")["samples"], range(200, 241))
        out, _ = self.run_stoker("inspect", "recipe.yaml")
        self.assertRegex(out, r"split +240 .*train, eval 0.2, stratify kind, seed 1")
        self.assertRegex(out, r"split +60 .*eval, eval 0.2, stratify kind, seed 1")

    def test_pack_writes_the_side_that_is_asked_for(self):
        self.write("recipe.yaml", IDX)
        for side, count in (("train", 384), ("eval", 128)):
            self.run_stoker("pack", "recipe.yaml", f"{side}.stoker", "--of", side, "--stages", "2")
            self.assertEqual(self.run_json("inspect", f"{side}.stoker")["count"], count)

    def test_what_is_wrong_has_its_line(self):
        self.table(TABLE.replace("stratify: kind", "stratify: sort"))
        self.assert_fails(["bench", "recipe.yaml"], 2, "recipe.yaml:4:10: split: there is no field 'sort'")
        self.table(TABLE.replace("eval: 0.2, ", "test_size: 0.2, "))
        self.assert_fails(["bench", "recipe.yaml"], 2, "recipe.yaml:4:", "here that is eval")

    def test_samples_that_are_drawn_anew_in_every_pass_are_not_split_by_what_they_hold(self):
        self.write("recipe.yaml", IDX.replace("train-labels}]", "train-labels}, random_crop: {size: 14, padding: 1}]")
                   .replace("eval: 0.25", "eval: 0.25, by: image"))
        self.assert_fails(["bench", "recipe.yaml"], 2, "'random_crop' before it changes samples at random")

    def test_a_fold_without_a_class_is_told(self):
        self.table(TABLE.replace("eval: 0.2, seed: 1", "fold: 1/5"), count=10)
        failed = 0
        for fold in range(1, 6):
            process = self.start("inspect", "recipe.yaml", "--set", f"data.split.fold={fold}/5")
            _, err = process.communicate()
            failed += process.returncode != 0
            # The one rare row is learned of, or it is evaluated on and nothing is learned.
            self.assertIn("1 of 2 classes of 'kind'", err)
        self.assertEqual(failed, 1)


class SplitTrainTest(SplitCase):
    def test_a_table_is_trained_evaluated_and_predicted_on_its_two_sides(self):
        self.table()
        self.assertIn("nothing is wrong with it", self.run_stoker("check", "recipe.yaml")[0])
        self.run_stoker("train", "recipe.yaml", "--run", "run")
        self.assertEqual(self.run_json("eval", "run")["samples"], 60)
        out, _ = self.run_stoker("predict", "run", "--fields", "id,kind")
        self.assertEqual(out.count("\n"), 60)
        self.assertEqual(out.count('"rare"'), 6)
        out, _ = self.run_stoker("predict", "run", "--set", "data.split=null")
        self.assertEqual(out.count("\n"), ROWS)
        # Rows that are appended are divided too, and no other changes its side.
        before = self.ids()
        self.rows(count=2 * ROWS)
        self.assertEqual([number for number in self.ids() if number < ROWS], before)

    def ids(self):
        out, _ = self.run_stoker("predict", "run", "--fields", "id")
        return [int(line.split('"id":')[1].split("}")[0].split(",")[0]) for line in out.splitlines()]

    def test_pictures_of_files_are_predicted_where_the_source_is_split(self):
        self.write("recipe.yaml", IDX)
        self.run_stoker("train", "recipe.yaml", "--run", "run")
        self.assertEqual(self.run_json("eval", "run")["samples"], 128)
        out, _ = self.run_stoker("predict", "run", "data/eval-images", "--limit", "0")
        self.assertGreaterEqual(out.count("\n"), 120)  # all of them, and a heading

    def test_another_split_is_another_training(self):
        self.write("recipe.yaml", IDX)
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--set", "train.max_steps=4")
        self.assert_fails(["train", "recipe.yaml", "--run", "run", "--resume", "--set", "data.split.eval=0.5"], 1,
                          "data.split.eval: 0.25 -> 0.5")


if __name__ == "__main__":
    unittest.main()

"""Models of several targets: the recipe of docs/targets.md that has them."""
import csv
import glob
import io
import json
import os
import random
import re
import unittest

from program import ProgramTest, png

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "targets.md")
FIXED = ["--set", "train.threads=1", "--set", "train.tune=off", "--set", "train.schedule={constant: {lr: 0.02}}"]


def wines(count, seed):
    """Sugar and acid make the taste, and all three columns the price."""
    rng = random.Random(seed)
    rows = ["sugar,acid,age,taste,price"]
    for _ in range(count):
        sugar, acid, age = rng.uniform(0, 40), rng.uniform(3, 9), rng.randrange(1, 20)
        taste = "sweet" if sugar > 25 else "sour" if acid > 7 else "dry"
        rows.append(f"{sugar:.1f},{acid:.2f},{age},{taste},{5 + 2 * age + 0.5 * sugar + rng.gauss(0, 1):.2f}")
    return "\n".join(rows) + "\n"


class OutputsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as file:
            recipes = re.findall(r"```yaml\n(.*?)```", file.read(), re.S)
        self.write("wines.yaml", next(recipe for recipe in recipes if "wines.csv" in recipe))
        self.write("wines.csv", wines(600, 1))

    def test_the_page_is_right_as_it_stands_and_learns_both(self):
        self.run_stoker("check", "wines.yaml")
        self.run_stoker("lint", "wines.yaml")
        out, err = self.run_stoker("train", "wines.yaml", "--run", "run", *FIXED)
        self.assertNotRegex(out + err, r"(?<!\.)accuracy")
        measured = self.run_json("eval", "run")
        metrics = measured["metrics"]
        self.assertEqual(set(metrics) & {"accuracy", "loss", "f1", "rmse"}, set())
        self.assertGreater(metrics["taste.accuracy"], 0.85)
        self.assertLess(metrics["price.rmse"], 4)  # the deviation is about 13
        self.assertAlmostEqual(measured["loss"], 0.5 * metrics["price.loss"] + metrics["taste.loss"], places=6)
        for command in (["eval", "run"], ["inspect", "run"]):
            out, _ = self.run_stoker(*command)
            self.assertIn("price.rmse", out)
        out, _ = self.run_stoker("plot", "run", "--metric", "price.rmse", "--to", "run.svg")
        self.assertIn("price.rmse", self.read("run.svg").decode())

    def test_each_target_is_predicted_in_its_own_way(self):
        self.run_stoker("train", "wines.yaml", "--run", "run", "--quiet", *FIXED)
        self.write("new.csv", "sugar,acid,age,taste,price\n38,4,10,dry,0\n2,8.5,2,dry,0\n")
        out, _ = self.run_stoker("predict", "run", "--set", "data.split=null", "--set", f"data.source.0.csv.files={self.path('new.csv')}")
        first, second = (json.loads(line)["targets"] for line in out.splitlines())
        self.assertEqual([first["taste"]["class"], second["taste"]["class"]], ["sweet", "sour"])
        self.assertAlmostEqual(first["price"]["numbers"][0], 5 + 20 + 19, delta=6)
        self.assertAlmostEqual(second["price"]["numbers"][0], 5 + 4 + 1, delta=6)
        out, _ = self.run_stoker("eval", "run")
        self.assertRegex(out, r"(?m)^price\.rmse +\d")
        self.assertRegex(out, r"(?m)^taste +dry +")

    def test_exports_event_files_and_tables_know_each_target(self):
        self.run_stoker("train", "wines.yaml", "--run", "run", "--quiet", *FIXED, "--set", "train.tensorboard={enabled: true, histograms: 20}",
                        "--set", "train.callbacks=[{export: {keep: 1}}, {export: {best: price.rmse, keep: 1}}]")
        latest, = glob.glob(self.path("run/exports/latest/*"))
        self.assertEqual(len(glob.glob(self.path("run/exports/best/*"))), 1)
        events, = glob.glob(self.path("run/**/*tfevents*"), recursive=True)
        for name in (b"eval/price.rmse", b"eval/taste.accuracy", b"weights/"):
            self.assertIn(name, self.read(events))
        lines = self.run_stoker("predict", latest, "--scores", "--fields", "price")[0]
        self.assertEqual(lines, self.run_stoker("predict", "run", "--scores", "--fields", "price")[0])
        self.run_stoker("predict", latest, "--scores", "--fields", "price", "--to", "answers.csv")
        rows = list(csv.DictReader(io.StringIO(self.read("answers.csv").decode())))
        self.assertEqual(set(rows[0]), {"sample", "index", "file", "price", "price.number", "taste.class", "taste.label", "taste.probability",
                                        "taste.score_dry", "taste.score_sour", "taste.score_sweet"})
        for line, row in zip(map(json.loads, lines.splitlines()), rows, strict=True):
            self.assertEqual(float(row["price.number"]), line["targets"]["price"]["numbers"][0])
            self.assertEqual(float(row["price"]), line["fields"]["price"])
            self.assertEqual(row["taste.class"], line["targets"]["taste"]["class"])
        self.run_stoker("export", "run", "--to", "weights.pt")

    def test_processes_that_train_together_give_the_weights_of_one(self):
        more = ["--set", "train.max_steps=10"]
        self.run_stoker("train", "wines.yaml", "--run", "alone", "--quiet", *FIXED, *more)
        self.run_stoker("launch", "-n", "2", "--", "train", "wines.yaml", "--run", "together", "--quiet", *FIXED, *more)
        a, b = self.run_json("eval", "alone"), self.run_json("eval", "together")
        for name in ("price.rmse", "taste.loss"):
            self.assertAlmostEqual(a["metrics"][name], b["metrics"][name], places=3)
        def last(run):
            lines = [json.loads(line) for line in self.read(f"{run}/metrics.jsonl").splitlines()]
            return [line for line in lines if line["kind"] == "eval"][-1]
        self.assertEqual(set(last("alone")["metrics"]), set(last("together")["metrics"]))

    def test_pictures_get_an_answer_of_each_target(self):
        rng = random.Random(1)
        for name in ("dark", "light"):
            for i in range(12):
                level = rng.randrange(0, 90) if name == "dark" else rng.randrange(160, 256)
                self.write(f"train/{name}/{i}.png", png(bytes([level] * 64), 8, 8))
        self.write("pictures.yaml", """\
data:
  train:
    - folder: {path: train}
    - decode: {channels: grey}
    - resize: {size: 8}
    - join: {fields: [label], to: both, dtype: float32, keep: true}
    - normalize: {mean: 0.5, std: 0.25}
    - batch: 8
  eval:
    - folder: {path: train}
    - decode: {channels: grey}
    - resize: {size: 8}
    - join: {fields: [label], to: both, dtype: float32, keep: true}
    - normalize: {mean: 0.5, std: 0.25}
    - batch: 8
model: {mlp: {classes: 3, hidden: [8]}}
train:
  target: {label: {outputs: 2, classes: [dark, light]}, both: {loss: bce}}
  epochs: 20
  device: cpu
  schedule: {constant: {lr: 0.05}}
""")
        self.run_stoker("train", "pictures.yaml", "--run", "run", "--quiet", "--set", "train.tune=off")
        out, _ = self.run_stoker("predict", "run", self.path("train/light/3.png"))
        self.assertRegex(out, r"3\.png\[0\]: both: 1 [01]\.\d+, 0 [01]\.\d+; label: light [01]\.\d+, dark [01]\.\d+")
        found = self.run_json("predict", "run", self.path("train/dark/3.png"))["predictions"][0]
        self.assertEqual(found["targets"]["label"]["classes"][0]["class"], "dark")


if __name__ == "__main__":
    unittest.main()

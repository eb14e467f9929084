"""Recipes of docs/targets.md as they stand: runs whose targets are numbers or labels, from CSV files to predictions."""
import json
import math
import os
import random
import re

from program import ProgramTest

DOC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "targets.md")
# Whatever could choose differently from run to run is fixed.
FIXED = ["--set", "train.device=cpu", "--set", "train.threads=1", "--set", "train.tune=off", "--set", "train.memory_format=contiguous"]


def houses(count, seed):
    """Prices are a sum of their columns and little noise."""
    rng = random.Random(seed)
    rows = ["area,rooms,age,price"]
    for _ in range(count):
        area, rooms, age = rng.uniform(40, 160), rng.randrange(1, 8), rng.uniform(0, 80)
        rows.append(f"{area:.1f},{rooms},{age:.1f},{2 * area + 20 * rooms - age + 60 + rng.gauss(0, 5):.2f}")
    return "\n".join(rows) + "\n"


def notes(count, seed):
    """A label holds by one or two of the words; several may, or none."""
    rng = random.Random(seed)
    rows = ["w1,w2,w3,w4,w5,w6,urgent,private,paid"]
    for _ in range(count):
        words = [rng.uniform(-1, 1) for _ in range(6)]
        labels = [words[0] > 0.3, words[1] + words[2] > 0.4, words[3] > words[4]]
        rows.append(",".join([f"{word:.3f}" for word in words] + [str(int(label)) for label in labels]))
    return "\n".join(rows) + "\n"


class TargetsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(DOC, encoding="utf-8") as file:
            numbers, units, labels, weighed, _ = re.findall(r"```yaml\n(.*?)```", file.read(), re.S)
        self.write("numbers.yaml", numbers)
        self.write("units.yaml", units)
        self.write("labels.yaml", labels)
        self.write("weighed.yaml", weighed)
        for name, make in (("houses", houses), ("notes", notes)):
            self.write(f"{name}.csv", make(400, 1))
            self.write(f"{name}-eval.csv", make(100, 2))

    def lines(self, run):
        return [json.loads(line) for line in self.read(f"{run}/metrics.jsonl").splitlines()]

    def stopped_and_resumed(self, recipe, run):
        """The weights of a run that ended in the middle of an epoch and was gone on with."""
        self.run_stoker("train", recipe, "--run", run, "--quiet", *FIXED, "--set", "train.checkpoint.every_steps=7",
                        "--set", "train.callbacks=[{stop_at: {step: 100}}]")
        os.remove(self.path(f"{run}/weights.safetensors"))
        self.run_stoker("train", recipe, "--resume", "--run", run, "--quiet", "--allow-changes", *FIXED)
        return self.read(f"{run}/weights.safetensors")

    def test_a_regression_is_learnt_and_measured_without_an_accuracy(self):
        out, err = self.run_stoker("train", "numbers.yaml", "--run", "run", *FIXED)
        self.assertNotIn("accuracy", out + err)
        self.assertRegex(out, r"test loss +0\.\d+ *\n")
        self.assertRegex(out, r"test mae +0\.\d+ *\n")
        evaluations = [line for line in self.lines("run") if line["kind"] == "eval"]
        self.assertTrue(all("accuracy" not in line for line in evaluations))
        # The prices have a standard deviation of about 0.8 of their units, the noise one of 0.05.
        self.assertLess(evaluations[-1]["loss"], 0.06)
        self.assertLess(evaluations[-1]["metrics"]["mae"], 0.2)
        for name in ["log.txt", "summary.json"]:
            text = self.read(f"run/{name}").decode() if os.path.exists(self.path(f"run/{name}")) else ""
            self.assertNotRegex(text, r'accuracy"?:? *[0-9]')
        for command in (["eval", "run"], ["inspect", "run"]):
            out, _ = self.run_stoker(*command)
            self.assertNotIn("accuracy", out)
            self.assertIn("mae", out)
        measured = self.run_json("eval", "run")
        self.assertNotIn("accuracy", measured)
        self.assertEqual(measured["loss"], evaluations[-1]["loss"])
        out, _ = self.run_stoker("plot", "run", "--to", "run.svg")
        self.assertNotIn("accuracy", out + self.read("run.svg").decode())

    def test_runs_resume_to_the_same_bytes(self):
        for recipe in ["numbers.yaml", "labels.yaml"]:
            with self.subTest(recipe=recipe):
                self.run_stoker("train", recipe, "--run", f"{recipe}-whole", "--quiet", *FIXED)
                self.assertEqual(self.stopped_and_resumed(recipe, f"{recipe}-resumed"), self.read(f"{recipe}-whole/weights.safetensors"))

    def test_labels_are_learnt_each_by_itself(self):
        self.run_stoker("train", "labels.yaml", "--run", "run", "--quiet", *FIXED)
        measured = self.run_json("eval", "run")
        self.assertGreater(measured["accuracy"], 0.8)
        self.assertEqual(len(measured["metrics"]["auc_of_classes"]), 3)
        self.assertGreater(min(measured["metrics"]["auc_of_classes"]), 0.9)

    def test_samples_count_as_their_weights_say_alone_and_on_ranks(self):
        rng = random.Random(4)
        # Of 321 samples to train on the last batch of an epoch has one, so that a rank has none.
        rows = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(401)]
        # Half of the votes are wrong, and their rows stand for nobody.
        for name, wrong_people in (("survey", 0), ("believed", 1)):
            text = [f"{age:.3f},{income:.3f},{int((age > income) != (i % 2 > 0))},{wrong_people if i % 2 else 2.5}" for i, (age, income) in enumerate(rows)]
            self.write(f"{name}.csv", "\n".join(["age,income,vote,people", *text]) + "\n")
        settings = [*FIXED, "--quiet", "--set", "train.schedule={constant: {lr: 0.02}}", "--set", "train.epochs=8"]
        self.run_stoker("train", "weighed.yaml", "--run", "one", *settings)
        self.run_stoker("launch", "-n", "2", "--", "train", "weighed.yaml", "--run", "two", *settings)
        self.run_stoker("train", "weighed.yaml", "--run", "believing", *settings, "--set", "data.source.csv.files=believed.csv")
        losses = {run: self.run_json("eval", run)["loss"] for run in ("one", "two", "believing")}
        self.assertAlmostEqual(losses["one"], losses["two"], places=3)
        for run in ("one", "two"):
            last = [line for line in self.lines(run) if line["kind"] == "eval"][-1]
            self.assertAlmostEqual(last["loss"], losses[run], places=5)
        # Those of weight 2.5 are half of the samples.
        self.assertLess(losses["one"], 2.5 * 0.5 * 0.4)
        self.assertGreater(losses["believing"], losses["one"])
        self.assertNotEqual(self.run_json("eval", "one", "--set", "train.sample_weight=none")["loss"], losses["one"])
        # Only half of the votes are what the model has learned, and only these weigh anything.
        accuracy = {run: self.run_json("eval", run, "--set", "train.weighted_metrics=true")["accuracy"] for run in ("one", "two")}
        self.assertGreater(accuracy["one"], 0.85)
        self.assertAlmostEqual(accuracy["one"], accuracy["two"], delta=0.05)
        self.assertLess(self.run_json("eval", "one")["accuracy"], 0.65)
        self.assertEqual(len(self.predict("one", "--limit", "3")), 3)
        self.assert_fails(["train", "weighed.yaml", "--run", "x", "--set", "train.sample_weight=peple"], 2, "peple", "people")

    def predict(self, *arguments):
        return [json.loads(line) for line in self.run_stoker("predict", *arguments)[0].splitlines()]

    def test_predictions_are_numbers_or_the_labels_that_hold(self):
        self.run_stoker("train", "numbers.yaml", "--run", "numbers", "--quiet", *FIXED)
        self.run_stoker("train", "labels.yaml", "--run", "labels", "--quiet", *FIXED)
        squares = 0
        for line in self.predict("numbers", "--fields", "price"):
            self.assertNotIn("class", line)
            squares += (line["numbers"][0] - line["fields"]["price"]) ** 2
        self.assertAlmostEqual(squares / 100, self.run_json("eval", "numbers")["loss"], delta=1e-4)
        names = ["urgent", "private", "paid"]
        right, counts = 0, set()
        for line in self.predict("labels", "--fields", "topics"):
            said = {label["class"]: label["probability"] for label in line["labels"]}
            self.assertTrue(all(probability > 0.5 for probability in said.values()))
            right += sum((name in said) == bool(holds) for name, holds in zip(names, line["fields"]["topics"]))
            counts.add(len(said))
        self.assertLess(2, len(counts))  # samples have none, one, several
        self.assertAlmostEqual(right / 300, self.run_json("eval", "labels")["accuracy"], delta=1e-9)
        # A table has a column for a number, and one for each label.
        for run, columns in [("numbers", ["number"]), ("labels", [f"probability_{name}" for name in names])]:
            self.run_stoker("predict", run, "--to", "answers.csv")
            self.assertEqual(self.read("answers.csv").decode().splitlines()[0].split(",")[3:], columns)
        # Where training has not finished, and without the labels in the data.
        os.remove(self.path("numbers/weights.safetensors"))
        rows = [line.rsplit(",", 1)[0] for line in houses(3, 3).splitlines()]
        self.write("new.csv", "\n".join(rows) + "\n")
        settings = "data.eval=[{csv: {files: new.csv, fields: {x: {columns: area-age}}}}, {normalize: {field: x, mean: [100, 4, 40], std: [40, 1.5, 25]}}, {batch: 2}]"
        self.assertEqual([len(line["numbers"]) for line in self.predict("numbers", "--set", settings)], [1, 1, 1])

    def test_finders_and_tensorboard_take_such_targets(self):
        self.run_stoker("lr-find", "numbers.yaml", "--steps", "20")
        self.run_stoker("batch-find", "labels.yaml", "--most", "64", "--seconds", "0")
        self.run_stoker("lint", "numbers.yaml")
        self.run_stoker("train", "numbers.yaml", "--run", "run", "--quiet", "--set", "train.tensorboard.enabled=true", "--set", "train.epochs=1")
        events = b"".join(self.read(f"run/{name}") for name in os.listdir(self.path("run")) if "tfevents" in name)
        self.assertIn(b"eval/mae", events)
        self.assertNotIn(b"accuracy", events)

    def predicted_prices(self, run):
        return [(line["numbers"][0], line["fields"]["price"]) for line in self.predict(run, "--fields", "price")]

    def test_a_target_in_its_own_units_is_predicted_and_measured_in_them(self):
        self.run_stoker("train", "units.yaml", "--run", "run", "--quiet", *FIXED)
        prices = [float(row.split(",")[3]) for row in self.read("houses.csv").decode().splitlines()[1:]]
        learned = {value["stage"]: value["options"] for value in json.loads(self.read("run/learned.json"))["values"]}
        logs = [math.log(price) for price in prices]
        mean = sum(logs) / len(logs)
        self.assertAlmostEqual(learned["train.target.log"]["mean"][0], mean, places=5)
        self.assertAlmostEqual(learned["train.target.log"]["std"][0],
                               (sum((log - mean) ** 2 for log in logs) / len(logs)) ** 0.5, places=5)
        errors = [abs(said - price) for said, price in self.predicted_prices("run")]
        measured = self.run_json("eval", "run")
        self.assertAlmostEqual(sum(errors) / len(errors), measured["metrics"]["mae"], delta=1e-2)
        # Prices are about 300 with a deviation of 80.
        self.assertLess(measured["metrics"]["mae"], 20)
        evaluations = [line for line in self.lines("run") if line["kind"] == "eval"]
        self.assertEqual(measured["metrics"]["mae"], evaluations[-1]["metrics"]["mae"])
        self.assertIn("price: {normalize: auto, log: true}", self.read("run/recipe.yaml").decode())
        self.assertIn("train.target.log of price: mean 5.", self.run_stoker("inspect", "run")[0])

    def test_given_numbers_and_any_threads_give_the_bytes_of_learned_ones(self):
        self.run_stoker("train", "units.yaml", "--run", "run", "--quiet", *FIXED)
        self.run_stoker("train", "units.yaml", "--run", "one", "--quiet", *FIXED, "--set", "train.feed_threads=1")
        self.assertEqual(self.read("one/learned.json"), self.read("run/learned.json"))
        values = {value["stage"]: value["options"] for value in json.loads(self.read("run/learned.json"))["values"]}
        given = values["train.target.log"]
        self.run_stoker("train", "units.yaml", "--run", "given", "--quiet", *FIXED, "--set",
                        f"train.target={{price: {{normalize: {{mean: {given['mean']}, std: {given['std']}}}, log: true}}}}")
        for run in ("one", "given"):
            self.assertEqual(self.weights_of(run), self.weights_of("run"))
        self.assertEqual(self.predicted_prices("given"), self.predicted_prices("run"))

    def test_a_resumed_run_goes_on_with_the_target_that_it_has_learned(self):
        self.run_stoker("train", "units.yaml", "--run", "whole", "--quiet", *FIXED)
        self.assertEqual(self.stopped_and_resumed("units.yaml", "resumed"), self.read("whole/weights.safetensors"))
        self.assertEqual(self.read("resumed/learned.json"), self.read("whole/learned.json"))
        self.write("houses.csv", houses(400, 9))
        self.assert_fails(["train", "units.yaml", "--resume", "--run", "whole", *FIXED], 1, "houses.csv")
        # Predictions need neither the training data nor what could be learned of them now.
        os.remove(self.path("houses.csv"))
        self.assertEqual(self.predicted_prices("resumed"), self.predicted_prices("whole"))

    def test_every_command_takes_a_transformed_target(self):
        self.assertIn("nothing is wrong with it", self.run_stoker("check", "units.yaml")[0])
        self.run_stoker("lint", "units.yaml")
        self.run_stoker("schedule", "units.yaml")
        self.run_stoker("lr-find", "units.yaml", "--steps", "20")
        self.run_stoker("train", "units.yaml", "--run", "run", "--quiet", *FIXED)
        self.run_stoker("export", "run", "--to", "model.pt")

    def test_each_number_of_a_target_has_its_own_mean(self):
        fields = "csv.fields={x: {columns: [area, age]}, price: {columns: [price, rooms], type: float32}}"
        both = ["--set", f"data.train.{fields}", "--set", f"data.eval.{fields}", "--set", "model.mlp.classes=2"]
        self.run_stoker("train", "units.yaml", "--run", "run", "--quiet", *FIXED, *both)
        values = {value["stage"]: value["options"] for value in json.loads(self.read("run/learned.json"))["values"]}
        self.assertEqual(len(values["train.target.log"]["mean"]), 2)
        errors = [abs(said - price) for line in self.predict("run", "--fields", "price")
                  for said, price in zip(line["numbers"], line["fields"]["price"])]
        self.assertAlmostEqual(sum(errors) / len(errors), self.run_json("eval", "run")["metrics"]["mae"], delta=1e-2)
        self.run_stoker("train", "units.yaml", "--run", "quantiles", "--quiet", *FIXED, *both, "--set", "train.loss={quantile: {at: [0.1, 0.5, 0.9]}}",
                        "--set", "model.mlp.classes=6")
        low, _, high = self.predict("quantiles")[0]["numbers"][:3]
        self.assertLess(low, high)

    def test_a_target_without_a_logarithm_is_named_with_its_file(self):
        rows = houses(400, 1).splitlines()
        rows[251] = rows[251].rsplit(",", 1)[0] + ",0"
        self.write("houses.csv", "\n".join(rows) + "\n")
        _, err = self.assert_fails(["train", "units.yaml", "--run", "run", *FIXED], 1, "sample 250 (", "houses.csv", "of data.train",
                                   "the target 0", "`log: true` of train.target takes numbers above 0")
        self.assertIn("is not finite and above 0 in 1 sample of the training side", err)

    def test_a_transformed_target_is_refused_where_it_means_nothing(self):
        text = self.read("units.yaml").decode()
        line = text[:text.index("loss: mse")].count("\n") + 1
        self.assert_fails(["train", "units.yaml", "--set", "train.loss=bce"], 2, "the loss bce", "here targets are labels", "`target: price`")
        self.write("poisson.yaml", text.replace("loss: mse", "loss: poisson"))
        self.assert_fails(["train", "poisson.yaml"], 2, f"the loss poisson (poisson.yaml:{line}:", "poisson takes counts")
        target = text[:text.index("target: {price")].count("\n") + 1
        self.write("wrong.yaml", text.replace("log: true", "logs: true"))
        self.assert_fails(["train", "wrong.yaml"], 2, f"wrong.yaml:{target}:", "unknown option 'logs'")

    def test_what_does_not_go_together_is_refused_with_the_place_of_the_loss(self):
        text = self.read("numbers.yaml").decode()
        line = text[:text.index("loss: mse")].count("\n") + 1
        self.assert_fails(["train", "numbers.yaml", "--set", "model.mlp.classes=10"], 2, f"the loss mse (numbers.yaml:{line}:",
                          "price: float32[?]", "the 10 outputs of the model mlp", "set the model's `classes` to 1")
        self.assert_fails(["train", "numbers.yaml", "--set", "train.loss=cross_entropy"], 2, "take `loss: mse` and one output", "cast: {field: price")
        self.assert_fails(["train", "numbers.yaml", "--set", "train.metrics=[mae, confusion]"], 2, "'confusion' is not defined for numbers")
        self.assert_fails(["train", "labels.yaml", "--set", "train.metrics=[top2]"], 2, "'top2' is not defined for labels", "labels")
        self.assertFalse(os.path.exists(self.path("runs")))

    def test_a_target_that_is_no_number_is_named_with_its_sample(self):
        rows = houses(400, 1).splitlines()
        rows[251] = rows[251].rsplit(",", 1)[0] + ",nan"
        self.write("houses.csv", "\n".join(rows) + "\n")
        self.assert_fails(["train", "numbers.yaml", "--run", "run", *FIXED], 1, "sample 250 (", "houses.csv", "of data.train", "the target nan", "must be finite")

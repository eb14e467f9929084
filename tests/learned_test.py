"""What stages learn from the training data: the same in training, evaluation, predictions and after a resume."""
import json
import os
import random
import unittest

from program import ProgramTest

HEAD = """\
data:
  source:
    - csv: {files: rows.csv, fields: {image: {columns: [a, b, c], type: float32}, label: text, id: int64}}
  split: {eval: 0.2, seed: 1, by: id}
"""
PIPELINES = """\
  train: [shuffle, normalize: auto, lookup: auto, batch: 16, prefetch]
  eval: [normalize: auto, lookup: auto, batch: 50]
"""
MODEL = """\
model: {mlp: {classes: 3, hidden: [8]}}
train: {epochs: 2, device: cpu, threads: 1, schedule: {constant: {lr: 0.01}}, tune: off}
"""
RECIPE = HEAD + PIPELINES + MODEL
ROWS = 300


def unchanged(number, row):
    return row


class LearnedCase(ProgramTest):
    def rows(self, count=ROWS, seed=3, change=unchanged, header="a,b,c,label,id", name="rows.csv"):
        """A table whose label is the word of the largest of three numbers of very different size."""
        rng = random.Random(seed)
        lines = [header]
        for number in range(count):
            values = [rng.random() for _ in range(3)]
            word = ["oak", "ash", "elm"][values.index(max(values))]
            row = [f"{1000 + 50 * values[0]:.4f}", f"{0.001 * values[1]:.7f}", f"{-7 + values[2]:.4f}", word, str(number)]
            lines.append(",".join(change(number, row)))
        self.write(name, "\n".join(lines) + "\n")

    def recipe(self, text=RECIPE, **options):
        self.rows(**options)
        self.write("recipe.yaml", text)

    def train(self, *arguments, run="run"):
        self.run_stoker("train", "recipe.yaml", "--run", run, "--quiet", *arguments)

    def learned(self, run="run"):
        return json.loads(self.read(f"{run}/learned.json"))

    def lines(self, *arguments):
        out, _ = self.run_stoker("predict", "run", "--fields", "id", "--scores", *arguments)
        return [json.loads(line) for line in out.splitlines()]

    def evaluated_ids(self):
        return {line["fields"]["id"] for line in self.lines()}

    def column(self, number, name="rows.csv"):
        """The values of a column, by id."""
        rows = [row.split(",") for row in self.read(name).decode().splitlines()[1:]]
        return {int(row[-1]): row[number] for row in rows}


class LearnedTrainTest(LearnedCase):
    def test_a_run_learns_from_its_training_side_alone(self):
        self.recipe()
        self.train()
        learned, evaluated = self.learned(), self.evaluated_ids()
        self.assertEqual(learned["schema"], 1)
        self.assertEqual(learned["from"]["samples"], ROWS - len(evaluated))
        moments, words = learned["values"]
        self.assertEqual((moments["stage"], moments["field"]), ("normalize", "image"))
        for number in range(3):
            values = [float(value) for key, value in self.column(number).items() if key not in evaluated]
            mean = sum(values) / len(values)
            deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
            # The cells are read as float32.
            self.assertAlmostEqual(moments["options"]["mean"][number] / mean, 1, places=5)
            self.assertAlmostEqual(moments["options"]["std"][number] / deviation, 1, places=3)
        counts = {}
        for key, word in self.column(3).items():
            if key not in evaluated:
                counts[word] = counts.get(word, 0) + 1
        self.assertEqual(words["options"]["values"], sorted(counts, key=lambda word: (-counts[word], word)))
        self.assertIn("mean: auto", self.read("run/recipe.yaml").decode())

    def test_predictions_of_a_raw_file_are_those_of_evaluation(self):
        """No skew: the rows of the evaluation side alone, in a file of their own, get the same scores."""
        self.recipe()
        self.train()
        before = self.lines()
        evaluated = [line["fields"]["id"] for line in before]
        rows = self.read("rows.csv").decode().splitlines()
        self.write("new.csv", "\n".join([rows[0], *(row for row in rows[1:] if int(row.split(",")[-1]) in set(evaluated))]) + "\n")
        os.remove(self.path("rows.csv"))  # nothing is learned again
        raw = self.lines("--set", "data.source.csv.files=" + self.path("new.csv"), "--set", "data.split=null")
        self.assertEqual([(line["fields"], line["scores"]) for line in raw],
                         [(line["fields"], line["scores"]) for line in before])
        accuracy = self.run_json("eval", "run", "--set", "data.source.csv.files=" + self.path("new.csv"),
                                 "--set", "data.split=null")["accuracy"]
        words = self.column(3, "new.csv")
        right = sum(line["class"] == words[line["fields"]["id"]] for line in raw)
        self.assertAlmostEqual(accuracy, right / len(raw), places=6)
        self.write("answers.jsonl", "of before\n")
        _, err = self.run_stoker("predict", "run", "--to", "answers.jsonl", "--set",
                                 "data.source.csv.files=" + self.path("new.csv"), "--set", "data.split=null")
        self.assertNotIn("learn", err)
        self.assertEqual(len(self.read("answers.jsonl").splitlines()), len(raw))

    def test_learned_values_do_not_depend_on_threads_and_are_those_of_given_numbers(self):
        self.recipe()
        self.train()
        self.train("--set", "train.feed_threads=1", run="one")
        self.assertEqual(self.read("run/learned.json"), self.read("one/learned.json"))
        values = self.learned()["values"][0]["options"]
        given = (f"normalize: {{mean: {json.dumps(values['mean'])}, std: {json.dumps(values['std'])}}}")
        self.write("recipe.yaml", RECIPE.replace("normalize: auto", given))
        self.train(run="given")
        self.assertEqual(self.weights_of("run"), self.weights_of("given"))

    def test_inspect_shows_and_verify_checks_what_was_learned(self):
        self.recipe()
        self.train()
        out, _ = self.run_stoker("inspect", "run")
        self.assertRegex(out, r"learned from \d+ samples, whole")
        self.assertIn("normalize of image: mean 1025", out)
        self.assertEqual(self.run_json("inspect", "run")["learned"], self.learned())
        self.run_stoker("verify", "run")
        changed = self.read("run/learned.json").decode().replace('"oak"', '"oat"')
        self.write("run/learned.json", changed)
        out, err = self.run_stoker("verify", "run", expect=1)
        self.assertIn("learned.json: its checksum is", out + err)
        for command in ("eval", "predict"):
            self.assert_fails([command, "run"], 1, "learned.json: its checksum is")

    def test_what_was_learned_goes_with_the_weights_it_was_learned_for(self):
        self.recipe()
        self.train()
        self.rows(seed=4)
        self.train(run="other")
        kept = self.read("run/learned.json")
        self.write("run/learned.json", self.read("other/learned.json"))
        for command in (["eval", "run"], ["predict", "run"]):
            self.assert_fails(command, 1, "learned.json: is not what the weights were trained with")
        os.remove(self.path("run/learned.json"))
        self.assert_fails(["eval", "run"], 1, "learned.json")
        self.write("run/learned.json", kept)
        self.run_stoker("eval", "run")

    def test_verify_of_a_run_does_not_read_the_data_that_its_recipe_names(self):
        self.recipe()
        self.train()
        os.remove(self.path("rows.csv"))
        out, err = self.run_stoker("verify", "run")
        self.assertNotIn("learned lookup", out + err)
        self.assertIn("recipe: 1", out)

    def test_a_resumed_run_goes_on_with_what_it_has_learned(self):
        self.recipe()
        self.train(run="whole")
        before = self.read("whole/learned.json")
        self.train("--resume", "--allow-changes", "--set", "train.epochs=3", run="whole")
        self.assertEqual(self.read("whole/learned.json"), before)

    def test_a_resumed_run_refuses_what_was_learned_from_other_data(self):
        self.recipe()
        self.train()
        kept = self.read("run/learned.json")
        resume = ["train", "recipe.yaml", "--run", "run", "--resume"]
        self.rows(seed=4)
        self.assert_fails(resume, 1, "rows.csv")
        self.train(run="other")
        self.rows()
        self.write("run/learned.json", self.read("other/learned.json"))
        self.assert_fails(resume, 1, "it was learned from other files: rows.csv")
        self.write("run/learned.json", kept)
        self.assert_fails([*resume, "--set", f"data.learned={self.path('other/learned.json')}"], 1,
                          "normalize of image: mean[0] is", "it was")

    def test_a_new_run_may_take_what_another_has_learned(self):
        self.recipe()
        self.train()
        self.rows(seed=5)
        self.train("--set", f"data.learned={self.path('run/learned.json')}", run="next")
        self.assertEqual(self.learned("next")["values"], self.learned()["values"])
        self.assertIn("file", self.learned("next")["from"])


class BalancedWeightsTest(LearnedCase):
    BALANCED = RECIPE.replace("tune: off}", "tune: off, loss: {cross_entropy: {weights: balanced}}}")

    def weights(self, run="run"):
        value, = (value for value in self.learned(run)["values"] if value["stage"] == "train.loss")
        return value

    def test_weights_are_those_of_scikit_learn_on_the_training_side(self):
        self.recipe(self.BALANCED)
        self.train()
        evaluated, counts = self.evaluated_ids(), {}
        for key, word in self.column(3).items():
            if key not in evaluated:
                counts[word] = counts.get(word, 0) + 1
        words = next(value for value in self.learned()["values"] if value["stage"] == "lookup")["options"]["values"]
        samples = sum(counts.values())
        self.assertEqual(self.weights()["facts"]["samples"], [counts[word] for word in words])
        for weight, word in zip(self.weights()["options"]["weights"], words):
            self.assertAlmostEqual(weight, samples / (3 * counts[word]), places=12)
        self.assertIn("weights: balanced", self.read("run/recipe.yaml").decode())
        self.assertIn("train.loss of label: weights", self.run_stoker("inspect", "run")[0])

    def test_given_weights_and_any_threads_give_the_bytes_of_balanced_ones(self):
        self.recipe(self.BALANCED)
        self.train()
        self.train("--set", "train.feed_threads=1", run="one")
        given = json.dumps(self.weights()["options"]["weights"])
        self.train("--set", f"train.loss={{cross_entropy: {{weights: {given}}}}}", run="given")
        self.train("--set", "train.loss=cross_entropy", run="plain")
        weights = {run: self.weights_of(run) for run in ("run", "one", "given", "plain")}
        self.assertEqual(weights["run"], weights["one"])
        self.assertEqual(weights["run"], weights["given"])
        self.assertNotEqual(weights["run"], weights["plain"])
        loss = self.run_json("eval", "run")["loss"]
        self.assertEqual(self.run_json("eval", "given")["loss"], loss)
        self.assertNotEqual(self.run_json("eval", "run", "--set", "train.loss=cross_entropy")["loss"], loss)
        self.train("--resume", "--allow-changes", "--set", "train.epochs=3")
        self.assertEqual(self.weights(), self.weights("one"))

    def test_a_class_without_samples_is_named(self):
        self.recipe(self.BALANCED.replace("classes: 3", "classes: 5"))
        self.assert_fails(["train", "recipe.yaml", "--run", "run"], 1, "recipe.yaml:8:", "class 3 has no sample", "set the model's `classes` to 3")
        numbers = self.BALANCED.replace("label: text", "label: int64").replace("lookup: auto, ", "")
        self.recipe(numbers, change=lambda number, row: [*row[:3], str(2 * (number % 2)), row[4]])
        self.assert_fails(["train", "recipe.yaml", "--run", "run"], 1, "recipe.yaml:8:", "train.loss: field 'label' has no sample of class 1")
        self.recipe(numbers, change=lambda number, row: [*row[:3], str(number % 4 - 1), row[4]])
        self.assert_fails(["train", "recipe.yaml", "--run", "run"], 1, "has class number -1")

    def test_weights_of_what_is_no_class_are_refused(self):
        self.recipe(self.BALANCED.replace("lookup: auto, batch", "lookup: auto, one_hot: 3, batch"))
        self.assert_fails(["train", "recipe.yaml", "--run", "run"], 2, "recipe.yaml:8:", "balanced takes class numbers")
        self.recipe(self.BALANCED.replace("cross_entropy", "mse"))
        self.assert_fails(["train", "recipe.yaml", "--run", "run"], 2, "recipe.yaml:8:", "weights")


class QuantilesTest(LearnedCase):
    def test_buckets_have_equal_counts_on_the_training_side(self):
        recipe = HEAD.replace("columns: [a, b, c]", "columns: [a]") + PIPELINES.replace(
            "normalize: auto", "bucketize: {bounds: auto, quantiles: 4}, normalize: {mean: 0, field: x}") + MODEL
        self.recipe(recipe.replace("label: text", "x: {columns: [b, c], type: float32}, label: text").replace(
            "train: {epochs", "train: {input: x, epochs"))
        self.train()
        evaluated = self.evaluated_ids()
        values = sorted(float(value) for key, value in self.column(0).items() if key not in evaluated)
        bounds, = (value["options"]["bounds"] for value in self.learned()["values"] if value["stage"] == "bucketize")
        self.assertEqual(len(bounds), 3)
        for part, bound in enumerate(bounds, 1):
            self.assertAlmostEqual(bound, values[part * len(values) // 4], places=3)  # read as float32
        self.assertIn("bounds: auto", self.read("run/recipe.yaml").decode())
        self.assertIn("bucketize of image: bounds", self.run_stoker("inspect", "run")[0])
        out, _ = self.run_stoker("predict", "run", "--fields", "image,id")
        for line in map(json.loads, out.splitlines()):
            value = float(self.column(0)[line["fields"]["id"]])
            near = min(abs(value - bound) for bound in bounds)
            if near > 1e-3:
                self.assertEqual(line["fields"]["image"], sum(bound <= value for bound in bounds))
        self.train("--set", "train.feed_threads=1", run="one")
        self.assertEqual(self.read("one/learned.json"), self.read("run/learned.json"))

    def test_a_nan_that_gets_no_number_is_told_of_when_buckets_are_learned(self):
        text = RECIPE.replace("type: float32", "type: float32, default: nan").replace("[a, b, c]", "[a]")
        for options, told in (("", True), (", nan: 4", False)):
            self.recipe(text.replace("normalize: auto", "bucketize: {bounds: auto, quantiles: 4%s}, cast: float32" % options),
                        change=lambda number, row: ["", *row[1:]] if number == 7 else row)
            _, err = self.start("check", "recipe.yaml").communicate()
            self.assertEqual("has 1 NaN on the training side, left out of the bounds" in err, told, err)

    def test_what_has_no_buckets_is_an_error_and_what_has_fewer_a_warning(self):
        text = RECIPE.replace("[a, b, c]", "[a]").replace("normalize: auto", "bucketize: {bounds: auto, quantiles: 4}, cast: float32")
        self.recipe(text, change=lambda number, row: ["5", *row[1:]])
        self.assert_fails(["bench", "recipe.yaml"], 1, "recipe.yaml:5:", "always the same value", "5")
        self.recipe(text, change=lambda number, row: [row[0] if number % 3 == 0 else "5", *row[1:]])
        _, err = self.run_stoker("bench", "recipe.yaml", "--epochs", "1")
        self.assertIn("has too few different values for 4 buckets of equal counts; there are 2", err)


class LearnedMistakesTest(LearnedCase):
    def fails(self, text, *says, code=2, **options):
        self.recipe(text, **options)
        self.assert_fails(["bench", "recipe.yaml"], code, *says)

    def test_bench_learns_in_memory_and_check_finds_nothing_wrong(self):
        self.recipe()
        self.run_json("bench", "recipe.yaml", "--epochs", "1")
        self.assertFalse(os.path.exists(self.path("learned.json")))
        self.assertIn("nothing is wrong with it", self.run_stoker("check", "recipe.yaml")[0])

    def test_a_column_that_is_missing_or_of_another_type_at_prediction_is_named(self):
        self.recipe()
        self.train()
        new = ["--set", "data.source.csv.files=new.csv", "--set", "data.split=null"]
        self.rows(name="new.csv", header="a,x,c,label,id")
        self.assert_fails(["predict", "run", *new], 2, "no column 'b'")
        self.rows(name="new.csv", change=lambda number, row: [row[0], "low", *row[2:]])
        self.assert_fails(["predict", "run", *new], 1, "'low'", "new.csv")
        self.rows(name="new.csv", change=lambda number, row: [*row[:3], "yew", row[4]])
        self.assert_fails(["predict", "run", *new], 1, "'yew'", "none of the 3 words")

    def test_missing_cells_are_left_out_and_a_column_of_them_is_an_error(self):
        text = RECIPE.replace("type: float32", "type: float32, default: nan")
        self.recipe(text, change=lambda number, row: ["" if number % 7 == 0 else row[0], *row[1:]])
        _, err = self.run_stoker("bench", "recipe.yaml", "--epochs", "1")
        self.assertIn("no number (nan)", err)
        self.fails(text, "field 'image' has no number in number 0 of its first dimension",
                   code=1, change=lambda number, row: ["", *row[1:]])

    def test_a_constant_column_is_a_warning_and_becomes_zero(self):
        self.recipe(change=lambda number, row: [row[0], "0.1", row[2], *row[3:]])
        _, err = self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet")
        self.assertIn("always has the same value in number 1 of its first dimension", err)
        self.assertEqual(self.learned()["values"][0]["options"]["std"][1], 1)

    def test_what_cannot_be_learned_has_its_line(self):
        self.fails(RECIPE.replace("normalize: auto, lookup: auto, batch: 50", "normalize: {mean: auto, field: id}, batch: 50"),
                   "recipe.yaml:6:", "data.train has none")
        self.fails(RECIPE.replace("shuffle, normalize: auto, lookup: auto, batch: 16",
                                  "shuffle, lookup: auto, batch: 16, normalize: auto"),
                   "normalize: mean is auto, but the stage stands after batch")
        self.fails(RECIPE.replace("normalize: auto", "normalize: {mean: auto, std: 2}"), "mean is auto, which learns both")
        self.fails(RECIPE.replace("normalize: auto", "normalize: {mean: auto, field: id}"), "field 'id' is int64")
        self.fails(RECIPE.replace("lookup: auto", "lookup: {values: auto, limit: 2}"), "say with `unknown`")
        self.fails(HEAD.replace("split:", "  - lookup: auto\n  split:").replace("by: id", "by: label") +
                   PIPELINES.replace("lookup: auto, ", "") + MODEL, "auto before the split")

    def test_a_stage_of_the_source_learns_from_the_training_side(self):
        self.recipe()
        self.train()
        self.write("recipe.yaml", HEAD.replace("  split:", "    - normalize: auto\n    - lookup: auto\n  split:") +
                   PIPELINES.replace("normalize: auto, lookup: auto, ", "") + MODEL)
        self.train(run="source")
        self.assertEqual(self.learned("source")["values"], self.learned()["values"])

    def test_a_split_may_go_by_a_field_that_stages_behind_it_learn_of(self):
        self.recipe()
        self.write("recipe.yaml", HEAD.replace("  split:", "    - normalize: auto\n  split:").replace("by: id", "by: id, stratify: label") +
                   PIPELINES.replace("normalize: auto, ", "") + MODEL)
        self.train(run="source")
        self.assertEqual(len(self.learned("source")["values"]), 2)

    def learning_of_many_words(self):
        """A recipe that learns 150,000 different words of 60 letters, which takes a second."""
        self.write("rows.csv", "a,word,label\n" + "".join(f"0.5,{number:060},{number % 2}\n" for number in range(150_000)))
        self.write("recipe.yaml", """\
data:
  source: [csv: {files: rows.csv, fields: {image: {columns: [a]}, word: text, label: int64}}]
  train: [lookup: {field: word, values: auto}, batch: 32]
""" + MODEL)

    def test_words_that_do_not_fit_into_the_budget_end_the_learning_with_the_place_and_what_to_do(self):
        self.learning_of_many_words()
        self.assert_fails(["train", "recipe.yaml", "--run", "run", "--memory", "16MiB"], 1,
                          "recipe.yaml:3:11: lookup: field 'word': what is learned takes", "more than the budget of 16MiB", "raise the budget")
        self.assertFalse(os.path.exists(self.path("run")))


if __name__ == "__main__":
    unittest.main()

"""What beginners get wrong first is told with its place, its figures and what to do."""
import os
import random
import unittest

from program import RECIPE, ProgramTest, where

ROWS = """\
data:
  train:
    - csv: {files: train.csv, fields: {image: {columns: [a, b]}, label: int64}}
    - shuffle
    - batch: 32
  eval:
    - csv: {files: eval.csv, fields: {image: {columns: [a, b]}, label: int64}}
    - batch: 32
model: {mlp: {classes: 2, hidden: [8]}}
train: {epochs: 1, device: cpu, threads: 1, tune: off}
"""
WORDS = """\
data:
  train:
    - csv: {files: words.csv, fields: {text: text, label: int64}}
    - shuffle
    - words: {vocabulary: vocabulary.txt, output: image}
    - cast: {field: image, dtype: float32}
    - padded_batch: {size: 32, fields: [image], shape: ["3"]}
model: {mlp: {classes: 2, hidden: [8]}}
train: {epochs: 1, device: cpu, threads: 1, tune: off}
"""


class FirstMistakesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("rows.yaml", ROWS)
        self.write_rows("train.csv", 480)
        self.write_rows("eval.csv", 64)

    def write_rows(self, name, count):
        draw = random.Random(3)
        rows = [f"{draw.gauss(0, 1):.3f},{draw.gauss(0, 1):.3f},{draw.choice(['ant', 'bee', 'cat', 'dog', 'elk', 'fox'])},{i % 2}"
                for i in range(count)]
        self.write(name, "\n".join(["a,b,word,label", *rows]) + "\n")

    def test_an_empty_source_is_named_with_its_place_by_every_command(self):
        self.run_stoker("train", "rows.yaml", "--run", "run")
        self.write_rows("eval.csv", 0)
        for arguments in (["eval", "run"], ["predict", "run"]):
            _, err = self.assert_fails(arguments, 2, "run/recipe.yaml:", "data.eval gives no batch: its source csv (", "eval.csv) holds no samples")
            self.assertNotIn("drop_remainder", err)
        self.write_rows("eval.csv", 64)
        self.write_rows("train.csv", 0)
        out, _ = self.run_stoker("check", "rows.yaml", expect=1)
        self.assertIn(f"rows.yaml{where(ROWS, 'train:')[len('recipe.yaml'):]}: data.train gives no batch: its source csv (", out)
        self.assert_fails(["train", "rows.yaml", "--run", "other"], 2, "data.train gives no batch: its source csv (", "train.csv) holds no samples")

    def test_a_batch_larger_than_the_data_is_named_with_both_numbers(self):
        larger = ["--set", "data.train.batch={size: 1000, drop_remainder: true}"]
        says = "data.train gives no batch: its 480 samples are fewer than one batch of 1000, and drop_remainder"
        self.assertIn(says, self.run_stoker("check", "rows.yaml", *larger, expect=1)[0])
        self.assert_fails(["train", "rows.yaml", *larger], 2, says)

    def test_missing_values_that_become_nan_are_found_before_the_first_step(self):
        self.write("rows.yaml", ROWS.replace("[a, b]}", "[a, b], default: nan}"))
        self.write("train.csv", "a,b,word,label\n" + "0.5,,ant,0\n,0.1,bee,1\n" * 20)
        out, _ = self.run_stoker("check", "rows.yaml", expect=1)
        self.assertIn("the input holds values that are not finite in samples", out)
        _, err = self.assert_fails(["train", "rows.yaml", "--run", "run"], 1, "not finite in samples", "give the field another `default`")
        self.assertNotIn("learning rate", err)
        self.assertFalse(os.path.exists(self.path("run")))

    def test_a_run_without_a_checkpoint_says_how_to_go_on(self):
        self.write("rows.yaml", ROWS.replace("[a, b]}", "[a, b], default: nan}").replace("tune: off", "tune: off, sanity: false"))
        self.write("train.csv", "a,b,word,label\n" + "0.5,,ant,0\n,0.1,bee,1\n" * 20)
        _, err = self.assert_fails(["train", "rows.yaml", "--run", "run"], 1, "step 1: the loss is nan", "give the field another `default`")
        self.assertNotIn("learning rate", err)
        self.assert_fails(["train", "rows.yaml", "--run", "run"], 1, "run: exists already, and is a run that has stored no checkpoint; begin it again at step 0 (--resume")
        self.write_rows("train.csv", 480)
        self.run_stoker("train", "rows.yaml", "--run", "run", "--resume", "--allow-changes")

    def test_lint_knows_numbers_of_words_and_one_hot_columns(self):
        draw, words = random.Random(5), ["ant", "bee", "cat", "dog", "elk", "fox"]
        self.write("vocabulary.txt", "\n".join(words) + "\n")
        self.write("words.csv", "text,label\n" + "".join(f"{' '.join(draw.choices(words, k=3))},{i % 2}\n" for i in range(96)))
        self.write("rows.yaml", WORDS)
        out, _ = self.run_stoker("lint", "rows.yaml", expect=1)
        self.assertIn("'image' holds numbers of words (of `words`)", out)
        self.assertIn("one_hot: {classes: N, field: image}", out)
        self.assertNotIn("normalize", out)
        self.write("words.csv", "kind,label\n" + "".join(f"{draw.choice(words)},{i % 2}\n" for i in range(96)))
        one_hot = WORDS[:WORDS.index("    - csv")] + """\
    - csv: {files: words.csv, fields: {image: {columns: kind, type: text}, label: int64}}
    - shuffle
    - lookup: {field: image, vocabulary: vocabulary.txt}
    - one_hot: {classes: 6, field: image}
    - batch: 32
""" + WORDS[WORDS.index("model"):]
        self.write("rows.yaml", one_hot)
        out, _ = self.run_stoker("lint", "rows.yaml")
        self.assertNotIn("inputs", out)

    def test_lint_knows_a_mean_in_units_of_255_and_speaks_of_an_earlier_normalize_only_where_there_is_one(self):
        self.write("recipe.yaml", RECIPE.replace("normalize: {mean: 0.2, std: 0.3}", "normalize: {mean: 51, std: 76.5}", 1))
        out, _ = self.run_stoker("lint", "recipe.yaml", expect=1)
        self.assertIn("the mean and std of `normalize` are of 0..255, and it gets values of 0..1", out)
        self.assertIn("normalize: {mean: 0.2, std: 0.3, field: image}", out)
        self.write("recipe.yaml", RECIPE.replace("normalize: {mean: 0.2, std: 0.3}", "normalize: {mean: -9, std: 0.3}", 1))
        self.assertIn("an earlier one", self.run_stoker("lint", "recipe.yaml", expect=1)[0])
        self.write("recipe.yaml", RECIPE.replace("normalize: {mean: 0.2, std: 0.3}", "cast", 1))
        out, _ = self.run_stoker("lint", "recipe.yaml", expect=1)
        self.assertIn("bring them to about 0 and 1", out)
        self.assertNotIn("an earlier one", out)

    def test_check_and_lint_name_pipelines_that_do_not_go_together_with_both_places(self):
        for wrong, right, says in [
                ("eval.csv", "train.csv", "reads samples that data.train (rows.yaml:3:7) learns from"),
                ("    - batch: 32\nmodel", "    - normalize: {mean: 1}\n    - normalize: {std: 2}\n    - batch: 32\nmodel", "normalises 'image' a second time")]:
            self.write("rows.yaml", ROWS.replace(wrong, right))
            self.assertIn(says, self.run_stoker("check", "rows.yaml")[0])
            self.assertIn(says.split(" (")[0], self.run_stoker("lint", "rows.yaml")[0])
        self.write("rows.yaml", ROWS)
        for command in ("check", "lint"):
            self.assertNotIn("data.eval", self.run_stoker(command, "rows.yaml")[0])

    def test_check_warns_of_a_metric_that_is_always_1(self):
        out, _ = self.run_stoker("check", "rows.yaml", "--set", "train.metrics=[top3]")
        self.assertIn("top3 of 2 classes is always 1", out)

    def test_a_metric_that_every_evaluation_has_is_said_to_be_there_already(self):
        out, _ = self.run_stoker("check", "rows.yaml", "--set", "train.metrics=[accuracy, f1]", expect=1)
        self.assertIn("'accuracy' is measured in every evaluation of classes; leave it out", out)
        self.assertIn("leave it out", out)

    def test_the_log_compares_the_first_trial_with_nothing_and_counts_one_thread(self):
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=200", "--set", "train.callbacks=[{stop_at: {step: 5}}]")
        log = self.read("run/log").decode()
        self.assertIn("tried begin: ", log)
        self.assertNotIn("0.00 times", log)
        self.assertNotIn(" 1 threads", log)


if __name__ == "__main__":
    unittest.main()

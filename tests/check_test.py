"""`stoker check`: all that is wrong with a recipe, at once, each with its place."""
import json
import os
import re
import shutil
import subprocess
import unittest

from program import RECIPE, STOKER, ProgramTest, idx, images_and_labels, where

CLEAN = "recipe.yaml: nothing is wrong with it\n"
CLEAN_BUT_WARNED_OF = "recipe.yaml: nothing is wrong with it, but see the warnings\n"


class CheckCase(ProgramTest):
    def check(self, *arguments, recipe=None, expect=1, **options):
        """Runs `stoker check recipe.yaml ARGUMENTS` and returns the lines that it prints."""
        if recipe is not None:
            self.write("recipe.yaml", recipe)
        out, err = self.run_stoker("check", "recipe.yaml", *arguments, expect=expect, **options)
        self.assertNotIn("defect", out + err)
        return out.splitlines()

    def assert_finds(self, lines, *findings):
        """The lines are these findings and no others, each a place and a part of its message."""
        self.assertEqual(len(lines), len(findings), "\n".join(lines))
        for line, (place, says) in zip(lines, findings):
            self.assertTrue(line.startswith(f"{place}: "), line)
            self.assertIn(says, line)

    def without_trainer(self):
        """A program that has no stoker-train beside it."""
        shutil.copy(STOKER, self.path("stoker"))
        return {"executable": self.path("stoker")}


class CheckTest(CheckCase):
    def test_a_recipe_that_trains_has_no_findings(self):
        before = sorted(os.listdir(self.folder))
        self.assertEqual(self.run_stoker("check", "recipe.yaml")[0], CLEAN)
        self.assertEqual(sorted(os.listdir(self.folder)), before)  # nothing is written

    SIDE_FILES = """\
data:
  root: data
  train:
    - csv: {files: rows.csv, fields: {x: {columns: [x], type: float32, shape: [1]}, label: int64}}
    - ignore_errors: {limit: 9, log: ../lost.jsonl}
    - cache: {path: kept.cache}
    - batch: 4
  eval:
    - csv: {files: [rows.csv, more.csv], fields: {x: {columns: [x], type: float32, shape: [1]}, label: int64}}
    - ignore_errors: {limit: 9, log: ../lost.jsonl}
    - batch: 4
model: {linear: {classes: 2}}
train: {max_steps: 2, device: cpu, input: x, target: label}
"""

    def files(self):
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names)

    def test_nothing_is_written_also_where_reading_would_keep_an_index_a_cache_and_a_log(self):
        self.write("data/rows.csv", "x,label\n1,0\nbad,1\n3,1\n4,0\n5,1\n6,1\n7,0\n")
        self.write("data/more.csv", "x,label\n1,0\n3,1\n")
        self.write("recipe.yaml", self.SIDE_FILES)
        before = self.files()
        self.assertEqual(self.check(expect=0)[-1], CLEAN_BUT_WARNED_OF.strip())
        self.assertEqual(self.files(), before)
        self.run_stoker("bench", "recipe.yaml", "--epochs", "1")  # which does write the index and the cache
        self.run_stoker("train", "recipe.yaml", "--run", "run")  # and this the log
        written = set(self.files()) - set(before)
        for name in ("data/.rows.csv.stoker-index", "data/kept.cache", "lost.jsonl"):
            self.assertIn(self.path(name), written)

    def test_nothing_is_written_without_the_trainer_either(self):
        alone = self.without_trainer()
        self.write("data/rows.csv", "x,label\n1,0\nbad,1\n3,1\n4,0\n5,1\n6,1\n7,0\n")
        self.write("data/more.csv", "x,label\n1,0\n3,1\n")
        before = self.files()
        self.check(recipe=self.SIDE_FILES, expect=0, **alone)
        self.assertEqual(self.files(), before)

    def test_independent_mistakes_of_all_sections_are_listed_in_one_run(self):
        wrong = (RECIPE.replace("random_crop: {size: 14, padding: 1}", "random_crop: {sise: 14, padding: -1}")
                 .replace("images: eval-images.gz", "images: nowhere.gz")
                 .replace("classes: 4, channels", "clases: 4, channels")
                 .replace("epochs: 3", "epochs: none\n  epoch: 3")
                 .replace("weight_decay: 0.01", "weight_decay: -1, lr: 0.1")
                 .replace("max_lr: 0.01", "max_lr: fast"))
        lines = self.check("--set", "train.checkpoint.keep=many", recipe=wrong)
        self.assert_finds(
            [line for line in lines if "not checked" not in line],
            ("--set train.checkpoint.keep", "'many' is not an integer"),
            (where(wrong, "sise"), "did you mean 'size'?"),
            (where(wrong, "-1}\n    - normalize"), "padding"),
            (where(wrong, "idx: {images: nowhere.gz").rsplit(":", 1)[0] + ":7", "nowhere.gz"),
            (where(wrong, "clases"), "did you mean 'classes'?"),
            (where(wrong, "none"), "'none' is not an integer"),
            (where(wrong, "epoch: 3"), "did you mean 'epochs'?"),
            (where(wrong, "-1, lr"), "weight_decay"),
            (where(wrong, "lr: 0.1}"), "it belongs to the schedule"),
            (where(wrong, "fast"), "'fast' is not a number"))

    def test_mistakes_of_metrics_early_stopping_init_from_groups_and_repeated_keys_hide_no_others(self):
        right = """\
  seed: 1
  metrics: [top3, top0, f2, confusion]
  early_stopping: {patience: 2, metric: f1}
  checkpoint: {best: auc}
  init_from: {weights: nowhere.pt, rename: [backbone, a=b]}
  groups:
    - {match: "nothing.*", lr: 2}
  callbacks: [{stop_at: {step: 0}}]
"""
        for change, others in [
                (None, []),
                (("weight_decay: 0.01", "weight_decay: -1"), [("-1", "weight_decay")]),
                (("images: eval-images.gz", "images: gone.gz"), [("idx: {images: gone.gz", "gone.gz")]),
                (("epochs: 3", "epochs: 3\n  epochs: 4"), [("epochs: 4", "the key 'epochs' is already on line")])]:
            with self.subTest(change=change):
                wrong = RECIPE.replace("  checkpoint: {every_steps: 8, keep: 3}\n", "").replace("  seed: 1\n", right)
                self.assertIn("stop_at", wrong)
                wrong = wrong.replace(*change) if change else wrong
                lines = [line for line in self.check(recipe=wrong) if ": not checked: " not in line]
                expected = [("top0", "unknown metric 'top0'"), ("f2", "unknown metric 'f2'"), ("f1}", "'f1' is no figure"),
                            ("auc}", "'auc' is no figure"), ("rename: [backbone", "'backbone' must say OLD=NEW"),
                            ("nowhere.pt", "nowhere.pt"), ("- {match", "'nothing.*' matches none"), ("0}}]", "step"), *others]
                for place, says in expected:
                    line = where(wrong, place).split(":")[1]
                    self.assertTrue(any(found.startswith(f"recipe.yaml:{line}:") and says in found for found in lines), (says, lines))
                self.assertEqual(len(lines), len(set(lines)), lines)
                self.assertEqual(len(lines), len(expected), lines)
                for found in lines:
                    self.assertRegex(found, r"\Arecipe\.yaml:\d+:\d+: ")

    ROWS = """\
data:
  root: data
  train:
    - csv:
        files: rows.csv
        fields:
          x: {columns: [x], type: float32, shape: [1]}
          label: int64
    - shuffle
    - batch: 2
model: {linear: {classes: 2}}
train: {max_steps: 2, device: cpu, input: x, target: label}
"""

    def findings(self, wrong):
        return [line for line in self.check(recipe=wrong) if ": not checked: " not in line and ": warning: " not in line]

    def test_a_wrong_input_and_a_wrong_target_are_both_listed_beside_what_else_is_wrong(self):
        wrong = RECIPE.replace("  epochs: 3", "  input: picture\n  target: class\n  epochs: 3")
        both = [(where(wrong, "picture"), "no field 'picture'"), (where(wrong, "class\n"), "no field 'class'")]
        self.assert_finds(self.findings(wrong), *both)
        for change, says in [
                (("classes: 4, channels", "classes: four, channels"), "'four' is not an integer"),
                (("device: cpu", "device: gpu"), "device 'gpu' is unknown"),
                (("one_cycle: {max_lr: 0.01}", "multi_step: {lr: 0.1, milestones: [9, 3]}"), "milestone 3"),
                (("eval-labels", "gone"), "gone"),
                (("epochs: 3", "epochs: 3\n  metrics: [f2]"), "unknown metric 'f2'")]:
            with self.subTest(change=change):
                found = self.findings(wrong.replace(*change))
                self.assertEqual(len(found), 3, found)
                for part in (says, "no field 'picture'", "no field 'class'"):
                    self.assertTrue(any(part in line for line in found), (part, found))

    def test_a_wrong_device_is_found_beside_other_mistakes(self):
        for change in [("epochs: 3", "epochs: none"), ("classes: 4, channels", "clases: 4, channels"), ("eval-labels", "gone")]:
            with self.subTest(change=change):
                found = self.findings(RECIPE.replace("device: cpu", "device: gpu").replace(*change))
                self.assertTrue(any("device 'gpu' is unknown" in line for line in found), found)
                self.assertEqual(len(found), 2, found)

    def test_a_figure_that_is_followed_is_looked_at_beside_a_mistake_in_the_same_part(self):
        wrong = RECIPE.replace("  epochs: 3", "  early_stopping: {metric: f1, patience: none}\n  epochs: 3")
        self.assert_finds(self.findings(wrong), (where(wrong, "f1, pat"), "'f1' is no figure"),
                          (where(wrong, "none}"), "'none' is not an integer"))

    def test_a_misspelt_input_is_one_finding(self):
        self.write("data/rows.csv", "x,label\n1,0\n2,1\n3,1\n4,0\n")
        self.assertEqual(len(self.findings(self.ROWS.replace("input: x", "imput: x"))), 1)

    def test_all_wrong_fields_of_a_source_are_listed_each_on_its_line(self):
        self.write("data/rows.csv", "x,label\n1,0\n2,1\n3,1\n4,0\n")
        self.write("data/rows.jsonl", '{"x": 1, "label": 0}\n{"x": 2, "label": 1}\n')
        self.check(recipe=self.ROWS, expect=0)
        lost = self.findings(self.ROWS.replace("columns: [x]", "columns: [y, z]").replace("label: int64", "label: {columns: [lab], type: int64}"))
        self.assertEqual(len(lost), 3, lost)
        for name in ("'y'", "'z'", "'lab'"):
            self.assertTrue(any(f"there is no column {name}" in line for line in lost), lost)
        json_rows = self.ROWS.replace("csv", "jsonl").replace("{columns: [x], type: float32, shape: [1]}", "{type: float32, shape: [1]}")
        for rows in (self.ROWS, json_rows):
            wrong = rows.replace("float32", "float33").replace("label: int64", "label: {type: int65, sort: 1}")
            self.assert_finds(self.findings(wrong), (where(wrong, "float33"), "x.type is 'float33'"),
                              (where(wrong, "int65"), "label.type is 'int65'"), (where(wrong, "sort"), "unknown option 'sort'"))
        wrong = json_rows.replace("{type: float32, shape: [1]}", "{type: text, shape: [1]}").replace("int64", "{type: int64, default: [1, 2]}")
        found = self.findings(wrong)
        self.assertEqual(len(found), 2, found)
        self.assertIn("'x': a text has no shape", found[0] + found[1])
        self.assertIn("'label': default has 2 values", found[0] + found[1])
        missing = self.findings(json_rows.replace("x: {type", "a: {type").replace("label: int64", "b: int64").replace("input: x, target: label", "input: a, target: b"))
        self.assertEqual(len(missing), 1, missing)
        self.assertIn("there is no 'a' nor 'b'; give each of these fields a default", missing[0])

    def test_damage_is_found_in_the_first_batch_that_training_draws_and_stands_at_its_stage(self):
        self.write("data/rows.csv", "x,label\n" + "".join(f"{'bad' if row == 3 else row},{row % 2}\n" for row in range(8)))
        places = set()
        for seed in range(1, 13):
            wrong = self.ROWS.replace("device: cpu", f"device: cpu, seed: {seed}")
            self.write("recipe.yaml", wrong)
            report = json.loads(subprocess.run([STOKER, "check", "recipe.yaml", "--json"], cwd=self.folder, capture_output=True).stdout)
            places.update((finding["line"], "rows.csv" in finding["message"]) for finding in report["findings"])
        self.assertEqual(places, {(int(where(self.ROWS, "csv:").split(":")[1]), True)})

    def test_what_could_not_be_looked_at_is_said(self):
        for change, says in [
                (("  epochs: 3", "  sanity: false\n  epochs: 3"), "since train.sanity is off"),
                (("  epochs: 3", "  input: picture\n  epochs: 3"), "the first batches of data.train and data.eval with model"),
                (("classes: 4, channels", "classes: 3, channels"), "how model, data and training go together"),
                (("eval-labels", "gone"), "how the stages of data.eval go together, and its samples"),
                (("  epochs: 3", "  metrics: {a: b}\n  epochs: 3"), "since train.metrics is not known")]:
            with self.subTest(change=change):
                self.write("recipe.yaml", RECIPE.replace(*change))
                out = subprocess.run([STOKER, "check", "recipe.yaml"], cwd=self.folder, capture_output=True, text=True).stdout
                self.assertTrue(any(line.startswith("recipe.yaml: not checked: ") and says in line for line in out.splitlines()), out)

    def test_weights_that_are_not_there_are_found_whatever_else_is_wrong(self):
        wrong = RECIPE.replace("  seed: 1\n", "  seed: 1\n  init_from: {weights: nowhere.pt}\n")
        for change in [("classes: 4, channels", "clases: 4, channels"), ("root: data", "root: nowhere"), ("epochs: 3", "epochs: none"),
                       ("one_cycle: {max_lr: 0.01}", "one_cycle: {max_lr: fast}")]:
            with self.subTest(change=change):
                self.assertIn(change[0], wrong)
                lines = self.check(recipe=wrong.replace(*change))
                self.assertEqual(len([line for line in lines if "nowhere.pt" in line]), 1, lines)

    def test_a_finding_in_json_has_file_line_and_column(self):
        wrong = RECIPE.replace("weight_decay: 0.01", "weight_decay: -1").replace("labels: eval-labels", "labels: gone")
        self.write("recipe.yaml", wrong)
        out, _ = self.run_stoker("check", "recipe.yaml", "--json", "--set", "train.seed=x", expect=1)
        found = json.loads(out)
        self.assertEqual(found["recipe"], "recipe.yaml")
        places = [(finding["file"], finding["line"], finding["column"]) for finding in found["findings"]]
        line, column = map(int, where(wrong, "-1}").split(":")[1:])
        self.assertEqual(places[0], ("--set train.seed", None, None))
        self.assertEqual(places[2], ("recipe.yaml", line, column))
        self.assertIn("gone", found["findings"][1]["message"])
        self.assertFalse([finding for finding in found["findings"] if finding["message"].startswith("recipe.yaml:")])

    def test_training_data_that_nothing_shuffles_are_warned_of_and_that_is_no_finding(self):
        plain = RECIPE.replace("    - shuffle\n", "")
        for recipe, warned in [(plain, True), (RECIPE, False), (plain.replace("    - random_crop", "    - sample: {count: 500}\n    - random_crop"), False)]:
            with self.subTest(warned=warned):
                lines = self.check(recipe=recipe, expect=0)
                self.assertEqual(lines[-1], (CLEAN_BUT_WARNED_OF if warned else CLEAN).rstrip())
                self.assertEqual(lines[:-1] != [], warned)
                report = self.run_json("check", "recipe.yaml")
                self.assertEqual((report["findings"], len(report["warnings"])), ([], int(warned)))
                hints = [finding["where"] for finding in self.run_json("lint", "recipe.yaml")["findings"] if finding["rule"] == "order"]
                self.assertEqual(hints, ["data.train"] if warned else [])
                if warned:
                    self.assertTrue(lines[0].startswith(f"{where(plain, 'train:')}: warning: data.train: nothing shuffles"), lines)
                    self.assertEqual(report["warnings"][0]["line"], int(where(plain, "train:").split(":")[1]))

    def test_what_shows_only_when_all_goes_together_is_found_with_its_place(self):
        for change, place, says in [
                (("classes: 4, channels", "classes: 3, channels"), "classes: [north-west", "4 names"),
                (("  epochs: 3", "  input: picture\n  epochs: 3"), "picture", "picture"),
                (("schedule:\n    one_cycle: {max_lr: 0.01}", "schedule:\n    multi_step: {lr: 0.1, milestones: [9, 3]}"), None, ""),
                (("  epochs: 3", "  init_from: {weights: nowhere.pt}\n  epochs: 3"), None, "nowhere.pt"),
                (("  epochs: 3", "  init_from: {weights: 'http://127.0.0.1:9/w.pt'}\n  epochs: 3"), None,
                 "http://127.0.0.1:9/w.pt: byte 0: "),
                (("  epochs: 3", "  early_stopping: {patience: 1, metric: f1}\n  epochs: 3"), None, "f1")]:
            with self.subTest(change=change):
                wrong = RECIPE.replace(*change)
                lines = [line for line in self.check(recipe=wrong) if ": not checked: " not in line]
                self.assertEqual(len(lines), 1, lines)
                self.assertRegex(lines[0], r"\Arecipe\.yaml:\d+:\d+: ")
                self.assertIn(says, lines[0])
                if place:
                    self.assertEqual(lines[0].split(":")[1], where(wrong, place).split(":")[1], lines[0])

    def test_a_file_whose_name_looks_like_a_key_is_not_taken_for_one(self):
        self.write("data/train.csv", "x,label\n1,0\n2,1\n3\n")
        for name in ("train.csv", "data/train.csv", "./train.csv", "my train.csv"):
            with self.subTest(name=name):
                self.write(name, "x,label\n1,0\n2,1\n3\n")
                wrong = ("data:\n  root: .\n  train:\n    - csv: {files: %s}\n    - batch: 3\n"
                         "model: {linear: {classes: 2}}\ntrain: {epochs: 1, target: label}\n" % name)
                lines = self.check(recipe=wrong)
                self.assertEqual(len([line for line in lines if "train.csv" in line]), 1, lines)
                self.assertIn("train.csv", lines[0])
                self.assertRegex(lines[0], r"\Arecipe\.yaml:[34]:\d+: ")  # data.train, not `train:`

    def test_every_target_of_the_first_batches_is_looked_at(self):
        labels = bytes([0, 1, 2, 3] * 30)
        for name, other in [("eval-labels", "data.eval"), ("train-labels.gz", "data.train")]:
            with self.subTest(name=name):
                self.setUp()
                count = 120
                self.write("data/train-images", images_and_labels(count, 1)[0])
                self.write("data/plain-labels", idx(8, [count], labels))
                self.write("data/wrong-labels", idx(8, [count], labels[:17] + b"\x09" + labels[18:]))
                lines = self.check(recipe=RECIPE.replace("    - shuffle\n", "").replace("train-labels.gz", "plain-labels")
                                   .replace("plain-labels" if other == "data.train" else name, "wrong-labels"))
                lines = [line for line in lines if ": warning: " not in line]
                self.assertEqual(len(lines), 1, lines)
                self.assertIn("9", lines[0])
                self.assertIn(other, lines[0])

    def test_a_recipe_that_is_no_yaml_is_one_finding(self):
        self.assert_finds(self.check(recipe="data: [\n"), ("recipe.yaml:2:1", "YAML"))
        self.assertRegex(self.check(recipe="- a\n")[0], r"\Arecipe\.yaml:1:1: ")

    def test_a_recipe_that_is_not_there_and_wrong_usage_are_no_findings(self):
        self.assert_fails(["check", "nowhere.yaml"], 1, "nowhere.yaml")
        self.assert_fails(["check"], 2, "RECIPE is required")


class CheckWithoutTrainerTest(CheckCase):
    def test_without_its_trainer_the_data_are_checked_and_the_rest_is_named(self):
        alone = self.without_trainer()
        lines = self.check(expect=0, **alone)
        self.assertIn("not checked: the sections model and train", lines[0])
        wrong = RECIPE.replace("mean: 0.2", "maen: 0.2").replace("eval-labels", "gone")
        lines = self.check(recipe=wrong, **alone)
        self.assertEqual(len([line for line in lines if re.match(r"recipe\.yaml:\d+:\d+: ", line)]), 3, lines)

    def test_damage_in_the_first_batch_is_found(self):
        self.write("data/rows.csv", "x,label\n1,0\n2\n3,1\n")
        wrong = """\
data:
  root: data
  train: [csv: {files: rows.csv}, batch: 3]
"""
        lines = self.check(recipe=wrong, **self.without_trainer())
        self.assertRegex(lines[0], r"\Arecipe\.yaml:3:\d+: .*rows\.csv")

    VALUES = ["[]", "{}", "-1", "0", "1e308", "1e-308", "9223372036854775808", ".nan", "''", "text", "'1'", "true", "null",
              "[[1]]", "{a: {b: 1}}", "9" * 400, "x" * 5000, '"\\e[2J\\n\\u202e"']

    def test_whatever_stands_for_a_value_of_the_data_is_refused_by_line_and_briefly(self):
        alone = self.without_trainer()
        data = RECIPE[:RECIPE.index("model:")]
        for match in re.finditer(r"(?<=: )[^\s{}\[\],]+(?=[,}\n])|(?<=root: )\w+", data):
            for value in self.VALUES:
                with self.subTest(value=value[:20], instead_of=match[0]):
                    self.write("recipe.yaml", data[:match.start()] + value + data[match.end():])
                    out = subprocess.run([STOKER, "check", "recipe.yaml"], cwd=self.folder, capture_output=True, text=True,
                                         **alone)
                    self.assertIn(out.returncode, (0, 1), out.stderr)
                    self.assertNotRegex(out.stdout + out.stderr, r"defect|std::|bad_|[Ii]nternal|\x1b|\u202e")
                    for line in out.stdout.splitlines():
                        self.assertLess(len(line), 1000)
                        self.assertRegex(line, r"\Arecipe\.yaml:(\d+:\d+: | )")


if __name__ == "__main__":
    unittest.main()

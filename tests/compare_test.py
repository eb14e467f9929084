"""`stoker compare`: what differs between runs, from what their directories hold."""
import json
import os
import pathlib
import random
import shutil
import unittest

from program import RECIPE, ProgramTest

# docs/comparing.md describes these.
SCHEMA = {
    "": {"schema", "runs", "comparisons", "goal"},
    "runs.0": {"run", "state", "figures", "environment", "choices", "data", "notes"},
    "runs.0.figures": {"samples_per_s", "windows", "waited", "train_seconds", "steps", "peak_rss_bytes", "samples_are", "metrics"},
    "runs.0.figures.metrics.accuracy": {"last", "last_step", "best", "best_step", "samples"},
    "comparisons.0": {"before", "after", "differences", "samples_per_s", "metrics"},
    "comparisons.0.differences": {"recipe", "code", "machine", "choices", "data"},
    "comparisons.0.samples_per_s": {"change", "low", "high", "verdict"},
    "goal": {"metric", "value", "reached"},
}


def member(json_value, path):
    for name in filter(None, path.split(".")):
        json_value = json_value[int(name) if name.isdigit() else name]
    return json_value


def metrics(rate, accuracy, lines=30, samples=10000, waited=0.1):
    """Lines of a run at about so many samples a second, which ends at this accuracy."""
    rng = random.Random(rate)
    seconds, text = 0, []
    for i in range(1, lines + 1):
        now = rate * rng.uniform(0.97, 1.03)
        seconds += 1000 / now
        text.append({"kind": "train", "step": 10 * i, "epoch": i / 10, "loss": 2 / i, "lr": 0.1, "images_per_s": now,
                     "waited": waited, "train_seconds": seconds})
        if i % 10 == 0:
            text.append({"kind": "eval", "step": 10 * i, "epoch": i // 10, "train_seconds": seconds, "loss": 1 / i, "samples": samples,
                         "seconds": 1, "accuracy": accuracy - (lines - i) / 1000, "metrics": {"top2": accuracy, "f1": [0.1, 0.2]}})
    return "".join(json.dumps(line) + "\n" for line in text)


ENVIRONMENT = {"schema": 1, "stoker": "0.1.0", "build": "ab" * 20, "torch": "2.11.0", "instruction_set": "AVX3", "host": "one",
               "kernel": "6.1", "cpu": "A CPU", "cpus": 8, "memory_bytes": 64_000_000_000, "device": "cpu"}
CHOICES = {"memory_format": "contiguous", "precision": "float32", "threads": 2, "device": "cpu"}
MARK = {"file": "train-images", "bytes": 100, "modified_ns": 5, "places": 0, "content": "0123456789abcdef"}
DATA = {"train": [{"source": "idx", "files": 1, "names": "12", "marks": [MARK]}], "eval": []}


class CompareRunsTest(ProgramTest):
    """Runs that are made up, so that their figures are known."""

    def make(self, name, rate=1000, accuracy=0.90, **changes):
        self.write(f"{name}/recipe.yaml", changes.get("recipe", RECIPE))
        self.write(f"{name}/metrics.jsonl", changes.get("metrics", metrics(rate, accuracy)))
        self.write(f"{name}/weights.safetensors", b"")
        for file, content in [("environment", ENVIRONMENT), ("data", DATA)]:
            self.write(f"{name}/{file}.json", json.dumps(changes.get(file, content)))
        self.write(f"{name}/summary.json", json.dumps({"step": 300, "total_steps": 300, "samples_are": "image", "peak_rss_bytes": 512_000_000}))
        return name

    def compared(self, *runs, **options):
        return self.run_json("compare", *runs, **options)

    def test_a_figure_that_one_run_lacks_is_shown_of_the_other(self):
        self.make("a")
        self.make("b", metrics=metrics(1000, 0.9).replace('"top2"', '"auc"'))
        out, _ = self.run_stoker("compare", "a", "b")
        self.assertRegex(out, r"(?m)^  top2, last +0.9 +- +only one has it$")
        self.assertRegex(out, r"(?m)^  auc, best +- +0.9 +only one has it$")

    def test_a_faster_and_better_run_is_found_beyond_noise(self):
        found = self.compared(self.make("a"), self.make("b", rate=1120, accuracy=0.92))
        rate = found["comparisons"][0]["samples_per_s"]
        self.assertEqual(rate["verdict"], "higher")
        self.assertLess(rate["low"], rate["change"])
        self.assertAlmostEqual(rate["change"], 1.12, delta=0.03)
        self.assertEqual(found["comparisons"][0]["metrics"]["accuracy"]["verdict"], "higher")
        self.assertIsNone(found["comparisons"][0]["metrics"]["loss"])
        out, err = self.run_stoker("compare", "a", "b")
        self.assertEqual(err, "")
        self.assertRegex(out, r"(?m)^  images per second +1,0\d\d +1,1\d\d +faster by 1[0-9.]+ % \([0-9.]+ to [0-9.]+ %\)$"
                         if " 1,0" in out else r"(?m)^  images per second +\d+ +1,1\d\d +faster by 1[0-9.]+ % \([0-9.]+ to [0-9.]+ %\)$")
        self.assertRegex(out, r"(?m)^  accuracy, last +0.9 +0.92 +higher by 0.0200 \(0.01\d\d to 0.02\d\d\)$")
        self.assertRegex(out, r"(?m)^  top2, last ")
        self.assertRegex(out, r"(?m)^  memory, most +512 MB +512 MB$")
        self.assertRegex(out, r"(?m)^  time to accuracy 0.9 ")
        self.assertRegex(out, r"(?m)^recipe: the same\ncode: the same\ndata: the same\nmachine: the same\n")
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_what_is_within_the_noise_is_no_difference(self):
        self.make("a")
        self.make("b", rate=1001, accuracy=0.905, metrics=metrics(1001, 0.905, samples=100))
        out, _ = self.run_stoker("compare", "a", "b")
        self.assertRegex(out, r"(?m)^  images per second .* no difference beyond noise$")
        self.assertRegex(out, r"(?m)^  accuracy, last .* no difference beyond noise$")

    def test_differences_of_the_recipe_name_their_lines(self):
        self.make("a")
        self.make("b", recipe=RECIPE.replace("epochs: 3", "epochs: 5").replace("    - shuffle\n", ""))
        changes = self.compared("a", "b")["comparisons"][0]["differences"]["recipe"]
        epochs = next(change for change in changes if change["change"].startswith("train.epochs"))
        line = RECIPE[:RECIPE.index("epochs: 3")].count("\n") + 1
        self.assertEqual(epochs, {"change": "train.epochs: 3 -> 5", "line_before": line, "line_after": line - 1})
        self.assertIn(f"train.epochs: 3 -> 5 (line a:{line}, b:{line - 1})", self.run_stoker("compare", "a", "b")[0])

    def test_code_machine_choices_and_data_that_differ_are_listed(self):
        self.make("a")
        mark = {**MARK, "bytes": 120, "content": "f" * 16}
        self.make("b", environment={**ENVIRONMENT, "torch": "2.12.0", "cpus": 4},
                  data={**DATA, "train": [{**DATA["train"][0], "marks": [mark]}]})
        found = self.compared("a", "b")["comparisons"][0]["differences"]
        self.assertEqual(found["code"], ["torch: 2.11.0 -> 2.12.0"])
        self.assertEqual(found["machine"], ["cpus: 8 -> 4"])
        self.assertEqual(found["data"], ["data.train: train-images has 120 bytes, it had 100"])
        # Files that were only copied are the same.
        self.make("c", data={**DATA, "train": [{**DATA["train"][0], "marks": [{**MARK, "modified_ns": 6}]}]})
        self.assertEqual(self.compared("a", "c")["comparisons"][0]["differences"]["data"], [])

    def test_json_has_the_members_that_the_documentation_describes(self):
        found = self.compared(self.make("a"), self.make("b"))
        page = pathlib.Path(__file__).parent.parent / "docs" / "comparing.md"
        text = page.read_text(encoding="utf-8")
        for path, names in SCHEMA.items():
            self.assertEqual(set(member(found, path)), names, path)
            for name in names:
                self.assertIn(f"`{name}`", text)
        self.assertEqual(found["schema"], 1)

    def test_more_runs_are_compared_with_the_first(self):
        found = self.compared(self.make("a"), self.make("b", rate=2000), self.make("c", rate=500))
        self.assertEqual([each["samples_per_s"]["verdict"] for each in found["comparisons"]], ["higher", "lower"])
        self.assertEqual([(each["before"], each["after"]) for each in found["comparisons"]], [(0, 1), (0, 2)])
        out, _ = self.run_stoker("compare", "a", "b", "c")
        self.assertIn("\nc compared with a\n", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_says_how_long_each_took_to_get_there(self):
        self.make("a", accuracy=0.90)
        self.make("b", accuracy=0.95)
        goal = self.compared("a", "b", "--reach", "accuracy=0.94")["goal"]
        self.assertIsNone(goal["reached"][0])
        self.assertGreater(goal["reached"][1]["train_seconds"], 0)
        self.assertRegex(self.run_stoker("compare", "a", "b", "--reach", "accuracy=0.94")[0], r"time to accuracy 0.94 +never +\d")
        self.assertEqual(self.compared("a", "b")["goal"]["value"], 0.9)
        self.assert_fails(["compare", "a", "b", "--reach", "acuracy=1"], 2, "--reach acuracy", "did you mean 'accuracy'?")
        self.assert_fails(["compare", "a", "b", "--reach", "accuracy"], 2, "a metric and a number")

    def test_wrong_usage_is_told(self):
        self.make("a")
        os.symlink("a", self.path("link"))
        self.assert_fails(["compare", "a"], 2, "needs two runs or more")
        self.assert_fails(["compare"], 2, "RUN")
        self.assert_fails(["compare", "a", "a"], 2, "is the same run as a")
        self.assert_fails(["compare", "a", "./link/"], 2, "./link/", "is the same run as a")

    def test_what_is_no_run_is_named_with_what_to_do(self):
        self.make("a")
        for other in ["data", "nowhere", "recipe.yaml"]:
            self.assert_fails(["compare", "a", other], 1, other)

    def test_a_damaged_run_is_named_with_the_place(self):
        self.make("a")
        self.make("b", metrics=metrics(1000, 0.9).replace('{"kind": "train", "step": 20,', '{"kind"; "train",'))
        self.assert_fails(["compare", "a", "b"], 1, "b/metrics.jsonl: line 2 (byte ")
        self.make("c", recipe="data: [")
        self.assert_fails(["compare", "a", "c"], 2, "c/recipe.yaml:")

    def test_a_part_that_is_damaged_or_of_another_version_is_left_out_and_told(self):
        self.make("a")
        for name, wrong in [("environment", "{"), ("environment", '{"cpus": "many"}'), ("data", "["), ("summary", "[]"),
                            ("choices", '{"precision": "float7"}')]:
            with self.subTest(name=name, wrong=wrong):
                self.make("b")
                self.write(f"b/{name}.json", wrong)
                (note,) = self.compared("a", "b")["runs"][1]["notes"]
                self.assertIn(f"b/{name}.json", note)
                self.assertIn(f"b/{name}.json", self.run_stoker("compare", "a", "b")[0].replace("\n     ", ""))
                shutil.rmtree(self.path("b"))

    def test_marks_of_data_that_are_damaged_are_unknown(self):
        self.make("a")
        for marks in [[], {"train": 5}, {"train": [{}]}, {"train": [{"source": "idx", "files": 1, "names": "x", "marks": [{}]}]},
                      {"train": [{"source": "idx", "files": "x", "names": "x", "marks": []}]}]:
            with self.subTest(marks=marks):
                self.make("b", data=marks)
                for runs in [("a", "b"), ("b", "a")]:
                    self.assertIsNone(self.compared(*runs)["comparisons"][0]["differences"]["data"])
        # Without the members that only newer versions write.
        for mark in [{"file": "train-images"}, {"file": "train-images", "bytes": 1}, {"file": "train-images", "modified_ns": 1, "bytes": 100}]:
            self.make("b", data={"train": [{**DATA["train"][0], "marks": [mark], "whole": [5]}], "eval": []})
            for runs in [("a", "b"), ("b", "a")]:
                self.assertTrue(self.compared(*runs)["comparisons"][0]["differences"]["data"])

    def test_a_run_of_an_older_version_says_less(self):
        self.make("a")
        self.make("b")
        for name in ["environment", "data", "summary"]:
            os.remove(self.path(f"b/{name}.json"))
        out, _ = self.run_stoker("compare", "a", "b")
        for part in ["code: unknown, the second run does not say", "machine: unknown", "data: unknown", "choices: unknown"]:
            self.assertIn(part, out)
        self.assertRegex(out, r"(?m)^  memory, most +512 MB +-$")

    def test_a_run_without_metrics_yet_is_compared_by_its_recipe(self):
        self.make("a")
        self.make("b", recipe=RECIPE.replace("epochs: 3", "epochs: 4"))
        os.remove(self.path("b/metrics.jsonl"))
        os.remove(self.path("b/weights.safetensors"))
        out, _ = self.run_stoker("compare", "a", "b")
        self.assertIn("train.epochs: 3 -> 4", out)
        self.assertIn("b  b: not finished, and no process trains in it", out)

    def test_figures_that_are_not_finite_are_shown_and_judged_by_nobody(self):
        self.make("a")
        self.make("b", metrics='{"kind":"train","step":1,"loss":null,"images_per_s":null,"train_seconds":1}\n'
                               '{"kind":"eval","step":1,"loss":null,"accuracy":0.5,"samples":1e300}\n')
        found = self.compared("a", "b")
        self.assertIsNone(found["comparisons"][0]["samples_per_s"]["change"])
        self.assertIsNone(found["runs"][1]["figures"]["metrics"]["loss"]["last"])
        self.assertIsNone(found["comparisons"][0]["metrics"]["accuracy"])
        self.assertIn("nan", self.run_stoker("compare", "a", "b")[0])


class CompareTrainedRunsTest(ProgramTest):
    def test_runs_of_the_trainer_say_what_they_were_made_with(self):
        self.run_stoker("train", "recipe.yaml", "--run", "a", "--set", "train.log_every=2")
        self.run_stoker("train", "recipe.yaml", "--run", "b", "--set", "train.log_every=2", "--set", "train.epochs=2")
        found = self.run_json("compare", "a", "b")
        differences = found["comparisons"][0]["differences"]
        self.assertIn("train.epochs: 3 -> 2", [change["change"] for change in differences["recipe"]])
        self.assertEqual((differences["code"], differences["machine"], differences["data"], differences["choices"]), ([], [], [], []))
        environment = found["runs"][0]["environment"]
        self.assertRegex(environment["build"], "^[0-9a-f]{16,}$")
        self.assertTrue(environment["torch"] and environment["cpu"] and environment["device"])
        figures = found["runs"][0]["figures"]
        self.assertGreater(figures["peak_rss_bytes"], 10_000_000)
        self.assertEqual(figures["samples_are"], "image")
        self.assertEqual(figures["metrics"]["accuracy"]["samples"], 120)
        self.assertEqual([run["state"] for run in found["runs"]], ["finished", "finished"])
        with open(self.path("data/train-labels.gz"), "r+b") as file:
            labels = bytearray(file.read())
            labels[4] ^= 1  # the time in the header of gzip: other bytes, the same labels
            file.seek(0)
            file.write(labels)
        self.run_stoker("train", "recipe.yaml", "--run", "c")
        (change,) = self.run_json("compare", "a", "c")["comparisons"][0]["differences"]["data"]
        self.assertIn("train-labels.gz has other content", change)


if __name__ == "__main__":
    unittest.main()

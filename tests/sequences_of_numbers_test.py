"""Recurrent models over sequences of numbers: windows of a series, and series that differ in length (docs/sequences.md)."""
import json
import math
import os
import random
import re
import unittest

from program import ProgramTest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "sequences.md")
STEPS = 600
# Each rises or falls, from a height that says nothing; what else there is is noise.
SERIES = 300


def wave(hour):
    return 20 + 5 * math.sin(hour / 3.7) + 2 * math.cos(hour / 1.9)


def series(rng, rising):
    length, height, slope = rng.randrange(3, 25), rng.uniform(-2, 2), 1 if rising else -1
    return [[height + slope * step / 5 + rng.gauss(0, 0.05), rng.gauss(0, 1)] for step in range(length)]


class SequencesOfNumbersTest(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as file:
            section = file.read().split("## Sequences of numbers")[1].split("\n## ")[0]
        self.windows, self.ragged = re.findall(r"```yaml\n(.*?)```", section, re.S)
        self.write("windows.yaml", self.windows)
        self.write("ragged.yaml", self.ragged)
        rng = random.Random(3)
        rows = [(wave(hour), 50 + rng.gauss(0, 3)) for hour in range(STEPS)]
        self.write("weather.csv", "temperature,humidity\n" + "".join(f"{t:.4f},{h:.4f}\n" for t, h in rows))
        self.write_series("movements.jsonl", [(series(rng, number % 2 == 0), number % 2) for number in range(SERIES)])

    def write_series(self, name, all_of_them):
        self.write(name, "".join(json.dumps({"path": path, "kind": kind}) + "\n" for path, kind in all_of_them))

    def test_the_next_value_of_a_series_is_learned_from_windows(self):
        self.run_stoker("check", "windows.yaml")
        out, _ = self.run_stoker("train", "windows.yaml", "--run", "run", "--set", "train.tune=off")
        self.assertRegex(out, r"sequences per second +[\d,]+")
        found = self.run_json("eval", "run")
        # The mean, which a model that learned nothing gives, is some 3.8 off.
        self.assertLess(found["metrics"]["rmse"], 1.0)

    def test_series_of_different_lengths_are_told_apart_and_predicted_the_same_alone_as_among_others(self):
        self.run_stoker("train", "ragged.yaml", "--run", "run", "--quiet", "--set", "train.tune=off", "--set",
                        "train.callbacks=[{export: {keep: 1}}]")
        self.assertGreater(self.run_json("eval", "run")["accuracy"], 0.95)
        rng = random.Random(9)
        some = [(series(rng, number % 2 == 0), 0) for number in range(7)] + [([], 0)]
        self.write_series("new.jsonl", some)

        def scores(size, run="run"):
            out, _ = self.run_stoker("predict", run, "--scores", "--set", "data.split=null", "--set",
                                     f"data.source.jsonl.files={self.path('new.jsonl')}", "--set",
                                     f"data.eval.batch={{size: {size}, ragged: true}}")
            return [json.loads(line)["scores"] for line in out.splitlines()]

        alone, together = scores(1), scores(8)
        self.assertEqual([len(one) for one in alone], [2] * len(some))
        self.assertGreater(len({tuple(one) for one in alone}), 5)
        for one, other in zip(alone, together, strict=True):
            for left, right in zip(one, other, strict=True):
                self.assertAlmostEqual(left, right, delta=1e-5 * max(1, abs(left)))
        exported, = os.listdir(self.path("run/exports/latest"))
        self.assertEqual(scores(8, f"run/exports/latest/{exported}"), together)

    def test_several_ranks_and_micro_batches_train_what_one_process_trains(self):
        once = ["train", "ragged.yaml", "--quiet", "--set", "train.tune=off", "--set", "train.threads=1", "--set", "train.epochs=1"]
        self.run_stoker(*once, "--run", "one")
        self.run_stoker("launch", "-n", "2", "--", *once, "--run", "two")
        micro = ["--set", "train.accumulate=2", "--set", "data.train.batch={size: 8, ragged: true}"]
        self.run_stoker(*once, *micro, "--run", "micro")
        losses = [self.run_json("eval", run)["loss"] for run in ("one", "two", "micro")]
        for other in losses[1:]:
            self.assertAlmostEqual(losses[0], other, delta=1e-3)

    def test_a_model_of_windows_predicts_longer_ones(self):
        self.run_stoker("train", "windows.yaml", "--run", "run", "--quiet", "--set", "train.tune=off", "--set", "train.epochs=1")
        longer = self.windows.split("  eval:")[1].split("model:")[0].replace("size: 25", "size: 41").replace("length: 24", "length: 40")
        stages = [line.strip()[2:] for line in longer.splitlines() if line.strip().startswith("- ")]
        self.run_stoker("predict", "run", "--set", "data.eval=[" + ", ".join(stage.split("  #")[0] for stage in stages) + "]")

    def test_a_resumed_run_ends_with_the_same_weights(self):
        quiet = ["--quiet", "--set", "train.tune=off", "--set", "train.threads=1"]
        self.run_stoker("train", "ragged.yaml", "--run", "whole", *quiet)
        self.run_stoker("train", "ragged.yaml", "--run", "stopped", *quiet, "--set", "train.callbacks=[{stop_at: {step: 5}}]")
        self.run_stoker("train", "--resume", "--run", "stopped", "--allow-changes", *quiet, "--set", "train.callbacks=[]")
        self.assertEqual(self.weights_of("stopped"), self.weights_of("whole"))

    def test_a_series_that_holds_no_number_is_named(self):
        rng = random.Random(4)
        # In the first batch and in a later one; cells make finite scores of infinity.
        for number, record in ((math.nan, 4), (math.inf, 4), (math.nan, 190), (-math.inf, 190)):
            with self.subTest(number=number, record=record):
                broken = [(series(rng, True), 0) for _ in range(200)]
                broken[record][0][1][0] = number
                self.write_series("movements.jsonl", broken)
                self.assert_fails(["train", "ragged.yaml", "--run", f"run{number}{record}", "--set", "data.split=null", "--set",
                                   "train.tune=off", "--set", "data.train=[{batch: {size: 16, ragged: true}}]"], 1,
                                  "are not finite", f"movements.jsonl: record {record} ")

    def test_a_series_of_evaluation_that_holds_no_number_is_named_as_one_of_it(self):
        rng = random.Random(4)
        broken = [(series(rng, True), 0) for _ in range(40)]
        broken[33][0][1][0] = math.inf
        self.write_series("broken.jsonl", broken)
        source = "{jsonl: {files: %s, fields: {path: {shape: [-1, 2]}, kind: int64}}}"
        batch = "{batch: {size: 16, ragged: true}}"
        settings = ["data.source=null", "data.split=null", f"data.train=[{source % 'movements.jsonl'}, {batch}]",
                    f"data.eval=[{source % 'broken.jsonl'}, {batch}]", "train.tune=off"]
        _, err = self.assert_fails(["train", "ragged.yaml", "--run", "run", *(part for one in settings for part in ("--set", one))], 1,
                                   "are not finite", "broken.jsonl: record 33 ", "of data.eval")
        self.assertNotIn("data.train", err)

    def test_lint_proposes_what_sequences_can_be_given(self):
        rng = random.Random(6)
        self.write_series("movements.jsonl", [([[100 + rng.gauss(0, 1), 7.0]] * 3, number % 2) for number in range(64)])
        out, err = self.run_stoker("lint", "ragged.yaml", expect=1)
        self.assertIn("normalize: {mean: auto, per: last, field: path}", out + err)
        self.run_stoker("check", "ragged.yaml", "--set", "data.source.0.jsonl.files=movements.jsonl", "--set",
                        "data.train=[{normalize: {mean: auto, per: last, field: path}}, {batch: {size: 16, ragged: true}}]", "--set",
                        "data.eval=[{normalize: {mean: auto, per: last, field: path}}, {batch: {size: 16, ragged: true}}]")

    def test_lists_that_are_not_alike_are_read_as_text_which_is_said_with_what_to_do(self):
        rows = [{"path": [[0.5, 1.5]] * (number % 3 + 1), "kind": number % 2} for number in range(64)]
        rows[40]["path"] = [[0.5, 1.5], [0.5]]
        self.write("uneven.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        said = "".join(self.run_stoker("check", "ragged.yaml", "--set", "data.source=[{jsonl: uneven.jsonl}]", expect=1))
        self.assertIn("JSON lists that are not alike are read as text, so give their shape (jsonl: fields: {path: {shape: [-1, 2]}})", said)
        self.assert_fails(["train", "ragged.yaml", "--run", "run", "--set", "data.source.0.jsonl.files=uneven.jsonl"], 1,
                          "uneven.jsonl: record 40")

    def test_padded_numbers_and_options_of_tokens_are_refused_with_what_to_do(self):
        said = "".join(self.run_stoker("check", "ragged.yaml", "--set", "data.train=[{padded_batch: {size: 8}}]", expect=1))
        self.assertIn("take `batch: {ragged: true}` in the place of what fills them up", said)
        said = "".join(self.run_stoker("check", "ragged.yaml", "--set", "model={gru: {classes: 2, tokens: 50}}", expect=1))
        self.assertIn("tokens, width and padding are for sequences of tokens", said)
        said = "".join(self.run_stoker("check", "ragged.yaml", "--set", "model={mlp: {classes: 2}}", expect=1))
        self.assertIn("is ragged: sequences of 2 numbers a step; take lstm or gru", said)


if __name__ == "__main__":
    unittest.main()

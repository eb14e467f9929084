"""`stoker lr-find`, `stoker batch-find` and `stoker bench --model`: what they print, and that they leave nothing behind."""
import gzip
import json
import os
import random
import unittest
import xml.etree.ElementTree

from program import TRAIN_IMAGES, ProgramTest


class FindersTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.files = sorted(os.listdir(self.folder))

    def texts_of(self, svg):
        tree = xml.etree.ElementTree.fromstring(self.read(svg))
        os.remove(self.path(svg))
        return {element.text for element in tree.iter("{http://www.w3.org/2000/svg}text")}

    def test_lr_find_suggests_rates_and_says_which_key_to_set(self):
        out, err = self.run_stoker("lr-find", "recipe.yaml", "--to", "plot.svg")
        self.assertEqual(err, "")
        self.assertRegex(out, r"(?m)^valley +\d")
        self.assertRegex(out, r"stoker train recipe.yaml --set train.schedule.one_cycle.max_lr=\d")
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        self.assertTrue(any(text.startswith("steepest: ") for text in self.texts_of("plot.svg")))
        found = self.run_json("lr-find", "recipe.yaml")
        self.assertEqual(found["key"], "train.schedule.one_cycle.max_lr")
        self.assertTrue(1e-5 < found["suggestions"]["valley"] < 1)
        self.assertEqual(len(found["lr"]), len(found["loss"]))
        self.assertEqual(sorted(os.listdir(self.folder)), self.files)

    def test_the_rate_that_was_found_learns(self):
        found = self.run_json("lr-find", "recipe.yaml")
        rate = found["suggestions"]["valley"]
        self.run_stoker("train", "recipe.yaml", "--quiet", "--run", "run", "--set", f"{found['key']}={rate}")
        self.assertGreater(self.run_json("eval", "run")["accuracy"], 0.9)

    def test_batch_find_finds_the_largest_batch_within_a_limit(self):
        found = self.run_json("batch-find", "recipe.yaml", "--memory", "8MB", "--seconds", "0", "--most", "512")
        fits = {trial["batch"]: trial["fits"] for trial in found["trials"]}
        self.assertTrue(fits[found["largest"]])
        self.assertTrue(all(fits[batch] == (batch <= found["largest"]) for batch in fits))
        self.assertIn(found["near_peak"], fits)
        self.assertTrue(all(trial["memory_bytes"] <= 8e6 for trial in found["trials"] if trial["fits"]))
        out, _ = self.run_stoker("batch-find", "recipe.yaml", "--memory", "8MB", "--seconds", "0", "--most", "64", "--to", "plot.svg")
        self.assertRegex(out, r"--set data.train.batch.size=\d+")
        self.assertIn("memory (MB)", self.texts_of("plot.svg"))
        self.assertEqual(sorted(os.listdir(self.folder)), self.files)

    def test_batch_find_tries_no_batch_that_is_larger_than_the_data(self):
        found = self.run_json("batch-find", "recipe.yaml", "--seconds", "0")
        self.assertEqual(found["samples"], TRAIN_IMAGES)
        self.assertEqual(found["largest"], TRAIN_IMAGES)
        self.assertEqual(max(trial["batch"] for trial in found["trials"]), TRAIN_IMAGES)
        out, _ = self.run_stoker("batch-find", "recipe.yaml", "--seconds", "0")
        self.assertRegex(out, f"(?m)^The largest batch .*: {TRAIN_IMAGES}, all samples of data.train: there is no larger batch$")

    def test_data_of_unknown_length_are_no_obstacle_to_those_who_only_look_at_the_first_steps(self):
        rng = random.Random(1)
        rows = [[i % 4, *(rng.randrange(60) + 150 * (j // 8 * 2 + j % 4 // 2 == i % 4) for j in range(16))] for i in range(200)]
        self.write("rows.csv.gz", gzip.compress("".join(",".join(map(str, row)) + "\n" for row in rows).encode()))
        stream = """\
data:
  train:
    - csv: {files: rows.csv.gz, header: "no", fields: {image: {columns: 1-16, shape: [1, 4, 4]}, label: {columns: 0, type: int64}}}
    - shuffle: {buffer: 64}
    - normalize: {mean: 0.3, std: 0.3, scale: 0.0039}
    - batch: 16
model: {mlp: {classes: 4, hidden: [16]}}
train: {device: cpu, threads: 1}
"""
        self.write("stream.yaml", stream)
        found = self.run_json("lr-find", "stream.yaml", "--steps", "30")
        self.assertLessEqual(20, len(found["lr"]))
        found = self.run_json("batch-find", "stream.yaml", "--seconds", "0", "--most", "32")
        self.assertEqual(found["largest"], 32)
        self.assert_fails(["train", "stream.yaml"], 2, "stream.yaml:3:7: csv reads ", "rows.csv.gz' in order, since it is compressed",
                          "set train.max_steps")
        self.assert_fails(["schedule", "stream.yaml"], 2, "stream.yaml:3:7: ", "--steps-per-epoch N")
        self.run_stoker("schedule", "stream.yaml", "--steps-per-epoch", "13")
        # What the message advises holds.
        self.run_stoker("train", "stream.yaml", "--quiet", "--run", "steps", "--set", "train.max_steps=40")
        self.write("epochs.yaml", stream.replace("batch: 16", "batch: 16\n    - repeat\n    - take: {count: 10}"))
        self.run_stoker("train", "epochs.yaml", "--quiet", "--run", "epochs", "--set", "train.epochs=2")
        self.assertEqual(self.run_json("inspect", "epochs")["summary"]["total_steps"], 20)

    def test_batch_find_says_that_nothing_fits(self):
        self.assert_fails(["batch-find", "recipe.yaml", "--memory", "1kB"], 1, "not even one sample fits into 1.0 kB")
        out, _ = self.run_stoker("batch-find", "recipe.yaml", "--memory", "1kB", "--json", expect=1)
        self.assertEqual(json.loads(out)["largest"], 0)

    def test_why_a_size_does_not_fit_stands_behind_its_row_and_moves_no_other(self):
        out, _ = self.run_stoker("bench", "--model", "resnet18", "--input", "3x32x32", "--batches", "1,2", "--seconds", "0.1")
        self.assertRegex(out, r"(?m)^1 +-( +-){4} +batch norm needs more than one value a channel$")
        self.assertRegex(out, r"(?m)^2 +\d\S* {2,9}\d")

    def test_every_model_can_be_measured_alone(self):
        known = {kind["name"]: {option["name"] for option in kind["options"]}
                 for kind in self.run_json("inspect", "--models") if kind["group"] == "model"}
        self.assertLessEqual({"resnet50", "lstm", "joined"}, set(known))
        del known["joined"]  # has no samples without names of inputs: the test of wrong models below
        for model in known:
            of_sequences = "tokens" in known[model]
            small = {"inception_v3": ["{inception_v3: {classes: 10, aux_weight: 0}}", "3x75x75"],
                     "wide_and_deep": ["wide_and_deep", "features"]}.get(
                model, [model, "tokens" if of_sequences else "3x32x32"])
            with self.subTest(model=model):
                found = self.run_json("bench", "--model", small[0], "--input", small[1], "--batches", "2,4", "--seconds", "0.1")
                self.assertEqual([trial["batch"] for trial in found["trials"]], [2, 4])
                self.assertTrue(all(trial["fits"] and trial["images_per_s"] > 0 for trial in found["trials"]))
                self.assertGreater(found["parameters"], 1000)
        out, _ = self.run_stoker("bench", "--model", "{mlp: {classes: 3, hidden: [8]}}", "--input", "1x8x8", "--seconds", "0.1",
                                 "--to", "plot.svg")
        self.assertRegex(out, r"(?m)^64 +\d")
        self.assertIn("images a second", self.texts_of("plot.svg"))
        out, _ = self.run_stoker("bench", "--model", "{lstm: {classes: 3, units: 8}}", "--input", "1x24x4", "--seconds", "0.1")
        self.assertIn("sequences", out)

    def test_wrong_models_and_inputs_are_named(self):
        for arguments, says in [
                (["--model", "resnet51"], ["--model:1:", "did you mean 'resnet50'?"]),
                (["--model", "mlp", "--input", "3x224"], ["--input 3x224"]),
                (["--model", "mlp", "--input", "tokens"], ["mlp takes numbers"]),
                (["--model", "wide_and_deep"], ["wide_and_deep takes rows of features"]),
                (["--model", "{joined: {towers: {a: mlp}}}"], ["joined takes several inputs, each by its name"]),
                (["--model", "lstm", "--input", "3x8x8"], ["lstm takes sequences of tokens or of numbers, [length, numbers]"]),
                (["--model", "mlp", "--input", "3x0x4"], ["--input 3x0x4"]),
                (["--model", "mlp", "--input", "1x2x3x4"], ["--input 1x2x3x4"]),
                (["--model", "mlp", "--batches", "0"], ["--batches"])]:
            with self.subTest(arguments=arguments):
                self.assert_fails(["bench", *arguments], 2, *says)


if __name__ == "__main__":
    unittest.main()

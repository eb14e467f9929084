"""`stoker eval`, `predict`, `inspect`, `verify` and `export` of a run that has been trained."""
import json
import os
import random
import shutil
import unittest

from program import CLASSES, SIDE, ProgramTest, bmp, image, png

PICTURES_RECIPE = """\
data:
  train:
    - folder: pictures/train
    - shuffle
    - decode
    - random_resized_crop: {size: 16, scale: [0.8, 1]}
    - normalize: {mean: 0.2, std: 0.25}
    - cast: bfloat16
    - layout: channels_last
    - batch: 16
  eval:
    - folder: pictures/eval
    - decode
    - resize: {shorter_side: 18}
    - center_crop: 16
    - normalize: {mean: 0.2, std: 0.25}
    - layout: channels_last
    - batch: 16
model:
  convnet: {classes: 4, channels: [8, 8]}
train:
  epochs: 8
"""


class UseOfARunTest(ProgramTest):
    """eval, predict and inspect on one trained run."""

    def setUp(self):
        super().setUp()
        self.summary = self.run_json("train", "recipe.yaml", "--run", "run")

    def test_eval_repeats_the_accuracy_of_the_run(self):
        measured = self.run_json("eval", "run")
        self.assertGreater(measured["accuracy"], 0.9)  # the classes are easy to tell apart
        self.assertEqual(measured["samples"], 120)
        self.assertEqual(measured["accuracy"], self.summary["last_evaluation"]["accuracy"])
        out, _ = self.run_stoker("eval", "run")
        self.assertIn(f"accuracy  {measured['accuracy']:.4f}", out)

    def test_verify_tells_of_lines_that_are_missing_or_changed_and_of_files_that_are_no_json(self):
        self.run_stoker("verify", "run")
        for name, damage, says in [("metrics.jsonl", lambda text: text[:text.rindex(b"\n", 0, -1) + 1], "lines are missing"),
                                   ("metrics.jsonl", lambda text: text.replace(b'"step":', b'"step";', 1), "line 1 (byte 0)"),
                                   ("choices.json", lambda text: text[:-3], "is no JSON")]:
            with self.subTest(says):
                whole = self.read(f"run/{name}")
                self.write(f"run/{name}", damage(whole))
                out, err = self.run_stoker("verify", "run", expect=1)
                self.assertIn(f"run/{name}", out)
                self.assertIn(says, out)
                self.assertIn(", 1 damaged", out)
                self.write(f"run/{name}", whole)

    def test_metrics_are_measured_kept_and_printed(self):
        names = "train.metrics=[top2, confusion, precision, recall, f1, auc, mse, mae]"
        summary = self.run_json("train", "recipe.yaml", "--run", "measured", "--set", names, "--set", "train.loss=focal")
        kept = summary["last_evaluation"]["metrics"]
        self.assertEqual(sum(map(sum, kept["confusion"])), 120)
        self.assertGreaterEqual(kept["top2"], summary["last_evaluation"]["accuracy"])
        lines = [json.loads(line) for line in self.read("measured/metrics.jsonl").splitlines()]
        self.assertEqual([line["metrics"] for line in lines if line["kind"] == "eval"][-1], kept)
        self.assertEqual(self.run_json("eval", "measured")["metrics"], kept)
        for command in ["eval", "inspect"]:
            out, _ = self.run_stoker(command, "measured")
            self.assertRegex(out, rf"f1 +{kept['f1']:.4f}")
        self.assertIn("top7", self.run_stoker("eval", "measured", "--set", "train.metrics=[top7]")[0])
        self.assertEqual(self.run_json("eval", "measured")["classes"], CLASSES)
        for command in ["eval", "inspect"]:
            out, _ = self.run_stoker(command, "measured")
            self.assertRegex(out, r"\n +" + " +".join(CLASSES) + r"\n")
            for name, row in zip(CLASSES, kept["confusion"]):
                self.assertRegex(out, f"{name} taken for +" + " +".join(map(str, row)) + r"\n")
        self.assert_fails(["train", "recipe.yaml", "--set", "train.metrics=[topp]"], 2, "unknown metric 'topp'", "did you mean 'top'")

    def test_an_export_is_used_as_its_run_is_also_where_it_was_copied_to(self):
        self.run_stoker("train", "recipe.yaml", "--run", "exporting",
                        "--set", "train.callbacks=[{export: {keep: 1}}, {export: {best: accuracy}}]")
        step, = os.listdir(self.path("exporting/exports/latest"))
        shutil.copytree(self.path(f"exporting/exports/latest/{step}"), self.path("copied"))
        self.assertGreaterEqual(len(os.listdir(self.path("exporting/exports/best"))), 1)
        figures = {key: value for key, value in self.run_json("eval", "exporting").items() if key in ("loss", "accuracy", "samples")}
        self.assertEqual(len(figures), 3)
        predicted = self.run_stoker("predict", "exporting")[0]
        for place in (f"exporting/exports/latest/{step}", "copied"):
            with self.subTest(place=place):
                found = self.run_json("eval", place)
                self.assertEqual({key: found[key] for key in figures}, figures)
                self.assertEqual(self.run_stoker("predict", place)[0], predicted)
        self.run_stoker("verify", "copied")
        self.run_stoker("inspect", "copied")
        kept = self.read("copied/weights.safetensors")
        for options in ((), ("--allow-changes",)):
            self.assert_fails(["train", "--resume", "--run", "copied", *options], 1, "copied: is an export", "train.init_from.weights=copied")
        self.assert_fails(["train", "recipe.yaml", "--run", "copied"], 1, "is an export; name another directory")
        self.assertEqual(self.read("copied/weights.safetensors"), kept)
        self.assertNotIn("checkpoints", os.listdir(self.path("copied")))

    def test_eval_needs_only_the_data_that_it_evaluates_on(self):
        for name in os.listdir(self.path("data")):
            if name.startswith("train-"):
                os.remove(self.path(f"data/{name}"))
        self.assertEqual(self.run_json("eval", "run")["samples"], 120)

    def test_eval_follows_data_that_has_moved(self):
        shutil.move(self.path("data"), self.path("moved"))
        self.assert_fails(["eval", "run"], 1, self.path("data"))
        self.assertEqual(self.run_json("eval", "run", "--set", "data.root=moved")["samples"], 120)

    def test_predict_names_the_class_of_images_of_every_format(self):
        rng = random.Random(3)
        for label, name in enumerate(CLASSES):
            pixels = image(label, rng)
            self.write("picture.png", png(pixels, SIDE, SIDE))
            self.write("picture.pgm", b"P5\n%d %d\n255\n" % (SIDE, SIDE) + pixels)
            found = self.run_json("predict", "run", "picture.png", "picture.pgm", "--top", "2")["predictions"]
            self.assertEqual([(each["file"], each["index"], each["classes"][0]["class"]) for each in found],
                             [("picture.png", 0, name), ("picture.pgm", 0, name)])
            self.assertEqual([len(each["classes"]) for each in found], [2, 2])

    def test_predict_takes_idx_files_and_probabilities_add_up(self):
        labels = self.read("data/eval-labels")[8:]
        found = self.run_json("predict", "run", "data/eval-images.gz", "--limit", "0", "--top", "4")["predictions"]
        self.assertEqual(len(found), 120)
        right = sum(each["classes"][0]["label"] == label for each, label in zip(found, labels))
        self.assertAlmostEqual(right / 120, self.summary["last_evaluation"]["accuracy"], delta=1e-9)
        for each in found:
            self.assertAlmostEqual(sum(c["probability"] for c in each["classes"]), 1, delta=1e-5)
        out, _ = self.run_stoker("predict", "run", "data/eval-images.gz", "--limit", "2")
        self.assertEqual(len(out.splitlines()), 2)
        self.assertTrue(out.startswith("data/eval-images.gz[0]: "), out)

    def test_predict_decodes_and_prepares_pictures_as_evaluation_does(self):
        rng = random.Random(5)
        asked = []
        for part in ("train", "eval"):
            for number in range(48):
                label = number % len(CLASSES)
                file = f"pictures/{part}/{CLASSES[label]}/{number:02}.{'bmp' if number % 2 else 'png'}"
                self.write(file, (bmp if number % 2 else png)(image(label, rng), SIDE, SIDE))
                if part == "eval":
                    asked.append((file, sorted(CLASSES).index(CLASSES[label])))
        self.write("pictures.yaml", PICTURES_RECIPE)
        accuracy = self.run_json("train", "pictures.yaml", "--run", "seen")["last_evaluation"]["accuracy"]
        found = self.run_json("predict", "seen", *(file for file, _ in asked))["predictions"]
        right = [each["classes"][0]["label"] == label for each, (_, label) in zip(found, asked)]
        self.assertAlmostEqual(sum(right) / len(asked), accuracy, delta=1e-9)
        self.assertGreater(accuracy, 0.5)
        self.assertTrue({each["classes"][0]["class"] for each in found} <= set(CLASSES))
        self.assert_fails(["predict", "seen", "data/eval-images.gz"], 1, "data/eval-images.gz", "JPEG, PNG, BMP, WebP or PNM")

    def test_predict_says_what_it_cannot_read(self):
        self.write("notes.txt", "not an image\n")
        self.assert_fails(["predict", "run", "notes.txt"], 1, "notes.txt", "IDX")
        self.write("wide.pgm", b"P5\n20 20\n255\n" + bytes(400))
        self.assert_fails(["predict", "run", "wide.pgm"], 1, "wide.pgm")
        self.write("wider.pgm", b"P5\n15 15\n255\n" + bytes(225))  # after pooling as many values as 14 x 14 have
        self.assert_fails(["predict", "run", "wider.pgm"], 1, "1 x 15 x 15", "1 x 14 x 14")

    def test_predict_and_inspect_notice_a_damaged_checkpoint(self):
        os.remove(self.path("run/weights.safetensors"))
        newest = sorted(os.listdir(self.path("run/checkpoints")))[-1]
        with open(self.path(f"run/checkpoints/{newest}/tensors.safetensors"), "r+b") as tensors:
            tensors.truncate(100)
        _, err = self.run_stoker("predict", "run", "data/eval-images.gz", "--limit", "1")
        self.assertIn("is passed over", err)
        out, err = self.run_stoker("inspect", "run", expect=1)
        self.assertIn("DAMAGED", out)
        self.assertIn(newest, err)
        self.assert_fails(["predict", "nothing", "notes.txt"], 1, "nothing")

    def test_a_pipe_in_the_place_of_a_file_of_a_run_is_refused_by_whoever_reads_it(self):
        for name, reading in (("choices.json", ["train --resume --run"]), ("data.json", ["train --resume --run"]),
                              ("log", ["train --resume --run"]), ("metrics.jsonl", ["train --resume --run", "plot"]),
                              ("recipe.yaml", ["train --resume --run", "eval", "inspect"]), ("progress.json", []), ("tuning.json", []),
                              ("environment.json", []), ("allowed.json", ["train --resume --run"]), ("summary.json", [])):
            shutil.copytree(self.path("run"), self.path("odd"))
            if os.path.exists(self.path(f"odd/{name}")):
                os.remove(self.path(f"odd/{name}"))
            os.mkfifo(self.path(f"odd/{name}"))
            for command in ("train --resume --run", "inspect", "verify", "eval", "plot", "compare run"):
                with self.subTest(name=name, command=command):
                    process = self.start(*command.split(), "odd")
                    out, err = process.communicate(timeout=120)
                    if command in reading:
                        self.assertNotEqual(process.returncode, 0, out + err)
                        self.assertIn(f"odd/{name}: is ", err)
                        self.assertIn("put the file back, or remove what is in its place", err)
            shutil.rmtree(self.path("odd"))

    def test_a_checkpoint_whose_manifest_is_a_pipe_is_damaged(self):
        newest = sorted(os.listdir(self.path("run/checkpoints")))[-1]
        os.remove(self.path(f"run/checkpoints/{newest}/manifest.json"))
        os.mkfifo(self.path(f"run/checkpoints/{newest}/manifest.json"))
        process = self.start("verify", "run")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("is no regular file", out + err)

    def test_verify_compares_every_file_of_a_checkpoint_with_its_manifest(self):
        self.run_stoker("verify", "run")
        newest = f"run/checkpoints/{sorted(os.listdir(self.path('run/checkpoints')))[-1]}"
        for name in sorted(os.listdir(self.path(newest))):
            with self.subTest(file=name):
                good = self.read(f"{newest}/{name}")
                self.write(f"{newest}/{name}", good[:-3] + bytes([good[-3] ^ 1]) + good[-2:])
                out, _ = self.run_stoker("verify", "run", expect=1)
                self.assertIn(f"{newest}/{name}: damaged, checkpoint", out)
                os.remove(self.path(f"{newest}/{name}"))
                self.assertIn("is missing", self.run_stoker("verify", "run", expect=1)[0])
                self.write(f"{newest}/{name}", good)
        self.run_stoker("verify", "run")

    def test_predict_answers_for_the_files_that_it_can_read(self):
        self.write("notes.txt", b"no picture")
        files = ["notes.txt", "data/eval-images.gz", "gone.png"]
        out, err = self.run_stoker("predict", "run", *files, "--limit", "1", expect=1)
        self.assertIn("data/eval-images.gz[0]: ", out)
        self.assertIn("notes.txt", err)
        self.assertIn("gone.png", err)
        out, _ = self.run_stoker("predict", "run", *files, "--limit", "1", "--json", expect=1)
        answer = json.loads(out)
        self.assertEqual([one["file"] for one in answer["predictions"]], ["data/eval-images.gz"])
        self.assertEqual([one["file"] for one in answer["errors"]], ["notes.txt", "gone.png"])

    def test_inspect_knows_runs_checkpoints_and_weights(self):
        found = self.run_json("inspect", "run")
        self.assertTrue(found["finished"])
        self.assertTrue(found["checkpoints"] and all(each["whole"] for each in found["checkpoints"]))
        out, _ = self.run_stoker("inspect", "run")
        self.assertRegex(out, r"steps +\d+ of \d+\n")
        self.assertRegex(out, r"test accuracy +[01]\.\d{4} of 120 samples")
        newest = self.run_json("inspect", found["checkpoints"][-1]["path"])
        self.assertTrue(newest["whole"])
        weights = self.run_json("inspect", "run/weights.safetensors")
        self.assertIn([4, 8 * 3 * 3], [tensor["shape"] for tensor in weights["fields"].values()])
        self.assertEqual(self.run_json("inspect", "data")["format"], "files", "neither a run nor a checkpoint")

    def test_inspect_lists_models_optimizers_and_schedules(self):
        groups = {kind["name"]: kind["group"] for kind in self.run_json("inspect", "--models")}
        for name, group in [("convnet", "model"), ("adamw", "optimizer"), ("sgd", "optimizer"), ("one_cycle", "schedule")]:
            self.assertEqual(groups.get(name), group)


class WeightsTest(ProgramTest):
    """Weights out of a run and into another one."""

    def setUp(self):
        super().setUp()
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=1")

    def test_are_exported_as_pt_and_safetensors(self):
        for name, kind in [("w.pt", "pt"), ("w.pth", "pt"), ("w.safetensors", "safetensors")]:
            with self.subTest(name=name):
                done = self.run_json("export", "run", "--to", name)
                found = self.run_json("inspect", name)
                self.assertEqual((found["format"], found["count"]), (kind, done["tensors"]))
        self.run_json("export", "w.pt", "--to", "again.safetensors")
        self.assertEqual(self.run_json("inspect", "again.safetensors")["values"], self.run_json("inspect", "w.pt")["values"])
        self.assert_fails(["export", "run", "--to", "w.onnx"], 2, "must be .pt, .pth or .safetensors")
        self.assert_fails(["export", "nothing", "--to", "w.pt"], 1, "nothing")
        header = b'{"ids":{"dtype":"U32","shape":[1],"data_offsets":[0,4]}}'
        self.write("ids.safetensors", len(header).to_bytes(8, "little") + header + bytes(4))
        self.assert_fails(["export", "ids.safetensors", "--to", "w.pt"], 1, "ids.safetensors: array 'ids' is of type U32")

    def test_begin_another_run_and_misfits_are_named(self):
        self.run_json("export", "run", "--to", "w.pt")
        out, _ = self.run_stoker("train", "recipe.yaml", "--run", "next", "--set", "train.init_from=w.pt", "--set", "train.max_steps=1")
        self.assertIn("of the model's 14 tensors are taken from", out)
        wide = ["--set", "model={convnet: {classes: 4, channels: [8, 16]}}"]
        self.assert_fails(["train", "recipe.yaml", "--run", "wide", "--set", "train.init_from=w.pt", *wide], 1,
                          "4.weight is float32[8, 8, 3, 3], the model has float32[16, 8, 3, 3]", "partial: true")
        self.assertFalse(os.path.exists(self.path("wide")))
        out, _ = self.run_stoker("train", "recipe.yaml", "--run", "wide", "--set", "train.init_from={weights: w.pt, partial: true}",
                                 "--set", "train.max_steps=1", *wide)
        self.assertIn("do not fit", out)

    def test_a_run_in_16_bits_says_so_and_predicts_in_them(self):
        self.run_stoker("train", "recipe.yaml", "--run", "half", "--set", "train.precision=fp16", "--set", "train.epochs=1")
        self.assertEqual(json.loads(self.read("half/choices.json"))["precision"], "fp16")
        last = [line for line in map(json.loads, self.read("half/metrics.jsonl").splitlines()) if line["kind"] == "train"]
        for line in last:
            self.assertGreaterEqual(line["loss_scale"], 1)
        self.assertGreater(self.run_json("eval", "half")["accuracy"], 0.25)


if __name__ == "__main__":
    unittest.main()

"""`stoker predict RUN`: an answer for each sample that the run's eval pipeline reads, whatever it is kept in."""
import csv
import glob
import gzip
import io
import json
import math
import os
import random
import signal
import struct
import time
import unittest

from program import CLASSES, RECIPE, SIDE, ProgramTest, image, images_and_labels, png

SAMPLES = 120  # of data.eval
COLUMNS = ["a", "b", "c", "d"]

CSV_RECIPE = """\
data:
  train:
    - csv: {files: train.csv, fields: {image: {columns: [a, b, c, d]}, label: int64}}
    - shuffle
    - batch: {size: 16, drop_remainder: true}
  eval:
    - csv: {files: eval.csv, fields: {image: {columns: [a, b, c, d]}, label: int64, id: int64}}
    - batch: 50
  classes: [north-west, north-east, south-west, south-east]
model: {mlp: {classes: 4, hidden: [8]}}
train: {epochs: 10, device: cpu, threads: 1, schedule: {one_cycle: {max_lr: 0.05}}}
"""
PICTURES_RECIPE = """\
data:
  train: [folder: pictures/train, shuffle, decode: {channels: grey}, center_crop: 14, normalize: {mean: 0.2, std: 0.3}, batch: 16]
  eval: [folder: pictures/eval, decode: {channels: grey}, center_crop: 14, normalize: {mean: 0.2, std: 0.3}, batch: 16]
model: {convnet: {classes: 4, channels: [8, 8]}}
train: {epochs: 4, device: cpu, threads: 1}
"""
IMAGES = "idx: {images: eval-images.gz}"
PREPARED = "normalize: {mean: 0.2, std: 0.3}, batch: 50"


def npy(dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Predicting(ProgramTest):
    def predict(self, *arguments, **options):
        """The lines that `stoker predict ARGUMENTS` prints."""
        out, _ = self.run_stoker("predict", *arguments, **options)
        return [json.loads(line) for line in out.splitlines()]

    def labels_of(self, *arguments):
        return [line["label"] for line in self.predict(*arguments)]

    def assert_counted_like_eval(self, run, lines, *settings):
        """As many are right as evaluation counts."""
        right = sum(line["label"] == line["fields"]["label"] for line in lines)
        measured = self.run_json("eval", run, *settings)
        self.assertEqual(measured["samples"], len(lines))
        self.assertAlmostEqual(right / len(lines), measured["accuracy"], delta=1e-9)

    def left(self, pattern):
        return glob.glob(self.path(pattern), include_hidden=True)


class PredictTest(Predicting):
    """On the run of a recipe whose samples are in IDX files."""

    def setUp(self):
        super().setUp()
        # Few steps, so that some answers are wrong.
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", "--set", "train.max_steps=6")

    def test_each_sample_has_a_line_and_as_many_are_right_as_eval_counts(self):
        lines = self.predict("run", "--fields", "label")
        self.assertEqual([line["sample"] for line in lines], list(range(SAMPLES)))  # the last batch has 20 of 50
        self.assertEqual([line["index"] for line in lines], list(range(SAMPLES)))
        self.assertEqual([line["class"] for line in lines], [CLASSES[line["label"]] for line in lines])
        self.assert_counted_like_eval("run", lines)

    def test_the_answers_are_those_for_files(self):
        files = self.run_json("predict", "run", "data/eval-images.gz", "--limit", "0", "--top", "4")["predictions"]
        lines = self.predict("run", "--top", "4")
        self.assertEqual([line["classes"] for line in lines], [each["classes"] for each in files])

    def test_files_are_predicted_where_train_and_eval_are_parts_of_one_source(self):
        source = "idx: {images: eval-images.gz, labels: eval-labels}, shuffle: {seed: 7, reshuffle: false}"
        wanted = self.run_json("predict", "run", "data/eval-images.gz", "--limit", "0")["predictions"]
        split = f"data.eval=[{source}, skip: 80, {PREPARED}]"
        self.assertEqual(self.run_json("predict", "run", "data/eval-images.gz", "--limit", "0", "--set", split)["predictions"], wanted)
        self.assertEqual(len(self.predict("run", "--set", split)), SAMPLES - 80)  # without a file, its own part

    def test_files_are_predicted_where_each_source_prepares_its_samples(self):
        source = "{idx: {images: eval-images.gz, labels: eval-labels}}"
        normalize = "{normalize: {mean: 0.2, std: 0.3}}"
        both = f"data.eval=[concatenate: [[{source}, {normalize}], [{source}, {normalize}]], batch: 50]"
        wanted = self.run_json("predict", "run", "data/eval-images.gz", "--limit", "0")["predictions"]
        self.assertEqual(self.run_json("predict", "run", "data/eval-images.gz", "--limit", "0", "--set", both)["predictions"], wanted)
        other = both.replace("0.2", "0.1", 1)
        self.assert_fails(["predict", "run", "data/eval-images.gz", "--set", other], 1, "prepare samples in different ways")

    def test_top_and_scores_are_given_where_they_are_asked_for(self):
        plain = self.predict("run", "--limit", "7")
        self.assertEqual(len(plain), 7)
        for line in plain:
            self.assertEqual(sorted(line), ["class", "index", "label", "probability", "sample"])
        for line in self.predict("run", "--top", "2", "--scores"):
            self.assertEqual(len(line["classes"]), 2)
            self.assertEqual([line["classes"][0][key] for key in ("class", "label", "probability")],
                             [line[key] for key in ("class", "label", "probability")])
            self.assertEqual(line["scores"].index(max(line["scores"])), line["label"])
            whole = sum(map(math.exp, line["scores"]))
            self.assertAlmostEqual(math.exp(max(line["scores"])) / whole, line["probability"], delta=1e-5)

    def test_files_are_predicted_with_scores_too(self):
        for each in self.run_json("predict", "run", "data/eval-images.gz", "--scores")["predictions"]:
            self.assertEqual(each["scores"].index(max(each["scores"])), each["classes"][0]["label"])
        self.assertNotIn("scores", self.run_json("predict", "run", "data/eval-images.gz")["predictions"][0])
        out, _ = self.run_stoker("predict", "run", "data/eval-images.gz", "--scores", "--limit", "1")
        self.assertRegex(out, r", scores -?[0-9.]+, ")

    def test_the_help_says_that_the_label_is_the_models_answer(self):
        out, _ = self.run_stoker("predict", "--help")
        self.assertIn("`label` are the name and the number of the likeliest class, the model's answer", " ".join(out.split()))

    def test_data_without_labels_npy_arrays_and_packed_files_are_predicted_alike(self):
        wanted = self.labels_of("run")
        self.assertGreater(len(set(wanted)), 1)
        unlabelled = f"data.eval=[{IMAGES}, {PREPARED}]"
        self.assert_fails(["eval", "run", "--set", unlabelled], 2, "label")
        self.assertEqual(self.labels_of("run", "--set", unlabelled), wanted)
        pixels = images_and_labels(SAMPLES, 2)[0][16:]
        self.write("elsewhere/x.npy", npy("|u1", (SAMPLES, 1, SIDE, SIDE), pixels))
        self.assertEqual(self.labels_of("run", "--set", "data.root=elsewhere",
                                        "--set", f"data.eval=[npy: {{fields: {{image: x.npy}}}}, {PREPARED}]"), wanted)
        self.run_stoker("pack", "recipe.yaml", "packed.stoker", "--of", "eval", "--stages", "1")
        self.assertEqual(self.labels_of("run", "--set", "data.root=.", "--set", f"data.eval=[stoker: packed.stoker, {PREPARED}]"), wanted)

    def test_samples_of_archives_and_of_streams_are_numbered_and_named(self):
        wanted = self.labels_of("run")
        for name in ("packed.tar", "packed.tfrecord"):
            self.run_stoker("pack", "recipe.yaml", name, "--of", "eval", "--stages", "1")
            self.write(name + ".gz", gzip.compress(self.read(name)))  # read in order, by one thread at a time
        parse = f"parse_example: {{features: {{image: {{type: bytes}}}}}}, decode_raw: {{field: image, type: uint8, shape: [1, {SIDE}, {SIDE}]}}"
        pad = PREPARED.replace("batch", "padded_batch")
        for source, fields in [("webdataset: {files: packed.tar, key: true}, " + pad, ["--fields", "key"]),
                               ("webdataset: {files: packed.tar.gz, key: true}, " + pad, ["--fields", "key"]),
                               (f"tfrecord: packed.tfrecord, {parse}, {PREPARED}", []),
                               (f"tfrecord: packed.tfrecord.gz, {parse}, {PREPARED}", [])]:
            with self.subTest(source=source):
                lines = self.predict("run", *fields, "--set", "data.root=.", "--set", f"data.eval=[{source}]")
                self.assertEqual([line["label"] for line in lines], wanted)
                self.assertEqual([line["index"] for line in lines], list(range(SAMPLES)))
                if fields:
                    self.assertEqual([int(line["fields"]["key"]) for line in lines], list(range(SAMPLES)))

    def test_a_file_appears_when_all_are_made_and_replaces_the_one_before(self):
        self.write("answers.jsonl", "old\n")
        self.assert_fails(["predict", "run", "--to", "answers.jsonl", "--fields", "name"], 2, "no field 'name'")
        self.assertEqual(self.read("answers.jsonl"), b"old\n")
        out, _ = self.run_stoker("predict", "run", "--to", "answers.jsonl")
        self.assertIn("answers.jsonl: 120 predictions", out)
        self.assertEqual(self.read("answers.jsonl").decode(), self.run_stoker("predict", "run")[0])
        told = self.run_json("predict", "run", "--to", "answers.jsonl", "--limit", "3")
        self.assertEqual((told["to"], told["samples"]), ("answers.jsonl", 3))
        self.assertEqual(len(self.read("answers.jsonl").splitlines()), 3)
        self.assert_fails(["predict", "run", "--to", "nowhere/answers.jsonl"], 1, "nowhere")
        self.assertEqual(self.left(".answers*"), [])

    def table(self, *arguments, name="answers.csv", delimiter=","):
        """The rows of the table that `stoker predict run ARGUMENTS --to NAME` writes."""
        self.run_stoker("predict", "run", *arguments, "--to", name)
        text = self.read(name)
        text = (gzip.decompress(text) if name.endswith(".gz") else text).decode()
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))

    def test_a_table_has_what_the_lines_have(self):
        arguments = ["--fields", "label", "--scores", "--top", "2"]
        lines, rows = self.predict("run", *arguments), self.table(*arguments)
        self.assertEqual(list(rows[0]), ["sample", "index", "fields.label", "class", "label", "probability", "class_2", "label_2",
                                         "probability_2", *(f"score_{name}" for name in CLASSES)])
        for line, row in zip(lines, rows, strict=True):
            self.assertEqual([row[key] for key in ("sample", "index", "fields.label", "class", "label")],
                             [str(each) for each in (line["sample"], line["index"], line["fields"]["label"], line["class"], line["label"])])
            self.assertEqual(float(row["probability_2"]), line["classes"][1]["probability"])
            self.assertEqual([float(row[f"score_{name}"]) for name in CLASSES], line["scores"])
        self.assertEqual(self.table(*arguments, name="answers.tsv.gz", delimiter="\t"), rows)

    def test_a_field_of_several_values_has_several_columns(self):
        rows = self.table("--fields", "image", "--limit", "3")
        self.assertEqual(len([name for name in rows[0] if name.startswith("image_")]), SIDE * SIDE)
        self.assertEqual(len(rows), 3)

    def test_a_table_of_lists_of_other_lengths_is_refused_and_nothing_is_kept(self):
        self.write("lists.jsonl", "".join(json.dumps({"image": [[[0] * SIDE] * SIDE], "at": [1] * (1 + number)}) + "\n" for number in range(3)))
        lists = f"data.eval=[jsonl: {{files: lists.jsonl, fields: {{image: {{type: uint8, shape: [1, {SIDE}, {SIDE}]}}, at: {{type: int64, shape: [-1]}}}}}}, {PREPARED.replace('batch: 50', 'padded_batch: 2')}]"
        arguments = ["predict", "run", "--fields", "at", "--set", "data.root=.", "--set", lists]
        self.assert_fails([*arguments, "--to", "answers.csv"], 2, "sample 2 has 9 values and those before it 8", "ends in .jsonl")
        self.assertEqual(self.left("*answers*"), [])
        self.run_stoker(*arguments, "--to", "answers.jsonl")

    def test_what_keeps_samples_from_coming_in_order_is_told_and_index_says_which_each_is(self):
        shuffled = f"data.eval=[idx: {{images: eval-images.gz, labels: eval-labels}}, shuffle, take: 70, {PREPARED}]"
        out, err = self.run_stoker("predict", "run", "--fields", "label", "--set", shuffled)
        self.assertIn("shuffle reorders elements", err)
        lines = [json.loads(line) for line in out.splitlines()]
        labels = self.read("data/eval-labels")[8:]
        self.assertEqual(len({line["index"] for line in lines}), 70)
        self.assertEqual([line["fields"]["label"] for line in lines], [labels[line["index"]] for line in lines])
        self.assert_counted_like_eval("run", lines, "--set", shuffled)

    def test_damaged_data_end_it_with_nothing_written(self):
        with open(self.path("data/eval-images.gz"), "r+b") as images:
            images.truncate(1000)
        self.assert_fails(["predict", "run", "--to", "answers.jsonl"], 1, "eval-images.gz")
        self.assertEqual(self.left("*answers*"), [])

    def test_wrong_usage_is_told_with_what_to_do(self):
        for arguments, code, says in [
                (["--top", "0"], 2, ["--top"]),
                (["--limit", "-1"], 2, ["--limit"]),
                (["--fields", "name"], 2, ["no field 'name'", "label: uint8[?]"]),
                (["--set", "data.evil=1"], 2, ["'evil'", "eval"]),
                (["--set", "data.eval.normalise.mean=0"], 2, ["normalise"]),
                (["--set", "data.eval.normalize.mean=x"], 2, ["'x'"]),
                (["--set", f"data.eval=[{IMAGES}, {PREPARED}, repeat]"], 2, ["never ends"]),
                (["--set", f"data.eval=[{IMAGES}, take: 0, {PREPARED}]"], 2, ["gives no batch"]),
                (["--set", f"data.eval=[{IMAGES}, normalize]"], 2, ["end it with `batch`"]),
                (["--set", f"data.eval=[{IMAGES}, pad: 1, {PREPARED}]"], 1, ["1 x 16 x 16", "1 x 14 x 14"]),
                (["--set", "data.root=nowhere"], 1, ["nowhere/"]),
                (["data/eval-images.gz", "--to", "x"], 2, ["--to", "FILE 'data/eval-images.gz'"]),
                (["data/eval-images.gz", "--fields", "label"], 2, ["--fields"])]:
            with self.subTest(arguments=arguments):
                self.assert_fails(["predict", "run", *arguments], code, *says)
        self.assert_fails(["predict", "nothing"], 1, "nothing")

    def test_a_file_of_other_data_is_refused_with_the_way_to_predict_from_it(self):
        self.write("rows.csv", "a,b\n1,2\n")
        self.assert_fails(["predict", "run", "rows.csv"], 1, "rows.csv", "text", "leave FILE out", "data.eval")


class PredictOtherDataTest(Predicting):
    def test_a_sample_whose_answer_is_nan_is_named(self):
        rows = [f"{number % 4 / 4},{number % 3},0.5,1,{number % 4},{number}" for number in range(40)]
        self.write("train.csv", "\n".join(["a,b,c,d,label,id", *rows]) + "\n")
        self.write("eval.csv", "\n".join(["a,b,c,d,label,id", *rows[:7], ",1,2,3,0,7", *rows[8:]]) + "\n")
        self.write("rows.yaml", CSV_RECIPE.replace("d]}, label: int64, id", "d], default: nan}, label: int64, id").replace("epochs: 10", "epochs: 1, sanity: false"))
        self.run_stoker("train", "rows.yaml", "--run", "run", "--set", "data.eval.csv.files=train.csv")
        self.assertNotIn("NaN", self.run_stoker("predict", "run")[1])
        here = ["--set", "data.eval.csv.files=eval.csv"]
        self.assertRegex(self.run_stoker("predict", "run", *here)[1], "1 of 40 predictions are NaN or infinite, the first that of .*eval.csv: record 7 ")
        self.assertIn("the loss is nan", self.run_stoker("eval", "run", *here)[1])

    def test_rows_of_csv_are_predicted_with_their_fields(self):
        rng = random.Random(4)
        for name, count in (("train", 320), ("eval", SAMPLES)):
            rows = ["a,b,c,d,label,id"]
            for number in range(count):
                label = rng.randrange(4)
                values = [rng.random() + (0.7 if place == label else 0) for place in range(4)]
                rows.append(",".join(f"{value:.4f}" for value in values) + f",{label},{1000 + number}")
            self.write(f"{name}.csv", "\n".join(rows) + "\n")
        self.write("rows.yaml", CSV_RECIPE)
        out, _ = self.run_stoker("train", "rows.yaml", "--run", "run")
        for text in (out, self.run_stoker("inspect", "run")[0]):
            self.assertIn("samples per second", text)
            self.assertNotIn("images", text)
        self.assertIn(" samples/s  eta", out)
        lines = self.predict("run", "--fields", "id,label,image")
        self.assertEqual([line["fields"]["id"] for line in lines], list(range(1000, 1000 + SAMPLES)))
        self.assertEqual([len(line["fields"]["image"]) for line in lines], [4] * SAMPLES)
        self.assert_counted_like_eval("run", lines)
        # The same rows as somebody has them who does not know the classes, with names for them.
        table = [row.split(",") for row in self.read("eval.csv").decode().splitlines()[1:]]
        new = "\n".join(["name,a,b,c,d"] + [f"r{'x' * (number % 5)}{number},{','.join(row[:4])}" for number, row in enumerate(table)])
        self.write("new.csv", new + "\n")
        self.assert_fails(["predict", "run", "--set", "data.eval.csv.files=new.csv"], 2, "label", others=1)  # and `id`
        fields = "{image: {columns: [a, b, c, d]}, name: text}"
        got = self.predict("run", "--fields", "name",
                           "--set", f"data.eval=[csv: {{files: new.csv, fields: {fields}}}, padded_batch: 50]")
        self.assertEqual([line["label"] for line in got], [line["label"] for line in lines])
        self.assertEqual([line["fields"]["name"] for line in got], [f"r{'x' * (number % 5)}{number}" for number in range(SAMPLES)])

    def test_pictures_are_named_and_the_pipelines_policy_holds_for_those_that_are_damaged(self):
        rng = random.Random(5)
        for part, count in (("train", 96), ("eval", 24)):
            for number in range(count):
                label = number % len(CLASSES)
                self.write(f"pictures/{part}/{CLASSES[label]}/{number:02}.png", png(image(label, rng), SIDE, SIDE))
        self.write("pictures.yaml", PICTURES_RECIPE)
        self.run_stoker("train", "pictures.yaml", "--run", "run", "--quiet")
        files = sorted(os.path.relpath(file, self.folder) for file in self.left("pictures/eval/*/*"))
        lines = self.predict("run", "--fields", "label")
        self.assertEqual([os.path.relpath(line["file"], self.folder) for line in lines], files)
        self.assert_counted_like_eval("run", lines)
        self.write(files[7], "no picture")
        self.assert_fails(["predict", "run", "--to", "answers.jsonl"], 1, files[7])
        self.assertEqual(self.left("*answers*"), [])
        lenient = ("data.eval=[folder: pictures/eval, {decode: {channels: grey}, on_error: {policy: skip, limit: 3}}, "
                   "center_crop: 14, normalize: {mean: 0.2, std: 0.3}, batch: 16]")
        out, err = self.run_stoker("predict", "run", "--set", lenient)
        self.assertIn("1 of 24 elements failed", err)
        got = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["index"] for line in got], [*range(7), *range(8, 24)])
        self.assertEqual([(line["file"], line["label"]) for line in got],
                         [(line["file"], line["label"]) for line in lines if line["index"] != 7])


class PredictInterruptTest(Predicting):
    """A pass that would take hours, ended by a signal, a reader that leaves, a full disk."""

    LONG = ["--set", f"data.eval=[{IMAGES}, repeat: 10000000, {PREPARED}]"]

    def setUp(self):
        super().setUp()
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", "--set", "train.max_steps=2")

    def test_leaves_no_file_behind(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(signal=number.name):
                process = self.start("predict", "run", "--to", "answers.jsonl", *self.LONG)
                while not any(os.path.getsize(file) for file in self.left(".answers*")):
                    self.assertIsNone(process.poll(), "ended by itself")
                    time.sleep(0.01)
                process.send_signal(number)
                out, err = process.communicate()
                self.assertEqual((process.returncode, out), (code, ""), err)
                self.assertRegex(err, r"stoker: error: stopped after \d+ samples; nothing is kept of answers.jsonl")
                self.assertEqual(self.left("*answers*"), [])

    def test_prints_whole_lines_only(self):
        process = self.start("predict", "run", *self.LONG)
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        lines = [first, *process.stdout]  # not communicate(): it forgets what was read ahead of the first line
        self.assertEqual(process.wait(), 130, process.stderr.read())
        self.assertTrue(lines[-1].endswith("\n"))
        self.assertEqual([json.loads(line)["sample"] for line in lines], list(range(len(lines))))

    def test_ends_when_its_reader_has_left(self):
        process = self.start("predict", "run", *self.LONG)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(), -signal.SIGPIPE)
        self.assertNotIn("error", process.stderr.read())

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assert_fails(["predict", "run"], 1, "standard output", stdout=full)


if __name__ == "__main__":
    unittest.main()

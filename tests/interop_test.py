"""Files that the formats' own software writes are read by Stoker, and what Stoker writes is read by it.

The software is in a virtual environment that `./dev setup --interop` makes (STOKER_INTEROP may name the interpreter of another
one); without it these tests are skipped.
"""
import json
import os
import shutil
import subprocess
import unittest

from program import ProgramTest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PYTHON = os.environ.get("STOKER_INTEROP", os.path.join(ROOT, ".deps", "interop", "bin", "python"))

WRITE_TFRECORDS = """
import json, os, random
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
train, random = tf.train, random.Random(1)
def ints(values): return train.Feature(int64_list=train.Int64List(value=values))
def floats(values): return train.Feature(float_list=train.FloatList(value=values))
def texts(values): return train.Feature(bytes_list=train.BytesList(value=values))
def record(i):
    features = {"label": ints([random.randrange(-2**63, 2**63)]), "box": floats([random.random() for _ in range(4)]),
                "ids": ints([random.randrange(-300, 300) for _ in range(random.randrange(50))]),
                "image": texts([bytes(random.randrange(256) for _ in range(12))]),
                "words": texts([b"w" * random.randrange(9) for _ in range(random.randrange(4))])}
    if i % 3 == 0: del features["box"]
    return train.Example(features=train.Features(feature=features)).SerializeToString()
def sequence(i):
    steps = [floats([float(i), float(k)]) for k in range(i % 5)]
    lists = train.FeatureLists(feature_list={"frames": train.FeatureList(feature=steps)})
    return train.SequenceExample(context=train.Features(feature={"id": ints([i])}), feature_lists=lists).SerializeToString()
for name, make, compression in [("plain", record, ""), ("gzip", record, "GZIP"), ("zlib", record, "ZLIB"),
                                ("sequence", sequence, "")]:
    with tf.io.TFRecordWriter(name + ".tfrecord", compression) as writer:
        for i in range(200): writer.write(make(i))
print(json.dumps({"version": tf.__version__}))
"""

RECIPE = """
data:
  root: .
  train:
    - tfrecord: {files: %s.tfrecord}
    - parse_example:
        features: {%s}
%s"""
FEATURES = ("label: int64, box: {type: float32, shape: [4], default: 0}, ids: {shape: [-1]}, "
            "image: {type: bytes, shape: [3, 4]}, words: bytes_list")


READ_EVENTS = """
import json, struct, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import plugin_data_pb2
run = EventAccumulator("run", size_guidance={"scalars": 0, "histograms": 0, "images": 0, "tensors": 0})
run.Reload()
tags = run.Tags()
found = {"scalars": {tag: [[event.step, event.value] for event in run.Scalars(tag)] for tag in tags["scalars"]},
         "texts": {tag: run.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in tags["tensors"]
                   if run.SummaryMetadata(tag).plugin_data.plugin_name == "text"},
         "images": {tag: [image.width, image.height, len(image.encoded_image_string)] for tag in tags["images"]
                    for image in run.Images(tag)},
         "histograms": {}, "hparams": {}}
for tag in tags["histograms"]:
    for event in run.Histograms(tag):
        h = event.histogram_value
        found["histograms"].setdefault(tag, []).append([event.step, h.num, sum(h.bucket), h.min, h.max])
for tag in ["experiment", "session_start_info", "session_end_info"]:
    if tag not in [name.split("/")[-1] for name in run.summary_metadata]: continue
    data = plugin_data_pb2.HParamsPluginData.FromString(run.SummaryMetadata("_hparams_/" + tag).plugin_data.content)
    if tag == "experiment": found["hparams"]["metrics"] = [info.name.tag for info in data.experiment.metric_infos]
    if tag == "session_start_info":
        found["hparams"]["values"] = {name: getattr(value, value.WhichOneof("kind"))
                                      for name, value in data.session_start_info.hparams.items()}
    if tag == "session_end_info": found["hparams"]["status"] = data.session_end_info.status
print(json.dumps(found))
"""


def json_of(test, script):
    done = subprocess.run([PYTHON, "-c", script], cwd=test.folder, capture_output=True, text=True, check=False)
    test.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


@unittest.skipUnless(os.access(PYTHON, os.X_OK), "the formats' own software is not there; ./dev setup --interop installs it")
class InteropTest(ProgramTest):
    def write_by(self, script):
        """Runs a script of the other software in the folder; gives what it printed last."""
        return json_of(self, script)

    def test_tensorflows_records_are_read_whatever_their_compression(self):
        self.write_by(WRITE_TFRECORDS)
        for name in ["plain", "gzip", "zlib"]:
            with self.subTest(compression=name):
                found = self.run_json("inspect", f"{name}.tfrecord")
                self.assertEqual((found["records"], found["examples"], found["damaged"]), (200, 200, 0))
                features = found["features"]
                self.assertEqual({key: value["type"] for key, value in features.items()},
                                 {"label": "int64", "box": "float", "ids": "int64", "image": "bytes", "words": "bytes"})
                self.assertEqual((features["image"]["fewest"], features["image"]["most"]), (12, 12))
                self.assertEqual((features["box"]["records"], features["box"]["most"]), (133, 4))
                self.write("one.yaml", RECIPE % (name, FEATURES, ""))
                self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.2")["batches"], 200)

    def test_tensorflows_sequence_examples_are_read(self):
        self.write_by(WRITE_TFRECORDS)
        found = self.run_json("inspect", "sequence.tfrecord")
        self.assertEqual(found["examples"], 200)
        self.assertEqual((found["sequences"]["frames"]["fewest"], found["sequences"]["frames"]["most"]), (0, 4))
        self.write("one.yaml", RECIPE % ("sequence", "id: int64", "        sequences: {frames: {type: float32, shape: [2]}}\n"))
        self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.2")["batches"], 200)


@unittest.skipUnless(os.access(PYTHON, os.X_OK), "TensorBoard is not there; ./dev setup --interop installs it")
class TensorboardTest(ProgramTest):
    def train(self, *arguments):
        self.run_stoker("train", "recipe.yaml", "--quiet", "--set", "train.log_every=4", "--set", "train.tensorboard.enabled=true",
                        "--run", "run", *arguments)

    def measured(self):
        """The figures of metrics.jsonl by tag."""
        figures = {}
        for line in map(json.loads, self.read("run/metrics.jsonl").splitlines()):
            for key, value in line.items():
                if key not in ("kind", "step", "epoch") and isinstance(value, (int, float)):
                    figures.setdefault(f"{line['kind']}/{key}", []).append([line["step"], value])
        return figures

    def assert_same(self, scalars):
        measured = self.measured()
        self.assertEqual(set(scalars), set(measured))
        for tag, events in measured.items():
            with self.subTest(tag=tag):
                self.assertEqual([step for step, _ in scalars[tag]], [step for step, _ in events])
                for (_, found), (_, value) in zip(scalars[tag], events):
                    self.assertAlmostEqual(found, value, delta=1e-6 * abs(value))

    def test_shows_the_figures_of_a_run_its_recipe_and_its_hyperparameters(self):
        self.train()
        found = json_of(self, READ_EVENTS)
        self.assert_same(found["scalars"])
        self.assertIn("max_lr: 0.01", found["texts"]["recipe"])
        self.assertEqual(found["hparams"]["metrics"], ["train/loss", "eval/accuracy", "eval/loss"])
        values = found["hparams"]["values"]
        self.assertEqual((values["train.schedule.one_cycle.max_lr"], values["train.device"]), (0.01, "cpu"))
        self.assertEqual(found["hparams"]["status"], 1)

    def test_shows_every_step_once_where_a_run_was_killed_and_resumed(self):
        self.train()
        checkpoints = sorted(os.listdir(self.path("run/checkpoints")))
        # As if it had been killed with a figure of a later step written: the newest checkpoint is gone.
        shutil.rmtree(self.path(f"run/checkpoints/{checkpoints[-1]}"))
        for name in ["weights.safetensors", "summary.json"]:
            os.remove(self.path(f"run/{name}"))
        with open(self.path("run/" + min(name for name in os.listdir(self.path("run")) if name.startswith("events"))), "ab") as file:
            file.write(b"\x30\0\0")
        self.train("--resume")
        self.assertEqual(len([name for name in os.listdir(self.path("run")) if name.startswith("events")]), 2)
        self.assert_same(json_of(self, READ_EVENTS)["scalars"])


if __name__ == "__main__":
    unittest.main()

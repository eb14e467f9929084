"""Files that the formats' own software writes are read by Stoker.

The software is in a virtual environment that `./dev setup --interop` makes (STOKER_INTEROP may name the interpreter of another
one); without it these tests are skipped.
"""
import json
import os
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


@unittest.skipUnless(os.access(PYTHON, os.X_OK), "the formats' own software is not there; ./dev setup --interop installs it")
class InteropTest(ProgramTest):
    def write_by(self, script):
        """Runs a script of the other software in the folder; gives what it printed last."""
        done = subprocess.run([PYTHON, "-c", script], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

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


if __name__ == "__main__":
    unittest.main()

"""TensorFlow's records and Examples both ways, and the records that MXNet writes."""
import unittest

from other_software import InteropTest, has
from program import TRAIN_IMAGES, images_and_labels

WRITE_TFRECORDS = """
import json, os, random
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
train, random = tf.train, random.Random(1)
def ints(values): return train.Feature(int64_list=train.Int64List(value=values))
def floats(values): return train.Feature(float_list=train.FloatList(value=values))
def texts(values): return train.Feature(bytes_list=train.BytesList(value=values))
def record(i, want):
    label, box = random.randrange(-2**63, 2**63), [random.randrange(1000) / 8 for _ in range(4)]
    ids = [random.randrange(-300, 300) for _ in range(random.randrange(50))]
    image = [random.randrange(256) for _ in range(12)]
    features = {"label": ints([label]), "box": floats(box), "ids": ints(ids), "image": texts([bytes(image)]),
                "words": texts([b"w" * random.randrange(9) for _ in range(random.randrange(4))])}
    if i % 3 == 0:
        del features["box"]
        box = [0] * 4
    for name, value in [("label", label), ("box", box), ("ids", ids), ("image", [image[k:k + 4] for k in (0, 4, 8)])]:
        want.setdefault(name, []).append(value)
    return train.Example(features=train.Features(feature=features)).SerializeToString()
def sequence(i, want):
    steps = [[float(i), float(k)] for k in range(i % 5)]
    want.setdefault("id", []).append(i)
    want.setdefault("frames", []).append(steps)
    lists = train.FeatureLists(feature_list={"frames": train.FeatureList(feature=[floats(step) for step in steps])})
    return train.SequenceExample(context=train.Features(feature={"id": ints([i])}), feature_lists=lists).SerializeToString()
wants = {}
for name, make, compression in [("plain", record, ""), ("gzip", record, "GZIP"), ("zlib", record, "ZLIB"),
                                ("sequence", sequence, "")]:
    want = wants[name] = {}
    with tf.io.TFRecordWriter(name + ".tfrecord", compression) as writer:
        for i in range(200): writer.write(make(i, want))
print(json.dumps(wants))
"""

READ_PACKED = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
images, labels = b"", []
for record in tf.data.TFRecordDataset(sorted(tf.io.gfile.glob("x-*.tfrecord"))):
    example = tf.io.parse_single_example(record, features)
    images += example["image"].numpy()
    labels.append(int(example["label"]))
floats = {"image": tf.io.FixedLenFeature([1, 14, 14], tf.float32)}
first = next(iter(tf.data.TFRecordDataset("y.tfrecord")))
top = float(tf.reduce_max(tf.io.parse_single_example(first, floats)["image"]))
with open("images.bin", "wb") as file: file.write(images)
print(json.dumps({"labels": labels, "top": top}))
"""

# Of the package only `recordio` and what it calls its library by are loaded: the rest wants a NumPy of before 1.24, and so does
# `pack`, for the old name of tobytes. `cut` holds records in which the bytes stand that parts begin with, at multiples of four and
# elsewhere.
WRITE_RECORDIO = """
import importlib.util, json, numpy as np, random, sys, types
found = importlib.util.find_spec("mxnet")
sys.modules["mxnet"] = types.ModuleType("mxnet")
sys.modules["mxnet"].__path__ = found.submodule_search_locations
from mxnet import libinfo, recordio
class Labels(np.ndarray): tostring = np.ndarray.tobytes
recordio.np = types.SimpleNamespace(float32=np.float32, asarray=lambda values, dtype: np.asarray(values, dtype).view(Labels))
random, begin = random.Random(1), bytes([0x0a, 0x23, 0xd7, 0xce])
def write(name, records):
    writer = recordio.MXIndexedRecordIO(name + ".idx", name + ".rec", "w")
    for i, record in enumerate(records): writer.write_idx(i, record)
    writer.close()
def some(): return random.choice([begin, random.randbytes(random.randrange(10))])
cut = [b"", b"a", begin, begin * 3, b"abc" + begin, b"abcd" + begin + b"e", begin + b"x", begin[:3], bytes(3_000_000) + begin * 2 + b"z"]
cut += [b"".join(some() for _ in range(random.randrange(9))) for _ in range(200)]
write("cut", cut)
images = [b"image" + random.randbytes(i) + (begin if i % 3 else b"") for i in range(60)]
wants = {"cut": {"record": [record.decode("latin-1") for record in cut]}}
for name, labels in [("one", [float(i) / 4 for i in range(60)]), ("three", [[float(i), -1.5, float(i % 3)] for i in range(60)]),
                     ("any", [[float(k) for k in range(1 + i % 5)] for i in range(60)])]:
    write(name, [recordio.pack(recordio.IRHeader(0, label, i, 2 * i), image) for i, (label, image) in enumerate(zip(labels, images))])
    wants[name] = {"label": labels, "image": [image.decode("latin-1") for image in images]}
print(json.dumps({"version": libinfo.__version__, "wants": wants}))
"""

FEATURES = ("parse_example: {features: {label: int64, box: {type: float32, shape: [4], default: 0}, ids: {shape: [-1]}, "
            "image: {type: bytes, shape: [3, 4]}%s}}")


class TensorflowInteropTest(InteropTest):
    def test_its_examples_are_read_whatever_their_compression(self):
        wants = self.run_other(WRITE_TFRECORDS)
        for name in ["plain", "gzip", "zlib"]:
            with self.subTest(compression=name):
                found = self.run_json("inspect", f"{name}.tfrecord")
                self.assertEqual((found["count"], found["examples"], found["damaged"]), (200, 200, 0))
                features = found["fields"]
                self.assertEqual({key: value["type"] for key, value in features.items()},
                                 {"label": "int64", "box": "float", "ids": "int64", "image": "bytes", "words": "bytes"})
                self.assertEqual((features["image"]["fewest"], features["image"]["most"]), (12, 12))
                self.assertEqual((features["box"]["records"], features["box"]["most"]), (133, 4))
                self.assert_values(wants[name], f"tfrecord: {name}.tfrecord", FEATURES % "")
                self.write_recipe(f"tfrecord: {name}.tfrecord", FEATURES % ", words: bytes_list")
                self.assertGreater(self.run_json("bench", "one.yaml", "--epochs", "2")["batches"], 200)

        found = self.run_json("inspect", "sequence.tfrecord")
        self.assertEqual(found["examples"], 200)
        self.assertEqual((found["sequences"]["frames"]["fewest"], found["sequences"]["frames"]["most"]), (0, 4))
        self.assert_values(wants["sequence"], "tfrecord: sequence.tfrecord",
                           "parse_example: {features: {id: int64}, sequences: {frames: {type: float32, shape: [2]}}}")

    def test_it_reads_what_is_packed(self):
        self.run_stoker("pack", "recipe.yaml", "x", "--stages", "1", "--format", "tfrecord", "--shards", "3")
        self.run_stoker("pack", "recipe.yaml", "y", "--of", "eval", "--stages", "2", "--format", "tfrecord")
        found = self.run_other(READ_PACKED)
        images, labels = images_and_labels(TRAIN_IMAGES, 1)
        self.assertEqual(self.read("images.bin"), images[16:])
        self.assertEqual(found["labels"], list(labels[8:]))
        self.assertGreater(found["top"], 1)


@unittest.skipUnless(has("mxnet"), "MXNet is not there; ./dev setup --interop installs it, where its package has this machine's kind")
class MxnetInteropTest(InteropTest):
    def test_its_records_are_read_with_one_label_or_several_and_with_the_first_bytes_of_parts_in_them(self):
        wants = self.run_other(WRITE_RECORDIO)["wants"]
        self.assert_values(wants["cut"], "recordio: {files: cut.rec, raw: true}")
        for name, labels in [("one", 1), ("three", 3), ("any", -1)]:
            with self.subTest(labels=labels):
                self.assert_values(wants[name], f"recordio: {{files: {name}.rec, labels: {labels}}}")
                found = self.run_json("inspect", f"{name}.rec")
                self.assertEqual((found["count"], found["images"], found["fields"]["label"]["most"]), (60, 60, {-1: 5}.get(labels, labels)))
        self.run_stoker("verify", "cut.rec")


if __name__ == "__main__":
    unittest.main()

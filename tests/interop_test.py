"""Files that the formats' own software writes are read by Stoker, and the other way round; torchvision's models are ours.

The software is in a virtual environment that `./dev setup --interop` makes (STOKER_INTEROP may name the interpreter of another
one), PyTorch and torchvision in that of `./dev setup --peers` (STOKER_PEER_PYTHON, likewise); without them these tests are
skipped.
"""
import json
import os
import shutil
import subprocess
import unittest

from program import TRAIN_IMAGES, ProgramTest, idx, images_and_labels

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PYTHON = os.environ.get("STOKER_INTEROP", os.path.join(ROOT, ".deps", "interop", "bin", "python"))
TORCH_PYTHON = os.environ.get("STOKER_PEER_PYTHON", os.path.join(ROOT, ".deps", "peers", "bin", "python"))

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

RECIPE = """
data:
  root: .
  train:
    - tfrecord: {files: %s.tfrecord}
    - parse_example:
        features: {%s}
%s"""
SAVE_BY_TORCH = """
import json, torch, torchvision
torch.manual_seed(3)
net = torchvision.models.resnet18(num_classes=4)
torch.save(net.state_dict(), "new.pt")
torch.save(net.state_dict(), "old.pth", _use_new_zipfile_serialization=False)
torch.save({"state_dict": {"module." + k: v for k, v in net.state_dict().items()}, "epoch": 7,
            "optimizer": {"param_groups": [{"lr": 0.1, "params": [0, 1]}]}}, "checkpoint.pt")
torch.save(net.half().state_dict(), "half.pt")
print(json.dumps({k: list(v.shape) for k, v in net.state_dict().items()}))
"""

# The probabilities of torchvision's model of the weights that Stoker wrote, for the pictures that it predicts.
PREDICT_BY_TORCH = """
import json, torch, torchvision
net = torchvision.models.get_model("%s", num_classes=4, **%s)
net.load_state_dict(torch.load("weights.pt", weights_only=True, mmap=True))
net.eval()
data = open("images", "rb").read()[20:]
pictures = torch.frombuffer(bytearray(data), dtype=torch.uint8).reshape(-1, 3, %d, %d)
with torch.no_grad(): scores = net((pictures.float() / 255 - 0.5) / 0.25)
print(json.dumps(scores.softmax(1).tolist()))
"""

TORCH_RECIPE = """
data:
  root: .
  train:
    - idx: {images: images, labels: labels}
    - normalize: {mean: 0.5, std: 0.25}
    - batch: {size: 4}
  eval:
    - idx: {images: images, labels: labels}
    - normalize: {mean: 0.5, std: 0.25}
    - batch: {size: 4}
model: {%s}
train: {epochs: 1, device: cpu, threads: 1, memory_format: contiguous, optimizer: sgd, schedule: {constant: {lr: 0.01}}%s}
"""

WRITE_SAMPLES = """
import json, lmdb, numpy as np, random
from sklearn.datasets import dump_svmlight_file
random = random.Random(1)
env = lmdb.open("db", map_size=1 << 26, max_dbs=2)
named = env.open_db(b"named")
with env.begin(write=True) as txn:
    for i in range(3000): txn.put(b"%05d" % i, bytes(random.randrange(3000)) if i % 7 else bytes(20000))
    for i in range(50): txn.put(b"k%d" % i, b"v", db=named)
with env.begin(write=True) as txn:
    for i in range(0, 3000, 3): txn.delete(b"%05d" % i)
env.close()
x = np.random.RandomState(1).rand(40, 9).astype(np.float32)
np.savez("stored.npz", x=x, y=np.arange(40), turned=np.asfortranarray(x), big=x.astype(">f4"))
np.savez_compressed("packed.npz", x=x, y=np.arange(40))
dump_svmlight_file(x * (x > 0.5), np.arange(40), "a.svm", zero_based=False)
with open("a.jsonl", "w") as file:
    for i in range(40):
        file.write(json.dumps({"id": i, "x": x[i].tolist(), "t": "\u00e9\U0001f600" * (i % 3), "n": 0.5 if i else float("nan")}) + "\\n")
print(json.dumps({"largest": int(np.nonzero((x > 0.5).any(axis=0))[0].max()) + 1}))
"""

# Every field in the forms that h5py writes it in, and beside it as NumPy does.
WRITE_HDF5 = """
import h5py, json, numpy as np, sys
random = np.random.default_rng(1)
fields = {"images": random.integers(0, 256, (50, 3, 8, 8), dtype=np.uint8), "labels": np.arange(50) - 7,
          "half": random.random((50, 5)).astype(np.float16), "big": random.random((50, 2)).astype(">f8"),
          "u16": random.integers(0, 65536, (50, 4), dtype=np.uint16), "flag": random.random(50) > 0.5,
          "wide": random.integers(0, 2**40, (50, 300)).astype(">i8")}
with h5py.File("a.h5", "w", libver=%r, track_order=%r) as file:
    file.create_dataset("train/images", data=fields["images"], chunks=(7, 3, 8, 8), compression="gzip", shuffle=True)
    file.create_dataset("labels", data=fields["labels"], maxshape=(None,), chunks=(4,))
    file.create_dataset("half", data=fields["half"], chunks=(8, 2), compression="lzf")
    file.create_dataset("big", data=fields["big"])
    file.create_dataset("u16", data=fields["u16"], chunks=(1, 4), maxshape=(None, None), fletcher32=True)
    file.create_dataset("flag", data=fields["flag"], compression="gzip", maxshape=(None,))
    file.create_dataset("wide", data=fields["wide"], chunks=True, compression="gzip", maxshape=(None, 300))
    words = ["w" * (i %% 9) + "\u00e9" for i in range(50)]
    file.create_dataset("texts/variable", data=words, dtype=h5py.string_dtype())
    file.create_dataset("texts/fixed", data=np.array([b"x" * (i %% 5) for i in range(50)]))
    for i in range(40): file.create_group("more/group %%02d" %% i).attrs["number"] = i
np.savez("want.npz", **fields)
print(json.dumps(h5py.version.hdf5_version))
"""

# What was packed into DIR/FIELD.npy is what is in want.npz.
COMPARE_PACKED = """
import json, numpy as np
want, differ = np.load("want.npz"), []
for name in want.files:
    packed = np.load(f"packed/{name}.npy")
    if packed.shape != want[name].shape or not (packed.astype(want[name].dtype) == want[name]).all(): differ.append(name)
print(json.dumps({"fields": len(want.files), "differ": differ}))
"""

WRITE_N5 = """
import json, numpy as np, tensorstore as ts
random, wrote = np.random.default_rng(1), {}
for name, shape, block, dtype, compression in [
        ("raw", [9, 7, 20], [4, 7, 6], "uint16", {"type": "raw"}),
        ("gzip", [6, 20], [6, 3], "float32", {"type": "gzip"}),
        ("zlib", [5, 20], [2, 20], "int64", {"type": "gzip", "useZlib": True}),
        ("zstd", [20], [8], "uint8", {"type": "zstd"})]:
    array = (random.random(shape) * 200).astype(dtype)
    ts.open({"driver": "n5", "kvstore": {"driver": "file", "path": f"c.n5/{name}"}, "create": True, "metadata": {
        "dimensions": shape, "blockSize": block, "dataType": dtype, "compression": compression}}).result().write(array).result()
    wrote[name] = array.T
np.savez("want.npz", **wrote)
print(json.dumps(ts.__version__ if hasattr(ts, "__version__") else ""))
"""

FEATURES = ("label: int64, box: {type: float32, shape: [4], default: 0}, ids: {shape: [-1]}, "
            "image: {type: bytes, shape: [3, 4]}, words: bytes_list")


READ_PACKED_SAMPLES = """
import json, lmdb, numpy as np, webdataset as wds
samples = list(wds.WebDataset("w-{00000..00001}-of-00002.tar", shardshuffle=False).decode())
env = lmdb.open("d.lmdb", readonly=True, lock=False)
with env.begin() as txn:
    schema = json.loads(txn.get(b"stoker"))
    keys = [bytes(key).decode() for key in txn.cursor().iternext(values=False)]
    kinds = {field["name"]: field for field in schema["fields"]}
    def of(name, i):
        field = kinds[name]
        return np.frombuffer(txn.get(b"%012d/%s" % (i, name.encode())), field["dtype"]).reshape(field["shape"])
    labels = [int(of("label", i)) for i in range(len(samples))]
    sums = [int(of("image", i).sum()) for i in range(len(samples))]
print(json.dumps({"keys": [sample["__key__"] for sample in samples], "fields": sorted(samples[0]), "classes": schema["classes"],
                  "labels": [int(sample["cls"]) for sample in samples], "entries": len(keys), "first": keys[:3],
                  "shape": list(samples[0]["image.npy"].shape), "sums": [int(sample["image.npy"].sum()) for sample in samples],
                  "lmdb": [labels, sums], "size": env.stat()["psize"]}))
"""

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


def json_of(test, script, python=PYTHON):
    done = subprocess.run([python, "-c", script], cwd=test.folder, capture_output=True, text=True, check=False)
    test.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


@unittest.skipUnless(os.access(PYTHON, os.X_OK), "the formats' own software is not there; ./dev setup --interop installs it")
class InteropTest(ProgramTest):
    def write_by(self, script):
        """Runs a script of the other software in the folder; gives what it printed last."""
        return json_of(self, script)

    def test_lmdb_numpy_scikit_learn_and_python_are_read(self):
        wrote = self.write_by(WRITE_SAMPLES)
        found = self.run_json("inspect", "db/data.mdb")
        self.assertEqual((found["format"], found["count"], found["fields"]["value"]["largest"]), ("lmdb", 2000, 20000))
        found = self.run_json("inspect", "stored.npz")
        self.assertEqual({name: array["shape"] for name, array in found["fields"].items()},
                         {"x": [9], "y": [], "turned": [9], "big": [9]})
        found = self.run_json("inspect", "a.svm")
        self.assertEqual((found["count"], found["largest_index"]), (40, wrote["largest"]))
        found = self.run_json("inspect", "a.jsonl")
        self.assertEqual((found["count"], found["fields"]),
                         (40, {name: {"dtype": dtype, "shape": shape} for name, dtype, shape in
                               [("id", "int64", []), ("n", "float32", []), ("t", "text", []), ("x", "float32", [9])]}))
        for line in ["lmdb: {path: db, database: named, key: true}", "npz: packed.npz", "libsvm: {files: a.svm, features: 9}",
                     "jsonl: a.jsonl"]:
            with self.subTest(line=line):
                self.write("one.yaml", f"data:\n  root: .\n  train:\n    - {line}\n")
                self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.2")["batches"], 30)

    def assert_packs_as_wanted(self, source):
        """The rows of a source, packed as .npy, are the arrays of want.npz."""
        self.write("arrays.yaml", f"data:\n  root: .\n  train:\n    - {source}\n")
        self.run_stoker("pack", "arrays.yaml", "packed", "--format", "npy", "--overwrite")
        found = self.write_by(COMPARE_PACKED)
        self.assertGreater(found["fields"], 3)
        self.assertEqual(found["differ"], [])

    def test_hdf5_files_of_h5py_are_read_whatever_their_form(self):
        for version, ordered in [("earliest", False), ("latest", False), ("v110", True)]:
            with self.subTest(version=version, ordered=ordered):
                self.write_by(WRITE_HDF5 % (version, ordered))
                names = ["labels", "half", "big", "u16", "flag", "wide"]
                fields = ", ".join(["images: /train/images"] + [f"{name}: {name}" for name in names])
                self.assert_packs_as_wanted(f"hdf5: {{files: a.h5, fields: {{{fields}}}}}")
                found = self.run_json("inspect", "a.h5")
                self.assertEqual((found["format"], found["count"], len(found["fields"])), ("hdf5", 50, 9))
                self.assertEqual(found["fields"]["train/images"]["chunk"], [7, 3, 8, 8])
                self.run_stoker("verify", "a.h5")
                self.write("texts.yaml", "data:\n  root: .\n  train:\n    - hdf5: {files: a.h5, fields: "
                                         "{v: texts/variable, f: texts/fixed}}\n")
                self.run_stoker("pack", "texts.yaml", "texts.tfrecord", "--format", "tfrecord", "--overwrite")
                features = self.run_json("inspect", "texts.tfrecord")["fields"]
                self.assertEqual([(features[name]["fewest"], features[name]["most"]) for name in "fv"], [(0, 4), (2, 10)])

    def test_n5_datasets_of_tensorstore_are_read_whatever_their_compression(self):
        self.write_by(WRITE_N5)
        self.assert_packs_as_wanted("n5: c.n5")
        found = self.run_json("inspect", "c.n5/raw/attributes.json")
        self.assertEqual((found["format"], found["count"], found["fields"]["."]["shape"]), ("n5", 20, [7, 9]))
        self.run_stoker("verify", "c.n5/raw/attributes.json")

    def test_tensorflows_records_are_read_whatever_their_compression(self):
        self.write_by(WRITE_TFRECORDS)
        for name in ["plain", "gzip", "zlib"]:
            with self.subTest(compression=name):
                found = self.run_json("inspect", f"{name}.tfrecord")
                self.assertEqual((found["count"], found["examples"], found["damaged"]), (200, 200, 0))
                features = found["fields"]
                self.assertEqual({key: value["type"] for key, value in features.items()},
                                 {"label": "int64", "box": "float", "ids": "int64", "image": "bytes", "words": "bytes"})
                self.assertEqual((features["image"]["fewest"], features["image"]["most"]), (12, 12))
                self.assertEqual((features["box"]["records"], features["box"]["most"]), (133, 4))
                self.write("one.yaml", RECIPE % (name, FEATURES, ""))
                self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.2")["batches"], 200)

    def test_tensorflow_reads_what_is_packed(self):
        self.run_stoker("pack", "recipe.yaml", "x", "--stages", "1", "--format", "tfrecord", "--shards", "3")
        self.run_stoker("pack", "recipe.yaml", "y", "--of", "eval", "--stages", "2", "--format", "tfrecord")
        found = self.write_by(READ_PACKED)
        images, labels = images_and_labels(TRAIN_IMAGES, 1)
        self.assertEqual(self.read("images.bin"), images[16:])
        self.assertEqual(found["labels"], list(labels[8:]))
        self.assertGreater(found["top"], 1)

    def test_webdataset_and_lmdb_read_what_is_packed(self):
        self.run_stoker("pack", "recipe.yaml", "w", "--stages", "1", "--format", "tar", "--shards", "2")
        self.run_stoker("pack", "recipe.yaml", "d", "--stages", "1", "--format", "lmdb")
        found = self.write_by(READ_PACKED_SAMPLES)
        images, labels = images_and_labels(TRAIN_IMAGES, 1)
        pixels = images[16:]
        size = len(pixels) // TRAIN_IMAGES
        sums = [sum(pixels[size * i:size * (i + 1)]) for i in range(TRAIN_IMAGES)]
        self.assertEqual(found["keys"], [f"{number:012}" for number in range(TRAIN_IMAGES)])
        self.assertLessEqual({"cls", "image.npy"}, set(found["fields"]))
        self.assertEqual((found["labels"], found["sums"]), (list(labels[8:]), sums))
        self.assertEqual(found["lmdb"], [list(labels[8:]), sums])
        self.assertEqual((found["entries"], found["first"]),
                         (2 * TRAIN_IMAGES + 1, ["000000000000/image", "000000000000/label", "000000000001/image"]))
        self.assertEqual(len(found["classes"]), 4)

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

    def test_shows_pictures_histograms_and_the_noise_scale(self):
        self.train("--set", "train.tensorboard.histograms=8", "--set", "train.metrics=[confusion]", "--set", "train.max_steps=16",
                   "--set", "train.callbacks=[{noise_scale: {every: 4}}]")
        found = json_of(self, READ_EVENTS)
        self.assertEqual(set(found["images"]), {"batch/input", "eval/confusion"})
        self.assertGreater(found["images"]["batch/input"][2], 100)
        weights = {tag for tag in found["histograms"] if tag.startswith("weights/")}
        self.assertGreater(len(weights), 1)
        self.assertEqual({tag.replace("weights", "gradients", 1) for tag in weights} | weights, set(found["histograms"]))
        for tag, events in found["histograms"].items():
            with self.subTest(tag=tag):
                self.assertEqual([step for step, *_ in events], [8, 16])
                for _, count, counted, low, high in events:
                    self.assertEqual(count, counted)
                    self.assertLess(low, high)
        self.assertIn("train/noise_scale", found["scalars"])
        self.assert_same(found["scalars"])

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


def has_torchvision():
    return os.access(TORCH_PYTHON, os.X_OK) and not subprocess.run([TORCH_PYTHON, "-c", "import torchvision"], capture_output=True,
                                                                   check=False).returncode


@unittest.skipUnless(has_torchvision(), "torchvision is not there; ./dev setup --peers installs it")
class TorchTest(ProgramTest):
    """PyTorch's files both ways, and torchvision's models of the same weights."""

    def run_script(self, script):
        return json_of(self, script, TORCH_PYTHON)

    def write_pictures(self, extent, count=8):
        pixels = bytes((7 * i * i + 13 * i) % 251 for i in range(count * 3 * extent * extent))
        with open(os.path.join(self.folder, "images"), "wb") as file:
            file.write(idx(8, [count, 3, extent, extent], pixels))
        with open(os.path.join(self.folder, "labels"), "wb") as file:
            file.write(idx(8, [count], bytes(i % 4 for i in range(count))))

    def test_what_torch_saves_is_listed_with_its_names_and_shapes(self):
        shapes = self.run_script(SAVE_BY_TORCH)
        for file in ["new.pt", "old.pth", "half.pt"]:
            with self.subTest(file=file):
                tensors = self.run_json("inspect", file)["fields"]
                self.assertEqual({name: tensor["shape"] for name, tensor in tensors.items()}, shapes)
        found = self.run_json("inspect", "checkpoint.pt")
        self.assertEqual(set(found["fields"]), {"state_dict.module." + name for name in shapes})
        self.assertEqual((found["metadata"]["epoch"], found["metadata"]["optimizer.param_groups.0.lr"]), ("7", "0.1"))

    def test_a_run_begins_with_torchvisions_weights_and_ends_with_weights_that_torchvision_predicts_alike_with(self):
        self.run_script(SAVE_BY_TORCH)
        self.write_pictures(32)
        for file, more in [("new.pt", ""), ("old.pth", ""), ("checkpoint.pt", ", prefix: state_dict.module."), ("half.pt", "")]:
            with self.subTest(file=file):
                self.write("torch.yaml", TORCH_RECIPE % ("resnet18: {classes: 4}", ", init_from: {weights: %s%s}" % (file, more)))
                self.compare_predictions("run-" + file, "resnet18", "{}", 32)

    def test_torchvisions_inception_predicts_alike(self):
        self.write_pictures(75)
        self.write("torch.yaml", TORCH_RECIPE % ("inception_v3: {classes: 4, aux_weight: 0}", ""))
        self.compare_predictions("run", "inception_v3", "{'aux_logits': False, 'init_weights': False}", 75)

    def compare_predictions(self, run, model, options, extent):
        self.run_json("train", "torch.yaml", "--run", run)
        self.run_json("export", run, "--to", "weights.pt")
        expected = self.run_script(PREDICT_BY_TORCH % (model, options, extent, extent))
        answers = self.run_json("predict", run, "images", "--top", "4")["predictions"]
        for answer, probabilities in zip(answers, expected, strict=True):
            for entry in answer["classes"]:
                self.assertAlmostEqual(entry["probability"], probabilities[entry["label"]], places=3)


if __name__ == "__main__":
    unittest.main()

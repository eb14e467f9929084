"""PyTorch's files and those of safetensors both ways, and torchvision's models of the same weights."""
import os
import unittest

from other_software import TORCH_PYTHON, InteropTest, has, json_of
from program import ProgramTest, idx

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

# Every type that Stoker has, views of one storage among them, in both forms of file.
SAVE_TYPES_BY_TORCH = """
import json, torch
torch.manual_seed(3)
kinds = [getattr(torch, name) for name in
         ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]]
state = {f"{i}.{shape}": (torch.randn(shape) * 100).to(kind) for i, kind in enumerate(kinds) for shape in [(3, 5), (7,), (), (0, 4)]}
whole = torch.arange(60.).reshape(5, 12)
state.update({"whole": whole, "columns": whole[:, 3:9:2], "turned": whole.t(), "last": whole[-1]})
torch.save(state, "new.pt")
torch.save(state, "old.pth", _use_new_zipfile_serialization=False)
print(json.dumps(len(state)))
"""

COMPARE_BY_TORCH = """
import json, torch
theirs, ours = (torch.load(name, weights_only=True) for name in ["new.pt", "ours.pt"])
print(json.dumps({"names": len(ours), "differ": [name for name, value in theirs.items() if ours[name].dtype != value.dtype or
                  ours[name].shape != value.shape or not torch.equal(ours[name].double().nan_to_num(), value.double().nan_to_num())]}))
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

# Every type that Stoker has, arrays without values and without dimensions among them; `more` has types that it lacks.
SAVE_BY_SAFETENSORS = """
import json, ml_dtypes, numpy as np
from safetensors.numpy import save_file
random = np.random.default_rng(1)
kinds = ["bool", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", ml_dtypes.bfloat16]
arrays = {f"layer.{i}.{shape}": np.asarray(random.standard_normal(shape) * 100).astype(kind)
          for i, kind in enumerate(kinds) for shape in [(3, 5), (7,), (), (0, 4), (2, 1, 2, 3)]}
save_file(arrays, "theirs.safetensors", metadata={"format": "np", "a note": "\\u00e9 \\U0001f600", "empty": ""})
save_file({"w": arrays["layer.7.(3, 5)"], "count": np.arange(4, dtype="u4")}, "more.safetensors")
print(json.dumps({name: list(array.shape) for name, array in arrays.items()}))
"""

# NumPy has bfloat16 once ml_dtypes is imported.
COMPARE_BY_SAFETENSORS = """
import json, ml_dtypes
from safetensors import safe_open
found = {}
with safe_open("theirs.safetensors", "np") as theirs, safe_open("ours.safetensors", "np") as ours:
    for name in theirs.keys():
        one, other = theirs.get_tensor(name), ours.get_tensor(name)
        found[name] = (str(one.dtype), list(one.shape), one.tobytes().hex()) == (str(other.dtype), list(other.shape), other.tobytes().hex())
    print(json.dumps({"same": found, "names": sorted(ours.keys()), "order": theirs.offset_keys() == ours.offset_keys()}))
"""

# The weights of a run, written anew as another framework would: with its own metadata, and in float16.
PASS_ON_BY_SAFETENSORS = """
import glob, json, numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
weights = load_file("run/weights.safetensors")
save_file(weights, "theirs.safetensors", metadata={"format": "pt"})
save_file({name: array.astype("f2") if array.dtype == "f4" else array for name, array in weights.items()}, "half.safetensors")
with safe_open("run/weights.safetensors", "np") as file: metadata = file.metadata()
state = load_file(sorted(glob.glob("run/checkpoints/*/tensors.safetensors"))[-1])
print(json.dumps({"shapes": {name: list(array.shape) for name, array in weights.items()}, "metadata": sorted(metadata),
                  "finite": all(bool(np.isfinite(array).all()) for array in weights.values()),
                  "parts": sorted({name.split(".")[0] for name in state}),
                  "weights": all((state["model." + name] == array).all() for name, array in weights.items())}))
"""


@unittest.skipUnless(has("safetensors"), "safetensors is not there; ./dev setup --interop installs it")
class SafetensorsInteropTest(InteropTest):
    def test_its_files_are_read_whatever_their_types_and_what_is_written_of_them_it_reads(self):
        shapes = self.run_other(SAVE_BY_SAFETENSORS)
        found = self.run_json("inspect", "theirs.safetensors")
        self.assertEqual((found["format"], found["count"]), ("safetensors", len(shapes)))
        self.assertEqual({name: tensor["shape"] for name, tensor in found["fields"].items()}, shapes)
        self.assertEqual(found["metadata"], {"format": "np", "a note": "\u00e9 \U0001f600", "empty": ""})
        self.run_json("export", "theirs.safetensors", "--to", "between.pt")
        for source in ["theirs.safetensors", "between.pt"]:
            with self.subTest(source=source):
                self.run_json("export", source, "--to", "ours.safetensors")
                found = self.run_other(COMPARE_BY_SAFETENSORS)
                self.assertEqual((found["names"], found["order"]), (sorted(shapes), True))
                self.assertEqual([name for name, same in found["same"].items() if not same], [])
        out, _ = self.run_stoker("inspect", "more.safetensors")
        self.assertIn("array count: of type U32, which is not read", out)

    def test_it_reads_the_weights_of_a_run_and_a_run_begins_with_what_it_writes(self):
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=1")
        found = self.run_other(PASS_ON_BY_SAFETENSORS)
        self.assertEqual((found["finite"], found["weights"]), (True, True))
        self.assertLessEqual({"model", "optimizer"}, set(found["parts"]))
        tensors = self.run_json("inspect", "run/weights.safetensors")["fields"]
        self.assertEqual({name: tensor["shape"] for name, tensor in tensors.items()}, found["shapes"])
        for file in ["theirs.safetensors", "half.safetensors"]:
            with self.subTest(file=file):
                out, _ = self.run_stoker("train", "recipe.yaml", "--run", "from " + file, "--set", f"train.init_from={file}",
                                         "--set", "train.max_steps=1")
                self.assertIn(f"{len(tensors)} of the model's {len(tensors)} tensors are taken from", out)


@unittest.skipUnless(has("torchvision", TORCH_PYTHON), "torchvision is not there; ./dev setup --peers installs it")
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

    def test_tensors_of_every_type_come_back_to_torch_as_they_were(self):
        count = self.run_script(SAVE_TYPES_BY_TORCH)
        self.run_json("export", "new.pt", "--to", "between.safetensors")
        for source in ["new.pt", "old.pth", "between.safetensors"]:
            with self.subTest(source=source):
                self.run_json("export", source, "--to", "ours.pt")
                self.assertEqual(self.run_script(COMPARE_BY_TORCH), {"names": count, "differ": []})

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

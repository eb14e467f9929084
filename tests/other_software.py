"""The formats' own software: tests run it by these, and compare by it what Stoker reads.

It is in a virtual environment that `./dev setup --interop` makes (STOKER_INTEROP may name the interpreter of another one),
PyTorch and torchvision in that of `./dev setup --peers` (STOKER_PEER_PYTHON, likewise); without them the tests that need them are
skipped.
"""
import json
import os
import subprocess
import unittest

from program import ProgramTest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PYTHON = os.environ.get("STOKER_INTEROP", os.path.join(ROOT, ".deps", "interop", "bin", "python"))
TORCH_PYTHON = os.environ.get("STOKER_PEER_PYTHON", os.path.join(ROOT, ".deps", "peers", "bin", "python"))

# packed.tar as {field: [the value of each sample]}: numbers and arrays as lists, bytes and texts as the text that Latin-1 makes
# of them. docs/formats.md says which names `stoker pack` gives to members.
READ_VALUES = """
import io, json, numpy as np, tarfile
fields, names = {}, {"bin": "image", "cls": "label", "txt": "text"}
numbers = ["cls", "class", "cls2", "count", "id", "index", "inx"]
with tarfile.open("packed.tar") as archive:
    for member in archive:
        if member.name == ".stoker.json": continue
        sample, name, *kind = member.name.split(".")
        content = archive.extractfile(member).read()
        if kind: value = np.load(io.BytesIO(content)).tolist()
        elif name in numbers: value = int(content)
        else: value = content.decode("latin-1")
        fields.setdefault(names.get(name, name), []).append(value)
print(json.dumps(fields))
"""

# How packed/FIELD.npy differ from the arrays of want.npz: by shape, or in which rows.
COMPARE_ARRAYS = """
import json, numpy as np
want, differ = np.load("want.npz"), {}
for name in want.files:
    packed = np.load(f"packed/{name}.npy")
    if packed.shape != want[name].shape: differ[name] = [packed.shape, want[name].shape]
    else: differ[name] = [i for i, (row, other) in enumerate(zip(packed, want[name])) if not (row.astype(other.dtype) == other).all()]
print(json.dumps(differ))
"""


def json_of(test, script, python=PYTHON):
    """Runs a script of the other software in the test's folder; gives what it printed last."""
    done = subprocess.run([python, "-c", script], cwd=test.folder, capture_output=True, text=True, check=False)
    test.assertEqual(done.returncode, 0, done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def has(module, python=PYTHON):
    """Whether an interpreter is there and has the package."""
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return os.access(python, os.X_OK) and not subprocess.run([python, "-c", look], check=False).returncode


@unittest.skipUnless(os.access(PYTHON, os.X_OK), "the formats' own software is not there; ./dev setup --interop installs it")
class InteropTest(ProgramTest):
    def run_other(self, script):
        return json_of(self, script)

    def write_recipe(self, *stages):
        self.write("one.yaml", "data:\n  root: .\n  train:\n" + "".join(f"    - {stage}\n" for stage in stages))

    def values_of(self, *stages):
        """{field: [the value of each sample]} of a pipeline, as READ_VALUES finds them."""
        self.write_recipe(*stages)
        self.run_stoker("pack", "one.yaml", "packed.tar", "--overwrite")
        return self.run_other(READ_VALUES)

    def assert_values(self, want, *stages):
        """A pipeline's fields are `want`, {field: values}."""
        found = self.values_of(*stages)
        self.assertEqual(set(found), set(want))
        for name, values in want.items():
            self.assertEqual(len(found[name]), len(values), name)
            for index, (one, other) in enumerate(zip(found[name], values)):
                self.assertEqual(one, other, f"field {name} of sample {index}")

    def assert_arrays(self, *stages):
        """The rows of a pipeline, packed as .npy, are the arrays of want.npz."""
        self.write_recipe(*stages)
        self.run_stoker("pack", "one.yaml", "packed", "--format", "npy", "--overwrite")
        differ = self.run_other(COMPARE_ARRAYS)
        self.assertTrue(differ)
        self.assertEqual(differ, {name: [] for name in differ})

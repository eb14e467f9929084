#!/usr/bin/env python3
"""Checks that every #include in stoker/ points the way the layering allows.

Usage: layering_test.py [ROOT]     ROOT is the repository; without it, where this file stands

Prints `file:line: what is wrong` for each include that does not, and exits 1. Tries itself first on
a made-up tree that breaks every rule, so that it cannot pass by looking at nothing.
"""

import pathlib
import re
import sys
import tempfile

# Who may include whom, beside itself. The build's order of folders (CMakeLists.txt) follows from it.
MAY_INCLUDE = {
    "base": [],
    "io": ["base"],
    "formats": ["base", "io"],
    "http": ["base", "io"],
    "image": ["base"],
    "machine": ["base", "io", "image"],
    "data": ["base", "io", "formats", "image"],
    "run": ["base", "io", "formats", "machine", "data"],
    "device": ["base", "data"],
    "cluster": ["base", "run", "device"],
    "train": ["base", "io", "formats", "image", "data", "run", "device", "cluster"],
    "trace": ["base", "io"],
    "doctor": ["base"],
    "tools": ["base", "io", "formats", "image", "machine", "data", "run", "device", "cluster", "train", "trace", "doctor",
              "http"],
}
MAY_SEE_TORCH = ["device", "cluster", "train"]

# Inside these folders each may include itself and those that stand before it. Tests and benchmarks may include all of their
# folder; what helps only them stands in `testing`, which nothing else includes.
FLOORS = {
    "data": ["core", "pictures", "runtime", "nodes", "rewrites", "options", "text", "transforms", "sources", "ops", "advice",
             "learn", "recipe", "pack", "testing"],
    "train": ["kernels", "core", "step", "models", "losses", "optimizers", "metrics", "evaluation", "plan", "tune", "check", "callbacks",
              "loop", "predict"],
    "tools": ["program", "chart", "formats", "inspect", "compare", "features", "live", "commands", "doctor", "foreign", "launch", "scale", "top", "report", "trainer"],
}
TESTING = "testing"
FOR_TESTS = re.compile(r"_(test|bench|fuzz|testing|testing_internal)\.(h|cc)$")

SOURCE_SUFFIXES = {".h", ".hpp", ".cc", ".cpp", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
# It runs on one thread in our files, which are not compiled for OpenMP (stoker/device/torch_threads.h).
ON_ONE_THREAD = re.compile(r"\bat::parallel_(for|reduce)\s*\(|#\s*pragma\s+omp\b")


def room_of(path):
    """The folder inside stoker/FOLDER that `path` stands in; empty for FOLDER itself."""
    parts = path.split("/")
    return parts[2] if len(parts) > 3 else ""


def is_for_tests(name):
    return bool(FOR_TESTS.search(name)) or room_of(name) == TESTING


def wrong_inside(folder, name, path):
    """What is wrong with an include of `path` in the file `name`, both in stoker/`folder`, or None."""
    floors, room, target = FLOORS[folder], room_of(name), room_of(path)
    for each in (room, target):
        if each and each not in floors:
            return f"{folder}/{each} is not in the order of {pathlib.Path(__file__).name}"
    if not room or is_for_tests(name):
        return None
    if target and floors.index(target) <= floors.index(room):
        return None
    return f"{folder}/{room} must not include {path}, which stands above it"


def wrong_with(folder, name, opened_by, path):
    """What is wrong with an include of `path` in the file `name` of stoker/`folder`, or None."""
    if TORCH.match(path):
        if folder in MAY_SEE_TORCH:
            return None
        return f"{folder} must not see torch ({path}); only {' and '.join(MAY_SEE_TORCH)} may"
    if not path.startswith("stoker/"):
        if opened_by == '"':
            return f'"{path}" is not a path from the root; write "stoker/..."'
        return None
    target = path.split("/")[1]
    if target not in MAY_INCLUDE:
        return f"{path}: there is no folder '{target}' in the table of {pathlib.Path(__file__).name}"
    if room_of(path) == TESTING and not is_for_tests(name):
        return f"{path} is for tests"
    if path.endswith("_internal.h") and name.rpartition("/")[0] != path.rpartition("/")[0] and not is_for_tests(name):
        return f"{path} is for its own folder"
    if target == folder and folder in FLOORS:
        return wrong_inside(folder, name, path)
    if target == folder or target in MAY_INCLUDE[folder]:
        return None
    allowed = ", ".join(MAY_INCLUDE[folder]) or "nothing of ours"
    return f"{folder} must not include {target} ({path}); it may include {allowed}"


def check_file(path, name, folder):
    """The problems of one file, each as `name:line: problem`."""
    text = path.read_text(encoding="utf-8", errors="replace")
    problems = []
    for number, line in enumerate(text.splitlines(), start=1):
        include = INCLUDE.match(line)
        problem = include and wrong_with(folder, name.as_posix(), include[1], include[2])
        if problem:
            problems.append(f"{name}:{number}: {problem}")
        if ON_ONE_THREAD.search(line):
            problems.append(f"{name}:{number}: this runs on one thread; use ForRangesOnTorchThreads")
    return problems


def check(root):
    """(number of source files, problems) of the tree root/stoker."""
    files = 0
    problems = []
    for path in sorted((root / "stoker").rglob("*")):
        if path.suffix not in SOURCE_SUFFIXES:
            continue
        files += 1
        name = path.relative_to(root)
        if len(name.parts) < 3 or name.parts[1] not in MAY_INCLUDE:
            problems.append(f"{name}:1: it stands in no folder of the table in this test")
            continue
        problems += check_file(path, name, name.parts[1])
    return files, problems


# File, its text, and what must be said of it (None: nothing).
MADE_UP = [
    ("base/a.h", '#include <vector>\n#include "stoker/base/b.h"\n', None),
    ("base/b.h", '\n#include "stoker/io/file.h"\n',
     "stoker/base/b.h:2: base must not include io (stoker/io/file.h); it may include nothing of ours"),
    ("io/c_test.cc", '#  include "stoker/data/core/element.h"', "stoker/io/c_test.cc:1: io must not include data"),
    ("image/d.cc", '#include "stoker/io/file.h"\n', "stoker/image/d.cc:1: image must not include io"),
    ("data/sources/e.cc", "#include <ATen/ATen.h>\n", "stoker/data/sources/e.cc:1: data must not see torch"),
    ("tools/f.cc", "#include <torch/torch.h>\n", "stoker/tools/f.cc:1: tools must not see torch"),
    ("machine/g.cc", '#include "stoker/formats/tar/tar.h"\n', "stoker/machine/g.cc:1: machine must not include formats"),
    ("device/g_test.cc", "#include <c10/core/Stream.h>\n", None),
    ("device/h.h", '#include "stoker/train/loop.h"\n', "stoker/device/h.h:1: device must not include train"),
    ("trace/i.cc", '#include "stoker/io/file.h"\n#include "stoker/data/core/element.h"\n', "stoker/trace/i.cc:2: trace must not include data"),
    ("doctor/i.cc", '#include "stoker/data/core/element.h"\n', "stoker/doctor/i.cc:1: doctor must not include data"),
    ("train/j.cc", '#include "sibling.h"\n', 'stoker/train/j.cc:1: "sibling.h" is not a path from the root'),
    ("train/k.cc", '#include "stoker/typo/x.h"\n', "stoker/train/k.cc:1: stoker/typo/x.h: there is no folder 'typo'"),
    ("tools/l.cc", '#include "stoker/train/loop.h"\n#include "stoker/data/core/element.h"\n', None),
    ("train/n.cc", "// at::parallel_for is a template\nvoid F() { at::parallel_for(0, 9, 1, f); }\n",
     "stoker/train/n.cc:2: this runs on one thread; use ForRangesOnTorchThreads"),
    ("data/ops/o.cc", '#include "stoker/data/core/element.h"\n#include "stoker/data/sources/e.h"\n', None),
    ("data/core/p.cc", '\n#include "stoker/data/ops/batch.h"\n',
     "stoker/data/core/p.cc:2: data/core must not include stoker/data/ops/batch.h, which stands above it"),
    ("data/core/p_test.cc", '#include "stoker/data/ops/batch.h"\n#include "stoker/data/testing/stream.h"\n', None),
    ("data/ops/q.cc", '#include "stoker/data/data.h"\n', "stoker/data/ops/q.cc:1: data/ops must not include stoker/data/data.h"),
    ("data/r.h", '#include "stoker/data/pack/pack.h"\n', None),
    ("data/pack/s.cc", '#include "stoker/data/testing/stream.h"\n', "stoker/data/pack/s.cc:1: stoker/data/testing/stream.h is for tests"),
    ("train/attic/t.cc", '#include "stoker/train/core/model.h"\n', "stoker/train/attic/t.cc:1: train/attic is not in the order"),
    ("run/u.h", '#include "stoker/train/core/model.h"\n', "stoker/run/u.h:1: run must not include train"),
    ("run/v.cc", '#include "stoker/run/w_internal.h"\n#include "stoker/io/x_internal.h"\n',
     "stoker/run/v.cc:2: stoker/io/x_internal.h is for its own folder"),
    ("run/v_test.cc", '#include "stoker/io/x_internal.h"\n', None),
    ("extra/m.cc", "\n", "stoker/extra/m.cc:1: it stands in no folder"),
    ("stray.cc", "\n", "stoker/stray.cc:1: it stands in no folder"),
]


def check_self():
    """What is wrong with this test, tried on the made-up tree."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text, _ in MADE_UP:
            path = root / "stoker" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        files, found = check(root)
    complaints = []
    if files != len(MADE_UP):
        complaints.append(f"looked at {files} of {len(MADE_UP)} files")
    for name, _, wanted in MADE_UP:
        said = [problem for problem in found if problem.startswith(f"stoker/{name}:")]
        if wanted is None and said:
            complaints.append(f"{name} is right, but: {said[0]}")
        if wanted is not None and not (len(said) == 1 and said[0].startswith(wanted)):
            complaints.append(f"{name}: wanted '{wanted}', got {said}")
    return complaints


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    complaints = check_self()
    for complaint in complaints:
        print(f"layering_test.py: its own check fails: {complaint}")
    files, problems = check(root)
    for problem in problems:
        print(problem)
    if files == 0:
        print(f"{root}: there are no sources in stoker/")
    if complaints or problems or files == 0:
        return 1
    print(f"{files} files follow the layering")
    return 0


if __name__ == "__main__":
    sys.exit(main())

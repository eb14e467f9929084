"""A Hugging Face dataset as a source, in two ways: its object, and the directory that `save_to_disk` writes.

The files of the directory are read by the engine itself, without Python; the object also does what was mapped onto it.
"""

import argparse
import pathlib

import datasets

import stoker as sk

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--folder", type=pathlib.Path, default="squares")
given = parser.parse_args()

features = datasets.Features({"x": datasets.Sequence(datasets.Value("float32"), length=2), "square": datasets.Value("int64")})
made = datasets.Dataset.from_dict({"x": [[i, -i] for i in range(1000)], "square": [i * i for i in range(1000)]}, features)
made.save_to_disk(given.folder)

by_object = sk.from_map_style(datasets.load_from_disk(given.folder).with_format("numpy"), random=False) | sk.shuffle() | sk.batch(100)
by_files = sk.arrow(files=str(given.folder / "*.arrow")) | sk.shuffle(buffer=1000) | sk.batch(100)
for name, pipeline in (("object", by_object), ("files", by_files)):
    total = sum(int(batch["square"].sum()) for batch in sk.Loader(pipeline, to="numpy"))
    print(f"{name}: {pipeline.spec}, sum of squares {total}")

"""What the writers that only programs of C++ reach make is read by the formats' own software."""
import csv
import gzip
import os
import shutil
import subprocess
import tarfile
import unittest
import zipfile

from other_software import InteropTest
from program import STOKER

WRITTEN_FILES = os.path.join(os.path.dirname(STOKER), "stoker_written_files")

WRITE_ARRAYS = """
import json, numpy as np
random = np.random.default_rng(1)
np.savez("arrays.npz", **{kind + name: np.asarray(random.random(shape) * 100).astype(kind) for name, shape in
                          [("", (20, 3, 4)), (" long", (300,)), (" none", (5, 0)), (" one", ())]
                          for kind in ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]})
print(json.dumps([]))
"""

# By name, what of ours is not what NumPy and idx2numpy have; the .npy files byte by byte. IDX has neither bool, int64 nor
# float16, and no array without dimensions.
COMPARE_ARRAYS = """
import gzip, idx2numpy, io, json, numpy as np, os
theirs, ours, differ, idx = np.load("arrays.npz"), np.load("ours.npz"), [], 0
def same(one, other): return one.dtype == other.dtype and one.shape == other.shape and (one == other).all()
for name in theirs.files:
    saved = io.BytesIO()
    np.save(saved, theirs[name])
    with open(name + ".npy", "rb") as file: bytes_are_same = file.read() == saved.getvalue()
    if not bytes_are_same or not same(theirs[name], ours[name]): differ.append(name)
    if os.path.exists(name + ".idx"):
        idx += 1
        with gzip.open(name + ".idx.gz", "rb") as file: packed = idx2numpy.convert_from_string(file.read())
        for array in [idx2numpy.convert_from_file(name + ".idx"), packed]:
            if not same(array.astype(array.dtype.newbyteorder("=")), theirs[name]): differ.append(name + ".idx")
print(json.dumps({"arrays": len(ours.files), "idx": idx, "differ": differ}))
"""

READ_TFRECORDS = """
import json, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
print(json.dumps({kind: [record.numpy().decode("latin-1") for record in tf.data.TFRecordDataset(f"ours-{kind}.tfrecord", kind.upper())]
                  for kind in ["gzip", "zlib"]}))
"""

TEXTS = ["plain", "", "a,b", 'say "yes"', '"', "two\nlines", "two\r\nlines", "cr\rhere", " blanks ", "tab\there", "\u00e9\u4e2d\U0001f600", "'",
         "1.5", "#", ",", "long " * 9000]


@unittest.skipUnless(os.access(WRITTEN_FILES, os.X_OK), "the program that writes the files is not built")
class WritersInteropTest(InteropTest):
    def setUp(self):
        super().setUp()
        self.run_other(WRITE_ARRAYS)
        self.write("texts", "".join(text + "\0" for text in TEXTS))
        done = subprocess.run([WRITTEN_FILES], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.members = {("x" * (i * 9) if i % 2 else "folder/") + f"\u00e9{i}.txt": text.encode() for i, text in enumerate(TEXTS)}

    def run_tool(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_arrays_are_read_by_numpy_and_idx2numpy(self):
        self.assertEqual(self.run_other(COMPARE_ARRAYS), {"arrays": 36, "idx": 18, "differ": []})

    def test_tables_are_read_by_pythons_csv(self):
        for name, form, opener in [("ours.csv", {}, open), ("ours.csv.gz", {}, gzip.open), ("ours.tsv", {"delimiter": "\t"}, open)]:
            with self.subTest(file=name), opener(self.path(name), "rt", encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file, strict=True, **form))
                self.assertEqual([row[0] for row in rows], TEXTS)
                self.assertEqual([int(row[1]) for row in rows], list(range(len(TEXTS))))
                self.assertEqual([float(row[3]) for row in rows], [i / 3 for i in range(len(TEXTS))])
                for i, row in enumerate(rows):
                    self.assertAlmostEqual(float(row[2]), i / 3, delta=i / 3 * 2**-24)

    def test_compressed_records_are_read_by_tensorflow(self):
        texts = [text.encode().decode("latin-1") for text in TEXTS]
        self.assertEqual(self.run_other(READ_TFRECORDS), {"gzip": texts, "zlib": texts})

    def test_tar_archives_are_read_by_gnu_tar_and_python(self):
        for name, option in [("ours.tar", "-x"), ("ours.tar.gz", "-xz")]:
            with self.subTest(file=name), tarfile.open(self.path(name)) as archive:
                self.assertEqual({member.name: archive.extractfile(member).read() for member in archive}, self.members)
                os.makedirs(self.path("out"))
                self.assertEqual(self.run_tool("tar", "-C", "out", option, "-f", name), b"")
                self.assertEqual({name: self.read("out/" + name) for name in self.members}, self.members)
                shutil.rmtree(self.path("out"))

    def test_compressed_files_are_whole_to_gzip_and_pigz(self):
        names = [name for name in os.listdir(self.folder) if name.endswith(".gz")]
        self.assertGreater(len(names), 2)
        for tool, name in [(tool, name) for tool in ("gzip", "pigz") if shutil.which(tool) for name in names]:
            with self.subTest(tool=tool, file=name), gzip.open(self.path(name)) as file:
                self.assertEqual(self.run_tool(tool, "-t", name), b"")
                self.assertEqual(self.run_tool(tool, "-dc", name), file.read())

    def test_zip_archives_are_read_by_info_zip_and_python(self):
        with zipfile.ZipFile(self.path("ours.zip")) as archive:
            self.assertEqual({name: archive.read(name) for name in archive.namelist()}, self.members)
        with zipfile.ZipFile(self.path("many.zip")) as archive:
            self.assertEqual(archive.namelist(), [str(i) for i in range(70_000)])
        if shutil.which("unzip"):
            self.assertIn(b"No errors", self.run_tool("unzip", "-tq", "ours.zip"))
            self.assertEqual(self.run_tool("unzip", "-p", "ours.zip"), "".join(TEXTS).encode())
            self.assertIn(b"No errors", self.run_tool("unzip", "-tq", "many.zip"))


if __name__ == "__main__":
    unittest.main()

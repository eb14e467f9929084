"""docs/formats.md: every recipe line of its table runs, and `stoker inspect` describes what it names."""
import os
import re
import shutil
import struct
import unittest
import zipfile

from array_files import hdf5, n5
from format_files import FormatFiles, field, lmdb, npy, tfrecord
from fuzz_seeds import pt_files
from program import idx, png
from table_files import have_tables

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "formats.md")


def recipe_lines():
    """(format, what stands between the first backticks of the second cell) of each row that has some."""
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            cells = line.split("|")
            found = re.match(r"\s*`([a-z_][a-z0-9_]*: .*?)`", cells[2]) if len(cells) > 3 else None
            if found:
                yield cells[1].strip(), found.group(1)


class FormatsTest(FormatFiles):
    def test_every_recipe_line_runs(self):
        lines = list(recipe_lines())
        self.assertGreater(len(lines), 7)
        for name, line in lines:
            if not have_tables() and line.startswith(("parquet:", "arrow:")):
                continue
            with self.subTest(format=name, line=line):
                fronts = {"parse_example": "tfrecord: x-1.tfrecord", "decode_json": "webdataset: j.tar"}
                front = fronts.get(line.split(":")[0])
                stages = "".join(f"    - {stage}\n" for stage in (front, line) if stage)
                self.write("one.yaml", f"data:\n  root: .\n  train:\n{stages}")
                self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.1")["batches"], 0)

    def test_every_format_that_inspect_knows_has_its_line_in_the_table(self):
        read = {line.split(":")[0] for _, line in recipe_lines()}
        found = self.run_json("inspect", "--formats")["formats"]
        self.assertGreater(len(found), 15)
        for row in found:
            with self.subTest(format=row["format"]):
                self.assertIn(row["recipe"].split(":")[0], read)
                self.assertIn("FILE", row["recipe"])
        said, _ = self.run_stoker("inspect", "--formats")
        self.assertEqual(len(said.splitlines()), len(found) + 1)

    def test_a_csv_file_is_described(self):
        found = self.run_json("inspect", "a.csv")
        self.assertEqual((found["format"], found["count"]), ("csv", 2))
        self.assertEqual(found["fields"], {name: {"dtype": dtype, "shape": []} for name, dtype in
                                           [("a", "int64"), ("b", "float32")]} |
                         {"name": {"dtype": "text", "shape": [], "smallest": 3, "largest": 4, "mean": 3.5}})
        self.assertEqual(found["record_bytes"], {"smallest": 15, "largest": 16, "mean": 15.5})
        self.write("bad.csv", "a,b\n1,2\n3\n")
        self.assert_fails(["inspect", "bad.csv"], 1, "bad.csv: record 1 (line 3, byte 8): the row ends before column 1 ('b')")

    def test_a_jsonl_file_is_described(self):
        found = self.run_json("inspect", "a.jsonl")
        self.assertEqual((found["format"], found["count"]), ("jsonl", 2))
        self.assertEqual(found["fields"], {"id": {"dtype": "int64", "shape": []},
                                           "t": {"dtype": "text", "shape": [], "smallest": 1, "largest": 1, "mean": 1},
                                           "v": {"dtype": "float32", "shape": [2]}})
        self.write("bad.jsonl", '{"id": 1}\n{"id": 2\n')
        self.assert_fails(["inspect", "bad.jsonl"], 1, "bad.jsonl: record 1 (line 2, byte 10): byte 8: '}' is wanted")

    def test_many_fields_are_shown_in_short(self):
        self.write("wide.csv", ",".join(f"c{i}" for i in range(300)) + "\n" + ",".join(["1"] * 300) + "\n")
        said, _ = self.run_stoker("inspect", "wide.csv")
        self.assertIn("wide.csv: csv, 1 record of 300 fields (2,400 bytes); whole", said)
        self.assertLess(len(said.splitlines()), 20)
        self.assertIn("... 285 more  all int64", said)
        self.assertEqual(len(self.run_json("inspect", "wide.csv")["fields"]), 300)
        self.write("one.yaml", "data: {train: [csv: wide.csv, decode: {field: x}]}\n")
        self.assert_fails(["inspect", "one.yaml"], 2, "there is no field 'x'", "and 292 fields more")

    def test_the_arrays_of_one_folder_are_columns_of_the_same_samples(self):
        os.mkdir(self.path("xs"))
        for name in ("x.npy", "y.npy"):
            shutil.move(self.path(name), self.path(f"xs/{name}"))
        found = self.run_json("inspect", "xs")
        self.assertEqual((found["formats"]["npy"]["files"], found["formats"]["npy"]["count"]), (2, 2))

    def test_a_libsvm_file_is_described(self):
        found = self.run_json("inspect", "a.svm")
        self.assertEqual((found["format"], found["count"], found["largest_index"]), ("libsvm", 2, 3))
        # One type of the label, in the table and in the samples.
        self.assertEqual(found["fields"]["label"], {"dtype": "float32", "shape": []})
        self.assertEqual([sample["label"] for sample in found["samples"]], [1, 0])
        self.write("many.svm", "1,2 1:0.5\n0 2:1\n")
        found = self.run_json("inspect", "many.svm")
        self.assertEqual(found["fields"]["label"], {"dtype": "int64", "shape": [-1], "smallest": 8, "largest": 16, "mean": 12})
        self.assertEqual([sample["label"]["first"] for sample in found["samples"]], [[1, 2], [0]])
        self.write("bad.svm", "1 2:3\n1 2\n")
        self.assert_fails(["inspect", "bad.svm"], 1, "bad.svm: record 1 (line 2, byte 6): byte 3: a colon is wanted")

    def test_numpy_archives_and_recordio_files_are_described(self):
        found = self.run_json("inspect", "z.npz")
        self.assertEqual((found["format"], found["fields"]["x"]["dtype"]), ("npz", "int16"))
        # Of arrays of other lengths there are no samples, which is no damage.
        with zipfile.ZipFile(self.path("other.npz"), "w") as archive:
            for name, values in (("x.npy", npy("(3,)", 6)), ("y.npy", npy("(2,)", 4))):
                archive.writestr(name, values)
        found = self.run_json("inspect", "other.npz")
        self.assertEqual((found["count"], found["arrays"], list(found["fields"])), (None, 2, ["x", "y"]))
        self.assertIn("rows", found["samples_error"])
        found = self.run_json("inspect", "i.rec")
        self.assertEqual((found["format"], found["count"], found["images"], found["fields"]["label"]["most"]), ("recordio", 1, 1, 1))
        self.write("bad.rec", self.read("i.rec")[:-1])
        self.assert_fails(["inspect", "bad.rec"], 1, "bad.rec: byte 0: the file ends in the middle of a record")

    def test_every_data_file_is_described_by_format_count_fields_and_samples(self):
        files = {"a.csv": "csv", "a.jsonl": "jsonl", "a.svm": "libsvm", "z.npz": "npz", "x.npy": "npy", "i.rec": "recordio",
                 "db/data.mdb": "lmdb", "s-000.tar": "tar", "s-000.zip": "zip", "a-0.stoker": "stoker", "a.h5": "hdf5", "c.n5": "n5",
                 "x-1.tfrecord": "tfrecord", "a.idx.gz": "idx", "a.elements": "elements", "a.txt": "text"}
        if have_tables():
            files |= {"x-0.parquet": "parquet", "x-0.arrow": "arrow", "s-0.arrow": "arrow"}
        for file, name in files.items():
            with self.subTest(file=file):
                found = self.run_json("inspect", file, "--samples", "1")
                self.assertEqual(found["format"], name)
                self.assertGreaterEqual(found["count"], 1)
                self.assertGreaterEqual(len(found["fields"]), 1)
                self.assertEqual(len(found["samples"]), 1)
        self.assertEqual(self.run_json("inspect", "a.csv", "--samples", "1")["samples"], [{"a": 1, "b": 2.5, "name": "ann"}])
        self.assertNotIn("samples", self.run_json("inspect", "a.csv", "--samples", "0"))
        # Weights are no samples.
        header = b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
        self.write("w.safetensors", struct.pack("<Q", len(header)) + header + bytes(8))
        self.write("w.pt", pt_files()["weights.pt"])
        for file, name, shapes in [("w.safetensors", "safetensors", {"w": [2]}), ("w.pt", "pt", {"net.weight": [2, 3]})]:
            with self.subTest(file=file):
                found = self.run_json("inspect", file)
                self.assertEqual((found["format"], found["count"]), (name, 1))
                self.assertEqual({field: of["shape"] for field, of in found["fields"].items()}, shapes)

    @unittest.skipUnless(have_tables(), "Stoker was built without Apache Arrow")
    def test_parquet_and_arrow_files_are_described_and_verified(self):
        image = {"type": "fixed_size_list<item: uint8>[4]", "dtype": "uint8", "shape": [4], "nulls": 0}
        for path, name in [("x-0.parquet", "parquet"), ("x-0.arrow", "arrow"), ("s-0.arrow", "arrow")]:
            with self.subTest(path=path):
                found = self.run_json("inspect", path)
                self.assertEqual((found["format"], found["count"], found["groups"], found["rows_of_a_group"]), (name, 2, 2, 1))
                self.assertEqual({**found["fields"]["img"], "type": image["type"]}, image)
                self.assertEqual((found["fields"]["t"]["shape"], found["fields"]["t"]["nulls"]), ([-1], 1))
                self.run_stoker("verify", path)
        good = self.read("x-0.parquet")
        at = good.index(bytes([5, 0, 0, 0, 6, 0, 0, 0]))  # a uint8 is stored in four bytes
        self.write("bad.parquet", good[:at] + b"\xff" + good[at + 1:])
        self.assert_fails(["inspect", "bad.parquet"], 1, "bad.parquet: row group 1, column 'img'")
        self.assertIn("row group 1, column 'img'", self.run_stoker("verify", "bad.parquet", expect=1)[0])
        self.write("cut.parquet", good[:-1])
        self.assert_fails(["inspect", "cut.parquet"], 1, "cut.parquet: byte", "the file is cut short")
        self.write("cut.arrow", self.read("x-0.arrow")[:-1])
        self.assert_fails(["inspect", "cut.arrow"], 1, "cut.arrow: byte", "the file is cut short")

    @unittest.skipUnless(have_tables(), "Stoker was built without Apache Arrow")
    def test_without_its_plug_in_a_parquet_file_says_what_to_do(self):
        os.mkdir(self.path("empty"))
        for path in ("x-0.parquet", "x-0.arrow"):
            said = "".join(self.run_stoker("inspect", path, expect=1, environment={"STOKER_PLUGINS": self.path("empty")}))
            self.assertIn(f"{path}: there is no plug-in", said)
            self.assertIn("`./dev setup`, then `./dev build`", said)

    @unittest.skipUnless(have_tables(), "Stoker was built without Apache Arrow")
    def test_rows_of_parquet_and_arrow_are_packed(self):
        for name, file in [("parquet", "x-0.parquet"), ("arrow", "{x,s}-0.arrow")]:
            with self.subTest(format=name):
                self.write("pack.yaml", f"data:\n  root: .\n  train:\n    - {name}: {{files: \"{file}\", "
                           "fields: {image: img, label: y, t: {column: t, nulls: none}}}\n")
                self.run_stoker("pack", "pack.yaml", f"{name}.stoker", "--verify")
                found = self.run_json("inspect", f"{name}.stoker")
                self.assertEqual(found["count"], 2 if name == "parquet" else 4)
                self.assertEqual([sample["label"] for sample in found["samples"]][:2], [7, 8])

    def test_an_lmdb_database_is_described(self):
        found = self.run_json("inspect", "db/data.mdb")
        self.assertEqual((found["format"], found["count"], found["fields"]), ("lmdb", 2, {"value": {"smallest": 3, "largest": 5}}))
        self.write("bad.mdb", self.read("db/data.mdb")[:8192])
        self.assert_fails(["inspect", "bad.mdb"], 1, "bad.mdb: page 2 (byte 8192): it is not in the file")

    def test_a_tar_archive_is_described(self):
        found = self.run_json("inspect", "s-000.tar")
        self.assertEqual((found["format"], found["count"], found["members"]), ("tar", 2, 4))
        self.assertEqual(found["fields"]["txt"], {"samples": 2, "smallest": 1, "largest": 1})
        self.write("bad.tar", self.read("s-000.tar")[:1500])
        self.assert_fails(["inspect", "bad.tar"], 1, "bad.tar: byte 1024: the archive ends in the middle")

    def test_a_numpy_array_is_described(self):
        found = self.run_json("inspect", "x.npy")
        self.assertEqual((found["format"], found["count"], found["fields"]), ("npy", 2, {"value": {"dtype": "int16", "shape": [3]}}))
        self.write("bad.npy", self.read("x.npy")[:-1])
        self.assert_fails(["inspect", "bad.npy"], 1, "int16[2, 3] takes 12 bytes, 11 are there")

    def test_a_stoker_shard_is_described(self):
        found = self.run_json("inspect", "a-0.stoker")
        self.assertEqual((found["format"], found["count"], found["pages"], found["page_records"]), ("stoker", 3, 1, 3))
        self.assertEqual(found["fields"], {"label": {"dtype": "int64", "shape": []}})
        self.assertEqual(found["record_bytes"], {"smallest": 8, "largest": 8, "mean": 8})
        self.run_stoker("pack", "s-000.tar", "texts.stoker")
        self.assertEqual(self.run_json("inspect", "texts.stoker")["fields"]["txt"],
                         {"dtype": "uint8", "shape": [-1], "smallest": 1, "largest": 1, "mean": 1})
        self.write("bad.stoker", self.read("a-0.stoker")[:-1])
        self.assert_fails(["inspect", "bad.stoker"], 1, "bad.stoker: byte 367: the file is cut short")
        damaged = bytearray(self.read("a-0.stoker"))
        damaged[200] ^= 1
        self.write("bad.stoker", bytes(damaged))
        self.assert_fails(["inspect", "bad.stoker"], 1, "1 of 1 blocks do not have their checksum", "records 0 to 2")

    def test_a_contact_sheet_of_what_is_no_recipe_says_how_to_make_one(self):
        self.assert_fails(["inspect", "a-0.stoker", "--grid", "x.png"], 2, "a-0.stoker: this is", "train: [stoker: a-0.stoker, decode")
        self.assert_fails(["inspect", "s-000.tar", "--grid", "x.png"], 2, "webdataset: s-000.tar")

    def test_a_tfrecord_file_is_described(self):
        found = self.run_json("inspect", "x-1.tfrecord")
        self.assertEqual((found["format"], found["count"], found["examples"], found["damaged"]), ("tfrecord", 2, 2, 0))
        self.assertEqual(found["fields"]["label"], {"type": "int64", "fewest": 1, "most": 1, "records": 2})
        self.write("bad.tfrecord", self.read("x-1.tfrecord")[:-1])
        self.assert_fails(["inspect", "bad.tfrecord"], 1, "the file ends in the middle of record 1")
        damaged = bytearray(self.read("x-1.tfrecord"))
        damaged[-5] ^= 1
        self.write("bad.tfrecord", bytes(damaged))
        self.assert_fails(["inspect", "bad.tfrecord"], 1, "the data of 1 of 2 records lack their checksum")


if __name__ == "__main__":
    unittest.main()

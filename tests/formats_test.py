"""docs/formats.md: every recipe line of its table runs, on files that are written here by the format's description."""
import gzip
import json
import os
import re
import shutil
import struct
import tarfile
import unittest
import warnings
import zipfile

from array_files import hdf5, n5
from fuzz_seeds import pt_files
from program import ProgramTest, bmp, idx, png

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "formats.md")


def crc32c(data):
    """Bit by bit, as RFC 3720 defines it."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def tfrecord(*records):
    """The bytes of a TFRecord file; README.md in stoker/formats/tfrecord has the layout."""
    frames = [(struct.pack("<Q", len(record)), record) for record in records]
    return b"".join(length + masked(length) + record + masked(record) for length, record in frames)


def npy(shape, size):
    """The bytes of an array of int16."""
    header = f"{{'descr': '<i2', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(size)


def padded(data, size):
    return data + bytes(-len(data) % size)


def stoker_shard(*labels):
    """A .stoker file of records {label: int64}, in one page; docs/formats/stoker.md has the layout."""
    schema = b'{"fields": [{"name": "label", "dtype": "int64", "shape": []}], "origin": "a test"}'
    rest = struct.pack("<IIQ", len(schema), crc32c(schema), 8 << 20) + bytes(32)
    front = padded(b"STKSHARD" + struct.pack("<II", 1, crc32c(rest)) + rest + schema, 64)
    page = struct.pack(f"<{len(labels)}q", *labels)
    entry = struct.pack("<5Q", len(front), len(page), 0, len(labels), 0)
    front = padded(front + page, 64)
    footer = padded(entry + struct.pack("<I", crc32c(front)), 8)
    end = struct.pack("<4QII12x", len(labels), 1, len(front), 1, 256 << 10, crc32c(footer))
    return front + footer + end + struct.pack("<I", crc32c(end)) + b"STKSHRDZ"


def lmdb(values):
    """The bytes of a database of these values, sorted by their keys, on one leaf; stoker/formats/lmdb has the layout."""
    leaf, offsets = bytearray(4096), []
    end = len(leaf)
    for key, value in values:
        node = struct.pack("<IHH", len(value), 0, len(key)) + key + value
        end -= len(node) + len(node) % 2
        leaf[end:end + len(node)] = node
        offsets.append(end)
    header = struct.pack("<QHHHH", 2, 0, 2, 16 + 2 * len(offsets), end) + struct.pack(f"<{len(offsets)}H", *offsets)
    leaf[:len(header)] = header
    none = struct.pack("<IHHQQQQQ", 4096, 0, 0, 0, 0, 0, 0, 2**64 - 1)
    main = struct.pack("<IHHQQQQQ", 0, 0, 1, 0, 1, 0, len(values), 2)
    pages = [struct.pack("<QHHI", page, 0, 8, 0) + struct.pack("<IIQQ", 0xbeefc0de, 1, 0, 1 << 20) +
             none + main + struct.pack("<QQ", 2, page) for page in range(2)]
    return b"".join(page.ljust(4096, b"\0") for page in pages) + bytes(leaf)


def field(number, content):
    """A protocol buffer field of bytes, of less than 128 of them."""
    return bytes([number << 3 | 2, len(content)]) + content


def example(name, feature):
    return field(1, field(1, field(1, name.encode()) + field(2, feature)))


def int64s(*values):
    """A Feature of integers below 128."""
    return field(3, field(1, bytes(values)))


def recipe_lines():
    """(format, what stands between the first backticks of the second cell) of each row that has some."""
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            cells = line.split("|")
            found = re.match(r"\s*`([a-z_][a-z0-9_]*: .*?)`", cells[2]) if len(cells) > 3 else None
            if found:
                yield cells[1].strip(), found.group(1)


class FormatsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("a.idx.gz", idx(8, [2, 2, 2], range(8)))
        self.write("b.idx.gz", idx(8, [2], [0, 1]))
        self.write("x-1.tfrecord", tfrecord(example("label", int64s(3)), example("label", int64s(4))))
        self.write("a.csv", "a,b,name\n1,2.5,ann\n3,4,\"b, c\"\n")
        for number in range(2):
            with tarfile.open(self.path(f"s-00{number}.tar"), "w") as archive:
                for name in ["1.txt", "1.cls", "2.txt", "2.cls"]:
                    self.write(name, name[0])
                    archive.add(self.path(name), name)
            with zipfile.ZipFile(self.path(f"s-00{number}.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
                for name in ["1.txt", "2.txt", "1.cls", "2.cls"]:
                    archive.writestr(name, name[0] * 40 if name.endswith("txt") else name[0])
        self.write("a.jsonl", '{"id": 1, "t": "x", "v": [1, 2.5]}\n{"id": 2, "t": "y", "v": [3, 4]}\n')
        with tarfile.open(self.path("j.tar"), "w") as archive:
            for name, text in [("1.json", '{"id": 1, "a": {"box": [1, 2.5]}, "t": "x"}'), ("2.json", '{\n "a": {"box": [0, 1]},\n "id": 2\n}\n')]:
                self.write(name, text)
                archive.add(self.path(name), name)
        self.write("a.svm", "1 1:0.5 3:2\n0 2:1\n")
        self.write("r.bin", bytes([7]) + bytes(16) + bytes([8]) + bytes(16))
        image_record = struct.pack("<IfQQ", 0, 7, 0, 0) + b"jpeg"
        self.write("i.rec", struct.pack("<II", 0xced7230a, len(image_record)) + image_record)
        with zipfile.ZipFile(self.path("z.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", npy("(2, 3)", 12))
            archive.writestr("y.npy", npy("(2,)", 4))
        self.write("db/data.mdb", lmdb([(b"0", b"one"), (b"1", b"three")]))
        self.write("x.npy", npy("(2, 3)", 12))
        self.write("y.npy", npy("(2,)", 4))
        self.write("a-0.stoker", stoker_shard(3, 4, 5))
        self.write("a.h5", hdf5({"train": {"images": ([2, 3], range(6)), "labels": ([2], [7, 8])}}))
        for name, dimensions, values in [("raw", [3, 2], range(6)), ("labels", [2], [7, 8])]:
            attributes, block = n5(dimensions, values)
            self.write(f"c.n5/{name}/attributes.json", attributes)
            self.write(f"c.n5/{name}/" + "/".join("0" * len(dimensions)), block)
        self.write("a.txt", "one\ntwo\n")
        self.write("a.bin", b"12345678")
        self.write("pictures/cat/1.png", png(bytes(16), 4, 4))
        self.write("pictures/dog/2.png", png(bytes(16), 4, 4))
        self.write("list.txt", "pictures/cat/1.png 0\npictures/dog/2.png 1\n")
        # `cache` writes the form that `snapshot` reads.
        self.write("cache.yaml", "data:\n  root: .\n  train:\n    - lines: a.txt\n    - cache: {path: a.elements}\n")
        self.run_stoker("bench", "cache.yaml", "--seconds", "0.1")

    def test_every_recipe_line_runs(self):
        lines = list(recipe_lines())
        self.assertGreater(len(lines), 7)
        for name, line in lines:
            with self.subTest(format=name, line=line):
                fronts = {"parse_example": "tfrecord: x-1.tfrecord", "decode_json": "webdataset: j.tar"}
                front = fronts.get(line.split(":")[0])
                stages = "".join(f"    - {stage}\n" for stage in (front, line) if stage)
                self.write("one.yaml", f"data:\n  root: .\n  train:\n{stages}")
                self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.1")["batches"], 0)

    def test_a_csv_file_is_described(self):
        found = self.run_json("inspect", "a.csv")
        self.assertEqual((found["format"], found["count"]), ("csv", 2))
        self.assertEqual(found["fields"], {name: {"dtype": dtype, "shape": []} for name, dtype in
                                           [("a", "int64"), ("b", "float32")]} |
                         {"name": {"dtype": "text", "shape": [], "smallest": 3, "largest": 4, "mean": 3.5}})
        self.assertEqual(found["record_bytes"], {"smallest": 15, "largest": 16, "mean": 15.5})
        self.write("bad.csv", "a,b\n1,2\n3\n")
        self.assert_fails(["inspect", "bad.csv"], 1, "bad.csv: record 1 (byte 8): the row ends before column 1 ('b')")

    def test_a_jsonl_file_is_described(self):
        found = self.run_json("inspect", "a.jsonl")
        self.assertEqual((found["format"], found["count"]), ("jsonl", 2))
        self.assertEqual(found["fields"], {"id": {"dtype": "int64", "shape": []},
                                           "t": {"dtype": "text", "shape": [], "smallest": 1, "largest": 1, "mean": 1},
                                           "v": {"dtype": "float32", "shape": [2]}})
        self.write("bad.jsonl", '{"id": 1}\n{"id": 2\n')
        self.assert_fails(["inspect", "bad.jsonl"], 1, "bad.jsonl: record 1 (byte 10): byte 8: '}' is wanted")

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
        self.assert_fails(["inspect", "bad.svm"], 1, "bad.svm: record 1 (byte 6): byte 3: a colon is wanted")

    def test_numpy_archives_and_recordio_files_are_described(self):
        found = self.run_json("inspect", "z.npz")
        self.assertEqual((found["format"], found["fields"]["x"]["dtype"]), ("npz", "int16"))
        found = self.run_json("inspect", "i.rec")
        self.assertEqual((found["format"], found["count"], found["images"], found["fields"]["label"]["most"]), ("recordio", 1, 1, 1))
        self.write("bad.rec", self.read("i.rec")[:-1])
        self.assert_fails(["inspect", "bad.rec"], 1, "bad.rec: byte 0: the file ends in the middle of a record")

    def test_an_idx_file_that_disagrees_with_its_recordio_file_is_told(self):
        one = self.read("i.rec")
        self.write("two.rec", one * 2)
        self.write("two.idx", f"0\t{len(one)}\n1\t0\n")
        self.assertEqual(self.run_json("inspect", "two.rec")["index"], "two.idx")
        self.assertIn("two.idx lists each of them once", self.run_stoker("inspect", "two.rec")[0])
        self.run_stoker("verify", "two.rec")
        self.write("two.idx", f"0\t0\n1\t{len(one) + 4}\n")
        says = f"two.idx: line 2: no record of two.rec begins at byte {len(one) + 4}"
        self.assert_fails(["inspect", "two.rec"], 1, says)
        self.assertIn(says, self.run_stoker("verify", "two.rec", expect=1)[0])
        self.write("two.yaml", "data: {train: [recordio: {files: two.rec, index: memory}]}\n")
        self.assert_fails(["bench", "two.yaml"], 1, "two.idx: line 2: no record of", f"two.rec begins at byte {len(one) + 4}")

    def test_the_elements_of_a_cache_are_described_and_verified(self):
        found = self.run_json("inspect", "a.elements")
        self.assertEqual((found["format"], found["count"], found["damaged"]), ("elements", 2, 0))
        self.assertEqual(found["fields"], {"text": {"dtype": "uint8", "shape": [-1], "smallest": 3, "largest": 3, "mean": 3}})
        self.assertEqual(found["samples"], [{"text": "one"}, {"text": "two"}])
        self.assertIn("a.elements: whole, elements, 2 records", self.run_stoker("verify", "a.elements")[0])
        damaged = bytearray(self.read("a.elements"))
        damaged[damaged.index(b"two")] ^= 1
        self.write("bad.elements", bytes(damaged))
        self.assert_fails(["inspect", "bad.elements"], 1, "bad.elements: byte", "1 of 2 records are damaged")
        self.assertIn("bad.elements: damaged", self.run_stoker("verify", "bad.elements", expect=1)[0])

    def test_lines_of_text_are_counted_in_whatever_language_and_compression(self):
        self.write("umlauts", "\u00fcber\n\n\u65e5\u672c\n".encode())
        found = self.run_json("inspect", "umlauts")
        self.assertEqual((found["format"], found["count"]), ("text", 3))
        self.assertEqual(found["fields"], {"text": {"dtype": "text", "shape": [], "smallest": 0, "largest": 6, "mean": 11 / 3}})
        self.write("latin.txt", "\u00fcber\nb".encode("latin-1"))
        self.assertEqual(self.run_json("inspect", "latin.txt")["count"], 2)
        self.assert_fails(["verify", "latin.txt"], 1, "nothing is checked")
        self.write("b.txt.gz", gzip.compress(b"one\ntwo\n"))
        found = self.run_json("inspect", "b.txt.gz")
        self.assertEqual((found["count"], found["compressed"], found["decompressed_bytes"]), (2, "gzip", 8))
        self.assertIn("b.txt.gz: whole, text, 2 records", self.run_stoker("verify", "b.txt.gz")[0])
        self.write("bad.txt.gz", gzip.compress(b"one\ntwo\n")[:-4])
        self.assert_fails(["verify", "bad.txt.gz"], 1, "the file is not whole")

    def test_every_data_file_is_described_by_format_count_fields_and_samples(self):
        files = {"a.csv": "csv", "a.jsonl": "jsonl", "a.svm": "libsvm", "z.npz": "npz", "x.npy": "npy", "i.rec": "recordio",
                 "db/data.mdb": "lmdb", "s-000.tar": "tar", "s-000.zip": "zip", "a-0.stoker": "stoker", "a.h5": "hdf5", "c.n5": "n5",
                 "x-1.tfrecord": "tfrecord", "a.idx.gz": "idx", "a.elements": "elements", "a.txt": "text"}
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

    def test_an_archive_is_whole_only_with_its_end_and_its_checksum(self):
        def said_of(name, content):
            self.write(name, content)
            return "".join(self.assert_fails(["inspect", name], 1) + self.assert_fails(["verify", name], 1))
        archive = self.read("s-000.tar")
        members = archive.rstrip(b"\0")
        members += bytes(-len(members) % 512)
        self.assertIn(f"cut.tar: byte {len(members)}: the archive ends without", said_of("cut.tar", members))
        packed = bytearray(gzip.compress(archive))
        packed[-8] ^= 1
        self.assertIn("crc.tar.gz: byte", said_of("crc.tar.gz", bytes(packed)))
        self.assertIn("cut.tar.gz: byte", said_of("cut.tar.gz", gzip.compress(archive)[:-4]))
        self.write("two.tar", archive + self.read("s-001.tar"))
        self.run_stoker("verify", "two.tar")
        self.assertEqual(self.run_json("inspect", "two.tar")["count"], 4)

    def test_blocks_of_zeros_are_an_empty_archive(self):
        for name, content in [("none", bytes(10240)), ("none.tar", bytes(1024)), ("none.tar.gz", gzip.compress(bytes(10240)))]:
            with self.subTest(name=name):
                self.write(name, content)
                found = self.run_json("inspect", name)
                self.assertEqual((found["format"], found["count"], found["members"]), ("tar", 0, 0))
        self.write("zeros.jpg", bytes(10240))
        self.assertEqual(self.run_json("inspect", "zeros.jpg")["format"], "an unknown kind of file")

    def test_a_zip_archive_is_described_and_verified(self):
        found = self.run_json("inspect", "s-000.zip")
        self.assertEqual((found["format"], found["count"], found["members"]), ("zip", 2, 4))
        self.assertEqual(found["fields"]["txt"], {"samples": 2, "smallest": 40, "largest": 40})
        self.run_stoker("verify", "s-000.zip")
        damaged = bytearray(self.read("s-000.zip"))
        damaged[damaged.find(b"2.txt") + 7] ^= 1
        self.write("bad.zip", bytes(damaged))
        self.assert_fails(["verify", "bad.zip"], 1, "the file is not whole; make or copy it again")
        self.assert_fails(["inspect", "bad.zip"], 1, "bad.zip: byte", "'2.txt'")
        self.write("bad.zip", self.read("s-000.zip")[:-1])
        self.assert_fails(["inspect", "bad.zip"], 1, "a zip archive ends with its directory, and this file does not")

    def test_names_that_come_twice_in_an_archive_are_told(self):
        for name in ("s-000.tar", "s-000.zip"):
            self.assertEqual(self.run_json("inspect", name)["repeated_names"], 0)
            self.assertNotIn("more than once", self.run_stoker("inspect", name)[0])
        members = ["1.txt", "1.cls", "2.txt", "1.cls", "1.txt", "1.txt"]
        with tarfile.open(self.path("twice.tar"), "w") as archive, zipfile.ZipFile(self.path("twice.zip"), "w") as other, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of them too
            for name in members:
                archive.add(self.path(name), name)
                other.writestr(name, name)
        found = self.run_json("inspect", "twice.tar", "--samples", "0")
        self.assertEqual((found["members"], found["repeated_names"], found["first_repeated_name"]), (6, 2, "1.cls"))
        self.assertIn("  2 names come more than once, the first is '1.cls'; each", self.run_stoker("inspect", "twice.tar", "--samples", "0")[0])
        # The directory of a zip archive is what is read, and which of the two it means cannot be told.
        for command in ("inspect", "verify"):
            self.assertIn("the entry '1.cls' is there twice; pack the archive again", "".join(self.run_stoker(command, "twice.zip", expect=1)))

    def test_hdf5_and_n5_are_described_and_verified(self):
        rows = {"dtype": "uint8", "shape": [3], "count": 2, "chunk": [2, 3]}
        for path, name, image in [("a.h5", "hdf5", "train/images"), ("c.n5", "n5", "raw")]:
            with self.subTest(path=path):
                found = self.run_json("inspect", path)
                self.assertEqual((found["format"], found["count"], len(found["fields"])), (name, 2, 2))
                self.assertEqual(found["fields"][image], rows)
                self.assertEqual(set(found["fields"]), set(found["samples"][0]))
                self.run_stoker("verify", path)
        self.write("bad.h5", self.read("a.h5")[:-1])
        self.assert_fails(["inspect", "bad.h5"], 1, "bad.h5: byte", "it was cut short")
        self.write("c.n5/raw/0/0", self.read("c.n5/raw/0/0")[:-1])
        self.assert_fails(["inspect", "c.n5/raw/attributes.json"], 1, "0/0: byte 12: its values take 6 bytes, 5 are there")
        self.assert_fails(["verify", "c.n5"], 1, "the file is not whole; make or copy it again")

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

    def test_pictures_that_only_decoding_tells_apart_are_verified(self):
        self.write("a.bmp", bmp(bytes(16), 4, 4))
        self.write("a.ppm", b"P6 2 2 255\n" + bytes(12))
        said, _ = self.run_stoker("verify", "a.bmp", "a.ppm")
        self.assertIn("a.bmp: whole, a BMP image", said)
        self.assertIn("a.ppm: whole, a PNM image", said)
        self.write("bad.bmp", self.read("a.bmp")[:-1])
        self.assert_fails(["verify", "bad.bmp"], 1, "the file is not whole; make or copy it again")

    def test_what_cannot_be_checked_is_not_called_damaged(self):
        self.write("notes.txt", "words\n")
        said, _ = self.run_stoker("verify", "a.bin", "notes.txt", "a.csv")
        self.assertIn("a.bin: not checked: it is", said)
        self.assertIn("notes.txt: not checked: it is", said)
        self.assertIn("3 files: 1 whole (csv: 1), 0 damaged, 2 not checked", said)
        self.assert_fails(["verify", "notes.txt"], 1, "nothing is checked: the file has nothing to check by, or is of a kind")
        self.assert_fails(["verify", "notes.txt", "a.bin"], 1, "nothing is checked: the 2 files have nothing to check by, or are of a kind")

    def test_only_what_has_other_bytes_than_it_should_is_called_damaged(self):
        header = b"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }"
        header += b" " * (117 - len(header)) + b"\n"
        self.write("complex.npy", b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + bytes(8))
        for name, method in [("bzip2.zip", zipfile.ZIP_BZIP2), ("lzma.zip", zipfile.ZIP_LZMA)]:
            with zipfile.ZipFile(self.path(name), "w", method) as archive:
                archive.writestr("1.txt", "one" * 100)
        names = ["complex.npy", "bzip2.zip", "lzma.zip"]
        found = json.loads(self.run_stoker("verify", *names, "--json", expect=1)[0])
        self.assertEqual((found["damaged"], found["not_checked"], found["not_read"]), (0, 3, 0))
        self.assertIn("'<c8'", found["files"][0]["not_checked"])
        self.run_stoker("verify", *names, "a.csv")  # something could be checked, and is whole
        os.mkfifo(self.path("fifo"))
        for name, says in [("fifo", "fifo: is a pipe"), ("nothing.csv", "nothing.csv"), ("nothing-*.csv", "nothing-*.csv")]:
            with self.subTest(name=name):
                out, err = self.run_stoker("verify", name, expect=1)
                self.assertIn(says, out)
                self.assertIn("not read", out)
                self.assertNotIn("damaged", out)
                self.assertIn("the file could not be read", err)
        os.mkdir(self.path("odd"))
        for name in names:
            shutil.move(self.path(name), self.path(f"odd/{name}"))
        found = json.loads(self.run_stoker("inspect", "odd", "--json", expect=1)[0])
        self.assertEqual((len(found["damaged"]), len(found["not_read"])), (0, 3))

    def test_directories_and_patterns_are_verified_file_by_file(self):
        os.mkdir(self.path("all"))
        names = ["a.csv", "s-000.tar", "s-001.tar", "x-1.tfrecord", "a-0.stoker", "z.npz", "i.rec", "pictures", "db"]
        for name in names:
            shutil.move(self.path(name), self.path(f"all/{name}"))
        self.write("all/README", "what this is\n")
        self.write("all/.hidden", "left out")
        said, _ = self.run_stoker("verify", "all")
        self.assertEqual(said.splitlines(), ["all/README: not checked: it is text, which has nothing to check it by",
                                             "11 files: 10 whole (a PNG image: 2, csv: 1, lmdb: 1, npz: 1, recordio: 1, stoker: 1, tar: 2, "
                                             "tfrecord: 1), 0 damaged, 1 not checked"])
        self.write("all/s-001.tar", self.read("all/s-001.tar")[:1500])
        self.write("all/pictures/cat/1.png", self.read("all/pictures/cat/1.png")[:-20])
        shard = bytearray(self.read("all/a-0.stoker"))
        shard[70] ^= 1
        self.write("all/a-0.stoker", bytes(shard))
        out, err = self.run_stoker("verify", "all", "--json", expect=1)
        self.assertIn("3 of 11 files are not whole", err)
        found = json.loads(out)
        self.assertEqual((found["whole"], found["damaged"], found["not_checked"]), (7, 3, 1))
        self.assertEqual([file["file"] for file in found["files"] if "error" in file or file["damages"]],
                         ["all/a-0.stoker", "all/pictures/cat/1.png", "all/s-001.tar"])
        said, _ = self.run_stoker("verify", "all/s-*.tar", expect=1)
        self.assertIn("all/s-001.tar: byte", said)
        self.assertIn("2 files: 1 whole (tar: 1), 1 damaged", said)
        self.assertIn("1 of 2 files is not whole; make or copy it again", self.run_stoker("verify", "all/s-*.tar", expect=1)[1])
        said, _ = self.run_stoker("verify", "all/pictures/dog")
        self.assertEqual(said, "all/pictures/dog/2.png: whole, a PNG image\n")
        said, err = self.run_stoker("verify", "all/s-{000..002}.tar", expect=1)
        self.assertIn("all/s-002.tar", said)
        self.assertIn("the file could not be read", err)

    def test_directories_and_patterns_are_inspected_in_sum(self):
        found = self.run_json("inspect", "s-*.tar")
        self.assertEqual((found["files"], found["formats"]["tar"]["count"]), (2, 4))
        self.assertEqual(list(found["formats"]["tar"]["fields"]), ["cls", "txt"])
        self.write("b.csv", "a,b,name\n1,2.5,elisabeth\n")
        self.assertEqual(self.run_json("inspect", "{a,b}.csv")["formats"]["csv"]["fields"]["name"],
                         {"dtype": "text", "shape": [], "smallest": 3, "largest": 9})
        found = self.run_json("inspect", "pictures")
        self.assertEqual((found["format"], found["files"]), ("files", 2))
        self.assertEqual(found["formats"]["a PNG image"]["files"], 2)
        said, _ = self.run_stoker("inspect", "pictures")
        self.assertRegex(said, r"pictures: 2 files, .*\n +format +files +records +size\n +a PNG image +2 ")
        self.write("bad/x.tar", self.read("s-000.tar")[:1500])
        out, err = self.run_stoker("inspect", "bad", expect=1)
        self.assertIn("bad/x.tar: byte", out)
        self.assertIn("the file is not whole; make or copy it again", err)
        os.mkdir(self.path("nothing"))
        self.assert_fails(["inspect", "nothing"], 1, "nothing: there is no file in it")
        self.assertEqual(self.run_json("inspect", "db")["format"], "lmdb")

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

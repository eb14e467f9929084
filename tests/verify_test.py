"""`stoker verify` and `stoker inspect` of files, folders and patterns: what is whole, damaged, or cannot be checked."""
import gzip
import io
import json
import os
import shutil
import struct
import subprocess
import tarfile
import unittest
import warnings
import zipfile
import zlib

from array_files import hdf5, n5
from format_files import FormatFiles, lmdb, npy, tfrecord
from program import STOKER, bmp, idx, png


class VerifyTest(FormatFiles):
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

    def test_pictures_in_a_tar_archive_are_decoded_and_damaged_ones_are_listed(self):
        good = png(bytes(range(64)), 8, 8)
        damaged = good[:-30] + bytes([good[-30] ^ 0x55]) + good[-29:]
        for name, mode in [("p.tar", "w"), ("p.tar.gz", "w:gz")]:
            with self.subTest(name=name):
                for broken in (False, True):
                    with tarfile.open(self.path(name), mode) as archive:
                        for member, data in [("a/0.png", good), ("a/0.cls", b"1"), ("a/1.txt", b"no picture"),
                                             ("a/2.jpg", damaged if broken else good), ("a/3.gif", b"GIF89a"), ("a/4.bmp", good[:20] if broken else good)]:
                            info = tarfile.TarInfo(member)
                            info.size = len(data)
                            archive.addfile(info, io.BytesIO(data))
                    if not broken:
                        self.assertEqual(self.run_stoker("verify", name)[0], f"{name}: whole, tar, 5 records; 3 pictures decoded\n")
                        continue
                    out, _ = self.assert_fails(["verify", name], 1, "the file is not whole")
                    self.assertIn(f"{name}: damaged, tar, 5 records; 3 pictures decoded\n", out)
                    self.assertRegex(out, r"bytes \d+ to \d+: a picture that cannot be decoded: a/2\.jpg: .*; record 2\n")
                    self.assertRegex(out, r"bytes \d+ to \d+: a picture that cannot be decoded: a/4\.bmp: .*; record 4\n")
                    report = json.loads(self.run_stoker("verify", name, "--json", expect=1)[0])["files"][0]
                    self.assertEqual((report["pictures"], [damage["first_record"] for damage in report["damages"]]), (3, [2, 4]))
                    self.assertEqual(report["damages"][0]["bytes"], len(damaged))

    def test_pictures_in_a_tar_archive_that_are_too_large_to_decode_are_counted_and_are_no_damage(self):
        huge = b"P5 20000 20000 255\n" + bytes(100)
        vast = (2 << 30) + 512  # bytes of a member, most of them a hole in the archive
        with tarfile.open(self.path("p.tar"), "w") as archive:
            for member, data in [("0.png", png(bytes(64), 8, 8)), ("1.pgm", huge)]:
                info = tarfile.TarInfo(member)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo("2.bmp")
        info.size = vast
        end = 2 * (512 + 512)  # of two members with less than a block of data each
        with open(self.path("p.tar"), "r+b") as archive:
            archive.seek(end)
            archive.write(info.tobuf())
            archive.truncate(end + 512 + vast + 1024)
        self.assertEqual(self.run_stoker("verify", "p.tar")[0],
                         "p.tar: whole, tar, 3 records; 1 picture decoded, 2 too large to be decoded\n")
        report = json.loads(self.run_stoker("verify", "p.tar", "--json")[0])["files"][0]
        self.assertEqual((report["pictures"], report["pictures_too_large"], report["whole"]), (1, 2, True))

    def peak_megabytes(self, *arguments):
        """The most memory that one run of the program has resident, and what it prints."""
        with open(self.path("printed"), "w+", encoding="utf-8") as printed:
            process = subprocess.Popen([STOKER, *arguments], cwd=self.folder, stdout=printed, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            printed.seek(0)
            return usage.ru_maxrss * 1024e-6, printed.read()

    def test_a_compressed_file_of_one_endless_line_takes_little_memory_and_is_told_where_it_begins(self):
        for name, start, piece in [("x.csv.gz", b"7", b",7"), ("x.svm.gz", b"1", b" 1:1"), ("x.txt.gz", b"", b"xx")]:
            with self.subTest(name):
                packer = zlib.compressobj(1, wbits=31)
                packed = packer.compress(start) + b"".join(packer.compress(piece * (1 << 19)) for _ in range(400))
                self.write(name, packed + packer.flush())
                for command in ["inspect", "verify"]:
                    megabytes, printed = self.peak_megabytes(command, name)
                    self.assertLess(megabytes, 150)
                    if name != "x.txt.gz":
                        self.assertIn(f"{name} (decompressed): line 1, byte 0: row 0 has more than 16777216 bytes", printed)
                        self.assertIn("raise max_bytes of the source in the recipe, or check whether this is text", printed)

    def test_compressed_arrays_of_very_many_zeros_take_little_memory(self):
        rows, row = 512, bytes(1 << 20)
        packer = zlib.compressobj(1, wbits=31)
        packed = packer.compress(struct.pack(">IIII", 0x00000803, rows, 1024, 1024))
        self.write("x.gz", packed + b"".join(packer.compress(row) for _ in range(rows)) + packer.flush())
        header = str({"descr": "|u1", "fortran_order": False, "shape": (rows, len(row))}).ljust(117).encode() + b"\n"
        for name, member in [("x.npz", "a.npy"), ("x.zip", "a.txt")]:
            with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open(member, "w") as file:
                file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
                for _ in range(rows):
                    file.write(row)
        # The one element of the zip archive is all of it, so `inspect` is to show none.
        for command in [["inspect", "x.gz"], ["inspect", "x.npz"], ["inspect", "--samples", "0", "x.zip"],
                        ["verify", "x.gz"], ["verify", "x.npz"], ["verify", "x.zip"]]:
            with self.subTest(" ".join(command)):
                megabytes, printed = self.peak_megabytes(*command)
                self.assertLess(megabytes, 200)
                self.assertIn("whole", printed)

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

    def test_files_of_no_lines_are_whole_and_have_no_records(self):
        for name, content in [("none.csv", b""), ("none.tsv", b"\n\n"), ("none.jsonl", b""), ("none.ndjson", b"\xef\xbb\xbf"), ("none.svm", b""),
                              ("none.jsonl.gz", gzip.compress(b"")), ("none.csv.gz", gzip.compress(b"\n"))]:
            with self.subTest(name=name):
                self.write(name, content)
                self.assertIn(f"{name}: whole", self.run_stoker("verify", name)[0])
                self.assertEqual(self.run_json("inspect", name)["count"], 0)
        self.write("cut.jsonl.gz", gzip.compress(b"")[:-4])
        self.assertIn("cut.jsonl.gz: byte", "".join(self.run_stoker("verify", "cut.jsonl.gz", expect=1)))
        for source, says in [("jsonl: none.jsonl", "none.jsonl: the file has no lines, so its fields are not known"),
                             ("csv: none.csv", "none.csv: the file has no rows, so its columns are not known"),
                             ("jsonl: {files: none.jsonl, fields: {x: int64}}", "the pipeline gives no batch: its source is empty"),
                             ("libsvm: {files: none.svm, features: 2}", "the pipeline gives no batch: its source is empty")]:
            with self.subTest(source=source):
                self.write("none.yaml", f"data: {{train: [{source}, batch]}}\n")
                self.assert_fails(["bench", "none.yaml"], 1, says)

    def test_values_that_are_missing_are_no_damage_and_the_delimiter_is_found_out(self):
        self.write("gaps.csv", "age;name\n31;ann\nNA;bob\n")
        found = self.run_json("inspect", "gaps.csv")
        self.assertEqual((found["count"], found["fields"]["age"]["dtype"], found["samples"][0]), (2, "float32", {"age": 31, "name": "ann"}))
        self.run_stoker("verify", "gaps.csv")

    def test_samples_that_cannot_be_read_are_counted_and_the_first_reason_is_told(self):
        for name in ("1.txt", "1.cls", "2.txt", "2.cls"):
            self.write(name, "7")
        with tarfile.open(self.path("gap.tar"), "w") as archive:
            for name in ("1.txt", "1.cls", "2.txt", "2.cls"):
                archive.add(self.path(name), name)
            for name in ("3.txt", "5.txt"):
                archive.add(self.path("1.txt"), name)
            for name in ("4.txt", "4.cls"):
                archive.add(self.path("1.txt"), name)
        found = self.run_json("inspect", "gap.tar", "--samples", "3")
        self.assertEqual([sample["key"] for sample in found["samples"]], ["1", "2", "4"])
        self.assertEqual(found["samples_left_out"]["count"], 2)
        self.assertIn("sample '3' has no member .cls", found["samples_left_out"]["first"])
        said, complaints = self.run_stoker("inspect", "gap.tar")
        self.assertIn("  2 samples cannot be read and are left out; the first: ", said)
        self.assertIn("  sample 4: ", said)
        self.assertEqual(complaints, "")
        self.assertNotIn("samples_left_out", self.run_json("inspect", "s-000.tar"))

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
        self.assert_fails(["verify", "notes.txt"], 1, "nothing is checked: see the line above")
        self.assert_fails(["verify", "notes.txt", "a.bin"], 1, "nothing is checked: see the lines above")

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

    def test_pictures_are_told_by_format_and_size_and_an_empty_one_is_damaged(self):
        self.write("a.png", png(bytes([7] * 12), 4, 3))
        self.write("b.bmp", bmp(bytes([7] * 12), 4, 3))
        self.write("c.data", b"P6 4 3 255\n" + bytes(36))
        self.write("d.txt", "BM is how this text begins\n")
        for name, format, channels in [("a.png", "a PNG image", 1), ("b.bmp", "a BMP image", 3), ("c.data", "a PNM image", 3)]:
            with self.subTest(name):
                found = self.run_json("inspect", name)
                self.assertEqual([found[key] for key in ["format", "height", "width", "channels"]], [format, 3, 4, channels])
                self.assertEqual(self.run_stoker("verify", name)[0], f"{name}: whole, {format}\n")
        self.assertEqual(self.run_json("inspect", "d.txt")["format"], "text")
        self.assertIn("d.txt: not checked", self.run_stoker("verify", "d.txt", expect=1)[0])
        for name, content in [("empty.png", b""), ("zeros.jpg", bytes(100)), ("cut.png", png(bytes([7] * 12), 4, 3)[:20])]:
            with self.subTest(name):
                self.write(name, content)
                self.assertIn(f"{name}: damaged", self.run_stoker("verify", name, expect=1)[0])
        self.write("plain.pgm", "P2 1 1 255 7\n")  # a picture, though of a kind that is not read
        self.assertIn("plain.pgm: not checked", self.run_stoker("verify", "plain.pgm", expect=1)[0])

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


if __name__ == "__main__":
    unittest.main()

"""stoker pack: what people have into files that are fast to read; at any moment killed, and gone on with."""
import glob
import json
import os
import random
import re
import shutil
import signal
import struct
import tarfile
import time
import unittest

from format_files import example, int64s, tfrecord
from program import CLASSES, ProgramTest, png


class PackTest(ProgramTest):
    def listing(self, pattern):
        """Names and contents of the files that match, hidden ones included; of a directory, of those in it. What tells of a packing
        that has come to its end is left out."""
        names = sorted(glob.glob(self.path(pattern), include_hidden=True))
        names = [name for name in names if not (name.endswith(".stoker-pack") and b'"finished":true' in self.read(name))]
        return {os.path.basename(name): {file: self.read(os.path.join(name, file)) for file in os.listdir(name)}
                if os.path.isdir(name) else self.read(name) for name in names}

    def make_pictures(self, count):
        for number in range(count):
            self.write(f"pictures/{'cat' if number % 2 else 'dog'}/{number}.png", png(bytes([number]) * 16, 4, 4))

    def test_a_recipe_is_packed_up_to_its_batches(self):
        self.assert_fails(["pack", "recipe.yaml", "x.stoker"], 2, "stage 5 of data.train gives batches", "--stages 4")
        packed = self.run_json("pack", "recipe.yaml", "x.stoker", "--stages", "4", "--verify")
        self.assertEqual((packed["elements"], packed["format"], packed["verified"]), (512, "stoker", True))
        found = self.run_json("inspect", "x.stoker")
        self.assertEqual((found["count"], found["fields"]["image"]["dtype"]), (512, "float32"))
        self.assertIn("random_crop", found["origin"])
        packed = self.run_json("pack", "recipe.yaml", "eval", "--of", "eval", "--stages", "1", "--format", "tfrecord")
        self.assertEqual([file["file"] for file in packed["files"]], ["eval.tfrecord"])
        found = self.run_json("inspect", "eval.tfrecord")
        self.assertEqual((found["count"], found["fields"]["label"]["type"]), (120, "int64"))

    def test_class_folders_are_packed_with_their_pictures_as_they_are(self):
        self.make_pictures(10)
        packed = self.run_json("pack", "pictures", "p.stoker", "--shards", "2")
        self.assertEqual([file["elements"] for file in packed["files"]], [5, 5])
        self.assertIn(self.read("pictures/dog/8.png"), self.read("p-00001-of-00002.stoker"))
        self.write("one.yaml", "data: {train: [stoker: p@2.stoker, decode, resize: 4, batch]}\n")
        self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.1")["samples"], 9)

    def test_pictures_are_made_smaller_and_those_that_are_small_are_not_enlarged(self):
        for number, side in enumerate([8, 40, 64]):
            self.write(f"pictures/cat/{number}.png", png(bytes(side * side * 2), side * 2, side))
        self.run_stoker("pack", "pictures", "p", "--resize", "16", "--quality", "80")
        self.assertIn("resized to 16, as JPEG of quality 80", self.run_json("inspect", "p.stoker")["origin"])
        # Frame headers (ITU-T T.81, B.2.2): length, precision, height, width.
        frames = re.findall(rb"\xff\xc0\0.\x08(..)(..)", self.read("p.stoker"), re.DOTALL)
        self.assertEqual([struct.unpack(">HH", height + width) for height, width in frames],
                         [(8, 16), (16, 32), (16, 32)])
        self.write("one.yaml", "data: {train: [stoker: p.stoker, decode, resize: 8, batch]}\n")
        self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.1")["samples"], 2)
        self.assert_fails(["pack", "recipe.yaml", "x", "--stages", "4", "--quality", "90"], 2, "encode: field 'image' is float32")

    def test_arrays_are_packed_into_a_directory(self):
        self.run_stoker("pack", "recipe.yaml", "arrays", "--stages", "1", "--format", "npy", "--verify")
        self.assertEqual(sorted(os.listdir(self.path("arrays"))), ["image.npy", "label.npy"])
        self.assertEqual(self.run_json("inspect", "arrays/image.npy")["shape"], [512, 1, 14, 14])
        self.write("one.yaml", "data: {train: [npy: {fields: {image: arrays/image.npy, label: arrays/label.npy}}]}\n")
        self.run_stoker("pack", "one.yaml", "x")
        self.run_stoker("pack", "recipe.yaml", "y", "--stages", "1")
        self.assertEqual(self.run_json("inspect", "x.stoker")["fields"], self.run_json("inspect", "y.stoker")["fields"])

    def test_a_tar_archive_holds_samples_as_webdataset_has_them(self):
        self.make_pictures(6)
        self.run_stoker("pack", "pictures", "p", "--format", "tar", "--shards", "2", "--verify")
        names, contents = [], {}
        for shard in range(2):
            with tarfile.open(self.path(f"p-0000{shard}-of-00002.tar")) as archive:
                names += archive.getnames()
                contents.update((name, archive.extractfile(name).read()) for name in archive.getnames())
        samples = [name for name in names if not name.startswith(".")]
        self.assertEqual(samples, [f"{number:012}.{kind}" for number in range(6) for kind in ("png", "cls")])
        self.assertEqual([contents[f"{number:012}.cls"] for number in (2, 3)], [b"0", b"1"])
        self.assertEqual(contents["000000000000.png"], self.read("pictures/cat/1.png"))
        schema = json.loads(contents[".stoker.json"])
        self.assertEqual(schema["classes"], ["cat", "dog"])
        self.assertEqual([field["name"] for field in schema["fields"]], ["image", "label"])
        self.write("one.yaml", "data: {train: [webdataset: p@2.tar, decode, resize: 4, batch]}\n")
        self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.1")["samples"], 5)
        self.run_stoker("pack", "p@2.tar", "again.tar")
        self.run_stoker("pack", "pictures", "direct.tar")
        members = []
        for name in ("again.tar", "direct.tar"):
            with tarfile.open(self.path(name)) as archive:
                members.append(archive.getnames())
        self.assertEqual(*members)

    def test_a_database_is_read_back_and_packed_again(self):
        self.make_pictures(6)
        self.run_stoker("pack", "pictures", "p", "--format", "lmdb", "--verify")
        self.assertEqual(os.listdir(self.path("p.lmdb")), ["data.mdb"])
        found = self.run_json("inspect", "p.lmdb")
        self.assertEqual((found["format"], found["count"], found["classes"]), ("lmdb", 6, ["cat", "dog"]))
        self.write("one.yaml", "data: {train: [lmdb: {path: p.lmdb}, decode, resize: 4, batch]}\n")
        self.assertGreater(self.run_json("bench", "one.yaml", "--seconds", "0.1")["samples"], 5)
        self.run_stoker("pack", "p.lmdb", "a.stoker")
        self.run_stoker("pack", "pictures", "b.stoker")
        self.assertEqual(self.run_json("inspect", "a.stoker")["fields"], self.run_json("inspect", "b.stoker")["fields"])
        self.run_stoker("pack", "p.lmdb", "q", "--format", "lmdb", "--shards", "3")
        self.assertEqual(self.run_json("inspect", "q@3.lmdb")["formats"]["lmdb"]["count"], 6)

    def test_names_of_classes_are_kept_and_sets_that_differ_in_them_are_refused(self):
        self.make_pictures(4)
        self.write("others/cat/0.png", png(bytes(16), 4, 4))
        self.write("others/owl/0.png", png(bytes(16), 4, 4))
        for name, source in [("stoker", "stoker: {0}.stoker"), ("tar", "webdataset: {0}.tar"),
                             ("lmdb", "lmdb: {{path: {0}.lmdb}}"), ("tfrecord", "tfrecord: {0}.tfrecord")]:
            with self.subTest(format=name):
                for folder in ("pictures", "others"):
                    self.run_stoker("pack", folder, folder, "--format", name)
                train, evaluation = source.format("pictures"), source.format("others")
                for packed, says in [(train, None), (evaluation, "number 1 is 'dog' there and 'owl' here")]:
                    self.write("one.yaml", f"data: {{train: [{train}], eval: [{packed}]}}\n")
                    if says:
                        self.assert_fails(["bench", "one.yaml"], 2, "one.yaml:1", "other classes than data.train", says)
                    else:
                        self.run_stoker("bench", "one.yaml", "--seconds", "0.1")
        self.assertEqual(self.read("pictures.tfrecord.classes.txt"), b"cat\ndog\n")
        # A recipe's own names are kept too.
        self.run_stoker("pack", "recipe.yaml", "named", "--stages", "1")
        self.assertEqual(self.run_json("inspect", "named.stoker")["classes"], CLASSES)

    def test_records_are_packed_as_they_are(self):
        records = [example("label", int64s(number)) for number in range(9)]
        self.write("a.tfrecord", tfrecord(*records))
        self.run_stoker("pack", "a.tfrecord", "b.tfrecord", "--verify")
        self.assertEqual(self.read("a.tfrecord"), self.read("b.tfrecord"))
        self.run_stoker("pack", "a.tfrecord", "c.tfrecord", "--shuffle", "--seed", "3")
        self.assertNotEqual(self.read("a.tfrecord"), self.read("c.tfrecord"))
        self.assertEqual(sorted(self.read("c.tfrecord")), sorted(self.read("a.tfrecord")))

    def test_a_packed_data_set_is_packed_again(self):
        self.run_stoker("pack", "recipe.yaml", "x", "--stages", "1", "--shards", "3")
        self.run_stoker("pack", "x-*.stoker", "y.stoker")
        self.run_stoker("pack", "x@3.stoker", "z.tfrecord")
        self.assertEqual(self.run_json("inspect", "y.stoker")["count"], 512)
        self.assertEqual(self.run_json("inspect", "z.tfrecord")["count"], 512)

    def test_a_set_is_not_packed_onto_itself(self):
        command = ["pack", "recipe.yaml", "x", "--stages", "1", "--shards", "3"]
        self.run_stoker(*command)
        before = self.listing("*x*")
        self.assert_fails(["pack", "x@3.stoker", "x", "--shards", "3", "--overwrite"], 1,
                          "x-00000-of-00003.stoker: is read by this pipeline; give another name")
        self.assertEqual(self.listing("*x*"), before)

    def test_a_name_that_is_not_utf_8_is_packed_and_reported(self):
        packed = self.run_json("pack", "recipe.yaml", "o\udcff", "--stages", "1")
        self.assertEqual(packed["files"][0]["file"], "o\ufffd.stoker")
        self.assertEqual(self.run_json("inspect", "o\udcff.stoker")["count"], 512)
        self.run_stoker("pack", "o\udcff.stoker", "p", "--shards", "2", "--verify")

    def test_wrong_requests_say_what_to_do(self):
        self.write("a.npy", b"\x93NUMPY\1\0")
        for arguments, says in [
                (["a.npy", "x"], ["a.npy: this is", "npy: {fields: {x: a.npy}}"]),
                (["recipe.yaml", "x", "--stages", "7"], ["--stages 7: data.train has 6 stages"]),
                (["data", "x", "--stages", "1"], ["--of, --stages and --set are for recipes"]),
                (["recipe.yaml", "x", "--stages", "1", "--format", "stocker"], ["did you mean 'stoker'?"]),
                (["recipe.yaml", "x.zip", "--stages", "1"], ["x.zip: '.zip' is not packed to; formats: stoker, tfrecord"]),
                (["recipe.yaml", "x.npy", "--stages", "1"], ["x.npy: arrays are packed into a directory"]),
                (["recipe.yaml", "/dev/full", "--stages", "1"], ["/dev/full: is a device or a pipe"]),
                (["recipe.yaml", "x", "--stages", "1", "--shards", "513"], ["512 elements", "513 files"]),
                (["recipe.yaml", "x", "--stages", "2", "--set", "data.train.1=repeat"], ["no end", "repeat", "--stages"])]:
            with self.subTest(arguments=arguments):
                self.assert_fails(["pack", *arguments], 2, *says)
        self.assertEqual(self.listing("*x*.stoker"), {})
        self.assert_fails(["pack", "recipe.yaml", "missing/x", "--stages", "1"], 1, "missing: there is no such directory")

    def test_what_is_there_stays_unless_it_is_to_be_replaced(self):
        self.run_stoker("pack", "recipe.yaml", "x", "--stages", "1")
        before = self.read("x.stoker")
        self.assert_fails(["pack", "recipe.yaml", "x", "--stages", "3"], 1, "x.stoker: is there already", "--overwrite")
        self.assertEqual(self.read("x.stoker"), before)
        self.run_stoker("pack", "recipe.yaml", "x", "--stages", "3", "--overwrite")
        self.assertNotEqual(self.read("x.stoker"), before)

    def test_a_folder_with_files_of_ones_own_survives_overwrite(self):
        os.makedirs(self.path("folder"))
        for name in ("folder/own.yaml", "folder/notes.txt"):
            self.write(name, "data: {train: [range: 9]}\n")
        before = self.listing("*folder*")
        for recipe in ("recipe.yaml", "folder/own.yaml"):
            self.assert_fails(["pack", recipe, "folder", "--stages", "1", "--format", "npy", "--overwrite"], 1, "folder: ")
            self.assertEqual(self.listing("*folder*"), before)
        self.assert_fails(["pack", "recipe.yaml", "recipe.yaml", "--stages", "1", "--format", "npy", "--overwrite"], 1,
                          "recipe.yaml: is read by this pipeline")
        self.run_stoker("pack", "recipe.yaml", "mine", "--stages", "1", "--format", "lmdb")
        self.write("mine.lmdb/notes.txt", "mine")
        before = self.listing("*mine*")
        self.assert_fails(["pack", "recipe.yaml", "mine.lmdb", "--stages", "1", "--overwrite"], 1, "mine.lmdb: ", "'notes.txt'")
        self.assertEqual(self.listing("*mine*"), before)

    def test_what_differs_from_an_interrupted_packing_is_named(self):
        self.write("long.yaml", "data: {train: [range: 2000000000]}\n")
        process = self.start("pack", "long.yaml", "x", "--shards", "99999")
        while not glob.glob(self.path("x-00002-*")):
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assert_fails(["pack", "long.yaml", "x", "--shards", "99998", "--seed", "3"], 1,
                          "(--seed 3, before 0; --shards 99998, before 99999)")

    def test_a_pipeline_that_gives_nothing_is_warned_of(self):
        self.write("none.yaml", "data: {train: [range: 9, skip: 9]}\n")
        out, err = self.run_stoker("pack", "none.yaml", "x")
        self.assertIn("0 elements", out)
        self.assertIn("stoker: warning: x.stoker: the pipeline gives no element", err)

    def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(self):
        rng = random.Random(17)
        kills = 0
        for kind, attempts in [("stoker", 5), ("tar", 3), ("lmdb", 3), ("tfrecord", 2)]:
            name = f"x-{kind}"
            command = ["pack", "recipe.yaml", name, "--set", "data.train.0.idx={images: train-images, labels: train-labels}",
                       "--stages", "4", "--shards", "60", "--format", kind]
            begin = time.monotonic()
            self.run_stoker(*command)
            took = time.monotonic() - begin
            wanted = self.listing(f"{name}*")
            self.assertEqual(len(wanted), 61 if kind == "tfrecord" else 60)
            for attempt in range(attempts):
                with self.subTest(format=kind, attempt=attempt):
                    for file in glob.glob(self.path(f"{name}*")):
                        shutil.rmtree(file) if os.path.isdir(file) else os.remove(file)
                    process = self.start(*command)
                    time.sleep(rng.random() * took)
                    process.send_signal(signal.SIGKILL)
                    process.communicate()
                    kills += process.returncode == -signal.SIGKILL
                    for file, content in self.listing(f"{name}*").items():
                        self.assertEqual(content, wanted[file], "what has its name is whole")
                    self.run_stoker(*command)
                    self.assertEqual(self.listing(f"*{name}*"), wanted, "nothing else is left")
        self.assertGreater(kills, 0)

    def test_what_is_damaged_is_listed_with_its_bytes_and_records(self):
        self.run_stoker("pack", "recipe.yaml", "x", "--stages", "2")
        self.run_stoker("pack", "x.stoker", "x.tfrecord")
        self.write("list.csv", "a,b\n1,2\n")
        found = self.run_json("verify", "x.stoker", "x.tfrecord", "data/train-images.gz", "list.csv", "recipe.yaml")
        self.assertEqual([file["whole"] for file in found["files"]], [True] * 5)
        self.assertEqual([file.get("count") for file in found["files"][:2]], [512, 512])
        record = bytearray(self.read("x.tfrecord"))
        frame = len(record) // 512
        for number, byte in [(3, 100), (7, 2), (511, 100)]:  # data, a length, data
            record[frame * number + byte] ^= 1
        self.write("x.tfrecord", bytes(record))
        shard = bytearray(self.read("x.stoker"))
        shard[1000] ^= 1
        self.write("x.stoker", bytes(shard))
        self.write("data/train-images.gz", self.read("data/train-images.gz")[:-1])
        out, err = self.run_stoker("verify", "x.stoker", "x.tfrecord", "data/train-images.gz", "list.csv", "--json", expect=1)
        self.assertIn("stoker: error: 3 of 4 files are not whole", err)
        shard, record, images, _ = json.loads(out)["files"]
        self.assertEqual([(d["begin"], d["first_record"], d["records"]) for d in shard["damages"]], [(0, 0, 512)])
        self.assertEqual([(d["begin"], d.get("first_record"), d.get("records_before")) for d in record["damages"]],
                         [(frame * 3, 3, None), (frame * 7, None, 7), (frame * 511, 510, None)])
        self.assertIn("data/train-images.gz", images["error"])
        self.assert_fails(["verify", "nothing.stoker"], 1, "the file could not be read")

    def test_a_signal_ends_it_with_what_is_whole(self):
        self.write("long.yaml", "data: {train: [range: 2000000000]}\n")
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(signal=number.name):
                process = self.start("pack", "long.yaml", f"x{code}", "--shards", "99999")
                while not glob.glob(self.path(f"x{code}-00002-*")):
                    self.assertIsNone(process.poll(), "ended by itself")
                    time.sleep(0.001)
                process.send_signal(number)
                out, err = process.communicate(timeout=600)
                self.assertEqual(process.returncode, code, out + err)
                self.assertRegex(err, r"stoker: error: stopped with \d+ of 99999 files whole; the same command goes on")
                self.assertEqual(len(glob.glob(self.path(f".x{code}*"))), 1, "the manifest alone")


if __name__ == "__main__":
    unittest.main()

"""Samples in tar and zip archives and in LMDB databases: what others write is read value by value, what we write they read."""
import os
import shutil
import subprocess
import tarfile
import unittest
import zipfile

from other_software import InteropTest
from program import TRAIN_IMAGES, images_and_labels

WRITE_WEBDATASET = """
import json, numpy as np, webdataset as wds
random, want = np.random.default_rng(1), {"key": [], "cls": [], "npy": [], "txt": [], "i": [], "box": []}
for name in ["w-000.tar", "w-001.tar", "w-002.tar.gz"]:
    with wds.TarWriter(name) as writer:
        for i in range(20):
            key, text = f"{name}/part {i % 3}/{i:04}" + "x" * (i * 9), "\u00e9" * i
            array = random.random((3, 1 + i % 4)).astype(np.float32)
            writer.write({"__key__": key, "npy": array, "cls": i, "txt": text, "json": {"i": i, "a": {"box": [i / 3, -i]}, "odd": [text, None]}})
            for field, value in [("key", key), ("cls", i), ("npy", array.tolist()), ("txt", text.encode().decode("latin-1")),
                                 ("i", i), ("box", [i / 3, -i])]:
                want[field].append(value)
want["label"] = want.pop("cls")
want["text"] = want.pop("txt")
print(json.dumps(want))
"""

WRITE_LMDB = """
import json, lmdb, random
random = random.Random(1)
env = lmdb.open("db", map_size=1 << 26, max_dbs=2)
named = env.open_db(b"named")
values = {b"%05d" % i: random.randbytes(random.randrange(3000) if i % 7 else 20000) for i in range(1500)}
with env.begin(write=True) as txn:
    for key in sorted(values, key=lambda _: random.random()): txn.put(key, values[key])
    for i in range(50): txn.put(b"k%d" % i, b"v" * i, db=named)
with env.begin(write=True) as txn:
    for i in range(0, 1500, 3): txn.delete(b"%05d" % i)
    txn.put(b"00001", b"another")
values[b"00001"] = b"another"
env.close()
def want(entries):
    entries = sorted(entries)
    return {"key": [key.decode() for key, _ in entries], "value": [value.decode("latin-1") for _, value in entries]}
print(json.dumps({"main": want([entry for entry in values.items() if int(entry[0]) % 3]),
                  "named": want([(b"k%d" % i, b"v" * i) for i in range(50)])}))
"""

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



class ArchivesInteropTest(InteropTest):
    def write_samples(self, count):
        """Files a/.../NUMBER.txt and .cls, their names in names.txt; gives what they are to be read as. From the 20th on the names
        are too long for the header's own field, from the 30th on also for that of ustar."""
        keys = ["/".join(["a"] + ["folder" * 5] * ((i >= 20) * 3 + (i >= 30) * 6) + [f"{i:03}"]) for i in range(count)]
        want = {"key": keys, "label": list(range(count)), "text": ["text %d " % i * i for i in range(count)]}
        for key, label, text in zip(*want.values()):
            self.write(f"{key}.cls", str(label))
            self.write(f"{key}.txt", text)
        self.write("names.txt", "".join(f"{key}.{kind}\n" for key in keys for kind in ("cls", "txt")))
        return want

    def run_tool(self, *command, **options):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_archives_of_gnu_tar_and_python_are_read_whatever_their_form(self):
        for form, count in [("v7", 20), ("ustar", 30), ("oldgnu", 40), ("gnu", 40), ("pax", 40)]:
            want = self.write_samples(count)
            with self.subTest(form=form):
                self.run_tool("tar", f"--format={form}", "-cf", "s.tar", "-T", "names.txt")
                self.assert_values(want, "webdataset: {files: s.tar, fields: [cls, txt], key: true}")
                self.run_tool("tar", f"--format={form}", "--sort=name", "-b", "1", "-czf", "s.tar.gz", "a")
                self.assertEqual(self.run_json("inspect", "s.tar.gz")["fields"]["txt"]["samples"], count)
            if form in ("gnu", "pax"):
                with self.subTest(sparse=form), open(self.path("a/000.txt"), "ab") as file:
                    file.truncate(1 << 20)
                    self.run_tool("tar", f"--format={form}", "--sparse", "-cf", "sparse.tar", "-T", "names.txt")
                    self.assert_fails(["inspect", "sparse.tar"], 1, "'a/000.txt' is stored as a sparse file", "without --sparse")
        for form in ["USTAR", "GNU", "PAX"]:
            with self.subTest(python=form), tarfile.open(self.path("s.tar"), "w", format=getattr(tarfile, f"{form}_FORMAT")) as archive:
                want = self.write_samples(30 if form == "USTAR" else 40)
                for name in self.read("names.txt").decode().split():
                    archive.add(self.path(name), name)
                archive.close()
                self.assert_values(want, "webdataset: {files: s.tar, fields: [cls, txt], key: true}")

    @unittest.skipUnless(shutil.which("zip"), "Info-ZIP is not there; ./dev setup --interop installs it")
    def test_archives_of_info_zip_and_python_are_read_whatever_their_form(self):
        want = self.write_samples(40)
        names = self.read("names.txt")
        for options in [["-q"], ["-q", "-0"], ["-q", "-fz"], ["-q", "-X", "-9"]]:
            with self.subTest(options=options):
                self.run_tool("zip", *options, "s.zip", "-@", input=names)
                self.assert_values(want, "zip_archive: {files: s.zip, fields: [cls, txt], key: true}")
                os.remove(self.path("s.zip"))
        with self.subTest(options="written as a stream"):
            self.write("s.zip", self.run_tool("zip", "-q", "-", "-@", input=names))
            self.assert_values(want, "zip_archive: {files: s.zip, fields: [cls, txt], key: true}")
        with self.subTest(python="stored and deflated in turn, with room for sizes of 64 bits, and a comment"):
            with zipfile.ZipFile(self.path("s.zip"), "w") as archive:
                archive.comment = b"a comment"
                for number, name in enumerate(names.decode().split()):
                    info = zipfile.ZipInfo(name)
                    info.compress_type = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
                    with archive.open(info, "w", force_zip64=number % 3 == 0) as member:
                        member.write(self.read(name))
            self.assert_values(want, "zip_archive: {files: s.zip, fields: [cls, txt], key: true}")

    def test_samples_of_webdataset_are_read_by_their_extensions(self):
        want = self.run_other(WRITE_WEBDATASET)
        self.assert_values(want, 'webdataset: {files: "w-*.tar*", fields: [cls, txt, npy, json], key: true}',
                           "decode_npy: {field: npy, shape: [3, -1]}",
                           "decode_json: {fields: {i: int64, box: {path: a.box, type: float64, shape: [2]}}}")

    def test_databases_of_lmdb_are_read_in_the_order_of_their_keys(self):
        want = self.run_other(WRITE_LMDB)
        self.assert_values(want["main"], "lmdb: {path: db, key: true, prefix: \"0\"}")
        self.assert_values(want["named"], "lmdb: {path: db/data.mdb, database: named, key: true}")
        found = self.run_json("inspect", "db/data.mdb")
        self.assertEqual((found["format"], found["count"], found["fields"]["value"]["largest"]), ("lmdb", 1000, 20000))

    def test_webdataset_and_lmdb_read_what_is_packed(self):
        self.run_stoker("pack", "recipe.yaml", "w", "--stages", "1", "--format", "tar", "--shards", "2")
        self.run_stoker("pack", "recipe.yaml", "d", "--stages", "1", "--format", "lmdb")
        found = self.run_other(READ_PACKED_SAMPLES)
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

if __name__ == "__main__":
    unittest.main()

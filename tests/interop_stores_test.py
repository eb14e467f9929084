"""The servers of remote_stores_test.py answer as their clients expect: gcsfs and fsspec list and read from them what Stoker does."""
import hashlib
import os
import random
import unittest
import unittest.mock

from gcs_server import GcsServer
from other_software import InteropTest, has
from webhdfs_server import Cluster

# What a file system of fsspec finds below a folder and in its files, each read whole and in a part.
LOOK = """
import hashlib, json
found = {}
for path in sorted(store.find(ROOT)):
    whole = store.cat_file(path)
    with store.open(path, "rb", block_size=2**16, cache_type="readahead") as file:
        file.seek(len(whole) // 3)
        part = file.read(1000)
    assert part == whole[len(whole) // 3:][:1000], path
    assert store.info(path)["size"] == len(whole), path
    found[path[len(ROOT) + 1:]] = hashlib.sha256(whole).hexdigest()
print(json.dumps([found, sorted(name.rstrip("/").rsplit("/", 1)[1] for name in store.ls(ROOT, detail=False))]))
"""


class StoresInteropTest(InteropTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(20261123)
        self.files = {name: rng.randbytes(size) for name, size in
                      (("a.bin", 200_000), ("b c+%.bin", 70_000), ("deep/er/d.bin", 1), ("deep/e.bin", 65536), ("\u00e9.bin", 100))}
        for i in range(12):  # more than a page has
            self.files[f"deep/many-{i:02}.bin"] = rng.randbytes(10 * i + 1)
        self.sums = {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}

    def check(self, store, root, environment):
        """The file system `store` of fsspec and Stoker find the same below `root`."""
        folder = root.split("://")[1]
        folder = folder[folder.index("/"):] if root.startswith("webhdfs") else folder
        sums, names = self.run_other(f"{store}\nROOT = {folder!r}\n{LOOK}")
        self.assertEqual(sums, self.sums)
        self.assertEqual(names, sorted({name.split("/")[0] for name in self.files}))
        with unittest.mock.patch.dict(os.environ, {"no_proxy": "127.0.0.1", "HOME": self.folder, **environment}):
            values = self.values_of(f"files: {{path: ['{root}/*.bin', '{root}/deep/*.bin', '{root}/deep/*/*.bin'], read: true}}")
        read = [hashlib.sha256(content.encode("latin-1")).hexdigest() for content in values["bytes"]]
        self.assertEqual(sorted(read), sorted(self.sums.values()))

    @unittest.skipUnless(has("gcsfs"), "gcsfs is not there; ./dev setup --interop installs it")
    def test_gcsfs_and_stoker_read_the_same_from_one_server(self):
        server = GcsServer({("bucket", "data/" + name): content for name, content in self.files.items()})
        self.addCleanup(server.close)
        self.check("import os\nos.environ['GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT'] = 'false'\n"  # else it asks for the kind of bucket over gRPC
                   f"from gcsfs.core import GCSFileSystem\nstore = GCSFileSystem(endpoint_url={server.address!r}, token='anon')", "gs://bucket/data",
                   {"STORAGE_EMULATOR_HOST": server.address, "GOOGLE_OAUTH_ACCESS_TOKEN": ""})

    @unittest.skipUnless(has("fsspec") and has("requests"), "fsspec is not there; ./dev setup --interop installs it")
    def test_fsspec_and_stoker_read_the_same_from_one_webhdfs(self):
        cluster = Cluster({"data/" + name: content for name, content in self.files.items()})
        self.addCleanup(cluster.close)
        host, port = cluster.host.split(":")
        self.check(f"import fsspec\nstore = fsspec.filesystem('webhdfs', host={host!r}, port={port}, user='me')",
                   f"webhdfs://{cluster.host}/data", {"HADOOP_USER_NAME": "me", "WEBHDFS_DELEGATION_TOKEN": ""})


if __name__ == "__main__":
    unittest.main()

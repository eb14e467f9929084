"""Processes of one machine that train on shards of a store share its cache: each byte is fetched once."""
import collections
import io
import random
import tarfile
import unittest

from distributed_test import DistributedBase
from program import SIDE, image, png
from remote_faults_test import FIRST
from starved_test import SlowS3

SHARDS, SAMPLES = 4, 24


def shard(first):
    out, rng = io.BytesIO(), random.Random(first)
    with tarfile.open(fileobj=out, mode="w") as archive:
        for i in range(first, first + SAMPLES):
            picture, text = png(image(i % 4, rng), SIDE, SIDE), rng.randbytes(20000).hex().encode()
            for extension, data in (("png", picture), ("cls", b"%d" % (i % 4)), ("txt", text)):
                member = tarfile.TarInfo(f"{i:05}.{extension}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


class SharedCacheTest(SlowS3, DistributedBase):
    RECIPE = """\
data:
  root: s3://bucket
  train: [webdataset: {files: '*.tar', fields: [png, cls]}, shuffle, decode: {field: png, channels: grey}, resize: {field: png, size: 14}, cast: {field: png}, batch: 16]
model: {mlp: {classes: 4, hidden: [8]}}
train: {input: png, target: cls, epochs: 3, device: cpu, threads: 1, tune: "off"}
"""

    def setUp(self):
        super().setUp()
        self.latency = 0
        self.objects = {f"{i}.tar": shard(i * SAMPLES) for i in range(SHARDS)}
        self.fetched = collections.Counter()

    def what(self, request):
        answer = super().what(request)
        key = request.path.split("?")[0].removeprefix("/bucket/")
        if request.command == "GET" and key in self.objects:
            with self.server.lock:
                self.fetched[key] += len(answer.body)
        return answer

    def test_ranks_fetch_indexed_shards_once(self):
        self.launch("train", "slow.yaml", "--set", "data.train.webdataset.index=memory", "--run", "run", ranks=3,
                    environment=self.environment)
        # Each rank reads the first samples of the first shard by itself, to learn what fields there are, and asks each shard
        # for its first bytes, with which it learns its size.
        self.assertGreaterEqual(self.fetched.pop("0.tar"), len(self.objects["0.tar"]))
        for key, fetched in self.fetched.items():
            self.assertGreaterEqual(fetched, len(self.objects[key]))
            self.assertLessEqual(fetched, len(self.objects[key]) + 2 * FIRST)


if __name__ == "__main__":
    unittest.main()

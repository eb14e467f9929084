"""Training whose data come slowly: the feed asks for as much at once as it takes, and the run says what it waits for."""
import json
import random
import re
import threading
import time
import urllib.parse
import unittest

from program import SIDE, image, png
from remote_faults_test import Answer, RemoteFaults, part_of

CLASSES = ["north-east", "north-west", "south-east", "south-west"]
PICTURES = 240
LATENCY = 0.02  # seconds


class SlowS3(RemoteFaults):
    """Pictures in a bucket of a server that takes 20 ms for each answer, however many it is asked for."""

    RECIPE = """\
data:
  root: s3://bucket
  train: [folder: pictures, shuffle, decode: {channels: grey}, resize: 14, normalize: {mean: 0.2, std: 0.3}, batch: 16]
model: {mlp: {classes: 4, hidden: [8]}}
train: {epochs: 4, device: cpu, threads: 1, tune: "off", log_every: 5}
"""

    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        self.objects = {f"pictures/{CLASSES[i % 4]}/{i:05}.png": png(image(i % 4, rng), SIDE, SIDE) for i in range(PICTURES)}
        self.at_once = self.most_at_once = 0
        self.latency = LATENCY
        endpoint = self.serve(self.answer)
        self.environment = {**self.variables, "AWS_ENDPOINT_URL_S3": endpoint, "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
                            "AWS_SECRET_ACCESS_KEY": self.SECRET}
        self.write("slow.yaml", self.RECIPE)

    def answer(self, request, _):
        with self.server.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(self.latency)
            return self.what(request)
        finally:
            with self.server.lock:
                self.at_once -= 1

    def what(self, request):
        url = urllib.parse.urlsplit(request.path)
        key = urllib.parse.unquote(url.path.removeprefix("/bucket").removeprefix("/"))
        if key:
            return part_of(self.objects[key], request) if key in self.objects else Answer(404)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        names = [name for name in sorted(self.objects) if name.startswith(query["prefix"])]
        listed = "".join(f"<Contents><Key>{urllib.parse.quote(name)}</Key><Size>{len(self.objects[name])}</Size>"
                         '<ETag>"v1"</ETag></Contents>' for name in names)
        return Answer(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>".encode())


class SlowServerTest(SlowS3):
    def test_training_asks_a_slow_server_for_as_much_at_once_as_bench_does(self):
        self.run_stoker("bench", "slow.yaml", "--epochs", "4", environment=self.environment)
        bench, self.most_at_once = self.most_at_once, 0
        self.run_stoker("train", "slow.yaml", "--run", "run", environment=self.environment)
        print(f"at once: bench {bench}, train {self.most_at_once}")
        self.assertGreaterEqual(self.most_at_once, 16)
        self.assertGreaterEqual(self.most_at_once, bench // 2)

    def test_a_starved_run_says_so_with_the_share_the_stage_and_what_to_try(self):
        self.latency = 0.1
        out, _ = self.run_stoker("train", "slow.yaml", "--run", "run", "--set", "train.feed_threads=1", "--set", "train.epochs=1",
                                 environment=self.environment)
        sentence = r"(\d+)% of the time went into waiting for data, most of all for `folder` \(1 thread spent \d+% of the time in it"
        for what in (out, self.run_stoker("inspect", "run")[0], self.run_stoker("plot", "run")[0]):
            self.assertRegex(what, sentence)
            self.assertGreater(int(re.search(sentence, what).group(1)), 5)
            self.assertIn("try: leave train.feed_threads out", what)
            self.assertIn("`stoker pack`", what)
            self.assertNotIn("data.remote.cache", what)  # which keeps no files that are read one by one
        self.assertRegex(out, r"waits \d+% for `folder`")  # the lines of progress
        summary = json.loads(self.read("run/summary.json"))
        self.assertEqual(summary["starved"]["stage"], "folder")
        self.assertEqual(summary["starved"]["waited"], summary["waited"])

    def test_a_run_that_has_its_data_says_nothing_of_them(self):
        # A step computes a hundred times as long as its batch takes, so the data are there on a busy machine too.
        out, _ = self.run_stoker("train", "recipe.yaml", "--run", "fed", "--set", "train.epochs=2",
                                 "--set", "model={mlp: {classes: 4, hidden: [1024, 1024]}}")
        summary = json.loads(self.read("fed/summary.json"))
        self.assertLess(summary["waited"], 0.05)
        self.assertIsNone(summary["starved"])
        for what in (out, self.run_stoker("inspect", "fed")[0]):
            self.assertNotRegex(what, "waiting for data|waits|try:")


class RunningRunTest(SlowS3):
    def progress(self, run):
        try:
            return json.loads(self.read(f"{run}/progress.json"))
        except FileNotFoundError:
            return {"step": 0}

    def test_inspect_of_a_run_tells_whether_it_trains_and_how_far_it_is(self):
        process = self.start("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=1000000", "--set", "train.log_every=1")
        while self.progress("run")["step"] < 10:
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.02)
        out, _ = self.run_stoker("inspect", "run")
        self.assertRegex(out, r"run: run, training: step [\d,]+ of 16,000,000\n")
        for row in (r"  rate +[\d,.]+ images/s\n", r"  time left +.+ of training\n", r"  last losses +\d\.\d{4} \(step \d+\), .*\n",
                    r"  last heard of +.+ ago\n"):
            self.assertRegex(out, row)
        running = self.run_json("inspect", "run")
        self.assertEqual(running["state"], "training")
        self.assertEqual(len(running["losses"]), 5)
        self.assertGreaterEqual(running["progress"]["step"], 10)
        process.kill()
        process.communicate()
        out, _ = self.run_stoker("inspect", "run")
        self.assertRegex(out, r"run: run, not finished, and no process trains in it; it had come to step [\d,]+ of 16,000,000\n")
        self.assertEqual(self.run_json("inspect", "run")["state"], "stopped")

    def test_a_run_that_waits_for_its_first_batch_is_seen_to_train(self):
        self.latency = 0.3
        process = self.start("train", "slow.yaml", "--run", "run", "--set", "train.feed_threads=1", "--set", "train.lint=false",
                             "--set", "train.sanity=false", environment=self.environment)
        while not self.progress("run").get("total_steps"):
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.02)
        self.assertEqual(self.run_json("inspect", "run")["state"], "training")
        process.kill()
        process.communicate()


if __name__ == "__main__":
    unittest.main()

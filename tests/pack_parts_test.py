"""stoker pack --part and --merge: parts made anywhere, in any order, killed and again, are the bytes of one process."""
import gzip
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest

from format_files import example, int64s, tfrecord
from program import STOKER, ProgramTest, png

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


class PackPartsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for folder in ("one", "parts"):
            os.makedirs(self.path(folder))
        self.made_of = ["recipe.yaml", "--set", "data.train.0.idx={images: train-images, labels: train-labels}", "--stages", "4"]

    def words(self, destination, *more):
        recipe, *options = self.made_of
        return ["pack", recipe, destination, *options, *more]

    def contents(self, folder):
        """Names and bytes of all files, hidden ones and those in directories too."""
        found = {}
        for directory, _, names in os.walk(self.path(folder)):
            for name in names:
                path = os.path.join(directory, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.path(folder))] = file.read()
        return found

    def test_parts_in_any_order_are_the_files_of_one_process_and_its_record(self):
        for kind in ("stoker", "tfrecord", "tar", "lmdb", "npy"):
            with self.subTest(format=kind):
                shards = ["--shards", "7", "--format", kind]
                self.run_stoker(*self.words(f"one/{kind}", *shards))
                order = [1, 2, 3, 4]
                random.Random(kind).shuffle(order)
                for number in order + order[:1]:
                    out, _ = self.run_stoker(*self.words(f"parts/{kind}", *shards, "--part", f"{number}/4", "--threads", str(1 + number % 2)))
                    self.assertIn(f"part {number}/4; when all are there: stoker pack --merge parts/{kind}", out)
                merged = self.run_json("pack", "--merge", f"parts/{kind}", "--format", kind, "--verify")
                self.assertEqual((merged["parts"], merged["elements"], len(merged["files"]), merged["verified"]), (4, 512, 7, True))
                self.assertEqual(self.contents("parts"), self.contents("one"))
                again = self.run_json("pack", "--merge", f"parts/{kind}", "--format", kind)
                self.assertEqual((again["merged_before"], again["elements"]), (True, 512))
                # As after any packing the same commands find nothing to do: of one process, and of a part that comes late.
                for more in ([], ["--part", "3/4"]):
                    files = self.run_json(*self.words(f"parts/{kind}", *shards, *more))["files"]
                    self.assertEqual({file["kept"] for file in files}, {True})
                self.assertEqual(self.contents("parts"), self.contents("one"))

    def test_killed_at_any_moment_a_part_goes_on_to_the_same_bytes(self):
        rng = random.Random(23)
        shards = ["--shards", "60"]
        begin = time.monotonic()
        self.run_stoker(*self.words("one/x", *shards))
        took = time.monotonic() - begin
        kills = 0
        for number in range(1, 4):
            for _ in range(6):
                process = self.start(*self.words("parts/x", *shards, "--part", f"{number}/3"))
                time.sleep(rng.random() * took)
                process.send_signal(signal.SIGKILL)
                process.communicate()
                kills += process.returncode == -signal.SIGKILL
        self.assertGreater(kills, 0)
        # While a part is not whole, or is missing, nothing is merged.
        before = self.contents("parts")
        missing = [number for number in range(1, 4) if f".x.stoker.part-{number:05}-of-00003.stoker-pack" not in before]
        if missing:
            self.assert_fails(["pack", "--merge", "parts/x"], 1, "not there")
        for number in (3, 1, 2):
            self.run_stoker(*self.words("parts/x", *shards, "--part", f"{number}/3"))
        self.run_stoker("pack", "--merge", "parts/x", "--verify")
        self.assertEqual(self.contents("parts"), self.contents("one"))

    def test_a_part_that_is_not_finished_is_named(self):
        self.write("long.yaml", "data: {train: [range: 2000000000]}\n")
        process = self.start("pack", "long.yaml", "parts/x", "--shards", "99999", "--part", "1/2")
        while not any(name.startswith("x-00002-") for name in os.listdir(self.path("parts"))):
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 143, err)
        self.assertRegex(err, r"stopped with \d+ of 49999 files whole; the same command goes on from there")
        shutil.copy(self.path("parts/.x.stoker.part-00001-of-00002.stoker-pack"), self.path("parts/.x.stoker.part-00002-of-00002.stoker-pack"))
        self.assert_fails(["pack", "--merge", "parts/x"], 1, "part 1/2 is not finished", "of its 49999 files are whole")

    def test_two_processes_that_make_the_same_part_at_once_both_succeed(self):
        shards = ["--shards", "40"]
        self.run_stoker(*self.words("one/x", *shards))
        processes = [self.start(*self.words("parts/x", *shards, "--part", f"{number}/2")) for number in (1, 2, 1, 2, 1)]
        for process in processes:
            out, err = process.communicate()
            self.assertEqual(process.returncode, 0, out + err)
        self.run_stoker("pack", "--merge", "parts/x", "--verify")
        self.assertEqual(self.contents("parts"), self.contents("one"))

    def test_what_killed_processes_left_goes_with_the_part_that_it_is_of(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        mark = f"tmp-{gone.pid}-0123abcd"
        # A file, one that was being made aside, one of another part, and one of another packing.
        left = [f".x-00000-of-00004.stoker.{mark}", f"..x-00001-of-00004.stoker.{mark}.{mark}", f".x-00003-of-00004.stoker.{mark}", f".y.stoker.{mark}"]
        for name in left:
            self.write(f"parts/{name}", "begun")
        there = lambda: sorted(set(left) & set(os.listdir(self.path("parts"))))
        for number, stay in [(1, left[2:]), (2, left[3:])]:
            self.run_stoker(*self.words("parts/x", "--shards", "4", "--part", f"{number}/2"))
            self.assertEqual(there(), sorted(stay))
        self.run_stoker("pack", "--merge", "parts/x")
        self.assertEqual(there(), left[3:])

    def test_parts_of_other_data_or_options_are_not_merged(self):
        shards = ["--shards", "4"]
        self.run_stoker(*self.words("parts/x", *shards, "--part", "1/2"))
        for change, says in [(["--seed", "3"], "--seed 3, there 0"), (["--set", "data.train.3.normalize.mean=0.5"], "data.train.3.normalize.mean=0.5")]:
            self.run_stoker(*self.words("parts/x", *shards, "--part", "2/2", *change, "--overwrite"))
            self.assert_fails(["pack", "--merge", "parts/x"], 1, "part 2/2 is of other data or has other options than part 1/2", says)
        # The same command over changed data.
        self.run_stoker(*self.words("parts/x", *shards, "--part", "2/2", "--overwrite"))
        labels = self.path("data/train-labels")
        os.utime(labels, (1, 1))
        self.run_stoker(*self.words("parts/x", *shards, "--part", "2/2", "--overwrite"))
        self.assert_fails(["pack", "--merge", "parts/x"], 1, "part 2/2 is of other data", "train-labels")
        self.run_stoker(*self.words("parts/x", *shards, "--part", "1/2", "--overwrite"))
        self.run_stoker("pack", "--merge", "parts/x")

    def test_parts_that_were_made_elsewhere_are_brought_together(self):
        shards = ["--shards", "5"]
        self.run_stoker(*self.words("one/x", *shards))
        for number in (1, 2, 3):
            os.makedirs(self.path(f"machine-{number}"))
            self.run_stoker(*self.words(f"machine-{number}/x", *shards, "--part", f"{number}/3"))
        self.assert_fails(["pack", "--merge", "machine-2/x"], 1, "of its 3 parts 2 are not there: 1 and 3", "--part 1/3")
        for number in (1, 2, 3):
            shutil.copytree(self.path(f"machine-{number}"), self.path("parts"), dirs_exist_ok=True)
        self.run_stoker("pack", "--merge", "parts/x", "--verify")
        self.assertEqual(self.contents("parts"), self.contents("one"))

    def test_pictures_keep_the_names_of_their_classes(self):
        for number in range(9):
            self.write(f"pictures/{'cat' if number % 2 else 'dog'}/{number}.png", png(bytes([number]) * 16, 4, 4))
        self.made_of = ["pictures", "--shuffle", "--seed", "4"]
        for kind in ("stoker", "tfrecord"):
            self.run_stoker(*self.words("one/p", "--shards", "3", "--format", kind))
            for number in (2, 1):
                self.run_stoker(*self.words("parts/p", "--shards", "3", "--format", kind, "--part", f"{number}/2", "--verify"))
            self.run_stoker("pack", "--merge", "parts/p", "--format", kind)
        self.assertEqual(self.contents("parts"), self.contents("one"))
        self.assertEqual(self.read("parts/p.tfrecord.classes.txt"), b"cat\ndog\n")

    def test_wrong_usage_says_what_to_do(self):
        for words, says in [
                (self.words("x", "--part", "0/2", "--shards", "4"), ["--part 0/2: is no part", "K/N"]),
                (self.words("x", "--part", "3/2", "--shards", "4"), ["--part 3/2: is no part"]),
                (self.words("x", "--part", "1/5", "--shards", "4"), ["4 files cannot be shared out among 5 parts", "--shards 5 or more"]),
                (self.words("x", "--part", "1/2"), ["one file cannot be shared out among 2 parts"]),
                (["pack", "--merge", "recipe.yaml", "x"], ["--merge takes DEST alone", "leave recipe.yaml out"]),
                (["pack", "--merge", "x", "--part", "1/2"], ["--merge", "--part"]),
                (["pack", "--merge", "x", "--shards", "2"], ["--merge", "--shards"]),
                (["pack", "recipe.yaml"], ["DEST is required"]),
                (["pack"], ["SOURCE is required"])]:
            with self.subTest(words=words):
                self.assert_fails(words, 2, *says)
        self.assert_fails(["pack", "--merge", "x"], 1, "x.stoker: no part of it is there", "stoker pack SOURCE x.stoker --shards N --part K/M")
        self.assert_fails(["pack", "--merge", "nowhere/x"], 1, "nowhere: there is no such directory")

    def test_a_stream_is_told_that_its_parts_read_what_comes_before_them(self):
        self.write("a.tfrecord.gz", gzip.compress(tfrecord(*(example("label", int64s(number)) for number in range(30)))))
        self.write("stream.yaml", "data: {train: [tfrecord: a.tfrecord.gz, repeat, take: 40]}\n")
        self.made_of = ["stream.yaml"]
        self.run_stoker(*self.words("one/x", "--shards", "4"))
        for number in (2, 1):
            _, err = self.run_stoker(*self.words("parts/x", "--shards", "4", "--part", f"{number}/2"))
            self.assertEqual("is not read by position, so part 2/2 reads what comes before" in err, number == 2, err)
        self.run_stoker("pack", "--merge", "parts/x", "--verify")
        self.assertEqual(self.contents("parts"), self.contents("one"))

    def slurm_task(self, number, parts, *more):
        """The script as Slurm runs it: in a task of an array."""
        folder = os.path.dirname(os.path.abspath(STOKER))
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", PARTS=str(parts), SLURM_ARRAY_TASK_ID=str(number))
        return subprocess.run(["bash", str(EXAMPLES / "slurm/pack_array.sh"), "recipe.yaml", *more], cwd=self.folder, env=environment,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def test_the_script_for_a_slurm_array_makes_its_parts(self):
        self.run_stoker("pack", "recipe.yaml", "one/x", "--stages", "4", "--shards", "8")
        for number in (4, 2, 1, 3, 2):
            done = self.slurm_task(number, 4, "parts/x", "8", "--stages", "4")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.run_stoker("pack", "--merge", "parts/x")
        self.assertEqual(self.contents("parts"), self.contents("one"))
        self.assertEqual(self.slurm_task(1, 4).returncode, 2)

    @unittest.skipUnless(shutil.which("sbatch") and shutil.which("sinfo"), "Slurm is not installed")
    def test_slurm_itself_runs_the_array(self):
        self.run_stoker("pack", "recipe.yaml", "one/x", "--stages", "4", "--shards", "8")
        folder = os.path.dirname(os.path.abspath(STOKER))
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", PARTS="4")
        done = subprocess.run(["sbatch", "--wait", "--array=1-4", "--cpus-per-task=1", "--export=ALL", str(EXAMPLES / "slurm/pack_array.sh"),
                               "recipe.yaml", "parts/x", "8", "--stages", "4"],
                              cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.run_stoker("pack", "--merge", "parts/x")
        self.assertEqual(self.contents("parts"), self.contents("one"))


if __name__ == "__main__":
    unittest.main()

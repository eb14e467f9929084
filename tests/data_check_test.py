"""What a resumed run notices of data files that were changed meanwhile: train --check-data."""
import gzip
import os

from faults_test import FaultTest
from program import SIDE, idx

# So many that the file has over 64 MiB, of which only places are compared. It is made of holes.
IMAGES = 360_000
BETWEEN_TWO_PLACES = 20_000
SETTINGS = ["--set", "train.max_steps=400", "--set", "train.checkpoint={every_steps: 5, keep: 2}"]


class DataCheckTest(FaultTest):
    def setUp(self):
        super().setUp()
        header = idx(8, [IMAGES, SIDE, SIDE], b"")
        self.write("data/train-images", header)
        os.truncate(self.path("data/train-images"), len(header) + IMAGES * SIDE * SIDE)
        self.write("data/train-labels.gz", gzip.compress(idx(8, [IMAGES], bytes(IMAGES)), mtime=0))

    def begin(self, *arguments):
        """A run that is killed before its end."""
        process = self.start("train", "recipe.yaml", "--run", "run", *SETTINGS, *arguments)
        self.assertTrue(self.wait_for_checkpoint(process, 5), "ended by itself")
        process.kill()
        process.communicate()

    def change(self, byte, later_ns=0):
        """Writes `byte` between two of the places that are compared, at a time that may look like the one before."""
        path = self.path("data/train-images")
        before = os.stat(path)
        with open(path, "r+b") as file:
            file.seek(BETWEEN_TWO_PLACES)
            file.write(byte)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + later_ns))

    def test_a_full_check_refuses_one_changed_byte_of_a_large_file(self):
        self.begin("--check-data", "full")
        self.change(b"x")
        resume = ["train", "--resume", "--run", "run"]
        self.assert_fails([*resume, "--check-data", "full"], 1, "train-images has other content", "--allow-changes")
        # Without the option, too, where the file was written since.
        self.change(b"x", later_ns=10**9)
        self.assert_fails(resume, 1, "train-images has other content")
        self.change(b"\0")
        self.run_stoker(*resume, "--check-data", "full")
        self.run_stoker("train", "recipe.yaml", "--run", "whole", *SETTINGS)
        self.assertEqual(self.read("run/weights.safetensors"), self.read("whole/weights.safetensors"))

    def test_without_it_a_change_between_the_places_is_a_warning(self):
        self.begin()
        self.assert_fails(["train", "--resume", "--run", "run", "--check-data", "full"], 1, "did not begin with --check-data full")
        self.change(b"x", later_ns=10**9)
        _, err = self.run_stoker("train", "--resume", "--run", "run")
        self.assertIn("train-images", err)
        self.assertIn("no change was found in the places looked at", err)

    def test_what_was_allowed_is_what_the_next_full_check_compares_with(self):
        self.begin("--check-data", "full")
        self.change(b"x", later_ns=10**9)
        self.run_stoker("train", "--resume", "--run", "run", "--allow-changes")
        self.run_stoker("train", "--resume", "--run", "run", "--check-data", "full")
        self.change(b"y")
        self.assert_fails(["train", "--resume", "--run", "run", "--check-data", "full"], 1, "train-images has other content")

"""SIGINT and SIGTERM at any moment: the exit code says which, a line says that it was so, and nothing crashes."""
import gzip
import os
import random
import re
import signal
import subprocess
import threading
import time
import unittest

from program import SIDE, STOKER, ProgramTest, idx
from starved_test import SlowS3

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def has_thread_sanitizer():
    with open(STOKER, "rb") as program:
        return b"__tsan_init" in program.read()


class Interrupting(ProgramTest):
    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("STOKER_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}")
        self.rng = random.Random(seed)

    @staticmethod
    def heeds(process, number):
        """Whether the process catches the signal, or holds it for the program that it is about to become."""
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            masks = [int(line.split()[1], 16) for line in status if line.startswith(("SigBlk:", "SigCgt:"))]
        return any(mask >> (number - 1) & 1 for mask in masks)

    def wait_until(self, process, holds):
        while not holds():
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.001)

    def assert_interrupted(self, process, number, code):
        """Sends the signal as soon as the program has begun, or now, and checks how it ends."""
        self.wait_until(process, lambda: self.heeds(process, number))
        process.send_signal(number)
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, code, out + err)
        errors = [line for line in err.splitlines() if line.startswith("stoker: error: stopped ")]
        self.assertEqual(len(errors), 1, err)

    def interrupt_while_a_recipe_is_read(self, *command):
        ends = os.pipe()  # nobody writes to it, so the program waits there
        for end in ends:
            self.addCleanup(os.close, end)
        for number, code in SIGNALS:
            for delay in (0, self.rng.random()):
                with self.subTest(signal=number.name, delay=delay):
                    process = self.start(*command, f"/dev/fd/{ends[0]}", pass_fds=ends[:1])
                    time.sleep(delay)
                    self.assert_interrupted(process, number, code)

    def make_data_that_take_long_to_read(self):
        """A million images, all black: few bytes on the disk, 200 MB to decompress."""
        block, blocks = 5000, 200
        member = gzip.compress(bytes(SIDE * SIDE * block), compresslevel=1)
        self.write("data/train-images", gzip.compress(idx(8, [block * blocks, SIDE, SIDE], b"")) + member * blocks)
        self.write("data/train-labels.gz", gzip.compress(idx(8, [block * blocks], bytes(block * blocks))))

    def has_open(self, process, name):
        folder = f"/proc/{process.pid}/fd"
        try:
            return any(os.readlink(f"{folder}/{fd}").endswith(name) for fd in os.listdir(folder))
        except OSError:  # closed meanwhile
            return False

    def interrupt_while_data_are_read(self, *command):
        self.make_data_that_take_long_to_read()
        for number, code in SIGNALS:
            with self.subTest(signal=number.name):
                process = self.start(*command)
                self.wait_until(process, lambda: self.has_open(process, "train-images"))
                self.assert_interrupted(process, number, code)


class InterruptTest(Interrupting):
    @unittest.skipIf(has_thread_sanitizer(), "ThreadSanitizer runs handlers between calls, and open() of a pipe "
                                             "that nobody writes to is restarted, so it never returns")
    def test_while_the_recipe_is_read(self):
        self.interrupt_while_a_recipe_is_read("bench")

    def test_while_the_data_files_are_read(self):
        self.interrupt_while_data_are_read("bench", "recipe.yaml", "--seconds", "60")

    def test_while_a_pipeline_is_measured(self):
        for number, code in SIGNALS * 2:
            delay = self.rng.random()
            with self.subTest(signal=number.name, delay=delay):
                process = self.start("bench", "recipe.yaml", "--seconds", "60", "--json")
                time.sleep(delay)
                self.assert_interrupted(process, number, code)

    def test_a_signal_that_was_ignored_from_the_start_stays_ignored(self):
        process = self.start("bench", "recipe.yaml", "--seconds", "0.5",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(process.returncode, 0)


class TrainInterruptTest(Interrupting):
    def test_while_libtorch_is_loaded(self):
        for number, code in SIGNALS:
            with self.subTest(signal=number.name):
                self.assert_interrupted(self.start("inspect", "--models"), number, code)

    def test_while_the_recipe_is_read(self):
        self.interrupt_while_a_recipe_is_read("train")

    def test_while_the_data_files_are_read(self):
        self.interrupt_while_data_are_read("train", "recipe.yaml")

    def test_while_a_stage_learns(self):
        self.write("endless.yaml", """\
data:
  train: [range: {stop: 1000000000000, field: x}, cast: {field: x, dtype: float32}, normalize: {field: x, mean: auto}, batch: 32]
model: {mlp: {classes: 3}}
train: {device: cpu, threads: 1}
""")
        for number, code in SIGNALS:
            with self.subTest(signal=number.name):
                process = self.start("train", "endless.yaml", "--run", "run")
                time.sleep(self.rng.random())
                self.assert_interrupted(process, number, code)
                self.assertFalse(os.path.exists(self.path("run")))

    def test_while_the_data_to_predict_from_are_read(self):
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", "--set", "train.max_steps=1")
        self.interrupt_while_data_are_read("predict", "run", "--to", "answers.jsonl",
                                           "--set", "data.eval.idx={images: train-images}")
        self.assertEqual([name for name in os.listdir(self.folder) if "answers" in name], [])

    def test_at_a_random_moment_of_a_training(self):
        for attempt in range(6):
            number, code = self.rng.choice(SIGNALS)
            delay = self.rng.random() * 3
            with self.subTest(signal=number.name, delay=delay):
                process = self.start("train", "recipe.yaml", "--run", f"run-{attempt}", "--set", "train.epochs=100000",
                                     "--set", "train.memory_format=auto", "--set", "train.threads=auto", "--quiet")
                time.sleep(delay)
                self.assert_interrupted(process, number, code)


class StalledReaderTest(Interrupting):
    """Whoever reads standard output or standard error has stopped reading."""

    @staticmethod
    def full_pipe():
        """Both ends of a pipe that takes nothing more."""
        ends = os.pipe()
        os.set_blocking(ends[1], False)
        try:
            while os.write(ends[1], bytes(4096)):
                pass
        except BlockingIOError:
            os.set_blocking(ends[1], True)
        return ends

    def streams(self):
        """Pairs of what standard output and standard error are."""
        full = self.full_pipe()
        for end in full:
            self.addCleanup(os.close, end)
        return ((full[1], subprocess.DEVNULL), (subprocess.DEVNULL, full[1]), (full[1], full[1]))

    def test_a_signal_stores_what_was_trained(self):
        for number, (out, error) in enumerate(self.streams()):
            with self.subTest(streams=number):
                run = f"run-{number}"
                process = self.start("train", "recipe.yaml", "--run", run, "--set", "train.epochs=100000", stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
                self.wait_until(process, lambda: os.path.exists(self.path(f"{run}/checkpoints/step-00000008")))
                process.send_signal(signal.SIGTERM)
                process.wait()
                process = self.start("train", "--resume", "--run", run, stdout=out, stderr=error)
                self.wait_until(process, lambda: self.heeds(process, signal.SIGTERM))
                time.sleep(self.rng.random())
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=60), 143)
                self.run_stoker("inspect", run)

    def test_a_signal_ends_other_commands(self):
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", "--set", "train.max_steps=1")
        for command in (["predict", "run"], ["inspect", "run"], ["pack", "recipe.yaml", "out.stoker", "--stages", "4", "--overwrite"],
                        ["bench", "recipe.yaml", "--seconds", "600"]):
            for number, (out, error) in enumerate(self.streams()):
                with self.subTest(command=command[0], streams=number):
                    process = self.start(*command, stdout=out, stderr=error)
                    time.sleep(self.rng.random())
                    process.send_signal(signal.SIGTERM)
                    # It may have ended by itself, or stood at standard output when it was stopped.
                    self.assertIn(process.wait(timeout=60), (0, 1, 143, -signal.SIGTERM))


class InterruptedBeforeTheFirstStepTest(SlowS3, Interrupting):
    """A new run whose pictures never come, whatever it wants them for before its first step."""

    FOLDER = "pictures"
    TUNED = ["--set", "train.sanity=false", "--set", "train.lint=false", "--set", "train.tune=auto", "--set", "train.epochs=1000000"]

    def answer(self, request, _):
        if f"/{self.FOLDER}/" in request.path:  # the list of them has the name in its query
            self.asked = True
            self.ended.wait(600)
        return self.what(request)

    def setUp(self):
        super().setUp()
        self.ended = threading.Event()
        self.addCleanup(self.ended.set)

    def all_paths(self):
        return sorted(os.path.join(root, name) for root, folders, files in os.walk(self.folder) for name in folders + files)

    def interrupt_when_pictures_are_asked_for(self, *more, names=([], ["--run", "mine"])):
        for name in names:
            for number, code in SIGNALS:
                with self.subTest(signal=number.name, name=name):
                    self.asked = False
                    before = self.all_paths()
                    process = self.start("train", "slow.yaml", *name, *more, environment=self.environment)
                    self.wait_until(process, lambda: self.asked)
                    self.assert_interrupted(process, number, code)
                    self.assertEqual(self.all_paths(), before)

    def test_a_run_whose_first_samples_are_being_tried_leaves_nothing(self):
        self.interrupt_when_pictures_are_asked_for()

    def test_a_run_that_is_being_tuned_leaves_nothing(self):
        self.interrupt_when_pictures_are_asked_for(*self.TUNED)

    def test_the_directories_above_a_run_go_with_it_where_it_made_them(self):
        self.interrupt_when_pictures_are_asked_for(*self.TUNED, names=(["--run", "a/b/mine"], ["--run", "data/a/mine/"]))

    def test_directories_that_were_there_before_a_run_stay_though_they_are_empty(self):
        os.makedirs(self.path("a/mine"))
        os.mkdir(self.path("runs"))
        self.interrupt_when_pictures_are_asked_for(*self.TUNED, names=([], ["--run", "a/mine"], ["--run", "a/b/mine"]))

    def test_a_run_that_waits_for_its_first_batch_stores_step_0_and_can_be_resumed(self):
        process = self.start("train", "slow.yaml", "--run", "mine", "--set", "train.sanity=false", "--set", "train.lint=false",
                             environment=self.environment)
        self.wait_until(process, lambda: os.path.exists(self.path("mine/progress.json")))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("stopped after step 0 of 60; a checkpoint is stored; continue with: stoker train --resume --run mine", err)
        self.ended.set()
        self.run_stoker("train", "slow.yaml", "--resume", "--run", "mine", "--set", "train.sanity=false",
                        "--set", "train.lint=false", environment=self.environment)

    def test_a_run_whose_first_evaluation_is_being_tried_leaves_nothing(self):
        self.objects.update({name.replace("pictures/", "others/"): picture for name, picture in self.objects.items()})
        self.FOLDER = "others"
        train = re.search(r"  train: (\[.*\])\n", self.RECIPE)
        evaluated = train.group(1).replace("folder: pictures, shuffle", "folder: others")
        self.write("slow.yaml", self.RECIPE.replace(train.group(), f"{train.group()}  eval: {evaluated}\n"))
        self.interrupt_when_pictures_are_asked_for("--set", "train.lint=false")


if __name__ == "__main__":
    unittest.main()

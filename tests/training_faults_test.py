"""Runs with every feature on at once, killed or out of space at any moment: resumed, they end with the same bytes."""
import glob
import json
import os
import random
import subprocess
import time

from faults_test import FaultTest
from program import DATA

# All that keeps a state of its own, in memory or on disk, with checkpoints by the step, the clock and the best.
EVERYTHING = DATA.replace("    - shuffle\n", "    - cache: {path: CACHE}\n    - shuffle\n") + """\
model:
  mlp: {classes: 4, hidden: [64], dropout: 0.2}
train:
  epochs: 6
  seed: 1
  device: cpu
  memory_format: contiguous
  threads: 1
  precision: fp16
  accumulate: 2
  log_every: 2
  eval_every_steps: 5
  metrics: [top2, f1]
  on_nonfinite: rollback
  average: {kind: AVERAGE}
  clip: {norm: 1}
  warmup: {epochs: 1}
  schedule:
    plateau: {lr: 0.002, factor: 0.5, patience: 1, threshold: 0.2}
  early_stopping: {metric: loss, patience: 5, min_delta: 0.02}
  checkpoint: {every_steps: 2, every_minutes: 0.0005, keep: 2, best: f1}
  tensorboard: {enabled: true}
  callbacks:
    - log_tensors: {every: 3}
    - stop_at: {step: 45}
"""
AVERAGES = ("ema", "swa, start: 0.3")
# Of lines and summaries: what depends on the clock, or on the memory of a process.
OF_THE_MACHINE = {"images_per_s", "waited", "seconds", "train_seconds", "run", "starved", "peak_rss_bytes",
                  "waited_for_ranks", "exchanged", "slowest_rank", "fastest_rank"}


def without_figures_of_the_machine(value):
    if isinstance(value, dict):
        return {key: without_figures_of_the_machine(each) for key, each in value.items() if key not in OF_THE_MACHINE}
    return value


class EverythingTest(FaultTest):
    def setUp(self):
        super().setUp()
        for number, average in enumerate(AVERAGES):
            self.write(f"every-{number}.yaml", self.recipe(average, f"cache-{number}"))

    def recipe(self, average, cache):
        return EVERYTHING.replace("AVERAGE", average).replace("CACHE", self.path(cache))

    def results_of(self, run):
        """All that must be the same whatever happened on the way."""
        lines = {name: [without_figures_of_the_machine(json.loads(line)) for line in self.read(f"{run}/{name}").splitlines()]
                 for name in ("metrics.jsonl", "tensors.jsonl")}
        return {"weights": self.read(f"{run}/weights.safetensors"), **lines,
                "summary": without_figures_of_the_machine(json.loads(self.read(f"{run}/summary.json")))}

    def assert_same_results(self, run, want):
        found = self.results_of(run)
        for name, value in want.items():
            self.assertEqual(found[name], value, f"{name} of {run}")
        self.assertIn(found["summary"]["best_step"], self.checkpoints(run))
        left = [name for name in glob.glob(self.path(f"{run}/**/.*tmp-*"), recursive=True)]
        self.assertEqual(left, [], "a temporary is still there")

    def arguments_for(self, recipe, run):
        """--resume, or where there was no time to begin a run, the same command again."""
        begun = os.path.exists(self.path(f"{run}/recipe.yaml"))
        return ["train", *(["--resume"] if begun else [recipe]), "--run", run]


class KilledEverythingTest(EverythingTest):
    ATTEMPTS = int(os.environ.get("STOKER_KILLS", "5"))

    def kill_a_process(self, recipe, run, delay, trained=False):
        """After so long, or `trained`: that long after it has stored a step. False where it ended before."""
        process = self.start(*self.arguments_for(recipe, run))
        if trained:
            self.wait_for_checkpoint(process, 1, run)
        time.sleep(delay)
        process.kill()
        process.communicate()
        return process.returncode < 0

    def test_killed_again_and_again_it_ends_with_the_same_bytes(self):
        seed = int(os.environ.get("STOKER_SEED", random.randrange(1 << 32)))
        rng = random.Random(seed)
        for number, _ in enumerate(AVERAGES):
            recipe = f"every-{number}.yaml"
            began = time.monotonic()
            self.run_stoker("train", recipe, "--run", f"whole-{number}")
            longest = time.monotonic() - began
            want = self.results_of(f"whole-{number}")
            print(f"seed {seed}, a run takes {longest:.2f} s, {want['summary']['step']} steps")
            for attempt in range(self.ATTEMPTS):
                run = f"run-{number}-{attempt}"
                if attempt % 2 == 1:
                    os.remove(self.path(f"cache-{number}"))
                delays = [rng.random() * longest for _ in range(3)]
                with self.subTest(seed=seed, run=run, delays=delays):
                    for delay in delays:
                        if not self.kill_a_process(recipe, run, delay, trained=attempt == 0 and delay == delays[0]):
                            break
                    stored = max(self.checkpoints(run), default=0)
                    out, _ = self.run_stoker(*self.arguments_for(recipe, run))
                    if stored > 0:
                        self.assertIn(f"resumed after step {stored} ", out)
                    if attempt == 0:
                        self.assertGreater(stored, 0, "the run was to go on from the middle of its training")
                    self.assert_same_results(run, want)


# Rows of which some cannot be read, which are skipped and logged.
SKIPPING = """\
data:
  train:
    - csv: {files: rows.csv, fields: {image: {columns: [a, b, c, d]}, label: int64}}
      on_error: {policy: skip, share: 1, log: skipped.jsonl}
    - shuffle: {buffer: 32}
    - batch: 8
    - prefetch
model:
  mlp: {classes: 3, hidden: [16]}
train:
  max_steps: 3000
  seed: 1
  device: cpu
  threads: 1
  memory_format: contiguous
  precision: float32
  tune: "off"
  checkpoint: {every_steps: 70}
"""


class SkippedSamplesTest(FaultTest):
    def setUp(self):
        super().setUp()
        rows = [f"{'bad' if i % 37 == 5 else i % 10},{i % 7},{i % 11},{i % 13},{i % 3}" for i in range(400)]
        self.write("rows.csv", "\n".join(["a,b,c,d,label", *rows]) + "\n")
        self.write("skipping.yaml", SKIPPING)

    def test_the_log_of_a_run_that_was_killed_and_resumed_is_that_of_an_undisturbed_one(self):
        self.run_stoker("train", "skipping.yaml", "--run", "whole")
        want = self.read("skipped.jsonl").splitlines()
        self.assertGreater(len(want), 600, "11 of 400 rows in 60 epochs")
        os.remove(self.path("skipped.jsonl"))
        for step in (140, 700):
            begun = os.path.exists(self.path("run/recipe.yaml"))
            process = self.start("train", *(["--resume"] if begun else ["skipping.yaml"]), "--run", "run")
            self.assertTrue(self.wait_for_checkpoint(process, step), "ended by itself")
            process.kill()
            process.communicate()
        out, _ = self.run_stoker("train", "--resume", "--run", "run")
        self.assertIn("resumed after step ", out)
        self.assertEqual(self.read("skipped.jsonl").splitlines(), want)
        self.assertEqual(self.read("run/weights.safetensors"), self.read("whole/weights.safetensors"))


class FullDiskEverythingTest(EverythingTest):
    """A disk of its own, whose size decides when it is full; what happens on it is seen only by the shell that mounts it."""
    SIZES = int(os.environ.get("STOKER_DISKS", "6"))

    def test_out_of_space_at_any_moment_and_resumed_it_ends_with_the_same_bytes(self):
        mount = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "bash", "-euc"]
        os.mkdir(self.path("disk"))
        tried = subprocess.run([*mount, "mount -t tmpfs tmpfs disk"], cwd=self.folder, capture_output=True, check=False)
        if tried.returncode != 0:
            self.skipTest(f"no disk can be mounted here: {tried.stderr.decode().strip()}")
        self.run_stoker("train", "every-0.yaml", "--run", "whole")
        want = self.results_of("whole")
        needed = sum(os.path.getsize(name) for name in glob.glob(self.path("whole/**"), recursive=True))
        needed += os.path.getsize(self.path("cache-0"))
        self.write("disk.yaml", self.recipe(AVERAGES[0], "disk/cache"))
        seed = int(os.environ.get("STOKER_SEED", random.randrange(1 << 32)))
        rng = random.Random(seed)
        sizes = [rng.randrange(4, needed // 1024 + 64) for _ in range(self.SIZES)]
        script = """
            for size in "$@"; do
              mount -t tmpfs -o size=${size}k tmpfs disk
              code=0
              "$STOKER" train disk.yaml --run disk/run >/dev/null 2>full-$size.err || code=$?
              echo $code >full-$size.code
              mount -o remount,size=60m disk
              if [ -e disk/run/recipe.yaml ]; then again="--resume"; else again=disk.yaml; fi
              code=0
              "$STOKER" train $again --run disk/run >/dev/null 2>resumed-$size.err || code=$?
              echo $code >resumed-$size.code
              cp -r disk/run run-$size
              umount disk
            done
            """
        done = subprocess.run([*mount, script, "bash", *map(str, sizes)], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for size in sizes:
            with self.subTest(seed=seed, kilobytes=size, needed=needed // 1024):
                code, said = int(self.read(f"full-{size}.code")), self.read(f"full-{size}.err").decode()
                self.assertIn(code, (0, 1), said)
                if code == 1:
                    errors = [line for line in said.splitlines() if line.startswith("stoker: error: ")]
                    self.assertEqual(len(errors), 1, said)
                    self.assertIn("disk", errors[0])
                    self.assertRegex(errors[0], "space")
                self.assertEqual(self.read(f"resumed-{size}.code"), b"0\n", self.read(f"resumed-{size}.err").decode())
                self.assert_same_results(f"run-{size}", want)


del FaultTest, EverythingTest  # unittest would take them for tests

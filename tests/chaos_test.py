"""A few seeds of `./dev chaos`, and that it finds what it is there to find. tests/chaos/README.md explains the harness."""
import itertools
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

from program import DATA, STOKER, ProgramTest, png

from chaos.judge import lines_of
from chaos.server import Server
from chaos.session import Settings, judge_seed
from chaos.tables import npy_bytes
from chaos.trouble import Disturbance, Trouble

LIBRARY = os.environ["STOKER_CHAOS_LIBRARY"]
# The machine may be busy: a stop that is not heeded takes longer than this, or never comes to an end.
PATIENCE = 60
SEEDS = range(1, 21)


def has_sanitizer():
    with open(STOKER, "rb") as program:
        content = program.read()
    return b"__asan_init" in content or b"__tsan_init" in content


@unittest.skipIf(has_sanitizer(), "a sanitizer's own library must be loaded first, and what it keeps resident says nothing")
class ChaosTest(unittest.TestCase):
    def test_a_fixed_set_of_seeds_gives_the_undisturbed_bytes_or_a_clear_error(self):
        settings = Settings(STOKER, LIBRARY, late=PATIENCE)
        for seed in SEEDS:
            with self.subTest(seed=seed):
                verdict = judge_seed(settings, seed)
                self.assertEqual(verdict.findings, [], f"faults: {verdict.trouble}; ./dev chaos --seed {seed} repeats it")


@unittest.skipIf(has_sanitizer(), "a sanitizer's own library must be loaded first, and what it keeps resident says nothing")
@unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "there is no stoker-train")
class ChaosRanksTest(unittest.TestCase):
    """Trainings in several processes: what is left of one that was disturbed is continued to the undisturbed weights."""

    SEED = 1003  # of a training by two ranks without restarts

    def assert_harmless(self, what, number, rank=None):
        # When the signal comes depends on the machine: earlier where the training has ended before it.
        for share in (0.7, 0.5, 0.35, 0.2, 0.1):
            trouble = Trouble(signals=[Disturbance(number, share, rank=rank)])
            verdict = judge_seed(Settings(STOKER, LIBRARY, late=PATIENCE, only="ranks"), self.SEED, trouble)
            self.assertEqual((verdict.case.ranks, verdict.case.restarts), (2, 0), "choose another seed")
            self.assertEqual(verdict.findings, [], verdict.outcomes)
            if verdict.happened[what] > 0:
                return
        self.fail(f"{what}: the training always ended before")

    def test_a_thread_that_a_rank_cannot_start_is_an_error_that_leaves_the_run_whole(self):
        happened = 0
        for call in range(1, 9):
            with self.subTest(call=call):
                trouble = Trouble(rules=[f"thread:EAGAIN:{call}:1"])
                verdict = judge_seed(Settings(STOKER, LIBRARY, late=PATIENCE, only="ranks"), self.SEED, trouble)
                self.assertEqual(verdict.findings, [], verdict.outcomes)
                happened += verdict.happened["thread EAGAIN"]
        self.assertGreater(happened, 4)

    def test_a_rank_that_is_killed_costs_no_byte(self):
        self.assert_harmless("kill -9 of a rank", signal.SIGKILL, rank=1)

    def test_a_launcher_that_is_killed_leaves_no_rank_behind(self):
        self.assert_harmless("kill -9", signal.SIGKILL)

    def test_a_launcher_that_is_stopped_stops_all(self):
        self.assert_harmless("stop", signal.SIGTERM)

    def test_a_rank_that_is_stopped_stops_all(self):
        self.assert_harmless("stop of a rank", signal.SIGINT, rank=0)


class PreloadCase(ProgramTest):
    def preload(self, rules, *command, folder=""):
        """(exit code, stderr, the log) of `stoker COMMAND` in the test's folder, or in this one, under these rules."""
        log, folder = self.path("../" + os.path.basename(self.folder) + ".log"), folder or self.folder
        self.addCleanup(lambda: os.path.exists(log) and os.remove(log))
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "STOKER_CHAOS_FOLDER": folder, "STOKER_CHAOS_RULES": rules,
                       "STOKER_CHAOS_LOG": log}
        done = subprocess.run([STOKER, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
        with open(log, encoding="utf-8") as file:
            text = file.read()
        os.remove(log)
        return done.returncode, done.stderr, text


@unittest.skipIf(has_sanitizer(), "a sanitizer's own library must be loaded first")
@unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "there is no stoker-train")
class RefusedMemoryTest(PreloadCase):
    RECIPE = DATA + """\
model: {mlp: {classes: 4, hidden: [256]}}
train: {epochs: 1, device: cpu, tune: off, threads: 1, average: {kind: ema}, clip: {norm: 1}, checkpoint: {every_steps: 4}}
"""

    def test_a_training_that_is_refused_memory_says_so_plainly_whatever_wanted_it(self):
        self.write("recipe.yaml", self.RECIPE)
        refused = 0
        # The N-th block alone, among those of the start, of the first steps and of the last; and every block from one on.
        for rule in [f"memory:ENOMEM:{n}:1" for n in range(2, 110, 6)] + ["memory:ENOMEM:20:0", "memory:ENOMEM:60:0"]:
            with self.subTest(rule=rule):
                shutil.rmtree(self.path("run"), ignore_errors=True)
                code, err, log = self.preload(rule, "train", "recipe.yaml", "--run", "run", "--quiet")
                self.assertIn(code, (0, 1), err)
                self.assertNotRegex(err, r"defect|frame #|enforce fail|std::|\(set in code\)|terminate")
                errors = [line for line in err.splitlines() if line.startswith("stoker: error: ")]
                self.assertEqual(len(errors), code, err)
                for line in errors:
                    self.assertIn("out of memory", line)
                    self.assertRegex(line, "smaller batch|a batch of|budget")
                    refused += 1
                self.assertTrue(log or code == 0, err)
        self.assertGreater(refused, 5)


@unittest.skipIf(has_sanitizer(), "a sanitizer's own library must be loaded first")
@unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "there is no stoker-train")
class RefusedThreadsTest(PreloadCase):
    RECIPE = DATA + """\
model: {mlp: {classes: 4}}
train: {epochs: 1, device: cpu, tune: off, threads: 4}
"""

    def test_commands_that_compute_say_that_a_thread_cannot_be_started_and_do_not_wait_for_it(self):
        self.write("recipe.yaml", self.RECIPE)
        code, err, _ = self.preload("clock:jump-0:1:1", "train", "recipe.yaml", "--run", "run", "--quiet")
        self.assertEqual(code, 0, err)
        for command in [("eval", "run"), ("predict", "run"), ("batch-find", "recipe.yaml", "--most", "8", "--seconds", "0"),
                        ("lr-find", "recipe.yaml", "--steps", "20"), ("lint", "recipe.yaml"), ("train", "recipe.yaml", "--run", "other")]:
            for first in 1, 2, 4:  # from this thread on, none is started any more
                with self.subTest(command=command[0], first=first):
                    code, err, _ = self.preload(f"thread:EAGAIN:{first}:0", *command)
                    self.assertIn(code, (0, 1), err)
                    if code:
                        self.assertRegex(err, "stoker: error: .*(thread.* cannot be started: .*raise|use fewer threads or raise)")


@unittest.skipIf(has_sanitizer(), "a sanitizer's own library must be loaded first")
@unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "there is no stoker-train")
class FailedWritesOfATrainingTest(PreloadCase):
    RECIPE = DATA + """\
model: {mlp: {classes: 4}}
train:
  epochs: 2
  device: cpu
  tune: off
  threads: 1
  log_every: 2
  tensorboard: {enabled: true}
  checkpoint: {every_steps: 6, async: false}
"""

    def setUp(self):
        super().setUp()
        self.write("recipe.yaml", self.RECIPE)
        self.train("whole")
        self.want = self.result("whole")

    def train(self, run):
        done = subprocess.run([STOKER, "train", "recipe.yaml", "--run", run, "--quiet"], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def result(self, run):
        with open(self.path(f"{run}/weights.safetensors"), "rb") as file:
            weights = file.read()
        return weights, lines_of(self.path(f"{run}/metrics.jsonl"))

    def stored(self):
        if not os.path.isdir(self.path("run/checkpoints")):
            return 0
        return max((int(name.removeprefix("step-")) for name in os.listdir(self.path("run/checkpoints")) if name.startswith("step-")),
                   default=0)

    def test_openings_that_signals_interrupt_are_made_again(self):
        for number in range(1, 40, 4):
            with self.subTest(number=number):
                shutil.rmtree(self.path("run"), ignore_errors=True)
                code, err, log = self.preload(f"open:EINTR:{number}:20:run/", "train", "recipe.yaml", "--run", "run", "--quiet")
                self.assertEqual(code, 0, err)
                self.assertEqual(self.result("run"), self.want, err)

    def test_any_one_write_or_flush_or_opening_that_fails_costs_no_step_and_no_line(self):
        ended = 0
        for call, part in [("write:EIO", "metrics.jsonl"), ("write:EIO", "tfevents"), ("write:EIO", "tensors.safetensors"),
                           ("sync:EIO", "checkpoints"), ("open:EMFILE", "checkpoints"), ("rename:EIO", "checkpoints"),
                           ("write:ENOSPC", "progress.json")]:
            for number in range(2, 12, 3):
                with self.subTest(call=call, part=part, number=number):
                    shutil.rmtree(self.path("run"), ignore_errors=True)
                    code, err, log = self.preload(f"{call}:{number}:1:{part}", "train", "recipe.yaml", "--run", "run", "--quiet")
                    self.assertNotIn(".tmp-", err)
                    if code:
                        ended += 1
                        self.assertEqual(code, 1, err)
                        begun = os.path.exists(self.path("run/metrics.jsonl"))
                        done = max((line["step"] for line in lines_of(self.path("run/metrics.jsonl"))), default=0) if begun else 0
                        self.assertGreaterEqual(self.stored() if begun else 0, done, err)
                        again = subprocess.run([STOKER, "train", *(["--resume"] if begun else ["recipe.yaml"]), "--run", "run", "--quiet"],
                                               cwd=self.folder, capture_output=True, text=True, check=False)
                        self.assertEqual(again.returncode, 0, again.stderr)
                    self.assertEqual(self.result("run"), self.want, err)
        self.assertGreater(ended, 0)


@unittest.skipIf(has_sanitizer(), "a sanitizer's own library must be loaded first")
class ChaosHarnessTest(PreloadCase):
    """The preloaded library does what its rules say, and each kind of defect is found when it is planted."""

    # Each draws a `pack` of local files, with and without a budget; the faults that it draws are not used.
    PACK_SEED, FREE_SEED = 31, 33
    GREEDY = f'exec "{sys.executable}" -c "import time; x = bytes([1]) * 400_000_000; time.sleep(0.3)"'

    def test_a_rule_makes_the_call_fail_that_it_names_and_logs_it(self):
        code, err, log = self.preload("read:EIO:1:0:labels", "bench", "recipe.yaml", "--epochs", "1")
        self.assertEqual(code, 1)
        self.assertIn("train-labels.gz", err)
        self.assertIn("Input/output error", err)
        self.assertEqual(set(log.splitlines()), {"read EIO " + line.split(" ", 2)[2] for line in log.splitlines()})
        self.assertIn("train-labels.gz", log)

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "there is no stoker-train")
    def test_the_lock_of_a_run_is_one_of_the_locks_that_can_fail(self):
        code, err, log = self.preload("lock:ENOLCK:1:0:run/lock", "train", "recipe.yaml", "--run", "run", "--quiet")
        self.assertEqual(code, 1, err)
        self.assertRegex(err, "stoker: error: .*run/lock: No locks available")
        self.assertRegex(log, "lock ENOLCK .*run/lock")

    def test_a_file_that_cannot_be_looked_at_is_not_called_gone(self):
        self.write("rows.csv", "a,b\n" + "".join(f"{i},{i}.5\n" for i in range(30)))
        self.write("rows.yaml", "data:\n  root: .\n  train:\n    - csv: {files: rows.csv, index: memory}\n    - batch: 10\n")
        failed = 0
        for call in range(1, 12):
            with self.subTest(call=call):
                code, err, _ = self.preload(f"stat:EIO:{call}:1:rows.csv", "bench", "rows.yaml", "--epochs", "1")
                self.assertNotIn("gone", err)
                if code != 0:
                    self.assertIn("Input/output error", err)
                    failed += 1
        self.assertGreater(failed, 0)

    def test_a_lock_that_cannot_be_looked_at_is_not_opened_again_for_ever(self):
        self.write("good.csv", "a,b\n1,2\n3,4\n")
        self.write("x.npy", npy_bytes("<i8", [3], bytes(24)))
        self.write("bad.csv", "a,b\n" + "".join(f"{i},{i if i % 7 else 'x'}\n" for i in range(200)))
        fields = "fields: {a: int64, b: float32}"
        with Server(self.folder) as server:
            copied = f"data:\n  root: {server.address}\n  remote: {{cache: copies}}\n  train:\n    - "
            cases = (("kept", copied + f"csv: {{files: good.csv, index: none, {fields}}}\n", ".order.lock", 1, 0),
                     ("fetched", copied + "npy: {fields: {x: x.npy}}\n", ".lock", 1, 1),
                     ("logged", f"data:\n  train:\n    - {{csv: {{files: bad.csv, index: memory, {fields}}}, "
                      "on_error: {policy: skip, limit: 90, log: bad.jsonl}}\n", "bad.jsonl", 3, 1))
            for name, recipe, part, first, code in cases:
                with self.subTest(recipe=name):
                    self.write(f"{name}.yaml", recipe)
                    found, err, log = self.preload(f"stat:EACCES:{first}:0:{part}", "pack", f"{name}.yaml", f"{name}.tar", "--format", "tar")
                    self.assertEqual(found, code, err)
                    self.assertRegex(log, f"stat EACCES .*{part}")
                    if code:
                        self.assertRegex(err, f"{part}: cannot look at( it)?: Permission denied")

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "there is no stoker-train")
    def test_the_lock_of_a_run_that_cannot_be_looked_at_is_an_error(self):
        code, err, _ = self.preload("stat:ENOMEM:1:0:run/lock", "train", "recipe.yaml", "--run", "run", "--quiet")
        self.assertEqual(code, 1, err)
        self.assertRegex(err, "stoker: error: .*run/lock: cannot look at it: Cannot allocate memory")

    def test_a_file_that_is_opened_again_and_again_takes_no_memory(self):
        script = ("import os\nused = lambda: int(open('/proc/self/statm').read().split()[1])\n"
                  "def read():\n  for _ in range(100000): os.close(os.open('recipe.yaml', os.O_RDONLY))\n"
                  "read(); before = used(); read(); print(used() - before)")
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "STOKER_CHAOS_FOLDER": self.folder, "STOKER_CHAOS_LOG": self.path("log"),
                       "STOKER_CHAOS_RULES": "open:EIO:1:1:nothing"}
        done = subprocess.run([sys.executable, "-c", script], cwd=self.folder, env=environment, capture_output=True, text=True, check=True)
        self.assertLess(int(done.stdout), 256, "pages")

    def test_memory_that_a_pipeline_is_refused_is_reported_with_the_stage(self):
        for number in range(8):
            self.write(f"pictures/a/{number}.png", png(bytes(256), 16, 16))
        self.write("memory.yaml", "data:\n  train: [folder: pictures, decode, resize: 300, normalize, batch: 4]\n")
        for call in range(1, 4):  # from this block on, none is given any more
            for threads in "1", "2":
                with self.subTest(call=call, threads=threads):
                    code, err, _ = self.preload(f"memory:ENOMEM:{call}:0", "bench", "memory.yaml", "--epochs", "2", "--threads", threads)
                    self.assertEqual(code, 1, err)
                    self.assertRegex(err, r"(png|folder|decode|resize|normalize|batch): .*(out of|no) memory")
                    self.assertNotIn("reading element", err)

    def test_threads_that_cannot_be_started_are_named_with_what_they_are_for(self):
        for number in range(3):
            self.write(f"t-{number}.csv", "a,b\n" + "".join(f"{i},{i}.5\n" for i in range(30000)))
        refused = 0
        with Server(self.folder) as server:
            self.write("threads.yaml", f"data:\n  root: {server.address}\n  train:\n"
                       "    - csv: {files: [t-0.csv, t-1.csv, t-2.csv], index: none, fields: {a: int64, b: float32}}\n    - batch: 10\n")
            for call in range(1, 6):
                for count in 1, 0:
                    with self.subTest(call=call, count=count):
                        code, err, _ = self.preload(f"thread:EAGAIN:{call}:{count}", "bench", "threads.yaml", "--epochs", "2", "--threads", "2")
                        self.assertIn(code, (0, 1), err)
                        self.assertNotIn("threw", err)
                        if code:
                            self.assertRegex(err, "stoker: error: .*thread.* cannot be started: .*raise the limit on th")
                            refused += 1
        self.assertGreater(refused, 1)

    def test_a_request_of_an_earlier_plan_does_not_disturb_the_next_one(self):
        with Server(self.folder) as server:
            earlier, faults = self.plan_of_next_request(server, [("outage", 0, 0, 30.0)])
            self.assertEqual(faults, {"outage": 30.0})
            now, faults = self.plan_of_next_request(server, [])
            self.assertEqual(faults, {})
            server.go_away(earlier, 30.0)  # it has stalled until now
            self.assertEqual(server.away_until, 0)
            server.go_away(now, 30.0)
            self.assertGreater(server.away_until, 0)

    @staticmethod
    def plan_of_next_request(server, plan):
        server.disturb(plan)
        return server.faults_of_next_request()

    def test_files_outside_of_the_folder_are_left_alone(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            recipe = os.path.join(elsewhere, "recipe.yaml")
            with open(recipe, "w", encoding="utf-8") as file:
                file.write("data:\n  train:\n    - range: 10\n    - batch: 2\n")
            code, err, log = self.preload("open:EIO:1:0,read:EIO:1:0,stat:EIO:1:0", "bench", recipe, "--epochs", "1")
        self.assertEqual((code, log), (0, ""), err)

    def test_a_packing_of_which_any_call_fails_is_given_again_and_names_no_temporary(self):
        for to, format in [("x.tar", "tar"), ("x.lmdb", "lmdb"), ("x", "npy")]:
            for rule in ["open:ENFILE", "list:EMFILE", "stat:EIO", "sync:EIO", "rename:EIO", "write:ENOSPC"]:
                for count in [1, 0]:
                    with self.subTest(format=format, rule=rule, count=count):
                        self.assertGreater(self.fail_each_call(f"{rule}:{{}}:{count}", "pack", "pack.yaml", to, "--format", format,
                                                               "--shards", "2", "--threads", "1"), 1)

    def fail_each_call(self, rule, *command):
        """Gives the command while one call after the other fails by the rule, then once more without; how many calls there were."""
        for call in itertools.count(1):
            shutil.rmtree(self.path("work"), ignore_errors=True)
            os.makedirs(self.path("work"))
            self.write("work/t.csv", "a,b\n" + "".join(f"{i},{i}.5\n" for i in range(30)))
            self.write("work/pack.yaml", "data:\n  root: .\n  train:\n    - csv: {files: t.csv, index: memory, fields: {a: int64, b: float32}}\n")
            code, err, log = self.preload(rule.format(call), *command, folder=self.path("work"))
            self.assertNotIn(".tmp-", err)
            again = subprocess.run([STOKER, *command], cwd=self.path("work"), capture_output=True, text=True, check=False)
            self.assertEqual(again.returncode, 0, f"call {call}: first {code}, {err}, then {again.stderr}")
            if not log:
                return call

    def planted(self, script, trouble, budget=True, ranks=False):
        """The findings of a seed whose program is `script` when it is disturbed, and Stoker itself otherwise."""
        fake = self.path("fake-stoker")
        # The undisturbed run has rules too, which only count; those of the tests below make the clock jump.
        plainly = f'case "$STOKER_CHAOS_RULES" in *jump*) ;; *) exec "{STOKER}" "$@" ;; esac'
        self.write("fake-stoker", f"#!/bin/sh\n{plainly}\nunset LD_PRELOAD\n{script}\n")
        os.chmod(fake, os.stat(fake).st_mode | stat.S_IXUSR)
        settings = Settings(fake, LIBRARY, late=0.5, hang=20, only="ranks" if ranks else "")
        verdict = judge_seed(settings, self.PACK_SEED if budget else self.FREE_SEED, trouble)
        case = verdict.case
        if ranks:
            return verdict.findings
        self.assertTrue(case.kind == "pack" and bool(case.budget) == budget and not case.address, "choose another seed")
        return verdict.findings

    def assert_found(self, text, script, budget=True, ranks=False, **trouble):
        rules = ["clock:jump-1:1:0"]  # one that hurts nobody, so that the disturbed run is known from the others
        findings = self.planted(script, Trouble(rules, **trouble), budget, ranks)
        self.assertTrue(any(text in finding for finding in findings), findings)

    def test_what_does_not_misbehave_is_not_blamed(self):
        self.assertEqual(self.planted(f'exec "{STOKER}" "$@"', Trouble(["clock:jump-1:1:0"])), [])

    def test_a_crash_is_found(self):
        self.assert_found("ended by signal 11", "kill -SEGV $$")

    def test_a_message_of_a_defect_is_found(self):
        self.assert_found("says 'defect'", "echo 'stoker: error: recipe.yaml: std; this is a defect of Stoker' >&2; exit 1")

    def test_an_error_that_names_no_place_is_found(self):
        self.assert_found("names no place", "echo 'stoker: error: it did not work' >&2; exit 1")

    def test_an_exit_without_an_error_is_found(self):
        self.assert_found("with 0 errors", "exit 1")

    def test_other_bytes_are_found(self):
        self.assert_found("differs", f'"{STOKER}" "$@" && for file in out*; do printf x >>"$file"; done')

    def test_a_success_that_made_nothing_is_found(self):
        self.assert_found("is not there", "exit 0")

    def test_a_half_written_file_is_found(self):
        self.assert_found("was left behind", f'"{STOKER}" "$@" >&2; for file in out*; do printf x >"$file"; done; '
                          "echo 'stoker: error: recipe.yaml: no' >&2; exit 1")

    def test_a_program_that_does_not_stop_is_found(self):
        self.assert_found("late:", "trap : TERM; sleep 2; sleep 1", signals=[Disturbance(signal.SIGTERM, 0)])

    def test_a_program_that_never_ends_is_found(self):
        self.assert_found("hangs:", "while true; do sleep 0.1; done")

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "there is no stoker-train")
    def test_a_rank_that_outlives_its_launcher_is_found(self):
        self.assert_found("left behind", "sleep 1.5 & sleep 0.3; echo 'stoker: error: recipe.yaml: no' >&2; exit 1", ranks=True)

    def test_memory_beyond_the_budget_is_found(self):
        self.assert_found("memory:", self.GREEDY)

    def test_memory_far_beyond_the_undisturbed_command_is_found(self):
        self.assert_found("memory:", self.GREEDY, budget=False)


if __name__ == "__main__":
    unittest.main()

"""`stoker top`: what it shows on a terminal and in a pipe, how it ends, and that the terminal is then as it was before. What it makes of
what it has read is tested in stoker/tools/top."""
import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from doctor_foreign_test import alive
from program import STOKER, ProgramTest
from terminal_screen import Terminal

FAKES = os.environ.get("STOKER_FAKE_GPU", "")

# docs/top.md describes these.
SCHEMA = {"schema", "rank", "host", "unix_seconds", "target", "state", "state_text", "progress", "progress_age_seconds", "window",
          "processes", "machine", "gpus", "verdict", "advice", "notes"}
PROGRESS = {"schema", "rank", "host", "pid", "device", "accelerator", "cpus", "compute_threads", "activity", "step", "total_steps", "epoch",
            "samples_are", "train_seconds", "loss", "lr", "samples_per_s", "seconds_left", "waited", "starved", "work", "input"}

STAGES = [("folder", "reads", 0.05), ("decode", "decodes", 1.9), ("batch", "arranges", 0.01)]


def progress_after(seconds):
    """What a run publishes that waits for `decode`."""
    stages = [{"name": name, "work": work, "elements": 320 * seconds, "bytes": 48000 * seconds, "busy_s": busy * seconds, "starved_s": 0,
               "blocked_s": 0} for name, work, busy in STAGES]
    limit = {"stage": "decode", "why": "2 threads spent 96% of the time in it", "work": "decodes", "on_servers": False, "many_files": False,
             "on_consumer": False, "idle": False}
    return {"schema": 1, "rank": 0, "host": os.uname().nodename, "pid": 4711, "device": "cpu", "accelerator": False, "cpus": 2,
            "compute_threads": 1, "activity": "steps", "step": 10 * seconds, "total_steps": 6000, "epoch": seconds / 60,
            "samples_are": "image", "train_seconds": seconds, "loss": 0.5, "lr": 0.001, "samples_per_s": 320, "seconds_left": 540,
            "waited": 0.6, "starved": {"waited": 0.6, "stage": "decode", "why": "w", "try": "leave train.feed_threads out"},
            "work": {"seconds": seconds, "steps": 10 * seconds, "samples": 320 * seconds, "step_s": 0.9 * seconds, "waited_s": 0.6 * seconds,
                     "cpu_s": 2 * seconds, "evaluations": 0, "evaluation_s": 0, "checkpoints": 0, "checkpoint_s": 0, "logging_s": 0,
                     "callback_s": 0},
            "input": {"threads": 2, "stages": stages, "limit": limit}}


class TopCase(ProgramTest):
    """A directory that looks like that of a run in training, without one: this process holds its lock."""

    def make_run(self, name="run"):
        self.write(f"{name}/recipe.yaml", "data: {train: [range: 10, batch: 2]}\n")
        self.publish(20, name)
        self.write(f"{name}/metrics.jsonl", "".join(
            json.dumps({"kind": "train", "step": step, "loss": 100 / step}) + "\n" for step in range(10, 210, 10)))
        lock = open(self.path(f"{name}/lock"), "w", encoding="utf-8")  # pylint: disable=consider-using-with
        self.addCleanup(lock.close)
        fcntl.lockf(lock, fcntl.LOCK_EX)
        return lock

    def publish(self, seconds, name="run"):
        self.write(f"{name}/progress.json.new", json.dumps(progress_after(seconds)))
        os.rename(self.path(f"{name}/progress.json.new"), self.path(f"{name}/progress.json"))

    def sleeper(self):
        """A process that does nothing."""
        process = subprocess.Popen([sys.executable, "-c", "import time\ntime.sleep(100000)"], cwd=self.folder)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def at_terminal(self, *arguments, columns=80, rows=24, **environment):
        variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG")}
        variables.update({"TERM": "xterm", "LC_ALL": "C.UTF-8"}, **environment)
        terminal = Terminal([os.path.abspath(STOKER), "top", *arguments], self.folder, variables, columns, rows)
        self.addCleanup(terminal.close)
        return terminal

    def assert_restored(self, terminal):
        self.assertEqual(terminal.modes(), terminal.modes_before)
        self.assertFalse(terminal.screen.alternate)
        self.assertTrue(terminal.screen.cursor)
        self.assertTrue(terminal.screen.wraps)


def shows(*texts):
    """Whether each of the texts is in some line."""
    return lambda lines: all(any(text in line for line in lines) for text in texts)


class TopTerminalTest(TopCase):
    def test_shows_a_run_and_q_restores_the_terminal(self):
        self.make_run()
        terminal = self.at_terminal("run")
        lines = terminal.wait_for(shows("memory", "cpu"))
        self.assertTrue(terminal.screen.alternate)
        self.assertFalse(terminal.screen.cursor)
        self.assertFalse(terminal.echoes())
        self.assertTrue(lines[0].startswith("run  training, pid 4711"), lines[0])
        self.assertTrue(lines[0].endswith("q quits"))
        for text in ("step    200 of 6,000 (3%)  epoch 0.33  9 min 00 s left", "rate    320 images/s",
                     "loss    0.5  0.5 to 10 over steps 10 to 200", "stage   ", "verdict decode: Training waits for samples to be decoded",
                     "try     leave train.feed_threads out"):
            self.assertTrue(any(line.startswith(text) for line in lines), (text, lines))
        self.assertRegex("\n".join(lines), r"(?m)^decode +1\.90 +0\.00 +0\.00 +320 +48\.0 kB/s$")
        self.assertRegex("\n".join(lines), r"[\u2801-\u28ff]")  # the curve
        terminal.send(b"q")
        self.assertEqual(terminal.report(), "ended 0")
        self.assert_restored(terminal)
        self.assertEqual(terminal.screen.text(), [""])  # nothing is left

    def test_what_is_published_later_is_shown(self):
        self.make_run()
        terminal = self.at_terminal("run")
        terminal.wait_for(shows("200 of 6,000"))
        self.publish(30)
        terminal.wait_for(shows("300 of 6,000"))
        self.assertEqual(terminal.screen.clears, 2)  # when it began: nothing flickers
        terminal.send(b"q")
        self.assertEqual(terminal.report(), "ended 0")

    def test_signals_end_it_and_restore_the_terminal(self):
        self.make_run()
        for send, code, says in [(lambda t: t.send(b"\x03"), 130, "stopped by SIGINT"),
                                 (lambda t: os.kill(t.pid, signal.SIGTERM), 143, "stopped by SIGTERM"),
                                 (lambda t: os.kill(t.pid, signal.SIGHUP), -signal.SIGHUP, ""),
                                 (lambda t: os.kill(t.pid, signal.SIGABRT), -signal.SIGABRT, "")]:
            with self.subTest(code=code):
                terminal = self.at_terminal("run")
                terminal.wait_for(shows("verdict"))
                send(terminal)
                self.assertEqual(terminal.report(), f"ended {code}")
                self.assert_restored(terminal)
                self.assertIn(says, "\n".join(terminal.screen.text()))

    def test_fills_any_size_and_draws_anew_when_it_changes(self):
        self.make_run()
        terminal = self.at_terminal("run")
        terminal.wait_for(shows("verdict"))
        for columns, rows in [(120, 40), (40, 12), (20, 5), (1, 1), (80, 24)]:
            with self.subTest(columns=columns, rows=rows):
                before = terminal.screen.clears
                terminal.resize(columns, rows)
                while terminal.screen.clears == before:
                    terminal.read()
                # All rows are used, unless there is nothing to say.
                used = min(rows, 15)
                lines = terminal.wait_for(lambda lines, used=used: all(lines[:used]))
                self.assertTrue(lines[0].startswith("run"[:columns]), lines)
                self.assertLessEqual(len(lines), rows)
                self.assertLessEqual(max(map(len, lines)), columns)
        terminal.send(b"q")
        self.assertEqual(terminal.report(), "ended 0")

    def test_can_be_suspended_and_goes_on(self):
        self.make_run()
        terminal = self.at_terminal("run")
        terminal.wait_for(shows("verdict"))
        for _ in range(2):
            terminal.send(b"\x1a")
            self.assertEqual(terminal.report(), f"stopped {int(signal.SIGTSTP)}")
            self.assert_restored(terminal)
            terminal.go_on()
            terminal.wait_for(shows("verdict"))
            self.assertTrue(terminal.screen.alternate)
            self.assertFalse(terminal.echoes())
        terminal.send(b"q")
        self.assertEqual(terminal.report(), "ended 0")
        self.assert_restored(terminal)

    def test_a_stop_that_it_could_not_see_coming_is_made_good(self):
        self.make_run()
        terminal = self.at_terminal("run")
        terminal.wait_for(shows("verdict"))
        os.kill(terminal.pid, signal.SIGSTOP)
        self.assertEqual(terminal.report(), f"stopped {int(signal.SIGSTOP)}")
        before = terminal.screen.clears
        terminal.go_on()
        while terminal.screen.clears == before:
            terminal.read()
        terminal.wait_for(shows("verdict"))
        self.assertFalse(terminal.echoes())
        terminal.send(b"q")
        self.assertEqual(terminal.report(), "ended 0")
        self.assert_restored(terminal)

    def test_ends_when_the_run_does_and_leaves_the_last_screen(self):
        lock = self.make_run()
        terminal = self.at_terminal("run")
        terminal.wait_for(shows("verdict"))
        lock.close()
        self.assertEqual(terminal.report(), "ended 0")
        self.assert_restored(terminal)
        lines = terminal.screen.text()
        self.assertTrue(lines[0].startswith("run  not finished, and no process trains in it"), lines)
        self.assertTrue(shows("200 of 6,000", "verdict")(lines))

    def test_of_a_run_that_has_ended_says_so_and_takes_over_nothing(self):
        self.make_run().close()
        self.write("run/summary.json", "{}")
        terminal = self.at_terminal("run")
        self.assertEqual(terminal.report(), "ended 0")
        self.assertTrue(terminal.screen.text()[0].startswith("run  finished"), terminal.screen.text())
        self.assertNotIn(b"\x1b[?1049h", terminal.raw)

    def test_ends_with_the_terminal(self):
        self.make_run()
        terminal = self.at_terminal("run")
        terminal.wait_for(shows("verdict"))
        terminal.hang_up()
        terminal.shell.wait()
        while alive(terminal.pid):
            time.sleep(0.01)

    def test_in_another_locale_it_writes_ascii(self):
        self.make_run()
        terminal = self.at_terminal("run", LC_ALL="C")
        terminal.wait_for(shows("verdict", "cpu"))
        self.assertEqual(terminal.raw.decode("ascii").isascii(), True)
        terminal.send(b"q")
        self.assertEqual(terminal.report(), "ended 0")

    def test_names_control_nothing(self):
        name = "a\x1b[31mb\nc\u202e"
        self.make_run(name)
        terminal = self.at_terminal(name)
        lines = terminal.wait_for(shows("verdict"))
        self.assertTrue(lines[0].startswith(r"a\u001b[31mb\nc\u202e  training"), lines[0])
        terminal.send(b"q")
        self.assertEqual(terminal.report(), "ended 0")

    def test_shows_a_process_until_it_ends(self):
        process = self.sleeper()
        terminal = self.at_terminal(str(process.pid))
        lines = terminal.wait_for(shows(f" {process.pid} ", "verdict unknown: "))
        self.assertTrue(lines[0].startswith(f"process {process.pid}  running"), lines[0])
        process.kill()
        process.wait()
        self.assertEqual(terminal.report(), "ended 0")
        self.assert_restored(terminal)
        self.assertTrue(terminal.screen.text()[0].startswith(f"process {process.pid}  has ended"))


class TopPipeTest(TopCase):
    def lines(self, process, count):
        return [process.stdout.readline() for _ in range(count)]

    def test_prints_one_line_a_second(self):
        self.make_run()
        begin = time.monotonic()
        process = self.start("top", "run")
        lines = self.lines(process, 4)
        self.assertGreater(time.monotonic() - begin, 2)
        for line in lines:
            self.assertRegex(line, r"\A\d\d:\d\d:\d\d  step 200 of 6000  epoch 0\.33  loss 0\.5  320 images/s  waits 60%  cpu \d+%  memory "
                                   r".*  verdict decode `decode`\n\Z")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assertIn("stopped by SIGINT", err)

    def test_json_is_an_object_a_second(self):
        self.make_run()
        process = self.start("top", "run", "--json")
        for line in self.lines(process, 2):
            shown = json.loads(line)
            self.assertEqual(set(shown), SCHEMA)
            self.assertEqual(shown["schema"], 1)
            self.assertEqual(shown["state"], "running")
            self.assertEqual(set(shown["progress"]), PROGRESS)
            self.assertEqual([stage["name"] for stage in shown["window"]["stages"]], [name for name, _, _ in STAGES])
            self.assertGreaterEqual(len(shown["machine"]["cpus"]), 1)
            self.assertEqual(shown["verdict"]["verdict"], "decode")

    def test_ends_when_nobody_reads(self):
        self.make_run()
        process = self.start("top", "run")
        self.lines(process, 1)
        process.stdout.close()
        self.assertEqual(process.wait(), -signal.SIGPIPE)

    def test_a_full_disk_is_an_error(self):
        self.make_run()
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.run_stoker("top", "run", expect=1, stdout=full)

    def test_ends_when_its_target_does(self):
        lock = self.make_run()
        process = self.start("top", "run", "--json")
        self.lines(process, 1)
        lock.close()
        last = json.loads(process.communicate()[0].splitlines()[-1])
        self.assertEqual(process.returncode, 0)
        self.assertEqual(last["state"], "ended")
        sleeper = self.sleeper()
        process = self.start("top", str(sleeper.pid))
        self.lines(process, 1)
        sleeper.kill()
        sleeper.wait()
        out, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertIn("has ended", out.splitlines()[-1])

    def test_of_a_run_that_has_ended_prints_one_line(self):
        self.make_run().close()
        out, _ = self.run_stoker("top", "run")
        self.assertEqual(out.count("\n"), 1)
        self.assertIn("not finished, and no process trains in it  step 200 of 6000", out)
        self.assertEqual(self.run_json("top", "run")["state"], "ended")

    def test_what_does_not_exist_is_said(self):
        self.assert_fails(["top"], 1, "no process trains in a run below runs/", "name a run's directory")
        self.assert_fails(["top", "nothing"], 1, "nothing: is no run directory")
        self.assert_fails(["top", "data"], 1, "data: is no run directory")
        self.assert_fails(["top", str(2 ** 22 + 1)], 1, "there is no such process")
        self.assert_fails(["top", "9" * 30], 1, "there is no such process")
        self.assert_fails(["top", "0"], 1, "there is no such process")
        self.assert_fails(["top", "run", "other"], 2, "'other' is one argument too many")

    def test_without_an_argument_it_takes_the_newest_that_trains(self):
        self.make_run("runs/old")
        self.make_run("runs/ended").close()
        self.make_run("runs/new")
        os.utime(self.path("runs/old/recipe.yaml"), (1, 1))
        process = self.start("top", "--json")
        self.assertEqual(json.loads(self.lines(process, 1)[0])["target"], "runs/new")

    def test_a_run_without_figures_waits_for_them(self):
        self.make_run()
        for name in ("progress.json", "metrics.jsonl"):
            os.remove(self.path(f"run/{name}"))
        process = self.start("top", "run", "--json")
        self.assertEqual(json.loads(self.lines(process, 1)[0])["state"], "starting")
        self.write("run/progress.json", "{ broken")
        self.assertEqual(json.loads(self.lines(process, 1)[0])["state"], "starting")
        self.publish(20)
        while json.loads(self.lines(process, 1)[0])["state"] != "running":
            pass

    def test_what_of_a_process_may_not_be_seen_is_a_note(self):
        target, options = 1, {}
        if os.geteuid() == 0:
            target, options = self.sleeper().pid, {"user": 65534, "cwd": "/", "group": 65534, "extra_groups": []}
            try:
                subprocess.run([STOKER, "--version"], check=True, capture_output=True, **options)
            except PermissionError:
                self.skipTest("the program may not be run by another user")
        process = subprocess.Popen([STOKER, "top", str(target), "--json"], stdout=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.end, process)
        while not (shown := json.loads(process.stdout.readline()))["notes"]:
            pass
        self.assertTrue(any("/proc hides what its threads wait for" in note for note in shown["notes"]), shown["notes"])
        self.assertEqual(shown["processes"][0]["pid"], target)

    @unittest.skipUnless(FAKES, "the fake driver is not built")
    def test_gpus_are_shown_as_far_as_their_driver_tells(self):
        self.make_run()
        environment = {"LD_LIBRARY_PATH": FAKES}
        process = self.start("top", "run", "--json", environment=environment)
        first, second = json.loads(self.lines(process, 1)[0])["gpus"]
        self.assertEqual((first["used"], first["power_w"], first["power_limit_w"], first["temperature_c"]), (0.97, 612, 700, 91))
        self.assertEqual((first["clock_mhz"], first["most_clock_mhz"], first["clock_drift"]), (1485, 1980, -0.25))
        self.assertEqual(first["slowed_by"], ["heat"])
        self.assertIsNone(second["power_w"])
        self.assertIsNone(second["temperature_c"])
        terminal = self.at_terminal("run", **environment)
        lines = terminal.wait_for(shows("gpu 1"))
        self.assertRegex("\n".join(lines), r"(?m)^gpu 0   97% busy  612 of 700 W  20\.0 GB of 80\.0 GB  91 C  1485 MHz \(-25%, heat\)")
        process = self.start("top", "run", "--json", environment={**environment, "STOKER_FAKE_NVML": "no-driver"})
        shown = json.loads(self.lines(process, 1)[0])
        self.assertEqual(shown["gpus"], [])
        self.assertIn("NVML: Driver Not Loaded", shown["notes"])


class TopTrainedRunTest(TopCase):
    """A real training, which publishes what is shown."""

    def test_a_training_publishes_its_stages_and_is_watched_to_its_end(self):
        training = self.start("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=1000000", "--set", "train.log_every=1")
        while not os.path.exists(self.path("run/progress.json")):
            self.assertIsNone(training.poll(), "ended by itself")
            time.sleep(0.02)
        process = self.start("top", "run", "--json")
        while not (shown := json.loads(process.stdout.readline()))["window"]:
            pass
        progress = shown["progress"]
        self.assertEqual(set(progress), PROGRESS)
        self.assertEqual(progress["pid"], training.pid)
        self.assertEqual(progress["host"], os.uname().nodename)
        stages = {stage["name"]: stage for stage in progress["input"]["stages"]}
        self.assertEqual(stages["idx"]["work"], "reads")
        self.assertGreater(stages["batch"]["elements"], 0)
        self.assertGreater(sum(stage["busy_s"] for stage in stages.values()), 0)
        self.assertAlmostEqual(sum(shown["window"]["time"].values()), 1, delta=0.05)
        self.assertIn(shown["verdict"]["verdict"], re.findall(r"`(\w+)`", (pathlib.Path(__file__).parent.parent / "docs/doctor.md").read_text(
            encoding="utf-8")))
        training.send_signal(signal.SIGTERM)
        training.communicate()
        last = json.loads(process.communicate()[0].splitlines()[-1])
        self.assertEqual(process.returncode, 0)
        self.assertEqual(last["state"], "ended")
        self.assertEqual(last["state_text"], "not finished, and no process trains in it")

    def test_publishing_goes_on_after_a_write_that_failed(self):
        training = self.start("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=1000000")
        while not os.path.exists(self.path("run/progress.json")):
            self.assertIsNone(training.poll(), "ended by itself")
            time.sleep(0.02)
        # A directory in the place of the file cannot be replaced.
        while True:
            os.remove(self.path("run/progress.json"))
            try:
                os.mkdir(self.path("run/progress.json"))
                break
            except FileExistsError:
                continue
        time.sleep(2)
        self.assertIsNone(training.poll())
        os.rmdir(self.path("run/progress.json"))
        while not os.path.isfile(self.path("run/progress.json")):
            self.assertIsNone(training.poll(), "ended by itself")
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()

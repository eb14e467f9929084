"""`stoker doctor -- PROGRAM` and `--pid N`: programs that are not ours are started, watched, signalled and ended. Verdicts depend on
the machine, so tests/doctor/judge.py looks at those; here stands what holds on a busy machine too. The rules have their tests in
stoker/doctor, what is read of /proc in stoker/machine/processes."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from doctor_test import CASES, KEYS, VERDICTS
from program import ProgramTest

# Computes until it is ended.
BUSY = "import os, pathlib\npathlib.Path('began').write_text(str(os.getpid()))\nwhile True:\n    sum(range(10000))\n"


def alive(pid):
    """Whether a process computes or sleeps; a zombie does neither."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class DoctorForeignCase(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("busy.py", BUSY)

    def watch(self, *words, seconds="2", arguments=(), **options):
        """The report of a program, and what was printed to standard error."""
        out, err = self.run_stoker("doctor", "--json", "--seconds", seconds, *arguments, "--", *words, **options)
        report = json.loads(out)
        self.assert_is_diagnosis(report)
        return report, err

    def python(self, script, *words, **options):
        self.write("script.py", script)
        return self.watch(sys.executable, "script.py", *words, **options)

    def assert_is_diagnosis(self, report):
        self.assertLessEqual(KEYS, set(report))
        self.assertEqual(report["schema"], 1)
        self.assertIn(report["verdict"], VERDICTS)
        self.assertTrue(0 <= report["lost_share"] <= 1)
        self.assertGreaterEqual(report["roof"], 1)
        self.assertEqual(report["profile"]["schema"], 1)
        self.assertLessEqual({"received_bytes_per_s", "sent_bytes_per_s", "group_memory_share", "shared_memory_share"},
                             set(report["profile"]["machine"]))
        for each in report["prescriptions"]:
            self.assertIsNone(each["edit"])
            self.assertLessEqual(each["gain_low"], each["gain_high"])

    def wait_for(self, name):
        """The content of a file that a program writes."""
        while not (pathlib.Path(self.path(name)).exists() and self.read(name)):
            time.sleep(0.01)
        return self.read(name).decode()

    def of_role(self, report, role):
        return [each for each in report["profile"]["processes"] if each["role"] == role]


class DoctorForeignTest(DoctorForeignCase):
    """Programs that go well, each in its own way."""

    def test_a_program_is_run_watched_and_ended(self):
        report, err = self.python(BUSY)
        self.assertIn("runs", err)
        profile = report["profile"]
        self.assertIn("script.py", profile["command"])
        self.assertFalse(profile["ended"])
        self.assertIsNone(profile["exit_code"])
        self.assertGreater(self.of_role(report, "main")[0]["cpus"], 0)
        self.assertFalse(alive(self.read("began").decode()))

    def test_a_program_that_ends_is_reported_with_its_exit_code(self):
        report, _ = self.python("import sys, time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass\nsys.exit(3)\n", seconds="600")
        self.assertTrue(report["profile"]["ended"])
        self.assertEqual(report["profile"]["exit_code"], 3)
        self.assertIsNone(report["error"])

    def test_a_program_that_never_uses_the_cpu_is_unknown(self):
        report, _ = self.python("import time\ntime.sleep(600)\n", seconds="3")
        self.assertEqual(report["verdict"], "unknown")
        self.assertIn("hardly computes", report["why"])

    def test_the_report_for_people_follows_what_the_program_prints(self):
        self.write("script.py", "import time\nprint('mine', flush=True)\ntime.sleep(600)\n")
        out, _ = self.run_stoker("doctor", "--seconds", "2", "--", sys.executable, "script.py")
        lines = out.splitlines()
        self.assertTrue(lines[0].startswith("doctor: runs "), out)
        self.assertLess(lines.index("mine"), [line.startswith("verdict") for line in lines].index(True))
        self.assertRegex(out, r"(?m)^time +the first thread ")
        self.assertRegex(out, r"(?m)^processes +\d+ .*script\.py: ")

    def test_with_json_only_the_report_is_on_standard_output(self):
        report, err = self.python("import time\nprint('mine', flush=True)\ntime.sleep(600)\n", seconds="1")
        self.assertIn("mine\n", err)
        self.assertNotIn("mine", report["profile"]["command"])

    def test_arguments_input_and_environment_arrive_as_they_are(self):
        script = ("import json, os, sys, time\n"
                  "json.dump([sys.argv[1:], sys.stdin.read(), os.environ['MINE']], open('got.json', 'w'))\ntime.sleep(1)\n")
        self.write("script.py", script)
        self.write("input", "a line\n")
        words = ["a b", "$HOME", "--json", "--", "", "\u00e9'\""]
        with open(self.path("input"), encoding="utf-8") as file:
            self.run_stoker("doctor", "--json", "--seconds", "60", "--", sys.executable, "script.py", *words, stdin=file,
                            environment={"MINE": "x y"})
        self.assertEqual(json.loads(self.read("got.json")), [words, "a line\n", "x y"])

    def test_a_pipeline_of_a_shell_is_watched_whole(self):
        report, _ = self.watch("sh", "-c", f"{sys.executable} busy.py | cat")
        self.assertIn("busy.py", self.of_role(report, "main")[0]["command"])
        self.assertFalse(alive(self.read("began").decode()))

    def test_forked_processes_are_its_workers_and_are_ended(self):
        script = ("import os, pathlib, time\n"
                  "pids = []\n"
                  "for _ in range(2):\n"
                  "    pid = os.fork()\n"
                  "    if pid == 0:\n"
                  "        while True: sum(range(10000))\n"
                  "    pids.append(str(pid))\n"
                  "pathlib.Path('pids').write_text(' '.join(pids))\n"
                  "while True: sum(range(10000))\n")
        report, _ = self.python(script, seconds="3")
        self.assertEqual(len(self.of_role(report, "worker")), 2)
        for pid in self.read("pids").decode().split():
            self.assertFalse(alive(pid))

    def test_one_that_runs_already_is_watched_and_stays(self):
        process = subprocess.Popen([sys.executable, "busy.py"], cwd=self.folder)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for("began")
        report = self.run_json("doctor", "--pid", str(process.pid), "--seconds", "1")
        self.assert_is_diagnosis(report)
        self.assertEqual(self.of_role(report, "main")[0]["pid"], process.pid)
        self.assertIsNone(process.poll())


# Stands in for py-spy: writes a recording of the process that it is asked for when it gets SIGINT, as py-spy does.
FAKE = """#!{python}
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__).resolve().parent
pid, out = (sys.argv[sys.argv.index(name) + 1] for name in ("--pid", "--output"))
(here / "started").write_text(str(os.getpid()))
def write(number, frame):
    frames = [{{"name": "prepare", "file": str(here.parent / "script.py"), "line": 2}},
              {{"name": "backward", "file": "/x/site-packages/torch/_tensor.py", "line": 1}}]
    samples = [[0]] * 60 + [[1]] * 40
    text = json.dumps({{"shared": {{"frames": frames}}, "profiles": [{{"name": f"Process {{pid}} Thread {{pid}} x", "samples": samples}}]}})
    pathlib.Path(out).write_text(os.environ.get("FAKE_TEXT", text))
    sys.exit(0)
if "FAKE_ERROR" in os.environ:
    sys.exit("Error: " + os.environ["FAKE_ERROR"])
signal.signal(signal.SIGINT, write)
while True:
    time.sleep(1)
"""


class DoctorForeignStacksTest(DoctorForeignCase):
    """Stacks by py-spy, of which a stand-in is first in PATH."""

    def setUp(self):
        super().setUp()
        self.write("bin/py-spy", FAKE.format(python=sys.executable))
        os.chmod(self.path("bin/py-spy"), 0o755)
        self.before = self.environment(self.path("bin") + os.pathsep + os.environ["PATH"])

    def environment(self, path, **more):
        return {"PATH": path, "TMPDIR": self.folder, **more}

    def assert_nothing_left(self):
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("stoker-")], [])
        if os.path.exists(self.path("bin/started")):
            self.assertFalse(alive(self.read("bin/started").decode()))

    def test_the_line_of_the_script_is_named(self):
        report, _ = self.python(BUSY, environment=self.before)
        self.assertEqual(report["verdict"], "startup")
        self.assertEqual(report["stage"], "script.py:2")
        self.assertIn(BUSY.splitlines()[1], report["why"])
        self.assertEqual(report["profile"]["python"]["samples"], 100)
        self.assertFalse(any("py-spy" in each["command"] for each in report["profile"]["processes"]))
        self.assert_nothing_left()

    def test_a_recording_that_makes_no_sense_is_a_note(self):
        for text in ("", "{", "[]"):
            report, _ = self.python(BUSY, environment={**self.before, "FAKE_TEXT": text}, seconds="1")
            self.assertIsNone(report["profile"]["python"])
            self.assertTrue(any("py-spy" in note for note in report["profile"]["notes"]), report["profile"]["notes"])
        self.assert_nothing_left()

    def test_why_py_spy_fails_is_a_note(self):
        report, _ = self.python(BUSY, environment={**self.before, "FAKE_ERROR": "Permission Denied"}, seconds="5")
        self.assertTrue(any("Permission Denied" in note for note in report["profile"]["notes"]), report["profile"]["notes"])
        self.assert_nothing_left()

    def test_without_py_spy_a_note_says_how_to_get_it(self):
        report, _ = self.python(BUSY, environment=self.environment("/nowhere"), seconds="1")
        self.assertTrue(any("pip install py-spy" in note for note in report["profile"]["notes"]), report["profile"]["notes"])
        self.assert_nothing_left()


class DoctorForeignFaultsTest(DoctorForeignCase):
    """Programs that go wrong, and wrong usage."""

    def test_wrong_usage_is_said_and_starts_nothing(self):
        self.assert_fails(["doctor"], 2, "RECIPE", "--pid")
        self.assert_fails(["doctor", "--"], 2, "no program")
        self.assert_fails(["doctor", "recipe.yaml", "--", "true"], 2, "one thing at a time")
        self.assert_fails(["doctor", "--pid", "1", "--", "true"], 2, "one thing at a time")
        self.assert_fails(["doctor", "recipe.yaml", "python"], 2, "'python' is one argument too many", "follows `--`")
        self.assert_fails(["doctor", "--fix", "--", "true"], 2, "--fix")
        self.assert_fails(["doctor", "--set", "a=b", "--", "true"], 2, "--set")
        for pid in ("0", "-1", "x", "1.5"):
            self.assert_fails(["doctor", "--pid", pid], 2, "--pid")

    def test_what_cannot_be_started_is_named(self):
        self.assert_fails(["doctor", "--", "no-such-program"], 1, "'no-such-program'", "no such program")
        self.assert_fails(["doctor", "--", ""], 1, "''")
        self.assert_fails(["doctor", "--", "./recipe.yaml"], 1, "'./recipe.yaml'", "you may not run it")
        self.assert_fails(["doctor", "--pid", "4194304"], 1, "4194304", "no such process")

    def test_a_program_that_dies_at_once_gives_the_report_and_the_error(self):
        out, err = self.run_stoker("doctor", "--json", "--", "sh", "-c", "exit 7", expect=1)
        report = json.loads(out)
        self.assert_is_diagnosis(report)
        self.assertEqual(report["verdict"], "unknown")
        self.assertIn("exit code 7", report["error"])
        self.assertIn("stoker: error: ", err)

    def test_a_program_that_kills_itself_is_reported_as_a_shell_would(self):
        report, _ = self.python("import os, signal, time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass\n"
                                "os.kill(os.getpid(), signal.SIGKILL)\n", seconds="600")
        self.assertEqual(report["profile"]["exit_code"], 137)

    def test_a_daemon_is_watched_on_and_ended(self):
        script = ("import os, pathlib\n"
                  "if os.fork(): os._exit(0)\n"
                  "os.setsid()\n"
                  "if os.fork(): os._exit(0)\n" + BUSY)
        report, _ = self.python(script, seconds="3")
        self.assertFalse(report["profile"]["ended"])
        self.assertEqual(report["profile"]["exit_code"], 0)
        self.assertTrue(any("left running" in note for note in report["profile"]["notes"]), report["profile"]["notes"])
        self.assertGreater(self.of_role(report, "main")[0]["cpus"], 0)
        self.assertFalse(alive(self.read("began").decode()))

    def test_one_that_ignores_every_request_to_end_is_ended_too(self):
        script = "import signal\nfor each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n    signal.signal(each, signal.SIG_IGN)\n"
        report, _ = self.python(script + BUSY, seconds="1")
        self.assertFalse(report["profile"]["ended"])
        self.assertFalse(alive(self.read("began").decode()))

    def interrupt(self, number, script):
        self.write("script.py", script)
        process = self.start("doctor", "--json", "--seconds", "600", "--", sys.executable, "script.py")
        self.wait_for("began")
        time.sleep(0.5)  # something to report
        process.send_signal(number)
        out, err = process.communicate()
        self.assertFalse(alive(self.read("began").decode()))
        return process.returncode, json.loads(out), err

    def test_a_signal_reaches_the_program_once_and_the_report_is_written(self):
        script = ("import os, pathlib, signal, sys\n"
                  "got = []\n"
                  "def note(number, frame):\n"
                  "    got.append(number)\n"
                  "    pathlib.Path('got').write_text(repr(got))\n"
                  "    import time; time.sleep(0.5)\n"
                  "    sys.exit(0)\n"
                  "signal.signal(signal.SIGINT, note)\nsignal.signal(signal.SIGTERM, note)\n") + BUSY
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number=number):
                returned, report, err = self.interrupt(number, script)
                self.assertEqual(returned, code, err)
                self.assert_is_diagnosis(report)
                self.assertTrue(report["interrupted"])
                self.assertEqual(report["profile"]["exit_code"], 0)
                self.assertEqual(self.read("got").decode(), f"[{int(number)}]")
                os.remove(self.path("began"))

    def test_a_signal_leaves_a_process_that_ran_already_alone(self):
        other = subprocess.Popen([sys.executable, "busy.py"], cwd=self.folder)
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.wait_for("began")
        process = self.start("doctor", "--json", "--seconds", "600", "--pid", str(other.pid))
        for line in process.stderr:
            if line.startswith("doctor: watches"):
                break
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assertTrue(json.loads(out)["interrupted"])
        self.assertIsNone(other.poll())

    def test_a_watched_process_that_ends_ends_the_watch(self):
        other = subprocess.Popen([sys.executable, "-c", "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: pass"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        report = self.run_json("doctor", "--seconds", "600", "--pid", str(other.pid))
        self.assertTrue(report["profile"]["ended"])


class DoctorScriptsTest(unittest.TestCase):
    """The planted scripts of tests/doctor/foreign, which judge.py runs by hand, because they need PyTorch and an idle machine."""

    def test_each_script_says_what_is_planted_and_its_twin_differs_by_the_cure(self):
        sys.path.insert(0, str(CASES))
        self.addCleanup(sys.path.remove, str(CASES))
        import foreign_cases  # pylint: disable=import-outside-toplevel
        found = foreign_cases.all_scripts()
        self.assertEqual(len(found), 18)
        for script in found:
            with self.subTest(script=script.name):
                self.assertTrue(script.planted)
                self.assertTrue(script.verdicts)
                self.assertLessEqual(set(script.verdicts), VERDICTS)
                texts = [path.read_text(encoding="utf-8") for path in (script.path, script.cured)]
                for text in texts:
                    compile(text, script.name, "exec")
                self.assertNotEqual(*(text.split("\n", 1)[1] for text in texts))

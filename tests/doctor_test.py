"""`stoker doctor`: the form of its report, its errors, and that it leaves nothing behind. Verdicts depend on the machine, so
tests/doctor/judge.py looks at those; here stands what holds on a busy machine too. The rules have their tests in stoker/doctor."""
import json
import os
import pathlib
import signal
import tempfile
import time
import unittest

from program import DATA, RECIPE, ProgramTest

VERDICTS = {"storage", "network", "decode", "augmentation", "lock", "slow_element", "small_records", "threads", "memory", "copy", "compute",
            "synchronization", "checkpoint", "evaluation", "logging", "startup", "python", "unknown", "none"}
KEYS = {"schema", "rank", "host", "verdict", "stage", "lost_share", "roof", "why", "sentence", "prescriptions", "snippet", "error", "interrupted",
        "profile"}
COMMENTED = "# Why this recipe exists.\n" + RECIPE.replace("  threads: 1\n", "  threads: 1   # of the step\n  # often\n  log_every: 1\n")
DUE_TOO_OFTEN = COMMENTED.replace("every_steps: 8", "every_steps: 1, async: false").replace("epochs: 3", "epochs: 1000000")
CASES = pathlib.Path(__file__).resolve().parent / "doctor"


class DoctorCase(ProgramTest):
    def setUp(self):
        super().setUp()
        temporary = tempfile.TemporaryDirectory(prefix="stoker-doctor-test-")
        self.addCleanup(temporary.cleanup)
        self.temporary = temporary.name
        self.environment = {"TMPDIR": self.temporary}
        self.before = self.files()

    def files(self):
        return {path.relative_to(self.folder).as_posix(): path.read_bytes()
                for path in pathlib.Path(self.folder).rglob("*") if path.is_file()}

    def assert_nothing_left(self, new=()):
        self.assertEqual(os.listdir(self.temporary), [])
        files = self.files()
        self.assertEqual(set(files) - set(self.before), set(new))
        for name, content in self.before.items():
            self.assertEqual(files[name], content, name)

    def doctor(self, *arguments, **options):
        return self.run_json("doctor", "recipe.yaml", "--seconds", "2", *arguments, environment=self.environment, **options)

    def assert_is_diagnosis(self, report):
        self.assertLessEqual(KEYS, set(report))
        self.assertEqual(report["schema"], 1)
        self.assertIn(report["verdict"], VERDICTS)
        self.assertTrue(report["host"])
        self.assertEqual(report["rank"], 0)
        self.assertTrue(0 <= report["lost_share"] <= 1)
        self.assertGreaterEqual(report["roof"], 1)
        gains = []
        for each in report["prescriptions"]:
            self.assertLessEqual({"change", "edit", "gain_low", "gain_high", "why", "caution"}, set(each))
            self.assertLessEqual(each["gain_low"], each["gain_high"])
            gains.append(each["gain_low"] * each["gain_high"])
        self.assertEqual(gains, sorted(gains, reverse=True))
        self.assertEqual(report["profile"]["schema"], 1)


class DoctorDataTest(DoctorCase):
    """Without a model, which needs no libtorch."""

    def setUp(self):
        super().setUp()
        self.write("recipe.yaml", DATA)
        self.before = self.files()

    def test_a_recipe_without_a_model_is_measured_and_nothing_is_left(self):
        report = self.doctor()
        self.assert_is_diagnosis(report)
        self.assertGreater(report["profile"]["input"]["samples_per_s"], 0)
        self.assertIsNone(report["profile"]["training"])
        self.assertIsNone(report["profile"]["step"])
        names = [stage["name"] for stage in report["profile"]["input"]["stages"]]
        self.assertEqual(names[0], "idx")
        self.assert_nothing_left()

    def test_the_report_is_announced_and_has_verdict_and_rates(self):
        out, _ = self.run_stoker("doctor", "recipe.yaml", "--seconds", "1", environment=self.environment)
        self.assertTrue(out.startswith("doctor: reads data.train of recipe.yaml"), out)
        self.assertRegex(out, r"(?m)^verdict  [a-z_]+: .+\.$")
        self.assertRegex(out, r"(?m)^rates +input alone [\d,]+ samples a second$")

    def test_what_stoker_env_has_measured_here_is_in_the_profile_and_that_of_another_machine_is_not(self):
        cache = tempfile.TemporaryDirectory(prefix="stoker-doctor-cache-")
        self.addCleanup(cache.cleanup)
        self.environment["XDG_CACHE_HOME"] = cache.name
        self.assertIsNone(self.doctor()["profile"]["roofs"])
        self.run_stoker("env", ".", "--quick", environment=self.environment)
        kept = pathlib.Path(cache.name) / "stoker/machine.json"
        found = json.loads(kept.read_text(encoding="utf-8"))
        roofs = self.doctor()["profile"]["roofs"]
        self.assertEqual(roofs["pictures_per_s"], found["decode_together"]["pictures_per_s"])
        self.assertEqual(roofs["read_bytes_per_s"], found["storage"][0]["read_bytes_per_s"] or 0)
        kept.write_text(json.dumps({**found, "host": "elsewhere"}), encoding="utf-8")
        self.assertIsNone(self.doctor()["profile"]["roofs"])
        kept.write_text("{", encoding="utf-8")
        out, err = self.run_stoker("doctor", "recipe.yaml", "--seconds", "1", "--json", environment=self.environment)
        self.assertIsNone(json.loads(out)["profile"]["roofs"])
        self.assertIn("machine.json", err)

    def test_wrong_usage_and_wrong_recipes_are_said_and_measure_nothing(self):
        self.assert_fails(["doctor"], 2, "RECIPE")
        self.assert_fails(["doctor", "none.yaml"], 1, "none.yaml")
        for seconds in ("0", "-1", "nan", "inf", "1e9", "soon"):
            with self.subTest(seconds=seconds):
                self.assert_fails(["doctor", "recipe.yaml", "--seconds", seconds], 2, "--seconds")
        self.assert_fails(["doctor", "recipe.yaml", "--allow-accuracy-changes"], 2, "--fix")
        self.assert_fails(["doctor", "recipe.yaml", "--fix", "--set", "data.root=x"], 2, "--set")
        self.write("recipe.yaml", DATA.replace("- shuffle", "- shufle"))
        self.assert_fails(["doctor", "recipe.yaml"], 2, "recipe.yaml:5:7", "did you mean 'shuffle'?")

    def test_data_that_fail_half_way_give_the_report_and_the_error(self):
        pictures = self.path("data/pictures")
        for label in ("a", "b"):
            os.makedirs(f"{pictures}/{label}")
            for i in range(40):
                pathlib.Path(f"{pictures}/{label}/{i:02}.png").write_bytes(b"this is no picture")
        self.write("recipe.yaml", "data: {root: data, train: [folder: pictures, decode, resize: 8, batch: 4]}\n")
        out, err = self.run_stoker("doctor", "recipe.yaml", "--seconds", "1", "--json", expect=1, environment=self.environment)
        report = json.loads(out)
        self.assertEqual(report["verdict"], "unknown")
        self.assertIn(".png", report["error"])
        self.assertIn("stoker: error: ", err)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_a_changed_copy_is_not_written_over(self):
        self.write("recipe.fixed.yaml", "mine")
        self.assert_fails(["doctor", "recipe.yaml", "--fix", "--seconds", "1"], 1, "recipe.fixed.yaml exists")
        self.assertEqual(self.read("recipe.fixed.yaml"), b"mine")


class DoctorTrainTest(DoctorCase):
    """With a model: the run, the input and the step are measured."""

    def test_a_recipe_is_measured_together_and_in_its_parts_and_nothing_is_left(self):
        report = self.doctor()
        self.assert_is_diagnosis(report)
        profile = report["profile"]
        self.assertGreater(profile["training"]["steps"], 0)
        self.assertEqual(profile["training"]["total_steps"], 48)
        self.assertEqual(profile["training"]["evaluations"], 3)
        self.assertGreater(profile["training"]["evaluation_s"], 0)
        self.assertGreater(profile["training"]["checkpoint_s"], 0)
        self.assertGreater(profile["step"]["seconds"], 0)
        self.assertGreater(profile["step"]["optimizer_s"], 0)
        self.assertEqual(profile["step"]["batch"], 32)
        self.assertGreater(profile["input"]["samples_per_s"], 0)
        self.assertIsNone(report["error"])
        self.assertFalse(report["interrupted"])
        self.assert_nothing_left()

    def test_the_report_says_where_the_time_goes(self):
        out, _ = self.run_stoker("doctor", "recipe.yaml", "--seconds", "2", environment=self.environment)
        self.assertTrue(out.startswith("doctor: trains for "), out)
        self.assertRegex(out, r"(?m)^time +.*computing \d+%.*; the planned run takes ")
        self.assertRegex(out, r"(?m)^rates +input alone [\d,]+, step alone [\d,]+, both [\d,]+ samples a second$")

    def test_an_evaluation_that_the_time_is_too_short_for_is_measured_apart(self):
        report = self.doctor("--set", "train.epochs=1000000", "--set", "train.eval_every=100000", "--set", "train.checkpoint.every_steps=1000000")
        self.assertGreater(report["profile"]["training"]["evaluation_s"], 0)
        self.assertEqual(report["profile"]["training"]["evaluations"], 10)

    def interrupt(self, number, *arguments):
        process = self.start("doctor", "recipe.yaml", "--seconds", "600", "--json", "--set", "train.epochs=1000000", *arguments,
                             environment=self.environment)
        while not any(path.name == "metrics.jsonl" and path.stat().st_size > 0 for path in pathlib.Path(self.temporary).rglob("*")):
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate()
        return process.returncode, out, err

    def test_a_signal_ends_it_with_the_report_of_what_was_measured(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number=number):
                self.write("recipe.yaml", RECIPE.replace("epochs: 3", "epochs: 3\n  log_every: 1"))
                returned, out, err = self.interrupt(number)
                self.assertEqual(returned, code, err)
                report = json.loads(out)
                self.assert_is_diagnosis(report)
                self.assertTrue(report["interrupted"])
                self.assertGreater(report["profile"]["training"]["steps"], 0)
                self.assertIsNone(report["profile"]["input"])
                self.assertEqual(os.listdir(self.temporary), [])

    def test_training_that_fails_half_way_gives_the_report_and_the_error(self):
        # The labels end before the images do: only a pass over all of them finds a class that does not exist.
        labels = bytearray(self.read("data/train-labels"))
        labels[-1] = 200
        self.write("data/train-labels", bytes(labels))
        self.write("recipe.yaml", RECIPE.replace("train-labels.gz", "train-labels").replace("    - shuffle\n", ""))
        out, err = self.run_stoker("doctor", "recipe.yaml", "--seconds", "2", "--json", expect=1, environment=self.environment)
        report = json.loads(out)
        self.assert_is_diagnosis(report)
        self.assertIn("200", report["error"])
        self.assertGreater(report["profile"]["training"]["steps"], 0)
        self.assertIn("stoker: error: ", err)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_fix_keeps_what_helps_and_writes_the_recipe_with_its_comments_beside_the_old_one(self):
        # A checkpoint that is flushed in every step takes several times as long as the step.
        self.write("recipe.yaml", DUE_TOO_OFTEN)
        self.before = self.files()
        report = self.doctor("--fix")
        fix = report["fix"]
        kept = [each for each in fix["tried"] if each["kept"]]
        self.assertTrue(kept, fix)
        for each in fix["tried"]:
            self.assertEqual(each["kept"], each["why_not"] is None)
        self.assertEqual(fix["file"], "recipe.fixed.yaml")
        self.assert_nothing_left(["recipe.fixed.yaml"])
        fixed = self.read("recipe.fixed.yaml").decode()
        for comment in ("# Why this recipe exists.", "# of the step", "# often"):
            self.assertIn(comment, fixed)
        for line in fix["diff"].splitlines():
            self.assertIn(line[1:], DUE_TOO_OFTEN if line[0] == "-" else fixed)
        self.run_stoker("check", "recipe.fixed.yaml")

    def test_a_signal_while_changes_are_tried_leaves_nothing(self):
        self.write("recipe.yaml", DUE_TOO_OFTEN)
        self.before = self.files()
        process = self.start("doctor", "recipe.yaml", "--seconds", "4", "--fix", environment=self.environment)
        self.assertTrue(any(line.startswith("doctor: tries ") for line in process.stdout))
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.wait()
        self.assertEqual(process.returncode, 130)
        self.assert_nothing_left()

    def test_the_interrupt_key_of_a_terminal_ends_it_once_and_leaves_nothing(self):
        # The terminal sends the signal to all processes of the group in its foreground.
        self.write("recipe.yaml", DUE_TOO_OFTEN)
        self.before = self.files()
        process = self.start("doctor", "recipe.yaml", "--seconds", "4", "--fix", environment=self.environment, start_new_session=True)
        self.assertTrue(any(line.startswith("doctor: tries ") for line in process.stdout))
        while not [path for path in pathlib.Path(self.temporary).rglob("*") if path.name == "metrics.jsonl"]:
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        process.stdout.read()
        self.assertEqual(process.wait(), 130, process.stderr.read())
        self.assert_nothing_left()


class DoctorCasesTest(ProgramTest):
    """The planted cases of tests/doctor/judge.py are recipes that are right, each with what is planted and its cure."""

    def test_each_case_says_what_is_planted_and_its_twin_differs_by_the_cure(self):
        import sys
        sys.path.insert(0, str(CASES))
        self.addCleanup(sys.path.remove, str(CASES))
        import cases  # pylint: disable=import-outside-toplevel
        found = cases.all_cases()
        self.assertGreaterEqual(len([case for case in found if case.verdicts]), 12)
        self.assertGreaterEqual(len([case for case in found if not case.verdicts]), 5)
        for case in found:
            with self.subTest(case=case.name):
                self.assertTrue(case.planted)
                self.assertLessEqual(set(case.verdicts), VERDICTS)
                self.assertEqual(case.cured is None, not case.verdicts)
                self.assertNotEqual(case.cured, case.recipe)



"""`stoker doctor -- PROGRAM` where the program uses a GPU: stand-ins for NVIDIA's libraries (fake_nvml.cc, fake_cuda.cc, fake_cupti.cc)
replay what a second of each planted script had on an NVIDIA GPU (tests/doctor/recorded). The rules have their tests in stoker/doctor."""
import json
import os
import pathlib
import sys

from doctor_foreign_test import DoctorForeignCase
from doctor_test import CASES

FAKES = pathlib.Path(os.environ["STOKER_FAKE_GPU"])
RECORDED = CASES / "recorded"
# Calls CUDA's driver, and then keeps the first thread as busy as one that launches kernels.
USES_CUDA = "import ctypes\nctypes.CDLL('libcuda.so.1').cuInit(0)\nwhile True:\n    sum(range(10000))\n"


class DoctorGpuTest(DoctorForeignCase):
    def watch_cuda(self, script=USES_CUDA, scenario="healthy", libraries=FAKES, seconds="4", arguments=(), **more):
        environment = {"LD_LIBRARY_PATH": str(libraries), "STOKER_FAKE_CUPTI": str(RECORDED / (scenario + ".txt")), "TMPDIR": self.folder,
                       "PATH": "/nowhere", **more}
        report, _ = self.python(script, seconds=seconds, arguments=arguments, environment=environment)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("stoker-")], [])
        return report

    def without(self, name):
        """A folder with the stand-ins but one."""
        folder = pathlib.Path(self.path("fakes"))
        folder.mkdir()
        for each in FAKES.iterdir():
            if not each.name.startswith(name):
                (folder / each.name).symlink_to(each)
        return folder

    def assert_noted(self, report, words):
        self.assertTrue(any(words in note for note in report["profile"]["notes"]), report["profile"]["notes"])

    def test_each_recorded_script_gets_its_verdict(self):
        for scenario, verdict, words in (("item_each_step", "synchronization", "read numbers"), ("unpinned_copies", "copy", "pinned"),
                                         ("short_kernels", "compute", "CUDA graphs"), ("float32_math", "compute", "bfloat16")):
            with self.subTest(scenario):
                report = self.watch_cuda(scenario=scenario)
                self.assertEqual(report["verdict"], verdict, report["why"])
                self.assertIn(words, report["prescriptions"][0]["change"])
                self.assertGreater(report["profile"]["cuda"]["kernels_per_s"], 0)

    def test_the_cured_scripts_get_other_verdicts(self):
        for scenario, verdict in (("item_each_step", "synchronization"), ("unpinned_copies", "copy"), ("short_kernels", "compute"),
                                  ("float32_math", "compute")):
            with self.subTest(scenario):
                report = self.watch_cuda(scenario=scenario + ".cured")
                self.assertNotEqual(report["verdict"], verdict, report["why"])
                self.assertGreater(report["profile"]["cuda"]["kernels_per_s"], 0)

    def test_the_report_for_people_has_the_gpu(self):
        self.write("script.py", USES_CUDA)
        out, _ = self.run_stoker("doctor", "--seconds", "6", "--", sys.executable, "script.py", environment={
            "LD_LIBRARY_PATH": str(FAKES), "STOKER_FAKE_CUPTI": str(RECORDED / "float32_math.txt")})
        self.assertRegex(out, r"(?m)^gpu +Fake GPU 0 \(compute capability 9\.0\): ")
        self.assertRegex(out, r"(?m)^ +kernels or copies run \d+%")

    def test_a_program_that_does_not_use_the_gpu_is_not_counted(self):
        report = self.watch_cuda("while True: sum(range(10000))\n", seconds="2")
        self.assertEqual(report["profile"]["gpu"]["name"], "Fake GPU 0")
        self.assertIsNone(report["profile"]["cuda"])

    def test_without_a_gpu_nothing_is_loaded_into_the_program(self):
        script = "import os, time\nopen('got', 'w').write(os.environ.get('CUDA_INJECTION64_PATH', 'none'))\ntime.sleep(600)\n"
        report = self.watch_cuda(script, STOKER_FAKE_NVML="no-driver", seconds="1")
        self.assertEqual(self.read("got"), b"none")
        self.assertIsNone(report["profile"]["gpu"])
        self.assertFalse(any("kernels" in note for note in report["profile"]["notes"]), report["profile"]["notes"])

    def test_a_library_of_the_users_own_stays(self):
        script = "import os, time\nopen('got', 'w').write(os.environ['CUDA_INJECTION64_PATH'])\ntime.sleep(600)\n"
        report = self.watch_cuda(script, CUDA_INJECTION64_PATH="/mine.so", seconds="1")
        self.assertEqual(self.read("got"), b"/mine.so")
        self.assert_noted(report, "CUDA_INJECTION64_PATH is set already")

    def test_the_option_leaves_the_program_as_it_is(self):
        script = "import os, time\nopen('got', 'w').write(os.environ.get('CUDA_INJECTION64_PATH', 'none'))\n" + USES_CUDA
        report = self.watch_cuda(script, arguments=["--no-gpu-counters"], seconds="1")
        self.assertEqual(self.read("got"), b"none")
        self.assertIsNone(report["profile"]["cuda"])
        self.assertEqual(report["profile"]["gpu"]["name"], "Fake GPU 0")
        self.assert_noted(report, "--no-gpu-counters")
        report = self.watch_cuda(script, arguments=["--no-gpu-counters"], STOKER_FAKE_NVML="no-driver", seconds="1")
        self.assertFalse(any("kernels" in note for note in report["profile"]["notes"]), report["profile"]["notes"])

    def test_the_option_needs_a_program_that_the_doctor_starts(self):
        self.assert_fails(["doctor", "--no-gpu-counters", "recipe.yaml"], 2, "--no-gpu-counters", "-- PROGRAM")
        self.assert_fails(["doctor", "--no-gpu-counters", "--pid", "1"], 2, "--no-gpu-counters", "-- PROGRAM")

    def test_counters_that_somebody_removes_are_a_note(self):
        script = ("import ctypes, os, shutil, time\nctypes.CDLL('libcuda.so.1').cuInit(0)\n"
                  "folder = os.environ['STOKER_CUDA_ACTIVITY']\n"
                  "time.sleep(2.5)\nassert os.listdir(folder)\nshutil.rmtree(folder)\nwhile True: sum(range(10000))\n")
        self.assert_noted(self.watch_cuda(script, seconds="5"), "the counters of kernels were removed from " + self.folder)
        report = self.watch_cuda(USES_CUDA, seconds="2")
        self.assertFalse(any("removed" in note for note in report["profile"]["notes"]), report["profile"]["notes"])

    def test_a_short_program_behind_a_shell_is_seen_where_reading_a_gpu_takes_long(self):
        self.write("short.py", "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: sum(range(10000))\n")
        report, _ = self.watch("sh", "-c", f"{sys.executable} short.py; true", seconds="60",
                               environment={"LD_LIBRARY_PATH": str(FAKES), "STOKER_FAKE_NVML": "slow", "PATH": "/usr/bin:/bin"})
        self.assertIsNone(report["error"])
        self.assertIn("short.py", self.of_role(report, "main")[0]["command"])

    def test_a_signal_while_gpus_are_looked_for_ends_with_a_report_and_starts_nothing(self):
        out, err = self.run_stoker("doctor", "--json", "--", sys.executable, "busy.py", expect=130,
                                   environment={"LD_LIBRARY_PATH": str(FAKES), "STOKER_FAKE_NVML": "interrupt"})
        report = json.loads(out)
        self.assert_is_diagnosis(report)
        self.assertTrue(report["interrupted"])
        self.assertIn("before anything was watched", report["error"])
        self.assertIn("SIGINT", err)
        self.assertFalse(os.path.exists(self.path("began")))

    def test_half_the_bits_are_those_that_the_gpu_has(self):
        report = self.watch_cuda(scenario="float32_math", seconds="3")
        self.assertEqual(report["profile"]["gpu"]["compute_capability"], "9.0")
        self.assertIn("bfloat16", report["prescriptions"][0]["change"])
        report = self.watch_cuda(scenario="float32_math", seconds="3", STOKER_FAKE_NVML="volta")
        self.assertEqual(report["profile"]["gpu"]["compute_capability"], "7.0")
        self.assertIn(" float16", report["prescriptions"][0]["change"])

    def test_why_kernels_are_not_counted_is_a_note(self):
        self.assert_noted(self.watch_cuda(STOKER_FAKE_CUPTI="refuse", seconds="2"), "CUPTI refuses (its error 39)")
        report = self.watch_cuda(libraries=self.without("libcupti"), seconds="2")
        self.assert_noted(report, "kernels are not counted")  # a CUDA toolkit here may bring a CUPTI, which refuses
        self.assertIsNone(report["profile"]["cuda"])

    def test_a_program_ends_as_it_would_without_the_doctor(self):
        script = ("import ctypes, os, sys, time\nctypes.CDLL('libcuda.so.1').cuInit(0)\ntime.sleep(1)\n"
                  "if os.fork() == 0: sys.exit(0)\nos.wait()\nprint('done', flush=True)\nsys.exit(7)\n")
        report = self.watch_cuda(script, seconds="60")
        self.assertEqual(report["profile"]["exit_code"], 7)

    def test_a_program_whose_first_thread_ends_first_ends_with_its_last(self):
        script = ("import ctypes, threading, time\nctypes.CDLL('libcuda.so.1').cuInit(0)\n"
                  "threading.Thread(target=time.sleep, args=(1.5,)).start()\nctypes.CDLL(None).pthread_exit(None)\n")
        report = self.watch_cuda(script, seconds="60")
        self.assertTrue(report["profile"]["ended"])
        self.assertEqual(report["profile"]["exit_code"], 0)

    def test_a_limit_of_the_size_of_files_does_not_end_the_program(self):
        script = ("import ctypes, resource, signal, time\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
                  "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\nctypes.CDLL('libcuda.so.1').cuInit(0)\ntime.sleep(1)\n")
        report = self.watch_cuda(script, seconds="60")
        self.assertEqual(report["profile"]["exit_code"], 0)
        self.assertIsNone(report["profile"]["cuda"])

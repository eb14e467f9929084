"""`stoker env`: the machine, its limits, what it can do, and its traps."""
import json
import os
import resource
import signal
import time
import unittest

from program import STOKER, ProgramTest

FAKES = os.environ.get("STOKER_FAKE_GPU", "")

# docs/machine.md describes these.
SCHEMA = {
    "": {"schema", "machine", "versions", "roofs", "seconds", "copies_problem", "all_reduce_problem", "roofs_file", "roofs_problem", "warnings"},
    "machine": {"host", "kernel", "cpu", "memory", "limits", "gpus", "gpus_unknown", "nvidia_driver", "file_systems"},
    "machine.cpu": {"model", "online", "sockets", "cores", "allowed", "quota", "usable", "governor", "driver", "preference",
                    "throttled_periods", "periods", "thermal_throttles"},
    "machine.memory": {"total_bytes", "available_bytes", "limit_bytes", "swap_total_bytes", "swap_used_bytes", "huge_pages",
                       "huge_pages_defrag", "numa_nodes"},
    "machine.limits": {"open_files", "open_files_hard", "locked_memory_bytes", "shared_memory_bytes", "shared_memory_free_bytes",
                       "control_groups"},
    "machine.file_systems.0": {"path", "type", "remote", "in_memory", "free_bytes"},
    "versions": {"stoker", "torch", "torch_problem", "arrow", "arrow_problem", "instruction_set"},
    "roofs": {"schema", "host", "cpus", "measured_at", "storage", "memory", "memory_together", "decode", "decode_together", "copies", "all_reduce"},
    "roofs.storage.0": {"path", "type", "how", "read_bytes_per_s", "write_bytes_per_s", "random_reads_per_s", "random_bytes_per_s",
                        "small_files_per_s", "small_files_together_per_s", "problem"},
    "roofs.memory": {"read_bytes_per_s", "write_bytes_per_s", "copy_bytes_per_s"},
    "roofs.decode": {"pictures_per_s"},
}


def member(json_value, path):
    for name in filter(None, path.split(".")):
        json_value = json_value[int(name) if name.isdigit() else name]
    return json_value


class EnvTest(ProgramTest):
    def setUp(self):
        super().setUp()
        # The figures of the tests are no figures of the machine.
        self.roofs = self.path("cache/stoker/machine.json")
        self.variables = {"XDG_CACHE_HOME": self.path("cache")}
        os.mkdir(self.path("place"))

    def env(self, *arguments, **options):
        variables = {**self.variables, **options.pop("environment", {})}
        return self.run_stoker("env", "--quick", *arguments, environment=variables, **options)

    def test_json_has_the_members_that_the_documentation_describes(self):
        found = json.loads(self.env("place", "--json")[0])
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "machine.md")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for path, names in SCHEMA.items():
            self.assertEqual(set(member(found, path)), names, path)
            for name in names:
                self.assertIn(f"`{name}`", text)
        self.assertEqual((found["schema"], found["roofs"]["schema"]), (1, 1))
        self.assertGreaterEqual(found["machine"]["cpu"]["usable"], 1)
        self.assertLessEqual(found["machine"]["cpu"]["usable"], len(found["machine"]["cpu"]["allowed"]))
        self.assertEqual(found["machine"]["kernel"], os.uname().release)
        self.assertGreater(found["roofs"]["memory"]["read_bytes_per_s"], 0)
        self.assertGreater(found["roofs"]["decode_together"]["pictures_per_s"], 0)
        storage = found["roofs"]["storage"][0]
        self.assertEqual(storage["path"], os.path.realpath(self.path("place")))
        # A disk may be too slow for reads in this time, but says so.
        self.assertEqual(storage["read_bytes_per_s"] is None, storage["problem"] is not None)
        for warning in found["warnings"]:
            self.assertEqual(set(warning), {"trap", "what", "source", "advice"})

    def test_figures_are_kept_for_what_judges_runs_later(self):
        found = json.loads(self.env("place", "--json")[0])
        self.assertEqual(found["roofs_file"], self.roofs)
        with open(self.roofs, encoding="utf-8") as file:
            self.assertEqual(json.load(file), found["roofs"])
        out, _ = self.env("place", "--to", "here.json", environment={"XDG_CACHE_HOME": "/proc/none"})
        self.assertIn("kept in         here.json", out)
        with open(self.path("here.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["schema"], 1)

    def test_text_fits_a_terminal_and_says_what_is_written_before(self):
        out, err = self.env("place")
        for part in ["machine ", "limits\n", "versions\n", "measured in ", "open files", "/dev/shm", "decoding", "in sequence"]:
            self.assertIn(part, out)
        self.assertRegex(out, "(no known trap was found|[0-9]+ traps?)\n")
        # Names of files may be longer than a line.
        self.assertLessEqual(max(len(line) for line in out.splitlines() if self.folder not in line and "/" not in line), 80)
        self.assertRegex(err, r"(?m)^stoker: writes up to 7[0-9.]+ MB of temporary files into place and removes them at the end$")

    def test_nothing_is_left_behind(self):
        before = sorted(os.listdir(self.folder))
        self.env("place", ".")
        self.assertEqual(os.listdir(self.path("place")), [])
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(before + ["cache"]))

    def test_a_file_is_only_read(self):
        self.write("large", os.urandom(1 << 20) * 20)
        found = json.loads(self.env("large", "--json")[0])["roofs"]["storage"][0]
        self.assertGreater(found["read_bytes_per_s"], 0)
        self.assertIsNone(found["write_bytes_per_s"])
        self.write("small", b"x")
        self.assertIn("the file has 1 bytes", self.env("small")[0])

    def test_a_signal_ends_it_and_removes_the_temporary_files(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            for wanted in ["large", "000000"]:
                with self.subTest(signal=number.name, while_there_is=wanted):
                    # The second path gives the signal time to come.
                    process = self.start("env", "place", ".", environment=self.variables)
                    while not any(wanted in names for _, _, names in os.walk(self.path("place"))):
                        self.assertIsNone(process.poll(), "ended by itself")
                        time.sleep(0.001)
                    process.send_signal(number)
                    out, err = process.communicate(timeout=600)
                    self.assertEqual((process.returncode, out), (code, ""), err)
                    self.assertIn("stoker: error: stopped; the temporary files are removed", err)
                    self.assertEqual(os.listdir(self.path("place")), [])
                    self.assertFalse(os.path.exists(self.roofs))

    def test_what_a_killed_process_left_is_removed_by_the_next(self):
        process = self.start("env", "place", environment=self.variables)
        while not os.listdir(self.path("place")):
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.001)
        process.kill()
        process.wait()
        self.assertNotEqual(os.listdir(self.path("place")), [])
        self.env("place")
        self.assertEqual(os.listdir(self.path("place")), [])

    def test_a_wrong_path_is_known_before_anything_is_measured(self):
        for command, code, says in [(["nowhere"], 1, "nowhere"), (["place", "no/where"], 1, "no/where"),
                                    (["/dev/null"], 2, "device"), (["--to", "/dev/null"], 2, "/dev/null"), (["--slow"], 2, "--slow")]:
            out, err = self.assert_fails(["env", *command], code, says, environment=self.variables)
            self.assertEqual(out, "")
            self.assertNotIn("writes up to", err)

    def test_a_folder_that_cannot_be_written_to_is_a_line_and_the_rest_goes_on(self):
        found = json.loads(self.env("/proc", "--json")[0])
        self.assertIsNone(found["roofs"]["storage"][0]["write_bytes_per_s"])
        self.assertTrue(found["roofs"]["storage"][0]["problem"])
        self.assertGreater(found["roofs"]["memory"]["copy_bytes_per_s"], 0)
        if os.geteuid() != 0:
            os.chmod(self.path("place"), 0o500)
            self.addCleanup(os.chmod, self.path("place"), 0o700)
            self.assertIn("denied", self.env("place")[0])

    def test_figures_that_cannot_be_kept_are_printed_unless_a_file_was_named(self):
        self.write("file", "")
        found = json.loads(self.env("place", "--json", environment={"XDG_CACHE_HOME": self.path("file")})[0])
        self.assertIsNone(found["roofs_file"])
        self.assertIn("file", found["roofs_problem"])
        self.assert_fails(["env", "--quick", "place", "--to", "file/x.json"], 1, "file", environment=self.variables)

    def test_a_low_limit_of_open_files_is_a_warning_and_no_failure(self):
        soft = 64
        found = json.loads(self.env("place", "--json", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft)))[0])
        self.assertEqual(found["machine"]["limits"]["open_files"], soft)
        self.assertIn("open_files", [warning["trap"] for warning in found["warnings"]])

    @unittest.skipUnless(FAKES, "the fake libraries are not built")
    def test_gpus_are_described_by_the_libraries_of_their_driver(self):
        found = json.loads(self.env("place", "--json", environment={"LD_LIBRARY_PATH": FAKES})[0])
        gpus = found["machine"]["gpus"]
        self.assertEqual([gpu["name"] for gpu in gpus], ["Fake GPU 0", "Fake GPU 1"])
        self.assertEqual(gpus[0]["memory_bytes"], 80_000_000_000)
        self.assertEqual([gpu["temperature_c"] for gpu in gpus], [91, None])
        self.assertEqual([gpu["slowed_by"] for gpu in gpus], [["heat"], []])
        self.assertEqual(found["machine"]["nvidia_driver"], "550.54.15")
        self.assertIn("gpu_slowed", [warning["trap"] for warning in found["warnings"]])
        if os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")):
            copies = found["roofs"]["copies"]
            self.assertEqual([each["device"] for each in copies], ["cuda:0 Fake GPU"])
            self.assertGreater(copies[0]["pinned_bytes_per_s"], 0)
        else:
            self.assertIn("cannot train", found["copies_problem"])

    def test_two_processes_exchange_tensors_where_they_can_train(self):
        found = json.loads(self.env("place", "--json")[0])
        if os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")):
            all_reduce = found["roofs"]["all_reduce"]
            self.assertEqual(all_reduce["processes"], 2)
            self.assertGreater(all_reduce["small_s"], 0)
            self.assertGreater(all_reduce["bytes_per_s"], 0)
            self.assertIsNone(found["all_reduce_problem"])
        else:
            self.assertIsNone(found["roofs"]["all_reduce"])
            self.assertIn("cannot train", found["all_reduce_problem"])

    @unittest.skipUnless(FAKES, "the fake libraries are not built")
    def test_a_library_without_a_driver_is_a_line(self):
        out, _ = self.env("place", environment={"LD_LIBRARY_PATH": FAKES, "STOKER_FAKE_NVML": "no-driver"})
        self.assertIn("NVML: Driver Not Loaded", out)
        self.assertRegex(out, "copies          not measured: (NVML: Driver Not Loaded|this build of stoker cannot train)")


if __name__ == "__main__":
    unittest.main()

"""The benchmarks of the package say what they could not compare."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

from support import HANGS

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


class Benchmarks(unittest.TestCase):
    def run_bench(self, name, *arguments, **variables):
        return subprocess.run([sys.executable, "-B", BENCH / name, *arguments], capture_output=True, text=True, timeout=HANGS,
                              env={**os.environ, **variables})

    @unittest.skipIf(importlib.util.find_spec("ray"), "Ray is installed")
    def test_where_ray_is_not_installed_nothing_is_missed_but_nothing_compared_either(self):
        done = self.run_bench("python_ray", STOKER_FRIENDS_PYTHON=sys.executable)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "NOT COMPARED: .* cannot import Ray .*./dev friends")
        self.assertEqual(self.run_bench("python_ray", "--no-peers", STOKER_FRIENDS_PYTHON=sys.executable).returncode, 0)

    def test_without_the_package_that_is_measured_nothing_is_compared(self):
        for name, variable in (("python", "STOKER_PYTHON"), ("python_datasets", "STOKER_PYTHON"), ("python_loop", "STOKER_PYTHON"),
                               ("python_ray", "STOKER_FRIENDS_PYTHON")):
            with self.subTest(name):
                done = self.run_bench(name, **{variable: "/nowhere/bin/python"})
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                self.assertIn("NOT COMPARED: /nowhere/bin/python is not there", done.stdout)


if __name__ == "__main__":
    unittest.main()

"""What the tests of the Python package share."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest

# A child that hangs is a failure, which shows after this many seconds.
HANGS = 600


class TestCase(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def pictures(self, count=48, height=6, width=5):
        """An IDX file of `count` pictures in which byte i is i modulo 251, and one of labels 0 to 9."""
        images, labels = self.folder / "images", self.folder / "labels"
        size = count * height * width
        images.write_bytes(struct.pack(">IIII", 0x803, count, height, width) + bytes(i % 251 for i in range(size)))
        labels.write_bytes(struct.pack(">II", 0x801, count) + bytes(i % 10 for i in range(count)))
        return images, labels

    def run_python(self, program, *arguments, **options):
        """Runs a Python program in a process of its own, which must succeed; returns what it printed."""
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)], capture_output=True,
                              text=True, timeout=HANGS, cwd=self.folder, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("Exception ignored", done.stderr)
        return done.stdout


def threads_of_this_process():
    return len(os.listdir("/proc/self/task"))


def needs(module):
    """Skips a class or a test where `module` is not installed."""
    import importlib.util

    return unittest.skipUnless(importlib.util.find_spec(module), f"{module} is not installed")

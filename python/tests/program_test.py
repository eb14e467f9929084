"""The program `stoker` that the package holds beside its module."""

import http.server
import importlib.util
import os
import subprocess
import sys
import threading
import unittest

import stoker as sk
from support import HANGS, TestCase


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=HANGS, **options)


class Program(TestCase):
    def setUp(self):
        super().setUp()
        self.stoker = os.path.join(os.path.dirname(sys.executable), "stoker")
        (self.folder / "lines.txt").write_text("".join(f"{i}\n" for i in range(100)))
        (self.folder / "recipe.yaml").write_text("data: {train: [range: 100, batch: 10]}\n")

    def test_is_of_the_version_of_the_module(self):
        for command in ([self.stoker], [sys.executable, "-m", "stoker"]):
            done = run(*command, "--version")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(sk.__version__, done.stdout)

    def test_measures_inspects_and_gives_exit_codes(self):
        self.assertIn('"stages"', run(self.stoker, "bench", "recipe.yaml", "--epochs", "1", "--json", cwd=self.folder).stdout)
        self.assertIn("100 lines", run(self.stoker, "inspect", "lines.txt", cwd=self.folder).stdout)
        self.assertEqual(run(self.stoker, "no-command").returncode, 2)

    @unittest.skipIf(importlib.util.find_spec("stoker_train"), "the package stoker-train is installed")
    def test_help_says_which_commands_need_the_other_package(self):
        for command in ([self.stoker, "help"], [self.stoker, "--help"], [sys.executable, "-m", "stoker", "help"]):
            out = run(*command).stdout
            note = " ".join(out[out.index("Not here"):out.index("Example:")].split())
            self.assertIn("stoker-train, which train, eval, predict, lint, export, schedule, lr-find, batch-find need", note)
            self.assertIn("pip install stoker-train", note)

    @unittest.skipIf(importlib.util.find_spec("stoker_train"), "the package stoker-train is installed")
    def test_says_which_package_trains(self):
        done = run(self.stoker, "train", "recipe.yaml", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip install stoker-train", done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("stoker_train"), "the package stoker-train is not installed")
    def test_trains_with_the_other_package(self):
        images, labels = self.pictures()
        (self.folder / "train.yaml").write_text(
            f"data: {{train: [idx: {{images: {images}, labels: {labels}}}, normalize, batch: 16]}}\n"
            "model: {mlp: {hidden: [8], classes: 10}}\ntrain: {epochs: 2, optimizer: sgd, schedule: {constant: {lr: 0.01}}}\n"
        )
        done = run(self.stoker, "train", "train.yaml", "--run", "run", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "run" / "weights.safetensors").exists())


class Libcurl(TestCase):
    def test_is_loaded_with_the_first_request(self):
        class Serves(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802 - http.server calls it
                self.send_response(200)
                self.send_header("Content-Length", "4")
                self.end_headers()
                self.wfile.write(b"a\nb\n")

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *unused):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Serves)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        out = self.run_python(
            """
            import sys
            import stoker as sk
            def loaded():
                with open("/proc/self/maps") as maps:
                    return "libcurl" in maps.read()
            before = loaded()
            count = sum(1 for _ in sk.Loader(sk.lines(sys.argv[1])))
            print(before, count, loaded())
            """,
            f"http://127.0.0.1:{server.server_port}/a.txt",
        )
        self.assertEqual(out.split(), ["False", "2", "True"])


if __name__ == "__main__":
    unittest.main()

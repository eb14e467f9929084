"""Names that a terminal would obey, or a log take for lines of its own, reach neither as they are."""
import json
import os
import pty
import random
import re
import subprocess
import unittest

from program import RECIPE, SIDE, STOKER, ProgramTest, bmp, image

# ESC with a command that clears the screen, a line break with a made-up message, a byte that is no UTF-8, and controls that
# turn the direction of what follows.
HOSTILE = [b"\x1b[2J", b"a\nstoker: error: forged", b"\xff\xfe", "\u202egpj\u2066".encode(), b"\r\x9b31m", "\x85\u2028".encode(),
           b"\x1b[31mred", b"\r\x1b[Kgone"]
NAME = b"-".join(HOSTILE)
# What may stand in the output: everything printable, and line breaks that are ours.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class NamesCase(ProgramTest):
    def run_bytes(self, *arguments, expect=0):
        """Runs `stoker ARGUMENTS`, which may be bytes, and returns its standard output; both streams show no name raw."""
        done = subprocess.run([STOKER, *arguments], cwd=self.folder, capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        for stream in (done.stdout, done.stderr):
            text = stream.decode()  # UTF-8, whatever the name was
            self.assertIsNone(OBEYED.search(text), text)
            self.assertNotRegex(text, r"(?m)^\W*stoker: error: forged")
        return done.stdout.decode()

    def run_on_a_terminal(self, *arguments):
        """Runs `stoker ARGUMENTS` on a terminal, where its own colours are let through, and those of names are not."""
        ours, its = pty.openpty()
        process = subprocess.Popen([STOKER, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=its, stderr=its)
        os.close(its)
        shown = b""
        try:
            while part := os.read(ours, 1 << 16):
                shown += part
        except OSError:  # what a terminal says whose programs have ended
            pass
        os.close(ours)
        process.wait()
        self.assertIn(rb"forged", shown)  # the name, as text
        for each in (b"\x1b[2J", b"\nstoker: error: forged", "\u202e".encode(), b"\x9b", b"\x1b[31mred", b"\x1b[Kgone"):
            self.assertNotIn(each, shown)

    def write_bytes(self, name, content):
        with open(os.path.join(self.folder.encode(), name), "wb") as file:
            file.write(content)


class NamesTest(NamesCase):
    def test_inspect_and_verify_show_names_of_files_as_text(self):
        with open(self.path("data/train-images"), "rb") as file:
            self.write_bytes(NAME, file.read())
        for expect, arguments in [(0, ["inspect"]), (0, ["verify"])]:
            shown = self.run_bytes(*arguments, NAME, expect=expect)
            self.assertIn(r"\u001b[2J-a\nstoker: error: forged-\xff\xfe-\u202egpj\u2066-", shown)
            self.assertEqual(json.loads(self.run_bytes(*arguments, NAME, "--json"))["file" if arguments == ["inspect"] else "files"]
                             is not None, True)
        self.run_bytes("inspect", b"no-" + NAME, expect=1)
        self.run_bytes("verify", b"no-" + NAME, expect=1)

    def test_damage_in_a_file_of_such_a_name_is_one_line(self):
        self.write_bytes(NAME, b"\x1f\x8b\x08damaged")
        self.run_bytes("verify", NAME, expect=1)
        self.run_bytes("inspect", NAME, expect=1)
        os.mkdir(os.path.join(self.folder.encode(), b"d" + NAME))
        self.write_bytes(os.path.join(b"d" + NAME, NAME), b"\x1f\x8b\x08damaged")
        self.run_bytes("inspect", b"d" + NAME, expect=1)
        self.run_bytes("verify", b"d" + NAME, expect=1)

    def test_names_within_files_are_shown_as_text(self):
        header = json.dumps({"w\x1b[2J\n\u202e": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                             "__metadata__": {"k\x1b": "v\nforged\u2066"}}).encode()
        self.write_bytes(b"w.safetensors", len(header).to_bytes(8, "little") + header + b"\0")
        shown = self.run_bytes("inspect", "w.safetensors")
        self.assertIn(r"w\u001b[2J\n\u202e", shown)
        found = json.loads(self.run_bytes("inspect", "w.safetensors", "--json"))
        self.assertIn("w\x1b[2J\n\u202e", found["fields"])  # JSON has its own escapes for the same name

    def test_values_of_a_recipe_are_shown_as_text(self):
        value = '"\\e[2J\\nstoker: error: forged\\u202e"'
        for change in [("root: data", f"root: {value}"), ("- shuffle", f"- {value}"), ("mean: 0.2", f"mean: {value}"),
                       ("mean: 0.2", f"{value}: 0.2"), ("padding: 1", f"padding: 1, {value}: 1")]:
            with self.subTest(change=change):
                self.write("recipe.yaml", RECIPE.replace(*change))
                self.run_bytes("bench", "recipe.yaml", expect=1 if "root" in change[0] else 2)
        self.run_bytes("bench", "recipe.yaml", "--set", b"train." + NAME + b"=1", expect=2)
        self.run_bytes(NAME, expect=2)
        self.run_bytes("bench", b"--" + NAME, expect=2)

    def test_plot_shows_names_of_runs_and_figures_as_text(self):
        os.mkdir(os.path.join(self.folder.encode(), NAME))
        lines = [{"kind": "train", "step": step, "epoch": 1, "train_seconds": step, "loss": 1 / step, "l\x1b[2J\n": step}
                 for step in (1, 2, 3)]
        self.write_bytes(os.path.join(NAME, b"metrics.jsonl"), b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        self.run_bytes("plot", NAME)
        self.run_bytes("plot", NAME, "--metric", "l\x1b[2J\n")
        self.run_bytes("plot", NAME, "--metric", "none\x1b\n", expect=2)
        self.run_bytes("plot", NAME, "--json")
        self.run_bytes("plot", NAME, "--to", "a.svg")
        with open(self.path("a.svg"), encoding="utf-8") as file:
            self.assertIsNone(OBEYED.search(file.read()))


    def test_commands_show_the_name_of_a_recipe_as_text(self):
        recipe = NAME + b".yaml"
        self.write_bytes(recipe, RECIPE.encode())
        for command in (["lint"], ["check"], ["bench", "--epochs", "1"], ["schedule"], ["doctor", "--seconds", "1"]):
            with self.subTest(command=command[0]):
                self.run_bytes(*command, recipe)
                self.run_bytes(*command, b"no-" + recipe, expect=1)

    def test_commands_show_names_as_text_on_a_terminal_too(self):
        recipe = NAME + b".yaml"
        self.write_bytes(recipe, RECIPE.encode())
        for command in (["lint"], ["doctor", "--seconds", "1"]):
            with self.subTest(command=command[0]):
                self.run_on_a_terminal(*command, recipe)
        for command in ("lint", "check", "bench", "schedule", "doctor", "train", "inspect", "verify", "plot", "compare", "top", "eval"):
            with self.subTest(command=command):
                self.run_on_a_terminal(command, b"no-" + recipe, *([b"nor-" + recipe] if command == "compare" else []))


class TrainedNamesTest(NamesCase):
    def test_train_and_predict_show_names_as_text(self):
        name = NAME
        rng = random.Random(1)
        for label, folder in enumerate([b"c0" + name, b"c1"]):
            os.makedirs(os.path.join(self.folder.encode(), b"photos", folder))
            for i in range(8):
                picture = bmp(image(label, rng), SIDE, SIDE)
                self.write_bytes(os.path.join(b"photos", folder, b"%d" % i + name + b".bmp"), picture)
        self.write("photos.yaml", """\
data:
  train: [folder: photos, shuffle, decode, resize: {size: SIDE}, normalize: {mean: 100, std: 50}, batch: 4]
  eval: [folder: photos, decode, resize: {size: SIDE}, normalize: {mean: 100, std: 50}, batch: 4]
model: {linear: {classes: 2}}
train: {epochs: 1, device: cpu, tune: off, threads: 1}
""".replace("tune: off", "tune: 'off'").replace("SIDE", str(SIDE)))
        self.run_bytes("train", "photos.yaml", "--run", b"run" + name)
        one = b"photos/c0" + name + b"/1" + name + b".bmp"
        shown = self.run_bytes("predict", b"run" + name, one, "photos/c1/no\x1b.bmp", expect=1)
        self.assertIn(r"\u001b[2J", shown)
        self.run_bytes("predict", b"run" + name)
        self.run_bytes("eval", b"run" + name)
        self.run_bytes("inspect", b"run" + name)
        json.loads(self.run_bytes("predict", b"run" + name, one, "--json"))
        broken = os.path.join(b"photos/c1", b"broken" + name + b".bmp")
        self.write_bytes(broken, b"BM nothing")
        self.run_bytes("train", "photos.yaml", "--run", "other", expect=1)
        self.run_bytes("check", "photos.yaml", expect=1)
        # Without a look at the first samples the run begins, and its log names the picture.
        self.run_bytes("train", "photos.yaml", "--run", "begun", "--set", "train.sanity=false", "--set", "train.lint=false",
                       expect=1)
        log = self.read("begun/log").decode()
        self.assertIn(r"broken\u001b[2J", log)
        self.assertIsNone(OBEYED.search(log), log)
        self.assertNotRegex(log, r"(?m)^(?!\d{4}-\d\d-\d\d \d\d:\d\d:\d\d |\Z)")
        self.run_bytes("predict", b"run" + name, broken, broken, expect=1)


if __name__ == "__main__":
    unittest.main()

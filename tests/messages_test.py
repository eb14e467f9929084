"""What messages of the program advise works, and what they warn of is so."""
import os
import subprocess
import unittest

from program import RECIPE, STOKER, ProgramTest, where


class MessagesTest(ProgramTest):
    def test_an_empty_value_is_refused_instead_of_counting_as_left_out(self):
        for arguments, name in [(["train", "recipe.yaml", "--run", ""], "--run"), (["pack", "recipe.yaml", "o.stoker", "--format", ""], "--format"),
                                (["check", ""], "RECIPE"), (["inspect", ""], "FILE")]:
            with self.subTest(arguments=arguments):
                self.assert_fails(arguments, 2, f"{name} is empty; give a value")
        self.assertFalse(os.path.exists(self.path("runs")))

    def test_numbers_are_decimal(self):
        for value in ("0x10", "010"):
            self.assert_fails(["pack", "recipe.yaml", "o.stoker", "--stages", "1", "--shards", value], 2, f"--shards {value} is not a decimal number")
        self.run_stoker("pack", "recipe.yaml", "o.stoker", "--stages", "1", "--shards", "2", "--seed", "0")

    def test_a_named_pipe_is_no_recipe(self):
        os.mkfifo(self.path("pipe.yaml"))
        for command in ("check", "train"):
            done = subprocess.run([STOKER, command, "pipe.yaml"], cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("this is a named pipe", done.stderr)

    def test_a_directory_that_holds_something_else_is_not_called_a_run(self):
        os.mkdir(self.path("fruit"))
        self.write("fruit/apple", "red")
        _, err = self.assert_fails(["train", "recipe.yaml", "--run", "fruit"], 1, "fruit: exists already and is no run; name a directory that is empty or not there yet")
        self.assertNotIn("resume", err)

    def test_a_group_whose_parameters_others_have_says_which_and_stands_on_its_line(self):
        wrong = RECIPE.replace("  epochs: 3\n", "  epochs: 3\n  groups:\n    - {match: \"*\"}\n    - {match: \"*.bias\"}\n")
        self.write("recipe.yaml", wrong)
        out, _ = self.run_stoker("check", "recipe.yaml", expect=1)
        self.assertIn(f"({where(wrong, '{match: ' + chr(34) + '*.bias')}): all parameters that '*.bias' matches belong to groups before it", out)
        self.assertNotIn("matches none", out)

    def test_more_classes_than_fit_are_refused_by_their_range(self):
        self.write("recipe.yaml", RECIPE)
        out, _ = self.run_stoker("check", "recipe.yaml", "--set", "model.convnet.classes=9223372036854775807", expect=1)
        self.assertIn("it must lie in 1..100000000", out)
        self.assertNotIn("torch", out)

    def test_packing_warns_of_draws_that_the_files_will_hold(self):
        out, err = self.run_stoker("pack", "recipe.yaml", "o.stoker", "--stages", "3")
        self.assertEqual(err.count("warning"), 1, err)
        self.assertIn("`random_crop` draws at random", err)
        self.assertNotIn("warning", self.run_stoker("pack", "recipe.yaml", "p.stoker", "--stages", "2")[1])

    def test_a_shuffle_of_batches_is_warned_of(self):
        batches = RECIPE.replace("    - shuffle\n", "", 1).replace("    - prefetch\n", "    - shuffle\n    - prefetch\n", 1)
        self.write("recipe.yaml", batches)
        out, _ = self.run_stoker("check", "recipe.yaml")
        self.assertIn("`shuffle` follows `batch`", out)
        self.write("recipe.yaml", RECIPE)
        self.assertNotIn("warning", self.run_stoker("check", "recipe.yaml")[0])

    def test_a_pack_of_very_many_fields_shows_the_first_and_how_many_there_are(self):
        names = [f"c{i}" for i in range(400)]
        self.write("data/wide.csv", ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
        self.write("wide.yaml", "data:\n  root: data\n  train: [csv: wide.csv]\n")
        out, _ = self.run_stoker("pack", "wide.yaml", "w.stoker")
        self.assertIn("c15: int64[]} and 384 fields more", out)
        self.assertLess(len(out), 2000)

    ROWS = """\
data:
  root: data
  train:
    - csv: {files: rows.csv, fields: {x: {columns: [x], type: float32, shape: [1]}, label: int64}}
    - shuffle
    - batch: 4
model: {linear: {classes: 2}}
train: {epochs: 2, device: cpu, input: x, target: label}
"""

    def test_a_target_that_no_class_has_is_named_by_file_and_line(self):
        self.write("data/rows.csv", "x,label\n" + "".join(f"{row},{7 if row == 2 else row % 2}\n" for row in range(4)))
        self.write("recipe.yaml", self.ROWS)
        out, _ = self.run_stoker("check", "recipe.yaml", expect=1)
        self.assertIn("rows.csv: record 2 (line 4, byte ", out)

    def test_what_is_advised_for_damaged_data_trains_once_they_are_corrected(self):
        rows = "x,label\n" + "".join(f"{row},{row % 2}\n" for row in range(40))
        self.write("data/rows.csv", rows)
        self.write("recipe.yaml", self.ROWS.replace("    - shuffle\n", "").replace("device: cpu", "device: cpu, sanity: false"))
        self.write("data/rows.csv", rows.replace("\n37,", "\nbad,"))
        _, err = self.run_stoker("train", "recipe.yaml", "--run", "run", expect=1)
        self.assertIn("`on_error: replace` beside the stage", err)
        self.assertNotIn("on_error: skip", err)  # without train.max_steps it is refused, as the last lines show
        self.assertIn("where a data file was changed meanwhile --resume --allow-changes", err)
        self.write("data/rows.csv", rows)
        self.assert_fails(["train", "--resume", "--run", "run"], 1, "--allow-changes")
        self.run_stoker("train", "--resume", "--run", "run", "--allow-changes")
        self.write("data/rows.csv", rows.replace("\n37,", "\nbad,"))
        recipe = self.read("recipe.yaml").decode()
        for policy, code in (("replace", 0), ("skip", 2)):
            self.write("recipe.yaml", recipe.replace("    - batch", f"      on_error: {policy}\n    - batch"))
            self.run_stoker("train", "recipe.yaml", "--run", policy, expect=code)


if __name__ == "__main__":
    unittest.main()

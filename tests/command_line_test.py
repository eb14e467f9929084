"""The command line itself: help, version, exit codes, error lines."""
import os
import re
import subprocess
import unittest

from program import STOKER, ProgramTest

COMMANDS = ["train", "launch", "scale", "doctor", "top", "eval", "predict", "check", "lint", "export", "schedule", "lr-find", "batch-find", "plot", "compare",
            "bench", "pack", "verify", "inspect", "env", "features", "vocabulary", "help", "man", "completion"]


class CommandLineTest(ProgramTest):
    def test_help_of_every_command_fits_the_screen_and_says_how_it_exits(self):
        for command in [[], *([name] for name in COMMANDS)]:
            with self.subTest(command=command):
                out, err = self.run_stoker(*command, "--help")
                self.assertEqual(err, "")
                self.assertTrue(out.startswith(" ".join(["Usage: stoker", *command]) + " "), out)
                self.assertRegex(out, r"\nExample: stoker ")
                self.assertRegex(out, r"\nExit: 0 ")
                self.assertLessEqual(max(map(len, out.splitlines())), 80)
                # Of the program itself a line for each command, however many there are.
                self.assertLessEqual(len(out.splitlines()), 24 if command else len(COMMANDS) + 7)
                self.assertEqual(self.run_stoker(*command, "-h")[0], out)

    def test_help_lists_every_command(self):
        out, _ = self.run_stoker("--help")
        for command in COMMANDS:
            self.assertRegex(out, rf"(?m)^  {command}  +\w")

    def test_version_is_name_and_number(self):
        out, _ = self.run_stoker("--version")
        self.assertRegex(out, r"\Astoker \d+\.\d+\.\d+\n\Z")

    def test_without_a_command_the_help_goes_to_standard_error(self):
        out, err = self.run_stoker(expect=2)
        self.assertEqual(out, "")
        self.assertIn("Usage: stoker", err)

    def test_a_long_value_is_not_repeated_whole(self):
        long = "9" * 5000
        for arguments in [[long], ["--" + long], ["bench", "recipe.yaml", long], ["bench", "recipe.yaml", "--threads", long],
                          ["bench", "recipe.yaml", "--memory", long + "x"]]:
            out, err = self.assert_fails(arguments, 2)
            self.assertLess(len(err), 800)

    def test_wrong_usage_exits_with_2_and_names_the_nearest_right_word(self):
        for arguments, says in [
                (["trian"], ["unknown command 'trian'", "did you mean 'train'?"]),
                (["bench", "recipe.yaml", "--thread", "2"], ["unknown option '--thread'", "did you mean '--threads'?"]),
                (["bench", "recipe.yaml", "--thread=2"], ["unknown option '--thread'"]),
                (["bench", "recipe.yaml", "other.yaml"], ["'other.yaml' is one argument too many"]),
                (["bench"], ["RECIPE is required", "`stoker bench --help` explains"]),
                (["bench", "recipe.yaml", "--threads", "0"], ["--threads", "1 to 1024"]),
                (["bench", "recipe.yaml", "--threads", "many"], ["--threads", "many"]),
                (["bench", "recipe.yaml", "--seconds", "0"], ["--seconds"]),
                (["bench", "recipe.yaml", "--epochs", "0"], ["--epochs", "0 is not a whole number of at least 1"]),
                (["bench", "recipe.yaml", "--epochs", "2", "--seconds", "1"], ["--epochs", "--seconds"]),
                (["bench", "--model", "mlp", "--epochs", "2"], ["--epochs", "--model"]),
                (["bench", "recipe.yaml", "--memory", "lots"], ["--memory", "lots"]),
                (["bench", "recipe.yaml", "--memory", "0"], ["--memory: '0' is no size from 1kB to 9000000TB"]),
                (["predict", "run", "x", "--limit", "-1"], ["--limit", "-1 is not a whole number of at least 0"]),
                (["bench", "recipe.yaml", "--model", "mlp"], ["RECIPE and --model"]),
                (["bench", "--model", "mlp", "--input", "28"], ["--input 28"]),
                (["train"], ["RECIPE is required"]),
                (["train", "recipe.yaml", "--allow-changes"], ["--allow-changes", "--resume"]),
                (["train", "--resume"], ["RECIPE is required"]),
                (["eval"], ["RUN is required"]),
                (["predict"], ["RUN is required"]),
                (["predict", "run", "x", "--to", "y"], ["--to", "FILE 'x'"]),
                (["predict", "run", "x", "--top", "0"], ["--top"]),
                (["inspect", "--ops", "--models"], ["--ops", "--models"]),
                (["inspect", "x", "--ops"], ["--ops", "FILE"]),
                (["help", "nosuch"], ["unknown command 'nosuch'; known are train, ", ", vocabulary, ", ", completion"]),
                (["train", "recipe.yaml", "--epochs", "3"], ["unknown option '--epochs'", "such as --set train.epochs=1"]),
                (["bench", "recipe.yaml", "--set", "epochs=3"], ["data, model or train", "--set train.epochs=3?"]),
                (["bench", "recipe.yaml", "--set", "root=x"], ["--set data.root=x?"]),
                (["plot", "run", "--by", "x"], ["--by: x is not step, epoch or time"]),
                (["inspect"], ["FILE, --ops, --models or --formats is required"])]:
            with self.subTest(arguments=arguments):
                self.assert_fails(arguments, 2, *says)

    def test_every_number_is_refused_that_is_none_or_out_of_its_range(self):
        numbers = {"bench": ["--threads", "--seconds", "--epochs"], "pack": ["--shards", "--seed", "--resize", "--quality", "--stages",
                                                                             "--threads"],
                   "predict": ["--top", "--limit"], "plot": ["--smooth"], "lr-find": ["--low", "--high", "--steps", "--smooth"],
                   "batch-find": ["--most", "--seconds"], "schedule": ["--steps-per-epoch", "--batch"],
                   "inspect": ["--samples"], "vocabulary": ["--size", "--min-count"]}
        for command, options in numbers.items():
            for option in options:
                for value in ["nan", "inf", "-inf", "-1", "1e999", "x", "", "0x", "1,5"]:
                    with self.subTest(command=command, option=option, value=value):
                        self.assert_fails([command, "recipe.yaml", "x", f"{option}={value}"], 2, option)
        for value in ["nan", "inf", "x"]:
            self.assert_fails(["plot", "x", "--reach", f"accuracy={value}"], 2, f"--reach accuracy={value}")
            self.assert_fails(["bench", "--model", "mlp", "--batches", value], 2, "--batches")

    def test_a_size_that_is_none_is_answered_by_what_sizes_look_like(self):
        for command in ("bench", "train", "lr-find", "batch-find"):
            for value in ["10XB", "5%", "1", "999", "nan", "inf", "-5MB", "2 GB GB", "1e30"]:
                with self.subTest(command=command, value=value):
                    self.assert_fails([command, "recipe.yaml", f"--memory={value}"], 2, f"--memory: '{value}' is no size from 1kB to 9000000TB",
                                      "such as 512MiB or 2GB")

    def test_set_takes_one_assignment_so_the_recipe_may_follow_it(self):
        out, _ = self.run_stoker("bench", "--set", "data.train.batch.size=16", "recipe.yaml", "--seconds", "0.1")
        self.assertIn("samples_per_s", out)

    def test_a_result_that_cannot_be_printed_is_a_failure(self):
        for arguments in [["--help"], ["--version"], ["inspect", "--ops"], ["bench", "recipe.yaml", "--seconds", "0.1", "--json"]]:
            with self.subTest(arguments=arguments):
                with open("/dev/full", "w", encoding="ascii") as full:
                    self.assert_fails(arguments, 1, "standard output", "space", stdout=full)
                self.assert_fails(arguments, 1, "standard output", preexec_fn=lambda: os.close(1))

    def test_nothing_of_libtorch_is_loaded_by_the_light_program(self):
        out = subprocess.run(["ldd", STOKER], check=True, capture_output=True, text=True).stdout
        self.assertIn("libc.so", out)
        self.assertIsNone(re.search("lib(torch|c10|g?omp)", out), out)

    def test_help_of_train_starts_no_other_program(self):
        # The dynamic loader reports every library; libtorch would be among them.
        _, err = self.run_stoker("train", "--help", environment={"LD_DEBUG": "files"})
        if "libc.so" not in err:
            self.skipTest("the loader of this system reports nothing")
        self.assertNotIn("torch", err)


if __name__ == "__main__":
    unittest.main()

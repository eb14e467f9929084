"""The memory budget of the programs: `--memory` and the recipe's `train.memory`, and what is said where it does not do."""
import shutil
import unittest

from program import STOKER, ProgramTest

ROOM = ["--set", "train.epochs=1", "--set", "train.tune=off"]


class MemoryTest(ProgramTest):
    def test_what_must_be_held_is_refused_with_the_sizes_and_what_this_command_can_set(self):
        says = "data/train-images: its values take 100352 bytes of memory, but the budget is 20000 bytes; pack it into .npy or .stoker files"
        here = "raise the budget (--memory, or train.memory in the recipe)"
        for command in [["train", "recipe.yaml", *ROOM], ["lr-find", "recipe.yaml"]]:
            with self.subTest(command[0]):
                self.assert_fails([*command, "--memory", "20kB"], 1, says, here)
                self.assert_fails([*command, "--set", "train.memory=20kB"], 1, says, here)
        self.assert_fails(["bench", "recipe.yaml", "--memory", "20kB"], 1, says, here)
        self.assert_fails(["bench", "recipe.yaml", "--set", "train.memory=20kB"], 1, says, here)
        self.assert_fails(["lint", "recipe.yaml", "--set", "train.memory=20kB"], 1, says, "raise the budget (train.memory in the recipe)")

    def test_check_keeps_the_budget_of_the_recipe_that_it_checks(self):
        out, err = self.run_stoker("check", "recipe.yaml", "--set", "train.memory=64MiB")
        self.assertNotIn("keeps a budget", out + err)
        out, _ = self.run_stoker("check", "recipe.yaml", "--set", "train.memory=20kB", expect=1)
        self.assertIn("its values take 100352 bytes of memory, but the budget is 20000 bytes", out)
        self.assertIn("raise the budget (train.memory in the recipe)", out)

    def test_check_without_its_trainer_keeps_it_too(self):
        shutil.copy(STOKER, self.path("stoker"))
        alone = {"executable": self.path("stoker")}
        _, err = self.run_stoker("check", "recipe.yaml", "--set", "train.memory=64MiB", **alone)
        self.assertNotIn("keeps a budget", err)
        out, _ = self.run_stoker("check", "recipe.yaml", "--set", "train.memory=20kB", expect=1, **alone)
        self.assertIn("but the budget is 20000 bytes", out)

    def test_a_budget_that_does_is_kept_and_an_option_goes_before_the_recipe(self):
        self.run_stoker("train", "recipe.yaml", *ROOM, "--set", "train.memory=64MiB", "--run", "one")
        self.assertIn("limit: 64MiB", self.read("one/recipe.yaml").decode())
        self.run_stoker("eval", "one")
        self.run_stoker("eval", "one", "--memory", "1GiB")
        self.assert_fails(["eval", "one", "--memory", "10kB"], 1, "data/eval-images.gz: its values take", "raise the budget (--memory, or")
        # Another budget changes no weight.
        _, err = self.run_stoker("train", "--resume", "--run", "one", "--set", "train.memory=1GiB")
        self.assertNotIn("keeps a budget", err)  # that of the recipe that the run began with counts no more
        self.run_stoker("bench", "recipe.yaml", "--set", "train.memory=20kB", "--memory", "16MiB", "--epochs", "2")

    def test_a_size_that_is_none_is_refused_with_its_place(self):
        self.assert_fails(["train", "recipe.yaml", "--set", "train.memory=lots"], 2,
                          "train.memory: 'lots' is no size, such as 2GiB or 500MB, nor auto")
        self.assert_fails(["bench", "recipe.yaml", "--set", "train.memory=-1"], 2, "train.memory: '-1' is no size")
        out, _ = self.run_stoker("check", "recipe.yaml", "--set", "train.memory=lots", expect=1)
        self.assertEqual(out.splitlines()[0], "--set train.memory: train.memory: 'lots' is no size, such as 2GiB or 500MB, nor auto")


if __name__ == "__main__":
    unittest.main()

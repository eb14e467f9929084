"""Plug-ins that do what they must not (hostile_kinds.cc): each command ends with a message that names the kind, and none ends with 0."""
import os
import pathlib
import re
import shutil
import unittest

from program import STOKER, ProgramTest

BIN = pathlib.Path(STOKER).resolve().parent
HOSTILE = BIN / "hostile_kinds.so"
OWN_STOKER = str(BIN / "own_stoker")

RECIPE = """\
plugins: [hostile.so]
data:
  root: data
  train:
    - idx: {images: train-images, labels: train-labels}
    - hostile_operator: OPERATOR
    - normalize: {mean: 0.2, std: 0.3}
    - batch: {size: 32, drop_remainder: true}
  eval:
    - idx: {images: eval-images.gz, labels: eval-labels}
    - normalize: {mean: 0.2, std: 0.3}
    - batch: {size: 50}
model: {hostile_model: MODEL}
train:
  epochs: 1
  max_steps: 2
  device: cpu
  threads: 1
  loss: {hostile_loss: LOSS}
  optimizer: {hostile_optimizer: OPTIMIZER}
  metrics: [{hostile_metric: METRIC}]
"""
SORTS = ("operator", "model", "loss", "optimizer", "metric")


class HostileKindsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        shutil.copy(HOSTILE, self.path("hostile.so"))

    def recipe(self, **options):
        """Writes recipe.yaml, where the kinds of these sorts have these options."""
        text = RECIPE
        for sort in SORTS:
            text = text.replace(sort.upper(), options.get(sort, "{}"))
        self.write("recipe.yaml", text)
        return text

    def train(self, *arguments, expect=1, **environment):
        """Standard error of a training that fails."""
        shutil.rmtree(self.path("run"), ignore_errors=True)
        return self.run_stoker("train", "recipe.yaml", "--allow-code", "--run", "run", *arguments, expect=expect,
                               environment=environment)[1]

    def test_kinds_that_do_nothing_wrong_are_trained(self):
        self.recipe()
        self.run_stoker("train", "recipe.yaml", "--allow-code", "--run", "run")

    def test_a_null_pointer_instead_of_an_object_is_an_error_that_names_the_kind(self):
        for sort in ("model", "loss", "optimizer", "metric"):
            with self.subTest(sort=sort):
                self.recipe(**{sort: "{does: 'null'}"})
                self.assertRegex(self.train(), f"hostile_{sort}: its Build returned a null pointer")

    def test_whatever_is_thrown_while_a_kind_is_built_is_an_error_that_names_the_kind(self):
        for sort in SORTS:
            for does, says in (("throw", "a text of the plug-in"), ("throw a number", "something .*that is no std::exception")):
                with self.subTest(sort=sort, does=does):
                    self.recipe(**{sort: f"{{does: {does}}}"})
                    err = self.train()
                    self.assertRegex(err, f"hostile_{sort}: .*{says}")
                    self.assertNotIn("defect of Stoker", err)

    def test_what_an_operator_throws_while_it_is_built_has_its_line(self):
        line = self.recipe(operator="{does: throw}").splitlines().index("    - hostile_operator: {does: throw}") + 1
        self.assertRegex(self.train(), f"recipe.yaml:{line}:\\d+: hostile_operator: its Build threw: a text of the plug-in")

    def test_whatever_an_operator_throws_in_use_is_an_error_that_names_it_and_has_no_backtrace(self):
        for does in ("throw", "throw a number", "throw torch's error"):
            with self.subTest(does=does):
                self.recipe(operator=f"{{used_does: {does}}}")
                err = self.train()
                self.assertIn("hostile_operator: element 0: the function threw", err)
                self.assertNotIn("Exception raised from", err)

    def test_a_call_of_exit_while_it_is_loaded_built_or_used_ends_with_1_and_a_message(self):
        self.recipe()
        self.assertIn("exit() was called before the command had finished", self.train(HOSTILE_EXIT="1"))
        for option in ("does", "used_does"):
            for sort in SORTS:
                with self.subTest(sort=sort, option=option):
                    self.recipe(**{sort: f"{{{option}: exit}}"})
                    self.assertIn("exit() was called before the command had finished", self.train())

    def test_a_stage_of_an_own_operator_has_its_name_in_reports(self):
        self.recipe()
        report = self.run_json("bench", "recipe.yaml", "--allow-code", "--epochs", "1")
        self.assertIn("hostile_operator", str(report))
        self.assertNotIn("'map'", str(report))

    def test_a_resume_runs_no_code_of_another_library_before_it_is_allowed(self):
        self.recipe()
        self.run_stoker("train", "recipe.yaml", "--allow-code", "--run", "run")
        self.write("hostile.so", HOSTILE.read_bytes() + b"replaced")
        shutil.copy(HOSTILE, self.path("same.so"))
        self.write("other.so", HOSTILE.read_bytes() + b"other")
        traced = {"environment": {"HOSTILE_TRACE": self.path("trace")}}
        resume = ["train", "--resume", "--run", "run", "--allow-code", "--set", "train.max_steps=2"]
        for arguments in (["recipe.yaml"], ["--set", "plugins=[other.so]"], ["--set", "plugins=[same.so, other.so]"],
                          ["recipe.yaml", "--set", "plugins=[other.so]"]):
            with self.subTest(arguments=arguments):
                _, err = self.run_stoker(*resume, *arguments, expect=1, **traced)
                self.assertRegex(err, r"other plug-ins than the run was trained with: plugins\.\d\.sha256: \w+ -> \w+")
                self.assertIn("--allow-changes", err)
                self.assertFalse(os.path.exists(self.path("trace")))
        self.run_stoker(*resume, "--set", "plugins=[same.so]", **traced)
        self.assertTrue(os.path.exists(self.path("trace")))

    def test_a_path_where_no_file_is_is_named_once(self):
        self.recipe()
        os.remove(self.path("hostile.so"))
        err = self.train()
        self.assertIn("recipe.yaml:1:11: plugins: " + self.path("hostile.so") + ": there is no such file", err)
        self.assertEqual(err.count("hostile.so"), 1)

    def test_a_function_that_no_library_has_is_named_as_in_its_source(self):
        library = HOSTILE.read_bytes()
        symbol = re.search(rb"\0(_ZN6stoker13CheckKindName[^\0]*)\0", library) or re.search(rb"\0(_ZN6stoker\d+[A-Z][^\0]*)\0", library)
        self.write("hostile.so", library.replace(b"\0" + symbol[1] + b"\0", b"\0" + symbol[1].replace(b"6stoker", b"6stokel") + b"\0"))
        self.recipe()
        err = self.train()
        self.assertIn("it needs stokel::", err)
        self.assertNotIn("_ZN", err)

    def test_a_program_that_shows_no_symbols_says_how_to_make_one_that_loads_plug_ins(self):
        self.recipe()
        _, err = self.run_stoker("train", "recipe.yaml", "--allow-code", executable=OWN_STOKER, expect=1)
        self.assertIn("stoker_loads_plugins(TARGET)", err)

    def test_commands_that_load_no_plug_ins_say_so_where_they_are_allowed_to(self):
        self.recipe()
        for command in ("check", "lint", "inspect"):
            with self.subTest(command=command):
                _, err = self.run_stoker(command, "recipe.yaml", "--allow-code", expect=2)
                self.assertIn(f"'{command}' runs no code of plug-ins, so it has no --allow-code; leave it out", err)


if __name__ == "__main__":
    unittest.main()

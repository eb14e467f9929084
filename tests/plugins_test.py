"""Kinds of your own: a plug-in library that a recipe names, and a program that brings them. Both are built from examples/own_kinds."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import unittest

from program import STOKER, ProgramTest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(STOKER).resolve().parent
LIBRARY = BIN / "own_kinds.so"
OWN_STOKER = str(BIN / "own_stoker")
RECIPE = (ROOT / "examples/own_kinds/recipe.yaml").read_text(encoding="utf-8")
SMALL = RECIPE.replace("epochs: 3", "epochs: 4\n  seed: 3\n  device: cpu\n  memory_format: contiguous\n  threads: 1").replace("some: 1024", "some: 256")


class PluginsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        shutil.copy(LIBRARY, self.path("kinds.so"))
        self.write("own.yaml", SMALL.replace("plugins: []", "plugins: [kinds.so]"))

    def refused(self, *arguments, expect=2):
        _, err = self.run_stoker(*arguments, expect=expect)
        return err

    def test_kinds_of_every_sort_of_a_plug_in_are_trained_resumed_evaluated_and_predicted_from(self):
        self.run_stoker("train", "own.yaml", "--allow-code", "--run", "whole")
        stopped = ["--set", "train.max_steps=5"]
        self.run_stoker("train", "own.yaml", "--allow-code", "--run", "part", *stopped)
        self.run_stoker("train", "own.yaml", "--allow-code", "--run", "part", "--resume", "--allow-changes")
        self.assertEqual(self.read("whole/weights.safetensors"), self.read("part/weights.safetensors"))
        self.assertIn(b'"weight_norm":', self.read("whole/metrics.jsonl"))
        measured = self.run_json("eval", "whole", "--allow-code")
        self.assertIn("sure", measured["metrics"])
        self.assertGreater(measured["accuracy"], 0.9)
        self.run_stoker("predict", "whole", "--allow-code", "--to", "answers.jsonl")
        self.assertEqual(len(self.read("answers.jsonl").splitlines()), 400)

    def test_a_loss_of_a_plug_in_may_be_that_of_one_of_several_targets(self):
        recipe = self.read("own.yaml").decode().replace("classes: 2", "classes: 3")
        recipe = recipe.replace("    - batch: ", "    - join: {fields: [label], to: again, dtype: float32, keep: true}\n    - batch: ")
        recipe = re.sub(r"\n  (metrics|early_stopping|loss): .*", "", recipe)
        self.write("two.yaml", recipe + "  target: {label: {outputs: 2, loss: {margin: {margin: 0.5}}, metrics: [f1]}, again: {loss: mse}}\n")
        self.run_stoker("train", "two.yaml", "--allow-code", "--run", "two")
        measured = self.run_json("eval", "two", "--allow-code")
        self.assertGreater(measured["metrics"]["label.accuracy"], 0.9)
        changed = self.run_json("eval", "two", "--allow-code", "--set", "train.target.label.metrics=[auc]")
        self.assertIn("label.auc", changed["metrics"])
        self.assertIn("stay those that it was trained with", self.refused("eval", "two", "--allow-code", "--set", "train.target=label", expect=1))

    def test_bench_pack_lr_find_batch_find_and_schedule_load_it_too(self):
        self.run_stoker("bench", "own.yaml", "--allow-code", "--epochs", "1")
        self.assertEqual(self.run_json("pack", "own.yaml", "packed.stoker", "--allow-code", "--of", "eval", "--stages", "2")["elements"], 400)
        self.run_stoker("lr-find", "own.yaml", "--allow-code", "--steps", "20")
        self.run_stoker("batch-find", "own.yaml", "--allow-code", "--most", "64", "--seconds", "0.1")
        self.run_stoker("schedule", "own.yaml", "--allow-code")

    def test_without_allow_code_nothing_is_loaded_and_the_message_has_the_line(self):
        self.write("own.yaml", SMALL.replace("plugins: []", "plugins:\n  - kinds.so"))
        self.write("kinds.so", "no library at all: to load it would be another error")
        line = SMALL[:SMALL.index("plugins: []")].count("\n") + 2
        for command in (["train"], ["bench"], ["pack"], ["lr-find"], ["schedule"]):
            with self.subTest(command=command):
                err = self.refused(*command, "own.yaml", *(["packed.stoker"] if command == ["pack"] else []))
                self.assertIn(f"own.yaml:{line}:5: plugins: {self.path('kinds.so')} is code", err)
                self.assertIn("--allow-code", err)

    def test_eval_and_predict_of_a_run_want_the_permission_too(self):
        self.run_stoker("train", "own.yaml", "--allow-code", "--run", "run", "--set", "train.max_steps=2")
        for command in ("eval", "predict"):
            self.assertIn("--allow-code", self.refused(command, "run"))

    def test_check_lint_and_inspect_never_load_it_and_say_what_they_cannot_judge(self):
        self.write("kinds.so", "no library at all: to load it would be an error")
        out, _ = self.run_stoker("check", "own.yaml")
        for name in ("operator 'stripes'", "model 'own_net'", "loss 'margin'", "optimizer 'sign_descent'", "schedule 'inverse_root'", "callback 'weight_norm'", "metric 'sure'"):
            self.assertRegex(out, f"own.yaml:\\d+:\\d+: not checked: .*{name} is not known: a plug-in of the recipe may bring it")
        self.assertIn("nothing is wrong with the rest", out)
        self.assertIn("not checked: ", self.run_stoker("lint", "own.yaml")[0])
        self.assertIn("not described: ", self.run_stoker("inspect", "own.yaml")[0])
        report = self.run_json("check", "own.yaml")
        self.assertEqual(report["findings"], [])
        self.assertTrue(any("sign_descent" in note for note in report["not_checked"]))

    def test_check_still_finds_mistakes_beside_kinds_that_it_does_not_know(self):
        self.write("own.yaml", self.read("own.yaml").decode().replace("epochs: 4", "epoch: 4").replace("kinds.so", "gone.so"))
        out, _ = self.run_stoker("check", "own.yaml", expect=1)
        self.assertIn("did you mean 'epochs'?", out)
        self.assertIn("gone.so: there is no such file", out)

    def test_an_unknown_kind_is_an_error_where_no_plug_in_is_named(self):
        self.write("own.yaml", SMALL)
        self.assertIn("unknown operator 'stripes'", self.run_stoker("check", "own.yaml", expect=1)[0])

    def test_a_library_compiled_with_other_headers_compiler_or_torch_is_refused_before_it_runs(self):
        library = LIBRARY.read_bytes()
        tag = re.search(rb"stoker_plugin_v1: stoker [^\0]*headers ([0-9a-f]{12}), (GCC|Clang) (\d+)[^\0]*", library)
        changed = [tag[0].replace(tag[1], b"0123456789ab"), tag[0].replace(tag[2] + b" " + tag[3], tag[2] + b" " + b"9" * len(tag[3]))]
        if b"torch none" not in tag[0]:
            changed.append(re.sub(rb"torch \d", b"torch 0", tag[0]))
        for other in changed:
            with self.subTest(tag=other):
                self.assertNotEqual(other, tag[0])
                # Cut off after the tag it can no longer be loaded: that it is not tried shows in the message.
                self.write("kinds.so", library[:tag.start()] + other + b"\0")
                err = self.refused("train", "own.yaml", "--allow-code")
                self.assertIn("it was compiled with other headers, another compiler or another torch", err)
                self.assertIn(other.decode().removeprefix("stoker_plugin_v1: "), err)

    def test_a_library_that_is_no_plug_in_is_refused_before_it_runs(self):
        self.write("kinds.so", b"\x7fELF, but of others")
        self.assertIn("it is no plug-in of Stoker", self.refused("train", "own.yaml", "--allow-code"))

    def test_a_resume_with_another_library_is_refused_unless_changes_are_allowed_which_are_named(self):
        self.run_stoker("train", "own.yaml", "--allow-code", "--run", "run", "--set", "train.max_steps=3")
        self.assertRegex(self.read("run/recipe.yaml").decode(), r"sha256: \"?[0-9a-f]{64}")
        shutil.copy(self.path("kinds.so"), self.path("moved.so"))
        resume = ["train", "--resume", "--run", "run", "--allow-code", "--set", "train.max_steps=3"]
        self.run_stoker(*resume, "--set", "plugins=[moved.so]")  # the same library elsewhere
        self.write("kinds.so", LIBRARY.read_bytes() + b"another")
        err = self.refused(*resume, "--set", "plugins=[kinds.so]", expect=1)
        self.assertIn("plugins.0.sha256: ", err)
        _, err = self.run_stoker(*resume, "--set", "plugins=[kinds.so]", "--allow-changes")
        self.assertIn("plugins.0.sha256: ", err)

    def test_a_run_refuses_another_library_than_its_own_before_its_code_runs_unless_it_is_named(self):
        self.run_stoker("train", "own.yaml", "--allow-code", "--run", "run", "--set", "train.max_steps=2")
        self.assertNotIn("another plug-in", self.run_stoker("eval", "run", "--allow-code")[1])
        self.write("kinds.so", "no library at all: to load it would be another error")
        for command in (["eval", "run"], ["predict", "run"], ["train", "--resume", "--run", "run"]):
            with self.subTest(command=command):
                self.assertRegex(self.refused(*command, "--allow-code"), "its SHA-256 is [0-9a-f]{64}, and the recipe requires")
        self.write("kinds.so", LIBRARY.read_bytes() + b"another")
        _, err = self.run_stoker("eval", "run", "--allow-code", "--set", "plugins=[kinds.so]")
        self.assertIn("trained with another plug-in", err)

    def test_a_recipe_may_name_the_hash_of_the_only_library_that_is_meant(self):
        right = hashlib.sha256(LIBRARY.read_bytes()).hexdigest()
        self.write("own.yaml", SMALL.replace("plugins: []", f"plugins: [{{file: kinds.so, sha256: {right.upper()}}}]"))
        self.run_stoker("schedule", "own.yaml", "--allow-code")
        self.write("own.yaml", SMALL.replace("plugins: []", "plugins: [{file: kinds.so, sha256: " + "0" * 64 + "}]"))
        self.assertIn("its SHA-256 is ", self.refused("train", "own.yaml", "--allow-code"))

    def test_an_output_may_not_replace_what_a_pipeline_with_kinds_of_a_plug_in_reads(self):
        self.write("words.svg", "a\nb\n")
        self.write("own.yaml", "plugins: [kinds.so]\ndata:\n  train:\n    - lines: {path: words.svg}\n    - some: 1\n")
        err = self.refused("bench", "own.yaml", "--allow-code", "--epochs", "1", "--to", "words.svg")
        self.assertIn("words.svg", err)
        self.assertEqual(self.read("words.svg"), b"a\nb\n")

    def test_set_of_one_path_is_relative_to_the_working_directory(self):
        self.write("deeper/own.yaml", SMALL.replace("plugins: []", "plugins: [{file: gone.so}]"))
        self.run_stoker("schedule", "deeper/own.yaml", "--allow-code", "--set", "plugins.0.file=kinds.so")

    def test_a_path_is_relative_to_the_recipe_and_with_set_to_the_working_directory(self):
        self.write("deeper/own.yaml", SMALL.replace("plugins: []", "plugins: [kinds.so]"))
        self.assertIn(self.path("deeper/kinds.so"), self.refused("schedule", "deeper/own.yaml", "--allow-code", expect=1))
        self.run_stoker("schedule", "deeper/own.yaml", "--allow-code", "--set", "plugins=[kinds.so]")

    def test_mistakes_in_the_section_are_named_with_their_line(self):
        for section, says in [("plugins: kinds.so", "must be a list"), ("plugins: [{path: kinds.so}]", "unknown key 'path'"),
                              ("plugins: [[kinds.so]]", "an entry is the path of a library"),
                              ("plugins: [{file: kinds.so, sha256: }]", "64 hexadecimal digits"),
                              ("plugins: [{file: kinds.so, sha256: 9f86d081}]", "64 hexadecimal digits"),
                              ("plugins: [{file: kinds.so, sha256: [a]}]", "64 hexadecimal digits")]:
            with self.subTest(section=section):
                self.write("own.yaml", SMALL.replace("plugins: []", section))
                self.assertRegex(self.refused("train", "own.yaml", "--allow-code"), f"own.yaml:\\d+:\\d+: .*{re.escape(says)}")


class OwnProgramTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("own.yaml", SMALL)

    def own(self, *arguments, expect=0):
        return self.run_stoker(*arguments, executable=OWN_STOKER, expect=expect)

    def test_a_program_with_kinds_of_its_own_has_all_commands_which_know_them(self):
        self.assertIn("nothing is wrong with it", self.own("check", "own.yaml")[0])
        self.own("lint", "own.yaml")
        self.own("train", "own.yaml", "--run", "run", "--set", "train.max_steps=4")
        self.own("train", "--resume", "--run", "run", "--set", "train.max_steps=6", "--allow-changes")
        self.assertIn("sure", json.loads(self.own("eval", "run", "--json")[0])["metrics"])
        self.own("predict", "run", "--to", "answers.jsonl")
        self.own("bench", "own.yaml", "--epochs", "1")
        self.assertIn("own_net", self.own("inspect", "--models")[0])
        self.assertIn("stripes", self.own("inspect", "--ops")[0])


if __name__ == "__main__":
    unittest.main()

"""`stoker train`: its options, what it prints and leaves, and what it refuses."""
import glob
import json
import os
import re
import shutil
import subprocess
import time
import unittest
import xml.etree.ElementTree

from program import RECIPE, STEPS_PER_EPOCH, STOKER, ProgramTest, png, where


class TrainTest(ProgramTest):
    def test_a_process_that_trains_has_one_openmp_runtime(self):
        process = self.start("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=100000", "--set", "train.threads=2",
                             stdout=subprocess.DEVNULL)
        while not glob.glob(self.path("run/checkpoints/step-*")):
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.01)
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            files = {line.split(maxsplit=5)[5].strip() for line in maps if len(line.split(maxsplit=5)) == 6}
        runtimes = {file for file in files if re.match(r"lib(gomp|omp|iomp)", os.path.basename(file))}
        self.assertEqual(len(runtimes), 1, runtimes)

    def test_five_runs_that_begin_at_once_get_a_directory_each(self):
        processes = [self.start("train", "recipe.yaml", "--set", "train.epochs=1") for _ in range(5)]
        for process in processes:
            out, err = process.communicate()
            self.assertEqual(process.returncode, 0, out + err)
        runs = os.listdir(self.path("runs"))
        self.assertEqual(len(runs), 5, runs)
        for run in runs:
            self.assertTrue(os.path.exists(self.path(f"runs/{run}/weights.safetensors")), run)

    def test_a_run_learns_and_leaves_what_it_promises(self):
        out, err = self.run_stoker("train", "recipe.yaml", "--run", "run")
        self.assertNotIn("\x1b", out + err)
        self.assertEqual(err, "")
        for word in ["test accuracy", "images per second", "epoch 1/3", "epoch 3/3", "accuracy"]:
            self.assertIn(word, out)
        self.assertTrue(out.splitlines()[-1].startswith("run "), out)
        for name in ["recipe.yaml", "choices.json", "metrics.jsonl", "weights.safetensors", "summary.json", "checkpoints"]:
            self.assertTrue(os.path.exists(self.path(f"run/{name}")), name)
        lines = [json.loads(line) for line in self.read("run/metrics.jsonl").splitlines()]
        self.assertTrue(lines and all("step" in line for line in lines))

    def test_training_waits_no_longer_for_a_checkpoint_than_that_takes_to_be_stored(self):
        # One that takes much longer than a step, so that each has to wait for the one before.
        self.write("recipe.yaml", RECIPE.replace("every_steps: 8", "every_steps: 1").replace("epochs: 3", "epochs: 1").replace(
            "convnet: {classes: 4, channels: [8, 8]}", "mlp: {classes: 4, hidden: [1024, 2048]}"))
        self.run_stoker("train", "recipe.yaml", "--run", "run")
        times = re.findall(r"checkpoint written in (\S+) s, training waited (\S+) s", self.read("run/log").decode())
        self.assertEqual(len(times), STEPS_PER_EPOCH)
        for written, waited in times:
            self.assertLessEqual(float(waited), float(written) + 0.001)  # both are rounded

    def test_json_is_all_that_standard_output_holds(self):
        summary = self.run_json("train", "recipe.yaml", "--run", "run")
        self.assertEqual(summary["step"], 3 * STEPS_PER_EPOCH)
        self.assertGreater(summary["images_per_s"], 0)
        self.assertFalse(summary["interrupted"])

    def test_quiet_prints_the_result_alone(self):
        out, err = self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet")
        # On a machine that does other things too, `data` may say that steps waited, and what to try.
        keys = [line.split("  ")[0] for line in out.splitlines() if not line.startswith((" ", "data "))]
        self.assertEqual(keys, ["test accuracy", "images per second", "run"], out)
        self.assertEqual(err, "")

    def test_without_a_name_the_run_goes_under_runs_and_resume_finds_it(self):
        # A run of another recipe must not be mistaken for one of this.
        self.write("recipe-b.yaml", RECIPE)
        self.run_stoker("train", "recipe.yaml", "--quiet", "--set", "train.epochs=1")
        self.run_stoker("train", "recipe-b.yaml", "--quiet", "--set", "train.epochs=1")
        runs = sorted(os.listdir(self.path("runs")))
        self.assertEqual(len(runs), 2)
        mine = next(run for run in runs if not run.startswith("recipe-b"))
        _, err = self.run_stoker("train", "recipe.yaml", "--resume", "--set", "train.epochs=1")
        self.assertIn(f"resuming runs/{mine}", err)

    def test_resume_prefers_a_run_that_has_not_finished_to_a_newer_one_that_has(self):
        self.run_stoker("train", "recipe.yaml", "--quiet", "--set", "train.epochs=1")
        (unfinished,) = os.listdir(self.path("runs"))
        os.remove(self.path(f"runs/{unfinished}/weights.safetensors"))
        self.run_stoker("train", "recipe.yaml", "--quiet", "--set", "train.epochs=1")
        self.assertEqual(len(os.listdir(self.path("runs"))), 2)
        _, err = self.run_stoker("train", "recipe.yaml", "--resume", "--set", "train.epochs=1")
        self.assertIn(f"resuming runs/{unfinished},", err)

    def test_one_of_several_processes_trains_alone_where_it_is_to(self):
        command = ["train", "recipe.yaml", "--set", "train.epochs=1", "--quiet", "--run"]
        # Nothing says where they would meet.
        self.assert_fails([*command, "several"], 2, "MASTER_ADDR", environment={"WORLD_SIZE": "2", "RANK": "0"})
        self.assertFalse(os.path.exists(self.path("several")))
        self.run_stoker(*command, "own", "--independent", environment={"WORLD_SIZE": "2", "RANK": "1"})
        self.assertTrue(os.path.exists(self.path("own/weights.safetensors")))
        self.run_stoker(*command, "job", environment={"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"})
        self.assertTrue(os.path.exists(self.path("job/weights.safetensors")))

    def test_the_loss_of_an_epoch_that_was_resumed_says_of_which_steps_it_is(self):
        constant = ["--set", "train.schedule={constant: {lr: 0.01}}"]
        self.run_stoker("train", "recipe.yaml", "--run", "run", *constant, "--set", "train.max_steps=20")
        out, _ = self.run_stoker("train", "--resume", "--run", "run", "--set", "train.max_steps=48", "--allow-changes")
        self.assertRegex(out, r"(?m)^epoch 2/3  loss \d\.\d+ \(its last 12 steps\)  ")
        self.assertRegex(out, r"(?m)^epoch 3/3  loss \d\.\d+  [\d,]+ images/s")

    def test_there_must_be_a_run_to_resume(self):
        self.assert_fails(["train", "recipe.yaml", "--resume"], 1, "runs/", "no run of recipe")
        self.assert_fails(["train", "--resume", "--run", "nothing"], 1, "nothing")

    def test_a_directory_with_something_in_it_is_not_written_to(self):
        self.write("run/thesis.txt", "precious")
        self.assert_fails(["train", "recipe.yaml", "--run", "run"], 1, "run")
        self.assertEqual(os.listdir(self.path("run")), ["thesis.txt"])

    def test_the_printed_recipe_is_a_recipe_that_means_the_same(self):
        printed, _ = self.run_stoker("train", "recipe.yaml", "--print-recipe")
        self.assertIn("max_lr: 0.01", printed)
        self.assertIn("weight_decay: 0.01", printed)
        self.assertIn("drop_remainder: true", printed)
        self.write("elsewhere/printed.yaml", printed)
        again, _ = self.run_stoker("train", "elsewhere/printed.yaml", "--print-recipe")
        self.assertEqual(again, printed)
        self.assertFalse(os.path.exists(self.path("runs")))

    def test_set_changes_what_is_trained_and_is_kept_with_the_run(self):
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=1", "--set", "model=linear")
        stored = self.read("run/recipe.yaml").decode()
        self.assertIn("epochs: 1", stored)
        self.assertIn("linear", stored)

    def test_auto_choices_are_reported_and_kept(self):
        out, _ = self.run_stoker("train", "recipe.yaml", "--run", "run", "--set", "train.memory_format=auto",
                                 "--set", "train.threads=auto")
        self.assertIn("channels_last", out)
        self.assertIn("memory_format", json.loads(self.read("run/choices.json")))

    def test_where_no_time_is_left_to_tune_one_line_says_so(self):
        out, _ = self.run_stoker("train", "recipe.yaml", "--run", "run", "--set", "train.epochs=13", "--set", "train.memory_format=auto",
                                 "--set", "train.threads=auto", "--set", "train.precision=auto")
        head = out[:out.index("epoch 1/13")]
        self.assertNotIn("\n\n", head)
        self.assertEqual(head.count("not tried"), 0)
        if "nothing was compared" in head:  # on a very fast machine there is time for one
            self.assertEqual(len(head.splitlines()), 3, head)

    def test_tuning_shows_what_was_tried_gained_and_kept_and_a_resumed_run_takes_it_over(self):
        long = ["--set", "train.epochs=100000", "--set", "train.memory_format=auto", "--set", "train.precision=auto"]
        stop = ["--set", "train.callbacks=[{stop_at: {step: 20}}]"]
        out, _ = self.run_stoker("train", "recipe.yaml", "--run", "run", *long, *stop)
        for change in ["* begin", "precision: bf16", "memory_format: contiguous"]:
            self.assertIn(change, out)
        tuning = json.loads(self.read("run/tuning.json"))
        self.assertEqual([trial["change"] for trial in tuning["trials"][:3]],
                         ["begin", "precision: bf16", "memory_format: contiguous"])
        self.assertLessEqual(tuning["limit_seconds"], 20)
        chosen = [trial for trial in tuning["trials"] if trial["kept"]][-1]["choices"]
        self.assertEqual(json.loads(self.read("run/choices.json")), chosen)
        before = self.read("run/tuning.json")
        out, _ = self.run_stoker("train", "--resume", "--run", "run")
        self.assertIn("as chosen when the run began", out)
        self.assertEqual(self.read("run/tuning.json"), before)
        out, _ = self.run_stoker("train", "recipe.yaml", "--run", "off", *long, *stop, "--set", "train.tune=off")
        self.assertIn("train.tune is off", out)
        self.assertEqual(json.loads(self.read("off/tuning.json"))["trials"], [])


class BadTrainRecipeTest(ProgramTest):
    def test_wrong_keys_and_values_are_located(self):
        for old, new, wrong, says in [
                ("epochs: 3", "epocs: 3", "epocs", ["'epocs'", "did you mean 'epochs'?"]),
                ("epochs: 3", "epochs: three", "three", ["'three'", "integer"]),
                ("epochs: 3", "epochs: -1", "-1", ["epochs is -1", ">= "]),
                ("{weight_decay", "{weight_decai", "weight_decai", ["did you mean 'weight_decay'?"]),
                ("adamw:", "adamww:", "adamww", ["did you mean 'adamw'?"]),
                ("convnet:", "convnets:", "convnets", ["did you mean 'convnet'?"]),
                ("one_cycle:", "one_circle:", "one_circle", ["did you mean 'one_cycle'?"])]:
            with self.subTest(new=new):
                self.assertEqual(RECIPE.count(old), 1)
                text = RECIPE.replace(old, new)
                self.write("recipe.yaml", text)
                self.assert_fails(["train", "recipe.yaml", "--run", "run"], 2, where(text, wrong) + ": ", *says)
                self.assertFalse(os.path.exists(self.path("run")))

    def test_a_label_that_the_model_has_no_class_for_is_named(self):
        # The labels may be wrong as well as the recipe: only reading the data shows it, so it is no wrong usage.
        settings = ["--set", "model.convnet.classes=3", "--set", "data.classes=[]"]
        self.assert_fails(["train", "recipe.yaml", "--run", "run", *settings], 1, "class number 3", "3 classes")

    def test_a_missing_model_section_is_named(self):
        self.write("recipe.yaml", RECIPE.replace("model:\n  convnet: {classes: 4, channels: [8, 8]}\n", ""))
        self.assert_fails(["train", "recipe.yaml"], 2, "recipe.yaml", "'model' is missing")


class ModelLintTest(ProgramTest):
    def test_a_good_recipe_has_no_findings(self):
        out, _ = self.run_stoker("lint", "recipe.yaml")
        self.assertIn("nothing found", out)

    def test_findings_name_the_place_and_the_mend_and_training_tells_them_too(self):
        raw = RECIPE.replace("mean: 0.2, std: 0.3", "mean: 0, std: 0.004")
        self.write("raw.yaml", raw)
        out, err = self.run_stoker("lint", "raw.yaml", "--json", expect=1)
        found = json.loads(out)["findings"]
        self.assertEqual([(finding["rule"], finding["where"]) for finding in found], [("inputs", "inputs")])
        self.assertIn("normalize: {mean:", found[0]["advice"])
        self.assertIn("1 finding in the model convnet", err)
        _, err = self.run_stoker("train", "raw.yaml", "--run", "run", "--set", "train.max_steps=1")
        self.assertIn("lint: inputs: their mean is", err)
        _, err = self.run_stoker("train", "raw.yaml", "--run", "quiet", "--set", "train.max_steps=1", "--set", "train.lint=false")
        self.assertNotIn("lint:", err)


class ScheduleTest(ProgramTest):
    def schedule(self, *arguments):
        return self.run_json("schedule", "recipe.yaml", *arguments)

    def test_shows_the_values_that_training_uses(self):
        shown = self.schedule("--set", "train.warmup.epochs=1")
        self.assertEqual(shown["total_steps"], 3 * STEPS_PER_EPOCH)
        self.assertEqual(len(shown["lr"]), shown["total_steps"])
        self.run_stoker("train", "recipe.yaml", "--run", "run", "--quiet", "--set", "train.warmup.epochs=1",
                        "--set", "train.log_every=1")
        lines = [json.loads(line) for line in self.read("run/metrics.jsonl").splitlines()]
        self.assertEqual([line["lr"] for line in lines if line["kind"] == "train"], shown["lr"])

    def test_needs_no_data_where_it_is_told_the_steps(self):
        shutil.rmtree(self.path("data"))
        shown = self.schedule("--steps-per-epoch", "100000", "--batch", "512", "--set", "train.lr_scaling=linear",
                              "--set", "train.schedule={constant: {lr: 0.5}}")
        self.assertEqual(shown["total_steps"], 300000)
        self.assertEqual((shown["step"][0], shown["step"][-1]), (0, 299999))
        self.assertEqual(set(shown["lr"]), {1})
        self.assert_fails(["schedule", "recipe.yaml"], 1, "data", others=1)

    def test_plots_into_the_terminal_and_into_files(self):
        out, err = self.run_stoker("schedule", "recipe.yaml", "--to", "plot.svg", "--to", "plot.png", "--log")
        self.assertEqual(err, "")
        self.assertRegex(out, "(?s)learning rate\n.*1e-2 +[\u2800-\u28ff]+\n.*momentum\n")
        self.assertLessEqual(max(map(len, out.splitlines()[:-1])), 80)
        svg = xml.etree.ElementTree.fromstring(self.read("plot.svg"))
        texts = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"learning rate", "momentum", "step"}, texts)
        with open(self.path("plot.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_a_plot_that_cannot_be_written_is_named(self):
        self.assert_fails(["schedule", "recipe.yaml", "--to", "nowhere/plot.svg"], 1, "nowhere/plot.svg")


class InspectDirectoryTest(ProgramTest):
    def test_a_directory_that_cannot_be_looked_into_is_an_error_and_no_defect(self):
        os.mkdir(self.path("loop"))
        for name in ["recipe.yaml", "manifest.json"]:
            os.symlink(name, self.path(f"loop/{name}"))
            _, err = self.assert_fails(["inspect", "loop"], 1, f"loop/{name}", "check the path")
            self.assertNotIn("defect", err)
            os.remove(self.path(f"loop/{name}"))
        os.symlink("runs", self.path("runs"))
        _, err = self.assert_fails(["train", "recipe.yaml", "--resume"], 1, "runs", "--run")
        self.assertNotIn("defect", err)

    def test_a_damaged_summary_is_named(self):
        for content in ["", "[]", "{"]:
            self.write("run/recipe.yaml", RECIPE)
            self.write("run/summary.json", content)
            self.assert_fails(["inspect", "run"], 1, "run/summary.json", "damaged")


class WithoutTrainerTest(ProgramTest):
    def test_a_program_without_its_trainer_says_so(self):
        shutil.copy(STOKER, self.path("stoker"))
        self.assert_fails(["train", "recipe.yaml"], 1, "cannot train", "stoker-train", executable=self.path("stoker"))

    def test_threads_that_compute_do_not_spin_for_long_unless_the_user_says_how_they_wait(self):
        shutil.copy(STOKER, self.path("stoker"))
        self.write("stoker-train", '#!/bin/sh\necho "${GOMP_SPINCOUNT-unset} ${OMP_WAIT_POLICY-unset}"\n')
        os.chmod(self.path("stoker-train"), 0o755)
        plain = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
        for said, waits in [({}, r"\d+ unset"), ({"OMP_WAIT_POLICY": "active"}, "unset active"), ({"GOMP_SPINCOUNT": "7"}, "7 unset")]:
            with self.subTest(said=said):
                process = subprocess.run([self.path("stoker"), "train", "recipe.yaml"], cwd=self.folder, env={**plain, **said},
                                         capture_output=True, text=True)
                self.assertRegex(process.stdout, rf"\A{waits}\n\Z")


if __name__ == "__main__":
    unittest.main()

"""What happens to a run when the world misbehaves: signals, kill -9, full and read-only disks, damaged checkpoints."""
import ctypes
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from program import RECIPE, ProgramTest

ENDLESS = ["--set", "train.epochs=100000"]


def drop_privileges_over_files():
    """Makes root obey permission bits, as everybody else does, from the next exec on."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH (linux/capability.h)
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


class FaultTest(ProgramTest):
    def checkpoints(self, run="run"):
        """The steps that have a checkpoint, whole or not, oldest first."""
        folder = self.path(f"{run}/checkpoints")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return sorted(int(name[len("step-"):]) for name in names if name.startswith("step-"))

    def checkpoint_path(self, step, file, run="run"):
        return f"{run}/checkpoints/step-{step:08}/{file}"

    def wait_for_checkpoint(self, process, step, run="run"):
        """Until there is a checkpoint of `step` or later; False where the process has ended before."""
        while process.poll() is None:
            if any(there >= step for there in self.checkpoints(run)):
                return True
            time.sleep(0.002)
        return False

    def stop_after(self, step, number, run, *arguments):
        """Starts an endless training, sends the signal once `step` is stored, and returns (exit code, stderr)."""
        process = self.start("train", "--run", run, *arguments)
        self.assertTrue(self.wait_for_checkpoint(process, step, run), "ended by itself")
        process.send_signal(number)
        _, err = process.communicate()
        return process.returncode, err

    def make_interrupted_run(self, *settings):
        """A run of three epochs' length that has checkpoints and was not finished."""
        changes = [word for setting in ("train.checkpoint.every_steps=1", *settings) for word in ("--set", setting)]
        process = self.start("train", "recipe.yaml", "--run", "run", *changes)
        self.wait_for_checkpoint(process, 5)
        process.kill()
        process.communicate()
        self.assertGreater(len(self.checkpoints()), 1)

    def resume(self, *arguments, **options):
        return self.run_stoker("train", "--resume", "--run", "run", *arguments, **options)

    def weights_of_an_undisturbed_run(self):
        self.run_stoker("train", "recipe.yaml", "--run", "undisturbed", "--quiet",
                        "--set", "train.checkpoint.every_steps=1")
        return self.read("undisturbed/weights.safetensors")


class SignalTest(FaultTest):
    def test_a_signal_finishes_the_step_stores_it_and_sets_the_exit_code(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(signal=number.name):
                run = number.name
                exit_code, err = self.stop_after(8, number, run, "recipe.yaml", *ENDLESS)
                self.assertEqual(exit_code, code, err)
                newest = self.checkpoints(run)[-1]
                self.assertIn(f"stoker: {number.name}: storing what is done", err)
                self.assertIn(f"stopped after step {newest} of", err)
                self.assertIn(f"stoker train --resume --run {run}", err)
                # It is whole, and training goes on from there.
                self.assertTrue(self.run_json("inspect", run)["checkpoints"][-1]["whole"])
                exit_code, err = self.stop_after(newest + 1, number, run, "--resume")
                self.assertEqual(exit_code, code, err)
                self.assertGreater(self.checkpoints(run)[-1], newest)


class KillTest(FaultTest):
    """kill -9 from the first moment on, again and again, with the settings that the tuner chooses."""

    def setUp(self):
        super().setUp()
        text = RECIPE.replace("every_steps: 8", "every_steps: 1")
        self.write("recipe.yaml", text.replace("contiguous", "auto").replace("threads: 1", "threads: auto"))
        self.undisturbed = {}  # weights, by what the tuner chose

    def arguments_to_go_on(self, run):
        """--resume, or where there was no time to begin a run, the same command again."""
        begun = os.path.exists(self.path(f"{run}/recipe.yaml"))
        return ["--resume", "--run", run] if begun else ["recipe.yaml", "--run", run]

    def seconds_until(self, moment, process, run):
        """Waits for the moment, or for the end of the process if that comes before, and returns how long it took."""
        began = time.monotonic()
        steps = self.checkpoints(run)
        come = {"start": lambda: True,
                "directory": lambda: os.path.exists(self.path(run)),
                "checkpoint": lambda: self.checkpoints(run) != steps}[moment]
        while process.poll() is None and not come():
            time.sleep(0.0005)
        return time.monotonic() - began

    def measure_a_run(self):
        """How long after each moment there is something to disturb: all the time, while a directory is made, while training."""
        process = self.start("train", "recipe.yaml", "--run", "whole", "--quiet")
        until_checkpoint = self.seconds_until("checkpoint", process, "whole")
        began = time.monotonic()
        process.communicate()
        self.assertEqual(process.returncode, 0)
        training = time.monotonic() - began
        return {"start": until_checkpoint + training, "directory": 0.01, "checkpoint": training}

    def kill_a_process(self, run, moment, delay):
        process = self.start("train", *self.arguments_to_go_on(run))
        self.seconds_until(moment, process, run)
        time.sleep(delay)
        process.kill()
        process.communicate()

    def undisturbed_weights(self, run):
        """Those of a run that was not killed and was told to use what the tuner chose for `run`."""
        choices = json.loads(self.read(f"{run}/choices.json"))
        settings = [word for key in ("memory_format", "threads") for word in ("--set", f"train.{key}={choices[key]}")]
        key = tuple(settings)
        if key not in self.undisturbed:
            name = f"undisturbed-{len(self.undisturbed)}"
            self.run_stoker("train", "recipe.yaml", "--run", name, "--quiet", *settings)
            self.undisturbed[key] = self.read(f"{name}/weights.safetensors")
        return self.undisturbed[key]

    def test_a_killed_run_ends_with_the_same_bytes_as_one_that_was_not(self):
        seed = random.randrange(1 << 32)
        rng = random.Random(seed)
        longest = self.measure_a_run()
        print(f"seed {seed}, longest delays {longest}")
        for attempt in range(6):
            run = f"run-{attempt}"
            moments = ["directory", "checkpoint", "start"][attempt % 3], rng.choice(["checkpoint", "start"])
            kills = [(moment, rng.random() * longest[moment]) for moment in moments]
            with self.subTest(seed=seed, attempt=attempt, kills=kills):
                for moment, delay in kills:
                    self.kill_a_process(run, moment, delay)
                stored = self.checkpoints(run)
                out, _ = self.run_stoker("train", *self.arguments_to_go_on(run))
                if "checkpoint" in moments:  # it was there when the process was killed
                    self.assertGreater(stored[-1], 0)
                    self.assertIn(f"resumed after step {stored[-1]} ", out)
                self.assertEqual(self.read(f"{run}/weights.safetensors"), self.undisturbed_weights(run))
                left = [name for name in os.listdir(self.path(f"{run}/checkpoints")) if ".tmp-" in name]
                self.assertEqual(left, [], "a temporary of the killed process is still there")


class DiskTest(FaultTest):
    """Whatever refuses a checkpoint: those before it stay, and with them the run ends as if nothing had happened."""

    def setUp(self):
        super().setUp()
        self.want = self.weights_of_an_undisturbed_run()

    def assert_checkpoints_are_whole(self, steps):
        found = self.run_json("inspect", "run")["checkpoints"]
        self.assertEqual([each["step"] for each in found], steps)
        self.assertTrue(all(each["whole"] for each in found), found)

    def assert_resumes_after(self, step):
        out, err = self.resume()
        self.assertEqual(err, "")  # no checkpoint was passed over
        self.assertIn(f"resumed after step {step} ", out)
        self.assertEqual(self.read("run/weights.safetensors"), self.want)

    def limit_file_size(self, size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    def test_a_limit_on_file_sizes_while_a_checkpoint_is_written(self):
        self.make_interrupted_run()
        before = self.checkpoints()
        tensors = os.path.getsize(self.path(self.checkpoint_path(before[-1], "tensors.safetensors")))
        self.assert_fails(["train", "--resume", "--run", "run"], 1, "checkpoint of step", "run/checkpoints/", "untouched",
                          "ulimit -f", preexec_fn=lambda: self.limit_file_size(tensors // 2))
        self.assert_checkpoints_are_whole(before)
        self.assert_resumes_after(before[-1])

    def test_a_limit_on_file_sizes_while_the_final_weights_are_written(self):
        weights = len(self.want)
        tensors = os.path.getsize(self.path(self.checkpoint_path(self.checkpoints("undisturbed")[-1],
                                                                 "tensors.safetensors", "undisturbed")))
        self.assertGreater(tensors, weights)  # so a run of no steps but the last line is what can fail there alone
        shutil.copytree(self.path("undisturbed"), self.path("run"))
        os.remove(self.path("run/weights.safetensors"))
        self.assert_fails(["train", "--resume", "--run", "run"], 1, "run/weights.safetensors", "ulimit -f",
                          preexec_fn=lambda: self.limit_file_size(weights - 1))
        self.assertFalse(os.path.exists(self.path("run/weights.safetensors")))
        self.resume()
        self.assertEqual(self.read("run/weights.safetensors"), self.want)

    def test_a_full_disk_while_a_checkpoint_is_written(self):
        """A disk of its own, small; what happens on it is seen only by the shell that mounted it."""
        mount = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "bash", "-euc"]
        os.mkdir(self.path("disk"))
        tried = subprocess.run([*mount, "mount -t tmpfs tmpfs disk"], cwd=self.folder, capture_output=True, check=False)
        if tried.returncode != 0:
            self.skipTest(f"no disk can be mounted here: {tried.stderr.decode().strip()}")
        script = """
            mount -t tmpfs -o size=300k tmpfs disk
            code=0
            "$STOKER" train recipe.yaml --run disk/run --set train.checkpoint.every_steps=1 \
              --set train.checkpoint.keep=1000 2>full.err || code=$?
            echo $code >full.code
            "$STOKER" inspect disk/run --json >inspected.json
            mount -o remount,size=30m disk
            "$STOKER" train --resume --run disk/run >resumed.out 2>resumed.err
            cp disk/run/weights.safetensors .
            """
        done = subprocess.run([*mount, script], cwd=self.folder, capture_output=True, text=True, check=False)
        said = self.read("full.err").decode()
        self.assertEqual(done.returncode, 0, done.stderr + said)
        self.assertEqual(self.read("full.code"), b"1\n", said)
        for text in ["stoker: error: ", "checkpoint of step", "disk/run/checkpoints/", "untouched", "free space"]:
            self.assertIn(text, said)
        checkpoints = json.loads(self.read("inspected.json"))["checkpoints"]
        self.assertTrue(checkpoints and all(each["whole"] for each in checkpoints), checkpoints)
        self.assertIn(f"resumed after step {checkpoints[-1]['step']} ", self.read("resumed.out").decode())
        self.assertEqual(self.read("resumed.err"), b"")
        self.assertEqual(self.read("weights.safetensors"), self.want)

    def test_a_read_only_directory_while_a_checkpoint_is_written(self):
        self.make_interrupted_run()
        before = self.checkpoints()
        os.chmod(self.path("run/checkpoints"), 0o555)
        self.addCleanup(os.chmod, self.path("run/checkpoints"), 0o755)
        self.assert_fails(["train", "--resume", "--run", "run"], 1, "checkpoint of step", "run/checkpoints", "untouched",
                          preexec_fn=drop_privileges_over_files)
        os.chmod(self.path("run/checkpoints"), 0o755)
        self.assert_checkpoints_are_whole(before)
        self.assert_resumes_after(before[-1])

    def test_a_directory_that_cannot_be_made_is_reported_before_training(self):
        os.mkdir(self.path("locked"), 0o555)
        self.assert_fails(["train", "recipe.yaml", "--run", "locked/run"], 1, "locked",
                          preexec_fn=drop_privileges_over_files)

    def test_progress_that_cannot_be_printed_does_not_stop_a_training(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assert_fails(["train", "recipe.yaml", "--run", "run"], 1, "standard output", "not complete", stdout=full)
        self.assertEqual(self.read("run/weights.safetensors"), self.want)

    def test_a_reader_of_the_progress_who_leaves_does_not_stop_a_training(self):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "w", encoding="ascii") as gone:
            self.assert_fails(["train", "recipe.yaml", "--run", "run"], 1, "standard output", "not complete", stdout=gone)
        self.assertEqual(self.read("run/weights.safetensors"), self.want)

    def test_with_its_output_closed_a_training_prints_into_none_of_its_files(self):
        def close_output():
            os.close(1)
            os.close(2)

        self.run_stoker("train", "recipe.yaml", "--run", "run", expect=1, preexec_fn=close_output)
        self.assertEqual(self.read("run/lock"), b"")
        self.assertEqual(self.read("run/weights.safetensors"), self.want)
        for name in ("recipe.yaml", "choices.json"):
            self.assertEqual(self.read(f"run/{name}"), self.read(f"undisturbed/{name}").replace(b"every_steps: 1", b"every_steps: 8"))


class DamagedCheckpointTest(FaultTest):
    def test_damage_is_detected_and_the_checkpoint_before_is_used(self):
        want = self.weights_of_an_undisturbed_run()
        for number, (file, damage) in enumerate([
                ("tensors.safetensors", lambda content: content[:len(content) // 2]),
                ("tensors.safetensors", lambda content: content[:-1]),
                ("tensors.safetensors", lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:]),
                ("state.json", lambda content: content[:-1] + b" "),
                ("state.json", lambda content: b""),
                ("manifest.json", lambda content: content[:len(content) // 2])]):
            with self.subTest(file=file, number=number):
                self.make_interrupted_run()
                steps = self.checkpoints()
                damaged = self.checkpoint_path(steps[-1], file)
                content = self.read(damaged)
                self.assertNotEqual(damage(content), content)
                self.write(damaged, damage(content))

                self.assertEqual([each["whole"] for each in self.run_json("inspect", "run", expect=1)["checkpoints"]],
                                 [True] * (len(steps) - 1) + [False])
                out, err = self.run_stoker("verify", "run", expect=1)
                self.assertIn(f"step-{steps[-1]:08}", out + err)
                out, err = self.resume()
                self.assertIn(f"step-{steps[-1]:08}", err)
                self.assertIn(f"resumed after step {steps[-2]} ", out)
                self.assertEqual(self.read("run/weights.safetensors"), want)
                shutil.rmtree(self.path("run"))

    def test_what_may_not_be_read_is_no_damage_and_stays(self):
        want = self.weights_of_an_undisturbed_run()
        self.make_interrupted_run()
        steps = self.checkpoints()
        closed = self.path(self.checkpoint_path(steps[-1], "state.json"))
        os.chmod(closed, 0)
        self.assert_fails(["train", "--resume", "--run", "run"], 1, "state.json", "cannot be told", "move",
                          preexec_fn=drop_privileges_over_files)
        self.assertEqual(self.checkpoints(), steps)
        os.chmod(closed, 0o644)
        out, err = self.resume()
        self.assertEqual(err, "")
        self.assertIn(f"resumed after step {steps[-1]} ", out)
        self.assertEqual(self.read("run/weights.safetensors"), want)

    def test_lines_that_are_gone_from_the_metrics_are_noticed(self):
        want = self.weights_of_an_undisturbed_run()
        self.make_interrupted_run("train.log_every=1")
        metrics = self.read("run/metrics.jsonl")
        # Where other lines follow, the file's size does not show it.
        first = metrics[:metrics.index(b"\n") + 1]
        self.write("run/metrics.jsonl", first + b'{"step": 1, "kind": "train", "note": "' + b"x" * len(metrics) + b'"}\n')
        self.assert_fails(["train", "--resume", "--run", "run"], 1, "run/metrics.jsonl", "lines were changed", "--allow-changes")
        self.assertIn("lines were changed", self.run_stoker("verify", "run", expect=1)[0])
        short = metrics[:metrics.index(b"\n") + 1]
        self.write("run/metrics.jsonl", short)
        self.assert_fails(["train", "--resume", "--run", "run"], 1, "run/metrics.jsonl", "lines are missing", "--allow-changes")
        self.assertEqual(self.read("run/metrics.jsonl"), short)
        _, err = self.run_stoker("train", "--resume", "--run", "run", "--allow-changes")
        self.assertIn("lines are missing", err)
        self.assertEqual(self.read("run/weights.safetensors"), want)

    def test_what_a_link_leads_to_is_not_cut(self):
        want = self.weights_of_an_undisturbed_run()
        self.make_interrupted_run()
        for name in ("metrics.jsonl", "log", "lock"):
            with self.subTest(name=name):
                own = self.read(f"run/{name}")
                precious = own * 3 + b"precious"
                self.write("thesis", precious)
                os.remove(self.path(f"run/{name}"))
                os.symlink(self.path("thesis"), self.path(f"run/{name}"))
                self.assert_fails(["train", "--resume", "--run", "run"], 1, f"run/{name}", "is a symbolic link to")
                self.assertEqual(self.read("thesis"), precious)
                os.remove(self.path(f"run/{name}"))
                self.write(f"run/{name}", own)
        self.run_stoker("train", "--resume", "--run", "run")
        self.assertEqual(self.read("run/weights.safetensors"), want)

    def test_if_all_are_damaged_nothing_is_trained(self):
        self.make_interrupted_run()
        for step in self.checkpoints():
            self.write(self.checkpoint_path(step, "state.json"), "{}")
        self.assert_fails(["train", "--resume", "--run", "run"], 1, "checkpoints")


class ChangedRecipeTest(FaultTest):
    def test_resume_names_the_keys_that_differ_and_refuses_unless_told(self):
        self.make_interrupted_run()
        changed = ["--set", "train.optimizer.adamw.weight_decay=0.5", "--set", "train.checkpoint.every_steps=1"]
        for recipe in [[], ["recipe.yaml"]]:
            self.assert_fails(["train", *recipe, "--resume", "--run", "run", *changed], 1,
                              "weight_decay: 0.01 -> 0.5", "--allow-changes")
        self.run_stoker("train", "recipe.yaml", "--resume", "--run", "run", *changed, "--allow-changes")
        self.assertIn("weight_decay: 0.5", self.read("run/recipe.yaml").decode())


class LossTest(FaultTest):
    def test_a_loss_that_is_not_finite_stops_the_run_and_names_the_step(self):
        _, err = self.assert_fails(
            ["train", "recipe.yaml", "--run", "run", "--set", "train.checkpoint.every_steps=1",
             "--set", "train.optimizer={sgd: {}}", "--set", "train.schedule={constant: {lr: 1e30}}"], 1, "step", "loss")
        self.assertRegex(err, "(?i)nan|inf")
        self.assertFalse(os.path.exists(self.path("run/weights.safetensors")))
        found = self.run_json("inspect", "run")["checkpoints"]
        self.assertTrue(found and found[-1]["whole"])
        self.assertIn(f"step {found[-1]['step'] + 1}", err)


class MappedFileTest(ProgramTest):
    """A mapped file that is cut while it is read."""

    def test_ends_with_the_file_and_the_byte_and_no_crash(self):
        header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4096, 1024), }".ljust(117) + "\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(4 << 20))
        self.write("read.yaml", "data:\n  train:\n    - npy: {fields: {x: x.npy}}\n    - batch: {size: 64}\n")
        size = os.path.getsize(self.path("x.npy"))
        process = self.start("bench", "read.yaml", "--seconds", "1000")
        maps = f"/proc/{process.pid}/maps"
        while process.poll() is None:
            with open(maps, encoding="utf-8") as lines:
                if any(line.rstrip().endswith("x.npy") for line in lines):
                    break
            time.sleep(0.002)
        os.truncate(self.path("x.npy"), 8192)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 1, err)
        told = re.search(r"stoker: error: \S*x\.npy: byte (\d+) can no longer be read: (.*)", err)
        self.assertTrue(told, err)
        self.assertGreaterEqual(int(told[1]), 8192)
        self.assertIn(f"the file had {size} bytes when it was opened and has 8192 now", told[2])


if __name__ == "__main__":
    unittest.main()

"""`stoker train` in several processes."""
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import time
import unittest

from launch_test import children_of
from program import STEPS_PER_EPOCH, STOKER, ProgramTest
from remote_test import free_port

# Steps enough for a test to come in between.
TRAIN = ["train", "recipe.yaml", "--set", "train.epochs=12", "--set", "train.checkpoint.every_steps=4"]


class DistributedBase(ProgramTest):
    def launch(self, *arguments, ranks=2, **options):
        return self.run_stoker("launch", "-n", str(ranks), "--", *arguments, **options)

    def lines(self, run, kind="train"):
        lines = [json.loads(line) for line in self.read(f"{run}/metrics.jsonl").splitlines()]
        return [line for line in lines if line["kind"] == kind]

    def steps_stored(self, run):
        folder = self.path(f"{run}/checkpoints")
        return sorted(name for name in os.listdir(folder) if name.startswith("step-")) if os.path.isdir(folder) else []

    def wait_for_checkpoint(self, run, process):
        while not self.steps_stored(run):
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.005)

    def start_ranks(self, *commands, environment=(), address="127.0.0.1", **options):
        """Processes that no launcher has started, each with its command; options of rank R are in `options["rR"]`."""
        place = {"WORLD_SIZE": str(len(commands)), "MASTER_ADDR": address, "MASTER_PORT": str(free_port())}
        return [self.start(*command, environment={**dict(environment), "RANK": str(rank), **place}, **options.get(f"r{rank}", {}))
                for rank, command in enumerate(commands)]

    def own_ranks(self, *commands, **options):
        """The same, and what they print, once they have ended."""
        return [(process, *process.communicate()) for process in self.start_ranks(*commands, **options)]

    def listening(self, process):
        """The addresses at which a process listens for TCP."""
        folder, inodes = f"/proc/{process.pid}/fd", set()
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                link = os.readlink(f"{folder}/{name}")
                if link.startswith("socket:["):
                    inodes.add(link[8:-1])
        addresses = set()
        for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
            with open(f"/proc/{process.pid}/net/{table}") as file:
                for line in file.readlines()[1:]:
                    words = line.split()
                    if words[3] == "0A" and words[9] in inodes:
                        address = bytes.fromhex(words[1].split(":")[0])
                        inet = b"".join(address[i:i + 4][::-1] for i in range(0, len(address), 4))  # words of the host's order
                        addresses.add(socket.inet_ntop(family, inet))
        return addresses

    def rank_logs(self, run):
        return sorted(name for name in os.listdir(self.path(run)) if name.startswith("log."))


class CheckpointPartsTest(DistributedBase):
    PARTS = ["--set", "train.checkpoint.parts=true", "--set", "train.distributed.shard_optimizer=true"]

    def test_parts_are_one_checkpoint_for_every_command(self):
        self.launch(*TRAIN, *self.PARTS, "--run", "run", "--quiet", ranks=3)
        self.launch(*TRAIN, "--run", "whole", "--quiet", ranks=3)
        self.assertEqual(self.read("run/weights.safetensors"), self.read("whole/weights.safetensors"))
        newest = f"run/checkpoints/{self.steps_stored('run')[-1]}"
        names = sorted(name for name in os.listdir(self.path(newest)) if name.startswith("tensors"))
        self.assertEqual(names, [f"tensors-0000{rank}-of-00003.safetensors" for rank in range(3)])
        self.assertEqual([name for name in os.listdir(self.path("run/checkpoints")) if not name.startswith("step-")], [])
        self.run_stoker("verify", "run")
        self.assertIn("whole", self.run_stoker("inspect", "run")[0])
        with open(self.path(f"{newest}/{names[1]}"), "r+b") as part:
            part.seek(-1, os.SEEK_END)
            last = part.read(1)
            part.seek(-1, os.SEEK_END)
            part.write(bytes([last[0] ^ 1]))
        out, err = self.run_stoker("verify", "run", expect=1)
        self.assertIn(names[1], out + err)

    def test_where_ranks_are_killed_between_parts_a_whole_checkpoint_is_left(self):
        often = [*TRAIN, *self.PARTS, "--set", "train.checkpoint.every_steps=1"]
        self.launch(*often, "--run", "whole", "--quiet", ranks=3)
        launcher = self.start("launch", "-n", "3", "--restarts", "9", "--", *often, "--run", "killed", "--quiet")
        for killed in range(4):
            stored = len(self.steps_stored("killed")) and self.steps_stored("killed")[-1]
            while launcher.poll() is None and (not self.steps_stored("killed") or self.steps_stored("killed")[-1] == stored):
                time.sleep(0.002)
            ranks = children_of(launcher) if launcher.poll() is None else []
            if ranks:
                os.kill(ranks[killed % len(ranks)], signal.SIGKILL)
        _, err = launcher.communicate()
        self.assertEqual(launcher.returncode, 0, err)
        self.assertEqual(self.read("killed/weights.safetensors"), self.read("whole/weights.safetensors"))
        self.assertEqual([name for name in os.listdir(self.path("killed/checkpoints")) if not name.startswith("step-")], [])

    def test_a_part_that_cannot_be_written_ends_all_with_the_rank_that_says_so(self):
        full = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))}
        command = [*TRAIN, *self.PARTS, "--run", "run", "--quiet"]
        ranks = self.own_ranks(command, command, r1=full)
        self.assertEqual([process.returncode for process, _, _ in ranks], [1, 1])
        self.assertIn("rank 1 failed", ranks[0][2])
        self.assertEqual(self.steps_stored("run"), [])

    def test_by_the_clock_they_are_refused(self):
        self.assert_fails([*TRAIN, "--set", "train.checkpoint.parts=true", "--set", "train.checkpoint.every_minutes=1"], 2, "take every_steps")


class DistributedTest(DistributedBase):
    def test_ranks_train_one_run_that_rank_0_alone_keeps_and_tells_of(self):
        out, err = self.launch("train", "recipe.yaml", "--run-dir", "run", ranks=3)
        self.assertEqual(err, "")
        self.assertEqual({line[:4] for line in out.splitlines()}, {"[0] "})
        self.assertEqual(self.rank_logs("run"), [])  # they had nothing to say
        for name in ("recipe.yaml", "weights.safetensors", "summary.json", "progress.json", "profile.json", "report.html"):
            self.assertTrue(os.path.exists(self.path(f"run/{name}")), name)
        self.run_stoker("train", "recipe.yaml", "--run", "alone")
        self.assertEqual([line["step"] for line in self.lines("run")], [line["step"] for line in self.lines("alone")])
        alone, together = (self.lines(run, "eval")[-1] for run in ("alone", "run"))
        self.assertEqual(together["samples"], alone["samples"])
        self.assertAlmostEqual(together["accuracy"], alone["accuracy"], delta=0.05)
        self.run_stoker("eval", "run")

    def test_the_losses_are_those_of_one_process(self):
        for name, model in (("plain", "{mlp: {classes: 4}}"), ("drawn", "{mlp: {classes: 4, dropout: 0.3}}"),
                            ("normed", "{convnet: {classes: 4, channels: [8]}}")):
            every = ["--set", "train.log_every=1", "--set", "train.epochs=1", "--set", f"model={model}"]
            self.run_stoker("train", "recipe.yaml", *every, "--run", name)
            for ranks in (2, 3):
                with self.subTest(name, ranks=ranks):
                    self.launch("train", "recipe.yaml", *every, "--run", f"{name}{ranks}", ranks=ranks)
                    for one, several in zip(self.lines(name)[:10], self.lines(f"{name}{ranks}")[:10], strict=True):
                        self.assertAlmostEqual(several["loss"], one["loss"], delta=1e-5)

    def test_samples_that_cannot_be_dealt_out_are_made_by_all_and_that_is_said(self):
        source = "{idx: {images: train-images, labels: train-labels.gz}}, {normalize: {mean: 0.2, std: 0.3}}"
        batches = ["--set", f"data.train=[{source}, {{batch: {{size: 32, drop_remainder: true}}}}, shuffle]", "--set", "train.log_every=1",
                   "--set", "train.epochs=1"]
        self.run_stoker("train", "recipe.yaml", *batches, "--run", "alone")
        out, err = self.launch("train", "recipe.yaml", *batches, "--run", "run")
        self.assertEqual((out + err).count("each process makes the samples of all and drops those of the others"), 1, out + err)
        for ours, alone in zip(self.lines("run"), self.lines("alone"), strict=True):
            self.assertAlmostEqual(ours["loss"], alone["loss"], delta=1e-4)

    def test_a_batch_per_rank_is_one_of_all_however_many_go_on(self):
        short = [*TRAIN, "--set", "train.epochs=1", "--set", "train.tune=off"]
        each = ["--set", "data.train.batch={size: 16, drop_remainder: true}", "--set", "train.distributed={batch: per_rank}"]
        self.launch(*short, "--run", "all")
        self.launch(*short, *each, "--run", "each")
        self.assertEqual(self.weights_of("each"), self.weights_of("all"))
        self.launch(*short, *each, "--run", "stopped", "--set", "train.callbacks=[{stop_at: {step: 6}}]")
        self.run_stoker("train", "--resume", "--run", "stopped", "--allow-changes", "--set", "train.callbacks=[]")
        last, whole = (self.lines(run, "eval")[-1] for run in ("stopped", "all"))
        self.assertEqual(last["step"], STEPS_PER_EPOCH)
        # One process rounds sums otherwise than two, and no more than that.
        self.assertAlmostEqual(last["loss"], whole["loss"], delta=1e-4)

    def test_a_run_of_three_is_finished_by_two_and_by_one(self):
        for after, command in (("two", ["launch", "-n", "2", "--"]), ("one", [])):
            launcher = self.start("launch", "-n", "3", "--", *TRAIN, "--run", after)
            self.wait_for_checkpoint(after, launcher)
            launcher.terminate()
            _, err = launcher.communicate()
            self.assertEqual(launcher.returncode, 143, err)
            self.run_stoker(*command, "train", "--resume", "--run", after)
            self.assertEqual([line["step"] for line in self.lines(after)], list(range(50, 192, 50)) + [192])

    def test_one_that_is_asked_to_stop_stops_all_after_the_same_step(self):
        self.launch(*TRAIN, "--run", "whole")
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGUSR1, 138)):
            with self.subTest(number.name):
                run = number.name
                launcher = self.start("launch", "-n", "2", "--restarts", "3", "--", *TRAIN, "--run", run)
                self.wait_for_checkpoint(run, launcher)
                os.kill(children_of(launcher)[1], number)
                _, err = launcher.communicate()
                self.assertEqual(launcher.returncode, code, err)
                self.assertNotIn("restart", err)
                self.assertRegex(err, r"(?m)^\[0\] stoker: error: stopped after step \d+ of 192; a checkpoint is stored")
                step = int(re.search(r"stopped after step (\d+)", err)[1])
                self.assertIn(f"step-{step:08d}", self.steps_stored(run))
                self.launch("train", "recipe.yaml", *TRAIN[2:], "--resume", "--run", run)
                self.assertEqual(self.read(f"{run}/weights.safetensors"), self.read("whole/weights.safetensors"))

    def test_ranks_that_do_not_train_the_same_are_named_with_what_differs(self):
        self.write("other/recipe.yaml", self.read("recipe.yaml").replace(b"root: data", b"root: ../data"))
        ended = self.own_ranks(["train", "recipe.yaml", "--run", "run"],
                               ["train", "other/recipe.yaml", "--set", "train.optimizer.adamw.weight_decay=0.5"])
        self.assertEqual([process.returncode for process, _, _ in ended], [2, 2], ended)
        for _, _, err in ended:
            self.assertIn("rank 1 does not train what rank 0 does: train.optimizer.adamw.weight_decay: 0.01 -> 0.5;", err)
        self.assertFalse(os.path.exists(self.path("run")))

    def test_a_rank_that_begins_where_rank_0_goes_on_is_named(self):
        self.launch("train", "recipe.yaml", "--set", "train.epochs=1", "--run", "run", "--quiet")
        before = self.read("run/metrics.jsonl")
        ended = self.own_ranks(["train", "recipe.yaml", "--run", "run", "--resume"], ["train", "recipe.yaml", "--run", "run"])
        for process, _, err in ended:
            self.assertEqual(process.returncode, 2, err)
            self.assertIn("rank 1 does not train what rank 0 does", err)
            self.assertIn("--resume", err)
        self.assertEqual(self.read("run/metrics.jsonl"), before)

    def test_a_rank_of_another_version_is_named(self):
        version = self.run_stoker("--version")[0].split()[-1]
        other = version[:-1] + ("7" if version[-1] != "7" else "8")
        program = pathlib.Path(STOKER).resolve().with_name("stoker-train").read_bytes()
        self.write("other/stoker-train", program.replace(version.encode() + b"\0", other.encode() + b"\0"))
        os.chmod(self.path("other/stoker-train"), 0o755)
        command = ["train", "recipe.yaml", "--run", "run"]
        for process, _, err in self.own_ranks(command, command, r1={"executable": self.path("other/stoker-train")}):
            self.assertEqual(process.returncode, 2, err)
            self.assertIn(f'rank 1 does not train what rank 0 does: version: "{version}" -> "{other}"', err)
        self.assertFalse(os.path.exists(self.path("run")))

    def test_ranks_listen_on_the_interface_where_they_meet_and_on_no_other(self):
        command = [*TRAIN, "--set", "train.epochs=1000", "--run", "run", "--quiet"]
        ranks = self.start_ranks(command, command, address="127.0.0.2")
        self.wait_for_checkpoint("run", ranks[0])
        addresses = [self.listening(rank) for rank in ranks]
        self.assertIn("127.0.0.2", addresses[0])  # the store
        self.assertEqual({address.split(".")[0] for address in set.union(*addresses)}, {"127"})  # neither 0.0.0.0 nor another interface's
        ranks[0].send_signal(signal.SIGTERM)
        self.assertEqual([rank.wait() for rank in ranks], [143, 143])

    def test_data_that_differ_are_named(self):
        os.makedirs(self.path("other"))
        self.write("other/recipe.yaml", self.read("recipe.yaml"))
        for name in os.listdir(self.path("data")):
            self.write(f"other/data/{name}", self.read(f"data/{name}"))
        labels = bytearray(self.read("data/eval-labels"))
        labels[-1] ^= 1
        self.write("other/data/eval-labels", bytes(labels))
        ended = self.own_ranks(["train", "recipe.yaml", "--run", "run"], ["train", "other/recipe.yaml"])
        for process, _, err in ended:
            self.assertEqual(process.returncode, 2, err)
            self.assertIn("rank 1 does not train what rank 0 does:", err)
            self.assertIn("eval-labels", err)

    def test_a_run_that_is_refused_leaves_nothing_and_says_so_once(self):
        self.write("run/thesis.txt", "precious")
        _, err = self.launch("train", "recipe.yaml", "--run", "run", expect=1)
        self.assertEqual(len(re.findall(r"(?m)^\[0\] stoker: error: run: exists already", err)), 1, err)
        self.assertIn("[1] stoker: error: rank 0 failed: run: exists already", err)
        self.assertEqual(os.listdir(self.path("run")), ["thesis.txt"])

    def test_a_wrong_key_is_wrong_usage(self):
        for key, says in (("backend=mpi", "auto, gloo"), ("timeout=0", "timeout"), ("bucket_mb=-1", "bucket_mb"),
                          ("gradient_type=int8", "float32, bf16, fp16"), ("sync_batch_norm=maybe", "auto, true, false"),
                          ("shard_optimizer=2", "shard_optimizer"), ("local_steps=0", "local_steps"),
                          ("batch=mine", "global, per_rank"),
                          ("buckets=1", "bucket_mb")):
            self.assert_fails(["train", "recipe.yaml", "--set", f"train.distributed.{key}", "--run", "run"], 2, says)
        _, err = self.launch("train", "recipe.yaml", "--set", "data.train.4.batch={size: 2}", "--run", "run", ranks=3, expect=2)
        self.assertIn("3 processes share the rows of each", err)
        self.assertFalse(os.path.exists(self.path("run")))


class DistributedFaultsTest(DistributedBase):
    def test_a_kill_of_any_rank_at_any_moment_costs_nothing_but_time(self):
        self.launch(*TRAIN, "--run", "whole", ranks=3)
        for rank in range(3):
            with self.subTest(rank=rank):
                run = f"killed-{rank}"
                launcher = self.start("launch", "-n", "3", "--restarts", "2", "--", *TRAIN, "--run", run)
                self.wait_for_checkpoint(run, launcher)
                os.kill(children_of(launcher)[rank], signal.SIGKILL)
                _, err = launcher.communicate()
                self.assertEqual(launcher.returncode, 0, err)
                self.assertIn(f"launch: rank {rank} was killed by signal 9", err)
                self.assertIn("restart 1 of 2", err)
                self.assertEqual(self.read(f"{run}/weights.safetensors"), self.read("whole/weights.safetensors"))

    def kill_each_rank_of(self, *settings):
        """Of a training whose state is made of all ranks', so that none is stored when one is lost."""
        train = [*TRAIN, "--set", "model={convnet: {classes: 4, channels: [8]}}", *settings]
        self.launch(*train, "--run", "whole")
        for rank in range(2):
            with self.subTest(rank=rank):
                run = f"killed-{rank}"
                launcher = self.start("launch", "-n", "2", "--restarts", "2", "--", *train, "--run", run)
                self.wait_for_checkpoint(run, launcher)
                os.kill(children_of(launcher)[rank], signal.SIGKILL)
                _, err = launcher.communicate()
                self.assertEqual(launcher.returncode, 0, err)
                self.assertEqual(self.read(f"{run}/weights.safetensors"), self.read("whole/weights.safetensors"))

    def test_a_kill_in_the_middle_of_norms_and_updates_costs_no_more(self):
        self.kill_each_rank_of("--set", "train.distributed.shard_optimizer=true")

    def test_a_kill_between_two_means_of_local_steps_costs_no_more(self):
        self.kill_each_rank_of("--set", "train.distributed.local_steps=5")

    def test_an_error_of_one_rank_is_told_once_and_by_name(self):
        # The last row of a batch in order, which is the last rank's.
        labels = bytearray(self.read("data/train-labels"))
        labels[-1] = 9
        self.write("data/train-labels", bytes(labels))
        train = "data.train=[{idx: {images: train-images, labels: train-labels}}, {normalize: {mean: 0.2, std: 0.3}}, {batch: 64}]"
        _, err = self.launch("train", "recipe.yaml", "--set", train, "--run", "run", ranks=3, expect=1)
        self.assertEqual(len(re.findall(r"(?m)^\[2\] stoker: error: (?!rank)", err)), 1, err)
        for rank in (0, 1):
            self.assertRegex(err, rf"(?m)^\[{rank}\] stoker: error: rank 2 failed: ")
        self.assertEqual(self.rank_logs("run"), ["log.rank-1", "log.rank-2"])
        self.assertRegex(self.read("run/log.rank-2").decode(), r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d error: (?!rank)")
        self.assertEqual(self.steps_stored("run"), ["step-00000007"])

    def test_a_checkpoint_that_rank_0_cannot_write_ends_all_by_name(self):
        launcher = self.start("launch", "-n", "3", "--", *TRAIN, "--run", "run")
        self.wait_for_checkpoint("run", launcher)
        while not os.path.isfile(self.path("run/checkpoints")):
            shutil.rmtree(self.path("run/checkpoints"), ignore_errors=True)
            try:
                self.write("run/checkpoints", "in the way")
            except IsADirectoryError:  # made again meanwhile
                pass
        _, err = launcher.communicate()
        self.assertEqual(launcher.returncode, 1, err)
        self.assertRegex(err, r"(?m)^\[0\] stoker: error: while writing the checkpoint of step \d+")
        for rank in (1, 2):
            self.assertRegex(err, rf"(?m)^\[{rank}\] stoker: error: rank 0 failed: while writing the checkpoint of step")

    def test_a_disk_that_is_full_ends_all_by_name_where_the_run_is_and_costs_nothing_elsewhere(self):
        full = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))}
        command = ["train", "recipe.yaml", "--set", "train.epochs=1", "--set", "model={mlp: {classes: 4, hidden: [256]}}"]
        ended = self.own_ranks([*command, "--run", "run"], command, r0=full)
        self.assertEqual([process.returncode for process, _, _ in ended], [1, 1], ended)
        self.assertIn("File too large", ended[0][2])
        self.assertRegex(ended[1][2], r"^stoker: error: rank 0 failed: .*File too large")
        self.assertEqual(self.steps_stored("run"), [])
        ended = self.own_ranks([*command, "--run", "other"], command, r1=full)
        self.assertEqual([process.returncode for process, _, _ in ended], [0, 0], ended)


if __name__ == "__main__":
    unittest.main()

"""Several processes of `stoker train`: what each hears of the others when one is lost, hangs, is warned or is slow."""
import json
import os
import re
import signal
import socket
import time
import unittest

import remote_faults_test
from distributed_test import TRAIN, DistributedBase

HOST = socket.gethostname()


class LostRanksTest(DistributedBase):
    """Ranks that no launcher watches: they notice themselves what becomes of each other."""

    LONG = ["train", "recipe.yaml", "--set", "train.epochs=100000", "--set", "train.checkpoint.every_steps=4"]

    def test_a_rank_that_is_killed_is_named_by_the_others_with_what_it_did(self):
        took = []
        for killed in range(3):
            with self.subTest(killed=killed):
                run = f"killed-{killed}"
                ranks = self.start_ranks([*self.LONG, "--run", run], self.LONG, self.LONG)
                self.wait_for_checkpoint(run, ranks[0])
                ranks[killed].kill()
                began = time.monotonic()
                for rank, process in enumerate(ranks):
                    _, err = process.communicate()
                    if rank == killed:
                        continue
                    self.assertEqual(process.returncode, 1, err)
                    self.assertRegex(err, rf"(?m)^stoker: error: .*rank {killed} on {re.escape(HOST)} is lost: its connection was "
                                          r"closed; it was last seen \w+ing")
                    self.assertEqual(err.count("error:"), 1, err)
                took.append(time.monotonic() - began)
        # Two seconds are promised; that the machine was busy with something else is no fault of theirs.
        self.assertLess(min(took), 2)

    def test_a_rank_0_that_is_gone_before_all_have_met_is_one_error_without_a_stack(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            place = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(gone.getsockname()[1])}
            waiting = self.start("train", "recipe.yaml", "--set", "train.distributed.timeout=2", environment=place)
            gone.settimeout(0.1)
            while waiting.poll() is None:
                try:
                    gone.accept()[0].close()
                except TimeoutError:
                    continue
        _, err = waiting.communicate()
        self.assertEqual(waiting.returncode, 1, err)
        self.assertRegex(err, r"\Astoker: error: [^\n]*127.0.0.1[^\n]*\n\Z")

    def test_a_rank_that_hangs_is_named_by_the_others_and_ends_when_it_goes_on(self):
        for stopped in range(2):
            with self.subTest(stopped=stopped):
                run = f"stopped-{stopped}"
                command = [*self.LONG, "--set", "train.distributed.timeout=3"]
                ranks = self.start_ranks([*command, "--run", run], command)
                self.wait_for_checkpoint(run, ranks[0])
                ranks[stopped].send_signal(signal.SIGSTOP)
                _, err = ranks[1 - stopped].communicate()
                self.assertEqual(ranks[1 - stopped].returncode, 1, err)
                self.assertRegex(err, rf"error: .*rank {stopped} on {re.escape(HOST)} (is lost: nothing was heard of it for 3 s|did not "
                                      r"come within 3 s)")
                ranks[stopped].send_signal(signal.SIGCONT)
                _, err = ranks[stopped].communicate()
                self.assertEqual(ranks[stopped].returncode, 1, err)
                self.assertNotIn(f"rank {1 - stopped} on {HOST} is lost: nothing", err)

    def test_a_rank_that_is_stopped_for_a_while_costs_nothing_but_time(self):
        command = ["train", "recipe.yaml", "--set", "train.epochs=40", "--set", "train.checkpoint.every_steps=4"]
        self.run_stoker(*command, "--run", "alone")
        ranks = self.start_ranks([*command, "--run", "run"], command)
        self.wait_for_checkpoint("run", ranks[0])
        for process in (*ranks, *ranks[::-1]):
            process.send_signal(signal.SIGSTOP)
            time.sleep(1)
            process.send_signal(signal.SIGCONT)
        for process in ranks:
            _, err = process.communicate()
            self.assertEqual((process.returncode, err), (0, ""))
        self.assertEqual(self.lines("run")[-1]["step"], self.lines("alone")[-1]["step"])


class WaitingRanksTest(remote_faults_test.SilentServerTest):
    """Ranks of which none waits for another, since each waits for a server that has fallen silent."""

    test_a_signal_stores_the_last_whole_step_and_the_run_goes_on_to_the_same_bytes = None

    start_ranks = DistributedBase.start_ranks

    def test_each_hears_of_one_that_is_killed_and_of_a_signal_to_another(self):
        command = ["train", "silent.yaml"]
        for number, code in ((signal.SIGKILL, 1), (signal.SIGTERM, 143)):
            for victim in (0, 1):
                with self.subTest(signal=number.name, victim=victim):
                    self.talks.clear()
                    self.is_silent.clear()
                    run = f"{number.name}-{victim}"
                    ranks = self.start_ranks([*command, "--run", run], command, command, environment=self.variables)
                    self.is_silent.wait()
                    while not self.steps_of(run):
                        time.sleep(0.01)
                    time.sleep(1.5)  # for the steps that have their batches, and until the others know what each does
                    ranks[victim].send_signal(number)
                    errors = [process.communicate()[1] for process in ranks]
                    self.talks.set()
                    for rank, (process, err) in enumerate(zip(ranks, errors, strict=True)):
                        if number == signal.SIGKILL and rank == victim:
                            continue
                        self.assertEqual(process.returncode, code, errors)
                        if number == signal.SIGKILL:
                            self.assertRegex(err, rf"rank {victim} on .* is lost: its connection was closed; it was last seen "
                                                  r"waiting for .* step \d+")
                    if (number, victim) != (signal.SIGKILL, 0):
                        self.assertTrue(os.listdir(self.path(f"{run}/checkpoints")))


class SlurmTest(DistributedBase):
    """SIGUSR1, with which Slurm warns, and a scontrol that notes what it is asked for."""

    def setUp(self):
        super().setUp()
        self.write("bin/scontrol", "#!/bin/sh\necho \"$@\" >> asked\ntest ! -e refuses\n")
        os.chmod(self.path("bin/scontrol"), 0o755)
        self.slurm = {"PATH": f"{self.path('bin')}:{os.environ['PATH']}", "SLURM_JOB_ID": "17"}

    def warned(self, *command, run, code, environment=None):
        process = self.start(*command, "--run", run, environment=environment or {})
        self.wait_for_checkpoint(run, process)
        process.send_signal(signal.SIGUSR1)
        process.send_signal(signal.SIGUSR1)
        _, err = process.communicate()
        self.assertEqual(process.returncode, code, err)
        return err

    def test_a_warning_stores_a_checkpoint_and_ends_the_run(self):
        self.run_stoker(*TRAIN, "--run", "whole")
        for launcher, run in (([], "one"), (["launch", "-n", "2", "--restarts", "2", "--"], "two")):
            err = self.warned(*launcher, *TRAIN, run=run, code=138)
            self.assertRegex(err, r"stopped after step \d+ of 192; a checkpoint is stored")
            self.assertNotIn("restart", err)
            self.run_stoker(*launcher, *TRAIN, "--resume", "--run", run)
        self.assertEqual(self.read("one/weights.safetensors"), self.read("whole/weights.safetensors"))

    def test_requeue_puts_the_job_back_once_and_the_job_that_follows_goes_on(self):
        self.run_stoker("launch", "-n", "2", "--", *TRAIN, "--run", "whole")
        command = ["launch", "-n", "2", "--", *TRAIN, "--requeue"]
        err = self.warned(*command, run="run", code=138, environment=self.slurm)
        self.assertIn("Slurm has put the job 17 back into its queue", err)
        self.assertEqual(self.read("asked"), b"requeue 17\n")
        _, err = self.run_stoker(*command, "--run", "run", environment={**self.slurm, "SLURM_RESTART_COUNT": "1"})
        self.assertIn("run: Slurm's restart 1 continues this run", err)
        self.assertEqual(self.read("run/weights.safetensors"), self.read("whole/weights.safetensors"))
        self.assertEqual(self.read("asked"), b"requeue 17\n")

    def test_a_job_of_an_array_is_put_back_alone(self):
        array = {**self.slurm, "SLURM_ARRAY_JOB_ID": "17", "SLURM_ARRAY_TASK_ID": "3"}
        self.warned(*TRAIN, "--requeue", run="run", code=138, environment=array)
        self.assertEqual(self.read("asked"), b"requeue 17_3\n")

    def test_a_refusal_of_slurm_is_an_error_after_the_checkpoint(self):
        self.write("refuses", "")
        err = self.warned(*TRAIN, "--requeue", run="run", code=1, environment=self.slurm)
        self.assertRegex(err, r"while queueing the job again; a checkpoint of step \d+ is stored: `scontrol requeue 17` failed with exit "
                              "code 1")
        self.assertIn(f"step-{int(re.search('of step ([0-9]+)', err)[1]):08d}", self.steps_stored("run"))

    def test_requeue_needs_a_job_and_a_directory(self):
        self.assert_fails([*TRAIN, "--requeue"], 2, "give --run DIR")
        self.assert_fails([*TRAIN, "--requeue", "--run", "run"], 1, "no SLURM_JOB_ID", environment={"SLURM_JOB_ID": ""})

    def test_another_signal_does_not_put_the_job_back(self):
        process = self.start(*TRAIN, "--requeue", "--run", "run", environment=self.slurm)
        self.wait_for_checkpoint("run", process)
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, 143)
        self.assertFalse(os.path.exists(self.path("asked")))


class PaceTest(DistributedBase):
    def test_rank_0_says_who_is_slow(self):
        out, _ = self.launch(*TRAIN, "--run", "run", ranks=3)
        self.assertRegex(out, r"(?m)^\[0\] ranks +waited \d+% of the time of steps for slower ones, and exchanged for \d+%; "
                              r"slowest rank [0-2], fastest rank [0-2]$")
        for line in self.lines("run"):
            self.assertIn(line["slowest_rank"], range(3))
            self.assertIn(line["fastest_rank"], range(3))
            for share in ("waited_for_ranks", "exchanged"):
                self.assertTrue(0 <= line[share] <= 1, line)
        summary = json.loads(self.read("run/summary.json"))
        self.assertEqual(set(summary["ranks"]), {"waited", "exchanged", "slowest", "fastest"})
        self.run_stoker("train", "recipe.yaml", "--set", "train.epochs=1", "--run", "alone")
        self.assertNotIn("slowest_rank", self.lines("alone")[-1] if self.lines("alone") else {})


if __name__ == "__main__":
    unittest.main()

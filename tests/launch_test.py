"""`stoker launch`: several processes of one command."""
import os
import re
import signal
import time
import unittest

from program import ProgramTest

LONG = ["bench", "long.yaml", "--seconds", "600"]


def children_of(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as children:
        return [int(pid) for pid in children.read().split()]


def runs(pid):
    """Whether the process is there and has not ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def variables_of(pid):
    with open(f"/proc/{pid}/environ", encoding="utf-8") as environ:
        return dict(entry.split("=", 1) for entry in environ.read().split("\0") if "=" in entry)


class LaunchBase(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("long.yaml", "data: {train: [range: 100, batch: 10]}\n")

    def wait_for(self, holds, process):
        while not holds():
            self.assertIsNone(process.poll(), "ended by itself")
            time.sleep(0.01)

    def launched(self, *arguments, ranks=2, command=LONG):
        """A launcher and the processes that it has started, which handle signals by now."""
        launcher = self.start("launch", "-n", str(ranks), *arguments, "--", *command)
        self.wait_for(lambda: len(children_of(launcher)) == ranks, launcher)
        pids = children_of(launcher)
        self.wait_for(lambda: all(self.measures(pid) for pid in pids), launcher)
        return launcher, pids

    @staticmethod
    def measures(pid):
        """Whether the process has become the command and handles signals: until then it is a copy of the launcher, whose
        handlers it shows."""
        with open(f"/proc/{pid}/cmdline", encoding="ascii") as arguments:
            if arguments.read().split("\0")[1:2] in ([], ["launch"]):
                return False
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            caught = int(re.search(r"SigCgt:\s+(\w+)", status.read())[1], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def assert_all_end(self, pids):
        while any(runs(pid) for pid in pids):
            time.sleep(0.01)


class LaunchTest(LaunchBase):
    def test_each_process_knows_its_rank_and_has_a_share_of_the_cpus(self):
        launcher, pids = self.launched()
        variables = [variables_of(pid) for pid in pids]
        self.assertEqual([each["RANK"] for each in variables], ["0", "1"])
        self.assertEqual({each["WORLD_SIZE"] for each in variables}, {"2"})
        self.assertEqual(len({each["MASTER_PORT"] for each in variables}), 1)
        self.assertIn("STOKER_LISTENER", variables[0])
        self.assertNotIn("STOKER_LISTENER", variables[1])
        cpus = [os.sched_getaffinity(pid) for pid in pids]
        if len(os.sched_getaffinity(0)) > 1:
            self.assertFalse(cpus[0] & cpus[1])
        self.assertEqual(cpus[0] | cpus[1], os.sched_getaffinity(0))
        launcher.terminate()
        launcher.communicate()

    def test_lines_begin_with_the_rank_unless_there_is_one_process(self):
        out, _ = self.run_stoker("launch", "-n", "2", "--", "bench", "long.yaml", "--epochs", "1")
        self.assertTrue(all(re.match(r"\[[01]\] ", line) for line in out.splitlines()), out)
        self.assertEqual({line[:3] for line in out.splitlines()}, {"[0]", "[1]"})
        out, _ = self.run_stoker("launch", "-n", "1", "--", "--version")
        self.assertRegex(out, r"\Astoker \d")

    def test_lines_that_cannot_be_written_are_a_failure(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            launcher = self.start("launch", "-n", "2", "--", "bench", "long.yaml", "--epochs", "1", stdout=full)
            _, err = launcher.communicate()
        self.assertEqual(launcher.returncode, 1, err)
        self.assertIn("standard output: ", err)

    def test_lines_can_go_to_files(self):
        out, _ = self.run_stoker("launch", "-n", "2", "--log-dir", "logs/here", "--", "--version")
        self.assertEqual(out, "")
        for rank in range(2):
            self.assertRegex(self.read(f"logs/here/rank-{rank}.log").decode(), r"\Astoker \d")

    def test_where_one_is_killed_all_end_and_it_is_named(self):
        launcher, pids = self.launched(ranks=3)
        os.kill(pids[1], signal.SIGKILL)
        _, err = launcher.communicate()
        self.assertEqual(launcher.returncode, 1, err)
        self.assertIn("launch: rank 1 was killed by signal 9", err)
        self.assertIn("stoker: error: rank 1 was killed by signal 9", err)
        self.assert_all_end(pids)

    def test_a_signal_goes_to_all_and_the_exit_code_says_which(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number.name):
                launcher, pids = self.launched()
                launcher.send_signal(number)
                _, err = launcher.communicate()
                self.assertEqual(launcher.returncode, code, err)
                self.assertRegex(err, r"(?m)^\[0\] .*" + number.name)
                self.assertRegex(err, r"(?m)^\[1\] .*" + number.name)
                self.assert_all_end(pids)

    def test_processes_end_when_the_launcher_is_killed(self):
        launcher, pids = self.launched()
        launcher.kill()
        launcher.wait()
        self.assert_all_end(pids)

    def test_a_failure_starts_all_again_as_often_as_said(self):
        launcher = self.start("launch", "-n", "2", "--restarts", "2", "--", "bench", "no-such.yaml")
        _, err = launcher.communicate()
        self.assertEqual(launcher.returncode, 1, err)
        self.assertIn("restart 1 of 2", err)
        self.assertIn("restart 2 of 2", err)
        self.assertRegex(err, r"stoker: error: rank [01] ended with exit code 1, after 2 restarts")

    def test_wrong_usage_is_not_tried_again(self):
        _, err = self.run_stoker("launch", "-n", "2", "--restarts", "5", "--", "bench", "--no-such-option", expect=2)
        self.assertNotIn("restart", err)

    def test_bad_arguments_are_refused(self):
        self.assert_fails(["launch", "--", "--version"], 2, "-n")
        self.assert_fails(["launch", "-n", "0", "--", "--version"], 2, "-n")
        self.assert_fails(["launch", "-n", "2"], 2, "no command follows `--`")
        self.assert_fails(["launch", "-n", "2", "--"], 2, "no command follows `--`")
        self.assert_fails(["launch", "-n", "2", "--", "launch", "-n", "2", "--", "--version"], 2, "launch starts no launch")
        self.assert_fails(["launch", "-n", "2", "--", "python", "train.py"], 2, "'python' is no command of stoker", "torchrun")
        self.assert_fails(["launch", "-n", "1", "--log-dir", "recipe.yaml/logs", "--", "--version"], 1, "recipe.yaml")



class LaunchTrainTest(LaunchBase):
    def test_a_training_continues_from_its_checkpoint_after_a_kill(self):
        train = ["train", "recipe.yaml", "--set", "train.checkpoint.every_steps=4", "--set", "train.epochs=20"]
        self.run_stoker(*train, "--run", "whole")
        launcher = self.start("launch", "-n", "1", "--restarts", "3", "--", *train, "--run", "killed")
        self.wait_for(lambda: os.path.isdir(self.path("killed/checkpoints")) and
                      any(name.startswith("step-") for name in os.listdir(self.path("killed/checkpoints"))), launcher)
        os.kill(children_of(launcher)[0], signal.SIGKILL)
        _, err = launcher.communicate()
        self.assertEqual(launcher.returncode, 0, err)
        self.assertIn("restart 1 of 3", err)
        self.assertIn("the launcher's restart 1 continues this run", err)
        self.assertEqual(self.read("killed/weights.safetensors"), self.read("whole/weights.safetensors"))

    def test_a_training_that_may_be_started_again_needs_a_directory(self):
        _, err = self.run_stoker("launch", "-n", "1", "--restarts", "1", "--", "train", "recipe.yaml", expect=2)
        self.assertIn("give --run DIR", err)

if __name__ == "__main__":
    unittest.main()

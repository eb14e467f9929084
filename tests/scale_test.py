"""stoker scale: one recipe in several numbers of processes; and the model of docs/scale.md, on its own."""
import dataclasses
import glob
import math
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from program import ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench/scale"))
import model  # noqa: E402


class ScaleTest(ProgramTest):
    """Trains: needs stoker-train."""

    def scale(self, *words):
        return ["scale", "recipe.yaml", *words]

    def left_behind(self):
        return glob.glob(os.path.join(self.folder, "tmp", "*"))

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("tmp"))
        self.in_tmp = {"environment": {"TMPDIR": self.path("tmp")}}

    def test_each_number_of_ranks_and_batch_is_measured_beside_the_fewest_ranks(self):
        found = self.run_json(*self.scale("--ranks", "2,1", "--batch", "32,64", "--epochs", "2"), **self.in_tmp)
        self.assertEqual([(run["batch"], run["ranks"]) for run in found["runs"]], [(32, 1), (32, 2), (64, 1), (64, 2)])
        for run in found["runs"]:
            self.assertEqual(run["epochs"], 2)
            self.assertGreater(run["samples_per_s"], 0)
            self.assertAlmostEqual(run["samples_per_s"] * run["step_s"], run["batch"], delta=1)
            self.assertGreaterEqual(run["wait_for_data"], 0)
            self.assertTrue(0 < run["evaluation"]["accuracy"] <= 1)
            self.assertIsNone(run["run"])
            if run["ranks"] == 1:
                self.assertEqual((run["speedup"]["change"], run["efficiency"], run["wait_for_ranks"]), (1, 1, 0))
            else:
                self.assertAlmostEqual(run["efficiency"], run["speedup"]["change"] / 2)
                self.assertTrue(0 < run["wait_for_ranks"] < 1)
        # All reached the worst of their best accuracies, so all say when.
        self.assertEqual(found["goal"]["metric"], "accuracy")
        self.assertNotIn(None, [run["reached_after_s"] for run in found["runs"]])
        self.assertEqual(self.left_behind(), [])

    def test_the_text_has_a_row_for_each_a_plot_and_a_sentence(self):
        out, err = self.run_stoker(*self.scale("--ranks", "1,2", "--to", "plot.svg", "--to", "plot.png", "--keep", "kept"), **self.in_tmp)
        self.assertRegex(out, r"(?m)^batch  ranks +images/s +speedup +efficiency +epoch +waits for ranks +for data +accuracy")
        self.assertRegex(out, r"(?m)^32 +1 +[\d,]+ +1\.00 .*100 % ")
        self.assertRegex(out, r"(?m)^32 +2 +[\d,]+ ")
        self.assertRegex(out, r"No number of ranks is slower|At a batch of 32, 2 ranks are slower than 1")
        self.assertRegex(out, "[\u2801-\u28ff]", "dots of the plot")
        self.assertRegex(err, r"(?m)^scale: batch 32, 2 ranks: [\d,]+ images a second$")
        self.assertTrue(self.read("plot.svg").startswith(b"<"))
        self.assertTrue(self.read("plot.png").startswith(b"\x89PNG"))
        # The runs stay, and are runs.
        compared = self.run_json("compare", "kept/ranks-1/run", "kept/ranks-2/run")
        self.assertEqual(len(compared["runs"]), 2)
        self.assert_fails(self.scale("--keep", "kept"), 2, "--keep kept: is there already")

    def test_steps_bound_a_run(self):
        found = self.run_json(*self.scale("--ranks", "2", "--steps", "4", "--set", "train.seed=7"), **self.in_tmp)
        self.assertAlmostEqual(found["runs"][0]["epochs"], 0.25)

    def test_what_a_training_says_is_the_error_and_what_was_measured_is_shown(self):
        self.assert_fails(self.scale("--ranks", "1", "--set", "train.optimiser=sgd"), 2, "in one process: ", "unknown", "optimizer", **self.in_tmp)
        self.assert_fails(["scale", "nothing.yaml", "--ranks", "2"], 1, "in 2 processes: nothing.yaml", **self.in_tmp)
        # 512 images make no batch of 1000, but one of 256.
        out, err = self.run_stoker(*self.scale("--ranks", "1", "--batch", "256,1000"), expect=2, **self.in_tmp)
        self.assertRegex(out, r"(?m)^256 +1 ")
        self.assertIn("stoker: error: in one process: ", err)
        self.assertEqual(self.left_behind(), [])

    def test_a_signal_ends_all_ranks_and_leaves_nothing(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            with self.subTest(signal=number.name):
                process = self.start(*self.scale("--ranks", "2", "--epochs", "1000000"), **self.in_tmp)
                while not glob.glob(os.path.join(self.folder, "tmp/*/ranks-2/run/progress.json")):
                    self.assertIsNone(process.poll(), "ended by itself")
                    time.sleep(0.01)
                process.send_signal(number)
                out, err = process.communicate()
                self.assertEqual((process.returncode, out), (code, ""), err)
                self.assertEqual(self.left_behind(), [])

    def test_wrong_usage_says_what_to_do(self):
        for words, says in [
                (["--ranks", "0"], ["--ranks", "1 to 4096"]),
                (["--ranks", "1,x"], ["--ranks"]),
                (["--ranks", "2,2"], ["--ranks: 2 is there twice"]),
                (["--batch", "2", "--ranks", "4"], ["--batch 2", "4 ranks would have less than a row each"]),
                (["--epochs", "0"], ["--epochs"]),
                (["--reach", "accuracy"], ["--reach"]),
                (["--to", "plot.pdf"], ["plot.pdf"])]:
            with self.subTest(words=words):
                self.assert_fails(self.scale(*words), 2, *says, **self.in_tmp)


class ScaleModelTest(unittest.TestCase):
    """bench/scale/model.py: what follows from its figures."""

    TRAINING = model.Training(batch=4096, fixed_s=0.001, row_s=1e-5, gradient_bytes=100_000_000, message_s=1e-4, byte_s=1e-9)

    def changed(self, **figures):
        return dataclasses.replace(self.TRAINING, **figures)

    def test_one_rank_waits_for_nobody(self):
        step = model.simulate_steps(1, self.changed(jitter=0.2), steps=1000)
        self.assertEqual((step.exchange, step.stragglers), (0, 0))
        self.assertAlmostEqual(step.seconds, 0.001 + 4096e-5, delta=0.001)

    def test_perfect_ranks_share_the_rows_and_nothing_else(self):
        free = self.changed(gradient_bytes=0, message_s=0.0)
        for ranks in (2, 64, 4096):
            self.assertAlmostEqual(model.simulate_steps(ranks, free, steps=2).seconds, 0.001 + 4096e-5 / ranks)

    def test_a_ring_sends_twice_the_gradients_and_waits_for_every_rank_a_tree_for_their_logarithm(self):
        for ranks in (2, 8, 4096):
            bytes_alone = 2 * (ranks - 1) / ranks * 0.1
            self.assertAlmostEqual(model.all_reduce_seconds(ranks, 100_000_000, self.TRAINING), bytes_alone + 2 * (ranks - 1) * 1e-4)
            tree = model.all_reduce_seconds(ranks, 100_000_000, self.changed(ring=False))
            self.assertAlmostEqual(tree, bytes_alone + 2 * math.log2(ranks) * 1e-4)

    def test_each_cure_shortens_what_it_is_said_to(self):
        whole = model.exchange_seconds(16, self.TRAINING)
        self.assertAlmostEqual(model.exchange_seconds(16, self.changed(local_steps=8)), whole / 8)
        self.assertLess(model.exchange_seconds(16, self.changed(gradient_share=0.5)), whole)
        self.assertLess(model.exchange_seconds(16, self.changed(bucket_bytes=100_000_000)), whole)
        self.assertLess(model.exposed_seconds(16, 1.0, self.changed(overlap=0.5)), whole)
        larger = model.simulate_steps(16, self.changed(batch=4 * 4096), steps=2)
        self.assertGreater(larger.rows_s(self.changed(batch=4 * 4096)), model.simulate_steps(16, self.TRAINING, steps=2).rows_s(self.TRAINING))

    # The largest of n draws of a normal distribution, by numerical integration of its distribution.
    def test_the_slowest_of_many_ranks_is_as_slow_as_the_largest_of_as_many_draws(self):
        jitter = 0.1
        for ranks in (8, 256):
            grid = [-8 + 0.001 * i for i in range(16001)]
            cdf = [(0.5 * (1 + math.erf(x / math.sqrt(2))))**ranks for x in grid]
            expected = sum(math.exp(jitter * (x + 0.0005) - jitter**2 / 2) * (after - before) for x, before, after in zip(grid, cdf, cdf[1:]))
            free = self.changed(batch=ranks, row_s=0.0, gradient_bytes=0, message_s=0.0, jitter=jitter)
            self.assertAlmostEqual(model.simulate_steps(ranks, free, steps=2000).seconds / 0.001, expected, delta=0.01)

    def test_a_store_feeds_all_ranks_together_and_caches_spare_it(self):
        fed = self.changed(row_bytes=1e5, store_bytes_s=1e9, gradient_bytes=0, message_s=0.0)
        self.assertAlmostEqual(model.input_rows_s(512, fed), 10_000)
        self.assertAlmostEqual(model.input_rows_s(512, self.changed(row_bytes=1e5, store_bytes_s=1e9, hit_share=0.9)), 100_000)
        self.assertAlmostEqual(model.input_rows_s(512, self.changed(row_requests=1, store_requests_s=5000)), 5000)
        step = model.simulate_steps(512, fed, steps=2)
        self.assertAlmostEqual(step.seconds, 4096 / 10_000)
        self.assertEqual(step.largest_loss(), "data")

    def test_dalys_interval_is_the_best_of_all_and_the_simulation_agrees(self):
        for ranks in (8, 512, 4096):
            faults = model.Faults(mean_between_s=30 * 24 * 3600, checkpoint_s=20, restart_s=120)
            best = model.daly(ranks, faults)
            share = model.useful_share(ranks, best, faults)
            for factor in (0.5, 0.8, 1.25, 2):
                self.assertLess(model.useful_share(ranks, factor * best, faults), share)
            drawn = model.simulate_faults(ranks, best, faults, work_s=3e8 / ranks)
            self.assertAlmostEqual(drawn, share, delta=0.02)
        self.assertAlmostEqual(model.daly(8, faults), model.young(8, faults), delta=0.05 * model.young(8, faults))
        # Failures that come faster than a checkpoint is written leave nothing.
        self.assertEqual(model.useful_share(4096, 10, model.Faults(40, 5, 60)), 0)

    def test_the_tables_of_the_documentation_are_what_the_simulation_prints(self):
        text = (ROOT / "docs/scale.md").read_text()
        commands = [line for line in text.splitlines() if line.startswith("bench/scale/simulate.py")]
        self.assertGreaterEqual(len(commands), 2)
        for command in commands:
            with self.subTest(command=command):
                done = subprocess.run([sys.executable, "-B", *command.split()], cwd=ROOT, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.strip() in text, "docs/scale.md shows another table: run the command, and put its output there")

    def test_what_is_no_figure_is_refused(self):
        for words in (["--message-us", "-1"], ["--steps", "0"], ["--ranks", "0"], ["--jitter", "nan"], ["--ranks", "x"]):
            done = subprocess.run([sys.executable, "-B", ROOT / "bench/scale/simulate.py", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    unittest.main()

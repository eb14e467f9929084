"""`stoker plot`: curves of runs, from their metrics alone."""
import json
import unittest
import xml.etree.ElementTree

from program import ProgramTest


def metrics(rate, steps=40):
    """A run that learns at `rate`: a line every ten steps, an evaluation every twenty."""
    lines = []
    for step in range(10, steps + 1, 10):
        line = {"kind": "train", "step": step, "epoch": step / 20, "loss": 2 / (1 + rate * step), "lr": 0.1,
                "train_seconds": step / 4}
        lines.append(line)
        if step % 20 == 0:
            lines.append({"kind": "eval", "step": step, "epoch": step // 20, "loss": line["loss"], "train_seconds": step / 4,
                          "accuracy": 1 - line["loss"] / 2})
    return "".join(json.dumps(line) + "\n" for line in lines)


class PlotTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("runs/fast/metrics.jsonl", metrics(0.5))
        self.write("runs/slow/metrics.jsonl", metrics(0.1))

    def test_compares_runs_in_the_terminal_and_in_files(self):
        out, err = self.run_stoker("plot", "runs/fast", "runs/slow", "--to", "plot.svg", "--to", "plot.png")
        self.assertEqual(err, "")
        self.assertRegex(out, "(?s)loss .*\n.*[\u2800-\u28ff]+.*accuracy\n.* a  fast\n +b  slow\n")
        self.assertRegex(out, r"(?m)^fast +train\.loss +40 +0\.09524 ")
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        svg = xml.etree.ElementTree.fromstring(self.read("plot.svg"))
        texts = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"accuracy", "fast", "slow", "step"}, texts)
        self.assertEqual(self.read("plot.png")[:8], b"\x89PNG\r\n\x1a\n")

    def test_says_when_each_run_got_there_by_time(self):
        shown = self.run_json("plot", "runs/fast", "runs/slow", "--by", "time", "--reach", "accuracy=0.85")
        self.assertEqual([run["reached"] and run["reached"]["train_seconds"] for run in shown["runs"]], [5, None])
        self.assertEqual(shown["runs"][0]["curves"][0]["x"], [2.5, 5, 7.5, 10])
        out, _ = self.run_stoker("plot", "runs/fast", "runs/slow", "--reach", "accuracy=0.85")
        self.assertIn("reached accuracy = 0.85", out)
        self.assertRegex(out, r"(?m)^fast .* step 20, 5 s")
        self.assertRegex(out, r"(?m)^slow .* never")

    def test_a_run_that_has_no_metrics_yet_is_told_and_left_out(self):
        self.write("runs/none/metrics.jsonl", "")
        shown, err = self.run_stoker("plot", "runs/none", "runs/fast", "--json")
        self.assertEqual(len(json.loads(shown)["runs"]), 1)
        self.assertIn("runs/none/metrics.jsonl: holds no metrics yet", err)

    def test_a_last_line_that_was_cut_short_is_told_and_left_out(self):
        self.write("runs/fast/metrics.jsonl", metrics(0.5)[:-9])
        out, err = self.run_stoker("plot", "runs/fast")
        self.assertIn("loss", out)
        self.assertIn("line 6", err)
        self.assertIn("cut short", err)

    def test_a_run_whose_name_is_not_utf_8_is_shown(self):
        self.write("runs/\udcff/metrics.jsonl", metrics(0.5))
        shown = self.run_json("plot", "runs/\udcff")
        self.assertIn("\ufffd", json.dumps(shown, ensure_ascii=False))

    def test_says_what_is_wrong_with_a_run_or_a_metric(self):
        self.write("runs/broken/metrics.jsonl", "{}\n" + metrics(0.5))
        self.write("runs/empty/metrics.jsonl", "")
        for arguments, code, says in [
                (["runs/none"], 1, ["runs/none"]),
                (["data"], 1, ["data: has no metrics.jsonl"]),
                (["runs/empty"], 1, ["runs/empty", "holds no metrics yet"]),
                (["runs/broken"], 1, ["runs/broken/metrics.jsonl: line 1"]),
                (["runs/fast", "--metric", "los"], 2, ["did you mean 'loss'?"]),
                (["runs/fast", "--reach", "accuracy"], 2, ["--reach accuracy", "such as accuracy=0.91"]),
                (["runs/fast", "--reach", "accuracy=nan"], 2, ["--reach accuracy=nan", "such as accuracy=0.91"]),
                (["runs/fast", "--reach", "accuracy=1e999"], 2, ["--reach accuracy=1e999"]),
                (["runs/fast", "--reach", "f1=0.5"], 2, ["--reach f1"]),
                (["runs/fast", "--by", "weeks"], 2, ["--by"]),
                (["runs/fast", "--smooth", "1"], 2, ["--smooth"]),
                ([], 2, ["RUN is required"])]:
            with self.subTest(arguments=arguments):
                self.assert_fails(["plot", *arguments], code, *says)


if __name__ == "__main__":
    unittest.main()

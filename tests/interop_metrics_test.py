"""Losses and metrics of evaluations are those that scikit-learn computes of the same predictions."""
import json
import random
import tempfile
import unittest

from other_software import InteropTest

SAMPLES = 400

RECIPE = """\
data:
  train: [csv: {files: rows.csv, fields: {image: {columns: [a, b, c]}, label: TARGET}}, shuffle, batch: 32]
  eval: [csv: {files: rows.csv, fields: {image: {columns: [a, b, c]}, label: TARGET}}, batch: 77]
model: {mlp: {classes: 1, hidden: [8]}}
train: {epochs: 3, device: cpu, threads: 1, schedule: {one_cycle: {max_lr: 0.02}}}
"""

# Given lines of predictions and the targets, sklearn's figures by Stoker's names.
NUMBERS = """
import json, numpy as np
from sklearn import metrics
want = np.array(json.load(open("targets.json")), float)
got = np.array([json.loads(line)["numbers"] for line in open("said.jsonl")])
if want.ndim == 1: want = want[:, None]
middle = got if got.shape == want.shape else got[:, [1]]
print(json.dumps({"rmse": metrics.mean_squared_error(want, middle) ** 0.5, "mse": metrics.mean_squared_error(want, middle),
                  "mae": metrics.mean_absolute_error(want, middle), "r2": metrics.r2_score(want, middle),
                  "pinball": [metrics.mean_pinball_loss(want[:, 0], got[:, i], alpha=q) for i, q in enumerate([0.1, 0.5, 0.9])
                              if i < got.shape[1]],
                  "huber": float(np.where(abs(want - middle) <= 2, (want - middle) ** 2 / 2, 2 * (abs(want - middle) - 1)).mean()),
                  "deviance": metrics.mean_poisson_deviance(want[:, 0], middle[:, 0]) if (want >= 0).all() and (middle > 0).all() else None,
                  "saturated": float((want - want * np.log(np.maximum(want, 1e-300))).mean()) if (want >= 0).all() else None}))
"""
CLASSES = """
import json, numpy as np
from sklearn import metrics
want = np.array(json.load(open("targets.json")))
lines = [json.loads(line) for line in open("said.jsonl")]
p = np.zeros((len(lines), 3))
for i, line in enumerate(lines):
    for each in line["classes"]: p[i, each["label"]] = each["probability"]
p /= p.sum(1, keepdims=True)
said, each = np.array([line["label"] for line in lines]), range(3)
sure, right = p.max(1), p.argmax(1) == want
bins = np.clip(np.ceil(sure * 15) - 1, 0, 14)
print(json.dumps({"log_loss": metrics.log_loss(want, p), "auc": metrics.roc_auc_score(want, p, multi_class="ovr"),
                  "pr_auc": float(np.mean([metrics.average_precision_score(want == c, p[:, c]) for c in each])),
                  "calibration_error": float(sum(abs((sure - right)[bins == b].sum()) for b in range(15)) / len(want)),
                  "precision_of_classes": metrics.precision_score(want, said, average=None).tolist(),
                  "recall_of_classes": metrics.recall_score(want, said, average=None).tolist(),
                  "f1": metrics.f1_score(want, said, average="macro")}))
"""
LABELS = """
import json, numpy as np
from sklearn import metrics
want = np.array(json.load(open("targets.json")))
p = np.array([[each["probability"] for each in sorted(json.loads(line)["classes"], key=lambda each: each["label"])]
              for line in open("said.jsonl")])
print(json.dumps({"log_loss": float(np.mean([metrics.log_loss(want[:, i], p[:, i]) for i in range(2)])),
                  "pr_auc": metrics.average_precision_score(want, p), "auc": metrics.roc_auc_score(want, p)}))
"""


class MetricsInteropTest(InteropTest):
    def write_rows(self, target, columns=("label",)):
        """rows.csv and targets.json, whose targets are target(a, b, c, noise)."""
        drawn = random.Random(3)
        lines, targets = ["a,b,c," + ",".join(columns)], []
        for _ in range(SAMPLES):
            a, b, c = (drawn.gauss(0, 1) for _ in range(3))
            value = target(a, b, c, drawn.gauss(0, 1))
            targets.append(value)
            lines.append(",".join(map(str, [a, b, c, *(value if isinstance(value, list) else [value])])))
        self.write("rows.csv", "\n".join(lines) + "\n")
        self.write("targets.json", json.dumps(targets))

    def measured(self, target_type, loss, metrics, outputs=1, top=()):
        """The evaluation of a short run; leaves its predictions in said.jsonl."""
        self.write("recipe.yaml", RECIPE.replace("TARGET", target_type))
        run = tempfile.mkdtemp(prefix="run-", dir=self.folder)
        self.run_stoker("train", "recipe.yaml", "--run", run, "--quiet", "--set", f"train.loss={loss}",
                        "--set", f"train.metrics=[{metrics}]", "--set", f"model.mlp.classes={outputs}")
        self.write("said.jsonl", self.run_stoker("predict", run, *top)[0])
        return self.run_json("eval", run)

    def assert_close(self, want, got, *names):
        for name in names:
            with self.subTest(figure=name):
                pairs = zip(want[name], got[name]) if isinstance(want[name], list) else [(want[name], got[name])]
                for one, other in pairs:
                    self.assertAlmostEqual(one, other, delta=2e-4 * max(1, abs(one)))

    def test_errors_of_numbers(self):
        self.write_rows(lambda a, b, c, noise: 3 * a - b + 50 + noise)
        for loss in ("mse", "mae", "{huber: {delta: 2}}"):
            evaluation = self.measured("float32", loss, "rmse, mse, mae, r2")
            want = self.run_other(NUMBERS)
            self.assert_close(want, evaluation["metrics"], "rmse", "mse", "mae", "r2")
            self.assert_close(want, {name: evaluation["loss"] for name in ("mse", "mae", "huber")}, "huber" if "huber" in loss else loss)

    def test_poisson_is_half_its_deviance_beside_that_of_the_counts_themselves(self):
        self.write_rows(lambda a, b, c, noise: int(max(0, 2 + a + noise)))
        evaluation = self.measured("int64", "poisson", "rmse, mae")
        want = self.run_other(NUMBERS)
        self.assertAlmostEqual(evaluation["loss"], want["deviance"] / 2 + want["saturated"], delta=1e-3)
        self.assert_close(want, evaluation["metrics"], "rmse", "mae")

    def test_quantiles_are_measured_by_their_pinball_loss(self):
        self.write_rows(lambda a, b, c, noise: a + noise)
        evaluation = self.measured("float32", "{quantile: {at: [0.1, 0.5, 0.9]}}", "mae", outputs=3)
        want = self.run_other(NUMBERS)
        self.assertAlmostEqual(evaluation["loss"], sum(want["pinball"]) / 3, delta=1e-4)
        self.assert_close(want, evaluation["metrics"], "mae")

    def test_probabilities_of_classes(self):
        self.write_rows(lambda a, b, c, noise: int(a + noise / 2 > 0.5) + int(b > 0))
        evaluation = self.measured("int64", "cross_entropy", "log_loss, auc, pr_auc, calibration_error, precision, recall, f1",
                                   outputs=3, top=["--top", "3"])
        self.assert_close(self.run_other(CLASSES), evaluation["metrics"], "log_loss", "auc", "pr_auc", "calibration_error",
                          "precision_of_classes", "recall_of_classes", "f1")

    def test_probabilities_of_labels(self):
        self.write_rows(lambda a, b, c, noise: [float(a + noise > 0.5), float(b > 0)], ["one", "two"])
        evaluation = self.measured("{columns: [one, two]}", "bce", "log_loss, pr_auc, auc", outputs=2, top=["--top", "2"])
        self.assert_close(self.run_other(LABELS), evaluation["metrics"], "log_loss", "pr_auc", "auc")


if __name__ == "__main__":
    unittest.main()

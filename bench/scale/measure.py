#!/usr/bin/env python3
"""Measures this machine for the model of docs/scale.md, predicts runs that were not measured for it, and checks the prediction.

Usage: measure.py [--recipe R] [--epochs E] [--to FILE] [--reuse FILE]

A rank's own time (fixed, and for each row) is fitted to runs of one rank with one thread, at several batches. What a message costs
follows from one run of two ranks at the smallest batch, where little else happens. With these figures the model predicts the steps of
1, 2, 4 and 8 ranks at the recipe's batch; then these are run. Exit: 0 measured and within the bound, 1 not, 2 wrong usage.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

import model

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import measure as bench  # noqa: E402  (bench/measure.py)

BOUND = 1.5  # the prediction may be off by so much: machines are noisy, and the model has six figures


def scale(recipe, ranks, batches, epochs, steps=None):
    """`stoker scale --json`: {(ranks, batch): run}."""
    words = [bench.BIN / "stoker", "scale", recipe, "--ranks", ",".join(map(str, ranks)), "--batch", ",".join(map(str, batches)),
             "--epochs", epochs, "--set", "train.threads=1", "--set", "train.tune=off", "--json"]
    if steps:
        words += ["--steps", steps]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=bench.ROOT)
    if done.returncode != 0:
        raise SystemExit(f"measure: {done.stderr.strip()}")
    return {(run["ranks"], run["batch"]): run for run in json.loads(done.stdout)["runs"]}


def fit_line(points):
    """(a, b) of y = a + b x, by least squares of relative errors, so that small steps count as much as large ones."""
    weights = [1 / y**2 for _, y in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points)) / total
    slope = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points)) / sum(
        w * (x - mean_x)**2 for w, (x, _) in zip(weights, points))
    return max(0.0, mean_y - slope * mean_x), slope


def calibrate(recipe, batch, epochs, steps):
    small = max(8, batch // 8)
    batches = sorted({small, batch // 4, batch // 2, batch})
    alone = scale(recipe, [1], batches, epochs, steps)
    fixed, row = fit_line([(rows, run["step_s"]) for (_, rows), run in alone.items()])
    two = scale(recipe, [2], [small], epochs, steps)[2, small]
    gradient_bytes = 4 * PARAMETERS
    # Two messages a step, of the gradients: what is longer than a rank's own time. No bandwidth can be told from so few bytes.
    message = max(0.0, two["step_s"] - (fixed + row * small / 2)) / 2
    return {"machine": bench.machine(), "cpus": len(os.sched_getaffinity(0)), "recipe": recipe, "batch": batch, "fixed_s": fixed, "row_s": row,
            "gradient_bytes": gradient_bytes, "message_s": message, "byte_s": 0.0, "jitter": 0.0,
            "measured": {"alone": {rows: run["step_s"] for (_, rows), run in alone.items()}, "two": {small: two["step_s"]}}}


PARAMETERS = 17_018  # of recipes/fashion-mnist.yaml


def check(machine, epochs, steps):
    """The prediction beside what is measured then."""
    known = {key: machine[key] for key in ("batch", "fixed_s", "row_s", "gradient_bytes", "message_s", "byte_s", "jitter")}
    training = model.Training(cpus=machine["cpus"], **known)
    runs = scale(machine["recipe"], [1, 2, 4, 8], [machine["batch"]], epochs, steps)
    rows = []
    for (ranks, _), run in sorted(runs.items()):
        predicted = model.simulate_steps(ranks, training, steps=20).seconds
        rows.append({"ranks": ranks, "predicted_s": predicted, "measured_s": run["step_s"], "ratio": predicted / run["step_s"],
                     "wait_for_ranks": run["wait_for_ranks"]})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default="recipes/fashion-mnist.yaml")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, default=300, help="at most so many in each run [300]")
    parser.add_argument("--to", type=pathlib.Path, help="write what was measured here, for simulate.py")
    given = parser.parse_args()
    machine = calibrate(given.recipe, given.batch, given.epochs, given.steps)
    machine["check"] = check(machine, given.epochs, given.steps)
    print(f"{machine['machine']}\na rank's step: {1e3 * machine['fixed_s']:.3f} ms and {1e6 * machine['row_s']:.2f} us a row; "
          f"a message: {1e6 * machine['message_s']:.0f} us")
    for row in machine["check"]:
        print(f"  {row['ranks']} ranks: predicted {1e3 * row['predicted_s']:.2f} ms, measured {1e3 * row['measured_s']:.2f} ms ({row['ratio']:.2f})")
    if given.to:
        given.to.write_text(json.dumps(machine, indent=2) + "\n")
    worst = max(math.exp(abs(math.log(row["ratio"]))) for row in machine["check"])
    print(f"  off by {worst:.2f} at most ({statistics.median(row['ratio'] for row in machine['check']):.2f} in the middle), {BOUND} is the bound")
    return 0 if worst <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())

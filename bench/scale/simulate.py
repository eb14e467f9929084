#!/usr/bin/env python3
"""Simulates a training on 1 to 4,096 ranks, with the figures of a machine and of a cluster that you name.

The figures of MACHINE are what `measure.py` wrote on this machine; options replace them by those of yours. docs/scale.md explains the
model, and shows what this prints.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import sys

import model

RANKS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
# The options that replace figures of the training: the field, the factor to its unit, and what it is.
FIGURES = {
    "batch": ("batch", 1, "rows of a step of all ranks"),
    "rows-per-rank": (None, 1, "rows of a step of one rank, in place of --batch"),
    "step-fixed-ms": ("fixed_s", 1e-3, "of a rank's step, whatever its rows"),
    "row-us": ("row_s", 1e-6, "of each row"),
    "gradient-mb": ("gradient_bytes", 1e6, "megabytes of gradients"),
    "message-us": ("message_s", 1e-6, "until a message of no bytes has arrived"),
    "gbit-s": ("byte_s", None, "of a connection"),
    "bucket-mb": ("bucket_bytes", 1e6, "train.distributed.bucket_mb"),
    "overlap": ("overlap", 1, "share of a step in which gradients can travel"),
    "jitter": ("jitter", 1, "standard deviation of the logarithm of a rank's step"),
    "slow-share": ("slow_share", 1, "of the ranks that are always slower"),
    "slow-factor": ("slow_factor", 1, "by which these are slower"),
    "accumulate": ("accumulate", 1, "train.accumulate"),
    "local-steps": ("local_steps", 1, "steps between two exchanges"),
    "gradient-share": ("gradient_share", 1, "of the bytes that travel: 0.5 with 16 bits"),
    "row-kb": ("row_bytes", 1e3, "kilobytes that a row reads from the object store"),
    "row-requests": ("row_requests", 1, "of the object store, for each row"),
    "hit-share": ("hit_share", 1, "of rows that caches have"),
    "store-gbit-s": ("store_bytes_s", 1e9 / 8, "of the object store, for all ranks"),
    "store-requests-s": ("store_requests_s", 1, "that the object store answers"),
    "input-rows-s": ("input_rows_s", 1, "that a rank's pipeline makes"),
}


def training_of(machine, given):
    fields = {key: machine[key] for key in ("batch", "fixed_s", "row_s", "gradient_bytes", "message_s", "byte_s", "jitter")}
    for option, (field, factor, _) in FIGURES.items():
        value = getattr(given, option.replace("-", "_"))
        if value is None or field is None:
            continue
        fields[field] = 8 / (value * 1e9) if option == "gbit-s" else value * factor
    for field in ("batch", "accumulate", "local_steps", "gradient_bytes", "bucket_bytes"):
        if field in fields:
            fields[field] = int(fields[field])
    return model.Training(ring=not given.tree, **fields)


def rows_of(training, given):
    """A row for each number of ranks: what the table and --json show."""
    rows = []
    for ranks in given.ranks:
        now = training if given.rows_per_rank is None else dataclasses.replace(training, batch=int(given.rows_per_rank * ranks))
        if now.batch < ranks:
            continue
        step = model.simulate_steps(ranks, now, steps=given.steps, seed=given.seed)
        row = {"ranks": ranks, "batch": now.batch, "step_s": step.seconds, "rows_s": step.rows_s(now), "own": step.own / step.seconds,
               "stragglers": step.stragglers / step.seconds, "exchange": step.exchange / step.seconds, "data": step.data / step.seconds,
               "largest_loss": step.largest_loss()}
        row["efficiency"] = row["rows_s"] / ranks / (rows[0]["rows_s"] / rows[0]["ranks"]) if rows else 1.0
        if given.mtbf_h is not None:
            faults = model.Faults(given.mtbf_h * 3600, given.checkpoint_s, given.restart_s)
            row["checkpoint_every_s"] = model.daly(ranks, faults)
            row["useful"] = model.useful_share(ranks, row["checkpoint_every_s"], faults)
        rows.append(row)
    return rows


def percent(share):
    return f"{100 * share:.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.1f} %"


def milliseconds(seconds):
    return f"{1e3 * seconds:,.0f} ms" if seconds >= 0.0995 else f"{1e3 * seconds:.3g} ms"


def duration(seconds):
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def table(rows):
    """The rows as a Markdown table, which docs/scale.md shows."""
    heads = ["ranks", "batch", "step", "rows/s", "efficiency", "stragglers", "exchange", "data", "largest loss"]
    useful = bool(rows) and "useful" in rows[0]
    lines = [heads + (["checkpoint every", "useful time"] if useful else [])]
    for row in rows:
        line = [f"{row['ranks']:,}", f"{row['batch']:,}", milliseconds(row["step_s"]), f"{row['rows_s']:,.0f}", percent(row["efficiency"]),
                percent(row["stragglers"]), percent(row["exchange"]), percent(row["data"]), row["largest_loss"]]
        if useful:
            line += [duration(row["checkpoint_every_s"]), percent(row["useful"])]
        lines.append(line)
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="Exit: 0 simulated, 2 wrong usage")
    parser.add_argument("machine", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent / "here.json", help="[here.json]")
    parser.add_argument("--ranks", type=lambda text: [int(number) for number in text.split(",")], default=RANKS, help="[1,2,4,...,4096]")
    parser.add_argument("--steps", type=int, default=100, help="that are drawn for each number of ranks [100]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", action="store_true", help="all-reduce by a tree, in place of a ring")
    for option, (_, _, help_text) in FIGURES.items():
        parser.add_argument(f"--{option}", type=float, help=help_text)
    parser.add_argument("--mtbf-h", type=float, help="mean hours between failures of one rank's machine")
    parser.add_argument("--checkpoint-s", type=float, default=1, help="that training waits for a checkpoint [1]")
    parser.add_argument("--restart-s", type=float, default=60, help="until training goes on after a failure [60]")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    numbers = [value for name, value in vars(given).items() if isinstance(value, float)]
    if not all(math.isfinite(number) and number >= 0 for number in numbers) or given.steps < 1 or min(given.ranks) < 1:
        parser.error("figures are finite and not negative; steps and ranks are 1 or more")
    return given


def main(words=None):
    given = arguments(words)
    machine = json.loads(given.machine.read_text())
    rows = rows_of(training_of(machine, given), given)
    print(json.dumps(rows) if given.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())

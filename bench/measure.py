"""What the benchmarks share: finding both sides, running them in turn, and printing medians and ratios.

Environment: STOKER_BIN, the folder of the programs (build/release/bin); STOKER_PEERS, the folder of the peers' scripts
(../shared/peers beside the checkout); STOKER_PEERS_PYTHON, their Python (.deps/peers/bin/python, made by
`./dev setup --peers`).
"""
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("STOKER_BIN", ROOT / "build/release/bin"))
PEERS = pathlib.Path(os.environ.get("STOKER_PEERS", ROOT.parent / "shared/peers"))
PEERS_PYTHON = pathlib.Path(os.environ.get("STOKER_PEERS_PYTHON", ROOT / ".deps/peers/bin/python"))


def machine():
    """One line that says what was measured on."""
    model = "unknown CPU"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {len(os.sched_getaffinity(0))} CPUs, Linux {platform.release()}"


def run_json(command, label):
    """Runs a command whose last line of output is one JSON object. None, with the reason printed, where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        print(f"  {label}: failed ({done.returncode}): {reason}", file=sys.stderr)
        return None
    return json.loads(lines[-1])


def stoker(*arguments):
    return run_json([BIN / "stoker", *arguments], "stoker " + arguments[0])


def peer(script, *arguments):
    """Runs a peer's script; None where the peers are not installed or this one's packages are missing."""
    if not PEERS_PYTHON.exists() or not (PEERS / script).exists():
        return None
    return run_json([PEERS_PYTHON, PEERS / script, *arguments], " ".join([script, *arguments]))


def say_if_peers_are_missing():
    if not (PEERS / "records.py").exists():
        print(f"The peers' scripts are not in {PEERS}; name their folder with STOKER_PEERS. Only Stoker's side is measured.")
    elif not PEERS_PYTHON.exists():
        print("The peers are not installed (./dev setup --peers). Only Stoker's side is measured.")


def in_turn(sides, rounds):
    """Runs every side once a round, so that drift of the machine meets all alike. sides: {name: function -> dict or None}.
    Returns {name: [result, ...]} with one entry a round."""
    results = {name: [] for name in sides}
    for round_number in range(rounds):
        for name, run in sides.items():
            print(f"  round {round_number + 1} of {rounds}: {name}", file=sys.stderr, flush=True)
            results[name].append(run())
    return results


def values(results, key):
    return [result[key] for result in results if result is not None]


def table(title, key, results, ours, unit=""):
    """Prints median, least and most of `key` for each side, and the median over rounds of ours divided by the peer's."""
    print(f"\n{title}")
    for name, runs in results.items():
        got = values(runs, key)
        if not got:
            continue
        line = f"  {name:<28}{statistics.median(got):>14,.0f}{unit}   ({min(got):,.0f} .. {max(got):,.0f})"
        if name != ours:
            ratios = [mine[key] / theirs[key] for mine, theirs in zip(results[ours], runs) if mine and theirs]
            line += f"   ours is {statistics.median(ratios):.2f} times that"
        print(line)


def check(what, holds):
    """Prints whether a figure that was promised is reached here; returns it for the exit code."""
    print(f"  {'reached' if holds else 'MISSED '}: {what}")
    return holds

"""What the benchmarks share: finding both sides, running them in turn, and printing medians and ratios.

Environment: STOKER_BIN, the folder of the programs [build/release/bin]; STOKER_PEERS, the folder of the peers' scripts, which
README.md describes [shared/peers beside the checkout]; STOKER_PEERS_PYTHON, their Python [.deps/peers/bin/python, which
`./dev bench` makes].
"""
import argparse
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


# Exit codes, beside 0: every promised figure was reached and every peer measured.
MISSED = 1
NOT_COMPARED = 3


def arguments(description):
    """The command line of a benchmark that has peers: `rounds`, `no_peers`."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit: 0 all figures reached, 1 one missed or Stoker failed, 2 wrong usage, 3 reached, but not compared with every peer")
    parser.add_argument("rounds", nargs="?", type=int, default=3, help="how often each side is measured [3]")
    parser.add_argument("--no-peers", action="store_true", help="measure Stoker alone; no comparison is then no failure")
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("at least one round")
    return given


def run_command(command, label, folder=ROOT):
    """Runs a command in a folder; returns its lines of output. None, with the reason printed, where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        print(f"  {label}: failed ({done.returncode}): {reason}", file=sys.stderr)
        return None
    return done.stdout.strip().splitlines()


def run_json(command, label, folder=ROOT):
    """Runs a command and returns the JSON object on its last line of output; None, with the reason printed, where it fails."""
    lines = run_command(command, label, folder)
    if lines == []:
        print(f"  {label}: failed: no output", file=sys.stderr)
    return json.loads(lines[-1]) if lines else None


def stoker(*arguments):
    return run_json([BIN / "stoker", *arguments], "stoker " + arguments[0])


def path_of(script):
    """Of a peer's script: the folder of the peers may have its own in the place of one that lies beside this file."""
    beside = ROOT / "bench" / script
    return beside if beside.exists() and not (PEERS / script).exists() else PEERS / script


def peer(script, *arguments, folder=ROOT):
    """Runs a peer's script in a folder. None where it fails, such as for want of its packages; run_json says why."""
    return run_json([PEERS_PYTHON, path_of(script), *arguments], " ".join([script, *arguments]), folder)


def peers_problem(script):
    """Why the peers cannot be measured, and what to do about it; None where they can."""
    if not path_of(script).exists():
        return f"{path_of(script)} is not there; name the folder of the peers' scripts with STOKER_PEERS (bench/README.md)"
    if not PEERS_PYTHON.exists():
        return f"{PEERS_PYTHON} is not there; ./dev setup --all makes it"
    return None


def compare(stoker_side, peers, script, given, own=None):
    """Measures Stoker, its other ways (`own`) and, unless that is not wanted or not possible, the peers, in turn; both are
    {name: function -> dict or None}. Returns ({name: [result, ...]}, [name of a peer that was wanted and not measured, ...])."""
    sides = {"stoker": stoker_side, **(own or {})}
    problem = None if given.no_peers else peers_problem(script)
    if problem:
        print(f"NOT COMPARED: {problem}")
    elif not given.no_peers:
        sides.update(peers)
    results = in_turn(sides, given.rounds)
    missing = [] if given.no_peers else [name for name in peers if not any(results.get(name, []))]
    return results, missing


def exit_code(reached, missing):
    """What a benchmark exits with, and a line where some of its promised comparisons were not made."""
    if missing:
        print(f"  NOT COMPARED with: {', '.join(dict.fromkeys(missing))}")
    return MISSED if not reached else NOT_COMPARED if missing else 0


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


def ratios(results, key, name):
    """Ours divided by the peer's, for each round in which both were measured."""
    return [mine[key] / theirs[key] for mine, theirs in zip(results.get("stoker", []), results.get(name, [])) if mine and theirs]


def table(title, key, results):
    """Prints median, least and most of `key` for each side, and the median over rounds of ours divided by the peer's."""
    print(f"\n{title}")
    for name, runs in results.items():
        got = values(runs, key)
        if not got:
            continue
        line = f"  {name:<28}{statistics.median(got):>14,.0f}   ({min(got):,.0f} .. {max(got):,.0f})"
        ours = ratios(results, key, name) if name != "stoker" else []
        if ours:
            line += f"   ours is {statistics.median(ours):.2f} times that"
        print(line)


def check(what, holds):
    """Prints whether a figure that was promised is reached here; returns it for the exit code."""
    print(f"  {'reached' if holds else 'MISSED '}: {what}")
    return holds


def lacking(*needed):
    """Which of the paths is missing, and the command that makes it; None where all are there. `needed`: pairs of these."""
    for path, command in needed:
        if not os.path.exists(path):
            return f"{path} is not there; `{command}` makes it"
    return None


def not_compared(given, problem):
    """Says why a benchmark measures nothing; returns its exit code."""
    print(f"  SKIPPED: {problem}" if given.no_peers else f"NOT COMPARED: {problem}")
    return 0 if given.no_peers else NOT_COMPARED

#!/usr/bin/env python3
"""Judges the doctor on the planted cases, on this machine: is the first verdict right, does the prediction hold, does --fix cure?

Usage: judge.py STOKER [--seconds S] [--fix] [CASE ...]      by hand, on a machine that does nothing else; some minutes
       judge.py STOKER --python PYTHON [CASE ...]            the scripts of foreign/; this Python has PyTorch, py-spy is in PATH

Prints a line for each case: the verdict, how many times as fast the cured twin is, the first prescription with its predicted gain
and the twin's measured one; with --fix, also how much of the twin's throughput the fixed recipe has; of scripts also the verdict on
the twin, which must be none or compute. Exits 1 if fewer verdicts are right than the goals say. Not a test: load changes what it
measures. Data are made in a temporary directory.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import cases
import data
import foreign_cases

GOAL = 0.87  # of the faults: 21 of 24
GOAL_HEALTHY = 0.9  # of what has no fault


def run(stoker, arguments, folder, environment):
    """(exit code, the JSON that it printed or None, standard error)"""
    done = subprocess.run([stoker, "doctor", *arguments], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        return done.returncode, None, done.stderr


def rate(stoker, name, seconds, folder, environment):
    """Samples a second of the whole planned run of a recipe, as --fix measures it; the median of three."""
    rates = []
    for _ in range(3):
        code, json_out, err = run(stoker, [name, "--seconds", str(seconds), "--rate-in-folder", str(folder)], folder, environment)
        if code != 0:
            raise RuntimeError(err)
        rates.append(json_out["samples_per_s"])
    return sorted(rates)[1]


def whole_rate(stoker, name, folder, environment):
    """Whole runs a second, with all that comes before the first step; the median of three."""
    rates = []
    for number in range(3):
        begin = time.perf_counter()
        subprocess.run([stoker, "train", name, "--run", f"{name}-{number}", "--quiet"], cwd=folder, env={**os.environ, **environment},
                       stdin=subprocess.DEVNULL, capture_output=True, check=True)
        rates.append(1 / (time.perf_counter() - begin))
        shutil.rmtree(folder / f"{name}-{number}")
    return sorted(rates)[1]


def environment_of(case, stoker, folder):
    """(variables, server or None) that a case needs; None instead of variables if this build lacks something."""
    if case.data == "server":
        store = data.Store(folder / "data")
        return store.environment(), store
    if not case.faults:
        return {}, None
    library = pathlib.Path(stoker).resolve().parent / "libstoker_chaos_faults.so"
    if not library.exists():
        return None, None
    return {"LD_PRELOAD": str(library), "STOKER_CHAOS_FOLDER": str(folder / "data"), "STOKER_CHAOS_RULES": case.faults,
            "STOKER_CHAOS_LOG": "/dev/null"}, None


def judge_planted(case, report, options, folder, environment):
    """A line of the table, and whether the verdict is right."""
    right = report["verdict"] in case.verdicts

    def rate_of(name):
        if "startup" in case.verdicts:
            return whole_rate(options.stoker, name, folder, environment)
        return rate(options.stoker, name, options.trial, folder, environment)

    before, after = rate_of("case.yaml"), rate_of("cured.yaml")
    twin = after / before
    cells = [case.name, report["verdict"] + ("" if right else f" (wrong: {case.verdicts[0]})"), f"{report['lost_share']:.2f}",
             f"{twin:.2f}"]
    if report["prescriptions"]:
        first = report["prescriptions"][0]
        cells.append(f"{first['change'][:60]} {first['gain_low']:.2f}..{first['gain_high']:.2f}")
    else:
        cells.append("-")
    fix = report.get("fix")
    if fix and fix["file"]:
        fixed = rate_of(fix["file"])
        cells.append(f"fixed {fixed / before:.2f}, {fixed / after:.0%} of the twin")
    for each in (fix or {"tried": []})["tried"]:
        if each["gain"] is not None:
            cells.append(f"{each['change'][:30]}: predicted {each['predicted_low']:.2f}..{each['predicted_high']:.2f}, "
                         f"measured {each['gain']:.2f}")
    return cells, right


def judge(case, options, folder):
    data.make(case.data, folder / "data")
    (folder / "case.yaml").write_text(case.recipe, encoding="utf-8")
    environment, store = environment_of(case, options.stoker, folder)
    if environment is None:
        return [case.name, "skipped: needs the library of tests/chaos"], None
    try:
        if case.cured:
            (folder / "cured.yaml").write_text(case.cured, encoding="utf-8")
        fix = ["--fix", "--allow-accuracy-changes"] if options.fix and case.cured else []
        _, report, err = run(options.stoker, ["case.yaml", "--json", "--seconds", str(options.seconds), *fix], folder, environment)
        if report is None:
            return [case.name, "no report: " + err.strip()[-200:]], False
        if case.cured:
            return judge_planted(case, report, options, folder, environment)
        right = not report["prescriptions"]
        return [case.name, report["verdict"], *(each["change"] for each in report["prescriptions"])], right
    finally:
        if store:
            store.shutdown()
            store.server_close()


def what_is_missing(script, python):
    """What this machine lacks for a script; empty if it has all."""
    if script.needs == "gpu":
        return "" if shutil.which("nvidia-smi") else "an NVIDIA GPU"
    module = script.needs or "torch"
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"
    return "" if subprocess.run([python, "-c", look], check=False).returncode == 0 else f"{python} with {module}"


def judge_scripts(options):
    """(whether each verdict is right, whether each twin is found healthy)"""
    verdicts, healthy = [], []
    for script in foreign_cases.all_scripts():
        if options.cases and script.name not in options.cases:
            continue
        if lacks := what_is_missing(script, options.python):
            print(f"{script.name} | skipped: needs {lacks}", flush=True)
            continue
        cells, right, twin_healthy = foreign_cases.judge(script, options.stoker, options.python, options.seconds, options.trial)
        print(" | ".join(cells), flush=True)
        verdicts.append(right)
        healthy.append(twin_healthy)
    return verdicts, healthy


def judge_recipes(options):
    """(whether each verdict is right, whether nothing is prescribed for each recipe without a fault)"""
    verdicts, healthy = [], []
    for case in cases.all_cases():
        if options.cases and case.name not in options.cases:
            continue
        with tempfile.TemporaryDirectory(prefix="stoker-judge-") as folder:
            cells, right = judge(case, options, pathlib.Path(folder))
        print(" | ".join(cells), flush=True)
        if right is not None:
            (verdicts if case.cured else healthy).append(right)
    return verdicts, healthy


def main():
    parser = argparse.ArgumentParser(description="Judges the doctor on the planted cases.")
    parser.add_argument("stoker")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--trial", type=float, default=3, help="seconds to measure a recipe and its twin")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--python", help="judges the planted scripts instead, with this interpreter")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_intermixed_args()
    options.stoker = os.path.abspath(options.stoker)
    options.python = options.python and os.path.abspath(shutil.which(options.python) or options.python)
    verdicts, healthy = judge_scripts(options) if options.python else judge_recipes(options)
    print(f"{sum(verdicts)} of {len(verdicts)} faults are found")
    print(f"{sum(healthy)} of {len(healthy)} without a fault are found healthy")
    if not verdicts and not healthy:
        return 1
    return 0 if sum(verdicts) >= GOAL * len(verdicts) and sum(healthy) >= GOAL_HEALTHY * len(healthy) else 1


if __name__ == "__main__":
    sys.exit(main())

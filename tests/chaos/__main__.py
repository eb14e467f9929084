"""Random recipes, formats and trainings under injected faults: ./dev chaos calls this.

Usage: python3 -m chaos [SECONDS] [--seed N] [--seeds COUNT] [--first N] [--jobs N] [--only KIND]
Exit: 0 nothing found, 1 findings (each printed with its seed), 2 bad usage
"""
import argparse
import concurrent.futures
import itertools
import math
import os
import sys
import time

from . import columns, coverage, session


def arguments_of(words):
    parser = argparse.ArgumentParser(prog="chaos", description="Random recipes, formats and trainings under injected faults.")
    parser.add_argument("seconds", nargs="?", type=float, default=60, help="how long to go on [60]")
    parser.add_argument("--seed", type=int, help="this case alone, with its command lines and what they print")
    parser.add_argument("--seeds", type=int, default=sys.maxsize, help="at most so many cases")
    parser.add_argument("--first", type=int, default=1, help="the first seed [1]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time [processors]")
    parser.add_argument("--only", default="", choices=["trainings", "ranks", "pipelines"], help="cases of this kind alone; other seeds mean the same")
    arguments = parser.parse_args(words)
    if arguments.seed is not None:
        arguments.first, arguments.seeds, arguments.seconds, arguments.jobs = arguments.seed, 1, math.inf, 1
    return arguments


def describe(verdict):
    """The recipe, the command lines and what they printed."""
    lines = [f"happened: {dict(verdict.happened)}", "recipe:", verdict.recipe]
    for what, outcome in verdict.outcomes:
        lines.append(f"{what}: stoker {' '.join(outcome.arguments)}: exit code {outcome.code} after {outcome.seconds:.2f} s, "
                     f"{outcome.peak / 1e6:.0f} MB" + (f", {outcome.late:.2f} s after the stop" if outcome.stopped else ""))
        lines += ["  | " + line for line in (outcome.out + outcome.err).splitlines()[-12:]]
    return "\n".join(lines)


class Report:
    """What was found, as it comes and in sum."""

    def __init__(self, in_full):
        self.coverage, self.failed, self.count = coverage.Coverage(), [], 0
        self.in_full, self.began = in_full, time.monotonic()

    def add(self, verdict):
        case = verdict.case
        self.count += 1
        self.coverage.add_case(case)
        self.coverage.add(case, verdict.happened)
        if verdict.findings:
            self.failed.append(case.seed)
        for finding in dict.fromkeys(verdict.findings):
            print(f"seed {case.seed}: {case} of {case.source.format}: {finding}")
        if verdict.findings or self.in_full:
            print(f"  {'on_error; ' if 'on_error' in verdict.recipe else ''}faults: {verdict.trouble}\n  replay: ./dev chaos --seed {case.seed}", flush=True)
        if self.in_full:
            print(describe(verdict))

    def end(self):
        if not self.in_full:
            print(self.coverage.text(coverage.all_faults()))
        print(f"{self.count} seeds in {time.monotonic() - self.began:.0f} s, {len(self.failed)} with a finding"
              + (": " + " ".join(map(str, sorted(self.failed))) if self.failed else ""))
        return 1 if self.failed else 0


def main():
    arguments = arguments_of(sys.argv[1:])
    if columns.MISSING:
        print(columns.MISSING)
    settings = session.Settings(os.environ["STOKER"], os.environ["STOKER_CHAOS_LIBRARY"], only=arguments.only)
    report = Report(arguments.seed is not None)
    seeds = itertools.count(arguments.first)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = set()
        while True:
            while len(running) < arguments.jobs and report.count + len(running) < arguments.seeds and \
                    time.monotonic() - report.began < arguments.seconds:
                running.add(pool.submit(session.judge_seed, settings, next(seeds)))
            if not running:
                return report.end()
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for each in done:
                report.add(each.result())


if __name__ == "__main__":
    sys.exit(main())

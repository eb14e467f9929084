"""The planted scripts of foreign/: programs that are not ours, each with a cured twin. NAME.py says in its first lines what is
planted and which verdicts are right; NAME.cured.py is the same without the fault. They need NumPy and
PyTorch, or what they say: a GPU, or JAX."""
import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

import cases

HERE = pathlib.Path(__file__).resolve().parent / "foreign"
HEALTHY = ("none", "compute")  # the verdicts that a script without a fault may get


@dataclass
class Script:
    """A planted script and its twin."""
    name: str
    planted: str
    verdicts: list
    path: pathlib.Path
    cured: pathlib.Path
    needs: str = ""  # "gpu": NVIDIA's; "jax": this module in the place of torch


def all_scripts():
    scripts = []
    for path in sorted(HERE.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if cases.head(text, "planted"):
            scripts.append(Script(path.stem, cases.head(text, "planted"), cases.head(text, "verdict").split(), path, path.with_suffix(".cured.py"),
                                  cases.head(text, "needs")))
    return scripts


def rate(python, path, seconds):
    """Samples a second of a script, from its start to its end."""
    environment = {**os.environ, "STOKER_FOREIGN_SECONDS": str(seconds), "STOKER_FOREIGN_RATE": "1"}
    done = subprocess.run([python, path.name], cwd=HERE, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])["samples_per_s"]


def report_of(stoker, python, path, seconds):
    done = subprocess.run([stoker, "doctor", "--json", "--seconds", str(seconds), "--", python, path.name], cwd=HERE, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout)


def judge(script, stoker, python, seconds, trial):
    """A line of the table, whether the verdict is right, and whether the cured twin is found healthy."""
    report = report_of(stoker, python, script.path, seconds)
    right = report["verdict"] in script.verdicts
    cells = [script.name, report["verdict"] + ("" if right else f" (wrong: {script.verdicts[0]})"), f"{report['lost_share']:.2f}", report["stage"]]
    if report["prescriptions"]:
        first = report["prescriptions"][0]
        cells.append(f"{first['change'][:60]} {first['gain_low']:.2f}..{first['gain_high']:.2f}")
    twin = report_of(stoker, python, script.cured, seconds)
    healthy = twin["verdict"] in HEALTHY
    cells.append(f"twin: {twin['verdict']}" + ("" if healthy else f" (wrong: {twin['why']})"))
    if trial:
        cells.append(f"{rate(python, script.cured, trial) / rate(python, script.path, trial):.2f} times as fast")
    return cells, right, healthy

"""The cases of the doctor: recipes in which one fault is planted, each with a cured twin, and recipes with none.

planted/NAME.yaml says in its first lines what is planted, the verdicts that are right (the first one best), and which data it
needs; planted/NAME.cured.yaml is its twin. healthy/NAME.yaml has nothing to prescribe. The data are made by data.py.
"""
import pathlib
import re
from dataclasses import dataclass
from typing import Optional

HERE = pathlib.Path(__file__).resolve().parent


@dataclass
class Case:
    """One case. `verdicts` is empty, and `cured` None, where nothing is planted."""
    name: str
    planted: str
    data: str
    recipe: str
    verdicts: list
    cured: Optional[str] = None
    faults: str = ""  # for the preloaded library of tests/chaos


def head(text, key):
    """The value of `# key: value` among the first lines; empty if there is none."""
    found = re.search(rf"(?m)^# {key}: (.*)$", text)
    return found.group(1) if found else ""


def all_cases():
    """All cases, the planted ones first, each kind by name."""
    cases = []
    for path in sorted((HERE / "planted").glob("*.yaml")):
        if path.name.endswith(".cured.yaml"):
            continue
        text = path.read_text(encoding="utf-8")
        cured = path.with_suffix(".cured.yaml").read_text(encoding="utf-8")
        cases.append(Case(path.stem, head(text, "planted"), head(text, "data"), text, head(text, "verdict").split(), cured,
                          head(text, "faults")))
    for path in sorted((HERE / "healthy").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        cases.append(Case(path.stem, head(text, "healthy"), head(text, "data"), text, []))
    return cases

"""Divisions of a source into training and evaluation: docs/splitting.md."""
from .case import stream


def options(rng, source, by_position):
    """Those of `split` but the side."""
    share = rng.choice(["eval: 0.3", "eval: 0.5", "fold: 2/3"])
    keys = [""]
    if "n" in source.fields:
        keys += ["by: n", "group: n"]
    if "label" in source.fields and by_position:
        keys += ["stratify: label"]
    key, seed = rng.choice(keys), rng.choice(["", "seed: 7"])
    return ", ".join(part for part in (share, key, seed) if part)


def draw(seed, source, by_position):
    """The options of a division, of a part of the seeds; empty: there is none."""
    rng = stream(seed, "split")
    return options(rng, source, by_position) if rng.random() < 0.2 else ""


def stage(side, division):
    return f"split: {{side: {side}, {division}}}"


def shared_section(stages):
    """(the keys `source` and `split` of a recipe, the stages that follow) of a pipeline with the stage `split` in it."""
    at = next(i for i, each in enumerate(stages) if each.startswith("split: {side: "))
    division = "{" + stages[at].removeprefix("split: {side: ").partition(", ")[2]
    return "  source:\n" + "".join(f"    - {each}\n" for each in stages[:at]) + f"  split: {division}\n", stages[at + 1:]


def is_divided(stages):
    return any(each.startswith("split: {side: ") for each in stages)

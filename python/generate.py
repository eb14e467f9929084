#!/usr/bin/env python3
"""Writes stoker/operators.py: a Python function for each operator, out of the registration in the module.

Usage: generate.py --module FILE --to FILE
"""

import argparse
import importlib.machinery
import importlib.util
import json
import keyword
import pathlib
import re
import textwrap

WIDTH = 120

HEADER = '''"""The operators: one function each, with the options that recipes have. Written from their registration; do not edit.

Sources return a Dataset. All others return Stages, which a Dataset is followed by: ``stoker.lines("a.txt") | stoker.shuffle()``.
An option that is left out has the default that the signature shows. `on_error` says what becomes of elements that fail in the stage:
"skip", "replace", "fail", or the options of `ignore_errors` as a dict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from types import EllipsisType
from typing import Any

from .dataset import Dataset, Stages, _operator, _source
from .nearest import names_arguments

'''

# Option types of the registration as annotations. What is not here is an object of its own, written as dicts and lists.
ANNOTATIONS = {
    "true or false": "bool",
    "integer": "int",
    "number": "float",
    "text": "str",
    "path": "str | PathLike[str]",
    "list of integers": "int | Sequence[int]",
    "list of numbers": "float | Sequence[float]",
    "list of texts": "str | Sequence[str]",
    "integer or auto": "int | None",
    "number or auto": "float | None",
    "integer, or share between 0 and 1": "int | float",
    "path, pattern or list of them": "str | PathLike[str] | Sequence[str | PathLike[str]]",
    "list of pipelines": "Sequence[Dataset]",
    "pipeline": "Dataset | None",
    "map of fields": "Mapping[str, Any]",
    "map of features": "Mapping[str, Any]",
    "map of paths": "Mapping[str, Any]",
}


def load(path):
    """The module, without the package around it."""
    loader = importlib.machinery.ExtensionFileLoader("_core", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("_core", path, loader=loader))
    loader.exec_module(module)
    return module


def kinds(module):
    """The registered operators by name. What calls functions of Python is not among them: stoker/functions has it."""
    found = [kind for kind in json.loads(module.operators_json()) if not kind["name"].startswith("python_")]
    return {kind["name"]: kind for kind in sorted(found, key=lambda kind: kind["name"])}


def literal(value):
    """A default as Python source; lists become tuples, which nobody can change."""
    if isinstance(value, list):
        items = [literal(each) for each in value]
        return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
    return repr(value)


def default_of(option):
    """The default in a signature. Empty objects are None, so that nobody passes half of one."""
    value = option["default"]
    plain = option["type"] in ANNOTATIONS and "pipeline" not in option["type"] and not option["type"].startswith("map of")
    return literal(value) if plain else literal(value or None)


def argument(option):
    name = option["name"]
    return name + "_" if keyword.iskeyword(name) else name


def annotation(kind, option):
    hint = ANNOTATIONS.get(option["type"], "Any")
    # `...` is the file that `interleave` names.
    names_files = kind["group"] == "source" and option["required"] and option["type"].startswith("path")
    return hint + " | EllipsisType" if names_files else hint


def signature(kind):
    lines = []
    for number, option in enumerate(kind["options"]):
        if number == 1:
            lines.append("*,")
        hint = annotation(kind, option)
        if option["required"]:
            lines.append(f"{argument(option)}: {hint},")
            continue
        value = default_of(option)
        if value == "None" and "None" not in hint and hint != "Any":
            hint += " | None"
        lines.append(f"{argument(option)}: {hint} = {value},")
    if len(kind["options"]) < 2:
        lines.append("*,")
    lines.append("on_error: str | Mapping[str, Any] | None = None,")
    return lines


def about(option):
    """The help of an option, in which values are called what Python calls them."""
    if option["type"].endswith("or auto"):
        return re.sub(r"\bauto:", "None:", option["help"])
    if option["type"] == "true or false":
        return re.sub(r"\b(true|false):", lambda found: found[0].capitalize(), option["help"])
    return option["help"]


def docstring(kind):
    lines = [*textwrap.wrap(kind["help"], WIDTH - 4)]
    if kind["options"]:
        lines.append("")
    for option in kind["options"]:
        text = about(option)
        if option["constraint"]:
            text += f" ({option['constraint']})"
        lines += textwrap.wrap(f"{argument(option)}: {text}", WIDTH - 4, subsequent_indent="    ")
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return text + "\n" if "\n" in text else text


def function(kind):
    returns, make = ("Dataset", "_source") if kind["group"] == "source" else ("Stages", "_operator")
    arguments = textwrap.indent("\n".join(signature(kind)), "    ")
    doc = textwrap.indent(f'"""{docstring(kind)}"""', "    ")
    given = []
    for option in kind["options"]:
        default = "..." if option["required"] else default_of(option)
        given.append(f'        ("{option["name"]}", {argument(option)}, {default}),')
    body = f'    return {make}("{kind["name"]}", (\n' + "\n".join(given) + "\n    ), on_error)" if given else \
        f'    return {make}("{kind["name"]}", (), on_error)'
    return f"@names_arguments\ndef {kind['name']}(\n{arguments}\n) -> {returns}:\n{doc}\n{body}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", required=True, type=pathlib.Path)
    parser.add_argument("--to", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    found = kinds(load(arguments.module))
    names = ",\n".join(f'    "{name}"' for name in found)
    text = HEADER + f"__all__ = [\n{names},\n]\n\n\n" + "\n\n".join(function(kind) for kind in found.values())
    arguments.to.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Pipelines as values: what `stoker.folder(...) | stoker.shuffle() | ...` makes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import _core
from .errors import ConfigError
from .names import Name
from .nearest import names_arguments

_NOT_A_STAGE = (
    "{} is no stage of a pipeline; what follows | is made by a function such as stoker.shuffle() (with parentheses)"
)


class Stages:
    """Operators that a Dataset may be followed by, in order. Immutable.

    ``augment = sk.random_flip() | sk.normalize()`` can be used in several pipelines: ``source | augment | sk.batch(64)``.
    """

    __slots__ = ("_nodes",)

    def __init__(self, nodes: Iterable[_core.Node]) -> None:
        self._nodes = tuple(nodes)

    def __or__(self, other: Stages) -> Stages:
        """These stages and those that follow them."""
        if isinstance(other, Stages):
            return Stages(self._nodes + other._nodes)
        if isinstance(other, Dataset):
            raise ConfigError(f"{other._nodes[0].where}: a source comes first in its pipeline, before any |")
        return _refuse(other)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stages):
            return NotImplemented
        return _texts(self._nodes) == _texts(other._nodes)

    def __hash__(self) -> int:
        return hash(_texts(self._nodes))

    def __repr__(self) -> str:
        return " | ".join(node.line() for node in self._nodes)

    def __reduce__(self):
        _check_names(self._nodes)
        return _stages_of_yaml, (_core.to_yaml(list(self._nodes)),)


class Dataset:
    """A pipeline from its source on. Immutable; reads nothing until it is asked for its spec or iterated over.

    Prints as YAML; two are equal if their stages, every option filled in, and the folder of relative paths are. A pickle holds
    that YAML and nothing else.
    """

    __slots__ = ("_nodes", "_root", "_classes", "_built")

    def __init__(self, nodes: Iterable[_core.Node], root: str, classes: Iterable[str] = ()) -> None:
        self._nodes = tuple(nodes)
        self._root = root
        self._classes = tuple(classes)
        self._built = None

    @property
    def root(self) -> str:
        """The folder that relative paths start at."""
        return self._root

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the labels 0, 1, ... that the recipe gives; empty without."""
        return self._classes

    @property
    def spec(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """{field: (dtype, shape)} of the elements; extents that differ from element to element are -1. Opens the files."""
        return {name: (dtype, tuple(shape)) for name, dtype, shape in self._pipeline().spec}

    @property
    def count(self) -> int | float | None:
        """The number of elements (of batches, after ``batch``) of an epoch; None if it is not known; math.inf if it repeats."""
        count = self._pipeline().count
        return float("inf") if count == -1 else count

    def __len__(self) -> int:
        """`count` where it is a number; a TypeError elsewhere."""
        count = self._pipeline().count
        if count is None or count == -1:
            kind = "repeats for ever" if count == -1 else "is known only at its end"
            raise TypeError(f"the pipeline {kind}, so it has no length")
        return count

    def __or__(self, other: Stages) -> Dataset:
        """The pipeline that goes on with these stages."""
        if isinstance(other, Stages):
            return Dataset(self._nodes + other._nodes, self._root, self._classes)
        if isinstance(other, Dataset):
            raise ConfigError(
                f"{other._nodes[0].where}: a source comes first in its pipeline; stoker.zip, stoker.concatenate and stoker.mix "
                "combine several"
            )
        return _refuse(other)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """One epoch of ``Loader(dataset)``."""
        from .loader import Loader

        return iter(Loader(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        return self._root == other._root and _texts(self._nodes) == _texts(other._nodes)

    def __hash__(self) -> int:
        return hash((self._root, _texts(self._nodes)))

    def __repr__(self) -> str:
        return self.to_yaml()

    def __reduce__(self):
        _check_names(self._nodes)
        return Dataset._of_yaml, (self.to_yaml(), self._root, self._classes)

    def to_yaml(self) -> str:
        """The pipeline as a recipe has it under ``data: train:``."""
        return _core.to_yaml(list(self._nodes))

    @staticmethod
    def _of_yaml(text, root, classes):
        return Dataset(_core.parse_pipeline(text, "a pickled pipeline"), root, classes)

    def _pipeline(self):
        """The pipeline put together, once in each process."""
        if self._built is None or not self._built.own:
            self._built = _core.Pipeline(list(self._nodes), self._root)
        return self._built

    def _fingerprint(self):
        """Equal for pipelines that do the same, in another process too, where functions without a module have other names."""
        import hashlib
        import re

        text = re.sub(r"#[0-9a-f]{8}-\d+", "#", self.to_yaml())
        return hashlib.sha256(f"{self._root}\n{text}".encode()).hexdigest()[:16]

    def _with_last(self, node):
        node.held = getattr(self._nodes[-1], "held", ())
        return Dataset(self._nodes[:-1] + (node,), self._root, self._classes)


@names_arguments
def from_yaml(text: str, root: str | os.PathLike[str] | None = None, name: str = "the YAML text") -> Dataset:
    """A Dataset of what a recipe has under ``data: train:``: a list of operators.

    root  the folder that relative paths start at; without it the working directory
    name  what errors call the text, beside line and column
    """
    return Dataset(_core.parse_pipeline(text, name), os.path.abspath(root or os.getcwd()))


@names_arguments
def read_recipe(path: str | os.PathLike[str], section: str = "train", set: Sequence[str] = ()) -> Dataset:
    """The pipeline ``data.train`` or ``data.eval`` of a recipe file.

    set  changes in the form of the command line: ``["data.train.batch.size=64"]``
    """
    nodes, root, classes = _core.read_pipeline(os.fspath(path), section, list(set))
    return Dataset(nodes, root, classes)


def _refuse(other):
    raise TypeError(_NOT_A_STAGE.format(repr(other)))


def _texts(nodes):
    return tuple(node.filled() for node in nodes)


def _check_names(nodes):
    """Raises ConfigError for functions that another process could not find."""
    for node in nodes:
        for held in getattr(node, "held", ()):
            raise ConfigError(
                f"{node.where}: a pipeline with the function {held.name} cannot be pickled; use one that can be imported, defined "
                "with def at the top of a module"
            )


def _stages_of_yaml(text):
    return Stages(_core.parse_pipeline(text, "pickled stages"))


def _same(value, default):
    if isinstance(default, tuple) and isinstance(value, (list, tuple)):
        return len(value) == len(default) and all(map(_same, value, default))
    return type(value) is type(default) and value == default


def _node(name, given, on_error):
    """The entry for an operator function; `given` is (option, value, default) each. Errors name the line that calls the package."""
    options = {option: value for option, value, default in given if value is not ... and not _same(value, default)}
    unfinished = any(value is ... for _, value, _ in given)
    node = _core.make_stage(name, options or None, on_error, _calling_line(), unfinished)
    node.held = tuple(_held_by(options.values()))
    return node


def _calling_line():
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _held_by(options):
    """Functions of Python that these options name, or pipelines among them, and that nothing else may keep."""
    for option in options:
        if isinstance(option, Name):
            if option.held is not None:
                yield option.held
        elif isinstance(option, (Dataset, Stages)):
            yield from (held for node in option._nodes for held in getattr(node, "held", ()))
        elif isinstance(option, (list, tuple)):
            yield from _held_by(option)


def _source(name, given, on_error):
    return Dataset((_node(name, given, on_error),), os.getcwd())


def _operator(name, given, on_error):
    return Stages((_node(name, given, on_error),))

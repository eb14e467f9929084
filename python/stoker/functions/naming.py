"""Functions by name, as a pipeline's text holds them.

A function that can be imported is "module:name". Others (lambdas, closures, objects) get a name that this process alone knows, as
long as a pipeline has it: "lambda@train.py:12#8c1fa2b4-1".
"""

import importlib
import itertools
import os
import secrets
import sys
import weakref

from ..errors import ConfigError
from ..names import Name

# Two processes never give one name to two functions: a cache on disk goes by names.
_numbers = itertools.count(1)
_process = secrets.token_hex(4)


def _renew():
    global _process
    _process = secrets.token_hex(4)


os.register_at_fork(after_in_child=_renew)
_held = weakref.WeakValueDictionary()  # name: Held


class Held:
    """Keeps a function that cannot be imported. Entries of pipelines hold it (dataset.py)."""

    def __init__(self, function, name):
        self.function, self.name = function, name


class Samples:
    """Makes a sample from its number: what from_map_style calls."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __call__(self, element):
        return self.dataset[int(element["index"])]

    def __eq__(self, other):
        return isinstance(other, Samples) and self.dataset is other.dataset

    __hash__ = None


def name_of(function):
    """The name that `function` has in the text of a pipeline."""
    if not callable(function) and not hasattr(type(function), "__iter__"):
        raise TypeError(f"a {type(function).__name__} is no function")
    module, qualname = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module and qualname and _found(module, qualname) is function:
        return Name(f"{module}:{qualname}")
    held = next((each for each in list(_held.values()) if _same(each.function, function)), None)
    if held is None:
        held = Held(function, f"{label_of(function)}#{_process}-{next(_numbers)}")
        _held[held.name] = held
    name = Name(held.name)
    name.held = held
    return name


def function_of(name):
    """The function that has this name."""
    held = _held.get(name)
    if held is not None:
        return held.function
    if "#" in name:
        raise ConfigError(
            f"the function {name} belongs to another process, or is gone; a pipeline that is sent or saved needs functions that can be "
            "imported, defined with def at the top of a module"
        )
    module, _, qualname = name.partition(":")
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(f"the function {name} cannot be imported: {error}") from None
    found = _found(module, qualname)
    if found is None:
        raise ConfigError(f"the function {name} cannot be imported: {module} has no {qualname}")
    return found


def label_of(function):
    """What messages call it."""
    if isinstance(function, Samples):
        return type(function.dataset).__name__
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", None)
    if name == "<lambda>":
        return f"lambda@{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
    if name is None and hasattr(function, "func"):
        return f"partial({label_of(function.func)})"
    return name or type(function).__name__


def _same(one, other):
    return one is other or (isinstance(one, Samples) and one == other)


def _found(module, qualname):
    value = sys.modules.get(module)
    for part in qualname.split("."):
        value = getattr(value, part, None)
    return value

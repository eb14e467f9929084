"""Functions of the user's own in pipelines: ``map``, ``filter``, ``from_map_style``, ``from_generator``.

Threads of the engine never run Python. They hand elements to worker processes, through memory that both map, and take the results
from there. With ``Loader(threads=0)`` functions run in the process of the loader, on the thread that asks for a batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

from .. import operators
from ..dataset import Dataset, Stages, _node
from ..errors import ConfigError
from ..nearest import names_arguments
from . import naming

__all__ = ["filter", "from_generator", "from_map_style", "map"]


@names_arguments
def map(function: Callable[..., Any], *, field: str | None = None, fields: str | Sequence[str] = (), to: str = "numpy",
        random: bool = True, spec: Mapping[str, tuple[str, Sequence[int | None]]] | None = None,
        on_error: str | Mapping[str, Any] | None = None) -> Stages:
    """Calls ``function({field: array})`` for each element; the dict that it returns takes the element's place.

    The function runs in worker processes (``Loader(workers=)``), several elements at a time, in any order; results come in the order
    of the elements. It gets arrays of its own, which it may change and keep, and numbers where a field is one number. It may return
    arrays of NumPy and PyTorch, numbers, texts, bytes, and lists of numbers.

    field     the function gets the array of this field alone, and its result takes that array's place; the others are not sent to
              its process
    fields    names of the values that the function returns, where that is a tuple or one value: ``("image", "label")``
    to        what the function gets: arrays of "numpy" or of "torch"
    random    True: before each call the generators of Python, and those of NumPy and PyTorch where they are imported, are seeded from
              the loader's seed, the epoch and the element, so that draws depend neither on the number of workers nor on a resume.
              False: the function draws nothing, which saves some microseconds, and lets `cache` keep its results
    spec      what the function returns, {field: (dtype, shape)}, with None for extents that differ; with `field`, of that one alone.
              Without it the function is called for four elements, in this process, when the pipeline is put together; an extent in
              which these differ may differ later
    on_error  what becomes of elements for which the function raises an exception: "skip", "replace", "fail", or a dict of the options
              of `ignore_errors`
    """
    given = (
        ("function", naming.name_of(function), ...),
        ("field", field or "", ""),
        ("fields", _names(fields), ()),
        ("to", to, "numpy"),
        ("random", random, True),
        ("spec", _spec(spec), None),
    )
    return Stages((_node("python_map", given, on_error),))


@overload
def filter(condition: Callable[..., Any], *, field: str | None = None, to: str = "numpy",
           on_error: str | Mapping[str, Any] | None = None) -> Stages: ...
@overload
def filter(condition: str = "label", *, equals: float | Sequence[float] = (), except_: float | Sequence[float] = (),
           min: float | None = None, max: float | None = None, on_error: str | Mapping[str, Any] | None = None) -> Stages: ...
@names_arguments
def filter(condition="label", *, on_error=None, **options):
    """Keeps the elements for which a function returns something true, or whose field meets conditions.

    ``filter(function)`` calls the function with ``{field: array}``, in a worker process. What it returns must depend on the element
    alone.

    field  the function gets the array of this field alone
    to     what the function gets: arrays of "numpy" or of "torch"

    ``filter("label", equals=[3, 5])`` calls no Python. The field is one number, and all conditions that are given must hold.

    equals, except_  keeps elements whose number is one of these, or none of these
    min, max         keeps elements whose number is at least, or at most, this
    """
    if not callable(condition):
        return operators.filter(options.pop("field", condition), on_error=on_error, **options)
    field, to = options.pop("field", None), options.pop("to", "numpy")
    if options:
        raise ConfigError(f"filter has a function, which {', '.join(options)} does not go together with; ask for it in the function")
    given = (("function", naming.name_of(condition), ...), ("field", field or "", ""), ("to", to, "numpy"))
    return Stages((_node("python_filter", given, on_error),))


@names_arguments
def from_map_style(dataset: Any, *, fields: str | Sequence[str] = (), random: bool = True,
                   spec: Mapping[str, tuple[str, Sequence[int | None]]] | None = None,
                   on_error: str | Mapping[str, Any] | None = None) -> Dataset:
    """The samples of an object with ``len(dataset)`` and ``dataset[i]``, such as a Dataset of PyTorch or of Hugging Face.

    ``dataset[i]`` is called in worker processes; shuffles and ranks cost nothing, since samples are read by number. Where the object
    has ``__getitems__`` and `random` is False, many samples are asked for at once.

    fields   names of a sample's values, where it is a tuple or one value: ``("image", "label")``
    random, spec, on_error  as in `map`
    """
    size = getattr(type(dataset), "__len__", None)
    if size is None or not hasattr(type(dataset), "__getitem__"):
        raise TypeError(
            f"a {type(dataset).__name__} has no __len__ and __getitem__; stoker.from_generator takes what can only be iterated over"
        )
    numbers = _node("range", (("stop", len(dataset), ...),), None)
    given = (
        ("function", naming.name_of(naming.Samples(dataset)), ...),
        ("fields", _names(fields), ()),
        ("random", random, True),
        ("spec", _spec(spec), None),
    )
    return Dataset((numbers, _node("python_map", given, on_error)), os.getcwd())


@names_arguments
def from_generator(function: Callable[..., Iterable[Any]] | Iterable[Any], *, fields: str | Sequence[str] = (),
                   spec: Mapping[str, tuple[str, Sequence[int | None]]] | None = None,
                   on_error: str | Mapping[str, Any] | None = None) -> Dataset:
    """The elements that ``function()`` yields, in order; it is called for each pass, in a worker process.

    It must give the same elements each time: a resumed pass makes them again up to its place. If it has an argument `epoch`, it gets
    the number of the epoch, and the elements may depend on that; so may what it draws from the generators of Python, NumPy and
    PyTorch, which are seeded by it. Shuffle and repeat in the pipeline. An object that can be iterated over again and again, such as
    an IterableDataset of PyTorch, may take the place of the function.

    fields    names of what the function yields, where those are tuples or single values
    spec      what it yields, as in `map`; without it the first four elements are asked for when the pipeline is put together
    on_error  as in `map`
    """
    if not callable(function) and not hasattr(type(function), "__iter__"):
        raise TypeError(f"a {type(function).__name__} is neither a function nor something to iterate over")
    if hasattr(type(function), "__next__"):
        raise TypeError("an iterator can be used only once; give the function that makes it, so that each epoch has one")
    given = (("function", naming.name_of(function), ...), ("fields", _names(fields), ()), ("spec", _spec(spec), None))
    return Dataset((_node("python_generator", given, on_error),), os.getcwd())


def start_workers(pipeline, count):
    """Before a pass over `pipeline`, a pipeline of the module: starts the worker processes that it lacks.

    count  of those that call functions; None: one for each CPU
    """
    if pipeline.functions:
        from . import workers

        workers.start(pipeline, count)


def _names(fields):
    return (fields,) if isinstance(fields, str) else tuple(fields)


def _spec(spec):
    """As the operators write it."""
    if spec is None:
        return None
    try:
        return {
            name: {"type": dtype, "shape": [-1 if extent is None else int(extent) for extent in shape]}
            for name, (dtype, shape) in spec.items()
        }
    except (TypeError, ValueError, AttributeError):
        raise ConfigError(
            f"spec is {spec!r}; it is a dict of dtype and shape, such as {{'image': ('float32', (3, None, None)), 'label': ('int64', ())}}"
        ) from None

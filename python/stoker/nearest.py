"""Names that a misspelt one may stand for, in the messages of errors."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])
_UNKNOWN_ARGUMENT = re.compile(r"got an unexpected keyword argument '(\w+)'$")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """" Did you mean 'shuffle'?", the nearest of the names that are known; "" where none is near."""
    import difflib  # not with the package, whose import is to be quick

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def names_arguments(function: _Function) -> _Function:
    """`function`, whose TypeError for an argument of unknown name says which was perhaps meant, and which there are."""

    @functools.wraps(function)
    def called(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except TypeError as error:
            unknown = _UNKNOWN_ARGUMENT.search(str(error))
            # Of this call, and not of one that the function made.
            if unknown is None or error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            import inspect

            known = [each for each in inspect.signature(function).parameters if each != "self"]
            raise TypeError(f"{error}.{did_you_mean(unknown[1], known)} Its arguments are {', '.join(known)}") from None

    return cast(_Function, called)

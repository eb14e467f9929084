"""What Stoker raises. The message says where (file, byte or line), what, and what to do; attributes hold the place."""

from __future__ import annotations

import re

__all__ = ["ConfigError", "DataError", "Error", "ResourceError"]

# "recipe.yaml:5:17: ...", "train.py:12: ..."
_LINE = re.compile(r"(?:^|while [^:\n]*: )(?P<file>[^\n:][^\n]*?):(?P<line>\d+)(?::(?P<column>\d+))?: ")
# "train.gz: byte 16: ..."
_BYTE = re.compile(r"(?:^|while [^:\n]*: |: )(?P<file>[^\n:]+): byte (?P<offset>\d+): ")


class Error(Exception):
    """Any error of Stoker.

    code    what kind it is: "invalid_argument", "data_loss", "not_found", ...
    file    the file that the message names, a recipe, a Python file or one with data; else None
    line    the line in it, of recipes, Python files and text files; else None
    column  the column, of recipes; else None
    offset  the byte in it, of files with data; else None
    """

    code: str = "internal"
    file: str | None
    line: int | None
    column: int | None
    offset: int | None

    def __init__(self, message: str = "", code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.file = self.line = self.column = self.offset = None
        place = _LINE.search(message) or _BYTE.search(message)
        if place:
            found = place.groupdict()
            self.file = found["file"]
            for name in ("line", "column", "offset"):
                if found.get(name) is not None:
                    setattr(self, name, int(found[name]))

    def __reduce__(self):
        return type(self), (str(self), self.code)


class ConfigError(Error, ValueError):
    """An option, a recipe, a pipeline, or a use of one, is wrong."""

    code = "invalid_argument"


class DataError(Error):
    """Data are damaged, or not what the pipeline says they are."""

    code = "data_loss"


class ResourceError(Error, OSError):
    """The system does not give what was asked for: a file that is not there, no permission, no memory, a server that is away."""

    code = "unavailable"

    __str__ = Exception.__str__


_CLASSES = {
    "invalid_argument": ConfigError,
    "failed_precondition": ConfigError,
    "unimplemented": ConfigError,
    "data_loss": DataError,
    "out_of_range": DataError,
    "not_found": ResourceError,
    "permission_denied": ResourceError,
    "resource_exhausted": ResourceError,
    "unavailable": ResourceError,
}


def from_status(code, message):
    """The exception for an error of the engine; the module calls it."""
    return _CLASSES.get(code, Error)(message, code)

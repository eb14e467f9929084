"""What Stoker raises. The message says where (file, byte or line), what, and what to do; attributes hold the place."""

from __future__ import annotations

import re

__all__ = ["ConfigError", "DataError", "Error", "ResourceError"]

# A file with data, whose place follows. That of a server has a colon in its name; "record 3", "element 3" and "'0012'", a name in an
# archive, are no files.
_FILE = r"(?:^|while [^:\n]*: |: )(?!record \d|element \d|')(?P<file>\w+://\S+?(?: \(decompressed\))?|[^\n:]+)"
_PLACES = (
    # "recipe.yaml:5:17: ...", "train.py:12: ..."
    re.compile(r"(?:^|while [^:\n]*: )(?P<file>[^\n:][^\n]*?):(?P<line>\d+)(?::(?P<column>\d+))?: "),
    # "homes.csv: record 1 (line 3, byte 8): ..."
    re.compile(_FILE + r": record \d+ \((?:lines? (?P<line>\d+)[^,)]*, )?byte (?P<offset>\d+)\)"),
    # "train.gz: byte 16: ...", "list.txt: byte 40: line 3 ..."
    re.compile(_FILE + r": byte (?P<offset>\d+): (?:line (?P<line>\d+)\b)?"),
)
_DECOMPRESSED = " (decompressed)"  # follows the name of a compressed file, where the place is one in what it holds


class Error(Exception):
    """Any error of Stoker.

    code    what kind it is: "invalid_argument", "data_loss", "not_found", ...
    file    the file that the message names, a recipe, a Python file or one with data; else None
    line    the line in it, of recipes, Python files and text files; else None
    column  the column, of recipes; else None
    offset  the byte in it, of files with data, or in what it holds, of compressed ones; else None
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
        place = next(filter(None, (each.search(message) for each in _PLACES)), None)
        if place:
            found = place.groupdict()
            self.file = found["file"].removesuffix(_DECOMPRESSED)
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

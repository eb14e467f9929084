"""Pictures of a batch, to look at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _core
from .errors import ConfigError
from .nearest import names_arguments


class Sheet:
    """Pictures in one: shows itself in a notebook, `save` writes it as PNG.

    png      the bytes of the PNG
    columns  how many pictures stand in a row
    labels   the labels of the pictures, where the batch has a field `label`; else None
    """

    def __init__(self, png: bytes, columns: int, labels: list[Any] | None) -> None:
        self.png, self.columns, self.labels = png, columns, labels

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the PNG to a file."""
        with open(path, "wb") as file:
            file.write(self.png)

    def _repr_png_(self):
        return self.png

    def __repr__(self):
        rows = ""
        if self.labels:
            lines = [self.labels[i:i + self.columns] for i in range(0, len(self.labels), self.columns)]
            rows = "".join("\n" + " ".join(map(str, line)) for line in lines)
        return f"stoker.Sheet of {len(self.png)} bytes of PNG; save(path) writes it{rows}"


@names_arguments
def show(batch: Any, field: str | None = None, *, most: int = 64, mean: float | Sequence[float] | None = None,
         std: float | Sequence[float] | None = None, classes: Sequence[str] = ()) -> Sheet:
    """A contact sheet of the pictures of a batch (or of one picture, or of an array of them).

    batch      a dict of arrays, or the array
    field      which field has the pictures; None: `image`, else the first that can be pictures
    most       how many are shown
    mean, std  what `normalize` was given, to undo it; without them the values of each picture are stretched from black to white
    classes    the names of the labels
    """
    pictures, labels = batch, None
    if isinstance(batch, dict):
        field = field or _field_of(batch)
        if field not in batch:
            raise ConfigError(f"the batch has no field {field!r}; it has {', '.join(map(str, batch))}")
        pictures, labels = batch[field], batch.get("label")
    if (mean is None) != (std is None):
        raise ConfigError("mean and std go together, as `normalize` has them")
    png, columns = _core.contact_sheet(pictures, most, _list(mean), _list(std))
    return Sheet(png, columns, _names(labels, most, classes))


def _field_of(batch):
    if "image" in batch:
        return "image"
    for name, array in batch.items():
        if len(getattr(array, "shape", ())) >= 3:
            return name
    raise ConfigError(f"no field of the batch can be pictures; it has {', '.join(map(str, batch))}; name one by `field`")


def _list(values):
    if values is None:
        return []
    values = values.tolist() if hasattr(values, "tolist") else values
    return [float(values)] if isinstance(values, (int, float)) else [float(value) for value in values]


def _names(labels, most, classes):
    if labels is None or len(getattr(labels, "shape", ())) != 1:
        return None
    numbers = [int(label) for label in memoryview(labels).tolist()] if not hasattr(labels, "tolist") else labels.tolist()
    return [classes[n] if 0 <= n < len(classes) else n for n in numbers[:most]]

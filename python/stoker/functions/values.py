"""What functions return, as arrays that the engine has."""

import sys

import numpy

from .. import _core

CODES = {name: code for code, name in enumerate(_core.dtypes)}
# In memory; NumPy has no bfloat16 of its own.
NUMPY_TYPES = [numpy.dtype("uint16" if name == "bfloat16" else name) for name in _core.dtypes]
_NAMES = {dtype: name for dtype, name in zip(NUMPY_TYPES, _core.dtypes) if name != "bfloat16"}
# What a number of Python is as an array.
_OF_PYTHON = {bool: numpy.dtype("bool"), int: numpy.dtype("int64"), float: numpy.dtype("float64")}


class Value:
    """An array of one field: `dtype`, its name in the engine, and `array`, of NumPy, contiguous.

    of_any_length  it was a text or bytes, whose length says nothing about that of others
    """

    __slots__ = ("dtype", "array", "of_any_length")

    def __init__(self, dtype, array, of_any_length=False):
        self.dtype, self.array, self.of_any_length = dtype, array, of_any_length

    @property
    def shape(self):
        return self.array.shape

    def __str__(self):
        return f"{self.dtype}{list(self.shape)}"


def value_of(given):
    """Raises TypeError where it is nothing that an array can be made of."""
    if isinstance(given, str):
        return Value("uint8", numpy.frombuffer(given.encode(), numpy.uint8), of_any_length=True)
    if isinstance(given, (bytes, bytearray, memoryview)):
        return Value("uint8", numpy.frombuffer(given, numpy.uint8), of_any_length=True)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.Tensor):
        return _of_tensor(torch, given)
    if isinstance(given, dict) or given is None:
        raise TypeError(f"is {'a dict' if given is not None else 'None'}, not an array")
    try:
        array = numpy.asarray(given)
    except ValueError as error:
        raise TypeError(f"makes no array: {error}") from None
    name = _NAMES.get(array.dtype) or _name_of(array.dtype)
    if name == "bfloat16":
        return Value(name, _plain(array.view(numpy.uint16)))
    if name is None:
        raise TypeError(f"is of {array.dtype} ({type(given).__name__}); the engine has {', '.join(_core.dtypes)}: convert it, as by "
                        ".astype('int64')")
    return Value(name, _plain(array))


def _name_of(dtype):
    """Of a type in another byte order, of bfloat16, and None of what the engine has not."""
    if dtype.name == "bfloat16":
        return dtype.name
    return _NAMES.get(dtype.newbyteorder("="))


def is_just(given, dtype, shape):
    """Whether `given` can be written to an array of this type of NumPy and this shape as it stands: a quick look, for most results."""
    kind = type(given)
    if kind is numpy.ndarray:
        return given.dtype == dtype and given.shape == shape
    return not shape and (kind is dtype.type or _OF_PYTHON.get(kind) == dtype)


def _plain(array):
    """Contiguous, in the byte order of this machine. (ascontiguousarray makes one dimension of none.)"""
    return numpy.array(array, array.dtype.newbyteorder("="), order="C", copy=None if _NUMPY_2 else False)


_NUMPY_2 = int(numpy.__version__.partition(".")[0]) >= 2


def _of_tensor(torch, tensor):
    tensor = tensor.detach().cpu().contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in CODES:
        raise TypeError(f"is of {tensor.dtype}; the engine has {', '.join(_core.dtypes)}: convert it, as by .long()")
    if name == "bfloat16":
        return Value(name, tensor.view(torch.int16).numpy().view(numpy.uint16))
    return Value(name, tensor.numpy())


def array_over(memory, code, shape, offset=0):
    """An array of NumPy over these bytes."""
    dtype = NUMPY_TYPES[code]
    count = 1
    for extent in shape:
        count *= extent
    if count == 0:
        return numpy.empty(shape, dtype)
    return numpy.frombuffer(memory, dtype, count, offset).reshape(shape)


def as_numpy(array, code):
    """What a function gets; `array` is of array_over."""
    if _core.dtypes[code] != "bfloat16":
        return array
    import ml_dtypes

    return array.view(ml_dtypes.bfloat16)


def as_torch(array, code):
    import torch

    tensor = torch.from_numpy(array.view(numpy.int16) if _core.dtypes[code] == "bfloat16" else array)
    return tensor.view(torch.bfloat16) if _core.dtypes[code] == "bfloat16" else tensor


def check_library(to, inputs):
    """Raises ImportError or TypeError, with what to do, if functions cannot get these fields as arrays of `to`."""
    if to == "torch":
        try:
            import torch  # noqa: F401 - workers that are forked have it then
        except ImportError:
            raise ImportError("to='torch' needs PyTorch, which is not installed; leave it out for arrays of NumPy") from None
        return
    for name, dtype, _ in inputs:
        if dtype == "bfloat16":
            try:
                import ml_dtypes  # noqa: F401
            except ImportError:
                raise TypeError(
                    f"field '{name}' is bfloat16, which NumPy has not by itself: install ml_dtypes, cast it later, or take to='torch'"
                ) from None

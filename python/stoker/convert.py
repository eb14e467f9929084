"""Arrays of the engine as those of the library that the caller uses."""

import sys

from .errors import ConfigError

KINDS = ("torch", "numpy", "jax", "dlpack")


def choose(to):
    """The kind of arrays that `to` means; None: PyTorch's where it is imported, else NumPy's, else those of this package."""
    if to is None:
        if "torch" in sys.modules:
            return "torch"
        import importlib.util

        return "numpy" if importlib.util.find_spec("numpy") else "dlpack"
    if to not in KINDS:
        raise ConfigError(f"to is {to!r}; it is one of {', '.join(KINDS)}, or None")
    return to


def converters(kind, spec, device=None):
    """What the module does with each field: (name, whether the function takes a DLPack capsule, function or None).

    device  of JAX, where its arrays are to be
    """
    make = {"torch": _torch, "numpy": _numpy, "jax": _jax, "dlpack": lambda dtype: (False, None)}[kind]
    made = [(name, *make(dtype)) for name, dtype, _ in spec]
    if kind != "jax" or device is None:
        return made
    place = _jax_device(device)
    return [(name, from_capsule, lambda given, function=function: place(function(given))) for name, from_capsule, function in made]


def _jax_device(device):
    """Copies begin at once and are not waited for: that is how JAX does it."""
    import functools

    import jax

    if isinstance(device, str):
        kind, _, number = device.partition(":")
        try:
            device = jax.devices(kind)[int(number or 0)]
        except (RuntimeError, ValueError, IndexError) as error:
            raise ConfigError(f"device is {device!r}: JAX finds none here: {error}") from None
    return functools.partial(jax.device_put, device=device)


def _torch(dtype):
    import torch.utils.dlpack

    return True, torch.utils.dlpack.from_dlpack


def _numpy(dtype):
    import numpy

    if dtype != "bfloat16":
        return False, numpy.asarray
    try:
        import ml_dtypes
    except ImportError:
        raise ConfigError(
            "NumPy has no bfloat16 of its own; install ml_dtypes, take `cast` out of the pipeline, or ask for to='torch'"
        ) from None
    return False, lambda array: numpy.asarray(array.bits()).view(ml_dtypes.bfloat16)


def _jax(dtype):
    import jax
    import jax.numpy

    if dtype in ("int64", "float64") and not jax.config.jax_enable_x64:
        # JAX has these types only on demand, and makes narrower ones of NumPy's without a word.
        import numpy

        narrow = {"int64": numpy.int32, "float64": numpy.float32}[dtype]
        return False, lambda array: jax.numpy.asarray(numpy.asarray(array).astype(narrow))
    return False, jax.numpy.from_dlpack

"""Stoker: input pipelines on native threads that keep accelerators fed while they train.

    import stoker as sk

    train = (sk.folder("train") | sk.shuffle() | sk.decode() | sk.random_resized_crop(size=224)
             | sk.normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]) | sk.batch(64) | sk.prefetch())
    for batch in sk.Loader(train, seed=1):
        ...

Importing it imports neither NumPy nor PyTorch.
"""

from . import operators
from ._core import Array
from ._core import version as __version__
from .dataset import Dataset, Stages, from_yaml, read_recipe
from .errors import ConfigError, DataError, Error, ResourceError
from .loader import Loader
from .operators import *  # noqa: F403 - one function for each operator
from .functions import filter, from_generator, from_map_style, map  # noqa: A004, I001 - filter takes the place of the operator's
from .pictures import Sheet, show
from .report import Explanation, Profile

__all__ = [
    "Array",
    "ConfigError",
    "DataError",
    "Dataset",
    "Error",
    "Explanation",
    "Loader",
    "Profile",
    "Sheet",
    "Stages",
    "ResourceError",
    "filter",
    "from_generator",
    "from_map_style",
    "from_yaml",
    "map",
    "read_recipe",
    "show",
    *operators.__all__,
]


def __getattr__(name):
    """What needs PyTorch or Ray is imported when it is asked for."""
    if name == "ray":
        import importlib

        return importlib.import_module(".ray", __name__)
    if name in ("DataLoader", "worker_context"):
        from . import dataloader

        return {"DataLoader": dataloader.DataLoader, "worker_context": dataloader.context}[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Stoker: input pipelines on native threads that keep accelerators fed while they train.

    import stoker as sk

    train = (sk.folder("train") | sk.shuffle() | sk.decode() | sk.random_resized_crop(size=224)
             | sk.normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]) | sk.batch(64) | sk.prefetch())
    for batch in sk.Loader(train, seed=1):
        ...

Importing it imports neither NumPy nor PyTorch.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import one_engine as _one_engine

_one_engine.check_folder()
if "__version__" in globals():  # importlib.reload
    _one_engine.check_version(globals()["__version__"])

from . import _core, operators
from ._core import Array
from .dataset import Dataset, Stages, from_yaml, read_recipe
from .errors import ConfigError, DataError, Error, ResourceError
from .functions import filter, from_generator, from_map_style, map  # noqa: A004
from .loader import Loader
from .operators import *  # noqa: F403 - one function for each operator
from .functions import filter  # noqa: A004, F811, I001 - that of the operator calls no function; checkers of types go by the first
from .pictures import Sheet, show
from .report import Explanation, Profile

__version__: str = _core.version

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


# What needs PyTorch or Ray, by the package that it needs. It is imported when it is asked for.
_ON_DEMAND = {"DataLoader": "torch", "worker_context": "torch", "ray": "ray"}
_NEEDED = {
    "torch": "PyTorch, whose DataLoader it is with other queues, and PyTorch is not installed: `pip install torch`. Without it "
             "stoker.from_map_style(dataset, fields=(\"image\", \"label\")) reads the same dataset, in worker processes too",
    "ray": "Ray, which is not installed: `pip install \"ray[data]\"`",
}

if _TYPE_CHECKING:
    from . import dataloader as _dataloader
    from . import ray as ray

    DataLoader = _dataloader.DataLoader
    worker_context = _dataloader.context
else:

    def __getattr__(name):
        if name in _ON_DEMAND:
            _check_that_is_installed(_ON_DEMAND[name], name)
        if name == "ray":
            import importlib

            return importlib.import_module(".ray", __name__)
        if name in _ON_DEMAND:
            from . import dataloader

            return {"DataLoader": dataloader.DataLoader, "worker_context": dataloader.context}[name]
        if name.startswith("__"):  # Python asks modules for some of these
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .nearest import did_you_mean

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{did_you_mean(name, [*__all__, *_ON_DEMAND])}")

    def _check_that_is_installed(package, name):
        import importlib.util

        if importlib.util.find_spec(package) is None:
            raise ModuleNotFoundError(f"stoker.{name} needs {_NEEDED[package]}", name=package)


def __dir__():
    """What a user calls: no modules, and what needs PyTorch or Ray only where these are installed."""
    import importlib.util

    on_demand = [name for name, package in _ON_DEMAND.items() if importlib.util.find_spec(package)]
    return sorted({*__all__, *on_demand, *(name for name in globals() if name.startswith("__"))})

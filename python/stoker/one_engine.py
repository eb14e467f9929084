"""A process holds one engine: a second one, out of another folder or of another version, would share parts of the first."""

from __future__ import annotations

import os
import sys

_FOLDER = "_stoker_folder"  # in sys, which stays where somebody takes the package out of sys.modules


def check_folder() -> None:
    """Before the module of the engine is imported. Raises ImportError where that of another folder is in the process."""
    folder = os.path.dirname(os.path.abspath(__file__))
    first = vars(sys).setdefault(_FOLDER, folder)
    if first != folder:
        raise ImportError(
            f"this process has imported stoker from {first}, and cannot import another from {folder}: begin a process for that, with one "
            "of the two on sys.path", name="stoker", path=folder,
        )


def check_version(loaded: str) -> None:
    """When the package is imported once more. Raises ImportError where another version was installed since."""
    import importlib.metadata

    try:
        installed = importlib.metadata.version("stoker")
    except importlib.metadata.PackageNotFoundError:  # it is used without being installed
        return
    if installed != loaded:
        raise ImportError(
            f"stoker {installed} is installed, and this process has begun with {loaded}, whose engine it keeps; restart Python (in a "
            "notebook the kernel) to have the new one", name="stoker",
        )

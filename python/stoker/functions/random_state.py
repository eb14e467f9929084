"""The generators of random numbers that the user's functions draw from: Python's, and NumPy's and PyTorch's where they are imported."""

import random
import sys


class GeneratorsApart:
    """A function that draws in the process of the user leaves the user's generators of random numbers as they were. Entered again, it
    goes on with what it left."""

    def __init__(self):
        self._own = self._users = None

    def __enter__(self):
        self._users = _generators()
        if self._own is not None:
            _set_generators(self._own)

    def __exit__(self, *unused):
        self._own = _generators()
        _set_generators(self._users)


def _generators():
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    return random.getstate(), numpy and numpy.random.get_state(), torch and torch.default_generator.get_state()


def _set_generators(states):
    of_python, of_numpy, of_torch = states
    random.setstate(of_python)
    if of_numpy is not None:
        sys.modules["numpy"].random.set_state(of_numpy)
    if of_torch is not None:
        sys.modules["torch"].default_generator.set_state(of_torch)


def seed_generators(seed):
    """What a function draws then depends on the seed alone."""
    random.seed(seed)
    if sys.modules.get("numpy") is not None:
        sys.modules["numpy"].random.seed(seed & 0xFFFFFFFF)  # more bits take five times as long
    if sys.modules.get("torch") is not None:
        sys.modules["torch"].default_generator.manual_seed(seed & 0x7FFFFFFFFFFFFFFF)

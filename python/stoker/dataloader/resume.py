"""Where a DataLoader stands, and how it continues there."""

import base64
import contextlib
import itertools
import random
import sys

import torch
from torch.utils.data import dataloader as of_torch

from ..errors import ConfigError

_SCHEMA = 1
_KIND = "stoker.DataLoader"


class Position:
    """Of one epoch.

    generators   as they were before it began
    draws_seed   whether its beginning draws a seed for the workers; persistent ones have theirs from the first epoch on
    given        how many batches were given
    """

    def __init__(self, generators, draws_seed=True, given=0):
        self.generators = generators
        self.draws_seed = draws_seed
        self.given = given
        self.ended = False

    def to_json(self, loader):
        """`loader` is the DataLoader whose position it is."""
        return {
            "schema": _SCHEMA,
            "of": _KIND,
            "given": self.given,
            "draws_seed": self.draws_seed,
            "loader": what_it_reads(loader),
            "generators": self.generators.to_json(),
        }

    @staticmethod
    def from_json(state, loader):
        """Raises ConfigError for what is no state, is damaged, or is the state of a loader that reads something else."""
        if not isinstance(state, dict) or state.get("of") != _KIND:
            raise ConfigError("this is no state of a stoker.DataLoader: it has no 'of' that says so")
        if type(state.get("schema")) is not int or state["schema"] != _SCHEMA:
            raise ConfigError(f"the state has schema {state.get('schema')!r}; this version of stoker reads schema {_SCHEMA}")
        given = state.get("given")
        if type(given) is not int or given < 0:
            raise ConfigError(f"'given' of the state is {given!r}; it is the number of batches given, 0 or more")
        _check_what_it_reads(state.get("loader"), loader)
        draws_seed = state.get("draws_seed")
        if not isinstance(draws_seed, bool):
            raise ConfigError(f"'draws_seed' of the state is {draws_seed!r}; it is true or false")
        return Position(Generators.from_json(state.get("generators")), draws_seed, given)


def what_it_reads(loader):
    """What decides which samples a batch holds, so far as a loader shows it: {name: text or number}.

    Names of classes are without their module, since a program that becomes a module keeps its states.
    """
    shown = {"dataset": _described(loader.dataset, "samples")}
    if loader._dataset_kind == of_torch._DatasetKind.Iterable:
        # Each worker reads a share of its own.
        return {**shown, "batch_size": loader.batch_size, "drop_last": loader.drop_last, "num_workers": loader.num_workers}
    if loader.batch_size is None and loader.batch_sampler is not None:
        return {**shown, "batch_sampler": _described(loader.batch_sampler, "batches")}
    return {**shown, "sampler": _described(loader.sampler, "samples"), "batch_size": loader.batch_size, "drop_last": loader.drop_last}


def _described(value, unit):
    try:
        return f"{type(value).__qualname__} of {len(value):,} {unit}"
    except (TypeError, NotImplementedError):  # it has no length
        return type(value).__qualname__


def _check_what_it_reads(was, loader):
    """`was` is what_it_reads of the loader that was saved; None in states of versions that did not save it."""
    if was is None:
        return
    if not isinstance(was, dict):
        raise ConfigError(f"'loader' of the state is {was!r}; it is damaged")
    now = what_it_reads(loader)
    differ = [f"{name} was {was.get(name, 'not given')} and is {now.get(name, 'not given')}"
              for name in {**was, **now} if was.get(name) != now.get(name)]
    if differ:
        raise ConfigError(
            f"the state was saved by a loader that read something else, so its position means other samples here: "
            f"{'; '.join(differ)}. Make the loader as it was, or begin the epoch anew without the state"
        )


class Generators:
    """States of the random generators that samplers draw from: PyTorch's, Python's and NumPy's own, and those of the loader."""

    def __init__(self, common, own):
        self._common, self._own = common, own

    @staticmethod
    def now(loader):
        return Generators(common_states(), [each.get_state() for each in _own_generators(loader)])

    @contextlib.contextmanager
    def in_force(self, loader):
        """Generators of the loader's own continue from these states; those of the whole process get back what they had."""
        own = _own_generators(loader)
        if len(own) != len(self._own):
            raise ConfigError(
                f"the state is of a loader with {len(self._own)} generators of its own, and this one has {len(own)}; give it the "
                "same `generator` and sampler"
            )
        before = common_states()
        try:
            set_common(self._common)
            for generator, state in zip(own, self._own):
                generator.set_state(state)
            yield
        finally:
            set_common(before)

    def to_json(self):
        torch_state, python, numpy = self._common
        return {
            "torch": _text_of(torch_state),
            "python": [python[0], list(python[1]), python[2]],
            "numpy": None if numpy is None else [numpy[0], numpy[1].tolist(), *numpy[2:]],
            "own": [_text_of(each) for each in self._own],
        }

    @staticmethod
    def from_json(state):
        try:
            python = state["python"]
            numpy_state = state["numpy"]
            if numpy_state is not None:
                import numpy

                numpy_state = (numpy_state[0], numpy.array(numpy_state[1], dtype=numpy.uint32), *numpy_state[2:])
            common = _tensor_of(state["torch"]), (python[0], tuple(python[1]), python[2]), numpy_state
            made = Generators(common, [_tensor_of(each) for each in state["own"]])
            made._try()
            return made
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, RuntimeError) as error:
            raise ConfigError(f"the generators in the state are damaged: {error}") from None

    def _try(self):
        """Raises what a generator raises that cannot take its state."""
        of_pytorch, of_python, of_numpy = self._common
        for state in (of_pytorch, *self._own):
            torch.Generator().set_state(state)
        random.Random().setstate(of_python)
        if of_numpy is not None:
            import numpy

            numpy.random.RandomState().set_state(of_numpy)


def common_states():
    numpy = sys.modules.get("numpy")
    return torch.get_rng_state(), random.getstate(), numpy.random.get_state() if numpy else None


def set_common(states):
    torch_state, python, numpy_state = states
    torch.set_rng_state(torch_state)
    random.setstate(python)
    if numpy_state is not None:
        sys.modules["numpy"].random.set_state(numpy_state)


def _own_generators(loader):
    """Each once: those of the loader and of its samplers."""
    holders = [loader, loader.sampler, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None)]
    found = (getattr(each, "generator", None) for each in holders)
    return list({id(each): each for each in found if isinstance(each, torch.Generator)}.values())


def _text_of(tensor):
    return base64.b64encode(bytes(tensor.tolist())).decode()


def _tensor_of(text):
    return torch.tensor(list(base64.b64decode(text, validate=True)), dtype=torch.uint8)


class SkippingSampler:
    """`sampler`, whose first iteration that is used leaves out the first `count` entries."""

    def __init__(self, sampler, count):
        self._sampler, self._count = sampler, count

    def __len__(self):
        return len(self._sampler)

    def __iter__(self):
        entries = iter(self._sampler)
        count, self._count = self._count, 0
        for _ in itertools.islice(entries, count):
            pass
        yield from entries

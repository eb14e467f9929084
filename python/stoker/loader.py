"""Loader: a pipeline's batches, epoch after epoch."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from . import _core, convert, functions, ranks
from .dataset import Dataset, read_recipe
from .errors import ConfigError
from .messages import tell
from .nearest import names_arguments
from .report import Explanation, Profile

_SCHEMA = 1  # of state_dict
_WHEN_DRY = ("end", "stop", "empty")
_MOST_SEED = 2**64 - 1
_MOST_THREADS = 2**31 - 1

# Threads of passes that still run when the interpreter ends are joined before it is gone.
_live = weakref.WeakSet()


@atexit.register
def _close_all():
    for each in list(_live):
        each.close()


class Loader:
    """Iterates over the batches of a pipeline: ``for batch in loader``, a dict of arrays by field name, once each epoch.

    Equal seeds and epochs give equal batches, however many threads make them. Each ``iter`` begins the next epoch.

    source         a Dataset, or the path of a recipe
    section        which pipeline of the recipe: "train" or "eval"
    set            changes of the recipe: ["data.train.batch.size=64"]
    seed           the seed of shuffles and augmentations
    to             "torch", "numpy", "jax" or "dlpack" (Arrays of this package); None: PyTorch's tensors where torch is imported,
                   else NumPy's arrays. All share the engine's memory, and it is the caller's: nobody else reads or writes it
    device         where PyTorch's or JAX's arrays are: "cuda", "cuda:1", a torch.device or a device of JAX; None: on the CPU,
                   where the engine makes them. Copies to a GPU run ahead, from pinned memory, on a stream of their own
    threads        how many threads work; 0: none, and the calling thread does all; None: as many as pay
    memory         the most bytes of batches under way: 2_000_000_000 or "2GiB"; None: a quarter of what the process may use, shared
                   by all loaders
    deterministic  False: batches come in the order in which they are finished, which is another each time
    rank, world    which share this process reads, of how many; None: as torch.distributed, JAX or the launcher's environment say
    workers        how many processes call functions of Python, where the pipeline has some; None: one for each CPU. With threads=0
                   there are none, and functions are called here
    when_dry       what the ranks do with a last round that has no batch for some: "stop" leaves it out, so all have as many;
                   "end" gives it to those it has; "empty" gives the others an empty batch
    """

    @names_arguments
    def __init__(self, source: Dataset | str | os.PathLike[str], *, section: str = "train", set: Sequence[str] = (), seed: int = 0,
                 to: str | None = None, threads: int | None = None, memory: int | str | None = None, deterministic: bool = True,
                 rank: int | None = None, world: int | None = None, when_dry: str = "stop", workers: int | None = None,
                 device: Any = None) -> None:
        self._dataset = source if isinstance(source, Dataset) else _dataset_of(source, section, set)
        if not deterministic:
            self._dataset = _in_any_order(self._dataset)
        self._seed = _whole(seed, "seed", 0, _MOST_SEED)
        self._device = device
        self._to = convert.choose(to) if to is not None else None
        if device is not None:
            self._to = self._to or "torch"
            if self._to not in ("torch", "jax"):
                raise ConfigError(f"device is {device!r} and to is {to!r}; arrays of PyTorch and JAX have devices, those of NumPy have none")
        self._threads = None if threads is None else _whole(threads, "threads", 0, _MOST_THREADS)
        self._workers = None if workers is None else _whole(workers, "workers", 1, _MOST_THREADS)
        self._memory = "" if memory is None else str(memory)
        if memory is not None:
            _core.byte_size(self._memory)  # what is wrong with it is said here
        if (rank is None) != (world is None):
            raise ConfigError("rank and world go together; give both, or none to have them found")
        self._ranks = None if rank is None else (_whole(rank, "rank", 0), _whole(world, "world", 1))
        if self._ranks and self._ranks[0] >= self._ranks[1]:
            raise ConfigError(f"rank is {rank}; of {world} ranks it is 0 to {world - 1}")
        if when_dry not in _WHEN_DRY:
            raise ConfigError(f"when_dry is {when_dry!r}; it is one of {', '.join(_WHEN_DRY)}")
        self._when_dry = when_dry
        self._dataset._pipeline()  # what is wrong with it is said here
        self._forget()

    def _forget(self):
        self._next_epoch = 0
        self._resume = None  # the position at which the next pass begins
        self._pass = None
        self._epoch = None  # of the pass; None too once it was left for another epoch

    # --- What it reads.

    @property
    def dataset(self) -> Dataset:
        """The pipeline whose batches it gives."""
        return self._dataset

    @property
    def spec(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """{field: (dtype, shape)} of the batches; extents that differ are -1."""
        return self._dataset.spec

    @property
    def seed(self) -> int:
        """The seed of shuffles and augmentations; that of a state, once one was loaded."""
        return self._seed

    @property
    def epoch(self) -> int:
        """The epoch under way; before the first, and between two, the one that the next ``iter`` begins."""
        return self._epoch if self._under_way() else self._next_epoch

    def _under_way(self):
        return self._pass is not None and not self._pass.ended and self._epoch is not None

    @property
    def rank(self) -> int:
        """Which share this process reads, from 0."""
        return self._share()[0]

    @property
    def world(self) -> int:
        """How many shares there are."""
        return self._share()[1]

    def _share(self):
        return self._ranks or ranks.find()

    def __len__(self) -> int:
        """The number of batches that this rank gets in an epoch."""
        count = len(self._dataset)
        rank, world = self._share()
        if self._when_dry == "end":
            return (count - rank + world - 1) // world
        return count // world if self._when_dry == "stop" else -(-count // world)

    # --- Epochs.

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Begins the next epoch, or continues where a state that was loaded says."""
        pipeline = self._dataset._pipeline()
        rank, world = self._share()
        fields = convert.converters(self._to or convert.choose(None), pipeline.spec, self._device)
        self._pass = None  # one that was broken off ends, unless somebody still iterates over it
        if self._threads != 0:
            functions.start_workers(pipeline, self._workers)
        made = _core.Pass(pipeline, fields, self._seed, self._next_epoch, rank, world, self._when_dry, self._threads,
                          self._memory, self._resume or "")
        if self._device is not None and self._to == "torch":
            from . import device

            made = device.DeviceBatches(made, device.of_torch(self._device))
        _live.add(made)
        self._pass, self._epoch = made, self._next_epoch
        self._next_epoch += 1
        self._resume = None
        tell()
        return made

    def set_epoch(self, epoch: int) -> None:
        """The next ``iter`` begins this epoch, at its start."""
        self._next_epoch = _whole(epoch, "epoch", 0)
        self._resume = None
        self._epoch = None

    def close(self) -> None:
        """Ends the pass under way and its threads now. The loader can be iterated over again."""
        if self._pass is not None:
            self._pass.close()

    # --- Checkpoints.

    def state_dict(self) -> dict[str, Any]:
        """Where it stands after the last batch, as a dict that JSON can hold. In the middle of an epoch too.

        A loader of the same pipeline that loads it gives what follows, with any number of threads; with another number of ranks
        where all ranks had read as many batches.
        """
        import json

        state = {"schema": _SCHEMA, "stoker": _core.version, "seed": self._seed, "epoch": self.epoch, "position": None,
                 "pipeline": self._dataset._fingerprint()}
        if self._resume is not None:
            state["position"] = json.loads(self._resume)
        elif self._under_way():
            state["position"] = json.loads(self._pass.save())
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next ``iter`` continues where `state` was made. The state's seed takes the place of the loader's.

        Where the state is of another pipeline, a warning of the logger "stoker" says so: its position means other samples here.
        """
        import json

        if not isinstance(state, dict) or "schema" not in state:
            raise ConfigError("this is no state of a stoker.Loader: it has no 'schema'")
        if state["schema"] != _SCHEMA:
            raise ConfigError(
                f"the state has schema {state['schema']!r}, of stoker {state.get('stoker')!r}; this is {_core.version}, which reads "
                f"schema {_SCHEMA}"
            )
        missing = {"seed", "epoch", "position"} - state.keys()
        if missing:
            raise ConfigError(f"the state lacks {', '.join(sorted(missing))}; it is damaged")
        seed, epoch = _whole(state["seed"], "seed of the state", 0, _MOST_SEED), _whole(state["epoch"], "epoch of the state", 0)
        position = None if state["position"] is None else json.dumps(state["position"])
        if position is not None and state.get("pipeline") not in (None, self._dataset._fingerprint()):
            import logging

            logging.getLogger("stoker").warning(
                "the state that is loaded was saved by another pipeline, or by one with other files, so its position means other samples "
                "here; begin the epoch anew with set_epoch"
            )
        self._forget()
        self._seed, self._next_epoch, self._resume = seed, epoch, position

    # --- What it did.

    def profile(self) -> Profile:
        """What each stage did in the pass under way, or the last one: a Profile, which prints as a table."""
        return Profile(self._explained())

    def explain(self) -> Explanation:
        """The pipeline as written, what the runtime chose and why, and which stage limits it: an Explanation."""
        return Explanation(self._explained())

    def _explained(self):
        import json

        if self._pass is None:
            raise ConfigError("nothing has been read yet; iterate over the loader first")
        tell()
        return json.loads(self._pass.explain())

    def __getstate__(self):
        return {**self.__dict__, "_pass": None, "_epoch": None, "_state": self._state_if_any(), "_resume": None}

    def __setstate__(self, state):
        given = state.pop("_state")
        self.__dict__.update(state)
        if given is not None:
            self.load_state_dict(given)

    def _state_if_any(self):
        """None in a child of fork(), where the pass of the parent cannot be asked."""
        try:
            return self.state_dict()
        except ConfigError:
            return None

    def __repr__(self) -> str:
        return f"stoker.Loader(seed={self._seed}, epoch={self.epoch})\n{self._dataset!r}"


def _dataset_of(source, section, set):
    if isinstance(source, (str, os.PathLike)):
        return read_recipe(source, section, set)
    raise TypeError(f"a Loader reads a stoker.Dataset or a recipe, whose path is given; not {type(source).__name__}")


def _in_any_order(dataset):
    last = dataset._nodes[-1]
    if last.name == "prefetch":
        return dataset._with_last(last.with_option("deterministic", False, last.where))
    from .operators import prefetch

    return dataset | prefetch(deterministic=False)


def _whole(value, name, least, most=2**63 - 1):
    """`value` as an int; numbers of NumPy count too, True and False do not."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{name} is {value!r}; it is a whole number")
    number = value.__index__()
    if number < least:
        raise ConfigError(f"{name} is {number}; it is {least} or more")
    if number > most:
        raise ConfigError(f"{name} is {number}; it is {most} or less")
    return number

"""DataLoader: that of PyTorch, with a shorter way from the workers to the trainer, and a position that can be saved."""

from __future__ import annotations

import itertools
import random
import sys
import time
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
import torch.utils.data
from torch.utils.data import dataloader as of_torch

from ..errors import ConfigError
from .collate import collate
from .context import with_array_queues
from .resume import Generators, Position, SkippingSampler, common_states, set_common

_LOOKS = 0.5  # seconds between two looks at whether the workers live, where nothing wakes the trainer before
_END = object()
_Batch = typing.TypeVar("_Batch", covariant=True)


class DataLoader(torch.utils.data.DataLoader[_Batch]):
    """torch.utils.data.DataLoader, to which every argument means the same: ``from stoker import DataLoader`` is all that changes.

    Batches of workers arrive in shared memory that is used again and again: nothing is copied in the trainer, nothing is opened for
    each tensor, and arrays of equal shapes are stacked where the trainer reads them. A worker that dies is an error at once.

    `state_dict` and `load_state_dict` save the position, in the middle of an epoch too, as JSON.

    seeds  "worker": each worker draws on from its own seed, as in PyTorch. "batch": the generators of PyTorch, Python and NumPy are
           seeded before each batch of a map-style dataset, from the epoch's seed and the number of the batch, so that what a batch
           draws depends neither on the number of workers nor on where training was resumed
    """

    def __init__(self, dataset: torch.utils.data.Dataset[_Batch], batch_size: int | None = 1, shuffle: bool | None = None,
                 sampler: torch.utils.data.Sampler[typing.Any] | Iterable[typing.Any] | None = None,
                 batch_sampler: torch.utils.data.Sampler[Sequence[typing.Any]] | Iterable[Sequence[typing.Any]] | None = None,
                 num_workers: int = 0, collate_fn: Callable[[list[typing.Any]], typing.Any] | None = None, pin_memory: bool = False,
                 drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable[[int], None] | None = None,
                 multiprocessing_context: typing.Any = None, generator: torch.Generator | None = None, *,
                 prefetch_factor: int | None = None, persistent_workers: bool = False, pin_memory_device: str = "",
                 in_order: bool = True, seeds: str = "worker") -> None:
        if seeds not in ("worker", "batch"):
            raise ValueError(f"seeds is {seeds!r}; it is 'worker' or 'batch'")
        self.seeds = seeds
        self._resume = None  # the position at which the next epoch begins
        self._position = None  # of the epoch under way
        if collate_fn is None and (batch_size is not None or batch_sampler is not None):
            collate_fn = collate
        # In PyTorch since version 2.6.
        order = {} if in_order else {"in_order": False}
        super().__init__(
            dataset, batch_size, shuffle, sampler, batch_sampler, num_workers, collate_fn, pin_memory, drop_last, timeout,
            worker_init_fn, multiprocessing_context, generator, prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers, pin_memory_device=pin_memory_device, **order,
        )

    @property
    def multiprocessing_context(self) -> typing.Any:
        """How workers are started: what was given, with our queues. Where nothing was given, multiprocessing is asked only now, since
        asking it fixes its start method."""
        given = super().multiprocessing_context
        return with_array_queues(given) if self.num_workers > 0 else given

    @multiprocessing_context.setter
    def multiprocessing_context(self, given: typing.Any) -> None:
        torch.utils.data.DataLoader.multiprocessing_context.fset(self, given)  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[typing.Any]:
        if self._resume is not None:
            self._iterator = None  # persistent workers have gone on
        elif self._iterator is not None:
            self._position = Position(Generators.now(self), draws_seed=self.seeds == "batch")
            self._iterator.position = self._position
        return super().__iter__()

    def _get_iterator(self):
        made = self._made_iterator(self._resume)
        self._resume = None  # an iterator that could not be made may be tried again
        return made

    def _made_iterator(self, resumed):
        self._position = resumed or Position(Generators.now(self))
        kind = _InProcess
        if self.num_workers > 0:
            kind = _InWorkers
            self.check_worker_number_rationality()
        if resumed is None:
            return kind(self, self._position)
        with resumed.generators.in_force(self):
            return kind(_Resumed(self, resumed), resumed)

    def state_dict(self) -> dict[str, typing.Any]:
        """Where it stands after the last batch, as a dict that JSON can hold.

        A loader with the same dataset, sampler and options that loads it gives the batches that would have followed. Samplers are
        asked again from the start of the epoch, and their first entries are left out; datasets are not asked for what was already
        given, except iterable ones, which can only be read from their start. A sampler's own state, such as the epoch of
        DistributedSampler, is not in it. In the middle of an epoch whose batches come in any order (`in_order=False`) there is no
        position, and this raises ConfigError.
        """
        position = self._resume or self._position
        if position is None or position.ended:
            position = Position(Generators.now(self))
        if position.given > 0 and position is not self._resume and self.num_workers > 1 and not getattr(self, "in_order", True):
            raise ConfigError(
                "with in_order=False batches come in the order in which workers finish them, so that their number does not say which were "
                "given: save the state between two epochs, or leave in_order out"
            )
        return position.to_json(self)

    def load_state_dict(self, state: dict[str, typing.Any]) -> None:
        """The next ``iter`` continues where `state` was made.

        A state is refused where this loader shows that it reads something else: a dataset or sampler of another class or length,
        another `batch_size` or `drop_last`, for iterable datasets another number of workers. The message says what differs.
        """
        self._resume = Position.from_json(state, self)


class _Resumed:
    """A loader as its iterator sees it, where the first entries of the sampler are left out."""

    def __init__(self, loader, position):
        self._loader = loader
        self.generator = loader.generator if position.draws_seed else torch.Generator()
        iterable = loader._dataset_kind == of_torch._DatasetKind.Iterable
        self._index_sampler = loader._index_sampler if iterable else SkippingSampler(loader._index_sampler, position.given)
        self.to_drop = position.given if iterable else 0

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Positioned:
    """Counts the batches that were given."""

    def __init__(self, loader, position):
        self.position = position
        self._to_drop = getattr(loader, "to_drop", 0)
        self._seeds_batches = loader.seeds == "batch" and loader._dataset_kind == of_torch._DatasetKind.Map
        self._number = position.given  # of the next batch that is asked for
        self._failed = 0  # batches after the last one that was given
        super().__init__(loader)

    def __next__(self):
        try:
            while self._to_drop > 0:
                self._drop()
            batch = super().__next__()
        except StopIteration:
            self.position.ended = True
            raise
        # The caller who resumes where a batch failed reads it again; one who went on has passed it.
        self.position.given += 1 + self._failed
        self._failed = 0
        return batch

    def _drop(self):
        """One batch that was given before the state was saved."""
        self._to_drop -= 1
        try:
            super().__next__()
        finally:
            self._failed = 0  # the state counts it already

    def _next_index(self):
        index = super()._next_index()
        if not self._seeds_batches:
            return index
        self._number += 1
        return SeedsThen(self._base_seed + self._number, index)


class _InProcess(_Positioned, of_torch._SingleProcessDataLoaderIter):
    def __init__(self, loader, position):
        super().__init__(loader, position)
        if isinstance(loader, _Resumed):
            # Samplers draw when they are first asked, which must be while the generators are as they were.
            first = next(self._sampler_iter, _END)
            self._sampler_iter = iter(()) if first is _END else itertools.chain([first], self._sampler_iter)

    def _next_index(self):
        index = super()._next_index()
        self._asked = True
        if not isinstance(index, SeedsThen):
            return index
        self._before = common_states()
        return index.seed_and_take()

    def _next_data(self):
        """The generators of this process go on as if a worker had read the batch."""
        self._before, self._asked = None, False
        try:
            return super()._next_data()
        except Exception:
            self._failed += self._asked
            raise
        finally:
            if self._before is not None:
                set_common(self._before)


class _InWorkers(_Positioned, of_torch._MultiProcessingDataLoaderIter):
    def _reset(self, loader, first_iter=False):
        self._failed = 0
        if not first_iter:
            self._number = self.position.given
            if self._seeds_batches:
                self._base_seed = torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item()
        watch = getattr(self._worker_result_queue, "watch", None)
        if watch is not None:
            watch([worker.sentinel for worker in self._workers])
        super()._reset(loader, first_iter)

    def _process_data(self, data, *worker):
        self._failed += isinstance(data, of_torch.ExceptionWrapper)
        return super()._process_data(data, *worker)

    def _try_get_data(self, timeout=of_torch._utils.MP_STATUS_CHECK_INTERVAL):
        """As PyTorch does, which looks at the workers each time; but it looks often. A look may come early, when a worker ends."""
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            success, data = super()._try_get_data(max(0, min(left, _LOOKS)))
            if success or left <= 0:
                return success, data


class SeedsThen:
    """What a worker is to read, and the seed that it sets the generators to before. A worker receives the former only."""

    def __init__(self, seed, index):
        self._seed, self._index = seed, index

    def __reduce__(self):
        return _seed_and_take, (self._seed, self._index)

    def seed_and_take(self):
        return _seed_and_take(self._seed, self._index)


def _seed_and_take(seed, index):
    seed %= 1 << 63
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed([seed & 0xFFFFFFFF, seed >> 32])
    return index

"""Ways to start worker processes, as those of multiprocessing, whose queues are ArrayQueues."""

from __future__ import annotations

import multiprocessing
import multiprocessing.context

from .array_queue import ArrayQueue


class _ArrayQueues:
    def Queue(self, maxsize=0):  # noqa: N802 - the name that multiprocessing gives it
        return super().Queue(maxsize) if maxsize else ArrayQueue()


class _Fork(_ArrayQueues, multiprocessing.context.ForkContext):
    pass


class _Spawn(_ArrayQueues, multiprocessing.context.SpawnContext):
    pass


class _ForkServer(_ArrayQueues, multiprocessing.context.ForkServerContext):
    pass


_PLAIN = (multiprocessing.context.DefaultContext, multiprocessing.context.ForkContext, multiprocessing.context.SpawnContext,
          multiprocessing.context.ForkServerContext)
_CONTEXTS = {"fork": _Fork(), "spawn": _Spawn(), "forkserver": _ForkServer()}


def context(method: str | None = None) -> multiprocessing.context.BaseContext:
    """For `multiprocessing_context` of any DataLoader: its batches then travel as those of stoker.DataLoader.

    method  "fork", "spawn" or "forkserver"; None: what multiprocessing.get_start_method() says
    """
    return _CONTEXTS[method or multiprocessing.get_start_method()]


def with_array_queues(given):
    """`given`, a start method, a context or None, as a context of ours; a context of some other kind, or no context, as it is."""
    if given is None or given in _CONTEXTS:
        return context(given)
    return context(given.get_start_method()) if type(given) in _PLAIN else given

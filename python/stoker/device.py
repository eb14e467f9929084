"""Batches on an accelerator, copied there while the step before computes."""

import queue
import sys
import threading

from .errors import ConfigError

__all__ = ["DeviceBatches"]

_AHEAD = 2  # batches on the device beyond the one that the caller has
_LOOKS = 0.1  # seconds after which the thread looks whether it is still wanted


def of_torch(device):
    """`device`, a name or a torch.device, as one with a number, which means the same on every thread."""
    import torch

    try:
        found = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ConfigError(f"device is {device!r}: {error}") from None
    if found.type == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError(f"device is {device!r}, and PyTorch finds no CUDA device here")
        if found.index is None:
            found = torch.device("cuda", torch.cuda.current_device())
    return found


class DeviceBatches:
    """A pass whose batches of PyTorch are on a device. Used like the pass: an iterator with save, explain, ended and close.

    A thread takes batches from the pass, copies them to pinned memory, and from there to the device on a stream of its own. It is ahead
    by two batches. The position that `save` gives is that after the last batch that the caller has.
    """

    def __init__(self, batches, device):
        self._batches = batches
        self._state = batches.save()
        self.ended = False
        self._ready = queue.Queue(_AHEAD)
        self._closed = threading.Event()
        # The thread does not hold this object: when nobody has it any more it is closed.
        self._thread = threading.Thread(target=_run, args=(batches, _mover(device), self._ready, self._closed), name="stoker-device",
                                        daemon=True)
        self._thread.start()

    def __iter__(self):
        return self

    def __next__(self):
        if self.ended:
            raise StopIteration
        if self._closed.is_set():
            return next(self._batches)  # which says that it was closed
        arrive, state, error = self._ready.get()
        if error is not None:
            self._ready.put((None, None, error))  # for the next call
            self.ended = isinstance(error, StopIteration)
            raise error
        self._state = state
        return arrive()

    def save(self):
        """The position after the last batch that the caller has, as JSON."""
        return self._state

    def explain(self):
        """What the pass has done so far, as JSON."""
        return self._batches.explain()

    def close(self):
        """Ends the pass, its threads and the copies."""
        self._closed.set()
        self._batches.close()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def __del__(self, finalizing=sys.is_finalizing):
        # The interpreter that ends stops its threads, and what they would need is gone.
        if hasattr(self, "_thread") and not finalizing():
            self.close()


def _run(batches, move, ready, closed):
    while not closed.is_set():
        try:
            batch = next(batches)
            entry = move(batch), batches.save(), None
        except BaseException as error:  # StopIteration too; the caller gets it
            entry = None, None, error
        while not closed.is_set():
            try:
                ready.put(entry, timeout=_LOOKS)
                break
            except queue.Full:
                pass
        if entry[2] is not None:
            return


def _mover(device):
    """A function that begins to copy a batch, and returns one that gives it, to be called where it is used."""
    return _ByStream(device) if device.type == "cuda" else _Plainly(device)


class _Plainly:
    def __init__(self, device):
        self._device = device

    def __call__(self, batch):
        moved = {name: tensor.to(self._device) for name, tensor in batch.items()}
        return lambda: moved


class _ByStream:
    def __init__(self, device):
        import torch

        self._torch, self._device = torch, device
        self._stream = torch.cuda.Stream(device)

    def __call__(self, batch):
        torch = self._torch
        with torch.cuda.device(self._device), torch.cuda.stream(self._stream):
            # PyTorch keeps pinned memory until copies from it are done.
            moved = {name: tensor.pin_memory().to(self._device, non_blocking=True) for name, tensor in batch.items()}
            copied = self._stream.record_event()

        def arrive():
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(copied)
            for tensor in moved.values():
                tensor.record_stream(stream)  # its memory was asked for on another
            return moved

        return arrive

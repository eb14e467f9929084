"""Batches on an accelerator, copied there while the step before computes."""

import contextlib
import ctypes
import os
import queue
import sys
import threading

from .errors import ConfigError

__all__ = ["DeviceBatches"]

_AHEAD = 2  # batches on the device beyond the one that the caller has
_LOOKS = 0.1  # seconds after which the thread looks whether it is still wanted
_SLOTS = 2  # batches in pinned memory: one is written while the device reads the other
_LARGE = 64 << 10  # bytes from which a copy lets other threads of Python run

_copy = ctypes.memmove
_copy_small = ctypes.PyDLL(None).memmove  # keeps the GIL, for which threads may wait longer than such a copy takes
_copy_small.argtypes, _copy_small.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_void_p


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
        self._owner = os.getpid()
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
        entry = None
        while entry is None:
            if self._closed.is_set() or self._owner != os.getpid():
                return next(self._batches)  # which says that it was closed, or is another process's
            with contextlib.suppress(queue.Empty):
                entry = self._ready.get(timeout=_LOOKS)
        arrive, state, error = entry
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
    try:
        with move.on_this_thread():
            _move_all(batches, move, ready, closed)
    except BaseException as error:  # the device is not to be had any more; the caller gets it
        _hand_over((None, None, error), ready, closed)


def _move_all(batches, move, ready, closed):
    while not closed.is_set():
        try:
            batch = next(batches)
            entry = move(batch), batches.save(), None
        except BaseException as error:  # StopIteration too; the caller gets it
            entry = None, None, error
        _hand_over(entry, ready, closed)
        if entry[2] is not None:
            return


def _hand_over(entry, ready, closed):
    while not closed.is_set():
        try:
            ready.put(entry, timeout=_LOOKS)
            return
        except queue.Full:
            pass


def _mover(device):
    """What begins to copy a batch when it is called, and returns a function that gives the batch, to be called where it is used."""
    return _ByStream(device) if device.type == "cuda" else _Plainly(device)


class _Plainly:
    def __init__(self, device):
        self._device = device

    def on_this_thread(self):
        return contextlib.nullcontext()

    def __call__(self, batch):
        moved = {name: tensor.to(self._device) for name, tensor in batch.items()}
        return lambda: moved


class _ByStream:
    """Copies to pinned memory, and from there to the device on a stream of its own.

    cuda  what there is of torch.cuda; tests give another
    """

    def __init__(self, device, cuda=None, allocate=None):
        import torch

        self._torch, self._device = torch, device
        self._cuda = cuda or torch.cuda
        self._stream = self._cuda.Stream(device)
        self._staging = _Staging(allocate or _pinned)

    @contextlib.contextmanager
    def on_this_thread(self):
        with self._cuda.device(self._device), self._cuda.stream(self._stream):
            yield

    def __call__(self, batch):
        slot = self._staging.next_slot()
        moved = {}
        for name, tensor in batch.items():
            moved[name] = self._torch.empty(tensor.shape, dtype=tensor.dtype, device=self._device)
            moved[name].copy_(slot.staged(name, tensor), non_blocking=True)
        copied = self._cuda.Event(blocking=True)
        copied.record(self._stream)
        slot.free_after(copied)

        def arrive():
            stream = self._cuda.current_stream(self._device)
            stream.wait_event(copied)
            for tensor in moved.values():
                tensor.record_stream(stream)  # its memory was asked for on another
            return moved

        return arrive


class _Staging:
    """Pinned memory that batches go through: pinned once, and used again in turn as soon as the device has read it.

    allocate  gives so many bytes of it, as a tensor
    """

    def __init__(self, allocate):
        self._slots = [_Slot(allocate) for _ in range(_SLOTS)]
        self._next = 0

    def next_slot(self):
        """The slot for the next batch; waits until the device has read what is in it."""
        slot = self._slots[self._next]
        self._next = (self._next + 1) % len(self._slots)
        slot.wait()
        return slot


class _Slot:
    def __init__(self, allocate):
        self._allocate = allocate
        self._memory = {}  # by field
        self._read = None  # an event, after which it may be written to

    def wait(self):
        if self._read is not None:
            self._read.synchronize()
            self._read = None

    def free_after(self, event):
        self._read = event

    def staged(self, name, tensor):
        """A copy of the tensor in this slot."""
        tensor = tensor.contiguous()
        size = tensor.nbytes
        memory = self._memory.get(name)
        if memory is None or len(memory) < size:
            self._memory[name] = memory = self._allocate(max(1, size))
        # Not by PyTorch, which copies on as many threads as there are CPUs and waits for the last of them: they would take turns with
        # the threads that make the next batch.
        (_copy if size >= _LARGE else _copy_small)(memory.data_ptr(), tensor.data_ptr(), size)
        return memory[:size].view(tensor.dtype).view(tensor.shape)


def _pinned(size):
    import torch

    return torch.empty(size, dtype=torch.uint8, pin_memory=True)

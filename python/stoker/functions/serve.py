"""The worker's side: waits for requests of the engine and calls functions."""

import array
import ctypes
import gc
import mmap
import os
import select
import signal
import socket
import sys
import time
import weakref

from . import bound, values, wire

_LOOKS = 1.0  # seconds between two looks at whether the parent lives
# A generator's answer ends when it has so many bytes or elements, or after so many seconds.
_BYTES_AT_ONCE = 1 << 20
_ELEMENTS_AT_ONCE = 64
_SECONDS_AT_ONCE = 0.005
_STEP = 64 << 10


def serve(connection, functions):
    """The main function of a worker process.

    connection  the socket to the engine
    functions   those of the pipeline, of stoker.functions.bound
    """
    # What the parent does on a signal, such as to write a checkpoint, is not for its workers; Ctrl-C is for the parent alone.
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # there are as many workers as CPUs
    gc.freeze()  # what was inherited is not looked through, so that its pages stay shared
    _Worker(connection, functions).run()


class _Worker:
    def __init__(self, connection, functions):
        self._connection, self._functions = connection, functions
        self._parent = os.getppid()
        self._requests = _Requests()
        self._room = _Room()
        self._generator = self._iterator = None

    def run(self):
        _send(self._connection, b"ready", [self._requests.descriptor, self._room.descriptor])
        while (message := self._receive()) is not None:
            request = wire.Request(message)
            if request.task == wire.QUIT:
                self._end()
                return
            if request.task == wire.END:
                self._end()
                continue
            data = self._answer(request)
            try:
                _send(self._connection, data, self._requests.renewed())
            except (BrokenPipeError, ConnectionResetError):
                return

    def _receive(self):
        """The next request; None when the parent has no more, or is gone."""
        waiting = select.poll()
        waiting.register(self._connection, select.POLLIN)
        while not waiting.poll(_LOOKS * 1000):
            if os.getppid() != self._parent:
                return None
        try:
            return self._connection.recv(wire.LONGEST) or None
        except ConnectionResetError:
            return None

    def _answer(self, request):
        self._room.clear()
        outcome, row, text, elements = bound.DONE, -1, "", 0
        try:
            if request.task == wire.MAP:
                self._map(request)
                elements = 1
            elif request.task == wire.BEGIN:
                self._begin(request)
            else:
                outcome, elements = self._continue()
        except _After as stopped:
            outcome, text, elements = stopped.failed.outcome, str(stopped.failed), stopped.elements
        except bound.Failed as failed:
            outcome, row, text = failed.outcome, failed.row, str(failed)
        except (MemoryError, OSError) as error:
            outcome, text = bound.TROUBLE, f"a worker process cannot hold the arguments or results: {error}"
        except Exception as error:  # of an object that was returned, which is the user's too
            outcome, text = bound.RAISED, bound.told(error)
        if outcome not in (bound.DONE, bound.ENDED) and elements == 0:
            self._room.clear()
        fields = len(self._room.arrays) // elements if elements else 0
        return wire.answer(request.number, outcome, row, self._room.mapped_bytes, elements, fields, self._room.arrays[:elements * fields], text)

    def _map(self, request):
        memory = self._requests.memory()
        columns = [(dtype, values.array_over(memory, dtype, shape, offset)) for dtype, shape, offset in request.arrays]
        seeds = ()
        if request.seeds:
            count = max(1, request.rows)
            seeds = memoryview(memory)[request.seeds:request.seeds + 8 * count].cast("B").cast("Q").tolist()
        rows = None if request.rows < 0 else request.rows
        self._functions[request.function].call(columns, rows, seeds, self._room)

    def _begin(self, request):
        self._end()
        self._generator = self._functions[request.function]
        self._iterator = self._generator.begin(request.rows)

    def _continue(self):
        """Outcome, and how many elements it has written."""
        count, until = 0, time.monotonic() + _SECONDS_AT_ONCE
        while count < _ELEMENTS_AT_ONCE and self._room.used < _BYTES_AT_ONCE and self._room.heads < wire.LONGEST_HEADS // 2:
            placed = len(self._room.arrays)
            try:
                if not self._generator.write_next(self._iterator, self._room):
                    return bound.ENDED, count
            except bound.Failed as failed:
                del self._room.arrays[placed:]
                raise _After(count, failed) from None
            count += 1
            if time.monotonic() >= until:
                break
        return bound.DONE, count

    def _end(self):
        iterator, self._iterator = self._iterator, None
        if iterator is not None:
            try:
                bound.close(iterator)
            except Exception:  # of a generator that nobody listens to any more
                sys.excepthook(*sys.exc_info())


class _After(Exception):
    """A generator failed after it had given elements."""

    def __init__(self, elements, failed):
        self.elements, self.failed = elements, failed


class _Requests:
    """The memory that the engine writes arguments to. If a function keeps an argument, that memory is its own from then on, and the
    engine gets other."""

    def __init__(self):
        self._new_file()

    def _new_file(self):
        self.descriptor = os.memfd_create("stoker", os.MFD_CLOEXEC)
        self._mapped, self._user = None, None

    def memory(self):
        """All of it, for the arrays of one request."""
        size = os.fstat(self.descriptor).st_size
        if self._mapped is None or len(self._mapped) != size:
            self._mapped = mmap.mmap(self.descriptor, size)
        exporter = (ctypes.c_char * size).from_buffer(self._mapped)
        self._user = weakref.ref(exporter)
        return exporter

    def renewed(self):
        """After a request: the descriptor of other memory, if somebody still uses this."""
        if self._user is None or self._user() is None:
            return []
        os.close(self.descriptor)
        self._new_file()
        return [self.descriptor]


class _Room:
    """The memory that results are written to."""

    def __init__(self):
        self.descriptor = os.memfd_create("stoker", os.MFD_CLOEXEC)
        self._mapped = None
        self.clear()

    def clear(self):
        self.arrays = []  # (dtype, shape, offset)
        self.heads = 0  # bytes that a message needs to say what they are
        self.used = 0

    @property
    def mapped_bytes(self):
        """Of the memory that the engine has to map."""
        return len(self._mapped) if self._mapped is not None and self.arrays else 0

    def add(self, code, shape):
        """An array to be filled."""
        dtype = values.NUMPY_TYPES[code]
        self.heads += wire.ARRAY.size + 8 * len(shape)
        if self.heads > wire.LONGEST_HEADS:
            raise bound.Failed(bound.WRONG, "it returned too many fields for one message; some thousand can be sent")
        count = 1
        for extent in shape:
            count *= extent
        offset = self.used
        self.used += -(-max(1, count * dtype.itemsize) // wire.ALIGNMENT) * wire.ALIGNMENT
        if self._mapped is None or self.used > len(self._mapped):
            self._grow()
        self.arrays.append((code, tuple(shape), offset))
        return values.array_over(self._mapped, code, shape, offset)

    def _grow(self):
        size = -(-(self.used + self.used // 8) // _STEP) * _STEP
        # Not ftruncate: a page that the system cannot give later would end this process.
        os.posix_fallocate(self.descriptor, 0, size)
        self._mapped = mmap.mmap(self.descriptor, size)


def _send(connection, data, descriptors):
    along = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    connection.sendmsg([data], along)


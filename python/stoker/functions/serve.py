"""The worker's side: waits for requests of the engine and calls functions."""

import array
import gc
import os
import select
import signal
import socket
import sys
import threading
import time

from . import bound, values, wire
from .memory import Requests, Room
from .outcome import DONE, ENDED, RAISED, TROUBLE, Failed, told

_LOOKS = 1.0  # seconds between two looks at whether the parent lives
# A generator's answer ends when it has so many bytes or elements, or after so many seconds.
_BYTES_AT_ONCE = 1 << 20
_ELEMENTS_AT_ONCE = 64
_SECONDS_AT_ONCE = 0.005


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
    if sys.modules.get("torch") is not None:
        sys.modules["torch"].set_num_threads(1)  # there are as many workers as CPUs
    threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()
    gc.freeze()  # what was inherited is not looked through, so that its pages stay shared
    _Worker(connection, functions).run()


def _end_after(parent):
    """Ends this process when its parent is gone. A worker that waits sees that itself, and closes its generators; one that is in a
    function, which may run for ever, does not within the second look."""
    gone = 0
    while gone < 2:
        time.sleep(_LOOKS)
        gone += os.getppid() != parent
    os._exit(1)


class _Worker:
    def __init__(self, connection, functions):
        self._connection, self._functions = connection, functions
        self._parent = os.getppid()
        self._requests = Requests()
        self._room = Room()
        self._renewed = []  # descriptor of memory that takes the place of what a function keeps
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
                _send(self._connection, data, self._renewed)
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
        self._renewed = []
        outcome, row, text, elements = DONE, -1, "", 0
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
        except Failed as failed:
            outcome, row, text = failed.outcome, failed.row, str(failed)
        except (MemoryError, OSError) as error:
            outcome, text = TROUBLE, f"a worker process cannot hold the arguments or results: {error}"
        except Exception as error:  # of an object that was returned, which is the user's too
            outcome, text = RAISED, told(error)
        try:
            self._renewed = self._requests.renewed()
        except OSError as error:
            outcome, text, elements = TROUBLE, f"a worker process has no memory in place of what a function keeps: {error}", 0
        if outcome not in (DONE, ENDED) and elements == 0:
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
                    return ENDED, count
            except Failed as failed:
                del self._room.arrays[placed:]
                raise _After(count, failed) from None
            count += 1
            if time.monotonic() >= until:
                break
        return DONE, count

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


def _send(connection, data, descriptors):
    along = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    connection.sendmsg([data], along)


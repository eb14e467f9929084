"""A worker's side of the memory that it shares with the engine."""

import ctypes
import os
import weakref

from ..mapped import mapped
from . import values, wire
from .outcome import WRONG, Failed

_STEP = 64 << 10  # bytes by which memory grows


class Requests:
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
            self._mapped = mapped(self.descriptor, size)
        exporter = (ctypes.c_char * size).from_buffer(self._mapped)
        self._user = weakref.ref(exporter)
        return exporter

    def renewed(self):
        """After a request: the descriptor of other memory, if somebody still uses this."""
        if self._user is None or self._user() is None:
            return []
        kept = self.descriptor
        self._new_file()
        os.close(kept)
        return [self.descriptor]


class Room:
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
            raise Failed(WRONG, "it returned too many fields for one message; some thousand can be sent")
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
        self._mapped = mapped(self.descriptor, size)

"""Blocks of memory that one process writes and another reads in place.

The writer has an Arena: a file in memory (memfd) that blocks are cut from. The reader maps the same file. Which blocks the reader
has stands at the start of the file, a byte a block: the writer sets it when it sends the block, and the reader clears it when the
last array over the block is gone. So a block goes back and forth without a message, a copy or, after its first use, a page fault.

A memfd needs no room in /dev/shm, and the system frees it when the last process that has it is gone, however that ended.
"""

import ctypes
import itertools
import mmap
import os
import secrets
import threading
import weakref
from collections import deque

from ..mapped import give_back_pages, mapped

_MOST_BLOCKS = 1 << 16  # of one arena: bytes at the start of its file
_SWEEP = 64  # blocks that one allocation looks through for some that have come back
_KEPT_FREE = 32 << 20  # bytes of free blocks that are kept in any case
_MOST_LEASES = 1 << 14  # blocks that a process reads in place at once; a system allows some 65,000 mappings
_MOST_MAPPED = 256  # mappings that a reader keeps for the next time


def _rounded(size):
    """Up to an eighth more, in pages: a block then serves batches of nearly equal sizes."""
    step = max(mmap.PAGESIZE, 1 << max(0, size.bit_length() - 4))
    return -(-size // step) * step


class Block:
    """Memory of an arena. From its allocation until it is sent it belongs to who allocated it, or to the array over it."""

    __slots__ = ("index", "offset", "size", "length", "owned", "_memory", "_user")

    def __init__(self, index, offset, size, memory):
        self.index, self.offset, self.size, self._memory = index, offset, size, memory
        self.length = 0
        self.owned = True
        self._user = None

    def exporter(self, length):
        """Its first bytes, for one array of this process. As long as that lives the block is not used again."""
        made = (ctypes.c_char * length).from_buffer(self._memory)
        self.length, self._user, self.owned = length, weakref.ref(made), False
        return made

    def write(self, data):
        self.length = len(data)
        memoryview(self._memory).cast("B")[:self.length] = data

    @property
    def has_user(self):
        return self.owned or (self._user is not None and self._user() is not None)

    def drop(self):
        """Gives its pages back to the system."""
        give_back_pages(self._memory)


class Arena:
    """The writer's side. Thread-safe. For the process that made it: a child of fork() needs one of its own."""

    def __init__(self):
        self.key = secrets.token_bytes(16)  # by which readers know it
        self.descriptor = os.memfd_create("stoker", os.MFD_CLOEXEC)
        os.ftruncate(self.descriptor, _MOST_BLOCKS)
        self._held = mapped(self.descriptor, _MOST_BLOCKS)
        self._end = _MOST_BLOCKS
        self._indices = itertools.count()
        self._spare_indices = []
        self._free, self._free_bytes = [], 0
        self._out, self._out_bytes = deque(), 0  # sent, or with a user in this process
        self._lock = threading.Lock()

    def __del__(self):
        os.close(self.descriptor)

    def allocate(self, size):
        """Returns a block of at least `size` bytes, more than none. Raises OSError where the system has no more memory."""
        with self._lock:
            self._sweep()
            block = self._take_free(size) or self._new(_rounded(size))
            block.owned = True
            self._out.append(block)
            self._out_bytes += block.size
            return block

    def send(self, block):
        """From now on the reader decides when the block is free."""
        self._held[block.index] = 1
        block.owned = False

    def _sweep(self):
        """Finds blocks that have come back; looks through some only, since a reader may keep thousands."""
        for _ in range(min(_SWEEP, len(self._out))):
            block = self._out.popleft()
            if self._held[block.index] or block.has_user:
                self._out.append(block)
            else:
                self._free.append(block)
                self._free_bytes += block.size
                self._out_bytes -= block.size

    def _take_free(self, size):
        fitting = [block for block in self._free if size <= block.size <= 2 * size + mmap.PAGESIZE]
        if not fitting:
            return None
        block = min(fitting, key=lambda each: each.size)
        self._free.remove(block)
        self._free_bytes -= block.size
        return block

    def _new(self, size):
        self._trim()
        index = self._spare_indices.pop() if self._spare_indices else next(self._indices)
        if index >= _MOST_BLOCKS:
            raise OSError(f"{_MOST_BLOCKS} arrays of this worker are still in use; keep fewer batches, or larger ones")
        os.ftruncate(self.descriptor, self._end + size)
        block = Block(index, self._end, size, mapped(self.descriptor, size, self._end))
        self._end += size
        return block

    def _trim(self):
        """Sizes have changed: of free blocks only as much is kept as is in use."""
        while self._free and self._free_bytes > max(self._out_bytes, _KEPT_FREE):
            block = self._free.pop(0)
            self._free_bytes -= block.size
            self._spare_indices.append(block.index)
            block.drop()


class Reader:
    """The reader's side of one arena. For one thread at a time; what it gives may be freed on any thread."""

    _leases = {}  # of all readers of the process, by id: weak references that give a block back

    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._held = mapped(descriptor, _MOST_BLOCKS)
        self._mapped = {}  # (offset, size): memory, the least recently used first

    def __del__(self):
        os.close(self._descriptor)

    def open(self, index, offset, size, length):
        """Returns an exporter of the first `length` bytes of a block, which is the writer's again when all who use it are gone."""
        if len(self._leases) >= _MOST_LEASES:
            return self._copy(index, offset, length)
        exporter = (ctypes.c_char * length).from_buffer(self._map(offset, size))
        held, leases = self._held, self._leases

        def give_back(lease):
            del leases[id(lease)]
            held[index] = 0

        lease = weakref.ref(exporter, give_back)
        leases[id(lease)] = lease
        return exporter

    def _map(self, offset, size):
        memory = self._mapped.pop((offset, size), None)
        if memory is None:
            memory = mapped(self._descriptor, size, offset)
            if len(self._mapped) >= _MOST_MAPPED:
                del self._mapped[next(iter(self._mapped))]
        self._mapped[offset, size] = memory
        return memory

    def _copy(self, index, offset, length):
        copy = bytearray(length)
        done = 0
        while done < length:
            done += os.preadv(self._descriptor, [memoryview(copy)[done:]], offset + done)
        self._held[index] = 0
        return copy


# The child of a fork has the parent's arrays, and giving their blocks back is for the parent.
os.register_at_fork(after_in_child=Reader._leases.clear)

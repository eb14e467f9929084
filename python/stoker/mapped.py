"""Memory of a file. Python's mmap keeps a descriptor for each mapping, of which a process may have few; these keep none."""

import ctypes
import os
import weakref

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_READ_AND_WRITE, _SHARED, _REMOVE = 3, 1, 9  # of <sys/mman.h>
_FAILED = ctypes.c_void_p(-1).value


def mapped(descriptor, size, offset=0):
    """The file's bytes as an array of ctypes, mapped until nobody has it any more. Raises OSError."""
    address = _libc.mmap(None, size, _READ_AND_WRITE, _SHARED, descriptor, offset)
    if address == _FAILED:
        raise OSError(ctypes.get_errno(), f"{size} bytes cannot be mapped: {os.strerror(ctypes.get_errno())}")
    memory = (ctypes.c_ubyte * size).from_address(address)
    weakref.finalize(memory, _libc.munmap, address, size).atexit = False
    return memory


def give_back_pages(memory):
    """Gives the pages of such memory back to the system, with what they hold."""
    _libc.madvise(ctypes.addressof(memory), len(memory), _REMOVE)

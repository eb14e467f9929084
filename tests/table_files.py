"""Small Parquet and Arrow files, which Apache Arrow's own writers write, in the plug-in that unit tests use too."""
import ctypes
import os

from program import STOKER

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(STOKER)), "libstoker_arrow_testing.so")
PARQUET, ARROW, STREAM = range(3)


def have_tables():
    """Whether Stoker was built with Apache Arrow."""
    return os.path.exists(LIBRARY)


def write_table(path, kind, columns, group_rows=1 << 20, compression="none"):
    """columns: {name: (type, values as JSON)}; arrow_testing_internal.h has the types and compressions."""
    write = ctypes.CDLL(LIBRARY).StokerWriteTestFile
    write.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_char_p]
    lines = "".join(f"{name}|{of}|{values}\n" for name, (of, values) in columns.items())
    assert write(kind, os.fsencode(path), lines.encode(), group_rows, compression.encode()) == 0, path

"""Writes NumPy's files without NumPy, for benchmarks that make their own data."""
import struct


def write_npy(path, kind, shape, values):
    """kind: as "<f4"; values: an array of the module array, rows one after the other."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(values.tobytes())

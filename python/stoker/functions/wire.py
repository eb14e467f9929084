"""The messages between the engine and a worker, as python/module/worker_channel.h has them."""

import struct

MAP, BEGIN, CONTINUE, END, QUIT = 1, 2, 3, 4, 5  # tasks

REQUEST = struct.Struct("=IIqQII")  # task, function, rows, offset of the seeds, arrays, number
ARRAY = struct.Struct("=IIQ")  # dtype, dimensions, offset; the extents follow
ANSWER = struct.Struct("=IIqQII")  # outcome, number of the request, row, bytes of the memory, elements, fields of each
LONGEST = 128 << 10  # bytes of a message
LONGEST_TEXT = 32 << 10
LONGEST_HEADS = LONGEST - LONGEST_TEXT - 1024  # bytes that say what the arrays of an answer are
ALIGNMENT = 64


class Request:
    def __init__(self, message):
        self.task, self.function, self.rows, self.seeds, count, self.number = REQUEST.unpack_from(message)
        self.arrays = []  # (dtype, shape, offset)
        at = REQUEST.size
        for _ in range(count):
            dtype, dimensions, offset = ARRAY.unpack_from(message, at)
            at += ARRAY.size
            self.arrays.append((dtype, struct.unpack_from(f"={dimensions}q", message, at), offset))
            at += 8 * dimensions


def answer(number, outcome, row, size, elements, fields, arrays, text=""):
    parts = [ANSWER.pack(outcome, number, row, size, elements, fields)]
    for dtype, shape, offset in arrays:
        parts += ARRAY.pack(dtype, len(shape), offset), struct.pack(f"={len(shape)}q", *shape)
    return b"".join((*parts, _cut(text)))


def _cut(text):
    """The beginning of a text that is too long, whole characters only."""
    data = text.encode("utf-8", "replace")
    return data if len(data) <= LONGEST_TEXT else data[:LONGEST_TEXT].decode("utf-8", "ignore").encode() + b"..."

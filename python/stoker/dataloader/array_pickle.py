"""Pickles whose large arrays lie in shared blocks.

Tensors of PyTorch and arrays of NumPy from 16 KiB on are written into blocks, or already lie there if `new_tensor` made them. Other
objects are pickled as multiprocessing does, with what PyTorch has registered for it (sparse tensors, tensors of devices).
"""

import io
import os
import pickle
from multiprocessing.reduction import ForkingPickler

import torch

from .shared_blocks import Arena

_LEAST = 16 << 10  # bytes: below this a block costs more than a copy
MOST_BLOCKS = 256  # of one pickle, so that their places fit into a message; further arrays are pickled with the rest

_arena = None  # of this process
_arena_owner = None
_made = {}  # address: the block of a tensor that new_tensor made and that was not yet sent


def arena():
    """The arena that this process writes to."""
    global _arena, _arena_owner
    if _arena_owner != os.getpid():
        _made.clear()
        _arena, _arena_owner = Arena(), os.getpid()
    return _arena


def new_tensor(shape, dtype):
    """A tensor whose values are not set, in a block if it is large: then it is sent without a copy."""
    size = torch.Size(shape).numel() * dtype.itemsize
    if size < _LEAST:
        return torch.empty(shape, dtype=dtype)
    block = arena().allocate(size)
    tensor = torch.frombuffer(block.exporter(size), dtype=dtype).view(shape)
    _made[tensor.data_ptr()] = block
    return tensor


def dumps(value):
    """Returns the pickle and the blocks that hold its large arrays."""
    stream, placer = io.BytesIO(), _Placer()
    try:
        _Pickler(stream, placer).dump(value)
    except BaseException:
        for block in placer.blocks:
            block.owned = False
        raise
    return stream.getbuffer(), placer.blocks


def loads(data, exporters):
    """The value; `exporters` are the memory of its blocks, in order."""
    return pickle.loads(data, buffers=exporters)


class _Placer:
    """Puts the buffers of one pickle into blocks. Apart from the pickler, which must not refer to itself: what it has pickled would
    stay until the next collection of garbage."""

    def __init__(self):
        self.blocks = []
        self._standing = {}  # id of a PickleBuffer that stands for a block: both

    def stand_for(self, block):
        """A buffer for a block that is already filled."""
        buffer = pickle.PickleBuffer(bytearray())
        self._standing[id(buffer)] = buffer, block
        return buffer

    def take(self, buffer):
        """Whether the buffer goes into the pickle itself; otherwise puts it into a block."""
        _, block = self._standing.get(id(buffer), (None, None))
        if block is None:
            raw = buffer.raw()
            if raw.nbytes < _LEAST or len(self.blocks) >= MOST_BLOCKS:
                return True
            block = arena().allocate(raw.nbytes)
            block.write(raw)
        self.blocks.append(block)
        return False


class _Pickler(ForkingPickler):
    def __init__(self, stream, placer):
        super().__init__(stream, 5, True, placer.take)
        self._placer = placer

    def reducer_override(self, value):
        if type(value) is not torch.Tensor or not _is_plain(value):
            return NotImplemented
        return _tensor, (self._buffer_of(value), value.dtype, tuple(value.shape))

    def _buffer_of(self, tensor):
        if tensor.numel() == 0:
            return b""
        block = _made.get(tensor.data_ptr())
        few = len(self._placer.blocks) < MOST_BLOCKS
        if block is not None and few and block.length == tensor.nbytes and tensor.is_contiguous():
            del _made[tensor.data_ptr()]
            return self._placer.stand_for(block)
        return pickle.PickleBuffer(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy())


def _is_plain(tensor):
    """Whether values, shape and dtype are all there is to it."""
    return (tensor.layout is torch.strided and tensor.device.type == "cpu" and not tensor.requires_grad and not tensor.is_nested
            and not tensor.is_quantized and not tensor.is_conj() and not tensor.is_neg() and not tensor.__dict__)


def _tensor(buffer, dtype, shape):
    if len(memoryview(buffer)) == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(buffer, dtype=dtype).view(shape)

"""default_collate of PyTorch, which in a worker stacks large samples straight into the memory that the trainer reads."""

import torch
from torch.utils.data import default_collate, get_worker_info
from torch.utils.data._utils import collate as of_torch

from . import array_pickle

try:
    import numpy
except ImportError:
    numpy = None


def collate(batch):
    """Makes one batch of a list of samples: tensors, arrays, numbers, texts, and tuples, lists and dicts of these."""
    if get_worker_info() is None:
        return default_collate(batch)
    return of_torch.collate(batch, collate_fn_map=_functions())


def _functions():
    """What PyTorch collates each type with, and ours where nobody has put in another for tensors or arrays."""
    functions = dict(of_torch.default_collate_fn_map)
    for kind, theirs, ours in _REPLACED:
        if functions.get(kind) is theirs:
            functions[kind] = ours
    return functions


def _stack_tensors(batch, *, collate_fn_map=None):
    first = batch[0]
    plain = all(type(each) is torch.Tensor and not each.requires_grad for each in batch)
    if not plain or first.layout is not torch.strided or first.device.type != "cpu" or first.is_nested or first.is_quantized:
        return of_torch.collate_tensor_fn(batch, collate_fn_map=collate_fn_map)
    return torch.stack(batch, out=array_pickle.new_tensor((len(batch), *first.shape), first.dtype))


def _stack_arrays(batch, *, collate_fn_map=None):
    first = batch[0]
    alike = first.ndim > 0 and all(
        type(each) is numpy.ndarray and each.shape == first.shape and each.dtype is first.dtype for each in batch
    )
    if not alike or not first.dtype.isnative or first.dtype.kind not in "biuf":
        return of_torch.collate_numpy_array_fn(batch, collate_fn_map=collate_fn_map)
    stacked = array_pickle.new_tensor((len(batch), *first.shape), torch.from_numpy(numpy.empty(0, first.dtype)).dtype)
    # Rows one after another are rows stacked; concatenate does it without making an object of each.
    numpy.concatenate(batch, out=stacked.numpy().reshape(len(batch) * first.shape[0], *first.shape[1:]))
    return stacked


def _stack_scalars(batch, *, collate_fn_map=None):
    kind = type(batch[0])
    if not issubclass(kind, (numpy.bool_, numpy.number)) or any(type(each) is not kind for each in batch):
        return of_torch.collate_numpy_scalar_fn(batch, collate_fn_map=collate_fn_map)
    return torch.from_numpy(numpy.array(batch))


_REPLACED = [(torch.Tensor, of_torch.collate_tensor_fn, _stack_tensors)]
if numpy is not None:
    _REPLACED += [
        (numpy.ndarray, of_torch.collate_numpy_array_fn, _stack_arrays),
        ((numpy.bool_, numpy.number, numpy.object_), of_torch.collate_numpy_scalar_fn, _stack_scalars),
    ]

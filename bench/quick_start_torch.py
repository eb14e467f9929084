"""The quick start's data and model in plain PyTorch, for the peers that train it."""
import gzip

import numpy
import torch
from torch import nn


def read(folder, name, header):
    """The bytes of an IDX file behind its header; folder: a pathlib.Path."""
    with gzip.open(folder / f"{name}.gz") as file:
        return torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8, offset=header).copy())


def read_part(folder, name):
    """(images, labels) of "train" or "t10k"."""
    return (read(folder, f"{name}-images-idx3-ubyte", 16).view(-1, 1, 28, 28),
            read(folder, f"{name}-labels-idx1-ubyte", 8).long())


def prepare(pixels):
    return ((pixels.float() / 255 - 0.286) / 0.353).contiguous(memory_format=torch.channels_last)


def block(channels, filters):
    return [nn.Conv2d(channels, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters), nn.ReLU(inplace=True), nn.MaxPool2d(2)]


def make_model():
    layers = [*block(1, 16), *block(16, 32), *block(32, 32), nn.Flatten(), nn.Linear(288, 10)]
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)

"""What the examples share: batches of Fashion-MNIST, and a small model."""

import os

import stoker as sk

# Debian's package dataset-fashion-mnist, which ./dev setup installs.
DATA = os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist")


def batches(size=128):
    """Normalised images float32 [size, 1, 28, 28] and labels of the training data, shuffled."""
    return (
        sk.idx(images=f"{DATA}/train-images-idx3-ubyte.gz", labels=f"{DATA}/train-labels-idx1-ubyte.gz")
        | sk.shuffle()
        | sk.random_flip()
        | sk.normalize(mean=0.286, std=0.353)
        | sk.cast("int64", field="label")
        | sk.batch(size, drop_remainder=True)
        | sk.prefetch()
    )


def model():
    import torch

    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))

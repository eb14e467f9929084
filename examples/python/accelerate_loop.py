"""Accelerate with a dataset in Python: `prepare` builds a loader of its own, whose batches still come through our queues.

Run: accelerate launch accelerate_loop.py, or this file by itself.
"""

import argparse

import torch
from accelerate import Accelerator

import fashion
from stoker import DataLoader


class Noise(torch.utils.data.Dataset):
    """Any dataset of PyTorch."""

    def __len__(self):
        return 4096

    def __getitem__(self, number):
        return torch.full((1, 28, 28), number / 4096), number % 10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=1)
    given = parser.parse_args()
    accelerator = Accelerator()
    model = fashion.model()
    loader = DataLoader(Noise(), batch_size=64, shuffle=True, num_workers=2, persistent_workers=True)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), loader)
    for epoch in range(given.epochs):
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        accelerator.print(f"epoch {epoch}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()

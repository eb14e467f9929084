#!/usr/bin/env python3
"""Trains a model of no work (one layer of one input and two scores, SGD, batches of one sample, one thread), STEPS steps.

The peer of bench/loop. HOW is `plain` (a loop over batches that are in memory already), `loader` (a loop over a DataLoader)
or `lightning` (Lightning's Trainer over that DataLoader, without logger, bar and checkpoints). Prints one JSON line.
usage: loop_torch.py HOW STEPS
"""
import json
import sys
import time
import warnings

import torch
from torch.nn.functional import cross_entropy

HOW, STEPS = sys.argv[1], int(sys.argv[2])


def make_model():
    return torch.nn.Linear(1, 2)


def make_data():
    label = torch.arange(STEPS) % 2
    return torch.utils.data.TensorDataset((1.0 - 2.0 * label).unsqueeze(1), label)


def train_loop(batches):
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    start = time.perf_counter()
    for image, label in batches:
        optimizer.zero_grad()
        loss = cross_entropy(model(image), label)
        loss.backward()
        optimizer.step()
        loss.item()  # what a loop that watches its loss does
    return time.perf_counter() - start


def train_lightning():
    import logging
    import lightning

    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = make_model()

        def training_step(self, batch, _):
            image, label = batch
            return cross_entropy(self.model(image), label)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

        def on_train_start(self):
            self.start = time.perf_counter()

        def on_train_end(self):
            self.seconds = time.perf_counter() - self.start

    module = Module()
    trainer = lightning.Trainer(accelerator="cpu", max_epochs=1, logger=False, enable_progress_bar=False,
                                enable_checkpointing=False, enable_model_summary=False)
    trainer.fit(module, torch.utils.data.DataLoader(make_data(), 1))
    return module.seconds


def main():
    torch.set_num_threads(1)
    data = make_data()
    if HOW == "lightning":
        seconds = train_lightning()
    elif HOW == "loader":
        seconds = train_loop(torch.utils.data.DataLoader(data, 1))
    else:
        seconds = train_loop([(image.unsqueeze(0), label.unsqueeze(0)) for image, label in data])
    print(json.dumps({"us_a_step": seconds * 1e6 / STEPS}))


main()

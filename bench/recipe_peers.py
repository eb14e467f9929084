"""What the peers of bench/table_recipes share: which rows are whose, and a training loop of plain PyTorch."""
import csv
import json
import os
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin take half a minute for a second's work on busy CPUs

import numpy


def read(path, predictions):
    """The rows of the table, and which of them are for evaluation: those that the lines of `stoker predict` name by `index`."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    evaluated = numpy.zeros(len(rows), bool)
    with open(predictions, encoding="utf-8") as file:
        evaluated[[json.loads(line)["index"] for line in file]] = True
    return rows, evaluated


def train(model, loss_of, evaluated, *, batch, epochs, rate, decay):
    """Trains on the other rows in whole batches, with AdamW and one cycle; loss_of(rows) is the loss of a batch. Returns the seconds,
    and leaves the model ready to predict."""
    import torch
    chosen = torch.from_numpy(numpy.flatnonzero(~evaluated))
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=len(chosen) // batch * epochs)
    begin = time.perf_counter()
    for _ in range(epochs):
        for rows in chosen[torch.randperm(len(chosen))].split(batch):
            if len(rows) < batch:
                break
            optimizer.zero_grad()
            loss_of(rows).backward()
            optimizer.step()
            schedule.step()
    seconds = time.perf_counter() - begin
    model.eval()
    return seconds

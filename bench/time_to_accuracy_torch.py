#!/usr/bin/env python3
"""Trains the quick start's model in plain PyTorch until an evaluation, one every 50 steps, first shows 0.91 on Fashion-MNIST.

The peer of bench/time_to_accuracy, and fixed: AdamW (weight decay 0.01) under OneCycleLR to 0.008 over 5 epochs of batches of
128, channels last, all data in memory as bytes and normalised batch by batch, the loop that is written by hand. Prints one JSON
line: the step and the seconds of training up to there, evaluations not counted; null for both where 0.91 is not reached.
usage: time_to_accuracy_torch.py SEED [DATA, default /usr/share/datasets/fashion-mnist]
"""
import json
import pathlib
import sys
import time

import torch
from torch.nn.functional import cross_entropy

from quick_start_torch import make_model, prepare, read_part

WANTED, EVERY, EPOCHS, BATCH = 0.91, 50, 5, 128
SEED = int(sys.argv[1])
DATA = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "/usr/share/datasets/fashion-mnist")


def accuracy(model, images, labels):
    model.eval()
    with torch.inference_mode():
        right = sum((model(prepare(x)).argmax(1) == y).sum().item() for x, y in zip(images.split(1000), labels.split(1000)))
    model.train()
    return right / len(labels)


def main():
    torch.manual_seed(SEED)
    (images, labels), held_out = read_part(DATA, "train"), read_part(DATA, "t10k")
    model = make_model()
    steps = len(images) // BATCH * EPOCHS
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.008, total_steps=steps)
    seconds, step = 0.0, 0
    for _ in range(EPOCHS):
        began = time.perf_counter()
        for chosen in torch.randperm(len(images)).split(BATCH):
            if len(chosen) < BATCH:
                break
            optimizer.zero_grad()
            cross_entropy(model(prepare(images[chosen])), labels[chosen]).backward()
            optimizer.step()
            schedule.step()
            step += 1
            if step % EVERY == 0:
                seconds += time.perf_counter() - began
                if accuracy(model, *held_out) >= WANTED:
                    return {"step": step, "train_seconds": seconds}
                began = time.perf_counter()
        seconds += time.perf_counter() - began
    return {"step": None, "train_seconds": None}


print(json.dumps(main()))

#!/usr/bin/env python3
"""Trains the quick start's model in plain PyTorch until an evaluation, one every 50 steps, first shows 0.91 on Fashion-MNIST.

The peer of bench/time_to_accuracy, and fixed: AdamW (weight decay 0.01) under OneCycleLR to 0.008 over 5 epochs of batches of
128, channels last, all data in memory as bytes and normalised batch by batch, the loop that is written by hand. Prints one JSON
line: the step and the seconds of training up to there, evaluations not counted; null for both where 0.91 is not reached.
usage: time_to_accuracy_torch.py SEED [DATA, default /usr/share/datasets/fashion-mnist]
"""
import gzip
import json
import pathlib
import sys
import time

import numpy
import torch
from torch import nn
from torch.nn.functional import cross_entropy

WANTED, EVERY, EPOCHS, BATCH = 0.91, 50, 5, 128
SEED = int(sys.argv[1])
DATA = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "/usr/share/datasets/fashion-mnist")


def read(name, header):
    with gzip.open(DATA / f"{name}.gz") as file:
        return torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8, offset=header).copy())


def read_part(name):
    return read(f"{name}-images-idx3-ubyte", 16).view(-1, 1, 28, 28), read(f"{name}-labels-idx1-ubyte", 8).long()


def prepare(pixels):
    return ((pixels.float() / 255 - 0.286) / 0.353).contiguous(memory_format=torch.channels_last)


def block(channels, filters):
    return [nn.Conv2d(channels, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters), nn.ReLU(inplace=True), nn.MaxPool2d(2)]


def make_model():
    layers = [*block(1, 16), *block(16, 32), *block(32, 32), nn.Flatten(), nn.Linear(288, 10)]
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)


def accuracy(model, images, labels):
    model.eval()
    with torch.inference_mode():
        right = sum((model(prepare(x)).argmax(1) == y).sum().item() for x, y in zip(images.split(1000), labels.split(1000)))
    model.train()
    return right / len(labels)


def main():
    torch.manual_seed(SEED)
    (images, labels), held_out = read_part("train"), read_part("t10k")
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

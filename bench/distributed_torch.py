#!/usr/bin/env python3
"""Trains the quick start's model with DistributedDataParallel over Gloo: the loop that is written by hand.

The peer of bench/distributed. RANKS processes of one thread each share batches of 128; AdamW (weight decay 0.01) under OneCycleLR to
0.008, channels last, all images in memory as bytes and normalised batch by batch. Prints one JSON line: images a second of all ranks.
usage: distributed_torch.py RANKS EPOCHS [DATA, default /usr/share/datasets/fashion-mnist]
"""
import json
import os
import pathlib
import socket
import sys
import time

import torch
from torch import distributed, multiprocessing, nn
from torch.nn.functional import cross_entropy

from quick_start_torch import make_model, prepare, read_part

BATCH = 128


def train(rank, ranks, epochs, folder):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", rank=rank, world_size=ranks)
    images, labels = read_part(folder, "train")
    torch.manual_seed(1)
    model = nn.parallel.DistributedDataParallel(make_model(), gradient_as_bucket_view=True)
    steps = len(images) // BATCH * epochs
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.008, total_steps=steps)
    mine = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
    distributed.barrier()
    start = time.perf_counter()
    for _ in range(epochs):
        order = torch.randperm(len(images))  # the same on all ranks, which have the same seed
        for batch in order[:len(order) // BATCH * BATCH].split(BATCH):
            rows = batch[mine]
            optimizer.zero_grad()
            cross_entropy(model(prepare(images[rows])), labels[rows]).backward()
            optimizer.step()
            schedule.step()
    distributed.barrier()
    if rank == 0:
        print(json.dumps({"images_per_s": steps * BATCH / (time.perf_counter() - start)}))
    distributed.destroy_process_group()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


if __name__ == "__main__":
    data = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else "/usr/share/datasets/fashion-mnist")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), GLOO_SOCKET_IFNAME="lo")
    multiprocessing.spawn(train, (int(sys.argv[1]), int(sys.argv[2]), data), nprocs=int(sys.argv[1]))

#!/usr/bin/env python3
"""Reads the files FOLDER/*.bin through PyTorch's DataLoader with 2 workers, shuffled, in batches of 64, for SECONDS.

The peer of bench/small_files. Prints one JSON line.   usage: small_files_torch.py FOLDER SECONDS
"""
import glob
import json
import sys
import time

import torch

FOLDER, SECONDS = sys.argv[1], float(sys.argv[2])
WARM_UP_S = 1


class Files(torch.utils.data.Dataset):
    def __init__(self):
        self.paths = sorted(glob.glob(FOLDER + "/*.bin"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with open(self.paths[i], "rb") as file:
            return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)


def batches(loader):
    while True:
        yield from loader


def main():
    loader = torch.utils.data.DataLoader(Files(), 64, shuffle=True, num_workers=2, persistent_workers=True)
    feed = batches(loader)
    end = time.monotonic() + WARM_UP_S
    while time.monotonic() < end:
        next(feed)
    files, start = 0, time.monotonic()
    while time.monotonic() < start + SECONDS:
        files += len(next(feed))
    print(json.dumps({"samples_per_s": files / (time.monotonic() - start)}))


main()

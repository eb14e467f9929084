#!/usr/bin/env python3
"""Trains one recurrent layer over sequences of differing length in plain PyTorch, as tutorials do: the peer of bench/sequences.

A Dataset in memory behind a DataLoader, pad_sequence, nn.Embedding of 64 values, nn.LSTM or nn.GRU of 64 units, a linear layer over the
last state, Adam, batches of 32. HOW is `packed` (pack_padded_sequence) or `masked` (the output of the last token, as gathered from
all). Prints one JSON line: sequences a second of EPOCHS epochs.
usage: sequences_torch.py FILE lstm|gru HOW THREADS EPOCHS
"""
import json
import pathlib
import sys
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

TOKENS, WIDTH, UNITS, BATCH = 20000, 64, 64, 32
FILE, KIND, HOW, THREADS, EPOCHS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.vectors = nn.Embedding(TOKENS, WIDTH)
        self.cells = (nn.LSTM if KIND == "lstm" else nn.GRU)(WIDTH, UNITS, batch_first=True)
        self.scores = nn.Linear(UNITS, 2)

    def forward(self, tokens, lengths):
        vectors = self.vectors(tokens)
        if HOW == "packed":
            _, state = self.cells(pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False))
            return self.scores((state[0] if KIND == "lstm" else state)[-1])
        output, _ = self.cells(vectors)
        return self.scores(output[torch.arange(len(lengths)), lengths - 1])


def collate(samples):
    lengths = torch.tensor([len(tokens) for tokens, _ in samples])
    return pad_sequence([tokens for tokens, _ in samples], batch_first=True), lengths, torch.tensor([label for _, label in samples])


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    rows = [json.loads(line) for line in pathlib.Path(FILE).read_text().splitlines()]
    samples = [(torch.tensor(row["tokens"]), row["label"]) for row in rows]
    loader = torch.utils.data.DataLoader(samples, BATCH, shuffle=True, collate_fn=collate)
    model = Network()
    optimizer = torch.optim.Adam(model.parameters())
    start = time.perf_counter()
    for _ in range(EPOCHS):
        for tokens, lengths, labels in loader:
            optimizer.zero_grad()
            cross_entropy(model(tokens, lengths), labels).backward()
            optimizer.step()
    print(json.dumps({"sequences_per_s": EPOCHS * len(samples) / (time.perf_counter() - start)}))


main()

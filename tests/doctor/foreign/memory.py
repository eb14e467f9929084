# planted: each step makes large arrays anew
# verdict: memory

import rate
import numpy as np
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()


def step(x, y):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


sums = np.empty((8192, 8192), dtype=np.float32)


def features(index):
    sums = np.empty((8192, 8192), dtype=np.float32)
    sums[:, ::1024] = index
    return torch.from_numpy(sums[:64, :256].copy())


def main():
    index = 0
    while rate.more(64):
        index += 1
        step(features(index), torch.arange(64) % 10)


if __name__ == "__main__":
    main()

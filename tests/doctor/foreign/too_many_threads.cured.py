# cured: sixteen threads compute, whatever the machine has
# verdict: threads
import os

import rate
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()


def step(x, y):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


torch.set_num_threads(len(os.sched_getaffinity(0)))
data = torch.randn(64, 256), torch.arange(64) % 10


def main():
    while rate.more(64):
        step(*data)


if __name__ == "__main__":
    main()

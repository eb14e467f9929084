# cured: an evaluation of all data after every fifth step
# verdict: evaluation

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


x, y = torch.randn(8192, 256), torch.arange(8192) % 10


def evaluate():
    right = 0
    with torch.no_grad():
        for begin in range(0, len(x), 64):
            right += int((model(x[begin:begin + 64]).argmax(1) == y[begin:begin + 64]).sum())
    return right / len(x)


def main():
    number = 0
    while rate.more(64):
        begin = number * 64 % len(x)
        step(x[begin:begin + 64], y[begin:begin + 64])
        number += 1
        if number % 50 == 0:
            evaluate()


if __name__ == "__main__":
    main()

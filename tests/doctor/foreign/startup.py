# planted: data are parsed from text each time, before a short training
# verdict: startup
import tempfile

import rate
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()


def step(x, y):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss



def rows(count):
    return [" ".join(str(i * j % 97) for j in range(256)) for i in range(count)]


def prepare(lines):
    parsed = []
    for line in lines:
        parsed.append([float(word) / 97 for word in line.split()])
    return torch.tensor(parsed)


def main():
    x = prepare(rows(120000))
    y = torch.arange(len(x)) % 10
    for number in range(1500):
        begin = number * 64 % 50000
        step(x[begin:begin + 64], y[begin:begin + 64])
        rate.more(64)


if __name__ == "__main__":
    main()

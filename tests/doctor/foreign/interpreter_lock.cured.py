# cured: threads of one process make samples in plain Python
# verdict: python
from concurrent.futures import ProcessPoolExecutor

import rate
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()


def step(x, y):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss



def make(index):
    total = 0
    for i in range(60000):
        total = (total * 31 + i + index) % 1000003
    return torch.full((256,), total / 1000003)


def main():
    y = torch.arange(16) % 10
    with ProcessPoolExecutor(2) as pool:
        number = 0
        while rate.more(16):
            futures = [pool.submit(make, number + i) for i in range(16)]
            step(torch.stack([each.result() for each in futures]), y)
            number += 16


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()

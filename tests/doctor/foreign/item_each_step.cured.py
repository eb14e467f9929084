import rate
import time
import numpy as np
import torch
from torch import nn

WIDTH, DEPTH, BATCH = 2048, 12, 2048
layers = [module for _ in range(DEPTH) for module in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()
x = torch.randn(BATCH, WIDTH, device="cuda")
y = torch.randint(10, (BATCH,), device="cuda")
values = np.random.default_rng(1).standard_normal(1 << 14)


def step():
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def seconds_of_a_step():
    step().item()
    begin = time.perf_counter()
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / 5


def host_work(seconds):
    """As much as the GPU has to do, such as the next batch."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        np.sort(values)


def main():
    work = seconds_of_a_step()
    rate.begin()
    total = torch.zeros((), device="cuda")
    steps = 0
    while rate.more(BATCH):
        total += step().detach()
        host_work(work)
        steps += 1
        if steps % 50 == 0:
            torch.cuda.synchronize()  # so that steps are counted when they are done
    print(total.item())


if __name__ == "__main__":
    main()

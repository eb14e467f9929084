# planted: each step writes all weights into a log and flushes it
# verdict: logging
import json
import tempfile

import rate
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()


def step(x, y):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


log = tempfile.TemporaryFile("w")
x, y = torch.randn(64, 256), torch.arange(64) % 10


def log_step(number, loss):
    log.seek(0)
    weights = [each.flatten()[:4096].tolist() for each in model.parameters()]
    log.write(json.dumps({"step": number, "loss": loss.item(), "weights": weights}))
    log.flush()


def main():
    number = 0
    while rate.more(64):
        loss = step(x, y)
        number += 1
        if number % 1 == 0:
            log_step(number, loss)


if __name__ == "__main__":
    main()

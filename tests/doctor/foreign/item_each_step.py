# planted: each step asks the GPU for its loss and for the norm of each gradient, one by one
# verdict: synchronization
# needs: gpu

import rate
import torch
from torch import nn

WIDTH, DEPTH, BATCH = 1024, 12, 1024
layers = [nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)]
model = nn.Sequential(*[module for layer in layers for module in (layer, nn.ReLU())], nn.Linear(WIDTH, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loss_of = nn.CrossEntropyLoss()
x = torch.randn(BATCH, WIDTH, device="cuda")
y = torch.randint(10, (BATCH,), device="cuda")


def main():
    rate.begin()
    total, norms = 0.0, 0.0
    while rate.more(BATCH):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        for parameter in model.parameters():
            norms += parameter.grad.norm().item()
        optimizer.step()
        total += loss.item()
    print(total, norms)


if __name__ == "__main__":
    main()

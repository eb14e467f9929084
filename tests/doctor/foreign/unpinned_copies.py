# planted: batches lie in ordinary memory, and each step waits until its batch has been copied to the GPU
# verdict: copy
# needs: gpu

import rate
import torch
from torch import nn

BATCH = 256
model = nn.Sequential(nn.Conv2d(3, 32, 7, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()
batches = [(torch.randn(BATCH, 3, 224, 224), torch.randint(10, (BATCH,))) for _ in range(8)]


def main():
    rate.begin()
    steps = 0
    while rate.more(BATCH):
        x, y = batches[steps % len(batches)]
        x, y = x.to("cuda"), y.to("cuda")
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        steps += 1
        if steps % 50 == 0:
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()

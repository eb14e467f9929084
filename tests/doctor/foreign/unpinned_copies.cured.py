import rate
import torch
from torch import nn

BATCH = 256
model = nn.Sequential(nn.Conv2d(3, 32, 7, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()
batches = [(torch.randn(BATCH, 3, 224, 224).pin_memory(), torch.randint(10, (BATCH,)).pin_memory()) for _ in range(8)]


def main():
    rate.begin()
    steps = 0
    while rate.more(BATCH):
        x, y = batches[steps % len(batches)]
        x, y = x.to("cuda", non_blocking=True), y.to("cuda", non_blocking=True)
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        steps += 1
        if steps % 50 == 0:
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()

# planted: a network of convolutions in float32, in the order of channels that its kernels do not like
# verdict: compute
# needs: gpu

import rate
import torch
from torch import nn

BATCH, WIDTH = 128, 256
torch.backends.cudnn.allow_tf32 = False
blocks = [module for _ in range(6) for module in (nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.BatchNorm2d(WIDTH), nn.ReLU())]
model = nn.Sequential(nn.Conv2d(3, WIDTH, 3, padding=1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(WIDTH, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()
x = torch.randn(BATCH, 3, 32, 32, device="cuda")
y = torch.randint(10, (BATCH,), device="cuda")


def main():
    rate.begin()
    steps = 0
    while rate.more(BATCH):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        steps += 1
        if steps % 10 == 0:
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()

import rate
import torch
from torch import nn

WIDTH, DEPTH, BATCH = 128, 24, 64
layers = [module for _ in range(DEPTH) for module in (nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()
model = torch.cuda.make_graphed_callables(model, (torch.randn(BATCH, WIDTH, device="cuda"),))
x = torch.randn(BATCH, WIDTH, device="cuda")
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
        if steps % 50 == 0:
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()

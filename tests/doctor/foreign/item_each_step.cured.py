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
    total, norms = torch.zeros((), device="cuda"), torch.zeros((), device="cuda")
    steps = 0
    while rate.more(BATCH):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        norms += sum(torch._foreach_norm([parameter.grad for parameter in model.parameters()]))
        optimizer.step()
        total += loss.detach()
        steps += 1
        if steps % 50 == 0:
            torch.cuda.synchronize()  # so that steps are counted when they are done
    print(total.item(), norms.item())


if __name__ == "__main__":
    main()

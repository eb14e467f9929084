import rate
import torch
from torch import nn

WIDTH, DEPTH, BATCH = 128, 24, 64
layers = [module for _ in range(DEPTH) for module in (nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()
x = torch.randn(BATCH, WIDTH, device="cuda")
y = torch.randint(10, (BATCH,), device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss_of(model(x), y).backward()
    optimizer.step()


def recorded_step():
    """The kernels of a whole step, launched at once."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss_of(model(x), y).backward()
        optimizer.step()
    return graph.replay


def main():
    replay = recorded_step()
    rate.begin()
    steps = 0
    while rate.more(BATCH):
        replay()
        steps += 1
        if steps % 50 == 0:
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()

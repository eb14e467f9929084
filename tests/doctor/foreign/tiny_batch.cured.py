# cured: batches of one sample
# verdict: small_records

import rate
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()


def step(x, y):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


data = torch.utils.data.TensorDataset(torch.randn(20000, 256), torch.arange(20000) % 10)
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)


def main():
    while True:
        for x, y in loader:
            step(x, y)
            if not rate.more(len(x)):
                return


if __name__ == "__main__":
    main()

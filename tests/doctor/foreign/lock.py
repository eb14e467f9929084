# planted: workers hold one lock while they make a sample
# verdict: lock
import multiprocessing
import time

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


LOCK = multiprocessing.Lock()


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        with LOCK:
            time.sleep(0.002)
        return torch.full((256,), float(index % 7)), index % 10


loader = torch.utils.data.DataLoader(Data(), batch_size=16, num_workers=4, persistent_workers=True)


def main():
    while True:
        for x, y in loader:
            step(x, y)
            if not rate.more(len(x)):
                return


if __name__ == "__main__":
    main()

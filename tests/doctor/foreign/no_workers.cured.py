# cured: the first thread makes its batches itself
# verdict: threads augmentation

import rate
import numpy as np
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_of = nn.CrossEntropyLoss()


def step(x, y):
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        x = np.random.default_rng(index).standard_normal(256).astype(np.float32)
        for _ in range(60):
            x = np.sort(np.tanh(x + 0.1))
        return torch.from_numpy(x), index % 10


torch.set_num_threads(1)
loader = torch.utils.data.DataLoader(Data(), batch_size=64, num_workers=1, persistent_workers=True)


def main():
    while True:
        for x, y in loader:
            step(x, y)
            if not rate.more(len(x)):
                return


if __name__ == "__main__":
    main()

# planted: a transform in plain Python, slower than the step
# verdict: augmentation

import rate
import numpy as np
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
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
        x = np.full(256, index % 7, dtype=np.float32)
        for i in range(256):
            x[i] = sum(x[max(0, i - 8):i + 1]) / 9
        return torch.from_numpy(x), index % 10


loader = torch.utils.data.DataLoader(Data(), batch_size=32, num_workers=2, persistent_workers=True)


def main():
    while True:
        for x, y in loader:
            step(x, y)
            if not rate.more(len(x)):
                return


if __name__ == "__main__":
    main()

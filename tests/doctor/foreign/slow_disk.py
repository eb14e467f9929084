# planted: samples are read from a disk, past the cache, one after the other
# verdict: storage
import os
import mmap
import signal
import sys
import tempfile

import rate
import numpy as np
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


SAMPLE = 1 << 20
folder = tempfile.TemporaryDirectory(prefix="stoker-foreign-")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # which removes it
PATH = os.path.join(folder.name, "samples")
with open(PATH, "wb") as file:
    for _ in range(256):
        file.write(os.urandom(SAMPLE))


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        buffer = mmap.mmap(-1, SAMPLE)
        file = os.open(PATH, os.O_RDONLY | os.O_DIRECT)
        os.preadv(file, [buffer], (index * 7 % 256) * SAMPLE)
        os.close(file)
        x = np.frombuffer(buffer[:256], dtype=np.uint8).astype(np.float32)
        return torch.from_numpy(x), index % 10


loader = torch.utils.data.DataLoader(Data(), batch_size=16, num_workers=2, persistent_workers=True)


def main():
    while True:
        for x, y in loader:
            step(x, y)
            if not rate.more(len(x)):
                return


if __name__ == "__main__":
    main()

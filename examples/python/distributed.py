"""DistributedDataParallel. Run: torchrun --nproc-per-node 2 distributed.py

The loader finds its rank and the number of ranks, and each sample comes once an epoch, to one of them.
"""

import argparse

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

import fashion
import stoker as sk

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--checkpoint", help="written after each epoch, and continued from if it is there")
given = parser.parse_args()

torch.distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
model = DistributedDataParallel(fashion.model())
optimizer = torch.optim.AdamW(model.parameters())
loader = sk.Loader(fashion.batches(), seed=1)

for epoch in range(given.epochs):
    samples = 0
    for batch in loader:
        loss = torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        samples += len(batch["label"])
    total = torch.tensor(samples)
    torch.distributed.all_reduce(total)
    if loader.rank == 0:
        print(f"epoch {epoch}: {total.item()} samples on {loader.world} ranks, loss {loss.item():.3f}", flush=True)
        if given.checkpoint:
            torch.save({"model": model.module.state_dict(), "loader": loader.state_dict()}, given.checkpoint)

torch.distributed.destroy_process_group()

"""Ray Data: tasks on the machines of a cluster make the batches, and the trainer takes them from its object store."""

import argparse

import ray

import fashion
import stoker as sk

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--cpus", type=int, help="of a Ray of this program's own; without it the cluster that RAY_ADDRESS names, or all CPUs")
given = parser.parse_args()

ray.init(num_cpus=given.cpus, log_to_driver=False, include_dashboard=False)
ray.data.DataContext.get_current().enable_progress_bars = False
counts = [0] * 10
for batch in sk.ray.read(fashion.batches(), seed=1).iter_torch_batches(batch_size=128):
    for label in batch["label"].tolist():
        counts[label] += 1
print(f"{sum(counts)} samples; of each class {min(counts)} to {max(counts)}")

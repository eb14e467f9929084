"""Ray Train: the trainers take batches that Ray's tasks make on whatever machines have CPUs."""

import argparse
import pathlib
import tempfile

import ray
import torch
from ray.train import Checkpoint, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_model

import fashion
import stoker as sk


def train(options):
    model = prepare_model(fashion.model())
    optimizer = torch.optim.AdamW(model.parameters())
    seen = 0
    for batch in ray.train.get_dataset_shard("train").iter_torch_batches(batch_size=128):
        loss = torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += len(batch["label"])
    with tempfile.TemporaryDirectory() as folder:
        torch.save(model.state_dict(), pathlib.Path(folder) / "model.pt")
        ray.train.report({"loss": loss.item(), "samples": seen}, checkpoint=Checkpoint.from_directory(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpus", type=int, help="of a Ray of this program's own; without it the cluster that RAY_ADDRESS names, or all CPUs")
    parser.add_argument("--trainers", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, default="run", help="where checkpoints are kept")
    given = parser.parse_args()
    ray.init(num_cpus=given.cpus, log_to_driver=False, include_dashboard=False)
    samples = sk.ray.read(fashion.batches(), seed=1, tasks=2)
    done = TorchTrainer(train, scaling_config=ScalingConfig(num_workers=given.trainers), datasets={"train": samples},
                        run_config=RunConfig(storage_path=str(given.folder.resolve()))).fit()
    print(f"{done.metrics['samples']} samples by the first of {given.trainers}, loss {done.metrics['loss']:.3f}")


if __name__ == "__main__":
    main()

"""Pipelines in the tasks of Ray: CPU machines of a cluster make the batches, and trainers take them from its object store.

    import stoker as sk

    for epoch in range(90):
        samples = sk.ray.read("recipe.yaml", epoch=epoch)   # a ray.data.Dataset: what the pipeline's batches hold, a sample a row
        for batch in samples.iter_torch_batches(batch_size=64):
            step(batch["image"], batch["label"])

Ray Train's trainers get their share of it as of every Dataset: ``TorchTrainer(..., datasets={"train": samples})``. A Dataset is one
epoch, which a second pass over it repeats; trainers of several epochs get a Dataset for each, by names of their own.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence

import ray
from ray.data import Datasource, ReadTask
from ray.data.block import BlockAccessor, BlockMetadata

from .dataset import Dataset
from .errors import ConfigError
from .loader import Loader, _whole


def read(source: Dataset | str | os.PathLike[str], *, section: str = "train", set: Sequence[str] = (), seed: int = 0, epoch: int = 0,
         tasks: int | None = None, threads: int = 1, memory: int | str | None = None) -> ray.data.Dataset:
    """One epoch of a pipeline that ends with batches, each made by one of several Ray tasks, as a ray.data.Dataset of their samples.

    A second pass over it is the same epoch again, with the same draws; the next epoch is ``read(..., epoch=1)``.

    Ray cuts it into batches again: ``iter_torch_batches(batch_size=64)``, best of the size that the pipeline has. Every machine that runs
    tasks needs this package, and the files under the same paths (or on servers).

    source, section, set  as of Loader: a Dataset, or the path of a recipe, which is read here
    seed, epoch           as of Loader and its set_epoch: the tasks make what that epoch is made of, in another order
    tasks                 how many the epoch is dealt out to, as ranks are; None: one for each `threads` CPUs of the cluster
    threads               of each task, for which it reserves as many CPUs
    memory                of each task, as of Loader
    """
    epoch = _whole(epoch, "epoch", 0)
    dataset = source if isinstance(source, Dataset) else Loader(source, section=section, set=set).dataset
    if not ray.is_initialized():
        ray.init(ignore_reinit_error=True)
    if tasks is None:
        tasks = max(1, int(ray.cluster_resources().get("CPU", 1)) // max(1, threads))
    if tasks < 1 or threads < 1:
        raise ConfigError(f"tasks is {tasks} and threads is {threads}; both are 1 or more")
    made = _Batches(dataset, {"seed": seed, "threads": threads, "memory": memory}, epoch, tasks)
    return ray.data.read_datasource(made, override_num_blocks=tasks, num_cpus=threads)


class _Batches(Datasource):
    """Deals an epoch out to tasks."""

    def __init__(self, dataset, options, epoch, tasks):
        super().__init__()
        pickle.dumps(dataset)  # what cannot be sent is said here
        self._dataset, self._options, self._epoch, self._tasks = dataset, options, epoch, tasks

    def get_name(self):
        return "Stoker"

    def estimate_inmemory_data_size(self):
        return None

    def get_read_tasks(self, parallelism, *unused, **unused_too):
        # Not `parallelism`: which batches a task makes must not depend on what Ray thinks of at the time.
        nothing = BlockMetadata(num_rows=None, size_bytes=None, input_files=None, exec_stats=None)
        return [ReadTask(self._reader(rank), nothing) for rank in range(self._tasks)]

    def _reader(self, rank):
        dataset, options, epoch, world = self._dataset, self._options, self._epoch, self._tasks

        def blocks():
            loader = Loader(dataset, to="numpy", rank=rank, world=world, when_dry="end", **options)
            loader.set_epoch(epoch)
            for batch in loader:
                yield BlockAccessor.batch_to_block(batch)

        return blocks

"""Which share of the data this process reads, where several train together."""

import os
import sys

# Variables of launchers: rank, number of ranks. torchrun and accelerate; Open MPI; MPICH and Intel MPI; SLURM.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
)


def find():
    """(rank, world) of this process: of torch.distributed, else of JAX, else of the launcher's environment, else (0, 1)."""
    return _of_torch() or _of_jax() or _of_environment() or (0, 1)


def _of_torch():
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _of_jax():
    # Only where a program has joined several processes: asking JAX otherwise would start its backend.
    distributed = getattr(sys.modules.get("jax"), "distributed", None)
    if distributed is None or not getattr(distributed, "is_initialized", lambda: False)():
        return None
    jax = sys.modules["jax"]
    return jax.process_index(), jax.process_count()


def _of_environment():
    for rank_name, world_name in _LAUNCHERS:
        rank, world = os.environ.get(rank_name, ""), os.environ.get(world_name, "")
        if rank.isdecimal() and world.isdecimal() and int(rank) < int(world):
            return int(rank), int(world)
    return None

"""Which share of the data this process reads, where several train together."""

import os
import re
import sys

from .errors import ConfigError

# Variables of launchers: rank, number of ranks. As stoker/cluster/membership.cc has them, which says for the trainer what this says for a
# Loader. torchrun and accelerate; Open MPI; MPICH and Intel MPI; the step that srun starts. SLURM_NTASKS is of the whole job, and its
# shell, which is one process, has it too. Slurm comes last: where mpirun starts its helpers with srun, each of these has a step's
# variables too, and the ranks inherit them.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
_INDEX_OF_POD = "JOB_COMPLETION_INDEX"
_MOST_RANKS = 1 << 20
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def find():
    """(rank, world) of this process: of torch.distributed, else of JAX, else of the launcher's environment, else (0, 1).

    Raises ConfigError where a launcher's variables are no numbers, or do not go together.
    """
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
    """Of the first launcher whose variables say that there are several; a rank without a number of ranks says nothing."""
    for rank_name, world_name in _LAUNCHERS:
        # A step that speaks MPICH's protocol (srun --mpi=pmi2) says all twice.
        if rank_name == "PMI_RANK" and os.environ.get("PMI_SIZE") == os.environ.get("SLURM_STEP_NUM_TASKS"):
            continue
        world = _world(world_name)
        if world > 1:
            # A pod of an indexed Kubernetes job has its rank by that name, and the world where its manifest sets it.
            by_index = rank_name == "RANK" and not os.environ.get("RANK") and os.environ.get(_INDEX_OF_POD)
            return _rank(_INDEX_OF_POD if by_index else rank_name, world_name, world), world
    return None


def _world(name):
    """1 where the variable is not set, or empty."""
    text = os.environ.get(name, "")
    world = _whole(text, 1, _MOST_RANKS) if text else 1
    if world is None:
        raise ConfigError(f"the environment has {name}='{text}', which is no whole number of 1 to {_MOST_RANKS}; correct or unset it")
    return world


def _rank(name, world_name, world):
    text = os.environ.get(name, "")
    if not text:
        raise ConfigError(f"the environment has {world_name}={world} and no {name}; set it to 0..{world - 1}, or unset {world_name}")
    rank = _whole(text, 0, world - 1)
    if rank is None:
        raise ConfigError(
            f"the environment has {name}='{text}', and with {world_name}={world} it is a whole number of 0 to {world - 1}; correct them, "
            "or unset both"
        )
    return rank


def _whole(text, least, most):
    """The number that `text` is; None where it is none, or one out of range."""
    if _WHOLE.fullmatch(text) is None:
        return None
    number = int(text)
    return number if least <= number <= most else None

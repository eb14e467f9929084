"""The cost model of docs/scale.md: what a training costs on any number of ranks, as functions and as a simulation.

Times are in seconds, sizes in bytes, rates a second. Everything follows from the arguments: the same seed gives the same figures.
"""
import dataclasses
import math
import random


@dataclasses.dataclass(frozen=True)
class Training:
    """What a step is, and what it meets. Only what is measured, or known of a cluster, differs from the defaults."""

    batch: int                      # rows of a step of all ranks
    fixed_s: float                  # of a rank's step, whatever its rows
    row_s: float                    # of each row more
    gradient_bytes: int
    message_s: float                # until a message of no bytes has arrived
    byte_s: float                   # of each byte more
    ring: bool = True               # all-reduce: a ring; else a tree
    bucket_bytes: int = 8_000_000   # of gradients that travel together: train.distributed.bucket_mb
    overlap: float = 0.0            # share of a rank's step in which gradients can travel
    jitter: float = 0.0             # standard deviation of the logarithm of a rank's step
    slow_share: float = 0.0         # of the ranks, which need slow_factor times as long in every step
    slow_factor: float = 1.0
    cpus: int = 0                   # that all ranks share; 0: each rank has its own
    accumulate: int = 1             # parts of a step, of `batch` rows in all
    local_steps: int = 1            # steps between two exchanges
    gradient_share: float = 1.0     # of the bytes: 0.5 with gradients of 16 bits
    row_bytes: float = 0.0          # that a row reads from the object store
    row_requests: float = 0.0       # of the object store, for each row
    hit_share: float = 0.0          # of rows that the machines' caches have
    store_bytes_s: float = math.inf     # of the object store, for all ranks
    store_requests_s: float = math.inf
    input_rows_s: float = math.inf      # that a rank's pipeline makes


@dataclasses.dataclass(frozen=True)
class Faults:
    """What a failure costs."""

    mean_between_s: float           # failures of one rank's machine
    checkpoint_s: float             # in which training waits for a checkpoint
    restart_s: float                # until training goes on: noticing, starting again, reading the checkpoint


@dataclasses.dataclass(frozen=True)
class Step:
    """Averages over the simulated steps."""

    ranks: int
    seconds: float
    own: float        # of it: a rank's own work, on average
    stragglers: float  # of it: waiting until the slowest has come
    exchange: float    # of it: gradients travel and nothing else happens
    data: float        # of it: waiting for data

    def rows_s(self, training):
        return training.batch / self.seconds

    def largest_loss(self):
        """What more than a rank's own work takes longest: what breaks first."""
        losses = {"stragglers": self.stragglers, "exchange": self.exchange, "data": self.data}
        name = max(losses, key=losses.get)
        return name if losses[name] > 0.02 * self.seconds else "nothing"


def all_reduce_seconds(ranks, size, training):
    """A ring sends 2 (N - 1) messages of size / N one after the other; a tree 2 log2 N of the whole size, in pieces that overlap."""
    if ranks == 1:
        return 0.0
    rounds = 2 * (ranks - 1) if training.ring else 2 * math.ceil(math.log2(ranks))
    return rounds * training.message_s + 2 * (ranks - 1) / ranks * size * training.byte_s


def exchange_seconds(ranks, training):
    """All buckets of a step, one after the other, on average over local_steps."""
    size = training.gradient_bytes * training.gradient_share
    buckets = max(1, math.ceil(training.gradient_bytes / training.bucket_bytes))
    once = buckets * all_reduce_seconds(ranks, size / buckets, training)
    return once / training.local_steps


def exposed_seconds(ranks, own_s, training):
    """What of the exchange no computing hides: all but what fits into the overlap, and the last bucket in any case."""
    whole = exchange_seconds(ranks, training)
    buckets = max(1, math.ceil(training.gradient_bytes / training.bucket_bytes))
    return max(whole - training.overlap * own_s / training.accumulate, whole / buckets)


def input_rows_s(ranks, training):
    """The most rows a second that reach all ranks together: the least of three limits."""
    missing = 1 - training.hit_share
    limits = [training.input_rows_s * ranks]
    if missing * training.row_bytes > 0:
        limits.append(training.store_bytes_s / (missing * training.row_bytes))
    if missing * training.row_requests > 0:
        limits.append(training.store_requests_s / (missing * training.row_requests))
    return min(limits)


def simulate_steps(ranks, training, steps=200, seed=1):
    """Draws every rank's time of every step; each step ends when the slowest rank and the exchange have."""
    rng = random.Random(seed * 1_000_003 + ranks)
    share = max(1.0, ranks / training.cpus) if training.cpus else 1.0
    rows = training.batch / ranks
    own = share * (training.accumulate * training.fixed_s + training.row_s * rows)
    slow = {rank for rank in range(ranks) if rng.random() < training.slow_share}
    need_data = training.batch / input_rows_s(ranks, training)
    totals = dict.fromkeys(("seconds", "own", "stragglers", "exchange", "data"), 0.0)
    for _ in range(steps):
        worst = mean = 0.0
        for rank in range(ranks):
            time = own * (training.slow_factor if rank in slow else 1.0)
            if training.jitter > 0:
                # The mean stays what it is without jitter.
                time *= math.exp(rng.gauss(-training.jitter**2 / 2, training.jitter))
            worst = max(worst, time)
            mean += time / ranks
        exchange = exposed_seconds(ranks, mean, training)
        mean = min(mean, worst)  # of equal times the sum is rounded
        busy = worst + exchange
        data = max(0.0, need_data - busy)
        for key, value in (("seconds", busy + data), ("own", mean), ("stragglers", worst - mean), ("exchange", exchange), ("data", data)):
            totals[key] += value / steps
    return Step(ranks=ranks, **totals)


def young(ranks, faults):
    """Young's interval between checkpoints ("A first order approximation to the optimum checkpoint interval", 1974)."""
    return math.sqrt(2 * faults.checkpoint_s * faults.mean_between_s / ranks)


def daly(ranks, faults):
    """Daly's ("A higher order estimate of the optimum checkpoint interval for restart dumps", 2006), of work between two checkpoints."""
    mean = faults.mean_between_s / ranks
    cost = faults.checkpoint_s
    if cost >= 2 * mean:
        return mean
    ratio = cost / (2 * mean)
    return math.sqrt(2 * cost * mean) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - cost


def useful_share(ranks, interval_s, faults):
    """The share of the time that becomes stored work, if failures come at any moment alike (Daly's equation of the whole time)."""
    mean = faults.mean_between_s / ranks
    exponent = (interval_s + faults.checkpoint_s) / mean
    if exponent > 500:
        return 0.0
    return interval_s / (mean * math.exp(faults.restart_s / mean) * math.expm1(exponent))


def simulate_faults(ranks, interval_s, faults, work_s, seed=1):
    """The same share, by failures that are drawn one by one until `work_s` of work is stored."""
    rng = random.Random(seed)
    rate = ranks / faults.mean_between_s
    time = stored = 0.0
    while stored < work_s:
        failure = rng.expovariate(rate)
        segment = interval_s + faults.checkpoint_s
        whole = int(failure // segment)
        stored += whole * interval_s
        time += failure
        # Failures come while the run starts again, too.
        while (again := rng.expovariate(rate)) < faults.restart_s:
            time += again
        time += faults.restart_s
    return stored / time

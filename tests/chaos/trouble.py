"""Draws what is done to a command: rules of the preloaded library, plans of the server, signals, a second process."""
import collections
import dataclasses
import signal

from .case import stream

# What a call of the C library does wrong: call, effects.
CALLS = (
    ("open", ("EIO", "EMFILE", "ENFILE", "ENOMEM", "EINTR", "EACCES", "ESTALE")),
    ("read", ("EIO", "EINTR", "ESTALE", "short", "slow-20", "slow-100")),
    ("write", ("ENOSPC", "EIO", "EDQUOT", "EINTR", "short", "slow-20")),
    ("sync", ("EIO", "ENOSPC", "slow-50")),
    ("rename", ("EIO", "ENOSPC", "EACCES")),
    ("mkdir", ("ENOSPC", "EROFS", "EIO")),
    ("lock", ("EINTR", "ENOLCK", "EIO")),
    ("map", ("ENOMEM", "EACCES")),
    ("memory", ("ENOMEM",)),
    ("thread", ("EAGAIN",)),
    ("stat", ("EIO", "EACCES", "ENOMEM")),
    ("list", ("EIO", "EMFILE")),
    ("remove", ("EBUSY", "EIO")),
    ("truncate", ("EIO", "ENOSPC")),
    ("clock", ("jump-86400", "jump--86400", "jump-400000000")),
)
# How often each is drawn: most commands open, read and write; few make directories. Of truncate more, as hardly any command calls it.
OFTEN = (4, 6, 5, 2, 2, 1, 1, 2, 2, 1, 2, 2, 1, 6, 2)
# What a server does wrong: kind, values to choose from.
SERVER = (
    ("stall", (0.5, 4.0)),  # seconds in which nothing comes
    ("outage", (0.3, 3.0)),  # seconds in which connections are refused
    ("cut", (0, 100, 60000)),  # bytes after which the connection breaks, less than was announced
    ("huge", (0,)),  # Content-Length 2^62
    ("busy", (429, 500, 503)),
    ("endless", (500, 503)),  # an error whose text never ends
    ("trickle", (0.02,)),  # seconds between pieces of a few bytes
    ("range", (1, 100)),  # other bytes than were asked for, so many further on
    ("redirect", (0,)),  # to itself
    ("changed", (0,)),  # no ETag any more, and other content of the same size
    ("repeat", (0,)),  # a listing whose continuation token never changes
)
STOPS = (signal.SIGINT, signal.SIGTERM)


@dataclasses.dataclass
class Disturbance:
    """A signal at a share of the time that the undisturbed run took."""
    number: int
    at: float
    resume_after: float = 0  # seconds, of SIGSTOP
    rank: int = None  # of a launch, that gets it in place of the launcher


@dataclasses.dataclass
class Trouble:
    rules: list = dataclasses.field(default_factory=list)
    server: list = dataclasses.field(default_factory=list)  # (kind, first request, number of requests, value)
    signals: list = dataclasses.field(default_factory=list)
    twice: bool = False  # two processes run the command at once

    def __str__(self):
        parts = [*self.rules, *(f"server {kind}={value} at request {first}, {count or 'all'}" for kind, first, count, value in self.server),
                 *(f"{signal.Signals(each.number).name}{'' if each.rank is None else f' of rank {each.rank}'} at {each.at:.2f} of the time"
                   for each in self.signals)]
        return "; ".join(parts + (["two processes"] if self.twice else [])) or "none"

    @property
    def stops(self):
        return any(each.number in STOPS for each in self.signals)

    @property
    def spares_steps(self):
        """Whether a run that it ends must have stored its last whole step: no signal, and of disks only what passes at once."""
        parts = [rule.split(":") for rule in self.rules]
        failing = [part for part in parts if not part[1].startswith(("slow-", "short", "EINTR"))]
        return (not self.signals and not self.twice and len(failing) <= 1
                and all(call not in ("memory", "thread") and count == "1" for call, _, _, count in failing))

    @property
    def kills(self):
        return any(each.number == signal.SIGKILL for each in self.signals)


def counting_rules():
    """Rules that change nothing; the log then has a line for each call, up to 200 of a kind."""
    return [f"{call}:slow-0:1:0" for call, _ in CALLS if call != "clock"]


def calls_in(log, ranks=0):
    """How many calls of each kind the log of counting rules has, of each rank where there are some; the clock is always looked at."""
    calls = collections.Counter(line.split(" ", 1)[0] for line in log.splitlines())
    return collections.Counter({call: -(-count // max(ranks, 1)) for call, count in calls.items()}) + collections.Counter(clock=1)


def rule(rng, calls):
    """CALL:EFFECT:FIRST:COUNT of a call that the command makes; most happen a few times, some for ever."""
    known = [(*row, often) for row, often in zip(CALLS, OFTEN) if calls[row[0]]]
    call, effects, _ = rng.choices(known, [often for *_, often in known])[0]
    effect = rng.choice(effects)
    first = 1 + int(rng.random() * calls[call])
    count = rng.choice([1, 1, 2, 5, 0])
    if effect.startswith("slow-"):
        count = rng.choice([1, 5, 20])
    if effect in ("short", "EINTR"):  # no signal interrupts a call for ever
        count = rng.choice([1, 7, 50])
    return f"{call}:{effect}:{first}:{count}"


def fault_of_server(rng):
    kind, values = rng.choice(SERVER)
    first = rng.choice([0, 0, 1, 2, 4, 10])
    value = rng.choice(values)
    count = 0 if kind == "repeat" else rng.choice([1, 1, 3, 0])
    if (kind, value) in (("stall", 0.5), ("trickle", 0.02), ("cut", 100)):  # slow, but a command of many requests would take minutes
        count = rng.choice([1, 3, 10])
    return kind, first, count, value


def signal_of(rng, ranks):
    number = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP])
    at, resume_after = rng.random() * 1.2, rng.choice([0.1, 0.6]) if number == signal.SIGSTOP else 0
    return Disturbance(number, at, resume_after, rng.randrange(ranks) if ranks and rng.random() < 0.6 else None)


def draw(case, calls):
    """The trouble of a case whose undisturbed command makes so many calls of each kind."""
    rng = stream(case.seed, "trouble")
    trouble = Trouble()
    kinds = rng.sample(["rules", "signals", "twice", "server"], rng.choice([1, 1, 2]))
    if case.address and rng.random() < 0.7:
        kinds.append("server")
    if "rules" in kinds or kinds == ["server"] and not case.address:
        trouble.rules = [rule(rng, calls) for _ in range(rng.choice([1, 1, 2, 3]))]
    if "signals" in kinds:
        trouble.signals = [signal_of(rng, case.ranks)]
        if rng.random() < 0.7:  # so that there is time to disturb it
            trouble.rules.append(f"read:slow-{rng.choice([10, 40])}:{rng.choice([1, 5])}:{rng.choice([10, 40])}")
    if "server" in kinds and case.address:
        trouble.server = [fault_of_server(rng) for _ in range(rng.choice([1, 1, 2]))]
    # Of two processes each has its own first version of a file that changes.
    changes = any(kind == "changed" for kind, *_ in trouble.server)
    trouble.twice = "twice" in kinds and case.kind in ("pack", "bench", "train") and not changes
    return trouble

"""Runs one command, disturbs it, and measures what it took."""
import dataclasses
import os
import signal
import subprocess
import time

from .family import Family, heeds, peak_of, text, wait_of

HANG = 90  # seconds after which nothing that a case does explains that it is still there
LEFT = 10  # seconds that ranks get to end after their launcher, before they are killed


@dataclasses.dataclass
class Outcome:
    """How a command ended."""
    arguments: list
    code: int = 0  # negative: the signal
    out: str = ""
    err: str = ""
    seconds: float = 0
    peak: int = 0  # bytes that were resident, of the largest process
    stopped: bool = False  # SIGINT or SIGTERM was sent
    killed: bool = False
    late: float = 0  # seconds from the first of these to the end, less those in which others had the processors
    hung: str = ""  # what its threads waited for, where it did not end
    left: float = 0  # seconds for which processes that it had started were still there
    signals: list = dataclasses.field(default_factory=list)  # what was sent, for the report


class Running:
    """A process under way. Its output goes to files, so that it never waits for a reader."""

    def __init__(self, stoker, arguments, folder, environment, logs):
        self.outcome = Outcome(arguments)
        self.names = [os.path.join(logs, name) for name in ("out", "err")]
        os.makedirs(logs, exist_ok=True)
        out, err = (open(name, "wb") for name in self.names)
        with out, err:
            self.process = subprocess.Popen([stoker, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err)
        self.family = Family(self.process.pid) if arguments[0] == "launch" else None
        self.began = time.monotonic()
        self.stopped_at, self.waited_at_stop, self.waited = None, 0.0, 0.0

    def send(self, number, rank=None):
        """Sends the signal, to this rank where one is named; False where the process does not heed it yet."""
        pid = self.process.pid if rank is None else self.family.rank(rank)
        try:
            if pid is None or not heeds(pid, number):
                return False
        except OSError:  # a rank that has ended meanwhile
            return False
        if rank is None:
            os.kill(pid, number)  # it has not been waited for, so the number is still its own
        else:
            self.family.send(pid, number)
        self.note_signal(number, rank)
        return True

    def note_signal(self, number, rank):
        stops = number in (signal.SIGINT, signal.SIGTERM)
        name = {signal.SIGKILL: "kill -9", signal.SIGSTOP: "pause"}.get(number, "stop" if stops else "")
        self.outcome.signals += [name + ("" if rank is None else " of a rank")] if name else []
        if stops and self.stopped_at is None:
            self.stopped_at, self.outcome.stopped = time.monotonic(), True
            self.note_wait()
            self.waited_at_stop = self.waited
        if number == signal.SIGKILL and rank is None:
            self.outcome.killed = True

    def ended(self):
        if self.family:
            self.family.look()
        pid, status = os.waitpid(self.process.pid, os.WNOHANG)
        if pid == 0:
            self.note_memory()
            self.note_wait()
            return False
        outcome, now = self.outcome, time.monotonic()
        self.process.returncode = outcome.code = os.waitstatus_to_exitcode(status)
        outcome.seconds = now - self.began
        if self.stopped_at:
            outcome.late = now - self.stopped_at - (self.waited - self.waited_at_stop)
        if self.family:
            self.wait_for_family()
        outcome.out, outcome.err = (text(name) for name in self.names)
        return True

    def wait_for_family(self):
        """What it has started ends with it, or is killed after a while."""
        ended = time.monotonic()
        while self.family.running() and self.outcome.left < LEFT:
            time.sleep(0.005)
            self.outcome.left = time.monotonic() - ended
        self.family.end()
        self.outcome.peak = max(self.outcome.peak, self.family.peak)

    def note_memory(self):
        try:
            self.outcome.peak = max(self.outcome.peak, peak_of(self.process.pid))
        except OSError:  # it has ended meanwhile
            return

    def note_wait(self):
        """For how long it had no processor; its ranks wait for each other, so what one lacks holds all up."""
        try:
            self.waited = wait_of(self.process.pid) + (sum(self.family.waits.values()) if self.family else 0)
        except (OSError, IndexError):
            return

    def give_up(self):
        """Kills what does not end, and notes where its threads wait."""
        pids = [self.process.pid, *(self.family.running() if self.family else [])]
        self.outcome.hung = "; ".join(waits_of(pid) for pid in pids)
        os.kill(self.process.pid, signal.SIGKILL)
        while not self.ended():
            time.sleep(0.01)


def waits_of(pid):
    """For each thread its name and the kernel function or system call that it waits in."""
    found = []
    for task in sorted(os.listdir(f"/proc/{pid}/task")):
        place = f"/proc/{pid}/task/{task}/"
        try:
            found.append(" ".join(text(place + name).split("\n")[0][:60] for name in ("comm", "wchan", "syscall")))
        except OSError:
            continue
    return "; ".join(found)


def run(running, disturbances=(), scale=1.0, hang=HANG):
    """Waits for the end of all of `running`, sending the signals to the first of them; returns their outcomes.

    disturbances: trouble.Disturbance, in units of `scale` seconds
    hang          seconds after which one that is still there is killed
    """
    due = [(each.at * scale, each.number, each.rank) for each in disturbances]
    due += [(each.at * scale + each.resume_after, signal.SIGCONT, each.rank) for each in disturbances if each.resume_after]
    due.sort(key=lambda each: each[0])
    left, first = list(running), running[0]
    while left:
        now = time.monotonic()
        left = [each for each in left if not each.ended()]
        while due and now - first.began >= due[0][0] and (first not in left or first.send(*due[0][1:])):
            due.pop(0)
        for each in left:
            if now - each.began > hang:
                each.give_up()
        left = [each for each in left if each.process.returncode is None]
        time.sleep(0.002 if due else 0.005)
    return [each.outcome for each in running]

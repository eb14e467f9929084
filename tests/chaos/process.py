"""Runs one command, disturbs it, and measures what it took."""
import dataclasses
import os
import re
import signal
import subprocess
import time

HANG = 90  # seconds after which nothing that a case does explains that it is still there


@dataclasses.dataclass
class Outcome:
    """How a command ended."""
    arguments: list
    code: int = 0  # negative: the signal
    out: str = ""
    err: str = ""
    seconds: float = 0
    peak: int = 0  # bytes that were resident
    stopped: bool = False  # SIGINT or SIGTERM was sent
    killed: bool = False
    late: float = 0  # seconds from the first of these to the end, less those in which others had the processors
    hung: str = ""  # what its threads waited for, where it did not end


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
        self.began = time.monotonic()
        self.stopped_at, self.waited_at_stop, self.waited = None, 0.0, 0.0

    def heeds(self, number):
        """Whether the process catches the signal, or holds it for the program that it is about to become."""
        status = self.text(f"/proc/{self.process.pid}/status")
        masks = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigBlk:", "SigCgt:"))]
        return number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT) or any(mask >> (number - 1) & 1 for mask in masks)

    def send(self, number):
        os.kill(self.process.pid, number)  # it has not been waited for, so the number is still its own
        if number in (signal.SIGINT, signal.SIGTERM) and self.stopped_at is None:
            self.stopped_at, self.outcome.stopped = time.monotonic(), True
            self.note_wait()
            self.waited_at_stop = self.waited
        if number == signal.SIGKILL:
            self.outcome.killed = True

    def ended(self):
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
        outcome.out, outcome.err = (self.text(name) for name in self.names)
        return True

    def note_memory(self):
        """VmHWM, which the kernel keeps; what getrusage tells would include this interpreter, from before exec."""
        try:
            high = re.search(r"VmHWM:\s+(\d+) kB", self.text(f"/proc/{self.process.pid}/status"))
        except OSError:  # it has ended meanwhile
            return
        if high:
            self.outcome.peak = max(self.outcome.peak, int(high[1]) * 1024)

    def note_wait(self):
        """For how many seconds the first thread could have run and had no processor: the machine's doing, not the program's."""
        try:
            self.waited = int(self.text(f"/proc/{self.process.pid}/schedstat").split()[1]) / 1e9
        except (OSError, IndexError):
            return

    @staticmethod
    def text(name):
        with open(name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def give_up(self):
        """Kills what does not end, and notes where its threads wait."""
        self.outcome.hung = waits_of(self.process.pid)
        os.kill(self.process.pid, signal.SIGKILL)
        while not self.ended():
            time.sleep(0.01)


def waits_of(pid):
    """For each thread its name and the kernel function or system call that it waits in."""
    found = []
    for task in sorted(os.listdir(f"/proc/{pid}/task")):
        place = f"/proc/{pid}/task/{task}/"
        try:
            found.append(" ".join(Running.text(place + name).split("\n")[0][:60] for name in ("comm", "wchan", "syscall")))
        except OSError:
            continue
    return "; ".join(found)


def run(running, disturbances=(), scale=1.0, hang=HANG):
    """Waits for the end of all of `running`, sending the signals to the first of them; returns their outcomes.

    disturbances: trouble.Disturbance, in units of `scale` seconds
    hang          seconds after which one that is still there is killed
    """
    due = sorted(((each.at * scale, each.number) for each in disturbances))
    due += [(each.at * scale + each.resume_after, signal.SIGCONT) for each in disturbances if each.resume_after]
    due.sort()
    left, first = list(running), running[0]
    while left:
        now = time.monotonic()
        left = [each for each in left if not each.ended()]
        while due and now - first.began >= due[0][0] and (first not in left or first.heeds(due[0][1])):
            _, number = due.pop(0)
            if first in left:
                first.send(number)
        for each in left:
            if now - each.began > hang:
                each.give_up()
        left = [each for each in left if each.process.returncode is None]
        time.sleep(0.002 if due else 0.005)
    return [each.outcome for each in running]

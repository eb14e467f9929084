"""The processes that a command starts: the ranks of `stoker launch`."""
import os
import re
import select
import signal


def text(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


def heeds(pid, number):
    """Whether the process catches the signal, or holds it for the program that it is about to become."""
    masks = [int(line.split()[1], 16) for line in text(f"/proc/{pid}/status").splitlines() if line.startswith(("SigBlk:", "SigCgt:"))]
    return number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT) or any(mask >> (number - 1) & 1 for mask in masks)


def peak_of(pid):
    """Bytes that were resident: VmHWM, which the kernel keeps; what getrusage tells would include this interpreter, from before exec."""
    high = re.search(r"VmHWM:\s+(\d+) kB", text(f"/proc/{pid}/status"))
    return int(high[1]) * 1024 if high else 0


def wait_of(pid):
    """For how many seconds its first thread could have run and had no processor: the machine's doing, not the program's."""
    return int(text(f"/proc/{pid}/schedstat").split()[1]) / 1e9


class Family:
    """Children of a process. Each is held by a descriptor: its number may be another's once it has ended."""

    def __init__(self, pid):
        self.pid, self.descriptors = pid, {}
        self.peak, self.waits = 0, {}

    def look(self):
        """Notes the children that are new, and what all take. To be called again and again."""
        try:
            pids = [int(pid) for pid in text(f"/proc/{self.pid}/task/{self.pid}/children").split()]
            for pid in pids:
                if pid not in self.descriptors:
                    self.descriptors[pid] = os.pidfd_open(pid)
        except OSError:  # one has ended meanwhile
            pass
        for pid in self.running():
            try:
                # Until it has become the command it is a copy of its parent.
                self.peak, self.waits[pid] = max(self.peak, peak_of(pid)), wait_of(pid)
            except (OSError, IndexError):
                continue

    def running(self):
        # A descriptor becomes readable when its process ends.
        return [pid for pid, descriptor in self.descriptors.items() if not select.select([descriptor], [], [], 0)[0]]

    def rank(self, number):
        """The process that has this rank; None while there is none."""
        for pid in self.running():
            try:
                if f"\0RANK={number}\0" in "\0" + text(f"/proc/{pid}/environ"):
                    return pid
            except OSError:
                continue
        return None

    def send(self, pid, number):
        try:
            signal.pidfd_send_signal(self.descriptors[pid], number)
        except ProcessLookupError:
            pass

    def end(self):
        """Kills those that are left."""
        for pid in self.running():
            self.send(pid, signal.SIGKILL)
        for descriptor in self.descriptors.values():
            select.select([descriptor], [], [])
            os.close(descriptor)
        self.descriptors = {}

"""A terminal for tests: a program runs on it as below a shell with job control, and what it draws is kept as a screen.

The screen knows what `stoker top` writes and nothing else, so that anything else is noticed.
"""
import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import unicodedata

# Plays the shell: starts a program in a group of its own in the foreground, and writes a line for each thing that happens to it.
# While the program is stopped the terminal is the shell's, until a line on its other pipe says to go on.
SHELL = r"""
import os, signal, sys, termios
report, control = int(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
ready, go = os.pipe()
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.close(go)
    os.read(ready, 1)
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[3], sys.argv[3:])
os.setpgid(pid, pid)
os.tcsetpgrp(0, pid)
os.write(report, f"{pid}\n".encode())
os.close(go)
modes = termios.tcgetattr(0)
while True:
    _, status = os.waitpid(pid, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if os.WIFSTOPPED(status):
        of_program = termios.tcgetattr(0)
        termios.tcsetattr(0, termios.TCSANOW, modes)
        os.write(report, f"stopped {os.WSTOPSIG(status)}\n".encode())
        os.read(control, 1)
        termios.tcsetattr(0, termios.TCSANOW, of_program)
        os.tcsetpgrp(0, pid)
        os.kill(-pid, signal.SIGCONT)
        continue
    os.write(report, f"ended {os.waitstatus_to_exitcode(status)}\n".encode())
    break
"""

CONTROL = re.compile(r"\x1b\[([?]?)([0-9;]*)([A-Za-z])")


class Screen:
    """What a terminal shows of the text that is written to it."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.alternate = False  # the other screen is shown
        self.cursor, self.wraps = True, True
        self.clears = 0  # how often the whole screen was cleared
        self.settled = True  # what is drawn is for this size
        self.main = [[]]
        self.lines = self.main
        self.row = self.column = 0

    def text(self):
        return ["".join(line).rstrip() for line in self.lines]

    def clear(self):
        self.lines[:] = [[] for _ in range(self.rows)]

    def resize(self, columns, rows):
        """Until the screen is cleared, what is drawn may be for the size before."""
        self.columns, self.rows, self.settled = columns, rows, False

    def control(self, mark, numbers, letter):
        first = int(numbers.split(";")[0] or 0) if numbers else 0
        if mark and letter in "hl":
            self.mode(first, letter == "h")
        elif letter == "H":
            self.row, self.column = (int(number) - 1 for number in (numbers or "1;1").split(";"))
            if self.settled and not (0 <= self.row < self.rows and 0 <= self.column < self.columns):
                raise AssertionError(f"the cursor leaves the screen: {numbers}")
            self.row = min(self.row, len(self.lines) - 1)
        elif letter == "K" and first == 0:
            del self.lines[self.row][self.column:]
        elif letter == "J" and first == 2:
            self.clears += 1
            self.settled = True
            self.clear()
            self.row = min(self.row, self.rows - 1)
        elif letter == "J" and first == 0:
            del self.lines[self.row][self.column:]
            for line in self.lines[self.row + 1:]:
                line.clear()
        elif letter != "m":
            raise AssertionError(f"unknown: ESC [ {mark}{numbers}{letter}")

    def mode(self, number, on):
        if number == 25:
            self.cursor = on
        elif number == 7:
            self.wraps = on
        elif number == 1049:
            if on and not self.alternate:
                self.main, self.lines = self.lines, [[] for _ in range(self.rows)]
            elif not on and self.alternate:
                self.lines = self.main
                self.row = len(self.lines) - 1
                self.column = len(self.lines[-1])
            self.alternate = on
        else:
            raise AssertionError(f"unknown mode {number}")

    def put(self, character):
        if character == "\n":
            if self.alternate:
                raise AssertionError("a line break on the other screen")
            self.lines.append([])
            self.row, self.column = len(self.lines) - 1, 0
            return
        if character == "\r":
            self.column = 0
            return
        if unicodedata.category(character)[0] == "C":
            raise AssertionError(f"a control character: {character!r}")
        if self.alternate and self.column >= self.columns:
            if not self.settled:
                return
            raise AssertionError(f"a line is too long: {''.join(self.lines[self.row])}{character}")
        line = self.lines[self.row]
        line.extend(" " * (self.column + 1 - len(line)))
        line[self.column] = character
        self.column += 1

    def write(self, text):
        """Returns the end of `text` that is the begin of a sequence."""
        while text:
            if text[0] != "\x1b":
                self.put(text[0])
                text = text[1:]
                continue
            found = CONTROL.match(text)
            if not found:
                return text
            self.control(*found.groups())
            text = text[found.end():]
        return ""


class Terminal:
    """A program on a terminal. Close it."""

    def __init__(self, command, cwd, env, columns=80, rows=24):
        self.master, self.slave = pty.openpty()
        self.screen = Screen(columns, rows)
        self.raw = b""  # all that was written to it
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._rest = ""
        self._set_size(columns, rows)
        self.modes_before = termios.tcgetattr(self.slave)
        self._report, report = os.pipe()
        control, self._control = os.pipe()

        def take_terminal():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.shell = subprocess.Popen([sys.executable, "-c", SHELL, str(report), str(control), *command], cwd=cwd, env=env,
                                      stdin=self.slave, stdout=self.slave, stderr=self.slave, pass_fds=(report, control),
                                      start_new_session=True, preexec_fn=take_terminal)
        os.close(report)
        os.close(control)
        self._reports = os.fdopen(self._report, "r")
        self.pid = int(self._reports.readline())

    def close(self):
        if self.shell.poll() is None:
            for pid in (self.pid, self.shell.pid):
                try:
                    os.kill(pid, 9)
                except ProcessLookupError:
                    pass
        self.shell.wait()
        self._reports.close()
        for descriptor in (self._control, self.master, self.slave):
            if descriptor is not None:
                os.close(descriptor)

    def hang_up(self):
        """The user closes the window."""
        os.close(self.slave)
        os.close(self.master)
        self.slave = self.master = None

    def _set_size(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        self._set_size(columns, rows)

    def send(self, keys):
        os.write(self.master, keys)

    def read(self, wait=0.05):
        """Takes what the program has written meanwhile."""
        while select.select([self.master], [], [], wait)[0]:
            part = os.read(self.master, 65536)
            self.raw += part
            self._rest = self.screen.write(self._rest + self._decoder.decode(part))
            wait = 0

    def wait_for(self, shows):
        """Reads until shows(screen text) is true, and returns the lines."""
        while not shows(self.screen.text()):
            if self.shell.poll() is not None:
                self.read()
                if shows(self.screen.text()):
                    break
                raise AssertionError("it ended; it showed:\n" + "\n".join(self.screen.text()))
            self.read()
        return self.screen.text()

    def report(self):
        """The next thing that happens to the program: "stopped SIGNAL" or "ended CODE"."""
        while not select.select([self._reports], [], [], 0)[0]:
            self.read()
        self.read(0)
        line = self._reports.readline().strip()
        self.read()
        return line

    def go_on(self):
        os.write(self._control, b"x")

    def modes(self):
        return termios.tcgetattr(self.slave)

    def echoes(self):
        return bool(self.modes()[3] & termios.ECHO)

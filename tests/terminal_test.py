"""What a person at a terminal sees, colours and the progress bar, and that nobody else is given any of it."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import unittest

from program import STOKER, ProgramTest

BAR = re.compile(r"\r\x1b\[K(epoch \d+/3 \[=*>? *\]?[^\r\x1b]*)")  # a narrow terminal cuts off its end


# What no program writes: the test writes it after the program's last byte. Reading until the terminal is closed would
# not do, for a terminal may throw away what is in flight when its last user goes.
END = b"\x04the end\x04"


def read_to_the_end(terminal, process, slave):
    """What `process` shows at `terminal` until it ends, and the end of `slave`, which it was given."""
    def mark_the_end():
        process.wait()
        os.write(slave, END)

    marker = threading.Thread(target=mark_the_end)
    marker.start()
    shown = b""
    while END not in shown:
        shown += os.read(terminal, 4096)
    marker.join()
    os.close(slave)
    return shown.removesuffix(END).decode()


class AtTerminal(ProgramTest):
    def run_at_terminal(self, *arguments, expect=0, columns=80, environment=None, **streams):
        """Runs `stoker ARGUMENTS` with all streams but those in `streams` on a terminal. Returns what it shows."""
        terminal, slave = pty.openpty()
        self.addCleanup(os.close, terminal)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        variables.update({"TERM": "xterm"}, **(environment or {}))
        process = subprocess.Popen([STOKER, *arguments], cwd=self.folder, env=variables,
                                   **{"stdin": slave, "stdout": slave, "stderr": slave, **streams})
        self.addCleanup(self.end, process)
        shown = read_to_the_end(terminal, process, slave)
        self.assertEqual(process.wait(), expect, shown)
        return shown

    # A terminal that cannot or shall not show colours.
    WITHOUT_COLOURS = [{"TERM": "dumb"}, {"NO_COLOR": "1"}]


class TerminalTest(AtTerminal):
    def test_help_has_bold_headings(self):
        for arguments, code in [(["--help"], 0), (["bench", "--help"], 0), ([], 2)]:
            with self.subTest(arguments=arguments):
                shown = self.run_at_terminal(*arguments, expect=code)
                for heading in ["Usage:", "Example:", "Exit:"]:
                    self.assertIn(f"\x1b[1m{heading}\x1b[0m ", shown)
                for environment in self.WITHOUT_COLOURS:
                    plain = self.run_at_terminal(*arguments, expect=code, environment=environment)
                    self.assertEqual(plain, re.sub(r"\x1b\[\d+m", "", shown))
                self.assertNotIn("\x1b", "".join(self.run_stoker(*arguments, expect=code)))

    def test_an_empty_no_color_means_colours(self):
        self.assertIn("\x1b[1m", self.run_at_terminal("--help", environment={"NO_COLOR": ""}))

    def test_errors_are_red(self):
        wrong = ["bench", "nothing.yaml"]
        self.assertRegex(self.run_at_terminal(*wrong, expect=1), r"\Astoker: error: \x1b\[31m.*nothing\.yaml.*\x1b\[0m\r\n\Z")
        for environment in self.WITHOUT_COLOURS:
            self.assertNotIn("\x1b", self.run_at_terminal(*wrong, expect=1, environment=environment))
        self.assertNotIn("\x1b", "".join(self.run_stoker(*wrong, expect=1)))


class TrainTerminalTest(AtTerminal):
    def test_a_full_check_of_the_data_shows_how_far_it_is(self):
        check = ["train", "recipe.yaml", "--check-data", "full", "--set", "train.epochs=1"]
        progress = r"checking data \[[=> ]+\] +\d+%  [\d.,]+ .?B of [\d.,]+ .?B"
        self.assertRegex(self.run_at_terminal(*check, "--run", "run"), progress)
        self.assertRegex(self.run_at_terminal("train", "recipe.yaml", "--check-data", "full", "--resume", "--run", "run",
                                              "--set", "train.epochs=1"), progress)
        self.assertNotRegex(self.run_at_terminal(*check, "--run", "quiet", "--quiet"), "checking data")
        _, err = self.run_stoker(*check, "--run", "piped")  # short enough for no line
        self.assertNotIn("checking data", err)

    def test_the_progress_bar_is_drawn_and_taken_away(self):
        for columns in (80, 30):
            shown = self.run_at_terminal("train", "recipe.yaml", "--run", f"run-{columns}", columns=columns)
            bars = BAR.findall(shown)
            self.assertTrue(bars, shown)
            self.assertLess(max(map(len, bars)), columns)
            # Every line that stays stands alone: the bar was erased before it, and nothing is left at the end.
            for line in shown.replace("\r\n", "\n").split("\n"):
                self.assertNotIn("[=", line.split("\x1b[K")[-1])

    def test_the_bar_goes_to_the_terminal_though_the_result_goes_elsewhere(self):
        with open(self.path("result"), "wb") as result:
            shown = self.run_at_terminal("train", "recipe.yaml", "--run", "run", stdout=result)
        self.assertRegex(shown, BAR)
        self.assertIn("test accuracy", self.read("result").decode())
        self.assertNotIn("\x1b", self.read("result").decode())

    def test_there_is_no_bar_where_it_is_not_wanted(self):
        self.assertNotRegex(self.run_at_terminal("train", "recipe.yaml", "--run", "quiet", "--quiet"), BAR)
        self.assertNotIn("\x1b", self.run_at_terminal("train", "recipe.yaml", "--run", "dumb", environment={"TERM": "dumb"}))
        out, err = self.run_stoker("train", "recipe.yaml", "--run", "pipe")
        self.assertNotRegex(out + err, r"\x1b|\r|\[=")


if __name__ == "__main__":
    unittest.main()

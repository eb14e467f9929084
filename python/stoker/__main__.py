"""The program `stoker` (``python -m stoker``), which the package holds beside its module."""

import os
import sys


def main():
    """Replaces this process by the program, with the same arguments."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "stoker")
    os.execv(program, ["stoker", *sys.argv[1:]])


if __name__ == "__main__":
    main()

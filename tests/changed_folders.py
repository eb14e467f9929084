#!/usr/bin/env python3
"""Which folders of stoker/ a change concerns: what `./dev test PRESET --since COMMIT` builds and tests.

Usage: changed_folders.py COMMIT [ROOT]     ROOT is the repository; without it, where this file stands

Prints, one a line, the folders in which a file differs from COMMIT (committed or not), and those that may include them by
the table of layering_test.py. A change of the build (CMake's files, dev and its scripts) concerns all folders. `program` stands for the tests
of tests/*.py, which run the programs: they are concerned where stoker/tools, tests/ themselves, or the recipes or examples that
they run changed.
"""
import pathlib
import re
import subprocess
import sys

from layering_test import MAY_INCLUDE

BUILD = re.compile(r"(.*/)?CMakeLists\.txt|CMakePresets\.json|cmake/.*|dev|scripts/.*")
PROGRAM = "program"
READ_BY_PROGRAMS = ("tests/", "recipes/", "examples/")


def changed_files(root, commit):
    """The names of the files that differ from `commit`, with those that git does not know yet."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout

    named = git("diff", "--name-only", "--no-renames", "-z", commit, "--")
    return (named + git("ls-files", "--others", "--exclude-standard", "-z")).split("\0")


def concerned(files):
    """The folders that changes of `files` concern, in the order of the layers."""
    changed = {name.split("/")[1] for name in files if name.startswith("stoker/") and name.count("/") > 1}
    whole_build = any(BUILD.fullmatch(name) for name in files)
    folders = [folder for folder, below in MAY_INCLUDE.items() if whole_build or changed & {folder, *below}]
    programs = whole_build or "tools" in changed or any(name.startswith(READ_BY_PROGRAMS) for name in files)
    return folders + [PROGRAM] * programs


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else pathlib.Path(__file__).resolve().parent.parent)
    try:
        files = changed_files(root, sys.argv[1])
    except subprocess.CalledProcessError as error:
        sys.exit(f"{sys.argv[1]}: {error.stderr.strip()}")
    for folder in concerned(files):
        print(folder)


if __name__ == "__main__":
    main()

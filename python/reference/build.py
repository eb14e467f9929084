#!/usr/bin/env python3
"""Builds the reference of the installed package as HTML, and checks it.

Usage: build.py --to FOLDER

It needs Sphinx and furo. FOLDER is replaced when all is well. Equal packages and documents give equal bytes.
"""

import argparse
import contextlib
import io
import os
import pathlib
import shutil
import sys
import tempfile

import check
import pages

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"


def build(to):
    """Builds into the folder `to`; returns what is wrong, a line each."""
    from sphinx.cmd.build import build_main

    to = pathlib.Path(to).resolve()
    with tempfile.TemporaryDirectory() as folder:
        texts, made = pathlib.Path(folder, "texts"), pathlib.Path(folder, "html")
        texts.mkdir()
        pages.write(texts, DOCS, os.path.relpath(DOCS, to).replace(os.sep, "/"))
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            failed = build_main(["-q", "-n", "-E", "-b", "html", "-c", str(HERE), "-d", f"{folder}/trees", str(texts), str(made)])
        problems = [line.replace(folder, "") for line in said.getvalue().splitlines() if line.strip()]
        if failed or problems:
            return problems or [f"sphinx-build ended with {failed}"]
        for name in (".buildinfo", "objects.inv"):
            (made / name).unlink(missing_ok=True)
        shutil.rmtree(made / "_sources", ignore_errors=True)
        shutil.rmtree(to, ignore_errors=True)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, to)
    return check.problems(to)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", required=True, help="the folder of the pages")
    to = parser.parse_args().to
    problems = build(to)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

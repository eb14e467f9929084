#!/usr/bin/env python3
"""Checks that no two files of stoker/ define a type of the same name in the same namespace.

Usage: one_definition_test.py [ROOT]     ROOT is the repository; without it, where this file stands

Where two do, the linker takes the functions of one for both (std::vector's, for a start), and neither it nor the compiler says
so. Prints `name: the files` for each such type, and exits 1. Tries itself first on a made-up tree, so that it cannot pass by
looking at nothing.
"""

import collections
import pathlib
import re
import sys
import tempfile

OPENS = re.compile(r"(?:inline )?namespace ?([\w:]*) ?\{(?!.*\})")
CLOSES = re.compile(r"\}  // namespace")
# At the beginning of a line, as clang-format leaves them; `struct X;` declares only.
DEFINES = re.compile(r"(?:struct|class|enum class|enum|union)(?: alignas\([^)]*\))? (\w+)(?: final)?(?: :[^:;][^;]*)?\s*(?:\{.*)?$")
UNNAMED = "(unnamed)"


def types_in(text):
    """The types that a file defines for others to see, with their namespaces."""
    namespaces = []
    for line in text.splitlines():
        if opened := OPENS.match(line):
            namespaces.append(opened.group(1) or UNNAMED)
        elif CLOSES.match(line):
            namespaces.pop()
        elif (defined := DEFINES.match(line)) and UNNAMED not in namespaces:
            yield "::".join([*namespaces, defined.group(1)])


def problems_in(root):
    files = collections.defaultdict(set)
    for path in sorted((root / "stoker").rglob("*")):
        if path.suffix in (".h", ".cc"):
            for name in types_in(path.read_text(encoding="utf-8")):
                files[name].add(str(path.relative_to(root)))
    return [f"{name}: {', '.join(sorted(where))}" for name, where in sorted(files.items()) if len(where) > 1], len(files)


def try_itself():
    header = "namespace stoker {{\nnamespace {{\nstruct Own {{\n}};\n}}  // namespace\nstruct Other;\n{} {{\n  struct Inner {{}};\n}};\n}}  // namespace stoker\n"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "stoker").mkdir()
        for name, defines in (("a.h", "struct Twice"), ("b.cc", "class Twice final : public Base"), ("c.h", "enum class Once"),
                              ("d.h", "struct Other")):
            (root / "stoker" / name).write_text(header.format(defines), encoding="utf-8")
        found, _ = problems_in(root)
        assert found == ["stoker::Twice: stoker/a.h, stoker/b.cc"], found


def main():
    try_itself()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    problems, types = problems_in(root)
    for problem in problems:
        print(f"{problem}: give one of them another name")
    print(f"{types} types, {len(problems)} with two definitions")
    return 1 if problems or types < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())

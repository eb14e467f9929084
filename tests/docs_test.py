"""The tables that lead from tf.data and DataLoader to Stoker name operators and options that exist, and every operator."""
import os
import re
import unittest

from program import ProgramTest

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
TABLES = ["from-tfdata.md", "from-dataloader.md"]


def our_cells(text):
    """The cells of the tables that are about Stoker: all but the first of each row."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield from re.split(r"(?<!\\)\|", line)[2:-1]


def keys(value):
    """The option names of `{name: value, ...}`, not those inside the values."""
    depth, flat = 0, ""
    for character in value:
        depth += (character in "{[(") - (character in "}])")
        if depth == 1 or character == "}":
            flat += character
    return re.findall(r"([a-z_]+):", flat) if value.startswith("{") else []


class DocsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.operators = {op["name"]: {option["name"] for option in op["options"]}
                          for op in self.run_json("inspect", "--ops")}
        self.texts = {}
        for name in TABLES:
            with open(os.path.join(DOCS, name), encoding="utf-8") as file:
                self.texts[name] = file.read()

    def test_names_only_operators_and_options_that_exist(self):
        options = set().union(*self.operators.values()) | {"on_error"}
        for name, text in self.texts.items():
            for cell in our_cells(text):
                for first, value in re.findall(r"`([a-z_]+): ([^`]+)`", cell):
                    with self.subTest(file=name, code=f"{first}: {value}"):
                        if first in self.operators:
                            self.assertLessEqual(set(keys(value)), self.operators[first])
                        else:
                            self.assertIn(first, options)

    def test_names_every_operator(self):
        words = set(re.findall(r"[a-z_]+", "\n".join(self.texts.values())))
        self.assertLessEqual(set(self.operators), words)


if __name__ == "__main__":
    unittest.main()

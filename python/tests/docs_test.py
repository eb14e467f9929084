"""What the documents write in Python can be called."""

import ast
import inspect
import pathlib
import re
import unittest

import stoker as sk

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
DOCUMENTS = ("python.md", "from-dataloader.md")


def snippets(text):
    """The code in fences that are marked as Python, and what stands in backquotes elsewhere."""
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        yield code
    for code in re.findall(r"`([^`\n]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        yield code.replace("\\|", "|")


def calls(code):
    """The calls of functions of the package, of what can be parsed."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == "sk"]


class Documents(unittest.TestCase):
    def test_name_functions_and_arguments_that_there_are(self):
        seen = 0
        for document in DOCUMENTS:
            for code in snippets((DOCS / document).read_text()):
                for call in calls(code):
                    seen += 1
                    with self.subTest(document, call=ast.unparse(call)):
                        function = getattr(sk, call.func.attr)
                        if call.func.attr == "filter":
                            continue  # two functions in one
                        parameters = inspect.signature(function).parameters
                        self.assertLessEqual({each.arg for each in call.keywords if each.arg}, set(parameters))
                        positional = [each for each in parameters.values() if each.kind is not inspect.Parameter.KEYWORD_ONLY]
                        self.assertLessEqual(len(call.args), len(positional))
        self.assertGreater(seen, 80)


if __name__ == "__main__":
    unittest.main()

"""What the documents write in Python can be called."""

import ast
import contextlib
import inspect
import pathlib
import re
import struct
import unittest
import zlib

import stoker as sk
from support import TestCase, needs

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
                    if call.func.attr not in dir(sk) and call.func.attr in sk._ON_DEMAND:
                        continue  # it needs a library that is not here
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


class Rows(unittest.TestCase):
    """The tables of from-dataloader.md."""

    def test_each_says_in_code_what_stands_for_it_in_python(self):
        seen, in_python = 0, None
        for line in (DOCS / "from-dataloader.md").read_text().splitlines():
            cells = re.split(r"(?<!\\)\|", line)[1:-1] if line.startswith("|") else []
            if not cells:
                in_python = None
            elif " in Python " in cells:
                in_python = cells.index(" in Python ")
            elif in_python is not None and not cells[0].startswith("---"):
                seen += 1
                with self.subTest(cells[0]):
                    self.assertRegex(cells[in_python], r"`[^`]+`")
        self.assertGreater(seen, 60)


def png(rows, bits):
    """A picture of one channel as PNG; of 8 bits it has a palette."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    kind, palette = (3, chunk(b"PLTE", bytes(3 * 256))) if bits == 8 else (0, b"")
    packed = b"".join(b"\0" + b"".join(value.to_bytes(bits // 8, "big") for value in row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, kind, 0, 0, 0)) + palette
            + chunk(b"IDAT", zlib.compress(packed)) + chunk(b"IEND", b""))


def sentencepiece_model():
    """The pieces <unk>, <s>, </s>, a space, a, b, as SentencePiece writes them: a message of messages."""
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data

    def piece(text, score, kind):
        return field(1, field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + bytes([3 << 3, kind]))

    pieces = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3), ("\u2581", -2, 1), ("a", -3, 1), ("b", -3, 1)]
    return b"".join(piece(*each) for each in pieces) + field(2, b"\x18\x01")


def samples(code):
    """What a line of the table of transforms is run on: pictures, texts, numbers of tokens, or files of masks."""
    import numpy

    masks = {'"index"': png([[1, 2], [3, 250]], 8), '"index16"': png([[1, 2], [3, 60000]], 16)}
    for channels, mask in masks.items():
        if channels in code:
            return [{"mask": numpy.frombuffer(mask, numpy.uint8)}] * 4
    if re.match(r"sk\.(words|wordpiece|sentencepiece)", code):
        return [{"text": "a b ab"[number % 4:], "second": "b a"} for number in range(8)]
    if "tokens" in code:
        return [{"tokens": numpy.arange(number % 5 + 1)} for number in range(8)]
    pictures = numpy.random.default_rng(1).integers(0, 256, (64, 3, 48, 40), dtype=numpy.uint8)
    return [{"image": each, "right": each, "mask": each[:1], "label": number % 10} for number, each in enumerate(pictures)]


@needs("numpy")
class Transforms(TestCase):
    """The table of what torchvision's transforms are called."""

    def cells(self):
        text = (DOCS / "from-dataloader.md").read_text()
        lines = text[text.index("| torchvision | Stoker | in Python |"):].splitlines()[2:]
        for line in lines:
            yield re.split(r"(?<!\\)\|", line)[1:-1]

    def test_has_a_line_of_python_in_each_row(self):
        rows = list(self.cells())
        self.assertGreaterEqual(len(rows), 19)
        for row in rows:
            self.assertRegex(row[2], r"`sk\.\w+\(", row[0])

    def test_every_line_of_python_runs_on_generated_pictures_and_texts(self):
        (self.folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n##b\n")
        (self.folder / "words.txt").write_text("<unk>\na\nb\n")
        (self.folder / "x.model").write_bytes(sentencepiece_model())
        ran = 0
        with contextlib.chdir(self.folder):
            for row in self.cells():
                for code in re.findall(r"`(sk\..+?)`", row[2].replace("\\|", "|")):
                    with self.subTest(code):
                        pipeline = sk.from_map_style(samples(code)) | eval(code, {"sk": sk})
                        made = list(sk.Loader(pipeline, to="dlpack" if "bfloat16" in code else "numpy", threads=0, seed=1))
                        self.assertGreater(len(made), 0)
                        if "index" in code:
                            self.assertEqual(made[0]["mask"].tolist(), [[[1, 2], [3, 60000 if "index16" in code else 250]]])
                    ran += 1
        self.assertGreaterEqual(ran, 30)


if __name__ == "__main__":
    unittest.main()

"""Text becomes the numbers that the other software makes of it: BERT's word pieces as the package `tokenizers` has them,
SentencePiece models as the package `sentencepiece` runs them. Skipped where these are not installed (other_software.py).
"""
import os
import struct
import unittest

from other_software import InteropTest
from program import ProgramTest

# Words of many scripts, and characters drawn from all of Unicode; none ends a line.
WRITE_TEXT = """
import json, random, unicodedata
import sentencepiece
from tokenizers import BertWordPieceTokenizer
random = random.Random(1)
scripts = [(0x20, 0x7f), (0xa0, 0x250), (0x370, 0x400), (0x400, 0x530), (0x590, 0x700), (0x900, 0xa00), (0x1100, 0x1200),
           (0x1e00, 0x2000), (0x2000, 0x2070), (0x3000, 0x3100), (0x4e00, 0x4f00), (0xac00, 0xad00), (0xf900, 0xfb00),
           (0xfe00, 0x10000), (0x1d100, 0x1d200), (0x1f300, 0x1f650), (0x20000, 0x20100)]
def character():
    while True:
        low, high = random.choice(scripts)
        drawn = chr(random.randrange(low, high))
        # Tables of different versions of Unicode agree in what has been the same since an early one.
        category = unicodedata.category(drawn)
        if category not in ("Cn", "Cs") and unicodedata.ucd_3_2_0.category(drawn) == category: return drawn
words = ["the", "cat", "sat", "unaffable", "Straße", "École", "naïve", "[MASK]", "[SEP]", "don't", "3.14", "İstanbul"]
def line(i):
    parts = [random.choice(words) if random.random() < 0.5 else "".join(character() for _ in range(random.randrange(1, 9)))
             for _ in range(random.randrange(12))]
    return random.choice([" ", "\\t", "  ", "-"]).join(parts).replace("\\n", " ").replace("\\r", " ")
lines = [line(i) for i in range(1500)]
# The characters that line readers, here or there, may take for ends of lines stay: lines are separated by LF alone.
with open("text.txt", "w", encoding="utf-8", newline="") as file: file.write("".join(text + "\\n" for text in lines))
pieces = sorted({text[a:b].lower() for text in lines[::3] for a in range(0, len(text), 3) for b in (a + 1, a + 2, a + 4)})
pieces = [piece for piece in pieces if piece and not any(c.isspace() for c in piece)]
vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + pieces + ["##" + piece for piece in pieces]
vocabulary = list(dict.fromkeys(vocabulary))
with open("vocab.txt", "w", encoding="utf-8", newline="") as file: file.write("".join(token + "\\n" for token in vocabulary))
found = {}
for name, options in {"uncased": {}, "cased": {"lowercase": False}, "lowered": {"strip_accents": False}}.items():
    model = BertWordPieceTokenizer("vocab.txt", **options)
    found[name] = [encoding.ids for encoding in model.encode_batch(lines)]
sentencepiece.SentencePieceTrainer.train(input="text.txt", model_prefix="sp", vocab_size=6000, character_coverage=0.98,
                                         hard_vocab_limit=False, minloglevel=2)
found["sentencepiece"] = sentencepiece.SentencePieceProcessor(model_file="sp.model").encode(lines)
print(json.dumps(found))
"""

RECIPE = """
data:
  root: .
  train:
    - lines: text.txt
    - %s
    - cache: {path: %s.elements}
"""


def int32_lists(data):
    """The arrays of an element file (stoker/formats/elements/README.md) of one field, int32[?], by position."""
    count, index = struct.unpack_from("<QQ", data, len(data) - 32)
    for (at,) in struct.iter_unpack("<Q", data[index:index + 8 * count]):
        (extent,) = struct.unpack_from("<q", data, at + 24)
        yield list(struct.unpack_from(f"<{extent}i", data, at + 32))


class TextTest(InteropTest):
    def tokens_of(self, name, operator):
        self.write("recipe.yaml", RECIPE % (operator, name))
        self.run_stoker("bench", "recipe.yaml", "--epochs", "1")
        return list(int32_lists(self.read(name + ".elements")))

    def assert_same(self, ours, theirs):
        self.assertEqual(len(ours), len(theirs))
        with open(self.path("text.txt"), encoding="utf-8", newline="\n") as file:
            for line, one, other in zip(file.read().split("\n"), ours, theirs):
                self.assertEqual(one, other, ascii(line))

    def test_word_pieces_and_sentence_pieces_are_those_of_their_own_software(self):
        theirs = self.run_other(WRITE_TEXT)
        for name, options in {"uncased": "", "cased": ", lower: false", "lowered": ", accents: keep"}.items():
            with self.subTest(model=name):
                ours = self.tokens_of(name, f"wordpiece: {{vocabulary: vocab.txt{options}}}")
                self.assert_same(ours, theirs[name])
        with self.subTest(model="sentencepiece"):
            self.assert_same(self.tokens_of("sp", "sentencepiece: {model: sp.model}"), theirs["sentencepiece"])


class VocabularyTest(ProgramTest):
    TEXTS = "data:\n  root: .\n  train:\n    - lines: text.txt\n"

    def test_the_most_frequent_words_are_written_and_looked_up(self):
        self.write("text.txt", "the cat\nthe the dog, cat\n\n")
        self.write("texts.yaml", self.TEXTS)
        found = self.run_json("vocabulary", "texts.yaml", "--to", "words.txt", "--size", "3", "--first", "<unk>")
        self.assertEqual(found, {"file": "words.txt", "tokens": 3, "texts": 3, "words": 6, "different_words": 3})
        self.assertEqual(self.read("words.txt"), b"<unk>\nthe\ncat\n")
        self.write("words.yaml", self.TEXTS + "    - words: {vocabulary: words.txt, unknown: <unk>}\n    - cache: {path: c}\n")
        self.run_stoker("bench", "words.yaml", "--epochs", "1")
        self.assertEqual(list(int32_lists(self.read("c"))), [[1, 2], [1, 1, 0, 2], []])

    def test_what_it_leaves_out_is_not_logged_since_no_run_has_lost_it(self):
        self.write("rows.csv", "id,text\n1,one two\nx,lost\n3,two\n")
        self.write("rows.yaml", "data:\n  train:\n    - {csv: {files: rows.csv, fields: {id: int64, text: text}}, "
                                "on_error: {policy: skip, limit: 5, log: lost.jsonl}}\n")
        self.run_stoker("vocabulary", "rows.yaml", "--to", "words.txt")
        self.assertEqual(self.read("words.txt").decode().split(), ["two", "one"])
        self.assertFalse(os.path.exists(self.path("lost.jsonl")))

    def test_the_recipe_that_needs_the_vocabulary_is_what_it_is_made_from(self):
        self.write("text.txt", "the cat\nthe the dog, cat\n\n")
        stages = "    - shuffle\n    - words: {vocabulary: words.txt, unknown: <unk>}\n    - padded_batch\n"
        self.write("words.yaml", self.TEXTS + stages + "  eval:\n    - lines: text.txt\n" + stages)
        self.run_stoker("vocabulary", "words.yaml", "--to", "words.txt", "--first", "<unk>", "--size", "3")
        self.assertEqual(self.read("words.txt"), b"<unk>\nthe\ncat\n")
        self.run_stoker("bench", "words.yaml", "--seconds", "0.1")

    def test_words_are_split_as_told(self):
        self.write("text.txt", "A-b a\n")
        self.write("texts.yaml", self.TEXTS)
        self.run_stoker("vocabulary", "texts.yaml", "--to", "v", "--pattern", "\\w+", "--lower")
        self.assertEqual(self.read("v"), b"a\nb\n")

    def test_words_that_come_first_may_stand_in_brackets(self):
        self.write("text.txt", "a\n")
        self.write("texts.yaml", self.TEXTS)
        self.run_stoker("vocabulary", "texts.yaml", "--to", "v", "--first", "[PAD]", "--first", "[a,b]")
        self.assertEqual(self.read("v"), b"[PAD]\n[a,b]\na\n")

    def test_what_is_wrong_is_said(self):
        self.write("text.txt", "\n")
        self.write("texts.yaml", self.TEXTS)
        self.assert_fails(["vocabulary", "texts.yaml", "--to", "v"], 1, "no word in the 1 text of field 'text'")
        self.assert_fails(["vocabulary", "texts.yaml", "--to", "v", "--pattern", "("], 2, "no regular expression")
        self.assert_fails(["vocabulary", "texts.yaml", "--to", "v", "--field", "x"], 2, "there is no field 'x'")
        self.write("texts.yaml", self.TEXTS + "    - repeat\n")
        self.assert_fails(["vocabulary", "texts.yaml", "--to", "v"], 2, "has no end")


if __name__ == "__main__":
    unittest.main()

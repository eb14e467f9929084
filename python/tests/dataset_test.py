"""Pipelines are values: they print, compare, become YAML and back, and pickle."""

import gzip
import os
import pickle
import unittest

import stoker as sk
from support import TestCase


class Dataset(TestCase):
    def made(self):
        return sk.range(10, start=2) | sk.shuffle(buffer=4) | sk.batch(size=3, drop_remainder=True)

    def test_prints_as_a_recipe_has_it(self):
        self.assertEqual(repr(sk.range(10) | sk.shuffle() | sk.batch(4)),
                         "- range: {stop: 10}\n- shuffle\n- batch: {size: 4}\n")

    def test_becomes_yaml_and_back(self):
        data = self.made()
        again = sk.from_yaml(data.to_yaml())
        self.assertEqual(data, again)
        self.assertEqual(hash(data), hash(again))
        self.assertEqual(data.spec, again.spec)

    def test_compares_by_what_it_does_and_not_by_how_it_was_written(self):
        self.assertEqual(sk.range(3) | sk.batch(), sk.from_yaml("[range: 3, batch: {size: 32, drop_remainder: false}]"))
        self.assertNotEqual(sk.range(3) | sk.batch(), sk.range(3) | sk.batch(33))
        self.assertNotEqual(sk.range(3), sk.range(3) | sk.batch())
        self.assertNotEqual(sk.range(3), "- range: {stop: 3}\n")

    def test_a_pickle_holds_the_recipe(self):
        data = self.made()
        pickled = pickle.dumps(data)
        self.assertIn(b"range: {stop: 10, start: 2}", pickled)
        self.assertEqual(pickle.loads(pickled), data)
        stages = sk.shuffle() | sk.batch(4)
        self.assertEqual(pickle.loads(pickle.dumps(stages)), stages)

    def test_relative_paths_start_where_the_source_was_made(self):
        (self.folder / "a.txt").write_text("x\ny\n")
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            data = sk.lines("a.txt")
        finally:
            os.chdir(before)
        for each in (data, pickle.loads(pickle.dumps(data)), sk.from_yaml("[lines: a.txt]", root=self.folder)):
            self.assertEqual([bytes(memoryview(row["text"])) for row in sk.Loader(each, to="dlpack")], [b"x", b"y"])

    def test_stages_can_be_kept_and_used_again(self):
        augment = sk.shuffle() | sk.take(5)
        self.assertEqual(sk.range(9) | augment | sk.batch(2), sk.range(9) | sk.shuffle() | sk.take(5) | sk.batch(2))

    def test_tells_what_its_elements_are(self):
        images, labels = self.pictures()
        data = sk.idx(images=images, labels=labels) | sk.normalize(mean=0.5, std=0.5) | sk.batch(20)
        self.assertEqual(data.spec, {"image": ("float32", (-1, 1, 6, 5)), "label": ("uint8", (-1,))})
        self.assertEqual((data.count, len(data)), (3, 3))
        self.assertEqual((data | sk.repeat()).count, float("inf"))
        for endless in (data | sk.repeat(), data | sk.unbatch() | sk.filter(equals=3)):
            with self.assertRaises(TypeError):
                len(endless)

    def test_a_recipe_gives_its_pipelines(self):
        self.pictures()
        recipe = self.folder / "recipe.yaml"
        recipe.write_text("data:\n  classes: [a, b]\n  train: [idx: {images: images, labels: labels}, batch: {size: 8}]\n"
                          "  eval: [range: 3]\n")
        self.assertEqual(sk.read_recipe(recipe).count, 6)
        self.assertEqual(sk.read_recipe(recipe).classes, ("a", "b"))
        self.assertEqual(sk.read_recipe(recipe, "eval").count, 3)
        self.assertEqual(len(sk.Loader(recipe, set=["data.train.batch.size=24"])), 2)
        with self.assertRaises(sk.ConfigError):
            sk.read_recipe(recipe, "test")

    def test_a_recipe_gives_the_features_of_a_table(self):
        (self.folder / "homes.csv").write_text("size,kind,price\n" + "".join(f"{i},{'hut' if i % 2 else 'flat'},{i}\n" for i in range(6)))
        recipe = self.folder / "recipe.yaml"
        recipe.write_text("data:\n  source: [csv: {files: homes.csv}]\n  features: {size: numeric, kind: categorical}\n"
                          "  train: [batch: 6]\n")
        self.assertEqual(sk.read_recipe(recipe).spec, {"price": ("int64", (6,)), "features": ("float32", (6, 2))})
        (batch,) = sk.Loader(recipe, to="dlpack")
        values = memoryview(batch["features"]).cast("B").cast("f").tolist()
        self.assertEqual(values[1::2], [1, 2, 1, 2, 1, 2])  # as often there, so by their bytes: flat, hut
        self.assertAlmostEqual(sum(values[::2]), 0, places=5)

    def test_mistakes_in_a_recipe_have_their_line_and_column(self):
        recipe = self.folder / "recipe.yaml"
        recipe.write_text("data:\n  train:\n    - range: 3\n    - batch: {sise: 4}\n")
        with self.assertRaises(sk.ConfigError) as caught:
            sk.Loader(recipe)
        error = caught.exception
        self.assertEqual((error.file, error.line, error.column), (str(recipe), 4, 15))
        self.assertIn("did you mean 'size'?", str(error))
        self.assertEqual(pickle.loads(pickle.dumps(error)).line, 4)

    def test_stages_that_do_not_go_together_name_the_line_of_the_program(self):
        pipeline = sk.range(10) | sk.decode()
        with self.assertRaises(sk.ConfigError) as caught:
            sk.Loader(pipeline)
        self.assertEqual(caught.exception.file, __file__)

    def test_what_is_no_stage_is_refused(self):
        for other in (sk.shuffle, "shuffle", None, 3):
            with self.subTest(repr(other)), self.assertRaisesRegex(TypeError, "is no stage"):
                sk.range(3) | other
        for first in (sk.range(3), sk.shuffle()):
            with self.assertRaisesRegex(sk.ConfigError, "comes first"):
                first | sk.range(3)

    def test_missing_and_damaged_files_are_told_apart(self):
        with self.assertRaises(sk.ResourceError) as caught:
            list(sk.Loader(sk.lines(self.folder / "missing.txt")))
        self.assertIsInstance(caught.exception, OSError)
        self.assertIn("missing.txt", str(caught.exception))
        images, _ = self.pictures()
        images.write_bytes(images.read_bytes()[:100])
        with self.assertRaises(sk.DataError) as caught:
            list(sk.Loader(sk.idx(images=images)))
        self.assertEqual(caught.exception.file, str(images))

    def place_of_the_error(self, pipeline):
        with self.assertRaises(sk.DataError) as caught:
            list(sk.Loader(pipeline, to="dlpack"))
        error = caught.exception
        for each in (error, pickle.loads(pickle.dumps(error))):
            self.assertEqual((each.file, each.line, each.offset), (error.file, error.line, error.offset))
        return error.file, error.line, error.offset

    def test_the_error_of_a_damaged_file_has_the_byte(self):
        images, _ = self.pictures()
        whole = images.read_bytes()
        images.write_bytes(whole[:100])  # its values begin after a header of 16 bytes
        self.assertEqual(self.place_of_the_error(sk.idx(images=images)), (str(images), None, 16))
        packed = self.folder / "images.gz"
        packed.write_bytes(gzip.compress(whole[:100]))
        self.assertEqual(self.place_of_the_error(sk.idx(images=packed)), (str(packed), None, 16))
        (self.folder / "all" / "a").mkdir(parents=True)
        (self.folder / "all" / "a" / "short.pgm").write_bytes(b"P5 4 4 255\n123")
        file, line, offset = self.place_of_the_error(sk.folder(self.folder / "all") | sk.decode())
        self.assertEqual((os.path.basename(file), line, offset), ("short.pgm", None, 14))

    def test_the_error_of_a_row_has_its_line_and_byte(self):
        table = self.folder / "table.csv"
        table.write_text("a,b\n1,2\n3\n")
        self.assertEqual(self.place_of_the_error(sk.csv(table, fields={"a": "int64", "b": "int64"})), (str(table), 3, 8))

    def test_errors_find_their_place_in_each_form_of_message(self):
        for message, place in (
            ("a.gz: byte 16: cut short", ("a.gz", None, None, 16)),
            ("while reading x: a.gz: byte 16: cut short", ("a.gz", None, None, 16)),
            ("a.gz (decompressed): byte 16: cut short", ("a.gz", None, None, 16)),
            ("csv: a.csv: record 1 (line 3, byte 8): the row ends", ("a.csv", 3, None, 8)),
            ("a.jsonl: record 1 (line 2, byte 10): byte 8: '}' is wanted", ("a.jsonl", 2, None, 10)),
            ("a.csv: record 0 (byte 0): the row ends", ("a.csv", None, None, 0)),
            ("list.txt: byte 40: line 3 has no label", ("list.txt", 3, None, 40)),
            ("http://127.0.0.1:9/a.txt: byte 5: HTTP 503", ("http://127.0.0.1:9/a.txt", None, None, 5)),
            ("train.py:12: batch: size is 0", ("train.py", 12, None, None)),
            ("recipe.yaml:5:17: unknown", ("recipe.yaml", 5, 17, None)),
            ("a.tar: record 12: '0012': byte 3: the JPEG ends", (None, None, None, None)),
            ("element 3: byte 7: the JPEG ends", (None, None, None, None)),
            ("nothing is said of a place", (None, None, None, None)),
        ):
            with self.subTest(message):
                error = sk.DataError(message)
                self.assertEqual((error.file, error.line, error.column, error.offset), place)

    def test_each_mistake_of_a_recipe_has_a_line(self):
        path = self.folder / "two.yaml"
        path.write_text("data: {train: [range: {stop: 5, sto: 1}, shuffel, batch: 2]}\n")
        with self.assertRaises(sk.ConfigError) as raised:
            sk.Loader(str(path))
        self.assertEqual([line.count("two.yaml:1:") for line in str(raised.exception).splitlines()], [1, 1])


if __name__ == "__main__":
    unittest.main()

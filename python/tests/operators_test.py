"""The functions of the operators are what the registration says."""

import inspect
import json
import keyword
import sys
import unittest

import stoker as sk
from stoker import _core, operators
from support import TestCase

# Those that call functions of Python have functions of their own (functions_test.py).
KINDS = {kind["name"]: kind for kind in json.loads(_core.operators_json()) if not kind["name"].startswith("python_")}


def argument(option):
    """The name of an option in Python, where some are words of the language."""
    return option["name"] + "_" * keyword.iskeyword(option["name"])


class Operators(TestCase):
    def test_every_registered_operator_is_a_function_with_its_options_and_help(self):
        self.assertEqual(sorted(KINDS), sorted(operators.__all__))
        for name, kind in KINDS.items():
            with self.subTest(name):
                function = getattr(operators, name)
                parameters = list(inspect.signature(function).parameters)
                self.assertEqual(parameters, [argument(option) for option in kind["options"]] + ["on_error"])
                for option in kind["options"]:
                    self.assertIn(argument(option) + ":", function.__doc__)

    def test_defaults_of_the_signature_are_those_of_the_registration(self):
        for name, kind in KINDS.items():
            parameters = inspect.signature(getattr(operators, name)).parameters
            for option in kind["options"]:
                default = parameters[argument(option)].default
                with self.subTest(f"{name}.{option['name']}"):
                    if option["required"]:
                        self.assertIs(default, inspect.Parameter.empty)
                    else:
                        self.assertEqual(json.loads(json.dumps(default)) or None, option["default"] or None)

    def test_every_operator_without_required_options_can_be_called_bare(self):
        for name, kind in KINDS.items():
            if any(option["required"] for option in kind["options"]):
                continue
            with self.subTest(name):
                try:
                    made = getattr(operators, name)()
                except sk.ConfigError as error:
                    # Some need one of several options.
                    self.assertIn(name, str(error))
                else:
                    self.assertIsInstance(made, sk.Dataset if kind["group"] == "source" else sk.Stages)

    def test_only_the_first_option_goes_without_its_name(self):
        self.assertEqual(sk.batch(64), sk.batch(size=64))
        with self.assertRaises(TypeError):
            sk.batch(64, True)

    def test_a_misspelt_name_is_answered_with_the_nearest(self):
        for misspelt, nearest in (("shufle", "shuffle"), ("Lodaer", "Loader"), ("random_flop", "random_flip"), ("DataLoadr", "DataLoader")):
            with self.subTest(misspelt), self.assertRaisesRegex(AttributeError, f"no attribute '{misspelt}'. Did you mean '{nearest}'"):
                getattr(sk, misspelt)
        with self.assertRaisesRegex(AttributeError, "has no attribute 'zzz'.$"):
            sk.zzz  # noqa: B018

    def test_a_misspelt_argument_is_answered_with_the_nearest_and_all_that_there_are(self):
        for call, nearest, arguments in (
            (lambda: sk.batch(sise=3), "size", "size, drop_remainder, ragged, on_error"),
            (lambda: sk.Loader(sk.range(3), sed=1), "seed", "source, section, set, seed"),
            (lambda: sk.filter("label", equal=3), "equals", "field, equals, except_, min, max, on_error"),
            (lambda: sk.map(len, feild="x"), "fie?ld", "function, field, fields"),
            (lambda: sk.from_generator(len, field="x"), "fields", "function, fields, spec, on_error"),
            (lambda: sk.read_recipe("recipe.yaml", sets=[]), "set", "path, section, set"),
        ):
            # Python 3.13 and later find the nearest themselves.
            with self.subTest(nearest), self.assertRaisesRegex(TypeError, f"Did you mean '{nearest}'"):
                call()
            if sys.version_info < (3, 13):
                with self.subTest(arguments), self.assertRaisesRegex(TypeError, f"Its arguments are {arguments}"):
                    call()

    def test_an_error_of_a_function_that_is_called_is_not_taken_for_one_of_the_call(self):
        def fails(element):
            return {"x": int("3", bse=10)}

        with self.assertRaises(sk.DataError) as caught:
            (sk.range(3) | sk.map(fails)).spec  # noqa: B018
        self.assertNotIn("Its arguments are", str(caught.exception))

    def test_an_option_out_of_range_names_the_line_of_the_program(self):
        line = inspect.currentframe().f_lineno + 2
        with self.assertRaises(sk.ConfigError) as caught:
            sk.batch(size=0)
        self.assertEqual((caught.exception.file, caught.exception.line), (__file__, line))
        self.assertIn("batch.size is 0; it must lie in 1..1073741824", str(caught.exception))
        self.assertIsInstance(caught.exception, ValueError)

    def test_values_that_are_no_options_are_refused(self):
        itself = []
        itself.append(itself)
        for value in (object(), b"bytes", {1: 2}, itself, float("nan"), "many", [1], {1, 2}):
            with self.subTest(repr(value)), self.assertRaises(sk.ConfigError):
                sk.batch(size=value)

    def test_numbers_paths_and_arrays_are_taken_from_other_libraries(self):
        class Index:
            def tolist(self):
                return [0.5, 0.25, 0.125]

        self.assertEqual(sk.normalize(mean=Index()), sk.normalize(mean=[0.5, 0.25, 0.125]))
        self.assertEqual(sk.lines(self.folder / "a"), sk.lines(str(self.folder / "a")))

    def test_texts_that_look_like_numbers_stay_texts(self):
        self.assertEqual(sk.range(3, field="1").spec, {"1": ("int64", ())})
        self.assertEqual(sk.from_yaml(sk.range(3, field="1").to_yaml()).spec, {"1": ("int64", ())})

    def test_pipelines_are_options(self):
        both = sk.zip([sk.range(3, field="a"), sk.range(3, field="b")])
        self.assertEqual([list(map(int, row.values())) for row in sk.Loader(both, to="numpy")], [[0, 0], [1, 1], [2, 2]])

    def test_a_source_leaves_its_file_to_interleave(self):
        for name in "ab":
            (self.folder / f"{name}.txt").write_text(f"head\n{name}1\n{name}2\n")
        data = sk.interleave(files=str(self.folder / "*.txt"), pipeline=sk.lines(..., skip=1))
        texts = sorted(bytes(row["text"]).decode() for row in sk.Loader(data, to="numpy"))
        self.assertEqual(texts, ["a1", "a2", "b1", "b2"])

    def test_on_error_stands_beside_the_options(self):
        (self.folder / "bad").mkdir()
        (self.folder / "bad" / "a.jpg").write_bytes(b"no picture")
        data = sk.folder(self.folder) | sk.decode(on_error="skip")
        self.assertEqual(list(sk.Loader(data, to="numpy")), [])
        with self.assertRaises(sk.ConfigError):
            sk.decode(on_error={"policy": "never"})


if __name__ == "__main__":
    unittest.main()

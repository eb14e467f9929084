"""What editors, checkers of types and help() say of the package is what there is."""

import ast
import importlib
import inspect
import pathlib
import pydoc
import re
import subprocess
import sys
import unittest

import stoker as sk
from stoker import _core
from support import TestCase, needs

PACKAGE = pathlib.Path(sk.__file__).parent

# A program that uses what users use, without a word that only a checker needs.
PROGRAM = """
import stoker as sk
from stoker import DataLoader

def augment(sample: dict[str, object]) -> dict[str, object]:
    return sample

def pipeline() -> sk.Dataset:
    stages: sk.Stages = sk.random_flip() | sk.normalize(mean=[0.485, 0.456, 0.406], std=(0.229, 0.224, 0.225))
    return (sk.folder("train") | sk.shuffle() | sk.decode(on_error={"policy": "skip"}) | sk.map(augment)
            | sk.filter(lambda sample: bool(sample["label"])) | sk.filter("label", equals=[3, 5])
            | sk.random_resized_crop(size=224) | stages | sk.batch(64, drop_remainder=True) | sk.prefetch())

def main() -> None:
    train = pipeline()
    loader = sk.Loader(train, seed=1, device="cuda", memory="2GiB")
    for batch in loader:
        sk.show(batch, classes=["a", "b"]).save("sheet.png")
    loader.load_state_dict(loader.state_dict())
    print(loader.profile().stages[0].busy_s, loader.explain().limit["stage"], len(loader), train.spec["image"][1])
    try:
        print(sk.zip([sk.from_yaml(train.to_yaml()), sk.from_map_style([1, 2, 3], fields="x")]))
    except sk.ConfigError as error:
        print(error.file, error.line)
    print(sk.interleave(files="logs/*.txt", pipeline=sk.lines(..., skip=1)), sk.worker_context(), DataLoader, sk.__version__)
"""


def in_stub(tree):
    """(owner, node) of each function of a stub; the owner is a class or the module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield _core, node
        elif isinstance(node, ast.ClassDef):
            yield from ((getattr(_core, node.name), each) for each in node.body if isinstance(each, ast.FunctionDef))


def is_property(node):
    return any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)


class Types(TestCase):
    def test_the_stub_of_the_module_has_what_the_module_has_with_the_same_parameters(self):
        tree = ast.parse((PACKAGE / "_core.pyi").read_text())
        seen = set()
        for owner, node in in_stub(tree):
            with self.subTest(f"{owner.__name__}.{node.name}"):
                found = inspect.getattr_static(owner, node.name)
                seen.add((owner, node.name))
                if is_property(node):
                    self.assertIsInstance(found, property)
                    continue
                signatures = getattr(found, "__nb_signature__", None)
                if signatures is None:
                    self.assertTrue(callable(getattr(owner, node.name)))  # slots of the type
                    continue
                self.assertEqual(len(signatures), 1)
                said = ast.parse(re.sub(r"\\\d+", "...", signatures[0][0]) + ": ...").body[0].args  # defaults are numbered
                self.assertEqual([each.arg for each in said.args], [each.arg for each in node.args.args])
                self.assertEqual(len(said.defaults), len(node.args.defaults))
        for owner in (_core, *(each for each in vars(_core).values() if inspect.isclass(each))):
            for name, value in vars(owner).items():
                if not name.startswith("_") and (hasattr(value, "__nb_signature__") or isinstance(value, property)):
                    self.assertIn((owner, name), seen)

    def test_every_function_that_users_call_says_the_types_of_its_parameters_and_result(self):
        for name in sk.__all__:
            value = getattr(sk, name)
            functions = [value] if inspect.isfunction(value) else [
                each.fget if isinstance(each, property) else each for each in vars(value).values()
                if inspect.isfunction(each) and not each.__name__.startswith("_") or isinstance(each, property)
            ]
            for function in functions:
                if function is sk.filter or value is sk.Array:
                    continue  # two functions in one, by overloads; the other is in the stub
                with self.subTest(name, function=function.__name__):
                    signature = inspect.signature(function)
                    untyped = [each.name for each in signature.parameters.values()
                               if each.annotation is each.empty and each.name != "self"]
                    self.assertEqual(untyped, [])
                    self.assertIsNot(signature.return_annotation, signature.empty)

    @needs("mypy")
    @needs("torch")
    def test_a_strict_checker_finds_nothing_in_a_program_that_uses_the_package(self):
        (self.folder / "program.py").write_text(PROGRAM)
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "program.py"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Help(unittest.TestCase):
    def test_completion_offers_what_users_call_and_no_modules_of_the_package(self):
        offered = [name for name in dir(sk) if not name.startswith("__")]
        self.assertEqual(sorted(set(offered) - set(sk.__all__) - {"DataLoader", "worker_context", "ray"}), [])
        self.assertLessEqual(set(sk.__all__), set(offered))

    @needs("torch")
    def test_completion_offers_what_is_imported_on_demand_where_it_can_be(self):
        self.assertLessEqual({"DataLoader", "worker_context"}, set(dir(sk)))

    def test_completion_imports_nothing(self):
        program = "import sys, stoker; dir(stoker); print(*{'torch', 'numpy', 'ray'} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "")

    def test_help_of_an_operator_shows_its_options_with_types_and_defaults(self):
        said = pydoc.plain(pydoc.render_doc(sk.shuffle))
        self.assertRegex(said, r"shuffle\(\s*buffer: 'int \| None' = None,\s*\*,\s*seed: 'int \| None' = None")
        self.assertIn("-> 'Stages'", said)
        self.assertIn("page: consecutive elements that are read together", said)

    def test_help_of_the_package_and_of_every_public_name_can_be_shown(self):
        for value in (sk, *(getattr(sk, name) for name in sk.__all__)):
            with self.subTest(value):
                self.assertNotIn("<object object", pydoc.render_doc(value))

    def test_what_can_be_imported_from_each_public_module_is_there(self):
        for name in ("stoker", "stoker.operators", "stoker.functions"):
            module = importlib.import_module(name)
            for each in module.__all__:
                self.assertTrue(hasattr(module, each), each)


if __name__ == "__main__":
    unittest.main()

"""The reference (./dev reference) has all that users call, and its links lead somewhere."""

import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import stoker as sk
from stoker import _core
from support import TestCase

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "reference"
MISSING = [name for name in ("sphinx", "furo") if not importlib.util.find_spec(name)]

sys.path.insert(0, str(FOLDER))
import build  # noqa: E402
import check  # noqa: E402
import pages  # noqa: E402


@unittest.skipIf(MISSING, f"{' and '.join(MISSING)} is not installed; ./dev python installs what makes the reference")
class Reference(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.made)
        cls.problems = build.build(cls.made / "first")

    def text(self, page):
        return check.Page((self.made / "first" / page).read_text()).text

    def test_is_made_without_a_warning_and_without_a_problem(self):
        self.assertEqual(self.problems, [])

    def test_is_the_same_to_the_byte_when_it_is_made_again(self):
        self.assertEqual(build.build(self.made / "again"), [])
        one, two = ({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
                    for folder in (self.made / "first", self.made / "again"))
        self.assertEqual(set(one), set(two))
        self.assertEqual([path for path in one if one[path] != two[path]], [])

    def test_every_option_of_every_operator_is_in_its_entry_with_help_and_range(self):
        entries = {anchor: " ".join(text.split()) for path in (self.made / "first").glob("*.html")
                   for anchor, text in check.Page(path.read_text()).entries.items()}
        for kind in json.loads(_core.operators_json()):
            if kind["name"].startswith("python_"):
                continue
            entry = entries.get(f"stoker.operators.{kind['name']}", entries[f"stoker.{kind['name']}"])
            for option in kind["options"]:
                with self.subTest(f"{kind['name']}.{option['name']}"):
                    said = " ".join(pages.generate.about(option).replace("`", "").split())
                    self.assertIn(f"{pages.generate.argument(option)} ", entry)
                    self.assertIn(said, entry)
                    self.assertIn(option["constraint"], entry)

    def test_signatures_show_defaults_as_python_writes_them(self):
        self.assertIn("shuffle(buffer=None, *, seed=None, window=None, page=None, reshuffle=True, on_error=None) \N{RIGHTWARDS ARROW} Stages",
                      self.text("order.html"))

    def test_a_dead_link_an_object_s_address_and_an_entry_without_text_are_found(self):
        broken = self.made / "broken"
        shutil.copytree(self.made / "first", broken)
        page = broken / "order.html"
        text = page.read_text()
        page.write_text(text + '<a href="nowhere.html">x</a><a href="loader.html#stoker.Nothing">x</a><p>&lt;object object at 0x7f00aa&gt;</p>'
                        '<a href="../docs/nothing.md">x</a><dl><dt class="sig" id="stoker.made_up">made_up()</dt><dd><p>None</p></dd></dl>')
        (broken / "sources.html").write_text((broken / "sources.html").read_text().replace('id="stoker.csv"', 'id="stoker.cvs"'))
        found = "\n".join(check.problems(broken))
        for problem in ("links to nowhere.html, which does not exist", "links to loader.html#stoker.Nothing, which has no such anchor",
                        "shows '<object object at 0x7f00aa>'", "links to ../docs/nothing.md, which does not exist",
                        "the entry stoker.made_up has no text", "stoker.csv has no entry", "links to sources.html#stoker.csv, which has no such"):
            self.assertIn(problem, found)

    def test_a_link_to_a_heading_that_a_document_lacks_is_found(self):
        folder = self.folder.resolve()
        (folder / "a.md").write_text("# One\n\n```sh\n# no heading\n```\n\n## Two `words`, here\n")
        page = folder / "page.html"
        page.write_text("")
        self.assertEqual(list(check.dead(page, "a.md#two-words-here", {})), [])
        for link in ("a.md#no-heading", "a.md#three"):
            self.assertEqual(list(check.dead(page, link, {})), ["which has no such heading"])


class Docstrings(unittest.TestCase):
    def test_every_public_name_method_and_property_has_one(self):
        self.assertEqual(list(check.undocumented()), [])

    def test_every_operator_is_in_one_group(self):
        names = [name for group in pages.groups().values() for name in group]
        self.assertEqual(sorted(names), sorted(sk.operators.__all__))


if __name__ == "__main__":
    unittest.main()

"""The tables that lead from tf.data and DataLoader to Stoker name operators and options that exist, and every operator; that
of the tricks likewise losses, optimizers, schedules, callbacks and the keys of `train:`. Those from Keras and Estimator have both."""
import gzip
import json
import math
import os
import pathlib
import random
import re
import shlex
import textwrap
import unittest

from layering_test import FLOORS, MAY_INCLUDE
from program import STOKER, ProgramTest, idx, png

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
TABLES = ["from-tfdata.md", "from-dataloader.md"]
MIXED = ["from-keras.md", "from-estimator.md"]  # a recipe line of these is of a pipeline or of `train:`


def our_cells(text):
    """The cells of the tables that are about Stoker: all but the first of each row."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield from re.split(r"(?<!\\)\|", line)[2:-1]


def recipe_lines(cell):
    """The key and the value of each `key: value` of a cell; `data.split` is the operator."""
    return re.findall(r"`(?:data\.)?([a-z_][a-z0-9_]*): ([^`]+)`", cell)


def read_page(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


def changes(values):
    """Arguments of the program that change these keys of a recipe."""
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


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
        self.texts = {name: read_page(name) for name in TABLES}

    def test_names_only_operators_and_options_that_exist(self):
        options = set().union(*self.operators.values()) | {"on_error"}
        for name in TABLES + MIXED:
            for cell in our_cells(read_page(name)):
                for first, value in recipe_lines(cell):
                    with self.subTest(file=name, code=f"{first}: {value}"):
                        if first in self.operators:
                            self.assertLessEqual(set(keys(value)), self.operators[first])
                        elif name in TABLES:  # of the others TricksTest checks it
                            self.assertIn(first, options)

    def test_the_program_reads_every_line_of_an_operator(self):
        lines = [f"{first}: {value}" for name in TABLES + MIXED for cell in our_cells(read_page(name))
                 for first, value in recipe_lines(cell) if first in self.operators and "..." not in value
                 and first != "split"]  # which is the section
        lines = [line for line in lines if "auto" not in line]  # a stage that learns is built before others are read
        self.assertGreater(len(lines), 150)
        # What is wrong with any stage is said at once: here with the last alone, and that sources do not come first.
        stages = "".join(f"    - {{{line}}}\n" for line in lines)
        self.write("recipe.yaml", "data:\n  train:\n" + stages + "    - {batch: {wrong: 1}}\n")
        done = self.start("bench", "recipe.yaml")
        _, err = done.communicate()
        wrong = [line for line in err.splitlines() if "a source must come first" not in line]
        self.assertEqual(len(wrong), 1, err)
        self.assertRegex(wrong[0], rf"recipe.yaml:{len(lines) + 3}:\d+: batch: unknown option 'wrong'")

    def test_names_every_operator(self):
        words = set(re.findall(r"[a-z_][a-z0-9_]*", "\n".join(self.texts.values())))
        self.assertLessEqual(set(self.operators), words)


class ReadmeTest(ProgramTest):
    """What README shows of the program's output is what the program prints."""

    def setUp(self):
        super().setUp()
        self.readme = pathlib.Path(DOCS, "..", "README.md").read_text(encoding="utf-8")
        for part, count in [("train", 256), ("t10k", 1000)]:
            self.write(f"{part}-images-idx3-ubyte.gz", gzip.compress(idx(8, [count, 28, 28], bytes(count * 28 * 28))))
            self.write(f"{part}-labels-idx1-ubyte.gz", gzip.compress(idx(8, [count], bytes(i % 10 for i in range(count)))))

    def recipe(self, *changes):
        """The first recipe of README, with its data here and each change made in its one place."""
        text = re.search(r"(?s)```yaml\n(data:\n.*?)```", self.readme).group(1)
        for old, new in [(re.search(r"root: (\S+)", text).group(1), "."), *changes]:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        return text

    def assert_shown_lines_are_among(self, shown, said):
        for line in shown.splitlines():
            # Numbers and their units are those of the machine.
            pattern = "".join(r"\d[\d,.e-]*" if part[0].isdigit() else re.escape(part) for part in re.findall(r"\d[\d,.]*|\D+", line))
            pattern = re.sub(r"\\\(AVX.*?\\\)", r"\\(.+?\\)", pattern)
            pattern = re.sub(r"\\ (ms|s)\b", r" (ms|s|min)", pattern).replace("threads", "threads?")
            self.assertTrue(any(re.fullmatch(pattern, each) for each in said), f"{line}\n{pattern}\n" + "\n".join(said))

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "this build cannot train")
    def test_its_recipe_is_right_and_with_two_mistakes_is_answered_as_it_shows(self):
        self.write("recipe.yaml", self.recipe())
        self.assertEqual(self.run_stoker("check", "recipe.yaml")[0], "recipe.yaml: nothing is wrong with it\n")
        self.write("recipe.yaml", self.recipe(("- shuffle", "- shuffle: {sede: 1}"), ("weight_decay: 0.01", "weight_decay: -1")))
        shown = re.search(r"(?s)```\n\$ stoker check recipe\.yaml\n(.*?)```", self.readme).group(1)
        out, err = self.run_stoker("check", "recipe.yaml", expect=1)
        self.assertEqual(out + err, shown)

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "this build cannot train")
    def test_a_run_that_waits_for_pictures_says_what_it_shows(self):
        rng = random.Random(1)
        for i in range(48):
            self.write(f"train/{i % 2}/{i}.png", png(rng.randbytes(900 * 900), 900, 900))
        self.write("photos.yaml", """\
data:
  train:
    - folder: {path: train}
    - decode: {channels: grey}
    - resize: {size: 28}
    - normalize: {mean: 0.5, std: 0.25}
    - batch: {size: 8}
model: {mlp: {classes: 2, hidden: [32]}}
train: {epochs: 2, device: cpu, feed_threads: 1}
""")
        shown = re.search(r"(?s)```\n\$ stoker train photos\.yaml --run run\n(.*?)```", self.readme).group(1)
        out, err = self.run_stoker("train", "photos.yaml", "--run", "run")
        self.assert_shown_lines_are_among(shown, (out + err).splitlines())

    @staticmethod
    def homes():
        """The table of the walk-through, from draws that are the same in every version of Python."""
        rng = random.Random(1)
        yield "size,kind,rooms,year,price"
        for i in range(600):
            kind, size, rooms = int(3 * rng.random()), 20 + 180 * rng.random(), 1 + int(6 * rng.random())
            year = 1950 + int(70 * rng.random())
            price = size * (3000, 2500, 1000)[kind] + 500 * (year - 1950) + 20000 * rng.random()
            yield f"{size:.1f},{('house', 'flat', 'hut')[kind]},{'' if i % 50 == 7 else rooms},{year},{price:.0f}"

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")), "this build cannot train")
    def test_its_way_from_a_table_to_predictions_is_what_happens(self):
        self.write("homes.csv", "\n".join(self.homes()) + "\n")
        self.write("new.csv", "size,kind,rooms,year\n120,house,5,1990\n64.5,flat,,2004\n")
        block = re.search(r"(?s)\n## A table of your own\n.*?```\n(\$ .*?)```", self.readme).group(1)
        steps = re.findall(r"(?ms)^\$ (.*?)(?=^\$ |\Z)", block)
        ran = []
        for step in steps:
            # A command ends with the line in which its last quote does.
            lines = step.splitlines()
            ends = next(n for n in range(1, len(lines) + 1) if "\n".join(lines[:n]).count("'") % 2 == 0)
            program, *arguments = shlex.split("\n".join(lines[:ends]))
            self.assertEqual(program, "stoker")
            ran.append(arguments[0])
            out, err = self.run_stoker(*arguments)
            shown = "\n".join(lines[ends:])
            if arguments[0] in ("features", "check"):
                self.assertEqual(out, shown + "\n")
            else:
                said = (out + err).replace(os.path.realpath(self.folder), "/home/me").replace(self.folder, "/home/me")
                self.assert_shown_lines_are_among(shown, said.splitlines())
                self.assertEqual(len(out.splitlines()), len(lines) - ends)
        self.assertEqual(ran, ["features", "check", "train", "eval", "predict"])
        for line, price in zip(out.splitlines(), (390000, 198250), strict=True):
            self.assertAlmostEqual(json.loads(line)["numbers"][0], price, delta=0.15 * price)


class RecipesOfPagesTest(ProgramTest):
    """The recipes of the pages about tables, over tables that have the columns that they name."""

    def setUp(self):
        super().setUp()
        rng = random.Random(1)
        rows = ["carat,cut,color,clarity,depth,table,price,x,y,z"]
        for _ in range(400):
            carat, side = rng.uniform(0.2, 2.2), rng.uniform(4, 9)
            words = [rng.choice(("Fair", "Good", "Ideal")), rng.choice("DEFG"), rng.choice(("IF", "SI1", "VS2"))]
            numbers = [rng.uniform(55, 65), rng.uniform(50, 60), 300 + 4000 * carat**2, side, side, 0.6 * side]
            rows.append(",".join([f"{carat:.2f}", *words, *(f"{number:.2f}" for number in numbers)]))
        self.write("build/data/diamonds.csv", "\n".join(rows) + "\n")

    @staticmethod
    def blocks(page):
        return re.findall(r"(?s)```yaml\n(.*?)```", read_page(page))

    def check(self, recipe, values=None):
        self.write("page.yaml", recipe)
        out, _ = self.run_stoker("check", "page.yaml", *changes({"train.device": "cpu", **(values or {})}))
        self.assertEqual(out, "page.yaml: nothing is wrong with it\n")

    def test_the_recipe_of_features_is_right_and_trains_as_it_stands(self):
        recipe = self.blocks("features.md")[0]
        self.check(recipe)
        short = {"train.device": "cpu", "train.threads": 1, "train.tune": "off", "train.epochs": 2}
        out, _ = self.run_stoker("train", "page.yaml", "--run", "run", *changes(short))
        self.assertIn("epoch 2/2", out)
        self.assertIn("test rmse", out)

    def test_the_lists_of_features_and_what_stands_for_stages_are_right(self):
        lists, stages, stages_of_lists = (next(block for block in self.blocks("features.md") if block.startswith(start))
                                          for start in ("genres: ", "- lookup: ", "- words: "))
        rows = [{"size": ("small", "large", "huge")[i % 3], "city": ("Rome", "Oslo")[i % 2], "age": i / 2,
                 "genres": ("drama|comedy", "", "war ")[i % 3], "seen": [i] * (i % 4), "label": i % 2} for i in range(60)]
        self.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        fields = {"size": "text", "city": "text", "age": "float32", "genres": "text",
                  "seen": {"type": "int64", "shape": [-1]}, "label": "int64"}

        def recipe(names, stages, features):
            kept = {name: fields[name] for name in (*names, "label")}
            # Stages that learn follow the split, in both pipelines.
            stages = textwrap.indent(stages, "    ")
            return (f"data:\n  source: [jsonl: {{files: rows.jsonl, fields: {json.dumps(kept)}}}]\n  split: 0.2\n{features}"
                    f"  train:\n    - shuffle\n{stages}    - batch: 16\n  eval:\n{stages}    - batch: 16\n"
                    "model: {mlp: {classes: 2, hidden: [8]}}\n")
        self.check(recipe(("genres", "seen"), "", "  features:\n" + textwrap.indent(lists, "    ")))
        self.check(recipe(("size", "city", "age"), stages, ""), {"train.input": "features"})
        self.check(recipe(("genres",), stages_of_lists, ""), {"train.input": "features"})

    def test_the_recipe_of_learned_is_right(self):
        rows = [f"{i % 7},{i % 5}.5,{i},{'xy'[i % 2]},{i}" for i in range(300)]
        self.write("rows.csv", "\n".join(["a,b,c,label,id", *rows]) + "\n")
        recipe, = (block for block in self.blocks("learned.md") if block.startswith("data:"))
        self.check(recipe, {"model": "{linear: {classes: 2}}"})

    def test_the_recipe_of_splitting_is_right(self):
        recipe, = (block for block in self.blocks("splitting.md") if block.startswith("data:"))
        self.check(recipe, {"model": "{linear: {classes: 1}}", "data.features": "{carat: numeric, cut: categorical}",
                            "train.target": "price", "train.loss": "mse"})


class MapTest(unittest.TestCase):
    """docs/architecture.md: where things stand in the code."""
    ROOT = pathlib.Path(DOCS).resolve().parent
    PAGES = ["architecture.md", "how-data-flows.md", "how-training-runs.md"]

    def setUp(self):
        self.text = (self.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
        self.folders = re.findall(r"^\| `([\w/]+)` \| [^|]+ \|$", self.text.split("## To change X")[0], flags=re.MULTILINE)
        self.changes = self.text.split("## To change X")[1].split("|---|---|---|")[1].strip().splitlines()

    def exists(self, path):
        return any((self.ROOT / base / path).exists() for base in ["", "stoker", "docs"])

    def missing(self, line):
        """The paths in a line that do not exist. X is what is to be added, and needs a folder; a name without a folder belongs to
        the folder before it."""
        folder = ""
        for path in re.findall(r"`([\w./-]+)`", line):
            if "/" in path:
                folder = path.rpartition("/")[0]
            elif not re.search(r"\w\.(h|cc|py|sh|md)$", path):
                folder = path if "." not in path else folder
                continue
            elif not self.exists(path):
                path = f"{folder}/{path}"
            if not self.exists(path.rpartition("/")[0] if re.search(r"(\b|_)X(\b|_)", path) else path):
                yield path

    def test_names_only_files_and_folders_that_exist(self):
        for page in self.PAGES:
            text = (self.ROOT / "docs" / page).read_text(encoding="utf-8")
            self.assertGreater(len(re.findall(r"`[\w.-]+/[\w./-]+`", text)), 5, page)
            for line in text.splitlines():
                self.assertEqual(list(self.missing(line)), [], f"{page}: {line}")

    def test_says_of_thirty_changes_where_they_are_made(self):
        self.assertGreaterEqual(len(self.changes), 30)
        for row in self.changes:
            cells = re.fullmatch(r"\| (.+?) \| `([\w./-]+/[\w.-]+\.\w+)`[^|]* \| (.+) \|", row)
            self.assertTrue(cells, row)
            self.assertTrue(self.exists(cells[2]), row)

    def test_names_every_folder_in_the_order_of_the_layers(self):
        stoker = self.ROOT / "stoker"
        found = {path.parent.relative_to(stoker).as_posix() for path in stoker.rglob("*.cc")}
        found |= {path.parent.relative_to(stoker).as_posix() for path in stoker.rglob("*.h")}
        # Each format has a folder of its own, with its layout in the README; the table names what they share.
        wanted = {folder for folder in found if not folder.startswith("formats/") or folder == "formats/probe"}
        self.assertEqual(sorted(self.folders), sorted(wanted))
        layers = list(dict.fromkeys(folder.split("/")[0] for folder in self.folders))
        self.assertEqual(layers, [layer for layer in MAY_INCLUDE if layer in layers])

    def test_lists_the_folders_of_a_layer_in_their_order_as_its_readme_does(self):
        for layer, floors in FLOORS.items():
            readme = (self.ROOT / "stoker" / layer / "README.md").read_text(encoding="utf-8")
            rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ", readme, flags=re.MULTILINE)
            self.assertEqual(re.findall(r"\w+", " ".join(rows)), floors, layer)
            self.assertEqual([folder for folder in self.folders if folder.startswith(layer + "/")],
                             [f"{layer}/{floor}" for floor in floors])


class GuaranteesTest(unittest.TestCase):
    """docs/guarantees.md names tests and benchmarks that exist."""

    def test_names_only_tests_and_benchmarks_that_exist(self):
        root = pathlib.Path(DOCS).parent
        sources = {path: path.read_text(encoding="utf-8") for kind in ("test", "bench") for path in root.glob(f"stoker/**/*_{kind}.cc")}
        tests = {".".join(name) for text in sources.values() for name in re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", text, re.M)}
        programs = {name for path in root.glob("tests/*_test.py") for name in re.findall(r"^class (\w+)\(", path.read_text(encoding="utf-8"), re.M)}
        benchmarks = "\n".join(text for path, text in sources.items() if path.name.endswith("_bench.cc"))
        named = re.findall(r"`([^`]+)`", "\n".join(our_cells((pathlib.Path(DOCS) / "guarantees.md").read_text(encoding="utf-8"))))
        self.assertGreater(len(named), 30)
        for name in named:
            with self.subTest(name=name):
                if re.fullmatch(r"\w+\.\w+", name):
                    self.assertIn(name, tests)
                elif re.fullmatch(r"\w+Test", name):  # of the whole program
                    self.assertIn(name, programs)
                elif name.startswith("bench/"):
                    self.assertTrue((root / name).exists())
                else:
                    function, _, of = name.partition("/")
                    self.assertIn(function, benchmarks)
                    self.assertIn(of, benchmarks)


class TricksTest(ProgramTest):
    """docs/tricks.md names what a recipe may contain, all of it, and nothing else; docs/from-lightning.md and MIXED nothing else."""

    def setUp(self):
        super().setUp()
        self.kinds = {kind["name"]: kind for kind in self.run_json("inspect", "--models")}
        self.text = read_page("tricks.md")
        # Each with the column that names our keys.
        self.rows = [(line, 3) for line in self.text.splitlines() if line.startswith("| ")]
        self.rows += [(line, 2) for line in read_page("from-lightning.md").splitlines() if line.startswith("| ")]
        self.mixed = [line for name in MIXED for line in read_page(name).splitlines() if line.startswith("| ")]

    def test_names_every_loss_optimizer_schedule_and_callback(self):
        words = set(re.findall(r"[a-z][a-z0-9_]*", self.text))
        self.assertLessEqual({name for name, kind in self.kinds.items() if kind["group"] not in ("model", "section")}, words)

    def test_every_row_says_what_it_does_how_to_switch_it_on_and_what_it_gained(self):
        rows = [line for line in self.text.splitlines() if line.startswith("| ")]
        self.assertGreater(len(rows), 10)
        for row in rows:
            cells = re.split(r"(?<!\\)\|", row)[1:-1]
            with self.subTest(row=row):
                self.assertEqual(len(cells), 4)
                self.assertTrue(all(cell.strip() for cell in cells))

    def test_names_of_parts_of_models_are_those_of_the_models(self):
        lines = 0
        for row, column in self.rows:
            cell = re.split(r"(?<!\\)\|", row)[column]
            for code in re.finditer(r"`((?:groups|activation_checkpointing): [^`]+)`", cell):
                with self.subTest(code=code[1]):
                    key, value = code[1].split(": ", 1)
                    model = "resnet18" if "resnet18" in cell[:code.start()] else "convnet"
                    self.run_stoker("schedule", "recipe.yaml", "--set", f"train.{key}={value}", "--set", f"model={{{model}: {{classes: 4}}}}")
                    lines += 1
        self.assertGreater(lines, 3)

    def test_names_only_keys_that_exist(self):
        known = {option["name"] for kind in self.kinds.values() for option in kind["options"]}
        known |= set(self.kinds) | {"model", "loss", "optimizer", "schedule", "callbacks", "metrics"}
        for row, column in self.rows:
            for code in re.findall(r"`([^`]+)`", re.split(r"(?<!\\)\|", row)[column]):
                for key in re.findall(r"([a-z][a-z0-9_]*):", code):
                    with self.subTest(code=code):
                        self.assertIn(key, known)

    def test_of_mixed_pages_the_program_reads_every_line_of_train_and_model(self):
        operators = {op["name"] for op in self.run_json("inspect", "--ops")}
        rounds, alone = [], []  # what is tried together: a line of each key
        for row in self.mixed:
            line, _ = our_cells(row)
            for key, value in recipe_lines(line):
                if key in operators or key == "features":
                    continue  # DocsTest, and below
                place = key if key == "model" else f"train.{key}"
                if key == "target" and len(keys(value)) > 1:
                    alone.append({place: value})  # each has a loss and metrics of its own
                    continue
                free = next((tried for tried in rounds if place not in tried), None)
                if free is None:
                    free = {}
                    rounds.append(free)
                free[place] = value
        self.assertGreater(sum(map(len, rounds)), 100)
        self.write("rows.csv", "image,label,wage,x\n1,0,20,3\n2,1,30,4\n")
        self.write("recipe.yaml", """\
data: {train: [{csv: {files: rows.csv, fields: {image: float32, label: int64, wage: float32, x: float32}}}, {batch: 2}]}
model: {linear: {classes: 2}}
""")
        for tried in rounds + alone:
            with self.subTest(tried=tried):
                self.run_stoker("train", "recipe.yaml", "--print-recipe", *changes(tried))

    def test_of_mixed_pages_every_line_of_features_is_right(self):
        self.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in [
            {"age": 1.5, "education": "HS", "city": "Rome", "day": 0, "near": 3, "genres": "a;b", "seen": [1, 2], "label": 0},
            {"age": 2, "education": "College", "city": "Oslo", "day": 1, "near": 4, "genres": "", "seen": [], "label": 1}]))
        self.write("recipe.yaml", """\
data:
  source:
    - jsonl: {files: rows.jsonl, fields: {age: float32, education: text, city: text, day: int64, near: int64, genres: text,
                                          seen: {type: int64, shape: [-1]}, label: int64}}
  train: [{padded_batch: 2}]
model: {linear: {classes: 2}}
""")
        lines = [value for row in self.mixed for key, value in recipe_lines(next(our_cells(row))) if key == "features"]
        self.assertGreater(len(lines), 10)
        for line in lines:
            with self.subTest(line=line):
                self.run_stoker("train", "recipe.yaml", "--print-recipe", "--set", f"data.features={line}")

    def test_of_mixed_pages_remarks_name_only_keys_that_exist(self):
        operators = self.run_json("inspect", "--ops")
        known = {option["name"] for kind in [*self.kinds.values(), *operators] for option in kind["options"]}
        known |= set(self.kinds) | {"model", "loss", "optimizer", "schedule", "callbacks", "metrics"}
        names = {op["name"] for op in operators}
        for row in self.mixed:
            _, remark = our_cells(row)
            for key, value in recipe_lines(remark):
                if key not in names:  # else DocsTest
                    for name in [key, *re.findall(r"([a-z][a-z0-9_]*):", value)]:
                        with self.subTest(line=f"{key}: {value}"):
                            self.assertIn(name, known)

    def test_of_mixed_pages_commands_have_the_options_that_are_named(self):
        helps = {}
        for row in self.mixed:
            for command, words in re.findall(r"`stoker ([a-z-]+)([^`]*)`", "".join(our_cells(row))):
                if command not in helps:
                    helps[command] = self.run_stoker(command, "--help")[0]
                for option in re.findall(r"(?<= )--[a-z-]+", words):
                    with self.subTest(command=command, option=option):
                        self.assertRegex(helps[command], rf"(?<!\S){option}(?![a-z-])")
        self.assertGreater(len(helps), 5)

    def test_the_recipe_of_from_keras_is_right(self):
        recipe, = re.findall(r"(?s)```yaml\n(.*?)```", read_page("from-keras.md"))
        self.write("photos.yaml", recipe)
        for number in range(20):
            self.write(f"photos/{number % 4}/{number}.png", png(bytes(random.Random(number).randrange(256) for _ in range(64)), 8, 8))
        small = {"model": "{resnet18: {classes: 4}}", "train.device": "cpu"}
        self.assertEqual(self.run_stoker("check", "photos.yaml", *changes(small))[0], "photos.yaml: nothing is wrong with it\n")

    def test_the_recipe_of_from_estimator_is_right_trains_and_exports(self):
        recipe, = re.findall(r"(?s)```yaml\n(.*?)```", read_page("from-estimator.md"))
        rng = random.Random(1)
        rows = ["age,hours,education,occupation,wage"]
        for number in range(300):
            age, hours, education = rng.randrange(17, 80), rng.randrange(10, 60), rng.randrange(4)
            wage = math.exp(6 + 0.02 * hours + 0.3 * education + rng.gauss(0, 0.1))
            words = ["HS", "College", "Bachelors", "Doctorate"][education], rng.choice(["sales", "tech", "craft"])
            rows.append(",".join(map(str, (age, "" if number % 50 == 0 else hours, *words, round(wage, 2)))))
        self.write("census.csv", "\n".join(rows) + "\n")
        self.write("census.yaml", recipe)
        self.assertEqual(self.run_stoker("check", "census.yaml")[0], "census.yaml: nothing is wrong with it\n")
        few = {"train.max_steps": 24, "train.eval_every_steps": 6, "train.device": "cpu", "train.threads": 1, "train.tune": "off"}
        self.run_stoker("train", "census.yaml", "--run", "run", "--quiet", *changes(few))
        self.assertEqual(sorted(os.listdir(self.path("run/exports/latest"))), [f"step-{step:08}" for step in (6, 12, 18, 24)])
        best, = os.listdir(self.path("run/exports/best"))
        self.write("new.csv", "\n".join(rows[:11]) + "\n")
        other = {"data.split": "null", "data.source.csv.files": "new.csv"}
        out, _ = self.run_stoker("predict", f"run/exports/best/{best}", *changes(other))
        predicted = [json.loads(line)["numbers"][0] for line in out.splitlines()]
        self.assertEqual(len(predicted), 10)
        self.assertTrue(all(100 < wage < 20000 for wage in predicted), predicted)  # in the units of the column, not of the loss


if __name__ == "__main__":
    unittest.main()

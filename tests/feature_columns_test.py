"""What `data.features` says of the columns of a table, from training to predictions for new rows."""
import json
import random
import unittest

from program import ProgramTest

ROWS = 600
CITIES = [f"city {number}" for number in range(30)]
RECIPE = """\
data:
  source:
    - csv: {files: homes.csv, fields: {size: {default: nan}, city: text, kind: text, day: int64, note: text, price: float32, id: int64}}
  split: {eval: 0.25, seed: 1}
  features:
    size: {numeric: {indicator: true}}
    size_range: {bucketized: {of: size, quantiles: 4}}
    city: {categorical: {embedding: 4}}
    kind: {categorical: {vocabulary: [hut, house]}}
    day: {categorical: {integers: 7}}
    kind_and_day: {crossed: {of: [kind, day], buckets: 50}}
    note: drop
  train: [cache, shuffle, {batch: 30}, prefetch]
  eval: [{batch: 64}]
model: {wide_and_deep: {classes: 1, hidden: [16]}}
train:
  epochs: 12
  device: cpu
  threads: 1
  tune: off
  target: {price: {normalize: auto}}
  loss: mse
  metrics: [rmse, r2]
  optimizer: {adamw: {weight_decay: 0}}
  schedule: {one_cycle: {max_lr: 0.05}}
"""


class FeatureColumnsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        self.rows = [self.home(number, rng) for number in range(ROWS)]
        self.table("homes.csv", self.rows)
        self.write("recipe.yaml", RECIPE)

    @staticmethod
    def home(number, rng):
        """Its price depends on the city by heart, on its size, and on huts at weekends."""
        size, city, kind, day = rng.uniform(20, 200), rng.randrange(30), rng.choice(["hut", "house"]), rng.randrange(7)
        price = 1000 * (city * 7 % 30) + 100 * size + (20000 if kind == "hut" and day > 4 else 0)
        return {"size": "" if number % 40 == 7 else f"{size:.1f}", "city": CITIES[city], "kind": kind, "day": str(day),
                "note": f"note {'x' * (number % 5)}", "price": f"{price:.1f}", "id": str(number)}

    def table(self, name, rows):
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        self.write(name, "\n".join(lines) + "\n")

    def train(self, *arguments, run="run"):
        self.run_stoker("train", "recipe.yaml", "--run", run, "--quiet", *arguments)

    def test_features_serve_counts_labels_quantiles_and_the_optimizers_of_rows_that_are_used(self):
        rng = random.Random(8)
        for row in self.rows:
            hut, weekend = row["kind"] == "hut", int(row["day"]) > 4
            row.update(rooms=str(1 + rng.randrange(2) if hut else 5 + rng.randrange(3)), near=str(int(weekend)), quiet=str(int(hut)))
        self.table("homes.csv", self.rows)
        self.write("recipe.yaml", RECIPE.replace("price: float32,", "price: float32, rooms: float32, traits: {columns: [near, quiet]},"))
        labels = ["train.target=traits", "train.loss=bce", "train.metrics=[]", "model.wide_and_deep.classes=2"]
        counts = ["train.target=rooms", "train.loss=poisson", "train.metrics=[mae]"]
        ninth = ["train.loss={quantile: {at: [0.9]}}", "train.metrics=[mae]"]
        lazy = "train.optimizer={adamw: {lazy: true}}"
        for name, settings in {"labels": labels,
                               "counts": counts,
                               "quantile": ninth,
                               "ftrl": [*counts, "model={linear: {classes: 1}}", "train.optimizer=ftrl"],
                               "adagrad": [*ninth, "train.optimizer=adagrad"],
                               "lazy": [*labels, lazy],
                               "hogwild": [*counts, lazy, "train.hogwild=2"]}.items():
            with self.subTest(name):
                given = [part for one in [*settings, "train.schedule={constant: {lr: 0.03}}"] for part in ("--set", one)]
                self.train(*given, "--set", "train.max_steps=1", run=f"{name}-begun")
                self.train(*given, run=name)
                begun, learned = (self.run_json("eval", run)["loss"] for run in (f"{name}-begun", name))
                self.assertLess(learned, begun - 0.2 * abs(begun))

    def test_vectors_of_a_features_words_begin_as_a_file_has_them(self):
        vectors = {city: [number, number / 2, 0.25, -number] for number, city in enumerate(CITIES[5:])}
        self.write("cities.vec", "".join(f"{city} {' '.join(map(str, numbers))}\n" for city, numbers in vectors.items()))
        self.train("--set", "train.init_from={vectors: {city: cities.vec}}", "--set", "train.groups=[{match: '*embeddings*', lr: 0}]",
                   "--set", "train.max_steps=3")
        table = self.tensor("run/weights.safetensors", "deep.embeddings.city.weight", 4)
        self.assertEqual(len(table), len(CITIES) + 1)  # and one of cities that training has not seen
        lists = [each["options"].get("values", []) for each in self.run_json("inspect", "run")["learned"]["values"]]
        cities, = [words for words in lists if CITIES[0] in words]
        for city, numbers in vectors.items():
            self.assertEqual(table[1 + cities.index(city)], numbers)
        for feature, said in [("kind", "the model has no vectors of 'kind'; it has those of 'city'"), ("size", "the model has no vectors of 'size'")]:
            self.assert_fails(["train", "recipe.yaml", "--run", "other", "--set", f"train.init_from={{vectors: {{{feature}: cities.vec}}}}"], 2, said)

    def predictions(self, *arguments):
        out, _ = self.run_stoker("predict", "run", *arguments)
        return [json.loads(line)["numbers"][0] for line in out.splitlines()]

    def new_rows(self, rows, fields="size: {default: nan}, city: text, kind: text, day: int64, note: text"):
        self.table("new.csv", [{key: value for key, value in row.items() if key != "price"} for row in rows])
        return ["--set", "data.split=null", "--set", f"data.source=[csv: {{files: {self.path('new.csv')}, fields: {{{fields}}}}}]"]

    def test_the_recipe_is_right_and_learns_what_each_kind_of_feature_is_for(self):
        self.assertEqual(self.run_stoker("check", "recipe.yaml")[0], "recipe.yaml: nothing is wrong with it\n")
        self.train()
        self.assertGreater(self.run_json("eval", "run")["metrics"]["r2"], 0.9)

    def r2(self, run, *changes):
        self.train(*changes, run=run)
        return self.run_json("eval", run)["metrics"]["r2"]

    def test_without_a_category_or_a_crossing_the_model_knows_less(self):
        all_of_it = self.r2("all")
        self.assertLess(self.r2("no-city", "--set", "data.features.city=drop"), all_of_it - 0.1)
        linear = ["--set", "model={linear: {classes: 1}}", "--set", "train.epochs=30"]
        none = ["--set", "data.features.kind_and_day={crossed: {of: [day, kind], buckets: 1}}"]
        self.assertLess(self.r2("not-crossed", *linear, *none), self.r2("crossed", *linear) - 0.02)

    def test_new_rows_are_prepared_as_the_training_rows_were(self):
        self.train()
        evaluated = self.predictions()
        out, _ = self.run_stoker("predict", "run", "--fields", "id")
        again = self.predictions(*self.new_rows([self.rows[json.loads(line)["fields"]["id"]] for line in out.splitlines()]))
        self.assertEqual(len(again), len(evaluated))
        for ours, theirs in zip(again, evaluated):
            self.assertAlmostEqual(ours, theirs, delta=1e-3 * abs(theirs) + 1)

    def test_lists_of_words_are_learned_and_predicted_whatever_their_length(self):
        rng = random.Random(6)
        rooms = {f"room {number}": 1000 * (number * 5 % 12) for number in range(12)}
        lists = [rng.sample(list(rooms), rng.randrange(6)) for _ in range(400)]
        rows = [{"rooms": "|".join(names), "price": str(sum(rooms[name] for name in names))} for names in lists]
        self.table("homes.csv", rows)
        self.write("recipe.yaml", """\
data:
  source: [csv: {files: homes.csv, fields: {rooms: text, price: float32}}]
  split: {eval: 0.25, seed: 1}
  features:
    rooms: {categorical: {separator: "|", most: 5, combine: sum}}
  train: [cache, shuffle, {batch: 30}, prefetch]
  eval: [{batch: 64}]
model: {linear: {classes: 1}}
train: {epochs: 40, device: cpu, threads: 1, tune: off, target: {price: {normalize: auto}}, loss: mse, metrics: [r2],
        optimizer: {adamw: {weight_decay: 0}}, schedule: {one_cycle: {max_lr: 0.05}}}
""")
        self.train()
        self.assertGreater(self.run_json("eval", "run")["metrics"]["r2"], 0.99)
        new = [{"rooms": names, "id": "0"} for names in ("", "room 3", " room 3 |", "room 3|attic", "room 3|room 4")]
        none, one, spaced, unseen, two = self.predictions(*self.new_rows(new, "rooms: text"))
        self.assertAlmostEqual(one - none, rooms["room 3"], delta=500)
        self.assertAlmostEqual(two - one, rooms["room 4"], delta=500)
        self.assertEqual(spaced, one)
        self.assertAlmostEqual(unseen, one, delta=1)  # no training row had an unseen word, so it weighs nothing
        self.assert_fails(["predict", "run", *self.new_rows([{"rooms": "|".join(rooms), "id": "0"}], "rooms: text")], 1,
                          "feature 'rooms' has 12 values, and `most` is 5")

    def test_what_training_has_not_seen_is_predicted_and_what_cannot_be_is_an_error(self):
        self.train("--set", "train.epochs=1")
        rows = [{**self.rows[0], "city": "nowhere"}, {**self.rows[0], "kind": "castle"}, {**self.rows[0], "size": ""}]
        self.assertEqual(len(self.predictions(*self.new_rows(rows))), 3)
        self.assert_fails(["predict", "run", *self.new_rows([{**self.rows[0], "day": "7"}])], 1,
                          "feature 'day' is 7, and its categories are the numbers 0 to 6")
        without_note = self.new_rows(rows, "size: {default: nan}, city: text, kind: text, day: int64")
        self.assertEqual(len(self.predictions(*without_note)), 3)
        for fields, message in [("size: {default: nan}, city: text, day: int64", "there is no field 'kind'"),
                                ("size: {default: nan}, city: text, kind: text, day: text", "'day'"),
                                ("size: text, city: text, kind: text, day: int64", "'size_range'")]:
            self.assert_fails(["predict", "run", *self.new_rows(self.rows[:2], fields)], 2, message)

    def test_a_resumed_run_has_the_bytes_of_one_that_ran_through(self):
        self.train(run="whole")
        self.train("--set", "train.max_steps=100", "--set", "train.schedule={constant: {lr: 0.01}}", run="short")
        self.train("--set", "train.max_steps=60", "--set", "train.schedule={constant: {lr: 0.01}}", run="half")
        self.train("--resume", "--allow-changes", "--set", "train.max_steps=100", "--set", "train.schedule={constant: {lr: 0.01}}", run="half")
        self.assertEqual(self.weights_of("half"), self.weights_of("short"))

    def test_threads_do_not_change_what_is_learned(self):
        runs = []
        for threads in [1, 3]:
            run = f"threads-{threads}"
            self.train("--set", "train.epochs=1", "--set", f"train.feed_threads={threads}", run=run)
            runs.append((json.loads(self.read(f"{run}/learned.json"))["values"], self.weights_of(run)))
        self.assertEqual(runs[0], runs[1])

    def test_what_comes_before_the_features_is_packed_and_the_row_is_not(self):
        self.run_stoker("pack", "recipe.yaml", "rows.stoker", "--stages", "2")  # the source and its split
        self.assertEqual(self.run_json("inspect", "rows.stoker")["count"], ROWS - ROWS // 4)
        filled, _ = self.run_stoker("train", "recipe.yaml", "--print-recipe")
        stages = filled.split("\n  train:\n")[1].split("\n    - cache")[0].count("\n    - ") + 1
        self.assert_fails(["pack", "recipe.yaml", "row.stoker", "--stages", str(2 + stages)], 2,
                          "pack what comes before the features, with --stages N")

    def test_the_target_is_no_feature(self):
        out, _ = self.run_stoker("check", "recipe.yaml", "--set", "data.features.price=numeric", expect=1)
        self.assertIn("data.features has 'price', which is the target", out)

    def test_models_of_numbers_refuse_categories(self):
        out, _ = self.run_stoker("check", "recipe.yaml", "--set", "model={convnet: {classes: 1}}", expect=1)
        self.assertIn("rows of features with numbers of categories among them", out)


if __name__ == "__main__":
    unittest.main()

"""Models of several inputs: the recipe of docs/inputs.md."""
import glob
import json
import os
import random
import re
import unittest

from program import ProgramTest, png

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "inputs.md")
SWEET, DRY = ["honey", "fig", "peach"], ["stone", "salt", "smoke"]
OTHERS = [f"word{i}" for i in range(30)]


def wines(rng, count):
    """Rows whose taste is sweet where the words and the price agree, so that neither alone tells it."""
    rows = ["text,price,age,taste"]
    for _ in range(count):
        sweet_words, cheap = rng.random() < 0.5, rng.random() < 0.5
        words = [rng.choice(OTHERS) for _ in range(rng.randrange(12))] + [rng.choice(SWEET if sweet_words else DRY)]
        rng.shuffle(words)
        price = rng.uniform(5, 15) if cheap else rng.uniform(25, 60)
        rows.append(f"{' '.join(words)},{price:.2f},{rng.randrange(1, 20)},{'sweet' if sweet_words == cheap else 'dry'}")
    return "\n".join(rows) + "\n"


class InputsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as file:
            self.write("wines.yaml", re.search(r"```yaml\n(.*?)```", file.read(), re.S).group(1))
        self.write("wines.csv", wines(random.Random(7), 500))
        self.settings = [part for one in ("train.threads=1", "train.tune=off", "model.joined.towers.review.embedding_bag.tokens=100",
                                          "train.schedule={constant: {lr: 0.01}}") for part in ("--set", one)]

    def test_the_page_is_right_as_it_stands_and_learns_from_both(self):
        self.run_stoker("check", "wines.yaml")
        out, _ = self.run_stoker("train", "wines.yaml", "--run", "run", "--set", "train.max_steps=2")
        self.assertRegex(out, r"samples per second +[\d,]+")
        self.run_stoker("train", "wines.yaml", "--run", "both", "--quiet", *self.settings)
        self.assertGreater(self.run_json("eval", "both")["accuracy"], 0.9)
        self.run_stoker("train", "wines.yaml", "--run", "one", "--quiet", *self.settings, "--set", "train.input={numbers: numbers}", "--set",
                        "model={joined: {towers: {numbers: {mlp: {classes: 16}}}, classes: 2}}")
        self.assertLess(self.run_json("eval", "one")["accuracy"], 0.75)

    def test_other_rows_are_predicted_with_both_inputs_and_files_are_refused(self):
        self.run_stoker("train", "wines.yaml", "--run", "run", "--quiet", *self.settings)
        self.write("new.csv", "text,price,age,taste\n" + "".join(f"{words},{price},5,dry\n" for words in ("honey", "salt") for price in (9, 45)))
        out, _ = self.run_stoker("predict", "run", "--set", "data.split=null", "--set", f"data.source.0.csv.files={self.path('new.csv')}")
        self.assertEqual([json.loads(line)["class"] for line in out.splitlines()], ["sweet", "dry", "dry", "sweet"])
        self.write("a.png", png(bytes(16), 4, 4))
        _, err = self.run_stoker("predict", "run", "a.png", expect=1)
        self.assertIn("train.input", err)

    def test_a_towers_vectors_begin_as_a_file_has_them_by_the_name_of_its_input_or_field(self):
        self.write("words.vec", "".join(f"{word} {10 + i} 0.5\n" for i, word in enumerate(SWEET)))
        for name in ("review", "tokens"):
            with self.subTest(name=name):
                out, err = self.run_stoker("train", "wines.yaml", "--run", name, *self.settings, "--set", "train.max_steps=1", "--set",
                                           "model.joined.towers.review.embedding_bag.width=2", "--set",
                                           f"train.init_from={{vectors: {{{name}: words.vec}}}}", "--set",
                                           "train.groups=[{match: 'towers.review.embedding.*', lr: 0}]")
                self.assertRegex(" ".join((out + err).split()), r"the vectors of 3 of the \d+ words of '\w+' are taken from")
                table = self.tensor(f"{name}/weights.safetensors", "towers.review.embedding.weight", 2)
                self.assertEqual(sorted(row for row in table if row[0] >= 9), [[10, 0.5], [11, 0.5], [12, 0.5]])
        self.assert_fails(["train", "wines.yaml", "--run", "none", "--set", "train.init_from={vectors: {numbers: words.vec}}"], 2,
                          "the model has no vectors of 'numbers'; it has those of 'review'")

    def test_exports_and_event_files_know_each_input(self):
        self.run_stoker("train", "wines.yaml", "--run", "run", "--quiet", *self.settings, "--set", "train.callbacks=[{export: {keep: 1}}]",
                        "--set", "train.tensorboard={enabled: true, histograms: 20, pictures: true}")
        export, = glob.glob(self.path("run/exports/latest/*"))
        self.assertEqual(self.run_stoker("predict", export, "--scores")[0], self.run_stoker("predict", "run", "--scores")[0])
        events, = glob.glob(self.path("run/**/*tfevents*"), recursive=True)
        for name in (b"weights/towers.review", b"weights/towers.numbers", b"eval/accuracy"):
            self.assertIn(name, self.read(events))
        self.run_stoker("export", "run", "--to", "weights.pt")

    def test_a_ragged_input_gives_the_scores_of_a_padded_one(self):
        ragged = [part for one in ("data.train.1={batch: {size: 32, ragged: true}}", "data.eval.0={batch: {size: 256, ragged: true}}")
                  for part in ("--set", one)]
        self.run_stoker("train", "wines.yaml", "--run", "padded", "--quiet", *self.settings)
        self.run_stoker("train", "wines.yaml", "--run", "ragged", "--quiet", *self.settings, *ragged)
        self.assertAlmostEqual(self.run_json("eval", "ragged")["loss"], self.run_json("eval", "padded")["loss"], places=3)

    def test_processes_that_train_together_give_the_weights_of_one(self):
        more = ["--set", "train.max_steps=10"]
        self.run_stoker("train", "wines.yaml", "--run", "alone", "--quiet", *self.settings, *more)
        self.run_stoker("launch", "-n", "2", "--", "train", "wines.yaml", "--run", "together", "--quiet", *self.settings, *more)
        a, b = self.run_json("eval", "alone"), self.run_json("eval", "together")
        self.assertAlmostEqual(a["loss"], b["loss"], places=4)

    def test_commands_that_look_at_models_know_several_inputs(self):
        self.run_stoker("lint", "wines.yaml", *self.settings)
        found = self.run_json("batch-find", "wines.yaml", "--seconds", "0", "--most", "64", *self.settings)
        self.assertEqual(found["key"], "data.train.padded_batch.size")
        self.run_stoker("lr-find", "wines.yaml", "--steps", "20", *self.settings)


if __name__ == "__main__":
    unittest.main()

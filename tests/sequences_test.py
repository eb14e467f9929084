"""Models of sequences: the recipe of docs/sequences.md, with texts of different lengths."""
import gzip
import json
import os
import random
import re
import unittest

from program import ProgramTest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "sequences.md")
GOOD, BAD = ["fine", "lovely", "great", "bright"], ["dull", "awful", "poor", "grey"]
OTHERS = [f"word{i}" for i in range(40)]
ROWS = 400
MODELS = {
    "embedding_bag": "{embedding_bag: {classes: 2, tokens: 100, width: 16}}",
    "gru": "{gru: {classes: 2, tokens: 100, width: 16, units: 16}}",
    "lstm": "{lstm: {classes: 2, tokens: 100, width: 16, units: 16, bidirectional: true}}",
}


def review(rng, good):
    """A text of 1 to 30 words, some of which tell the opinion."""
    words = [rng.choice(OTHERS) for _ in range(rng.randrange(28))] + [rng.choice(GOOD if good else BAD) for _ in range(1 + rng.randrange(3))]
    rng.shuffle(words)
    return " ".join(words)


class SequencesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        self.write("reviews.yaml", re.search(r"```yaml\n(.*?)```", page, re.S).group(1))
        rng = random.Random(5)
        rows = [(review(rng, good), "good" if good else "bad") for good in (i % 2 == 0 for i in range(ROWS))]
        self.write("reviews.csv", "text,opinion\n" + "".join(f"{text},{opinion}\n" for text, opinion in rows))

    def train(self, run, model, *more):
        settings = [f"model={model}", "train.threads=1", "train.tune=off", "train.schedule={constant: {lr: 0.02}}", *more]
        self.run_stoker("train", "reviews.yaml", "--run", run, "--quiet", *(part for one in settings for part in ("--set", one)))
        return self.run_json("eval", run)

    def test_each_model_learns_the_opinion_of_texts(self):
        for name, model in MODELS.items():
            with self.subTest(model=name):
                found = self.train(name, model)
                self.assertGreater(found["accuracy"], 0.9)
                self.assertEqual(found["classes"], ["bad", "good"] if found["classes"][0] == "bad" else ["good", "bad"])
                self.assertIn("sequences", self.run_stoker("inspect", name)[0] + self.read(f"{name}/log").decode())

    def test_the_page_is_right_as_it_stands(self):
        self.run_stoker("check", "reviews.yaml")
        found = self.run_json("batch-find", "reviews.yaml", "--seconds", "0", "--most", "64")
        self.assertEqual(found["key"], "data.train.padded_batch.size")
        out, _ = self.run_stoker("train", "reviews.yaml", "--run", "run", "--set", "train.max_steps=3")
        self.assertRegex(out, r"sequences per second +[\d,]+")

    def test_a_text_is_predicted_the_same_alone_and_among_longer_ones(self):
        texts = ["fine word1 word2", "awful", "word3 lovely word1 " * 20, "grey unseen word9"]
        for name, model in MODELS.items():
            with self.subTest(model=name):
                self.train(name, model)
                answers = []
                for chosen in (texts, *([text] for text in texts)):
                    self.write("new.csv", "text,opinion\n" + "".join(f"{text},bad\n" for text in chosen))
                    out, _ = self.run_stoker("predict", name, "--scores", "--set", "data.split=null", "--set",
                                             f"data.source.csv.files={self.path('new.csv')}")
                    answers.append([json.loads(line) for line in out.splitlines()])
                together, alone = answers[0], [one for each in answers[1:] for one in each]
                self.assertEqual(len(together), len(texts))
                for a, b in zip(together, alone):
                    self.assertEqual(a["class"], b["class"])
                    for x, y in zip(a["scores"], b["scores"]):
                        self.assertAlmostEqual(x, y, places=4)

    def test_buckets_of_similar_lengths_train_as_well(self):
        batch = "data.train.2={bucket_by_length: {field: tokens, boundaries: [8, 16], sizes: 16}}"
        self.assertGreater(self.train("run", MODELS["gru"], batch, "train.max_steps=80")["accuracy"], 0.9)

    RAGGED = ("data.train.2={batch: {size: 32, ragged: true}}", "data.eval.1={batch: {size: 256, ragged: true}}")

    def test_ragged_batches_train_to_what_padded_ones_do(self):
        for name, model in MODELS.items():
            with self.subTest(model=name):
                padded = self.train(f"{name}-padded", model)
                ragged = self.train(f"{name}-ragged", model, *self.RAGGED)
                self.assertAlmostEqual(ragged["loss"], padded["loss"], places=2)
                self.assertGreater(ragged["accuracy"], 0.9)
        # With no number for padding an optimizer of rows takes the same rows in the same order.
        lazy = (MODELS["embedding_bag"].replace("tokens: 100", "tokens: 5000"), "train.optimizer={adamw: {lazy: true}}")
        self.train("rows-padded", *lazy)
        self.train("rows-ragged", *lazy, *self.RAGGED)
        self.assertEqual(self.weights_of("rows-ragged"), self.weights_of("rows-padded"))

    def test_ragged_batches_are_read_by_every_command(self):
        model = MODELS["embedding_bag"]
        sets = [part for one in (f"model={model}", *self.RAGGED) for part in ("--set", one)]
        self.run_stoker("check", "reviews.yaml", *sets)
        self.run_stoker("lint", "reviews.yaml", *sets)
        found = self.run_json("batch-find", "reviews.yaml", "--seconds", "0", "--most", "64", *sets)
        self.assertEqual(found["key"], "data.train.batch.size")
        one, two = (self.run_json("bench", "reviews.yaml", "--epochs", epochs, *sets)["samples"] for epochs in "12")
        self.assertEqual(two - one, 320)
        self.train("run", model, *self.RAGGED, "train.callbacks=[{noise_scale: {every: 2}}]")
        self.write("new.csv", "text,opinion\nfine word1 word2,bad\n,bad\nawful,bad\n")
        out, _ = self.run_stoker("predict", "run", "--set", "data.split=null", "--set", f"data.source.csv.files={self.path('new.csv')}")
        self.assertEqual([json.loads(line)["class"] for line in out.splitlines()][::2], ["good", "bad"])
        for field in ("tokens", "tokens_offsets"):
            self.assert_fails(["predict", "run", "--fields", field], 2, "is of a ragged batch")
            self.assert_fails(["train", "reviews.yaml", "--run", "target", *sets, "--set", f"train.target={field}"], 2, "train.target: field",
                              "is of a ragged batch")

    def test_a_ragged_run_is_resumed_and_shared_by_ranks_as_a_padded_one(self):
        model = MODELS["embedding_bag"].replace("width", "dropout: 0.2, width")
        self.train("whole", model, *self.RAGGED)
        self.train("cut", model, *self.RAGGED, "train.callbacks=[{stop_at: {step: 13}}]")
        self.run_stoker("train", "--resume", "--allow-changes", "--run", "cut", "--quiet", "--set", "train.callbacks=[]")
        self.assertEqual(self.weights_of("cut"), self.weights_of("whole"))
        sets = [part for one in (f"model={MODELS['embedding_bag']}", "train.threads=1", "train.tune=off", *self.RAGGED)
                for part in ("--set", one)]
        self.run_stoker("launch", "-n", "2", "--", "train", "reviews.yaml", "--run", "ranks", "--quiet", *sets)
        self.run_stoker("train", "reviews.yaml", "--run", "alone", "--quiet", *sets)
        self.assertAlmostEqual(self.run_json("eval", "ranks")["loss"], self.run_json("eval", "alone")["loss"], places=3)

    def test_a_ragged_token_that_the_model_does_not_know_is_named_with_its_sample(self):
        few = [f"model={MODELS['embedding_bag'].replace('tokens: 100', 'tokens: 20')}", *self.RAGGED]
        out, err = self.run_stoker("check", "reviews.yaml", *(part for one in few for part in ("--set", one)), expect=1)
        self.assertRegex(out + err, r"sample \d+ \(.*reviews.csv: record .* has the token \d+, and the model knows those from 0 to 19")

    def test_a_run_that_is_killed_and_resumed_has_the_weights_of_one_that_is_not(self):
        for name in ("embedding_bag", "lstm"):
            with self.subTest(model=name):
                model = MODELS[name].replace("width", "dropout: 0.2, width")
                self.train(f"{name}-whole", model)
                self.train(f"{name}-cut", model, "train.callbacks=[{stop_at: {step: 13}}]")
                self.run_stoker("train", "--resume", "--allow-changes", "--run", f"{name}-cut", "--quiet", "--set", "train.callbacks=[]")
                self.assertEqual(self.read(f"{name}-cut/weights.safetensors"), self.read(f"{name}-whole/weights.safetensors"))

    def test_optimizers_of_rows_learn_the_opinion_and_resume_to_the_same_weights(self):
        for optimizer in ("{adamw: {lazy: true}}", "adagrad", "{ftrl: {initial: 0.00001}}"):
            for model in ("embedding_bag", "gru"):
                with self.subTest(optimizer=optimizer, model=model):
                    run = f"{model}-{re.sub('[^a-z]', '', optimizer)}"
                    many = MODELS[model].replace("tokens: 100", "tokens: 5000")  # enough for gradients of rows
                    settings = (f"train.optimizer={optimizer}", "train.clip={norm: 1}", "train.schedule={constant: {lr: 0.1}}",
                                "train.callbacks=[{log_tensors: {every: 10}}]")
                    found = self.train(run, many, *settings)
                    if model == "embedding_bag":
                        self.assertGreater(found["accuracy"], 0.9)
                    self.train(f"{run}-cut", many, *settings, "train.callbacks=[{stop_at: {step: 13}}]")
                    self.run_stoker("train", "--resume", "--allow-changes", "--run", f"{run}-cut", "--quiet", "--set",
                                    "train.callbacks=[]")
                    self.assertEqual(self.weights_of(f"{run}-cut"), self.weights_of(run))

    def test_a_token_that_the_model_does_not_know_is_named_with_its_sample(self):
        few = f"model={MODELS['gru'].replace('tokens: 100', 'tokens: 20')}"
        for command in (["train", "reviews.yaml", "--run", "few", "--quiet"], ["check", "reviews.yaml"]):
            out, err = self.run_stoker(*command, "--set", few, "--set", "train.tune=off", expect=1)
            self.assertRegex(out + err, r"sample \d+ \(.*reviews.csv: record .* of data\.train.* has the token \d+, and the model knows those from 0 to 19")
            self.assertNotIn("torch", out + err)
        # Later than in the first batch: a word of a larger vocabulary in the last row.
        self.train("run", MODELS["embedding_bag"])
        self.write("larger.txt", "<pad>\n<unk>\nfine\ndull\n" + "".join(f"more{i}\n" for i in range(200)))
        self.write("new.csv", "text,opinion\n" + "fine,good\n" * 300 + "dull more150,bad\n")
        larger = f"data.source.words={{vocabulary: {self.path('larger.txt')}, unknown: <unk>}}"
        out, err = self.run_stoker("predict", "run", "--set", "data.split=null", "--set", f"data.source.csv.files={self.path('new.csv')}",
                                   "--set", larger, expect=1)
        self.assertRegex(err, r"sample 300 .*has the token 154, and the model knows those from 0 to 99")

    def test_words_of_a_file_train_as_those_that_are_learned(self):
        self.run_stoker("vocabulary", "reviews.yaml", "--to", "words.txt", "--size", "100", "--lower", "--first", "<pad>", "--first",
                        "<unk>")
        self.assertEqual(self.read("words.txt").decode().split("\n")[:2], ["<pad>", "<unk>"])
        found = self.train("run", MODELS["embedding_bag"],
                           f"data.source.words={{vocabulary: {self.path('words.txt')}, unknown: <unk>, lower: true}}")
        self.assertGreater(found["accuracy"], 0.9)

    def test_vectors_of_words_begin_as_a_file_has_them(self):
        # Vectors that tell the opinion; the rate 0 leaves them, and words that the file lacks, as they began.
        vectors = {word: [sign * (1 + i), 0.5] for sign, words in ((1, GOOD), (-1, BAD)) for i, word in enumerate(words)}
        lines = "".join(f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in [("unheard", [9, 9]), *vectors.items()])
        self.write("opinions.vec.gz", gzip.compress(f"{len(vectors) + 1} 2\n{lines}".encode()))
        model = "{embedding_bag: {classes: 2, tokens: 100, width: 2}}"
        settings = ["train.init_from={vectors: {tokens: opinions.vec.gz}}", "train.groups=[{match: 'embedding.*', lr: 0}]"]
        out, _ = self.run_stoker("train", "reviews.yaml", "--run", "run", *(part for one in [f"model={model}", "train.tune=off", *settings]
                                                                          for part in ("--set", one)))
        self.assertIn("the vectors of 8 of the 49 words of 'tokens' are taken from", " ".join(out.split()))
        table = self.tensor("run/weights.safetensors", "embedding.weight", 2)
        lists = [each["options"].get("values", []) for each in self.run_json("inspect", "run")["learned"]["values"]]
        words, = [some for some in lists if GOOD[0] in some]
        for word, numbers in vectors.items():
            self.assertEqual(table[2 + words.index(word)], numbers, word)  # after padding and <unk>
        self.assertNotIn([9, 9], table)

        for given, code, *said in [("{tokens: none.vec}", 1, "none.vec"),
                                   ("{text: opinions.vec.gz}", 2, "the model has no vectors of 'text'; it has those of 'tokens'"),
                                   ("{tokens: other.vec}", 1, "it has none of the 49 words of 'tokens'")]:
            self.write("other.vec", "elsewhere 1 2\n")
            with self.subTest(given):
                arguments = ["--set", f"model={model}", "--set", f"train.init_from={{vectors: {given}}}"]
                self.assert_fails(["train", "reviews.yaml", "--run", "other", *arguments], code, "train.init_from.vectors: ", *said)
                self.assertFalse(os.path.exists(self.path("other")))
        arguments = ["--set", "model={gru: {classes: 2, tokens: 100, width: 3}}", "--set", "train.init_from={vectors: {tokens: opinions.vec.gz}}"]
        said = "".join(self.run_stoker("check", "reviews.yaml", *arguments, expect=1))
        self.assertIn("its vectors have 2 numbers, and 3 are wanted, those of the model's table of 'tokens'", said)

    def test_a_vocabulary_that_was_changed_after_training_is_refused(self):
        self.run_stoker("vocabulary", "reviews.yaml", "--to", "words.txt", "--size", "100", "--lower", "--first", "<pad>", "--first",
                        "<unk>")
        self.train("run", MODELS["embedding_bag"], "train.callbacks=[{stop_at: {step: 3}}, export]",
                   f"data.source.words={{vocabulary: {self.path('words.txt')}, unknown: <unk>, lower: true}}")
        before = self.read("words.txt").decode()
        lines = before.split("\n")
        self.write("words.txt", "\n".join([*lines[:2], lines[3], lines[2], *lines[4:]]))
        self.write("new.csv", "text,opinion\nfine word1,good\n")
        new = ["--set", "data.split=null", "--set", f"data.source.csv.files={self.path('new.csv')}"]
        for run in ("run", "run/exports/latest/step-00000003"):
            for command in (["eval", run], ["predict", run, *new]):
                _, err = self.assert_fails(command, 1)
                self.assertRegex(err, rf"words: \S*words.txt is not what {run} was trained with")
        resume = ["train", "--resume", "--run", "run", "--quiet"]
        _, err = self.assert_fails(resume, 1)
        self.assertRegex(err, "data.train: .*words.txt has other content")
        self.run_stoker(*resume, "--allow-changes", "--set", "train.callbacks=[]")
        self.run_stoker("eval", "run")
        self.write("words.txt", before)
        self.assert_fails(["eval", "run"], 1)

    def test_learned_words_are_kept_and_others_get_the_number_of_unknown_ones(self):
        self.train("run", MODELS["embedding_bag"], "data.source.words.limit=5")
        learned = json.loads(self.read("run/learned.json"))
        words = next(value for value in learned["values"] if value["stage"] == "words")
        self.assertEqual(len(words["options"]["values"]), 5)
        out, _ = self.run_stoker("inspect", "run")
        self.assertIn("words of text", out)
        out, err = self.run_stoker("check", "reviews.yaml", "--set", "data.source.words={values: auto, limit: 5}", expect=1)
        self.assertRegex(out + err, r"words: field 'text' has \d+ words beyond limit and min_count .* which token stands for them")

    def test_a_pipeline_that_pads_otherwise_than_the_model_is_refused(self):
        for place in ("data.train", "data.eval"):
            with self.subTest(place=place):
                out, err = self.run_stoker("train", "reviews.yaml", "--run", "run", "--set", f"{place}.padded_batch.padding=7", expect=2)
                self.assertIn(f"{place} fills the shorter sequences of 'tokens' up with 7, and the model takes 0", out + err)
        self.run_stoker("check", "reviews.yaml", "--set", "data.train.padded_batch.padding=7", "--set",
                        "data.eval.padded_batch.padding=7", "--set", "model.embedding_bag.padding=7")

    def test_hogwild_learns_the_opinion_and_goes_on_where_it_was_stopped(self):
        many = MODELS["embedding_bag"].replace("tokens: 100", "tokens: 5000")
        # No two runs of threads are alike: epochs enough that the worst of them learns it well.
        settings = ("train.optimizer={adamw: {lazy: true}}", "train.hogwild=3", "train.epochs=12")
        found = self.train("run", many, *settings)
        self.assertGreater(found["accuracy"], 0.9)
        summary = json.loads(self.read("run/summary.json"))
        self.assertEqual(summary["step"], 12 * 4)  # 320 samples are 10 batches, and three make a step
        self.train("cut", many, *settings, "train.callbacks=[{stop_at: {step: 7}}]")
        self.run_stoker("train", "--resume", "--allow-changes", "--run", "cut", "--quiet", "--set", "train.callbacks=[]")
        log = self.read("cut/log").decode()
        self.assertRegex(log, r"step 7\b|after step 7|at step 7")
        self.assertEqual(json.loads(self.read("cut/summary.json"))["step"], 48)
        self.assertGreater(self.run_json("eval", "cut")["accuracy"], 0.9)

    def test_hogwild_is_refused_where_threads_would_undo_each_others_steps(self):
        for settings, says in ((["train.hogwild=2"], "steps of this run move all weights"),
                               (["train.hogwild=2", "train.optimizer={adamw: {lazy: true}}", "train.accumulate=2"], "train.accumulate"),
                               (["train.hogwild=0"], "hogwild")):
            with self.subTest(says=says):
                for command in (["check", "reviews.yaml"], ["train", "reviews.yaml", "--run", "run", "--quiet"]):
                    out, err = self.run_stoker(*command, *(part for one in settings for part in ("--set", one)),
                                               expect=1 if command[0] == "check" else 2)
                    self.assertIn(says, out + err)

    def test_lazy_updates_are_refused_to_several_ranks(self):
        settings = (f"model={MODELS['embedding_bag']}", "train.optimizer={adamw: {lazy: true}}")
        out, err = self.run_stoker("launch", "-n", "2", "--", "train", "reviews.yaml", "--run", "ranks", "--quiet",
                                   *(part for one in settings for part in ("--set", one)), expect=2)
        self.assertIn("leave `lazy` out", out + err)

    def test_ranks_train_the_same_as_one_process(self):
        losses = []
        for ranks in ([], ["launch", "-n", "2", "--"]):
            run = f"ranks-{len(ranks)}"
            settings = (f"model={MODELS['embedding_bag']}", "train.threads=1", "train.tune=off", "train.log_every=1")
            self.run_stoker(*ranks, "train", "reviews.yaml", "--run", run, "--quiet", *(part for one in settings for part in ("--set", one)))
            lines = [json.loads(line) for line in self.read(f"{run}/metrics.jsonl").splitlines()]
            losses.append([line["loss"] for line in lines if line["kind"] == "train"][:10])
        for one, two in zip(*losses):
            self.assertAlmostEqual(one, two, places=5)

    def test_mistakes_are_named(self):
        for setting, code, says in (
                (f"model={MODELS['gru'].replace('100', '5')}", 1, r"sample \d+ \(.*reviews.csv: record .* of data.train .* has the token \d+, and the model knows those from 0 to 4"),
                ("model={mlp: {classes: 2}}", 2, "mlp takes numbers, and the field of train.input holds whole numbers"),
                ("model={lstm: {classes: 2, tokens: 0}}", 2, "tokens"),
                ("train.input=text", 2, "text")):
            out, err = self.assert_fails(["train", "reviews.yaml", "--run", "wrong", "--set", setting], code)
            self.assertRegex(out + err, says)


if __name__ == "__main__":
    unittest.main()

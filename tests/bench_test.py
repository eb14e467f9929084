"""`stoker bench` and `stoker inspect` on whole files and recipes."""
import gzip
import io
import struct
import tarfile
import unittest
import zipfile

from program import CLASSES, RECIPE, SIDE, TRAIN_IMAGES, ProgramTest


class BenchTest(ProgramTest):
    def test_prints_the_promised_figures_as_json(self):
        for extra in [[], ["--inline"], ["--threads", "2", "--memory", "1MiB"]]:
            with self.subTest(extra=extra):
                measured = self.run_json("bench", "recipe.yaml", "--epochs", "3", *extra)
                self.assertGreater(measured["samples_per_s"], 0)
                self.assertGreater(measured["first_batch_ms"], 0)
                self.assertGreater(measured["load_ms"], 0)
                self.assertGreater(measured["peak_rss_mb"], 1)
                self.assertEqual(measured["samples"], 32 * measured["batches"])
                self.assertLessEqual(measured["samples_per_s_slices"]["min"], measured["samples_per_s_slices"]["max"])
                stages = measured["profile"]["stages"]
                self.assertEqual([stage["name"] for stage in stages],
                                 ["idx", "shuffle", "random_crop", "normalize", "batch", "prefetch",
                                  "repeat (added by bench)"])
                for stage in stages:
                    self.assertLessEqual({"busy_s", "starved_s", "blocked_s"}, stage.keys())
                # More than an epoch: ends of epochs are part of what is measured.
                self.assertGreater(measured["samples"], TRAIN_IMAGES)

    def test_explain_says_what_was_written_what_runs_and_what_limits_it(self):
        explained = self.run_json("bench", "recipe.yaml", "--seconds", "0.3", "--explain")["explanation"]
        stages = [stage["name"] for group in explained["groups"] for stage in group["stages"]]
        self.assertEqual(stages, ["idx", "shuffle", "random_crop", "normalize", "batch", "prefetch",
                                  "repeat (added by bench)"])
        self.assertNotIn("repeat", explained["written"])
        self.assertLessEqual({"threads", "depth", "chunk"}, {choice["what"] for choice in explained["decisions"]})
        self.assertIn(explained["limit"], stages + ["consumer"])
        text, _ = self.run_stoker("bench", "recipe.yaml", "--seconds", "0.3", "--explain")
        for part in ["as written", "as run", "choices", "costs", "limit: "]:
            self.assertIn(part, text)

    def test_text_names_every_stage_and_has_no_escape_sequences(self):
        out, err = self.run_stoker("bench", "recipe.yaml", "--seconds", "0.1")
        for word in ["samples_per_s", "first_batch_ms", "peak_rss_mb", "busy", "starved", "blocked", "random_crop"]:
            self.assertIn(word, out)
        self.assertNotIn("\x1b", out + err)

    def test_set_moves_the_data(self):
        self.run_stoker("bench", "recipe.yaml", "--seconds", "0.1")
        self.assert_fails(["bench", "recipe.yaml", "--set", "data.root=elsewhere"], 1, "elsewhere/train-images", others=1)
        self.write("recipes/here.yaml", RECIPE)  # data.root is relative to the recipe: recipes/data does not exist
        self.assert_fails(["bench", "recipes/here.yaml"], 1, "recipes/data", others=1)
        # On the command line it is relative to the working directory.
        self.run_stoker("bench", "recipes/here.yaml", "--set", "data.root=data", "--seconds", "0.1")

    def test_a_pipeline_without_batches_is_an_error(self):
        self.assert_fails(["bench", "recipe.yaml", "--set", "data.train.batch.size=1000"], 1, "gives no batch")


class InspectTest(ProgramTest):
    def test_an_idx_file_is_read_whole_and_described(self):
        for name in ["data/train-images", "data/train-images.gz"]:
            found = self.run_json("inspect", name)
            self.assertEqual((found["format"], found["dtype"], found["shape"]),
                             ("idx", "uint8", [TRAIN_IMAGES, SIDE, SIDE]))
            self.assertEqual(found["values"]["min"], 0)
            # A quarter of the pixels is brighter by 150; the rest is uniform in 0..59.
            self.assertAlmostEqual(found["values"]["mean"], 29.5 + 150 / 4, delta=0.5)
        out, _ = self.run_stoker("inspect", "data/train-images")
        self.assertIn("for `normalize`", out)

    def test_a_sample_of_an_archive_that_is_larger_than_what_is_shown_is_not_read(self):
        large = bytes(80_000_000)  # 80 kB when compressed
        with zipfile.ZipFile(self.path("large.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.bin", large)
        with tarfile.open(self.path("large.tar.gz"), "w:gz") as archive:
            member = tarfile.TarInfo("a.bin")
            member.size = len(large)
            archive.addfile(member, io.BytesIO(large))
        for name in ("large.zip", "large.tar.gz"):
            found = self.run_json("inspect", name)
            self.assertEqual(found["fields"]["bin"]["largest"], len(large))
            self.assertRegex(found["samples_error"], "^one has 80.* MB, and at most 67.* MB are read here$")

    def test_labels_are_counted(self):
        found = self.run_json("inspect", "data/train-labels.gz")
        labels = self.read("data/train-labels")[8:]
        self.assertEqual(found["labels"], {str(label): labels.count(label) for label in range(len(CLASSES))})

    def test_a_recipe_is_shown_stage_by_stage(self):
        found = self.run_json("inspect", "recipe.yaml")
        self.assertEqual(found["sections"], ["data", "model", "train"])
        self.assertEqual([(stage["operator"], stage["elements"]) for stage in found["pipelines"]["eval"]],
                         [("idx", "120"), ("normalize", "120"), ("batch", "3")])
        self.assertEqual(found["classes"], CLASSES)
        out, _ = self.run_stoker("inspect", "recipe.yaml")
        self.assertIn("image: float32[?, 1, 14, 14]", out)

    def test_a_contact_sheet_shows_the_first_batch_with_its_labels(self):
        found = self.run_json("inspect", "--grid", "sheet.png", "recipe.yaml", "--set", "data.train.batch.size=12")
        self.assertEqual((found["pictures"], found["columns"], len(found["labels"])), (12, 4, 12))
        self.assertIn("taken back", found["values"])
        self.assertEqual(struct.unpack(">II", self.read("sheet.png")[16:24]), (4 * (SIDE + 2) - 2, 3 * (SIDE + 2) - 2))
        out, _ = self.run_stoker("inspect", "--grid", "sheet.png", "recipe.yaml")
        self.assertIn("north-west", out)
        again, _ = self.run_stoker("inspect", "--grid", "again.png", "recipe.yaml")
        self.assertEqual(self.read("sheet.png"), self.read("again.png"))

    def test_a_contact_sheet_needs_pictures(self):
        self.write("numbers.yaml", "data: {train: [range: {stop: 5}]}\n")
        self.assert_fails(["inspect", "--grid", "sheet.png", "numbers.yaml"], 2, "no field is a picture")

    def test_other_files_are_named_by_their_kind(self):
        self.write("page.gz", gzip.compress(b"<!DOCTYPE html><html>" * 100))
        found = self.run_json("inspect", "page.gz")
        self.assertEqual((found["compressed"], found["decompressed_bytes"]), ("gzip", 2100))
        self.assertIn("HTML", found["format"])
        self.write("empty", b"")
        out, _ = self.run_stoker("inspect", "empty")
        self.assertIn("an empty file", out)

    def test_damage_is_found_and_located(self):
        whole = self.read("data/train-images.gz")
        damaged = bytearray(whole)
        damaged[len(damaged) // 2] ^= 0xFF
        for name, content, says in [("cut.gz", whole[:-9], "cut.gz"), ("flipped.gz", bytes(damaged), "flipped.gz"),
                                    ("cut", self.read("data/train-images")[:-1], "cut")]:
            with self.subTest(name=name):
                self.write(name, content)
                self.assert_fails(["inspect", name], 1, says, "byte")

    def test_a_file_that_is_not_there_is_named(self):
        self.assert_fails(["inspect", "nowhere/file"], 1, "nowhere")

    def test_ops_describes_every_operator_and_option(self):
        operators = {op["name"]: op for op in self.run_json("inspect", "--ops")}
        self.assertLessEqual({"idx", "shuffle", "repeat", "batch", "prefetch", "take", "skip", "cast", "normalize",
                              "random_crop", "random_flip"}, operators.keys())
        for name, op in operators.items():
            with self.subTest(operator=name):
                self.assertTrue(op["help"])
                for option in op["options"]:
                    self.assertTrue(option["help"] and option["type"])
                    self.assertNotEqual(option["required"], "default" in option)
                out, _ = self.run_stoker("inspect", "--ops", name)
                for option in op["options"]:
                    self.assertIn(f"    {option['name']}: ", out)
        size = operators["batch"]["options"][0]
        self.assertEqual((size["name"], size["type"], size["range"], size["default"]), ("size", "integer", "1..1073741824", "32"))
        self.assert_fails(["inspect", "--ops", "bach"], 2, "'bach'", "did you mean 'batch'?")
        sources = {op["name"] for op in operators.values() if op["group"] == "source"}
        self.assertEqual({op["name"] for op in self.run_json("inspect", "--ops", "source")}, sources)


if __name__ == "__main__":
    unittest.main()

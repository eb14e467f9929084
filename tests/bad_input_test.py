"""Recipes and data files that are wrong: what is said, where, and the exit code. Needs no libtorch."""
import gzip
import os
import struct
import unittest
import zlib

from program import RECIPE, SIDE, ProgramTest, idx, png, where


class BadDataTest(ProgramTest):
    """Each file of the data set broken in each way that happens to files."""

    def assert_bench_fails(self, *says):
        self.assert_fails(["bench", "recipe.yaml", "--seconds", "0.1"], 1, *says)

    def test_a_missing_file_is_named(self):
        os.remove(self.path("data/train-images"))
        self.assert_bench_fails("data/train-images", "no such file")

    def test_a_missing_folder_is_named(self):
        self.assert_fails(["bench", "recipe.yaml", "--set", "data.root=/nowhere/data"], 1, "/nowhere", others=1)

    def test_a_png_whose_header_says_more_pixels_than_can_be_counted_is_said_to_be_too_large(self):
        whole = png(bytes(64), 8, 8)
        header = struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 16, 6, 0, 0, 0)  # a row of them has 2^34 bytes
        self.write("pictures/a/1.png", whole[:16] + header + struct.pack(">I", zlib.crc32(b"IHDR" + header)) + whole[33:])
        self.write("recipe.yaml", "data:\n  train: [folder: pictures, decode, resize: 8, batch: 1]\n")
        out, err = self.start("bench", "recipe.yaml", "--epochs", "1").communicate()
        self.assertIn("a/1.png: 2147483647 x 2147483647 pixels are more than the ", err)
        self.assertEqual(out, "")

    def test_what_a_stage_cannot_do_to_one_sample_names_its_file_and_is_no_wrong_usage(self):
        for name, side in [("a/1.png", 16), ("a/2.png", 4), ("b/3.png", 16)]:
            self.write(f"pictures/{name}", png(bytes(side * side), side, side))
        for stages in ("random_crop: {size: 8, padding: 0}", "random_crop: {size: 8, padding: 0}, batch: 2",
                       "random_crop: {size: 8, padding: 0}, random_flip, grayscale, batch: 2, prefetch"):
            with self.subTest(stages=stages):
                self.write("recipe.yaml", f"data:\n  train: [folder: pictures, decode, {stages}]\n")
                self.assert_fails(["bench", "recipe.yaml", "--epochs", "1"], 1, "pictures/a/2.png: random_crop: element 1: a window of 8 x 8")

    def test_more_pixels_than_can_be_made_are_refused_with_their_line_before_any_sample(self):
        self.write("pictures/a/1.png", png(bytes(16), 4, 4))
        for stage in ("resize: 65536", "resize: {height: 65536, width: 8192}", "resize: {shorter_side: 20000}",
                      "random_resized_crop: 65536", "center_crop: 65536"):
            with self.subTest(stage=stage):
                self.write("recipe.yaml", f"data:\n  train:\n    - folder: pictures\n    - decode\n    - {stage}\n    - batch: 1\n")
                size = "8192 x 65536 pixels" if "8192" in stage else "pixels"
                self.assert_fails(["bench", "recipe.yaml", "--epochs", "1"], 2, "recipe.yaml:5:7: ",
                                  f"{size} (width x height) are wanted, at most 268435456 are made")

    def test_a_gzip_file_cut_short_anywhere_is_noticed(self):
        whole = self.read("data/train-labels.gz")
        for size in [0, 1, 2, 9, 10, 20, len(whole) // 2, len(whole) - 8, len(whole) - 1]:
            with self.subTest(size=size):
                self.write("data/train-labels.gz", whole[:size])
                self.assert_bench_fails("data/train-labels.gz")

    def test_a_gzip_file_with_a_flipped_byte_is_noticed(self):
        whole = self.read("data/train-labels.gz")
        for position in [0, 2, 14, len(whole) // 2, len(whole) - 8, len(whole) - 1]:  # magic, method, data, crc, length
            with self.subTest(position=position):
                broken = bytearray(whole)
                broken[position] ^= 0x55
                self.write("data/train-labels.gz", bytes(broken))
                self.assert_bench_fails("data/train-labels.gz", "byte")

    def test_a_wrong_magic_number_is_shown(self):
        self.write("data/train-images", b"\x12\x34\x56\x78" + self.read("data/train-images")[4:])
        self.assert_bench_fails("data/train-images", "byte 0")

    def test_a_web_page_in_place_of_data_is_recognised(self):
        self.write("data/train-images", b"<!DOCTYPE html><html><body>404 Not Found</body></html>")
        self.assert_bench_fails("data/train-images", "HTML")

    def test_images_and_labels_in_each_others_place_are_told_apart(self):
        images = self.read("data/train-images")
        self.write("data/train-images", self.read("data/train-labels"))
        self.assert_bench_fails("data/train-images", "label")
        self.write("data/train-images", images)
        self.write("data/train-labels.gz", gzip.compress(images))
        self.assert_bench_fails("data/train-labels.gz", "image")

    def test_counts_that_differ_are_both_given(self):
        self.write("data/train-labels.gz", gzip.compress(idx(8, [500], bytes(500))))
        self.assert_bench_fails("500 labels", "512 images")

    def test_fewer_bytes_than_announced_and_more(self):
        for data, count in [(bytes(SIDE * SIDE), 2), (bytes(SIDE * SIDE * 2 + 1), 2)]:
            with self.subTest(bytes=len(data)):
                self.write("data/train-images", idx(8, [count, SIDE, SIDE], data))
                self.write("data/train-labels.gz", gzip.compress(idx(8, [count], bytes(count))))
                self.assert_bench_fails("data/train-images", "byte")

    def test_an_announced_size_that_fits_no_memory_is_refused(self):
        self.write("data/train-images", idx(8, [0xFFFFFFFF, 0xFFFF, 0xFFFF], b"\0"))
        self.assert_bench_fails("data/train-images")


class BadRecipeTest(ProgramTest):
    def assert_recipe_fails(self, old, new, wrong, *says):
        """With `new` in place of `old` the program fails, points at `wrong` (a part of `new`), and says the rest."""
        self.assertEqual(RECIPE.count(old), 1, old)
        text = RECIPE.replace(old, new)
        self.write("recipe.yaml", text)
        self.assert_fails(["bench", "recipe.yaml"], 2, where(text, wrong) + ": ", *says)

    def test_an_unknown_key_is_located_and_the_nearest_known_one_given(self):
        self.assert_recipe_fails("{size: 32, drop", "{sise: 32, drop", "sise", "'sise'", "did you mean 'size'?")
        self.assert_recipe_fails("- shuffle", "- shufle", "shufle", "'shufle'", "did you mean 'shuffle'?")
        self.assert_recipe_fails("  eval:", "  evil:", "evil", "'evil'", "did you mean 'eval'?")
        self.assert_recipe_fails("model:", "modell:", "modell", "'modell'", "did you mean 'model'?")

    def test_a_value_of_the_wrong_type_is_shown(self):
        self.assert_recipe_fails("size: 32", "size: many", "many", "batch.size", "'many'", "integer")
        self.assert_recipe_fails("remainder: true", "remainder: yeah", "yeah", "drop_remainder", "'yeah'")

    def test_a_value_out_of_range_comes_with_the_range(self):
        self.assert_recipe_fails("size: 32", "size: -7", "-7", "batch.size is -7", "1..1073741824")

    def test_a_missing_section_is_named(self):
        self.write("recipe.yaml", RECIPE[RECIPE.index("model:"):])
        self.assert_fails(["bench", "recipe.yaml"], 2, "recipe.yaml", "'data' is missing")
        self.write("recipe.yaml", RECIPE.replace("  train:\n    - idx", "  validation:\n    - idx"))
        self.assert_fails(["bench", "recipe.yaml"], 2, "recipe.yaml:3:3", "'validation'", others=1)

    def test_text_that_is_no_yaml_is_located(self):
        self.assert_recipe_fails("south-west, south-east]", "south-west, south-east}", "}\nmodel", "not YAML")

    def test_a_recipe_that_is_no_utf8_text_is_said_to_be_none(self):
        for text, at in [(RECIPE.encode("utf-16"), "byte 3 is 0"),
                         (RECIPE.replace("data:", "data:\0", 1).encode(), "byte 5 is 0"), (bytes(1000), "byte 0 is 0")]:
            self.write("recipe.yaml", text)
            self.assert_fails(["bench", "recipe.yaml"], 2, "recipe.yaml: ", at, "not UTF-8 text")

    def test_a_recipe_that_is_not_there_or_empty_or_a_directory(self):
        self.assert_fails(["bench", "nothing.yaml"], 1, "nothing.yaml")
        self.assert_fails(["bench", "data"], 2, "data")
        self.write("recipe.yaml", "")
        self.assert_fails(["bench", "recipe.yaml"], 2, "recipe.yaml")

    def test_a_working_directory_that_is_gone_is_an_error_and_no_defect(self):
        def leave_nothing():
            os.mkdir("gone")
            os.chdir("gone")
            os.rmdir("../gone")

        _, err = self.assert_fails(["bench", self.path("recipe.yaml"), "--set", "data.root=data"], 1,
                                   "working directory", others=1, preexec_fn=leave_nothing)
        self.assertNotIn("defect", err)

    def test_set_is_checked_like_the_recipe(self):
        self.assert_fails(["bench", "recipe.yaml", "--set", "data.train.batch.sise=3"], 2, "--set", "'sise'",
                          "did you mean 'size'?")
        self.assert_fails(["bench", "recipe.yaml", "--set", "data.train.batch.size"], 2, "data.train.batch.size", "=")


if __name__ == "__main__":
    unittest.main()

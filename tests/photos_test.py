"""The program that cuts photographs into tiles, on a picture made up here."""
import os
import subprocess
import unittest

from program import ProgramTest

CUT_PHOTOS = os.path.join(os.path.dirname(os.environ["STOKER"]), "cut_photos")
WIDTH, HEIGHT = 1300, 900
TILE_WIDTH, TILE_HEIGHT = 500, 375


class PhotosTest(ProgramTest):
    def setUp(self):
        super().setUp()
        row = bytes(value for x in range(WIDTH) for value in (x % 256, x // 6, 90))
        self.write("Hills.ppm", b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + row * HEIGHT)

    def cut(self, to):
        return subprocess.run([CUT_PHOTOS, self.path(to), self.path("Hills.ppm")], capture_output=True, text=True)

    def tiles(self, folder):
        """{name below the folder: bytes}"""
        found = {}
        for where, _, names in os.walk(self.path(folder)):
            for name in names:
                path = os.path.join(where, name)
                found[os.path.relpath(path, self.path(folder))] = self.read(path)
        return found

    def test_no_pixel_of_a_test_tile_is_in_a_train_tile(self):
        self.assertEqual(self.cut("tiles").returncode, 0)
        places = {"train": [], "test": []}
        for name in self.tiles("tiles/q92-420"):
            part, photograph, tile = name.split(os.sep)
            self.assertEqual(photograph, "Hills")
            places[part].append((int(tile[1:6]), int(tile[8:13])))
        self.assertTrue(places["train"] and places["test"])
        for y, x in places["test"]:
            self.assertTrue(y + TILE_HEIGHT <= HEIGHT and x + TILE_WIDTH <= WIDTH)
            for other_y, other_x in places["train"]:
                self.assertTrue(abs(y - other_y) >= TILE_HEIGHT or abs(x - other_x) >= TILE_WIDTH)

    def test_the_same_photographs_give_the_same_bytes(self):
        self.assertIn("q98-444", self.cut("first").stdout)
        self.cut("second")
        self.assertEqual(self.tiles("first"), self.tiles("second"))
        self.assertEqual({name.split(os.sep)[0] for name in self.tiles("first")}, {"q92-420", "q98-444"})

    def test_the_tiles_feed_a_recipe(self):
        self.cut("tiles")
        self.write("photos.yaml", "data:\n  root: tiles/q92-420\n  train:\n    - folder: train\n    - decode\n"
                                  "    - center_crop: {size: 300}\n    - batch: {size: 2}\n")
        found = self.run_json("inspect", "--grid", "sheet.png", "photos.yaml")
        self.assertEqual((found["pictures"], found["labels"]), (2, [0, 0]))

    def test_a_picture_too_small_for_both_parts_is_refused(self):
        self.write("Hills.ppm", b"P6 600 400 255\n" + bytes(600 * 400 * 3))
        done = self.cut("tiles")
        self.assertEqual(done.returncode, 1)
        self.assertIn("600 x 400 pixels are too few", done.stderr)


if __name__ == "__main__":
    unittest.main()

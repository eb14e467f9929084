"""Pictures that Pillow writes have the pixels that it sees in them, and so have ours for it."""
import unittest

from other_software import InteropTest

# Every kind as Pillow makes it, of one size that is no multiple of a block's; want.npz has what Pillow reads of it.
WRITE_PICTURES = """
import json, numpy as np, os
from PIL import Image, ImageFilter, ImageOps
random = np.random.default_rng(1)
high, wide = 37, 51
noise = Image.fromarray(random.integers(0, 256, (high, wide, 3), dtype=np.uint8)).filter(ImageFilter.GaussianBlur(1.5))
alpha = noise.copy()
alpha.putalpha(Image.fromarray(random.integers(0, 256, (high, wide), dtype=np.uint8)))
grey, palette, black = noise.convert("L"), noise.quantize(40), noise.convert("1")
pictures = {"rgb.png": (noise, {}), "rgba.png": (alpha, {}), "la.png": (alpha.convert("LA"), {}), "grey.png": (grey, {"optimize": True}),
            "palette.png": (palette, {}), "four.png": (noise.quantize(4), {"bits": 2}), "black.png": (black, {}),
            "clear.png": (palette, {"transparency": 3}), "rgb.bmp": (noise, {}), "grey.bmp": (grey, {}), "palette.bmp": (palette, {}),
            "rgba.bmp": (alpha, {}), "black.bmp": (black, {}), "a.ppm": (noise, {}), "a.pgm": (grey, {}), "lossy.webp": (noise, {"quality": 80}),
            "lossless.webp": (noise, {"lossless": True}), "rgba.webp": (alpha, {"lossless": True}), "la.webp": (alpha.convert("LA"), {}),
            "cmyk.jpg": (noise.convert("CMYK"), {}), "rgb.jpg": (noise, {"keep_rgb": True}),
            "first.png": (noise, {"save_all": True, "append_images": [noise.rotate(90)]})}
for number in range(3):
    for quality in (30, 75, 96):
        pictures[f"sampled-{number}-{quality}.jpg"] = (noise, {"quality": quality, "subsampling": number, "optimize": quality == 75})
        pictures[f"progressive-{number}-{quality}.jpeg"] = (noise, {"quality": quality, "subsampling": number, "progressive": True})
pictures["grey.jpg"] = (grey, {})
pictures["restarts.jpg"] = (noise, {"restart_marker_blocks": 2})
for turn in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = turn
    pictures[f"turned-{turn}.jpg"] = (noise.transpose(Image.Transpose.TRANSPOSE) if turn > 4 else noise, {"exif": exif})
os.makedirs("pictures/one")
want = []
for name, (picture, options) in sorted(pictures.items()):
    picture.save("pictures/one/" + name, **options)
    with Image.open("pictures/one/" + name) as read: want.append(np.asarray(ImageOps.exif_transpose(read).convert("RGB")))
np.savez("want.npz", image=np.stack(want).transpose(0, 3, 1, 2), label=np.zeros(len(want)))
print(json.dumps(sorted(pictures)))
"""

READ_PICTURES = """
import io, json, numpy as np, tarfile
from PIL import Image
kinds, want = set(), []
with tarfile.open("encoded.tar") as archive:
    for member in archive:
        if member.name.startswith(".") or member.name.endswith(".cls"): continue
        with Image.open(archive.extractfile(member)) as read:
            read.load()
            kinds.add(read.format)
            want.append(np.asarray(read.convert("RGB")))
np.savez("want.npz", image=np.stack(want).transpose(0, 3, 1, 2))
print(json.dumps(sorted(kinds)))
"""

# A picture of noise, in which filters overshoot at every edge, and Pillow's of another size, made in two steps: the width
# first, as Stoker does it, and torchvision, and Pillow before 13 where it does both at once. For `nearest` also where the
# centre of a result's pixel lies on the border of two pixels, or within rounding of it: there either is right.
RESIZE = """
import json, numpy as np, os
from PIL import Image
(high, wide), (out_high, out_wide), name = SIZES
os.makedirs("noise/one", exist_ok=True)
noise = Image.fromarray(np.random.default_rng(high * wide).integers(0, 256, (high, wide, 3), dtype=np.uint8))
noise.save("noise/one/a.png")
filter = getattr(Image.Resampling, name.upper())
want = np.asarray(noise.resize((out_wide, high), filter).resize((out_wide, out_high), filter))
def between(size, out):
    centres = (np.arange(out) + 0.5) * size / out
    return np.abs(centres - np.round(centres)) < 1e-6
ties = between(high, out_high)[:, None] | between(wide, out_wide)[None, :]
np.savez("resized.npz", want=want.transpose(2, 0, 1).astype(int), ties=ties)
print(json.dumps(None))
"""

# [the largest difference, and that where no centre lies between two pixels]
DIFFERENCE = """
import json, numpy as np
resized, got = np.load("resized.npz"), np.load("packed/image.npy")[0].astype(int)
apart = np.abs(got - resized["want"])
print(json.dumps([int(apart.max()), int(np.where(resized["ties"], 0, apart).max())]))
"""

# Height and width of before and after; most change one side much more than the other.
SIZES = [((93, 54), (14, 51)), ((70, 2), (64, 10)), ((200, 30), (7, 300)), ((30, 200), (300, 7)), ((64, 64), (16, 48)),
         ((48, 36), (36, 48)), ((120, 80), (5, 79)), ((97, 101), (50, 51)), ((1, 40), (33, 13))]

# Changes nothing, but arrays of one shape follow from it.
SIZE = "center_crop: {height: 37, width: 51}"


class PicturesInteropTest(InteropTest):
    def test_pillows_pictures_are_decoded_to_its_pixels(self):
        names = self.run_other(WRITE_PICTURES)
        self.assertGreater(len(names), 40)
        self.assert_arrays("folder: pictures", "decode", SIZE)

    def test_resized_pictures_are_within_one_level_of_pillows_however_unlike_the_scales_of_their_sides(self):
        for sizes in SIZES:
            for name in ["nearest", "box", "bilinear", "bicubic", "lanczos"]:
                with self.subTest(sizes=sizes, interpolation=name):
                    self.run_other(RESIZE.replace("SIZES", repr((*sizes, name))))
                    high, wide = sizes[1]
                    self.write_recipe("folder: noise", "decode",
                                      f"resize: {{height: {high}, width: {wide}, interpolation: {name}}}")
                    self.run_stoker("pack", "one.yaml", "packed", "--format", "npy", "--overwrite")
                    everywhere, without_ties = self.run_other(DIFFERENCE)
                    if name == "nearest":
                        self.assertEqual(without_ties, 0)
                    else:
                        self.assertLessEqual(everywhere, 1)

    def test_pillow_sees_in_encoded_pictures_what_is_decoded_from_them(self):
        self.run_other(WRITE_PICTURES)
        for form, kind in [("{format: png}", "PNG"), ("{quality: 90}", "JPEG"), ("{quality: 60, subsampling: 422}", "JPEG"),
                           ("{quality: 100, subsampling: 444}", "JPEG")]:
            with self.subTest(form=form):
                self.write_recipe("folder: pictures", "decode", f"encode: {form}")
                self.run_stoker("pack", "one.yaml", "encoded.tar", "--overwrite")
                if kind == "PNG":  # loses nothing: the pixels are those that the files were written from
                    self.assert_arrays("webdataset: encoded.tar", "decode", SIZE)
                self.assertEqual(self.run_other(READ_PICTURES), [kind])
                self.assert_arrays("webdataset: encoded.tar", "decode", SIZE)


if __name__ == "__main__":
    unittest.main()

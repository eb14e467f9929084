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

# Changes nothing, but arrays of one shape follow from it.
SIZE = "center_crop: {height: 37, width: 51}"


class PicturesInteropTest(InteropTest):
    def test_pillows_pictures_are_decoded_to_its_pixels(self):
        names = self.run_other(WRITE_PICTURES)
        self.assertGreater(len(names), 40)
        self.assert_arrays("folder: pictures", "decode", SIZE)

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

"""Runs the real programs, and makes the small data sets and recipes that the tests of them need.

STOKER in the environment is the path of the executable `stoker`. Everything is written into a temporary directory that is
removed at the end of each test.
"""
import gzip
import json
import os
import random
import signal
import struct
import subprocess
import tempfile
import unittest
import zlib

STOKER = os.environ["STOKER"]

# A shell without job control lets what it starts in the background ignore SIGINT, and programs inherit that; the tests send it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SIDE = 14
CLASSES = ["north-west", "north-east", "south-west", "south-east"]


def idx(dtype, shape, data):
    """The bytes of an IDX file; README.md in stoker/formats/idx has the layout."""
    return struct.pack(">BBBB", 0, 0, dtype, len(shape)) + struct.pack(f">{len(shape)}I", *shape) + bytes(data)


def image(label, rng):
    """An image whose class is the quadrant that is bright."""
    pixels = bytearray(rng.randrange(60) for _ in range(SIDE * SIDE))
    for y in range(SIDE // 2):
        for x in range(SIDE // 2):
            pixels[(y + label // 2 * (SIDE // 2)) * SIDE + x + label % 2 * (SIDE // 2)] += 150
    return bytes(pixels)


def images_and_labels(count, seed):
    rng = random.Random(seed)
    labels = bytes(rng.randrange(len(CLASSES)) for _ in range(count))
    pixels = b"".join(image(label, rng) for label in labels)
    return idx(8, [count, SIDE, SIDE], pixels), idx(8, [count], labels)


def png(pixels, width, height):
    """A grey PNG of 8 bits."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + pixels[y * width:(y + 1) * width] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def bmp(pixels, width, height):
    """The same grey picture as a BMP of 24 bits, its last row first and rows filled up to four bytes."""
    rows = [b"".join(bytes([value] * 3) for value in pixels[y * width:(y + 1) * width]) for y in range(height)]
    body = b"".join(row + bytes(-len(row) % 4) for row in reversed(rows))
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(body), 0, 0, 0, 0)
    return struct.pack("<2sIHHI", b"BM", 54 + len(body), 0, 0, 54) + info + body


DATA = """\
data:
  root: data
  train:
    - idx: {images: train-images, labels: train-labels.gz}
    - shuffle
    - random_crop: {size: 14, padding: 1}
    - normalize: {mean: 0.2, std: 0.3}
    - batch: {size: 32, drop_remainder: true}
    - prefetch
  eval:
    - idx: {images: eval-images.gz, labels: eval-labels}
    - normalize: {mean: 0.2, std: 0.3}
    - batch: {size: 50}
  classes: [north-west, north-east, south-west, south-east]
"""
# Whatever could choose differently from run to run is fixed, so that runs can be compared byte by byte.
RECIPE = DATA + """\
model:
  convnet: {classes: 4, channels: [8, 8]}
train:
  epochs: 3
  seed: 1
  device: cpu
  memory_format: contiguous
  threads: 1
  checkpoint: {every_steps: 8, keep: 3}
  optimizer:
    adamw: {weight_decay: 0.01}
  schedule:
    one_cycle: {max_lr: 0.01}
"""
TRAIN_IMAGES = 512
STEPS_PER_EPOCH = TRAIN_IMAGES // 32


def where(text, wrong):
    """The place of `wrong` in the recipe `text`, as messages write it: recipe.yaml:LINE:COLUMN, both from 1."""
    before = text[:text.index(wrong)]
    return f"recipe.yaml:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


class ProgramTest(unittest.TestCase):
    """A temporary directory with data/ and recipe.yaml, in which the program runs."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="stoker-test-")
        self.addCleanup(directory.cleanup)
        self.folder = directory.name
        for name, count, seed in (("train", TRAIN_IMAGES, 1), ("eval", 120, 2)):
            pixels, labels = images_and_labels(count, seed)
            self.write(f"data/{name}-images", pixels)
            self.write(f"data/{name}-images.gz", gzip.compress(pixels, mtime=0))
            self.write(f"data/{name}-labels", labels)
            self.write(f"data/{name}-labels.gz", gzip.compress(labels, mtime=0))
        self.write("recipe.yaml", RECIPE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def weights_of(self, run):
        """The bytes of a run's weights, without the header, which says what the run had learned too."""
        content = self.read(f"{run}/weights.safetensors")
        return content[8 + int.from_bytes(content[:8], "little"):]

    def tensor(self, path, name, width):
        """Rows of a tensor of float32 in a safetensors file."""
        content = self.read(path)
        head = 8 + int.from_bytes(content[:8], "little")
        begin, end = json.loads(content[8:head])[name]["data_offsets"]
        values = struct.unpack(f"<{(end - begin) // 4}f", content[head:][begin:end])
        return [list(values[i:i + width]) for i in range(0, len(values), width)]

    def start(self, *arguments, **options):
        """A process that runs `stoker ARGUMENTS`; options are those of Popen, and `environment`: variables to add."""
        options["env"] = dict(os.environ, **options.pop("environment", {}))
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([STOKER, *arguments], cwd=self.folder, text=True, **{**streams, **options})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """Nothing is left running, whatever happened in the test."""
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def run_stoker(self, *arguments, expect=0, **options):
        """Runs `stoker ARGUMENTS` and returns (stdout, stderr); the exit code must be `expect`."""
        process = self.start(*arguments, **options)
        out, err = process.communicate()
        self.assertEqual(process.returncode, expect, f"stoker {' '.join(arguments)}\n{out}{err}")
        return out, err

    def run_json(self, *arguments, **options):
        out, _ = self.run_stoker(*arguments, "--json", **options)
        return json.loads(out)

    def assert_fails(self, arguments, code, *says, **options):
        """The program exits with `code`, prints nothing as a result, and one line that contains each of `says`; with
        `others`, so many more lines follow it, each of another mistake."""
        others = options.pop("others", 0)
        out, err = self.run_stoker(*arguments, expect=code, **options)
        errors = [line for line in err.splitlines() if line.startswith("stoker: error: ")]
        self.assertEqual(len(errors), 1 + others, err)
        for text in says:
            self.assertIn(text, errors[0])
        return out, err

"""What gzip, bzip2, xz and zstd, programs that do the same on several threads, and Python's modules compress is read."""
import bz2
import functools
import gzip
import io
import itertools
import lzma
import random
import shutil
import subprocess
import tarfile
import unittest

from program import ProgramTest

ENDINGS = {"gzip": "gz", "pigz": "gz", "bzip2": "bz2", "pbzip2": "bz2", "xz": "xz", "pixz": "xz", "zstd": "zst"}
# By program: options that change what is in the file. Each reads from standard input and writes to standard output.
OPTIONS = {
    "gzip": [["-1"], ["-6"], ["-9"], ["--rsyncable"]],
    "pigz": [["-0"], ["-6", "-b", "128", "-p", "3"], ["-11"], ["--independent", "-b", "128"], ["--rsyncable"]],
    "bzip2": [[f"-{level}"] for level in range(1, 10)],
    "pbzip2": [["-1", "-p3"], ["-9", "-p2", "-b1"]],
    "xz": [*([f"-{level}"] for level in range(10)), ["-6e"], *(["-0", f"--check={check}"] for check in ["none", "crc32", "crc64", "sha256"]),
           ["-0", "--block-size=4096"], ["-1", "--block-size=65536", "--check=sha256"], ["-1", "-T3", "--block-size=30000"],
           ["-1", "--block-list=1000,2,50000,0"], ["--x86", "--lzma2=preset=1"], ["--delta=dist=4", "--lzma2=dict=64KiB,lc=0,lp=2,pb=0"],
           ["--arm", "--delta=dist=1", "--lzma2=preset=0,mode=fast,nice=8,mf=hc3"]],
    "pixz": [["-t", "-0"], ["-t", "-6", "-p", "2"], ["-t", "-9", "-f", "0.5"]],
    "zstd": [["-1"], ["-19", "--check"], ["--no-check"], ["--ultra", "-22", "--long=24"], ["-3", "-T2", "-B32768"], ["--fast=5"]],
}


def lines():
    """Texts that compress well and badly."""
    rng = random.Random(1)
    return [f"{i} {rng.randbytes(rng.randrange(30)).hex()}{' again' * (i % 7)}" for i in range(4000)]


def bytes_of(texts):
    return "".join(text + "\n" for text in texts).encode()


def compressed(tool, options, content):
    stdout = [] if tool == "pixz" else ["-c"]
    return subprocess.run([tool, *options, *stdout], input=content, check=True, capture_output=True).stdout


def named_gzip(content):
    """With a name and a time in its header."""
    out = io.BytesIO()
    with gzip.GzipFile("a name.txt", "wb", 6, out, mtime=1e9) as file:
        file.write(content)
    return out.getvalue()


class CompressionInteropTest(ProgramTest):
    LINES = lines()
    # As `cat` of several compressed files has them: also empty ones, at the beginning, in the middle and at the end.
    PARTS = [[], ["x"], LINES, [], [], ["x"], LINES, []]
    SLICES = [slice(0, 8), slice(1, 3), slice(2, 7), slice(3, 6), slice(3, 5), slice(0, 1)]

    def assert_lines(self, name, want):
        self.write("recipe.yaml", f"data:\n  root: .\n  train:\n    - lines: {name}\n")
        self.run_stoker("pack", "recipe.yaml", "packed.tar", "--overwrite")
        with tarfile.open(self.path("packed.tar")) as archive:
            found = [archive.extractfile(member).read().decode() for member in archive if member.name.endswith(".txt")]
        self.assertEqual(len(found), len(want))
        self.assertTrue(found == want, "other lines are read")

    def assert_each_and_joined(self, ending, compressors):
        """A file of each compressor is read, and files of several streams, made by one compressor after the other."""
        name = f"a.txt.{ending}"
        for number, compress in enumerate(compressors):
            with self.subTest(compressor=number):
                self.write(name, compress(bytes_of(self.LINES)))
                self.assert_lines(name, self.LINES)
        streams = [compress(bytes_of(part)) for compress, part in zip(itertools.cycle(compressors), self.PARTS)]
        for part in self.SLICES:
            with self.subTest(streams=part):
                self.write(name, b"".join(streams[part]))
                self.assert_lines(name, sum(self.PARTS[part], []))

    def assert_program(self, tool):
        if not shutil.which(tool):
            self.skipTest(f"{tool} is not there; ./dev setup --interop installs it")
        self.assert_each_and_joined(ENDINGS[tool], [functools.partial(compressed, tool, options) for options in OPTIONS[tool]])

    def test_what_gzip_wrote_is_read(self):
        self.assert_program("gzip")

    def test_what_pigz_wrote_is_read(self):
        self.assert_program("pigz")

    def test_what_bzip2_wrote_is_read(self):
        self.assert_program("bzip2")

    def test_what_pbzip2_wrote_is_read(self):
        self.assert_program("pbzip2")

    def test_what_xz_wrote_is_read(self):
        self.assert_program("xz")

    def test_what_pixz_wrote_is_read(self):
        self.assert_program("pixz")

    def test_what_zstd_wrote_is_read(self):
        self.assert_program("zstd")

    def test_what_pythons_modules_wrote_is_read(self):
        self.assert_each_and_joined("gz", [functools.partial(gzip.compress, compresslevel=level) for level in (0, 1, 9)] + [named_gzip])
        self.assert_each_and_joined("bz2", [functools.partial(bz2.compress, compresslevel=level) for level in range(1, 10)])
        checks = [lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256]
        filters = [{"id": lzma.FILTER_DELTA, "dist": 3}, {"id": lzma.FILTER_LZMA2, "preset": 1, "lc": 1, "lp": 3, "dict_size": 1 << 20}]
        self.assert_each_and_joined("xz", [functools.partial(lzma.compress, preset=preset) for preset in (0, 6, 9 | lzma.PRESET_EXTREME)] +
                                    [functools.partial(lzma.compress, check=check, preset=0) for check in checks] +
                                    [functools.partial(lzma.compress, filters=filters)])

    def test_zeros_between_streams_are_padding(self):
        for ending, compress, zeros in [("xz", lzma.compress, 4), ("xz", lzma.compress, 4096), ("bz2", bz2.compress, 512), ("gz", gzip.compress, 512)]:
            with self.subTest(ending=ending, zeros=zeros):
                self.write(f"a.txt.{ending}", compress(bytes_of(self.LINES)) + bytes(zeros))
                self.assert_lines(f"a.txt.{ending}", self.LINES)


if __name__ == "__main__":
    unittest.main()

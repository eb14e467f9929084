"""What is piped in (`-`) is what a file of the same bytes is, to every command that takes files."""
import gzip
import io
import os
import resource
import subprocess
import tarfile
import unittest

from program import ProgramTest


def tar_of(count):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for i in range(count):
            for extension, data in (("txt", b"%d-" % i + bytes(20000)), ("cls", b"%d" % i)):
                member = tarfile.TarInfo(f"{i:05}.{extension}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


class StandardInputTest(ProgramTest):
    def setUp(self):
        super().setUp()
        rows = "n,x\n" + "".join(f"{i},{i * 0.5}\n" for i in range(20000))
        self.write("a.csv", rows)
        self.write("a.csv.gz", gzip.compress(rows.encode(), mtime=0))
        self.write("a.tar", tar_of(60))
        self.write("csv.yaml", "data:\n  train:\n    - csv: {files: a.csv}\n")
        self.run_stoker("pack", "csv.yaml", "a.stoker")
        self.run_stoker("pack", "csv.yaml", "a.tfrecord", "--format", "tfrecord")

    def piped(self, file, *arguments, expect=0):
        """Runs `stoker ARGUMENTS` with the bytes of a file coming through a pipe."""
        with subprocess.Popen(["cat", self.path(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as cat:
            return self.run_stoker(*arguments, expect=expect, stdin=cat.stdout, environment={"TMPDIR": self.folder})

    def redirected(self, file, *arguments):
        with open(self.path(file), "rb") as stdin:
            return self.run_stoker(*arguments, stdin=stdin)

    def test_inspect_and_verify_tell_of_a_pipe_what_they_tell_of_the_file(self):
        for file in ("a.tar", "a.stoker", "a.tfrecord", "data/train-images.gz"):
            with self.subTest(file=file):
                for command in ("inspect", "verify"):
                    of_file, _ = self.run_stoker(command, file)
                    of_pipe, _ = self.piped(file, command, "-")
                    self.assertEqual(of_pipe.removeprefix("-"), of_file.removeprefix(file), command)
                    self.assertEqual(self.redirected(file, command, "-")[0], of_pipe)

    def test_texts_without_a_name_are_known_by_their_lines(self):
        self.write("a.jsonl", '{"b": 1, "a": "x"}\n{"b": 2, "a": "y"}\n')
        self.write("a.libsvm", "1 3:0.5\n0 1:2 4:1\n")
        for file, name in (("a.csv", "csv"), ("a.csv.gz", "csv"), ("a.jsonl", "jsonl"), ("a.libsvm", "libsvm")):
            with self.subTest(file=file):
                of_file, _ = self.run_stoker("verify", file)
                of_pipe, _ = self.piped(file, "verify", "-")
                self.assertEqual(of_pipe.removeprefix("-"), of_file.removeprefix(file))
                self.assertIn(f": whole, {name}, ", of_pipe)
                self.assertIn(f"-: {name}, ", self.piped(file, "inspect", "-")[0])
        self.write("notes.txt", "words\n")
        self.assertIn("-: not checked", self.piped("notes.txt", "verify", "-", expect=1)[0])

    def test_what_is_damaged_in_a_pipe_is_told_with_its_byte(self):
        self.write("short.tar", self.read("a.tar")[:100_000])
        out, _ = self.piped("short.tar", "verify", "-", expect=1)
        self.assertIn("byte", out)

    def test_pack_takes_a_pipe_as_it_takes_the_file(self):
        for file in ("a.tar", "a.stoker", "a.tfrecord"):
            with self.subTest(file=file):
                name = file.replace(".", "-")
                # A TFRecord file holds the elements alone, not what they were made from.
                self.run_stoker("pack", file, f"{name}-file.tfrecord", "--format", "tfrecord")
                self.piped(file, "pack", "-", f"{name}-pipe.tfrecord", "--format", "tfrecord")
                self.redirected(file, "pack", "-", f"{name}-redirected.tfrecord", "--format", "tfrecord")
                for way in ("pipe", "redirected"):
                    self.assertEqual(self.read(f"{name}-{way}.tfrecord"), self.read(f"{name}-file.tfrecord"), way)

    def test_a_recipe_reads_a_pipe_as_it_reads_the_file(self):
        for stage, file in (("csv: {files: %s}", "a.csv"), ("csv: {files: %s}", "a.csv.gz"), ("lines: '%s'", "a.csv"),
                            ("webdataset: {files: %s, fields: [txt, cls]}", "a.tar"), ("tfrecord: {files: %s}", "a.tfrecord")):
            with self.subTest(stage=stage, file=file):
                packed = {}
                for path in (file, "'-'"):
                    path = path.strip("'") if stage.startswith("lines") else path
                    self.write("recipe.yaml", "data:\n  train:\n    - " + stage % path + "\n")
                    self.piped(file, "pack", "recipe.yaml", "out.tfrecord", "--format", "tfrecord", "--overwrite")
                    packed[path] = self.read("out.tfrecord")
                self.assertEqual(len(set(packed.values())), 1)
                self.redirected(file, "pack", "recipe.yaml", "out.tfrecord", "--format", "tfrecord", "--overwrite")
                self.assertIn(self.read("out.tfrecord"), packed.values())

    def test_bench_reads_a_small_pipe_over_and_over(self):
        self.write("recipe.yaml", "data:\n  train:\n    - csv: {files: '-'}\n    - batch: {size: 100}\n")
        out, _ = self.piped("a.csv", "bench", "recipe.yaml", "--seconds", "0.2")
        self.assertIn("samples_per_s", out)

    def test_a_second_pass_over_a_long_pipe_says_what_to_do(self):
        self.write("long.txt", b"0123456789abcdef\n" * 1_200_000)  # more than the 16 MiB that are kept
        self.write("recipe.yaml", "data:\n  train:\n    - lines: '-'\n")
        _, err = self.piped("long.txt", "bench", "recipe.yaml", "--seconds", "60", expect=1)
        self.assertIn("a pipe cannot be read again from its start; for more than one pass copy it to a file", err)

    def test_where_no_copy_can_be_made_each_command_says_where_and_what_to_do(self):
        commands = (["inspect", "-"], ["verify", "-"], ["pack", "-", "out.stoker"])
        for command in commands:
            with self.subTest(command=command):
                with subprocess.Popen(["cat", self.path("a.tar")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as cat:
                    out, err = self.run_stoker(*command, expect=1, stdin=cat.stdout, environment={"TMPDIR": self.path("none")})
                self.assertIn("standard input: what is piped in is copied to a file in TMPDIR, " + self.path("none"), out + err)
                self.assertIn("set TMPDIR to a directory with room", out + err)
                with subprocess.Popen(["cat", self.path("a.tar")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as cat:
                    out, err = self.run_stoker(*command, expect=1, stdin=cat.stdout, environment={"TMPDIR": self.folder},
                                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
                self.assertIn(f"standard input: its copy in {self.folder}: byte ", out + err)
                self.assertIn("; 100000 bytes of what is piped in were copied, ", out + err)
                self.assertIn("set TMPDIR to a directory with room", out + err)

    def test_no_copy_is_left_behind(self):
        before = sorted(os.listdir(self.folder))
        self.piped("a.tar", "inspect", "-")  # TMPDIR is that folder
        self.assertEqual(sorted(os.listdir(self.folder)), before)


if __name__ == "__main__":
    unittest.main()

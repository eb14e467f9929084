"""Parquet and Arrow files that are unusual: what is refused, what is said of them, and what they take."""
import json
import unittest

from program import ProgramTest
from table_files import ARROW, PARQUET, STREAM, have_tables, write_table


@unittest.skipUnless(have_tables(), "this build has no Apache Arrow")
class TablesTest(ProgramTest):
    def table(self, name, columns, kind=PARQUET, **options):
        write_table(self.path(name), kind, columns, **options)

    def recipe(self, *stages):
        self.write("recipe.yaml", "data:\n  train:\n" + "".join(f"    - {stage}\n" for stage in stages))

    def test_a_number_for_nulls_that_int64_cannot_hold_is_refused_and_the_largest_is_exact(self):
        self.table("a.parquet", {"y": ("int64", "[1, null]")})
        for number in ("9223372036854775808", "9223372036854775808.0", "-9223372036854775809", "1e19"):
            with self.subTest(number=number):
                self.recipe(f"parquet: {{files: a.parquet, fields: {{y: {{column: y, nulls: {number}}}}}}}")
                _, err = self.run_stoker("bench", "recipe.yaml", "--epochs", "1", expect=2)
                self.assertRegex(err, "nulls is .*, which int64 .*cannot hold")
        self.recipe("parquet: {files: a.parquet, fields: {y: {column: y, nulls: 9223372036854775807}}}")
        self.run_stoker("pack", "recipe.yaml", "arrays", "--format", "npy")
        self.assertEqual(int.from_bytes(self.read("arrays/y.npy")[-8:], "little", signed=True), 9223372036854775807)

    def test_a_path_with_a_zero_byte_is_refused_instead_of_cut(self):
        self.table("a.parquet", {"y": ("int64", "[1]")})
        self.write("words", "a\n")
        for stage in (r'parquet: "a.parquet\0x"', r'lines: "words\0x"', r'folder: "data\0x"'):
            with self.subTest(stage=stage):
                self.recipe(stage)
                _, err = self.run_stoker("bench", "recipe.yaml", "--epochs", "1", expect=2)
                self.assertIn("a zero byte in it, where a path ends", err)

    def test_a_description_of_groups_that_is_larger_than_the_budget_is_refused_before_it_is_read(self):
        self.table("a.parquet", {"y": ("int64", str(list(range(20000))))}, group_rows=1)
        self.recipe("parquet: a.parquet", "batch: 10")
        _, err = self.run_stoker("bench", "recipe.yaml", "--epochs", "1", "--memory", "1MB", expect=1)
        self.assertRegex(err, r"a.parquet: its description of columns and row groups has \d\.\d MB and takes about \d+\.\d MB in memory")
        self.assertIn("--memory", err)
        self.write("b.parquet", self.read("a.parquet")[:-4] + b"CUT1")
        _, err = self.run_stoker("bench", "recipe.yaml", "--set", "data.train.0.parquet=b.parquet", "--epochs", "1", "--memory", "1MB", expect=1)
        self.assertIn("does not end with PAR1", err)
        # Beside it nothing is left for the rows.
        _, err = self.run_stoker("bench", "recipe.yaml", "--epochs", "1", "--memory", "26MB", expect=1)
        self.assertRegex(err, "the descriptions of all columns and groups take")
        self.run_stoker("bench", "recipe.yaml", "--epochs", "1", "--memory", "200MB")

    def test_an_arrow_message_without_its_table_is_damage(self):
        self.table("a.arrow", {"n": ("int32", "[1, 2]")}, STREAM)
        whole = self.read("a.arrow")
        starts = [at for at in range(0, len(whole), 8) if whole[at:at + 4] == b"\xff" * 4 and whole[at + 4:at + 8] != bytes(4)]
        self.assertEqual(len(starts), 2)  # the schema, and a batch
        for start in starts:
            with self.subTest(start=start):
                message = start + 8
                table = message + int.from_bytes(whole[message:message + 4], "little")
                members = table - int.from_bytes(whole[table:table + 4], "little", signed=True)
                place = members + 4 + 2 * 2  # of `header`, after version and type
                self.write("b.arrow", whole[:place] + bytes(2) + whole[place + 2:])
                _, err = self.run_stoker("inspect", "b.arrow", expect=1)
                self.assertIn("b.arrow", err)

    def test_inspect_counts_numbers_beyond_int64_apart_from_nulls(self):
        for kind in (PARQUET, ARROW):
            with self.subTest(kind=kind):
                self.table("a.table", {"y": ("uint64", "[1, null, 18446744073709551615, 9223372036854775808]")}, kind)
                field = self.run_json("inspect", "a.table")["fields"]["y"]
                self.assertEqual((field["nulls"], field["beyond_int64"]), (1, 2))
                self.assertIn("2 rows beyond int64, which cannot be read", self.run_stoker("inspect", "a.table")[0])

    def test_verify_says_what_was_checked_where_there_are_no_checksums_for_all(self):
        self.table("a.parquet", {"y": ("int64", "[1]")})
        self.table("a.arrow", {"y": ("int64", "[1]")}, ARROW)
        self.write("a.csv", "x,y\n1,2\n")
        self.assertIn("whole, parquet, 1 record; checked: that every column can be decoded, and the checksums of the pages that have some",
                      self.run_stoker("verify", "a.parquet")[0])
        self.assertIn("whole, arrow, 1 record; checked: that every column can be decoded", self.run_stoker("verify", "a.arrow")[0])
        self.assertIn("; checked: that every row can be parsed", self.run_stoker("verify", "a.csv")[0])
        self.assertEqual(self.run_json("verify", "a.csv")["files"][0]["checked"], "that every row can be parsed")

    def test_the_log_of_what_is_left_out_names_the_file_and_row_of_a_picture_in_a_table(self):
        picture = '{"bytes": "no picture", "path": "a/cat.jpg"}'
        good = r'{"bytes": "P5 1 1 255\nA", "path": "a/dog.pgm"}'
        self.table("a.parquet", {"image": ("struct<bytes: binary, path: string>", f"[{', '.join([picture] * 2 + [good] * 6)}]")})
        self.recipe("parquet: a.parquet", "{decode: {}, on_error: {policy: skip, share: 1, log: bad.jsonl}}", "resize: {size: 4}")
        self.run_stoker("pack", "recipe.yaml", "arrays", "--format", "npy", "--stages", "3")
        lines = [json.loads(line) for line in self.read("bad.jsonl").splitlines()]
        self.assertEqual([(line["file"], line["row"]) for line in lines[:2]], [(self.path("a.parquet"), 0), (self.path("a.parquet"), 1)])
        self.assertIn("a/cat.jpg", lines[0]["reason"])


if __name__ == "__main__":
    unittest.main()

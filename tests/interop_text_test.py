"""Tables and lines that Python's csv and json modules and scikit-learn write are read value by value."""
import shutil
import subprocess
import unittest

from other_software import InteropTest

WRITE_CSV = """
import csv, gzip, json, random, string
random = random.Random(1)
letters = string.ascii_letters + string.digits + " ,;\\t\\"'\\n\\r\\u00e9\\u4e2d\\U0001f600"
def text(): return "".join(random.choice(letters) for _ in range(random.randrange(12))).replace("\\r", "\\r\\n")
rows = [(random.randrange(-2**63, 2**63), random.uniform(-1e9, 1e9), random.randrange(256), "t" + text()) for _ in range(500)]
want = {name: list(values) for name, values in zip(["id", "x", "pixel", "name"], zip(*rows))}
want["name"] = [name.encode().decode("latin-1") for name in want["name"]]
forms = {"excel.csv": {}, "unix.csv": {"dialect": "unix"}, "tabs.tsv": {"dialect": "excel-tab"},
         "quoted.csv": {"quoting": csv.QUOTE_NONNUMERIC, "lineterminator": "\\n"}, "semicolons.csv": {"delimiter": ";", "quotechar": "'"}}
for name, form in forms.items():
    with open(name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, **form)
        writer.writerow(["id", "x", "pixel", "name"])
        writer.writerows(rows)
with open("excel.csv", "rb") as file, gzip.open("excel.csv.gz", "wb") as packed: packed.write(file.read())
print(json.dumps({"files": list(forms) + ["excel.csv.gz"], "want": want}))
"""

WRITE_JSON = """
import json, random
random = random.Random(1)
def text(): return "".join(random.choice("ab\\"\\\\/\\n\\t\\x01\\u00e9\\u4e2d\\U0001f600\\u2028") for _ in range(random.randrange(9)))
rows = [{"id": random.randrange(-2**63, 2**63), "x": [random.uniform(-1, 1) * 10 ** random.randrange(-300, 300) for _ in range(3)],
         "flag": random.random() > 0.5, "words": text(), "any": [float(k) for k in range(i % 5)],
         "far": [float("inf"), -float("inf")], "none": float("nan"),
         "other": {"deep": [{"n": i}, None, text(), [[]]], "": -0.0}} for i in range(300)]
for name, form in [("plain", {}), ("utf8", {"ensure_ascii": False}), ("dense", {"separators": (",", ":"), "sort_keys": True})]:
    with open(name + ".jsonl", "w", encoding="utf-8") as file:
        for row in rows: file.write(json.dumps(row, **form) + "\\n")
want = {name: [row[name] for row in rows] for name in ["id", "x", "flag", "any", "far"]}
want["words"] = [row["words"].encode().decode("latin-1") for row in rows]
want["n"] = [row["other"]["deep"][0]["n"] for row in rows]
print(json.dumps(want))
"""

WRITE_SVMLIGHT = """
import json, numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
random = np.random.RandomState(1)
x = random.standard_normal((60, 9)).astype(np.float32)
x[random.rand(60, 9) > 0.5] = 0
labels, several = np.arange(60) / 4, (random.rand(60, 5) > 0.5).astype(int)
several[:, 0] = 1
dump_svmlight_file(x, labels, "zero.svm", zero_based=True)
dump_svmlight_file(x, labels, "one.svm", zero_based=False, comment="written by\\nscikit-learn")
dump_svmlight_file(x, np.arange(60), "query.svm", zero_based=False, query_id=np.arange(60) // 7)
dump_svmlight_file(x, several, "several.svm", zero_based=False, multilabel=True)
print(json.dumps({"x": x.tolist(), "label": labels.tolist(), "query": [i // 7 for i in range(60)],
                  "several": [np.flatnonzero(row).tolist() for row in several],
                  "indices": [np.flatnonzero(row).tolist() for row in x], "values": [row[row != 0].tolist() for row in x]}))
"""


class TextInteropTest(InteropTest):
    def test_tables_of_pythons_csv_are_read_in_every_dialect(self):
        wrote = self.run_other(WRITE_CSV)
        for file in wrote["files"]:
            with self.subTest(file=file):
                form = ', delimiter: ";", quote: "\'"' if file.startswith("semi") else ""
                self.assert_values(wrote["want"], f"csv: {{files: {file}, fields: {{id: int64, x: float64, pixel: uint8, "
                                                  f"name: text}}{form}}}")

    def test_lines_of_pythons_json_are_read_in_every_form(self):
        want = self.run_other(WRITE_JSON)
        fields = ("{id: int64, x: {type: float64, shape: [3]}, flag: bool, words: text, any: {shape: [-1]}, far: {shape: [2]}, "
                  "n: {type: int64, path: other.deep.0.n}}")
        for name in ["plain", "utf8", "dense"]:
            with self.subTest(form=name):
                self.assert_values(want, f"jsonl: {{files: {name}.jsonl, fields: {fields}}}")

    def test_samples_of_scikit_learn_are_read_dense_and_sparse(self):
        wrote = self.run_other(WRITE_SVMLIGHT)
        def want(**names):
            return {ours: wrote[theirs] for ours, theirs in names.items()}
        self.assert_values(want(x="x", label="label"), "libsvm: {files: zero.svm, features: 9, first_index: 0}")
        self.assert_values(want(x="x", label="label"), "libsvm: {files: one.svm, features: 9}")
        self.assert_values(want(indices="indices", values="values", label="label"), "libsvm: one.svm")
        self.assert_values({**want(x="x", query="query"), "label": list(range(60))},
                           "libsvm: {files: query.svm, features: 9, label: int64, query: true}")
        self.assert_values(want(x="x", label="several"), "libsvm: {files: several.svm, features: 9, label: several}")

    @unittest.skipUnless(shutil.which("zstd") and shutil.which("gzip"), "zstd is not there; ./dev setup --interop installs it")
    def test_lines_that_gzip_and_zstd_packed_are_read(self):
        lines = [f"line {i} " * (i % 7) for i in range(3000)]
        for tool, ending in [(["gzip", "-1"], "gz"), (["gzip", "-9", "--rsyncable"], "gz"), (["zstd", "-1"], "zst"),
                             (["zstd", "-19", "--check", "--long"], "zst"), (["zstd", "--no-check"], "zst")]:
            with self.subTest(tool=tool):
                # Two frames, as `cat` of two packed files has them.
                halves = [subprocess.run([*tool, "-c", "-q"], input="".join(line + "\n" for line in part).encode(), check=True,
                                         capture_output=True).stdout for part in (lines[:1000], lines[1000:])]
                self.write(f"a.txt.{ending}", b"".join(halves))
                self.assert_values({"text": lines}, f"lines: a.txt.{ending}")


if __name__ == "__main__":
    unittest.main()

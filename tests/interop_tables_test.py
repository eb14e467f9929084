"""Parquet, Arrow and Feather files that pyarrow writes are read value by value, whatever their form."""
import unittest

from other_software import InteropTest, has
from table_files import have_tables

# The same columns in the ways that pyarrow writes them.
WRITE_TABLES = """
import json, numpy as np, pyarrow as pa
from pyarrow import feather, parquet
random = np.random.default_rng(1)
rows = 3000
arrays = {"u1": random.integers(0, 256, (rows, 4), dtype=np.uint8), "i8": random.integers(-2**60, 2**60, rows),
          "u4": random.integers(0, 2**32, rows, dtype=np.uint32), "f2": random.random(rows).astype(np.float16),
          "f4": random.random((rows, 6)).astype(np.float32), "f8": random.random(rows), "flag": random.random(rows) > 0.5}
def column(array):
    flat = pa.array(array.reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, array.shape[1]) if array.ndim == 2 else flat
table = pa.table({name: column(array) for name, array in arrays.items()} | {
    "word": pa.array(["word %d" % (i % 7) for i in range(rows)]).dictionary_encode(),
    "deep": pa.array([{"in": {"x": i}} for i in range(rows)])})
for name, options in {"plain": {"compression": "none", "use_dictionary": False}, "snappy": {}, "v1": {"version": "1.0"},
                      "pages2": {"data_page_version": "2.0", "compression": "zstd", "write_page_checksum": True},
                      "split": {"column_encoding": {"f8": "BYTE_STREAM_SPLIT", "i8": "DELTA_BINARY_PACKED"}, "use_dictionary": False},
                      "brotli": {"compression": "brotli"}, "gzip": {"compression": "gzip"}, "lz4": {"compression": "lz4"}}.items():
    parquet.write_table(table, f"{name}.parquet", row_group_size=700, **options)
for name, options in {"lz4": {}, "zstd": {"compression": "zstd"}, "plain": {"compression": "uncompressed"}}.items():
    feather.write_feather(table, f"{name}.feather", chunksize=700, **options)
with pa.ipc.new_stream("stream.arrow", table.schema) as stream: stream.write_table(table, max_chunksize=700)
want = {**arrays, "u4": arrays["u4"].astype(np.int64), "x": np.arange(rows)}
np.savez("want.npz", **want)
print(json.dumps(pa.__version__))
"""

FIELDS = "{u1: u1, i8: i8, u4: u4, f2: f2, f4: f4, f8: f8, flag: flag, x: deep.in.x}"


@unittest.skipUnless(have_tables() and has("pyarrow"), "Stoker was built without Apache Arrow, or there is no pyarrow")
class TablesInteropTest(InteropTest):
    def test_files_of_pyarrow_are_read_whatever_their_form(self):
        self.run_other(WRITE_TABLES)
        for name in ["plain", "snappy", "v1", "pages2", "split", "brotli", "gzip", "lz4"]:
            with self.subTest(parquet=name):
                self.assert_arrays(f"parquet: {{files: {name}.parquet, fields: {FIELDS}}}")
                self.run_stoker("verify", f"{name}.parquet")
        for name in ["lz4.feather", "zstd.feather", "plain.feather", "stream.arrow"]:
            with self.subTest(arrow=name):
                self.assert_arrays(f"arrow: {{files: {name}, fields: {FIELDS}}}")
                self.run_stoker("verify", name)
        for line in ["parquet: {files: snappy.parquet, fields: {w: word}}", "arrow: {files: stream.arrow, fields: {w: word}}"]:
            self.assert_values({"w": [f"word {i % 7}" for i in range(3000)]}, line)


if __name__ == "__main__":
    unittest.main()

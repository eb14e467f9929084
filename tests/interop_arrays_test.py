"""Arrays that NumPy, h5py, tensorstore and idx2numpy write are read value by value, and NumPy reads ours."""
import os
import unittest

from other_software import InteropTest

# Each array as NumPy keeps it in all of its files: types, byte orders, orders of the dimensions, versions of the header.
WRITE_NUMPY = """
import json, numpy as np
random = np.random.default_rng(1)
wide = random.integers(0, 2**31, (40, 3, 5))
arrays = {"f2": random.random((40, 7)).astype(np.float16), "f4": random.random((40, 9)).astype(np.float32), "f8": random.random(40),
          "i1": wide.astype(np.int8), "i2": wide.astype(np.int16), "i4": wide.astype(np.int32), "i8": wide * -2**30,
          "u1": wide.astype(np.uint8), "u2": wide.astype(np.uint16), "u4": wide.astype(np.uint32), "flag": wide % 2 == 0,
          "none": np.zeros((40, 0)), "big": random.random((40, 4)).astype(">f4"), "turned": np.asfortranarray(wide),
          "both": np.asfortranarray(wide).astype(">i2")}
np.savez("stored.npz", **arrays)
np.savez_compressed("packed.npz", **arrays)
np.savez("want.npz", **arrays)
for number, (name, array) in enumerate(arrays.items()):
    with open(name + ".npy", "wb") as file: np.lib.format.write_array(file, array, version=[(1, 0), (2, 0), (3, 0)][number % 3])
print(json.dumps(list(arrays)))
"""

# Records as the C structures that NumPy's structured types are, between a header and a footer.
WRITE_RECORDS = """
import json, numpy as np
random = np.random.default_rng(1)
kind = [("label", "u1"), ("image", "u1", (3, 4, 4)), ("half", "f2", 5), ("count", "i4"), ("place", "f8", 2), ("flag", "?")]
for name, order in [("little", "<"), ("big", ">")]:
    records = np.frombuffer(random.bytes(np.dtype(kind).itemsize * 30), kind).copy()
    records["half"], records["place"], records["flag"] = random.random((30, 5)), random.random((30, 2)), random.random(30) > 0.5
    with open(name + ".bin", "wb") as file: file.write(b"header" + records.astype(np.dtype(kind).newbyteorder(order)).tobytes() + b"end")
    np.savez(name + ".npz", **{field: records[field] for field in records.dtype.names})
print(json.dumps(records.dtype.names))
"""

WRITE_IDX = """
import gzip, idx2numpy, json, numpy as np
random = np.random.default_rng(1)
for name, kind, shape in [("u1", "u1", (20, 4, 6)), ("i1", "i1", (20, 3, 4, 4)), ("i2", "i2", (20, 4, 4)), ("i4", "i4", (20, 2, 2)),
                          ("f4", "f4", (20, 3, 2, 2)), ("f8", "f8", (20, 2, 2))]:
    images, labels = (random.random(shape) * 100).astype(kind), np.arange(20, dtype=np.uint8)
    idx2numpy.convert_to_file(name + "-images", images)
    with gzip.open(name + "-labels.gz", "wb") as file: idx2numpy.convert_to_file(file, labels)
    np.savez(name + ".npz", image=images if images.ndim == 4 else images[:, None], label=labels)
print(json.dumps([]))
"""

# Every field in the forms that h5py writes it in, and beside it as NumPy does.
WRITE_HDF5 = """
import h5py, json, numpy as np, sys
random = np.random.default_rng(1)
fields = {"images": random.integers(0, 256, (50, 3, 8, 8), dtype=np.uint8), "labels": np.arange(50) - 7,
          "half": random.random((50, 5)).astype(np.float16), "big": random.random((50, 2)).astype(">f8"),
          "u16": random.integers(0, 65536, (50, 4), dtype=np.uint16), "flag": random.random(50) > 0.5,
          "wide": random.integers(0, 2**40, (50, 300)).astype(">i8")}
with h5py.File("a.h5", "w", libver=%r, track_order=%r) as file:
    file.create_dataset("train/images", data=fields["images"], chunks=(7, 3, 8, 8), compression="gzip", shuffle=True)
    file.create_dataset("labels", data=fields["labels"], maxshape=(None,), chunks=(4,))
    file.create_dataset("half", data=fields["half"], chunks=(8, 2), compression="lzf")
    file.create_dataset("big", data=fields["big"])
    file.create_dataset("u16", data=fields["u16"], chunks=(1, 4), maxshape=(None, None), fletcher32=True)
    file.create_dataset("flag", data=fields["flag"], compression="gzip", maxshape=(None,))
    file.create_dataset("wide", data=fields["wide"], chunks=True, compression="gzip", maxshape=(None, 300))
    words = ["w" * (i %% 9) + "\u00e9" for i in range(50)]
    file.create_dataset("texts/variable", data=words, dtype=h5py.string_dtype())
    file.create_dataset("texts/fixed", data=np.array([b"x" * (i %% 5) for i in range(50)]))
    for i in range(40): file.create_group("more/group %%02d" %% i).attrs["number"] = i
np.savez("want.npz", **fields)
print(json.dumps(h5py.version.hdf5_version))
"""

WRITE_N5 = """
import json, numpy as np, tensorstore as ts
random, wrote = np.random.default_rng(1), {}
for name, shape, block, dtype, compression in [
        ("raw", [9, 7, 20], [4, 7, 6], "uint16", {"type": "raw"}),
        ("gzip", [6, 20], [6, 3], "float32", {"type": "gzip"}),
        ("zlib", [5, 20], [2, 20], "int64", {"type": "gzip", "useZlib": True}),
        ("zstd", [20], [8], "uint8", {"type": "zstd"})]:
    array = (random.random(shape) * 200).astype(dtype)
    ts.open({"driver": "n5", "kvstore": {"driver": "file", "path": f"c.n5/{name}"}, "create": True, "metadata": {
        "dimensions": shape, "blockSize": block, "dataType": dtype, "compression": compression}}).result().write(array).result()
    wrote[name] = array.T
np.savez("want.npz", **wrote)
print(json.dumps(ts.__version__ if hasattr(ts, "__version__") else ""))
"""


class ArraysInteropTest(InteropTest):
    def assert_arrays_of(self, file, *stages):
        os.replace(self.path(file), self.path("want.npz"))
        self.assert_arrays(*stages)

    def test_numpys_arrays_are_read_whatever_their_type_order_and_header_and_ours_by_it(self):
        names = self.run_other(WRITE_NUMPY)
        for stage in ["npz: stored.npz", "npz: packed.npz", "npy: {fields: {%s}}" % ", ".join(f"{name}: {name}.npy" for name in names)]:
            with self.subTest(stage=stage):
                self.assert_arrays(stage)
        found = self.run_json("inspect", "stored.npz")["fields"]
        self.assertEqual((found["i2"]["shape"], found["big"]["shape"], found["f8"]["shape"]), ([3, 5], [4], []))

    def test_records_of_numpys_structures_are_read_in_both_byte_orders(self):
        self.run_other(WRITE_RECORDS)
        fields = ("{label: uint8, image: {shape: [3, 4, 4]}, half: {type: float16, shape: [5]}, count: int32, "
                  "place: {type: float64, shape: [2]}, flag: bool}")
        for name, big in [("little", "false"), ("big", "true")]:
            with self.subTest(order=name):
                self.assert_arrays_of(f"{name}.npz", f"binary: {{files: {name}.bin, fields: {fields}, header_bytes: 6, footer_bytes: 3, "
                                      f"big_endian: {big}}}")

    def test_idx_files_of_idx2numpy_are_read_whatever_their_type(self):
        self.run_other(WRITE_IDX)
        for name in ["u1", "i1", "i2", "i4", "f4", "f8"]:
            with self.subTest(type=name):
                self.assert_arrays_of(f"{name}.npz", f"idx: {{images: {name}-images, labels: {name}-labels.gz}}")

    def test_hdf5_files_of_h5py_are_read_whatever_their_form(self):
        for version, ordered in [("earliest", False), ("latest", False), ("v110", True)]:
            with self.subTest(version=version, ordered=ordered):
                self.run_other(WRITE_HDF5 % (version, ordered))
                names = ["labels", "half", "big", "u16", "flag", "wide"]
                fields = ", ".join(["images: /train/images"] + [f"{name}: {name}" for name in names])
                self.assert_arrays(f"hdf5: {{files: a.h5, fields: {{{fields}}}}}")
                found = self.run_json("inspect", "a.h5")
                self.assertEqual((found["format"], found["count"], len(found["fields"])), ("hdf5", 50, 9))
                self.assertEqual(found["fields"]["train/images"]["chunk"], [7, 3, 8, 8])
                self.run_stoker("verify", "a.h5")
                variable, fixed = [("w" * (i % 9) + "\u00c3\u00a9") for i in range(50)], ["x" * (i % 5) for i in range(50)]
                self.assert_values({"v": variable, "f": fixed}, "hdf5: {files: a.h5, fields: {v: texts/variable, f: texts/fixed}}")

    def test_n5_datasets_of_tensorstore_are_read_whatever_their_compression(self):
        self.run_other(WRITE_N5)
        self.assert_arrays("n5: c.n5")
        found = self.run_json("inspect", "c.n5/raw/attributes.json")
        self.assertEqual((found["format"], found["count"], found["fields"]["."]["shape"]), ("n5", 20, [7, 9]))
        self.run_stoker("verify", "c.n5/raw/attributes.json")


if __name__ == "__main__":
    unittest.main()

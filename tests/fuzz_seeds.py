"""Writes small good files for the fuzzers of formats to begin with: OUT/NAME_fuzz/FILE for each NAME below.

    python3 tests/fuzz_seeds.py OUT

A fuzzer that has to find magic numbers, directories and lengths by itself seldom gets after them. Everything is made from
the formats' descriptions (the README beside each parser) with nothing but Python's own library, so that it is a second
opinion of them too.
"""
import gzip
import io
import json
import os
import pickle
import struct
import sys
import tarfile
import zipfile

from array_files import hdf5, n5


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def aligned(data, to):
    return data + bytes(-len(data) % to)


def npy(shape, values, version=1):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    size = 10 if version == 1 else 12
    header += b" " * (-(size + len(header) + 1) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + struct.pack(f"<{len(values)}f", *values)


def npy_files():
    return {"matrix.npy": npy((2, 3), range(6)), "scalar.npy": npy((), [1]), "long.npy": npy((4,), range(4), version=2)}


def zip_files():
    files = {}
    for name, method in [("stored.zip", zipfile.ZIP_STORED), ("deflated.zip", zipfile.ZIP_DEFLATED)]:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            archive.writestr("a.txt", b"text " * 20)
            archive.writestr("folder/b.npy", npy((3,), [1, 2, 3]))
            archive.comment = b"comment"
        files[name] = out.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, archive.open("big", "w", force_zip64=True) as member:
        member.write(b"64-bit lengths")
    files["zip64.zip"] = out.getvalue()
    return files


def tar_files():
    files = {}
    for name, form in [("gnu.tar", tarfile.GNU_FORMAT), ("pax.tar", tarfile.PAX_FORMAT), ("ustar.tar", tarfile.USTAR_FORMAT)]:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as archive:
            long_name = "folder/" * 12 + "sample.jpg"
            for member, content in [("sample.jpg", b"jpeg"), ("sample.cls", b"3"), (long_name, b"x" * 513)]:
                info = tarfile.TarInfo(member)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        files[name] = out.getvalue()
    return files


def safetensors_files():
    header = {"__metadata__": {"made": "by hand"}, "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
              "b": {"dtype": "I64", "shape": [], "data_offsets": [16, 24]}}
    text = aligned(json.dumps(header).encode(), 1)
    text += b" " * (-len(text) % 8)
    return {"two.safetensors": struct.pack("<Q", len(text)) + text + bytes(range(24))}


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def tf_example():
    texts = message(1, message(1, b"bytes") + message(1, b""))
    floats = message(2, message(1, struct.pack("<2f", 1.5, -2)))
    ints = message(3, message(1, varint(7) + varint(2**64 - 1)))
    features = b"".join(message(1, message(1, key) + message(2, value))
                        for key, value in [(b"image", texts), (b"box", floats), (b"label", ints)])
    return message(1, features)


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def tfrecord_files():
    records = b""
    for data in [tf_example(), b"", b"third"]:
        length = struct.pack("<Q", len(data))
        records += length + masked(length) + data + masked(data)
    return {"three.tfrecord": records, "example": tf_example()}


def recordio_files():
    image = struct.pack("<IfQQ", 0, 3.0, 1, 0) + b"jpeg"
    several = struct.pack("<IfQQ2f", 2, 0.0, 2, 0, 1.0, 2.0) + b"png"
    magic = struct.pack("<I", 0xCED7230A)
    part = lambda kind, data: aligned(magic + struct.pack("<I", kind << 29 | len(data)) + data, 4)
    return {"one.rec": part(0, image), "labels.rec": part(0, several), "cut.rec": part(1, image) + part(2, b"") + part(3, b"end")}


def idx_files():
    return {"bytes.idx": struct.pack(">HBBII", 0, 8, 2, 2, 3) + bytes(6), "floats.idx": struct.pack(">HBBIf", 0, 13, 1, 1, 0.5)}


class _Torch:
    """Pickles as a call of a function that torch has, without torch."""

    def __init__(self, module, name, *arguments):
        self.module, self.name, self.arguments = module, name, arguments


class _Pickler(pickle._Pickler):  # Python's own, since names that do not exist here are written
    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, _Torch):
            self.write(f"c{obj.module}\n{obj.name}\n".encode())
            if obj.arguments:
                self.save(tuple(obj.arguments))
                self.write(pickle.REDUCE)
            return
        super().save(obj, save_persistent_id)

    def persistent_id(self, obj):
        return obj[1:] if isinstance(obj, tuple) and obj[:1] == ("persistent",) else None


def pt_files():
    storage = ("persistent", "storage", _Torch("torch", "FloatStorage"), "0", "cpu", 6)
    ordered = _Torch("collections", "OrderedDict", *[])
    tensor = _Torch("torch._utils", "_rebuild_tensor_v2", storage, 0, (2, 3), (3, 1), False, ordered)
    out = io.BytesIO()
    _Pickler(out, 2).dump({"net": {"weight": tensor}, "epoch": 3, "name": "text", "rates": [0.1, None, True]})
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("archive/data.pkl", out.getvalue())
        file.writestr("archive/byteorder", b"little")
        file.writestr("archive/data/0", struct.pack("<6f", *range(6)))
        file.writestr("archive/version", b"3\n")
    return {"weights.pt": archive.getvalue()}


def shard_files():
    schema = json.dumps({"fields": [{"name": "image", "dtype": "uint8", "shape": [2, 2]},
                                    {"name": "ids", "dtype": "int32", "shape": [-1]}], "origin": "by hand"}).encode()
    body = struct.pack("<IIQ", len(schema), crc32c(schema), 8 << 20) + bytes(32)
    head = aligned(b"STKSHARD" + struct.pack("<II", 1, crc32c(body)) + body + schema, 64)
    images = aligned(bytes(range(12)), 64)
    ids = struct.pack("<3I", 4, 4, 16) + struct.pack("<3I", 1, 0, 3)
    ids = aligned(ids, 64) + struct.pack("<4i", 5, 6, 7, 8)
    page = images + ids
    front = aligned(head + page, 64)
    footer = struct.pack("<6Q", len(head), len(page), 0, 3, 0, len(images))
    footer = aligned(footer + struct.pack("<I", crc32c(front)), 8)
    trailer = struct.pack("<4QII", 3, 1, len(front), 1, 262144, crc32c(footer)) + bytes(12)
    trailer += struct.pack("<I", crc32c(trailer)) + b"STKSHRDZ"
    return {"three.stoker": front + footer + trailer}


def hdf5_files():
    return {"two.h5": hdf5({"train": {"images": ([2, 3], range(6)), "labels": ([2], [7, 8])}, "empty": {}})}


def n5_files():
    attributes, block = n5([30, 4], bytes(120))
    return {"attributes.json": attributes.encode(), "block": block, "packed": block[:12] + gzip.compress(bytes(480), mtime=0)}


def text_files():
    return {
        "csv_fuzz": {"quoted.csv": b'\x07a,"b ""c"" \n d",\n# comment\n1,,2.5\r\n', "plain.tsv": b"\x00a\tb\n1\t2\n"},
        "libsvm_fuzz": {"line": b"\x031 2:0.5 7:-1e3 # comment", "labels": b"\x001,3 qid:4 1:1"},
        "jsonl_fuzz": {"line": b'{"a": 7, "b": [[[1, 2.5], [3e-2, -4]]], "c": {"d": "x\\u00e9\\ud83d\\ude00\\n"}, "e": [null, true]}'},
        "gzip_fuzz": {"text.gz": gzip.compress(b"text " * 50, mtime=0), "two.gz": gzip.compress(b"a") + gzip.compress(b"b")},
        "line_reader_fuzz": {"lines": b"\x05one\ntwo\r\n\nlast"},
    }


def offset_index_files():
    """What stands after the checksum; the fuzzer writes that, and the stamp of the file, itself."""
    offsets = [5, 15, 35, 40]
    return {"three": bytes(32) + struct.pack("<6Q", 3, 20, *offsets)}


def table_files():
    """By Apache Arrow's own writers, since nothing here writes such files; none where they are missing."""
    try:
        import pyarrow
        from pyarrow import ipc, parquet
    except ImportError:
        return {}
    table = pyarrow.table({"n": pyarrow.array([1, None, 3, 4], pyarrow.int32()), "t": ["a", None, "", "bcd"],
                           "l": [[1, None], None, [], [2]], "w": pyarrow.array(["a", None, "b", "b"]).dictionary_encode(),
                           "f": pyarrow.array([[1, 2], [3, 4], [5, 6], [7, 8]], pyarrow.list_(pyarrow.uint8(), 2)),
                           "s": [{"bytes": b"xy", "path": "p"}] * 4})
    files = {}
    for codec in ("none", "zstd"):
        out = io.BytesIO()
        parquet.write_table(table, out, row_group_size=3, compression=codec, write_page_checksum=codec == "none")
        files[f"{codec}.parquet"] = b"\x00" + out.getvalue()
        for kind, writer in (("file", ipc.new_file), ("stream", ipc.new_stream)):
            out = io.BytesIO()
            options = ipc.IpcWriteOptions(compression=None if codec == "none" else codec)
            with writer(out, table.schema, options=options) as stream:
                stream.write_table(table, max_chunksize=3)
            files[f"{codec}-{kind}.arrow"] = b"\x01" + out.getvalue()
    return files


def roofs_files():
    """What `stoker env` keeps of a machine (docs/machine.md): all of it, what must be there, and what is refused."""
    storage = {"path": "/data", "type": "ext4", "how": "O_DIRECT", "read_bytes_per_s": 5.1e8, "write_bytes_per_s": 3e8,
               "random_reads_per_s": 9000, "random_bytes_per_s": 3.6e7, "small_files_per_s": 4000.5, "small_files_together_per_s": None,
               "problem": "a \u00e9 problem"}
    memory = {"read_bytes_per_s": 1e10, "write_bytes_per_s": 2e10, "copy_bytes_per_s": 3e10}
    whole = {"schema": 1, "host": "desk", "cpus": 8, "measured_at": "2024-01-31T23:59:59Z", "storage": [storage, {"path": "/"}],
             "memory": memory, "memory_together": memory, "decode": {"pictures_per_s": 400}, "decode_together": {"pictures_per_s": 3000.25},
             "copies": [{"device": "cuda:0", "pinned_bytes_per_s": 2e10, "pageable_bytes_per_s": 9e9}]}
    texts = {"whole.json": whole, "least.json": {"schema": 1, "cpus": 0}, "newer.json": {**whole, "schema": 2},
             "nested.json": {"schema": 1, "cpus": 1, "storage": [[[[]]]]}}
    return {name: json.dumps(content, indent=2).encode() for name, content in texts.items()}


def main(out):
    formats = {"npy": npy_files, "zip": zip_files, "tar": tar_files, "safetensors": safetensors_files, "tfrecord": tfrecord_files,
               "recordio": recordio_files, "idx": idx_files, "pt": pt_files, "shard": shard_files,
               "hdf5": hdf5_files, "n5": n5_files, "offset_index": offset_index_files, "table_file": table_files,
               "roofs": roofs_files}
    seeds = {f"{name}_fuzz": make() for name, make in formats.items()}
    seeds.update(text_files())
    for name, files in seeds.items():
        os.makedirs(os.path.join(out, name), exist_ok=True)
        for file, content in files.items():
            with open(os.path.join(out, name, file), "wb") as stream:
                stream.write(content)


if __name__ == "__main__":
    main(sys.argv[1])

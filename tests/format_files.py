"""Small files of every format that Stoker reads, written by the format's description."""
import struct
import tarfile
import zipfile

from array_files import hdf5, n5
from program import ProgramTest, idx, png
from table_files import ARROW, PARQUET, STREAM, have_tables, write_table


def crc32c(data):
    """Bit by bit, as RFC 3720 defines it."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def tfrecord(*records):
    """The bytes of a TFRecord file; README.md in stoker/formats/tfrecord has the layout."""
    frames = [(struct.pack("<Q", len(record)), record) for record in records]
    return b"".join(length + masked(length) + record + masked(record) for length, record in frames)


def npy(shape, size):
    """The bytes of an array of int16."""
    header = f"{{'descr': '<i2', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(size)


def padded(data, size):
    return data + bytes(-len(data) % size)


def stoker_shard(*labels):
    """A .stoker file of records {label: int64}, in one page; docs/formats/stoker.md has the layout."""
    schema = b'{"fields": [{"name": "label", "dtype": "int64", "shape": []}], "origin": "a test"}'
    rest = struct.pack("<IIQ", len(schema), crc32c(schema), 8 << 20) + bytes(32)
    front = padded(b"STKSHARD" + struct.pack("<II", 1, crc32c(rest)) + rest + schema, 64)
    page = struct.pack(f"<{len(labels)}q", *labels)
    entry = struct.pack("<5Q", len(front), len(page), 0, len(labels), 0)
    front = padded(front + page, 64)
    footer = padded(entry + struct.pack("<I", crc32c(front)), 8)
    end = struct.pack("<4QII12x", len(labels), 1, len(front), 1, 256 << 10, crc32c(footer))
    return front + footer + end + struct.pack("<I", crc32c(end)) + b"STKSHRDZ"


def lmdb(values):
    """The bytes of a database of these values, sorted by their keys, on one leaf; stoker/formats/lmdb has the layout."""
    leaf, offsets = bytearray(4096), []
    end = len(leaf)
    for key, value in values:
        node = struct.pack("<IHH", len(value), 0, len(key)) + key + value
        end -= len(node) + len(node) % 2
        leaf[end:end + len(node)] = node
        offsets.append(end)
    header = struct.pack("<QHHHH", 2, 0, 2, 16 + 2 * len(offsets), end) + struct.pack(f"<{len(offsets)}H", *offsets)
    leaf[:len(header)] = header
    none = struct.pack("<IHHQQQQQ", 4096, 0, 0, 0, 0, 0, 0, 2**64 - 1)
    main = struct.pack("<IHHQQQQQ", 0, 0, 1, 0, 1, 0, len(values), 2)
    pages = [struct.pack("<QHHI", page, 0, 8, 0) + struct.pack("<IIQQ", 0xbeefc0de, 1, 0, 1 << 20) +
             none + main + struct.pack("<QQ", 2, page) for page in range(2)]
    return b"".join(page.ljust(4096, b"\0") for page in pages) + bytes(leaf)


def field(number, content):
    """A protocol buffer field of bytes, of less than 128 of them."""
    return bytes([number << 3 | 2, len(content)]) + content


def example(name, feature):
    return field(1, field(1, field(1, name.encode()) + field(2, feature)))


def int64s(*values):
    """A Feature of integers below 128."""
    return field(3, field(1, bytes(values)))


class FormatFiles(ProgramTest):
    """A small file of every format, in the folder of a ProgramTest."""

    def setUp(self):
        super().setUp()
        self.write("a.idx.gz", idx(8, [2, 2, 2], range(8)))
        self.write("b.idx.gz", idx(8, [2], [0, 1]))
        self.write("x-1.tfrecord", tfrecord(example("label", int64s(3)), example("label", int64s(4))))
        self.write("a.csv", "a,b,name\n1,2.5,ann\n3,4,\"b, c\"\n")
        for number in range(2):
            with tarfile.open(self.path(f"s-00{number}.tar"), "w") as archive:
                for name in ["1.txt", "1.cls", "2.txt", "2.cls"]:
                    self.write(name, name[0])
                    archive.add(self.path(name), name)
            with zipfile.ZipFile(self.path(f"s-00{number}.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
                for name in ["1.txt", "2.txt", "1.cls", "2.cls"]:
                    archive.writestr(name, name[0] * 40 if name.endswith("txt") else name[0])
        self.write("a.jsonl", '{"id": 1, "t": "x", "v": [1, 2.5]}\n{"id": 2, "t": "y", "v": [3, 4]}\n')
        with tarfile.open(self.path("j.tar"), "w") as archive:
            for name, text in [("1.json", '{"id": 1, "a": {"box": [1, 2.5]}, "t": "x"}'), ("2.json", '{\n "a": {"box": [0, 1]},\n "id": 2\n}\n')]:
                self.write(name, text)
                archive.add(self.path(name), name)
        self.write("a.svm", "1 1:0.5 3:2\n0 2:1\n")
        self.write("r.bin", bytes([7]) + bytes(16) + bytes([8]) + bytes(16))
        image_record = struct.pack("<IfQQ", 0, 7, 0, 0) + b"jpeg"
        self.write("i.rec", struct.pack("<II", 0xced7230a, len(image_record)) + image_record)
        with zipfile.ZipFile(self.path("z.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", npy("(2, 3)", 12))
            archive.writestr("y.npy", npy("(2,)", 4))
        self.write("db/data.mdb", lmdb([(b"0", b"one"), (b"1", b"three")]))
        self.write("x.npy", npy("(2, 3)", 12))
        self.write("y.npy", npy("(2,)", 4))
        self.write("a-0.stoker", stoker_shard(3, 4, 5))
        self.write("a.h5", hdf5({"train": {"images": ([2, 3], range(6)), "labels": ([2], [7, 8])}}))
        for name, dimensions, values in [("raw", [3, 2], range(6)), ("labels", [2], [7, 8])]:
            attributes, block = n5(dimensions, values)
            self.write(f"c.n5/{name}/attributes.json", attributes)
            self.write(f"c.n5/{name}/" + "/".join("0" * len(dimensions)), block)
        if have_tables():
            columns = {"img": ("fixed_size_list<uint8>[4]", "[[1, 2, 3, 4], [5, 6, 7, 8]]"), "y": ("int64", "[7, 8]"),
                       "t": ("string", '["one", null]')}
            for name, kind in [("x-0.parquet", PARQUET), ("x-0.arrow", ARROW), ("s-0.arrow", STREAM)]:
                write_table(self.path(name), kind, columns, group_rows=1)
        self.write("a.txt", "one\ntwo\n")
        self.write("a.bin", b"12345678")
        self.write("pictures/cat/1.png", png(bytes(16), 4, 4))
        self.write("pictures/dog/2.png", png(bytes(16), 4, 4))
        self.write("list.txt", "pictures/cat/1.png 0\npictures/dog/2.png 1\n")
        # `cache` writes the form that `snapshot` reads.
        self.write("cache.yaml", "data:\n  root: .\n  train:\n    - lines: a.txt\n    - cache: {path: a.elements}\n")
        self.run_stoker("bench", "cache.yaml", "--epochs", "1")

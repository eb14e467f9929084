"""Makers of files that are tables, arrays or lines. Each takes (workshop, rng) and returns a Source."""
import gzip
import io
import json
import struct
import zipfile

from array_files import hdf5, n5
from program import idx

from .case import Source

CLASSES = 4
SIDE = 4


def labels_of(rng, rows):
    return [rng.randrange(CLASSES) for _ in range(rows)]


def pixels_of(rng, rows):
    return rng.randbytes(rows * SIDE * SIDE)


def rows_of(rng):
    return rng.choice([40, 300, 1500, 6000])


def compressed(rng, name, text):
    """The file's name and bytes, compressed or not."""
    if rng.random() < 0.3:
        return name + ".gz", gzip.compress(text, 1, mtime=0)
    return name, text


def split(rng, rows):
    """Where one to three files begin and end."""
    cuts = sorted(rng.randrange(rows + 1) for _ in range(rng.choice([0, 0, 1, 2])))
    return list(zip([0, *cuts], [*cuts, rows]))


def names_of(names):
    return "[" + ", ".join(names) + "]"


def text_files(work, rng, stem, ending, lines, header=""):
    """Files of these lines, one or several, all compressed or none; (names, whether they can be read by position)."""
    names, packed = [], rng.random() < 0.3
    for number, (first, last) in enumerate(split(rng, len(lines))):
        content = (header + "".join(lines[first:last])).encode()
        name = f"{stem}-{number}.{ending}" + (".gz" if packed else "")
        work.write(name, gzip.compress(content, 1, mtime=0) if packed else content)
        names.append(name)
    return names, not packed


def text_index(rng, plain):
    """The option `index` of a source of lines, and whether it is read by position with it."""
    index = rng.choice(["stored", "memory", "none"]) if plain else "none"
    return ("" if index == "stored" else f", index: {index}"), index != "none"


def kind(stem, names):
    return stem + (".gz" if names[0].endswith(".gz") else "")


def csv(work, rng):
    rows = rows_of(rng)
    lines = [f"{label},{rng.gauss(label, 1):.4f},{rng.random():.5f},{i}\n" for i, label in enumerate(labels_of(rng, rows))]
    names, plain = text_files(work, rng, "t", "csv", lines, "label,a,b,n\n")
    index, by_position = text_index(rng, plain)
    entry = f"csv: {{files: {names_of(names)}{index}, fields: {{label: int64, image: {{columns: [a, b]}}, n: int64}}}}"
    return Source(kind("csv", names), entry, ("label", "image", "n"), image=True, by_position=by_position, streams=True, files=tuple(names))


def jsonl(work, rng):
    lines = [json.dumps({"label": label, "image": [rng.random() for _ in range(4)], "t": "x" * rng.randrange(9)}) + "\n"
             for label in labels_of(rng, rows_of(rng))]
    names, plain = text_files(work, rng, "t", "jsonl", lines)
    index, by_position = text_index(rng, plain)
    entry = (f"jsonl: {{files: {names_of(names)}{index}, fields: {{label: int64, image: {{shape: [4]}}, t: text}}}}")
    return Source(kind("jsonl", names), entry, ("label", "image", "t"), image=False, text="t", by_position=by_position, streams=True,
                  files=tuple(names))


def libsvm(work, rng):
    lines = [f"{label} " + " ".join(f"{k}:{rng.random():.3f}" for k in range(1, 7)) + "\n" for label in labels_of(rng, rows_of(rng))]
    names, plain = text_files(work, rng, "t", "svm", lines)
    index, by_position = text_index(rng, plain)
    return Source(kind("libsvm", names), f"libsvm: {{files: {names_of(names)}{index}, features: 6}}", (), by_position=by_position, streams=True,
                  files=tuple(names))


def lines_of_text(work, rng):
    text = "".join(f"line {i} {rng.random()}\n" for i in range(rows_of(rng))).encode()
    name, content = compressed(rng, "t.txt", text)
    work.write(name, content)
    return Source(kind("lines", [name]), f"lines: {name}", ("text",), text="text",
                  files=(name,) if name.endswith(".gz") else ())


def binary(work, rng):
    rows = rows_of(rng)
    labels, pixels = labels_of(rng, rows), pixels_of(rng, rows)
    size = SIDE * SIDE
    records = b"".join(bytes([label]) + pixels[i * size:(i + 1) * size] for i, label in enumerate(labels))
    name, content = compressed(rng, "t.bin", records)
    work.write(name, content)
    entry = f"binary: {{files: {name}, fields: {{label: uint8, image: {{shape: [1, {SIDE}, {SIDE}]}}}}}}"
    return Source(kind("binary", [name]), entry, ("label", "image"), image=True,
                  by_position=name.endswith(".bin"), streams=True)


def idx_pair(work, rng):
    rows = rows_of(rng)
    images, content = compressed(rng, "images", idx(8, [rows, SIDE, SIDE], pixels_of(rng, rows)))
    work.write(images, content)
    labels, content = compressed(rng, "labels", idx(8, [rows], labels_of(rng, rows)))
    work.write(labels, content)
    return Source("idx" + (".gz" if images.endswith(".gz") else ""), f"idx: {{images: {images}, labels: {labels}}}",
                  ("image", "label"), image=True, by_position=True, files=(images, labels))


def npy_bytes(dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data


def arrays(rng):
    rows = rows_of(rng)
    return (npy_bytes("|u1", [rows, 1, SIDE, SIDE], pixels_of(rng, rows)),
            npy_bytes("<i8", [rows], struct.pack(f"<{rows}q", *labels_of(rng, rows))))


def npy(work, rng):
    for name, content in zip(("x.npy", "y.npy"), arrays(rng)):
        work.write(name, content)
    return Source("npy", "npy: {fields: {image: x.npy, label: y.npy}}", ("image", "label"), image=True, by_position=True,
                  files=("x.npy", "y.npy"))


def npz(work, rng):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, content in zip(("x.npy", "y.npy"), arrays(rng)):
            archive.writestr(name, content)
    work.write("z.npz", out.getvalue())
    return Source("npz", "npz: {path: z.npz, fields: {image: x, label: y}}", ("image", "label"), image=True, by_position=True,
                  files=("z.npz",))


def hdf5_file(work, rng):
    rows = rows_of(rng)
    work.write("a.h5", hdf5({"train": {"images": ([rows, SIDE, SIDE], pixels_of(rng, rows)), "labels": ([rows], labels_of(rng, rows))}}))
    return Source("hdf5", "hdf5: {files: a.h5, fields: {image: /train/images, label: /train/labels}}", ("image", "label"), image=True,
                  by_position=True, files=("a.h5",))


def n5_container(work, rng):
    """Blocks of some rows each, of which the first dimension is the fastest."""
    block, blocks = rng.choice([20, 100]), rng.randrange(2, 6)
    for name, shape in (("raw", [SIDE * SIDE]), ("labels", [])):
        for number in range(blocks):
            values = pixels_of(rng, block) if shape else bytes(labels_of(rng, block))
            attributes, content = n5([*shape, block], values)
            work.write(f"c.n5/{name}/" + "/".join(["0"] * len(shape) + [str(number)]), content)
        attributes = {**json.loads(attributes), "dimensions": [*shape, block * blocks]}
        work.write(f"c.n5/{name}/attributes.json", json.dumps(attributes))
    return Source("n5", "n5: {path: c.n5, fields: {image: raw, label: labels}}", ("image", "label"), image=True, by_position=True)


MAKERS = (csv, jsonl, libsvm, lines_of_text, binary, idx_pair, npy, npz, hdf5_file, n5_container)

"""Makers of archives, databases and folders of files; see tables.py."""
import gzip
import io
import struct
import tarfile
import zipfile

from program import bmp, png

from . import tables
from .case import Source
from .tables import CLASSES, labels_of, names_of, rows_of, text_index

# What `stoker pack` writes, with the entries that read it. tf.train.Example needs its fields named again.
PACKED = {
    "stoker": ("stoker: {{files: {0}}}", ()),
    "tfrecord": ("tfrecord: {{files: {0}{1}}}", ("parse_example: {features: {image: {type: float32, shape: [2]}, label: int64, n: int64}}",)),
    "tar": ("webdataset: {{files: {0}{1}}}", ()),
    "lmdb": ("lmdb: {{path: p.lmdb/data.mdb}}", ()),
    "npy": ("npy: {{fields: {{image: p.npys/image.npy, label: p.npys/label.npy, n: p.npys/n.npy}}}}", ()),
}


def packed(format):
    def make(work, rng):
        rows = rows_of(rng)
        text = "".join(f"{label},{rng.gauss(label, 1):.4f},{rng.random():.5f},{i}\n" for i, label in enumerate(labels_of(rng, rows)))
        work.write("source/t.csv", "label,a,b,n\n" + text)
        work.write("source/pack.yaml", "data:\n  root: .\n  train:\n    - csv: {files: t.csv, fields: "
                   "{label: int64, image: {columns: [a, b]}, n: int64}}\n")
        shards = 1 if format in ("npy", "lmdb") else rng.choice([1, 1, 3])
        work.run("pack", "source/pack.yaml", "p.npys" if format == "npy" else f"p.{format}", "--format", format, "--shards", str(shards))
        names = [f"p.{format}"] if shards == 1 else [f"p-{i:05}-of-{shards:05}.{format}" for i in range(shards)]
        index, by_position = text_index(rng, True) if format in ("tfrecord", "tar") else ("", True)
        entry, more = PACKED[format]
        pattern = names[0] if shards == 1 else f"\"p-*.{format}\""
        files = names if format != "npy" else ["p.npys/image.npy"]
        return Source(f"packed {format}", entry.format(names_of(names), index, pattern), ("label", "image", "n"), image=True,
                      by_position=by_position, more=more, files=tuple(files), http=shards == 1, streams=format in ("tfrecord", "tar"))
    make.__name__ = f"packed_{format}"
    return make


def members(rng):
    return [(f"{i:05}.{ending}", content) for i, label in enumerate(labels_of(rng, rng.choice([30, 300])))
            for ending, content in (("txt", b"%d-" % i + rng.randbytes(rng.randrange(2000)).hex().encode()), ("cls", b"%d" % label))]


def tar(work, rng):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members(rng):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    name, content = tables.compressed(rng, "s.tar", out.getvalue())
    work.write(name, content)
    index, by_position = text_index(rng, name == "s.tar")
    return Source(tables.kind("tar", [name]), f"webdataset: {{files: {name}, fields: [txt, cls]{index}}}", ("txt", "cls"), text="txt",
                  by_position=by_position, streams=True, files=(name,))


def zip_archive(work, rng):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, content in members(rng):
            archive.writestr(name, content)
    work.write("s.zip", out.getvalue())
    return Source("zip", "zip_archive: {files: s.zip, fields: [txt, cls]}", ("txt", "cls"), text="txt", by_position=True, files=("s.zip",))


def recordio(work, rng):
    records = b""
    for label in labels_of(rng, rows_of(rng)):
        record = struct.pack("<IfQQ", 0, label, 0, 0) + rng.randbytes(rng.randrange(60))
        records += struct.pack("<II", 0xced7230a, len(record)) + record + bytes(-len(record) % 4)
    work.write("i.rec", records)
    return Source("recordio", "recordio: {files: i.rec, whole: true}", ("image", "label"), text="image", by_position=True,
                  files=("i.rec",))


def whole_files(work, rng):
    count = rng.choice([30, 60])
    for i in range(count):
        work.write(f"w/{i:03}.bin", rng.randbytes(rng.randrange(20000)))
    names = names_of([f"w/{i:03}.bin" for i in range(count)])
    return Source("files", f"files: {{path: {names}, read: true}}", ("bytes",), text="bytes", by_position=True)


def pictures(work, rng):
    """Grey PNG and BMP files in a folder for each class; (path, label) of each."""
    found = []
    for i, label in enumerate(labels_of(rng, rng.choice([40, 90]))):
        side = rng.choice([8, 12, 40])
        pixels = bytes(min(255, max(0, int(rng.gauss(40 + 50 * label, 20)))) for _ in range(side * side))
        make, ending = rng.choice([(png, "png"), (bmp, "bmp")])
        found.append((f"pictures/c{label}/{i:03}.{ending}", label))
        work.write(found[-1][0], make(pixels, side, side))
    for label in range(CLASSES):  # every class has one, so that the folders are its names
        work.write(f"pictures/c{label}/z.png", png(bytes([60 * label]) * 64, 8, 8))
    return found


def folder(work, rng):
    pictures(work, rng)
    return Source("folder", "folder: pictures", ("image", "label"), image=True, decodes=True, by_position=True, http=False)


def picture_list(work, rng):
    work.write("list.txt", "".join(f"{path} {label}\n" for path, label in pictures(work, rng)))
    return Source("list", "list: {path: list.txt}", ("image", "label"), image=True, decodes=True, by_position=True)


def snapshot(work, rng):
    text = "".join(f"line {i} {rng.random()}\n" for i in range(rows_of(rng))).encode()
    work.write("source/t.txt", text)
    work.write("source/cache.yaml", "data:\n  root: .\n  train:\n    - lines: t.txt\n    - cache: {path: ../a.elements}\n")
    work.run("bench", "source/cache.yaml", "--epochs", "1")
    return Source("snapshot", "snapshot: a.elements", ("text",), text="text", by_position=True, files=("a.elements",))


def plain_tfrecord(work, rng):
    """Without Examples, compressed or not."""
    from format_files import tfrecord  # it computes checksums bit by bit
    records = [b"%d " % i + rng.randbytes(rng.randrange(40)) for i in range(rng.choice([30, 80]))]
    content = tfrecord(*records)
    name = "r.tfrecord"
    if rng.random() < 0.3:
        name, content = "r.tfrecord.gz", gzip.compress(content, 1, mtime=0)
    work.write(name, content)
    index, by_position = text_index(rng, name == "r.tfrecord")
    return Source(tables.kind("tfrecord", [name]), f"tfrecord: {{files: {name}{index}}}", ("record",), text="record",
                  by_position=by_position, streams=True, files=(name,))


MAKERS = (*(packed(format) for format in PACKED), tar, zip_archive, recordio, whole_files, folder, picture_list, snapshot,
          plain_tfrecord)

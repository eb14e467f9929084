"""Makers of Parquet and Arrow files, where Stoker was built with Apache Arrow, whose writers make them; see tables.py."""
import json
import os

from table_files import ARROW, PARQUET, STREAM, have_tables, write_table

from .case import Source
from .tables import labels_of, names_of, rows_of, split

# Why none is made; empty where they are.
MISSING = "" if have_tables() else "no Parquet and Arrow files: this build has no Apache Arrow, whose writers make them"
COMPRESSIONS = {PARQUET: ("none", "snappy", "gzip", "zstd"), ARROW: ("none", "none", "zstd", "lz4"), STREAM: ("none", "zstd")}


def columns_of(rng, labels):
    return {"label": ("int64", json.dumps(labels)),
            "image": ("fixed_size_list<float>[2]", json.dumps([[round(rng.gauss(label, 1), 4), rng.random()] for label in labels])),
            "t": ("string", json.dumps(["x" * rng.randrange(9) for _ in labels]))}


def columnar(format, kind, ending, wanted):
    def make(work, rng):
        rows = rows_of(rng)
        labels, group_rows, compression = labels_of(rng, rows), rng.choice([16, 100, 1000]), rng.choice(COMPRESSIONS[kind])
        names = []
        for number, (first, last) in enumerate(split(rng, rows)):
            columns = columns_of(rng, labels[first:last])
            numbers = ("int32", json.dumps(list(range(first, last))))
            names.append(f"t-{number}.{ending}")
            write_table(os.path.join(work.made, names[-1]), kind, {**columns, "n": numbers}, group_rows, compression)
        entry = f"{format}: {{files: {names_of(names)}, fields: {{{', '.join(f'{name}: {name}' for name in wanted)}}}}}"
        text = "t" if "t" in wanted else ""
        # A group is decoded as a whole.
        return Source(f"{ending} {compression}", entry, wanted, image=True, text=text, by_position=True, files=tuple(names), largest=1 << 20)
    make.__name__ = f"{ending} {' '.join(wanted)}"
    return make


def makers(*wanted):
    return (columnar("parquet", PARQUET, "parquet", wanted), columnar("arrow", ARROW, "arrow", wanted), columnar("arrow", STREAM, "arrows", wanted))


TRAINABLE = makers("label", "image", "n")
MAKERS = (*TRAINABLE, *makers("label", "image", "t", "n"))

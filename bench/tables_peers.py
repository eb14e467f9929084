"""What bench/tables compares with: tables_peers.py write|iter_batches|datasets|datasets_rows FILE SECONDS, over and over on one
thread.

`write` makes the file: the images of Fashion-MNIST as fixed_size_list<uint8>[784] and their labels, in row groups of 5,000 rows.
`iter_batches` is pyarrow's, in the rows' order, with the better of batches of 128 and of as many as it takes itself. `datasets`
is Hugging Face's with the torch format, shuffled, in batches of 128 that it makes itself; `datasets_rows` takes its rows one by one.
"""
import gzip
import json
import pathlib
import sys
import time

BATCH = 128
ROW_GROUP = 5000
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")


def write(path):
    import numpy
    import pyarrow
    from pyarrow import parquet
    images = numpy.frombuffer(gzip.open(DATA / "train-images-idx3-ubyte.gz").read(), numpy.uint8, offset=16)
    labels = numpy.frombuffer(gzip.open(DATA / "train-labels-idx1-ubyte.gz").read(), numpy.uint8, offset=8)
    table = pyarrow.table({"image": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(images), 784),
                           "label": pyarrow.array(labels.astype(numpy.int64))})
    parquet.write_table(table, path, row_group_size=ROW_GROUP)


def iter_batches(path, rows):
    from pyarrow import parquet
    while True:
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=rows, use_threads=False):
            yield batch.num_rows


def dataset_epochs(path):
    import datasets
    datasets.disable_progress_bars()
    whole = datasets.Dataset.from_parquet(path, cache_dir=str(pathlib.Path(path).parent / "cache"))
    for epoch in range(1 << 30):
        yield whole.shuffle(seed=epoch).with_format("torch")


def dataset_batches(path):
    for epoch in dataset_epochs(path):
        for batch in epoch.iter(batch_size=BATCH):
            assert batch["image"].shape[1] == 784
            yield len(batch["label"])


def dataset_rows(path):
    for epoch in dataset_epochs(path):
        for row in epoch:
            assert row["image"].shape[0] == 784
            yield 1


def rate(counts, seconds):
    next(counts)
    done, begin = 0, time.perf_counter()
    while time.perf_counter() < begin + seconds:
        done += next(counts)
    return done / (time.perf_counter() - begin)


def main():
    kind, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    if kind == "write":
        write(path)
        print(json.dumps({"written": path}))
    elif kind.startswith("datasets"):
        counts = dataset_rows if kind == "datasets_rows" else dataset_batches
        print(json.dumps({"samples_per_s": rate(counts(path), seconds)}))
    else:
        rates = [rate(iter_batches(path, rows), seconds / 2) for rows in (BATCH, 65536)]
        print(json.dumps({"samples_per_s": max(rates)}))


main()

"""What bench/formats compares with: formats_peers.py csv|jsonl|tar FILE SECONDS, over and over on 2 threads.

`csv` and `jsonl` are pyarrow's readers, `tar` is webdataset's, which has one thread.
"""
import json
import sys
import time

THREADS = 2


def csv_lines(path):
    import pyarrow
    from pyarrow import csv
    pyarrow.set_cpu_count(THREADS)
    options = csv.ReadOptions(autogenerate_column_names=True)
    while True:
        yield csv.read_csv(path, options).num_rows


def json_lines(path):
    import pyarrow
    from pyarrow import json as reader
    pyarrow.set_cpu_count(THREADS)
    while True:
        yield reader.read_json(path).num_rows


def tar_samples(path):
    import webdataset
    while True:
        for sample in webdataset.WebDataset(path, shardshuffle=False):
            assert len(sample["jpg"]) > 0
            yield 1


def main():
    kind, path, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    counts = {"csv": csv_lines, "jsonl": json_lines, "tar": tar_samples}[kind](path)
    next(counts)
    done, begin = 0, time.perf_counter()
    while time.perf_counter() < begin + seconds:
        done += next(counts)
    print(json.dumps({"samples_per_s": done / (time.perf_counter() - begin)}))


main()

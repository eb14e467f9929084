"""Ray tasks pack a data set: each makes one part of the shards, on whatever machine has a CPU; then they are merged.

SOURCE and DEST are as of `stoker pack`, on a file system that all machines see. Ray gives a task that failed to another machine; it
goes on where the first one stood. The bytes are those of `stoker pack SOURCE DEST --shards N` in one process.
"""

import argparse
import json
import pathlib
import subprocess

import ray


def run(stoker, *words):
    """What `stoker pack WORDS --json` prints. Its message is the error's, if it fails."""
    done = subprocess.run([stoker, "pack", *map(str, words), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


@ray.remote(max_retries=3, retry_exceptions=True)
def pack(stoker, source, destination, shards, part, parts):
    packed = run(stoker, source, destination, "--shards", shards, "--part", f"{part}/{parts}", "--threads", 1)
    return packed["elements"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source")
    parser.add_argument("destination")
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--stoker", default="stoker", help="the program, on every machine")
    parser.add_argument("--cpus", type=int, help="of a Ray of this program's own; without it the cluster that RAY_ADDRESS names, or all CPUs")
    given = parser.parse_args()
    ray.init(num_cpus=given.cpus, log_to_driver=False, include_dashboard=False)
    # Tasks have working directories of their own.
    source, destination = (str(pathlib.Path(path).resolve()) for path in (given.source, given.destination))
    tasks = [pack.remote(given.stoker, source, destination, given.shards, part, given.parts) for part in range(1, given.parts + 1)]
    elements = ray.get(tasks)
    merged = run(given.stoker, "--merge", destination)
    print(f"{sum(elements)} elements in {len(merged['files'])} shards, made in {merged['parts']} parts of {min(elements)} to {max(elements)}")


if __name__ == "__main__":
    main()

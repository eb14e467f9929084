"""What a case is: data, a recipe and a command, all of them drawn from a seed."""
import dataclasses
import os
import random
import shutil
import subprocess


@dataclasses.dataclass
class Source:
    """Files of one format, and how a recipe reads them."""
    format: str  # for the report, such as csv.gz
    entry: str  # of a recipe's list of stages
    fields: tuple  # names
    image: bool = False  # it has `image`, of numbers and one shape, and `label`
    text: str = ""  # a field of bytes without a known length
    by_position: bool = False
    streams: bool = False  # from a server it is read in order, unless its index is made in memory
    more: tuple = ()  # stages that belong to the source, such as parse_example
    files: tuple = ()  # what `inspect` and `verify` take
    largest: int = 1 << 16  # bytes of an element
    remote: bool = True  # can be read from a server
    http: bool = True  # of these also one that does not list what it has
    decodes: bool = False  # `image` is the bytes of a picture


    def is_by_position(self, remote):
        return self.by_position and not (remote and self.streams and "index: memory" not in self.entry)


@dataclasses.dataclass
class Case:
    """A command over files in a folder of its own, in which it runs."""
    seed: int
    kind: str  # pack, bench, train, ...
    source: Source
    command: list
    again: list  # what a user types after it failed or was killed, where something of it is there
    begun: str = ""  # `again` takes the place of `command` once this exists
    outputs: tuple = ()  # files or folders that it makes
    printed: bool = False  # standard output must be the same too
    budget: int = 0  # bytes; 0: none
    stages: int = 2
    divided: bool = False  # into training and evaluation
    ranks: int = 0  # processes that a launcher starts
    restarts: int = 0  # how often it starts them again
    shards_state: bool = False  # each of them has a part of the optimizer's state
    address: str = ""  # of the server, where the data come from there
    environment: dict = dataclasses.field(default_factory=dict)

    def __str__(self):
        return self.kind + (f" by {self.ranks} ranks" if self.ranks else "") + (", divided" if self.divided else "")


class Workshop:
    """The folder in which a case is made (`made`) and run (`work`); nothing is left of it at the end."""

    def __init__(self, stoker, folder):
        self.stoker, self.folder = stoker, folder
        self.made, self.work = os.path.join(folder, "made"), os.path.join(folder, "work")
        os.makedirs(self.made)
        os.makedirs(self.work)  # for what a recipe names by its whole path

    def write(self, name, content):
        path = os.path.join(self.made, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)

    def run(self, *arguments):
        """`stoker ARGUMENTS` among the data, for formats that it writes itself; it must succeed."""
        done = subprocess.run([self.stoker, *arguments], cwd=self.made, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env=clean_environment(self.folder))
        if done.returncode != 0:
            raise RuntimeError(f"stoker {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def renew(self):
        """A new copy of what was made, at the place of the last one."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.made, self.work, symlinks=True)


def clean_environment(home):
    """Of the caller's, with nothing that leads out of the case."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "STOKER_", "LD_PRELOAD"))}
    return {**kept, "HOME": home, "XDG_CACHE_HOME": os.path.join(home, "xdg"), "no_proxy": "127.0.0.1", "STOKER_CACHE": "",
            "OMP_NUM_THREADS": "1"}


def stream(seed, what):
    """Random numbers of the seed for one purpose, so that a change of one leaves the others as they were."""
    return random.Random(f"{seed} {what}")

"""What the planted scripts share: how long they train, and their rate at the end."""
import atexit
import json
import os
import time

BEGIN = time.monotonic()
SECONDS = float(os.environ.get("STOKER_FOREIGN_SECONDS", "3600"))
SAMPLES = [0]


def begin():
    """Starts the time anew. For scripts of a GPU, whose libraries take longer to load than their steps to be measured."""
    global BEGIN
    BEGIN = time.monotonic()


def more(samples=0):
    """Counts the samples of a step; false once the time is over."""
    SAMPLES[0] += samples
    return time.monotonic() - BEGIN < SECONDS


@atexit.register
def say():
    if os.environ.get("STOKER_FOREIGN_RATE"):
        print(json.dumps({"samples_per_s": SAMPLES[0] / (time.monotonic() - BEGIN)}))

"""The worker processes of one pipeline: started here, used by the engine (python/module/worker_channel.h)."""

import multiprocessing
import socket

from .. import _core
from ..errors import ConfigError


def start(pipeline, count=None):
    """Starts the workers that a pass wants and that are not there yet.

    count  of those that call functions; None: one for each CPU
    """
    functions = pipeline.functions
    if not functions:
        return
    from .bound import Generator  # imports NumPy

    mapping = any(not isinstance(each, Generator) for each in functions)
    for _ in range((count or _core.cpus()) - pipeline.workers(generates=False) if mapping else 0):
        _start(pipeline, functions, generates=False)
    # Each generator of a pass needs one for itself.
    generators = sum(isinstance(each, Generator) for each in functions)
    for _ in range(generators * (pipeline.open_passes + 1) - pipeline.workers(generates=True)):
        _start(pipeline, functions, generates=True)


def _start(pipeline, functions, generates):
    from .serve import serve

    context = multiprocessing.get_context()
    if multiprocessing.current_process().daemon:
        raise ConfigError(
            "functions of Python are called by worker processes, which a process like this one, a DataLoader's worker for example, may "
            "not have; give Loader(threads=0), which calls them here"
        )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = context.Process(target=serve, args=(theirs, functions), name="stoker-worker", daemon=True)
        try:
            process.start()
        except Exception as error:
            ours.close()
            if isinstance(error, OSError):
                raise
            raise ConfigError(
                f"a function of the pipeline cannot be sent to a worker process, which this start method "
                f"({context.get_start_method()}) asks for: {error}; define it with def at the top of a module"
            ) from error
    pipeline.add_worker(ours.detach(), process.pid, generates)

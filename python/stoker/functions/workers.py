"""The worker processes of one pipeline: started here, used by the engine (python/module/worker_channel.h)."""

import atexit
import multiprocessing
import multiprocessing.util  # its hook at exit, which waits for processes, is to run after ours
import os
import socket
import time
import weakref

from .. import _core
from ..errors import ConfigError

_PATIENCE = 1.0  # seconds that workers have to end when the interpreter does

_started = weakref.WeakSet()


@atexit.register
def _end_all():
    """A function may never return, or take no notice of SIGTERM; the interpreter ends all the same."""
    living = [process for process in list(_started) if process.is_alive()]
    for process in living:
        process.terminate()
    until = time.monotonic() + _PATIENCE
    for process in living:
        process.join(max(0, until - time.monotonic()))
        if process.is_alive():
            process.kill()


def _forget():
    """In a child of fork(): at its exit multiprocessing would end the workers, which are its parent's."""
    for process in list(_started):
        multiprocessing.process._children.discard(process)
    _started.clear()


os.register_at_fork(after_in_child=_forget)


def start(pipeline, count=None):
    """Starts the workers that a pass wants and that are not there yet.

    count  of those that call functions; None: one for each CPU
    """
    functions = pipeline.functions
    if not functions:
        return
    from .bound import Generator  # imports NumPy

    mapping = any(not isinstance(each, Generator) for each in functions)
    if count is not None:
        pipeline.end_workers(count)
    for _ in range((count or _core.cpus()) - pipeline.workers(generates=False) if mapping else 0):
        _start(pipeline, functions, generates=False)
    # Each generator of a pass needs one for itself, that of a pass which was broken off may stay in its function for long.
    generators = sum(isinstance(each, Generator) for each in functions)
    for _ in range(generators * (pipeline.open_passes + 1) - pipeline.workers(generates=True)):
        _start(pipeline, functions, generates=True)


def _start(pipeline, functions, generates):
    from .serve import serve

    # Where the user has not said otherwise: functions of any kind go to a process that is forked, whatever this Python's default is.
    context = multiprocessing.get_context(multiprocessing.get_start_method(allow_none=True) or "fork")
    if multiprocessing.current_process().daemon:
        raise ConfigError(
            "functions of Python are called by worker processes, which a process like this one, a DataLoader's worker for example, may "
            "not have; give Loader(threads=0), which calls them here"
        )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for each in (ours, theirs):
        each.setblocking(True)  # whatever socket.setdefaulttimeout says
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
    _started.add(process)
    pipeline.add_worker(ours.detach(), process.pid, generates)

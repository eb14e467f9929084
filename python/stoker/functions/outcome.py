"""How a call of the user's Python ends, as the engine is told (python/module/worker_channel.h)."""

import errno
import traceback

DONE, RAISED, WRONG, TROUBLE, ENDED, AWAY, DENIED = range(7)


class Failed(Exception):
    """What a worker tells the engine: an outcome, a text, and the row at which it happened."""

    def __init__(self, outcome, text, row=-1):
        super().__init__(text)
        self.outcome, self.row = outcome, row


def failure_of(error):
    """What the engine is told of an exception of the function. Trouble of the system is no fault of the sample, so it ends the pass."""
    return Failed(_outcome_of(error), told(error))


_EXHAUSTED = {errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE}
_AWAY = {errno.EIO, errno.ESTALE, errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.EAGAIN}


def _outcome_of(error):
    """As the engine judges its own errors (data/core/failure.h)."""
    number = getattr(error, "errno", None) if isinstance(error, OSError) else None
    if isinstance(error, MemoryError) or number in _EXHAUSTED:
        return TROUBLE
    if isinstance(error, PermissionError):
        return DENIED
    return AWAY if isinstance(error, (ConnectionError, TimeoutError)) or number in _AWAY else RAISED


def told(error):
    """The exception and its traceback, from the user's function on."""
    inner = error.__traceback__.tb_next if error.__traceback__ is not None else None
    lines = traceback.format_exception(type(error), error, inner or error.__traceback__)
    return f"{one_line(error)}\n" + "".join(lines).rstrip()


def one_line(error):
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # a __str__ that fails
        return type(error).__name__

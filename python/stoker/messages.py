"""The engine's messages, through the logger "stoker"."""

from . import _core


def tell():
    """Logs what the engine has said since the last call; the module calls it too, between two batches."""
    messages = _core.take_messages()
    if messages:
        import logging

        logger = logging.getLogger("stoker")
        for level, text in messages:
            logger.log(level, "%s", text)

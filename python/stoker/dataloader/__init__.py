"""DataLoader of PyTorch with another way from the workers to the trainer: see loader.py. Imports torch."""

from .context import context
from .loader import DataLoader

__all__ = ["DataLoader", "context"]

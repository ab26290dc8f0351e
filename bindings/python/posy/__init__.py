"""Bloom filters built to travel: sets in a few bits per key, and predictions you can trust.

>>> import posy
>>> seen = posy.Filter(1_000_000, 0.001)
>>> seen.update(["anna", "bert"])
>>> "anna" in seen
True
"""

from posy import _core
from posy._core import Comparison, Error, Estimate, Filter, __version__

__all__ = ["Comparison", "Error", "Estimate", "Filter", "__version__", "from_bytes", "load"]


def from_bytes(message):
    """The object that a message holds: what to_bytes(), pack() or the tool wrote.

    >>> posy.from_bytes(posy.Filter(1000, 0.01).pack()).layout
    'blocked'
    """
    return _core._from_bytes(message)


def load(path, mmap=True):
    """The object that a file holds, of whatever kind. With mmap a raw array is read where it lies."""
    return _core._load(path, mmap)

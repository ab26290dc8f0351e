"""Bloom filters built to travel: sets in a few bits per key, and predictions you can trust.

>>> import posy
>>> seen = posy.Filter(1_000_000, 0.001)
>>> seen.update(["anna", "bert"])
>>> "anna" in seen, "carl" in seen
(True, False)

Keys are str (as UTF-8), bytes and ints of 64 bits; files and bytes are shared with the tool and with C++.
"""

from __future__ import annotations

import sys

from posy import _core
from posy._core import (
    CompressedFilter,
    CountingFilter,
    CountMin,
    Delta,
    DistinctCounter,
    Error,
    Filter,
    ForeignFilter,
    GrowingFilter,
    HeavyHitters,
    Map,
    Plan,
    Publisher,
    Reconciliation,
    SealedFilter,
    Subscriber,
    WindowFilter,
    __version__,
)
from posy.calls import ClassSignature
from posy.figures import Comparison, Estimate

TYPE_CHECKING = False  # typing's own would cost a tenth of the import
if TYPE_CHECKING:
    import os
    from typing import Any

    from posy.planning import Advice

__all__ = [
    "Comparison",
    "CompressedFilter",
    "CountMin",
    "CountingFilter",
    "Delta",
    "DistinctCounter",
    "Error",
    "Estimate",
    "Filter",
    "ForeignFilter",
    "GrowingFilter",
    "HeavyHitters",
    "Map",
    "Plan",
    "Publisher",
    "Reconciliation",
    "SealedFilter",
    "Subscriber",
    "WindowFilter",
    "__version__",
    "from_bytes",
    "load",
    "plan",
    "theory",
]

# Their classes are shown where users find them.
for _name in __all__:
    _class = globals().get(_name)
    if isinstance(_class, type):
        if _class.__module__ == "posy._core" and hasattr(_class.__init__, "__nb_signature__"):
            _class.__signature__ = ClassSignature()
        _class.__module__ = "posy"
del _name, _class

theory = _core.theory
sys.modules["posy.theory"] = theory  # `import posy.theory`


def from_bytes(message: bytes | bytearray | memoryview, *, max_bytes: int | None = None) -> Any:
    """The object that bytes hold: a message of any kind, or a filter of another program that is known by its bytes.

    A few bytes can stand for a large array. Without max_bytes a message takes at most 62 MiB and 32 times its own size in
    memory, whoever has sent it.

    >>> posy.from_bytes(posy.Filter(1000, 0.01).pack()).layout
    'blocked'
    """
    return _core._from_bytes(message, max_bytes)


def load(path: str | os.PathLike[str], mmap: bool = True, *, max_bytes: int | None = None) -> Any:
    """The object that a file holds, of whatever kind; see from_bytes(), also for max_bytes.

    With mmap a raw array is read where it lies. Such a file must not be truncated while it is in use.
    """
    return _core._load(path, mmap, max_bytes)


def plan(
    items: int,
    *,
    rate: float | None = None,
    bits_per_item: float | None = None,
    message_bits_per_item: float | None = None,
    max_memory: int | None = None,
    hashes: int | None = None,
    max_hashes: int | None = None,
    layout: str | None = None,
    delta_bits_per_item: float | None = None,
    delta_fraction: float | None = None,
    hash: str | None = None,
    minimize: str | None = None,
) -> Advice:
    """Which filter to build, what it will cost, and what the alternatives are.

    Every wish that is given is kept; max_memory is in bytes. minimize: "rate", "memory", "message" or "delta".

    >>> best = posy.plan(1_000_000, rate=0.001)
    >>> best.hashes, best.layout, best.rate <= 0.001
    (9, 'blocked', True)
    >>> seen = best.filter()
    """
    wishes = dict(locals())
    from posy.planning import Advice

    return Advice(_core._Wishes(**wishes))


def _from_pickle(message: bytes) -> Any:
    return from_bytes(message, max_bytes=2**64 - 1)  # a pickle can do worse than fill the memory


def _foreign_from_bytes(data: bytes, format: str, key: bytes | None = None, column: str | None = None) -> ForeignFilter:
    """What a pickle has."""
    if column is not None:
        return ForeignFilter.of_parquet_column(data, column)
    return ForeignFilter.from_bytes(data, format, key=key)

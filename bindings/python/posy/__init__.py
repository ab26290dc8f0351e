"""Bloom filters built to travel: sets in a few bits per key, and predictions you can trust.

>>> import posy
>>> seen = posy.Filter(1_000_000, 0.001)
>>> seen.update(["anna", "bert"])
>>> "anna" in seen, "carl" in seen
(True, False)

Keys are str (as UTF-8), bytes and ints of 64 bits; files and bytes are shared with the tool and with C++.
"""

from __future__ import annotations

from posy import _core
from posy._core import (
    Comparison,
    CompressedFilter,
    CountingFilter,
    CountMin,
    Delta,
    DistinctCounter,
    Error,
    Estimate,
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
    if isinstance(_class, type) and _class.__module__ == "posy._core":
        _class.__module__ = "posy"
del _name, _class

theory = _core.theory


def from_bytes(message: bytes | bytearray | memoryview, *, max_bytes: int | None = None) -> Any:
    """The object that bytes hold: a message of any kind, or a filter of another program that is known by its bytes.

    A few bytes can stand for a large array. Without max_bytes a message takes at most 64 MiB and 32 times its own size in
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


def plan(items: int, **wishes: Any) -> Advice:
    """Which filter to build, what it will cost, and what the alternatives are.

    Wishes, each of which is kept: rate, bits_per_item, message_bits_per_item, max_memory (bytes), hashes, max_hashes, layout,
    delta_bits_per_item, delta_fraction, hash; minimize: "rate", "memory", "message" or "delta".

    >>> best = posy.plan(1_000_000, rate=0.001)
    >>> best.hashes, best.layout, best.rate <= 0.001
    (9, 'blocked', True)
    >>> seen = best.filter()
    """
    from posy.planning import Advice

    return Advice(_core._Wishes(items, **wishes))


def _foreign_from_bytes(data: bytes, format: str) -> ForeignFilter:
    return ForeignFilter.from_bytes(data, format)

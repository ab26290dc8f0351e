"""What posy.plan() returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from posy import _core


class SealedPlan(NamedTuple):
    """A sealed filter for the same keys, if they do not change."""

    name: str
    rate: float
    message_bits: float


class Advice:
    """A plan, and what else there is. It has every attribute of its plan.

    >>> best = posy.plan(1_000_000, rate=0.01)
    >>> best.bits_per_item < 11
    True
    >>> best.alternatives["compressed, same message"].message_bits < best.bits
    True
    """

    items: int
    bits: int
    hashes: int
    layout: str
    hash: str
    rate: float
    fill: float
    message_bits: float
    delta_bits: float | None
    bits_per_item: float
    message_bits_per_item: float
    memory_bytes: int

    def __init__(self, wishes: _core._Wishes) -> None:
        self._wishes = wishes
        self.chosen, others, sealed = _core._advise(wishes)
        self.alternatives: dict[str, _core.Plan] = dict(others)
        self.sealed: list[SealedPlan] = [SealedPlan(*each) for each in sealed]

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name == "chosen":  # not made yet: an error of _advise() is on its way
                raise AttributeError(name)
            return getattr(self.chosen, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.chosen)})

    def __repr__(self) -> str:
        return repr(self.chosen)

    def filter(self, *, hash: str | None = None, seed: int | None = None, secret: bool = False) -> _core.Filter:
        """An empty Filter of this plan; hash, seed and secret as for Filter."""
        return self.chosen.filter(hash=hash, seed=seed, secret=secret)

    def tradeoff(self) -> list[_core.Plan]:
        """The best plan for every number of hashes, fewest first."""
        return _core._tradeoff(self._wishes)

    def plot(self, ax: Any = None) -> Any:
        """Draw the rate of the planned filter against the number of keys in it, with matplotlib; returns the axes."""
        import numpy

        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.figure().add_subplot()
        p = self.chosen
        counts = numpy.unique(numpy.geomspace(max(1, p.items / 100), 4 * p.items, 60).astype(numpy.int64))
        rates = [_core._rate_of(p, int(count)) for count in counts]
        ax.loglog(counts, rates, label=f"{p.bits:,} bits, {p.hashes} hashes, {p.layout}")
        ax.plot([p.items], [p.rate], "o", label=f"planned: {p.items:,} keys, rate {p.rate:.3g}")
        ax.set_xlabel("different keys in the filter")
        ax.set_ylabel("false-positive rate")
        ax.grid(True, which="both", alpha=0.3)
        ax.legend()
        return ax

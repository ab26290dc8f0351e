"""Numbers that carry their intervals."""

from __future__ import annotations


class Estimate(float):
    """A number, and an interval that holds the truth with a stated probability, 95 % unless asked otherwise.

    It is a float in all that a float can do; the result has no interval. `truth in estimate` asks the interval.

    >>> about = posy.Estimate(1990.4, low=1950, high=2031)
    >>> 2000 in about, about < 2000, f"{about:.0f}"
    (True, True, '1990')
    >>> about.low, about.high, about.value
    (1950.0, 2031.0, 1990.4)
    """

    __slots__ = ("high", "low")
    low: float
    high: float

    def __new__(cls, value: float, low: float | None = None, high: float | None = None) -> Estimate:
        made = super().__new__(cls, value)
        made.low = float(made if low is None else low)
        made.high = float(made if high is None else high)
        return made

    @property
    def value(self) -> float:
        """The estimate itself."""
        return float(self)

    def __contains__(self, truth: float) -> bool:
        return self.low <= truth <= self.high

    def __format__(self, wanted: str) -> str:
        return format(self.value, wanted)

    def __repr__(self) -> str:
        return f"Estimate({self.value:.6g}, low={self.low:.6g}, high={self.high:.6g})"

    def __reduce__(self) -> tuple[type[Estimate], tuple[float, ...]]:
        return Estimate, (self.value, self.low, self.high)


class Comparison:
    """Two sets compared by their filters. Each figure is an Estimate: the sizes of both, a and b, the number of keys in
    both and in either, and jaccard, which is intersection / union.
    """

    __slots__ = ("a", "b", "intersection", "jaccard", "union")

    def __init__(self, a: Estimate, b: Estimate, intersection: Estimate, union: Estimate, jaccard: Estimate) -> None:
        self.a = a
        self.b = b
        self.intersection = intersection
        self.union = union
        self.jaccard = jaccard

    def __repr__(self) -> str:
        sizes = f"a={self.a:.6g}, b={self.b:.6g}, intersection={self.intersection:.6g}, union={self.union:.6g}"
        return f"Comparison({sizes}, jaccard={self.jaccard:.4g})"

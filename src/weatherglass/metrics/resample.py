"""How a value is computed again without single units, for intervals and leave-one-out (docs/methods 10 and 13)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from weatherglass.metrics.exchange import Null, PValueOptions

if TYPE_CHECKING:
    from weatherglass.stats.permutation.base import Alternative, Significance
    from weatherglass.stats.trust import Assessment


@dataclass(frozen=True, slots=True)
class Tested:
    """A value with its p, and how the p-values beside it are computed."""

    value: float
    unbiased: float
    null: Null | None
    """None for a metric without p."""
    p_value: float
    alternative: Alternative
    """As it was asked for."""
    options: PValueOptions
    alpha: float
    """The level of p; that of the intervals is 1 − alpha."""
    ci: str
    """The kind of interval: jackknife, bca or none."""

    def significance_of(self, null: Null, rough: bool = False) -> Significance:
        """Return p of what is left without a unit; bounds may be wide where `rough`."""
        return null.test(self.alternative, self.options.for_many(rough))

    def two_sided_p(self) -> float | None:
        """Return the exact two-sided p; None without p, or where the value cannot fall on both sides of `unbiased`."""
        if self.null is None:
            return None
        return self.null.two_sided_p(self.p_value, self.alternative, self.options)


class Resample(Protocol):
    """A value with the data that it was computed from."""

    def assess(self, tested: Tested) -> Assessment:
        """Return intervals, the value without each unit, and its distribution under exchanged labels."""


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Units that stand for more of their kind: the words of a set, or the pairs of two sets."""

    role: str
    """X, A, …; XY for pairs."""
    names: tuple[str, ...]
    exchanged: bool
    """Whether p exchanges them, so that they are what varies in the interval beside p."""
    sample: str = ""
    """What they are a sample of, where that is more than this group: groups of one sample vary about one mean."""


class Recompute(ABC):
    """A Resample for any metric: the value is computed again without each unit in turn."""

    @property
    @abstractmethod
    def groups(self) -> tuple[UnitGroup, ...]:
        """Return the units, in groups that are samples of their own."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest value that there can be."""

    @abstractmethod
    def without(self, group: int, unit: int) -> tuple[float, Null | None]:
        """Return the value, and what p exchanges, without one unit of a group."""

    def assess(self, tested: Tested) -> Assessment:
        """Assess the value by the jackknife."""
        from weatherglass.stats.recomputed import assess_recomputed

        return assess_recomputed(self, tested)

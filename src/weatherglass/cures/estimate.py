"""A number with its interval, before and after, and under random transforms of the same rank."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Vector

Z = 1.959963984540054
"""The 97.5 % point of the normal distribution: all intervals here are at 95 %."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """One quantity of a model, without and with the transform."""

    name: str
    before: Estimate
    after: Estimate
    chance: float | None = None
    """What it would be without any information; None where that is no question."""
    random: Estimate | None = None
    """Mean and range over random transforms of the same rank; None where there is none to compare with."""
    n: int = 0
    """Words, pairs or questions that it rests on."""
    change: Estimate | None = None
    """After less before, paired."""

    @property
    def retained(self) -> float | None:
        """The share of what was above chance before that is there after; None where nothing was."""
        return self._share(self.after.value)

    @property
    def retained_low(self) -> float | None:
        """The same at the low end of the interval."""
        return self._share(self.after.low)

    def _share(self, value: float) -> float | None:
        if self.chance is None or not self.before.low > self.chance:
            return None
        return (value - self.chance) / (self.before.value - self.chance)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "retained": self.retained, "retained_low": self.retained_low}


def share(correct: int, n: int) -> Estimate:
    """A share with Wilson's interval."""
    p, z2 = correct / n, Z * Z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return Estimate(p, max(0.0, middle - half), min(1.0, middle + half))


def correlation(first: Vector, second: Vector) -> Estimate:
    """Pearson's r with Fisher's interval; 0 where one of them does not vary."""
    if first.std() == 0 or second.std() == 0:
        return Estimate(0.0, -1.0, 1.0)
    r = float(np.clip(np.corrcoef(first, second)[0, 1], -1 + 1e-12, 1 - 1e-12))
    half = Z / math.sqrt(max(1, len(first) - 3))
    return Estimate(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def mean(values: Vector) -> Estimate:
    """A mean with the interval of its standard error."""
    value = float(values.mean())
    half = Z * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Estimate(value, value - half, value + half)

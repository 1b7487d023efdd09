"""The measures of docs/methods 1 once more, from their definitions, in plain Python loops: slow, and nothing shared."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

from weatherglass.arrays import Matrix, Vector


def dot(w: Vector, a: Vector) -> float:
    return math.fsum(p * q for p, q in zip(w, a, strict=True))


def cosine(w: Vector, a: Vector) -> float:
    return dot(w, a) / math.sqrt(dot(w, w)) / math.sqrt(dot(a, a))


def euclidean(w: Vector, a: Vector) -> float:
    return math.sqrt(math.fsum((p - q) ** 2 for p, q in zip(w, a, strict=True)))


def manhattan(w: Vector, a: Vector) -> float:
    return math.fsum(abs(p - q) for p, q in zip(w, a, strict=True))


def mahalanobis(w: Vector, a: Vector, precision: Matrix) -> float:
    away = [p - q for p, q in zip(w, a, strict=True)]
    return math.sqrt(
        math.fsum(p * precision[i, j] * q for i, p in enumerate(away) for j, q in enumerate(away))
    )


STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": statistics.median,
    "min": min,
    "max": max,
}


def association(
    w: Vector,
    to_a: Callable[[Vector, Vector], float],
    to_b: Callable[[Vector, Vector], float],
    A: Matrix,
    B: Matrix,
    statistic: str,
    orientation: int,
) -> float:
    """s(w, A, B); eq2 by way of every a and every b."""
    from_a, from_b = [to_a(w, a) for a in A], [to_b(w, b) for b in B]
    if statistic == "eq2":
        return min(abs(p - q) for p in from_a for q in from_b)
    f = STATISTICS[statistic]
    return orientation * (f(from_a) - f(from_b))

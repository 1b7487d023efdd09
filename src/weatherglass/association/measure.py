"""A measure is a value, `similarity/statistic`: its text form is its identity and its spelling everywhere."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Measure:
    """How one element's association with A and B is measured (METHODS 1)."""

    similarity: str = "cosine"
    statistic: str = "mean"

    def __str__(self) -> str:
        return f"{self.similarity}/{self.statistic}"

"""The findings at the top of a page: how many results are significant, which effects are largest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weatherglass.report.page.subjects import Layout, Subject
from weatherglass.runs.results import Result

LARGEST = 5


@dataclass(frozen=True, slots=True)
class Count:
    """How many results are significant."""

    results: int
    starred: int
    """p ≤ alpha."""
    kept: int
    """Also after correction."""
    judged: bool
    """Whether there are marks: a run that was stopped has none."""
    by_sentences: tuple[int, int, int]
    """Of tests with several sentences a word: their number, and how many have p ≤ alpha by words and by sentences."""

    @classmethod
    def of(cls, results: Iterable[Result], alpha: float) -> Count:
        rows = list(results)
        several = [row for row in rows if row.p_elements is not None]
        return cls(
            len(rows),
            sum(row.significance != "" for row in rows),
            sum(row.significance == "**" for row in rows),
            all(row.p_adjusted is not None for row in rows),
            (
                len(several),
                sum(row.p_value <= alpha for row in several),
                sum(row.p_elements is not None and row.p_elements <= alpha for row in several),
            ),
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """The counts of one model, and the indices of its largest effects that remain after correction."""

    subject: Subject
    count: Count
    largest: list[int]


def findings(layout: Layout, metric: int, alphas: Sequence[float]) -> list[Finding]:
    """One finding per model, for one metric; `alphas` are the levels of the runs."""
    numbers_by_subject: dict[int, list[int]] = {number: [] for number in range(len(layout.subjects))}
    for number, (subject, _, place) in enumerate(layout.places):
        if place == metric:
            numbers_by_subject[subject].append(number)
    return [
        Finding(
            subject,
            Count.of((layout.results[n] for n in numbers_by_subject[s]), alphas[subject.run]),
            _largest(layout, numbers_by_subject[s]),
        )
        for s, subject in enumerate(layout.subjects)
    ]


def _largest(layout: Layout, numbers: Iterable[int]) -> list[int]:
    kept = [
        number
        for number in numbers
        if layout.results[number].significance == "**" and not math.isnan(layout.results[number].effect_size)
    ]
    return sorted(kept, key=lambda number: -abs(layout.results[number].effect_size))[:LARGEST]

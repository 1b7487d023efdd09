"""d and p without single words, attributes or templates, and on which of them a result hangs (docs/methods 10.5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import two_sided_p
from weatherglass.stats.leave_one_out import (
    effect_sizes_of_columns,
    effect_sizes_without_words,
)
from weatherglass.stats.scale import within

if TYPE_CHECKING:
    from weatherglass.stats.permutation.base import Significance

CLEARLY_BELOW = 5
"""A removal whose t-test has p below alpha over this is not tested exactly: it cannot lift p above alpha."""


class LeftOut(NamedTuple):
    """d without one word, or without one sentence template."""

    kind: str
    """word or template."""
    role: str
    """The set that the word is in; all four for a template."""
    name: str
    effect_size: float | None
    """None where all remaining scores are equal."""
    p_value: float | None = None
    """p without it; only where the result is significant and might not be without it, or this p is the largest."""


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """The scores that are left without one word or template."""

    kind: str
    role: str
    name: str
    effect_size: float
    x: Vector
    y: Vector


def removals_of_words(
    scores: Vector, n_x: int, names: tuple[Sequence[str], Sequence[str]], ddof: int
) -> Iterator[Removal]:
    """d without each word of X and of Y, in closed form."""
    without = effect_sizes_without_words(scores, n_x, ddof)
    for place, name in enumerate((*names[0], *names[1])):
        in_x = place < n_x
        if (n_x if in_x else len(scores) - n_x) < 2:
            continue
        left = np.delete(scores, place)
        size = n_x - in_x
        yield Removal("word", "X" if in_x else "Y", name, float(without[place]), left[:size], left[size:])


def removals_of_attributes(
    without: Matrix, n_x: int, role: str, names: Sequence[str], ddof: int
) -> Iterator[Removal]:
    """d without each attribute, from the scores of all words (down) without each of them (across)."""
    if len(names) < 2:
        return
    for name, d, scores in zip(names, effect_sizes_of_columns(without, n_x, ddof), without.T, strict=True):
        yield Removal("word", role, name, float(d), scores[:n_x], scores[n_x:])


def tested(
    removals: Sequence[Removal],
    test: Callable[[Vector, Vector, bool], Significance],
    p_value: float,
    alpha: float,
) -> tuple[LeftOut, ...]:
    """The removals, with p of those without which a significant result might not be one.

    A removal whose t-test stays far below alpha is passed over, and so is one whose rough bounds of p lie below it;
    of each kind the one with the largest p is tested in any case.
    """
    left_out = [
        LeftOut(r.kind, r.role, r.name, None if math.isnan(r.effect_size) else r.effect_size)
        for r in removals
    ]
    if not p_value <= alpha:
        return tuple(left_out)
    approximate = [_t_test_p(removal) for removal in removals]
    close = {place for place, p in enumerate(approximate) if p > alpha / CLEARLY_BELOW}
    largest = set()
    for kind in ("word", "template"):
        of_kind = [place for place, removal in enumerate(removals) if removal.kind == kind]
        largest |= {max(of_kind, key=lambda place: approximate[place])} if of_kind else set()
    for place in close | largest:
        removal = removals[place]
        if min(len(removal.x), len(removal.y)) < 1 or math.isnan(removal.effect_size):
            continue
        found = test(removal.x, removal.y, True)
        if _is_rough(found):
            if found.p_value <= alpha and place not in largest:
                continue
            found = test(removal.x, removal.y, False)
        left_out[place] = left_out[place]._replace(p_value=found.p_value)
    return tuple(left_out)


def _is_rough(found: Significance) -> bool:
    """Whether p is known between bounds only, which could be closer."""
    return found.certified and found.p_low != found.p_high


def _t_test_p(removal: Removal) -> float:
    scores = within(np.concatenate([removal.x, removal.y]), len(removal.x))
    if scores.scale.df < 1 or not scores.squares > 0:
        return 1.0
    return float(two_sided_p(scores.g / math.sqrt(scores.scale.variance_factor), scores.scale.df))

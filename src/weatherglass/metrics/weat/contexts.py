"""Measure how d depends on the contexts of its words, from the vector of each word in each context.

Vectors are averaged over contexts before d is computed. Here d is computed again without each context, and for draws
of one context per word (docs/methods 17).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.errors import WeatherglassError, ZeroVectorError
from weatherglass.metrics.exchange import PValueOptions
from weatherglass.metrics.sets import VectorSet, order_by_content
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS, Association
from weatherglass.stats import Alternative, Significance
from weatherglass.stats.contexts import (
    BAND_LEVELS,
    STABLE,
    Combined,
    band,
    needed_contexts,
    random_effects,
    variance_shares,
)

DRAWS = 1000
"""Draws of one context per word, as in the tables of Guo & Caliskan (2021)."""
PULLS = 2
"""The number of contexts that are listed per word, those that change d most."""


def have_contexts(sets: Sequence[VectorSet]) -> bool:
    """Return whether each element of the four sets has the vectors of its contexts."""
    return len(sets) == 4 and all(len(each.contexts) == len(each.vectors) for each in sets)


@dataclass(frozen=True, slots=True)
class CombinedDraws:
    """The null hypothesis of CEAT, that the mean effect over draws is 0; its p counts draws as observations."""

    combined: Combined
    sizes: tuple[int, int]
    profile: str

    @property
    def units(self) -> tuple[int, int]:
        """Return the number of words of X and of Y."""
        return self.sizes

    def tail(self, requested: Alternative) -> Alternative:
        """Return the only alternative that was published."""
        del requested
        return "two-sided"

    def test(self, requested: Alternative, options: PValueOptions) -> Significance:
        """Return the normal p of the combined effect."""
        del requested, options
        method = f"{self.profile}: {self.combined.draws:,} draws, DerSimonian and Laird".replace(",", " ")
        return Significance(self.combined.p, None, None, method, 0.0, False, self.combined.p)

    def two_sided_p(self, reported: float, requested: Alternative, options: PValueOptions) -> float:
        """Return the same p."""
        del requested, options
        return reported

    def quantiles(self, levels: Vector, options: PValueOptions) -> list[float]:
        """Return nothing, since no labels are exchanged."""
        del levels, options
        return []


class InContexts:
    """The effect of one test, computed again for other contexts of its words."""

    def __init__(self, sets: Sequence[VectorSet], association: Association, ddof: int) -> None:
        """Prepare sets whose elements have the vectors of their contexts; X, Y, A and B, in this order."""
        self._similarity = SIMILARITIES.get(association.similarity)
        self._statistic = STATISTICS.get(association.statistic)
        self._mean = association.statistic == "mean"
        self._ddof = ddof
        self._sets = sets
        self._n_x = len(sets[0].vectors)
        self._targets = np.concatenate([sets[0].vectors, sets[1].vectors])
        self._attributes = [each.vectors for each in sets[2:]]

    def describe(self) -> dict[str, Any]:
        """Return plain numbers for the record of a result.

        Returns:
            `band`: quantiles of d over draws of one context per word; `shares` of variance, or None; `needed`, the
            contexts per word for a stable d, or None; `pulls`: by set and word, the contexts with the largest change
            of d, each as its place and d minus d without it.
        """
        shares = self._shares() if self._mean else None
        pulls: dict[str, list[Any]] = {}
        for (role, _), without in self._without.items():
            change = self._d - without
            largest = np.argsort(-np.abs(change), kind="stable")[: PULLS if len(without) > 1 else 0]
            pulls.setdefault(role, []).append([[int(i), float(change[i])] for i in largest])
        return {
            "draws": DRAWS,
            "levels": list(BAND_LEVELS),
            "band": list(band(self.draws()[0])),
            "shares": None
            if shares is None
            else {"words": shares.words, "attributes": shares.attributes, "contexts": shares.contexts},
            "needed": needed_contexts(list(self._without.values())),
            "stable": STABLE,
            "pulls": pulls,
        }

    def draws(self, number: int = DRAWS) -> tuple[Vector, Vector]:
        """Return d, and the variance of the scores, of each draw of one context per word.

        The draws do not depend on the order of words, and the first of many draws are those of few.
        """
        samples = [[each.contexts[i] for i in order_by_content(each.vectors)] for each in self._sets]
        counts = [np.array([len(rows) for rows in own]) for own in samples]
        flat = [np.concatenate(own) for own in samples]
        starts = [np.cumsum(sizes) - sizes for sizes in counts]
        random = np.random.default_rng(0)
        effects, variances = np.empty(number), np.empty(number)
        for draw in range(number):
            chosen = [
                first + (random.random(len(sizes)) * sizes).astype(np.int64)
                for first, sizes in zip(starts, counts, strict=True)
            ]
            x, y, a, b = (rows[places] for rows, places in zip(flat, chosen, strict=True))
            scores = self._scores(np.concatenate([x, y]), a, b)
            variances[draw] = scores.var(ddof=self._ddof)
            effects[draw] = scores[: self._n_x].mean() - scores[self._n_x :].mean()
        with np.errstate(divide="ignore", invalid="ignore"):
            return effects / np.sqrt(variances), variances

    def combined(self, number: int = DRAWS) -> Combined:
        """Return the combined effect size of CEAT (Guo & Caliskan 2021).

        Raises:
            WeatherglassError: if the scores of a draw do not vary.
        """
        effects, variances = self.draws(number)
        if not np.isfinite(effects).all():
            raise WeatherglassError("the scores of a draw are all equal, so its effect size is not defined")
        return random_effects(effects, variances)

    def noise(self) -> Vector:
        """Return the variance of the score of each target word due to the sample of its contexts (jackknife)."""
        variances = []
        for _, rows in self._leave_out(self._sets[:2]):
            scores = self._scores(rows, *self._attributes) if len(rows) > 1 else np.zeros(1)
            variances.append(float((len(scores) - 1) / len(scores) * ((scores - scores.mean()) ** 2).sum()))
        return np.array(variances)

    @cached_property
    def _tables(self) -> tuple[Matrix, Matrix]:
        a, b = self._attributes
        return self._similarity.between(self._targets, a), self._similarity.between(self._targets, b)

    @cached_property
    def _d(self) -> float:
        return float(self._effects(self._association(*self._tables)[np.newaxis])[0])

    @cached_property
    def _without(self) -> dict[tuple[str, int], Vector]:
        """Return, by set and place of a word, d without each of its contexts; d itself for a word with one context."""
        found: dict[tuple[str, int], Vector] = {}
        scores = self._association(*self._tables)
        for place, ((role, own), rows) in enumerate(self._leave_out(self._sets[:2])):
            changed = np.tile(scores, (len(rows), 1))
            changed[:, place] = self._scores(rows, *self._attributes) if len(rows) > 1 else scores[place]
            found[role, own] = self._effects(changed)
        for side in (0, 1):
            table = self._tables[side]
            for (role, own), rows in self._leave_out(self._sets[2 + side : 3 + side]):
                tables = [np.repeat(each[np.newaxis], len(rows), axis=0) for each in self._tables]
                if len(rows) > 1:
                    tables[side][:, :, own] = self._similarity.between(self._targets, rows).T
                to_a, to_b = (each.reshape(-1, each.shape[-1]) for each in tables)
                found[role, own] = self._effects(self._association(to_a, to_b).reshape(-1, len(table)))
        return found

    def _leave_out(self, sets: Sequence[VectorSet]) -> Iterator[tuple[tuple[str, int], Matrix]]:
        """Yield each word of the sets with its mean vector without each of its contexts."""
        for each in sets:
            for place, (mean, rows) in enumerate(zip(each.vectors, each.contexts, strict=True)):
                yield (each.role, place), mean + (mean - rows) / max(1, len(rows) - 1)

    def _scores(self, targets: Matrix, a: Matrix, b: Matrix) -> Vector:
        return self._association(self._similarity.between(targets, a), self._similarity.between(targets, b))

    def _association(self, to_a: Matrix, to_b: Matrix) -> Vector:
        ordered = np.sort(to_a, axis=1), np.sort(to_b, axis=1)
        return self._statistic.association(*ordered, self._similarity.orientation)

    def _effects(self, scores: Matrix) -> Vector:
        """Return d of each row of scores, X before Y."""
        difference = scores[:, : self._n_x].mean(axis=1) - scores[:, self._n_x :].mean(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(difference / scores.std(axis=1, ddof=self._ddof))

    def _shares(self) -> Any:
        rows = [rows for each in self._sets[:2] for rows in each.contexts]
        words: Integers = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        every = np.concatenate(rows)
        sign = self._similarity.orientation
        try:
            to_a, to_b = (sign * self._similarity.between(every, each) for each in self._attributes)
        except ZeroVectorError:
            return None
        return variance_shares(to_a, to_b, words, self._n_x)

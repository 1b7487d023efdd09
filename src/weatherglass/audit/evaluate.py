"""From vectors to a Result: score in canonical order, then effect size, statistic and p (docs/methods 1 to 3)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from weatherglass.arrays import Vector
from weatherglass.catalogue.association_test import Element
from weatherglass.errors import UnitError, ZeroVectorError
from weatherglass.inference.significance.base import Alternative, Budget, Significance
from weatherglass.metrics.sets import (
    VectorSet,
    check,
    distinct_rows,
    matrix,
    name_zero_vector,
    order_by_content,
)
from weatherglass.metrics.units import mean_by_unit, unit_numbers
from weatherglass.metrics.weat.effect import effect_size, sum_difference
from weatherglass.metrics.weat.measure import SIMILARITIES, Measure
from weatherglass.runs.results import ElementScore, Result

if TYPE_CHECKING:
    from weatherglass.metrics.weat.covariance import Covariance

PERMUTE = ("elements", "words")
CI = ("mean", "all", "none")
LEAST_RESAMPLES = 100
"""Below, the ends of an interval are noise."""
MAY_BE_SIGNIFICANT = 0.1
"""Above this p no usual alpha calls a result significant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a test is evaluated; every field changes numbers, so all of them are part of a result's key."""

    significance: str = "auto"
    alternative: Alternative = "greater"
    permute: str = "elements"
    ddof: int = 1
    seed: int = 0
    precision: float = 0.01
    budget: Budget = field(default_factory=Budget)
    covariance: str = "glasso"
    """Estimator for Mahalanobis measures."""
    synonyms: str = ""
    """Fingerprint of the synonyms that enlarge attribute sets for the covariance; empty for none."""
    trust: str = "mean"
    """Which measures get interval, leave-one-out and null distribution: none, mean (the statistic) or all."""
    resamples: int = 2000
    """Of the bootstrap; 0 leaves out the interval."""
    profile: str = ""
    """Whose d and p these are to be: a name of docs/methods 9, or empty for ours."""

    def trusts(self, measure: Measure) -> bool:
        """Whether this measure is to be assessed, too."""
        return self.trust == "all" or self.trust == measure.statistic


def associate(
    X: ArrayLike,
    Y: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    measure: str | Measure = "cosine/mean",
    significance: str = "auto",
    alternative: Alternative = "greater",
    ddof: int = 1,
    seed: int = 0,
    precision: float = 0.01,
    budget: Budget | None = None,
    trust: str = "none",
    covariance: str = "glasso",
) -> Result:
    """Test whether the rows of X lean to A, and those of Y to B, more than exchanged labels would.

    Args:
        X: target vectors, one row each; Y, A and B likewise. Equal rows are allowed, X and Y may differ in size.
        measure: `similarity/statistic`, such as "cosine/mean".
        significance: how p is had: auto, exact, sampled, normal, … (docs/methods 3).
        alternative: greater, less, two-sided or observed.
        ddof: 1 for the papers' standard deviation, 0 for that of WEFE and responsibly.
        seed: of the random draws, where there are any.
        precision: relative gap of certified bounds.
        budget: what one p-value may cost.
        trust: "all" adds a bootstrap interval of d, leave-one-out effects and the null distribution.
        covariance: estimator of the covariances of A and B, which Mahalanobis measures need: glasso or ledoit-wolf.

    Returns:
        A Result without model or test name, with the scores of every row.

    Example:
        >>> import numpy as np
        >>> X, Y = np.array([[1.0, 0.1], [1.0, 0.2]]), np.array([[0.1, 1.0], [0.3, 1.0]])
        >>> result = associate(X, Y, A=[[1.0, 0.0]], B=[[0.0, 1.0]])
        >>> round(result.effect_size, 3), round(result.p_value, 3), result.p_method
        (1.722, 0.167, 'enumerate')
    """
    settings = Settings(
        significance=significance,
        alternative=alternative,
        ddof=ddof,
        seed=seed,
        precision=precision,
        budget=budget or Budget(),
        trust=trust,
        covariance=covariance,
    )
    sets = [VectorSet(role, matrix(role, rows)) for role, rows in zip("XYAB", (X, Y, A, B), strict=True)]
    chosen = Measure.parse(measure) if isinstance(measure, str) else measure
    check(sets)
    return next(evaluate(sets, [chosen], settings, _covariances(sets, chosen, covariance)))


def _covariances(
    sets: Sequence[VectorSet], measure: Measure, estimator: str
) -> tuple[Covariance, Covariance] | None:
    """Those of A and B, where the measure needs them."""
    from weatherglass.metrics.weat.covariance import estimate_covariance

    if not SIMILARITIES.get(measure.similarity).whitened:
        return None
    _, _, a, b = sets
    return estimate_covariance(a.vectors, estimator), estimate_covariance(b.vectors, estimator)


def evaluate(
    sets: Sequence[VectorSet],
    measures: Sequence[Measure],
    settings: Settings,
    covariances: tuple[Covariance, Covariance] | None = None,
) -> Iterator[Result]:
    """One Result per measure for the sets X, Y, A, B; the similarities are computed once for all measures."""
    check(sets)
    started = time.perf_counter()
    scored = score(sets, measures, covariances)
    for measure in measures:
        result = _result(sets, measure, *scored[measure], settings)
        if settings.trusts(measure):
            result = _with_trust(result, sets, measure, settings, covariances)
        if covariances and SIMILARITIES.get(measure.similarity).whitened:
            a, b = covariances
            result = replace(result, notes={**result.notes, "covariance": {"A": a.record(), "B": b.record()}})
        now = time.perf_counter()
        yield replace(result, seconds=round(now - started, 6))
        started = now


def score(
    sets: Sequence[VectorSet],
    measures: Sequence[Measure],
    covariances: tuple[Covariance, Covariance] | None = None,
) -> dict[Measure, tuple[Vector, Vector]]:
    """s(w, A, B) of the rows of X and of Y under each measure.

    The targets are scored once each and sorted by content, and so are A and B. A matrix product may give the same row
    another last bit at another place; this way neither the order of the words nor a swap of X and Y can matter.
    """
    from weatherglass.metrics.weat.score import associations

    x, y, a, b = sets
    rows = np.concatenate([x.vectors, y.vectors])
    distinct, place = distinct_rows(rows)
    by_content = [order_by_content(attribute.vectors) for attribute in (a, b)]
    try:
        scores = associations(
            distinct, a.vectors[by_content[0]], b.vectors[by_content[1]], measures, covariances
        )
    except ZeroVectorError:
        raise UnitError(name_zero_vector(sets)) from None
    return {m: (s[place[: len(x)]], s[place[len(x) :]]) for m, s in scores.items()}


def _result(sets: Sequence[VectorSet], measure: Measure, x: Vector, y: Vector, settings: Settings) -> Result:
    x_set, y_set, a_set, b_set = sets
    by_word = _word_scores(x_set, x), _word_scores(y_set, y)
    words_differ = len(by_word[0]) < len(x) or len(by_word[1]) < len(y)
    if settings.permute == "words":
        unit_x, unit_y = by_word
    else:
        unit_x, unit_y = x, y
    found = _test(unit_x, unit_y, settings)
    words = found if settings.permute == "words" else (_test(*by_word, settings) if words_differ else None)
    return Result(
        p_value=found.p_value,
        effect_size=_effect_size(unit_x, unit_y, settings),
        num_targ1=len(x),
        num_targ2=len(y),
        num_attr1=len(a_set),
        num_attr2=len(b_set),
        measure=str(measure),
        permute=settings.permute,
        alternative=settings.alternative,
        ddof=settings.ddof,
        test_statistic=sum_difference(unit_x, unit_y),
        p_low=found.p_low,
        p_high=found.p_high,
        p_method=found.p_method,
        p_floor=found.p_floor,
        p_words=words.p_value if words and words_differ else None,
        effect_size_words=_effect_size(*by_word, settings) if words_differ else None,
        p_middle=found.p_middle,
        certified=found.certified,
        signed=measure.signed,
        scores=(*_element_scores(x_set, x), *_element_scores(y_set, y)),
        notes=_profile_note(effect_size(unit_x, unit_y, settings.ddof), settings),
    )


def _with_trust(
    result: Result,
    sets: Sequence[VectorSet],
    measure: Measure,
    settings: Settings,
    covariances: tuple[Covariance, Covariance] | None,
) -> Result:
    """The result with its interval, its leave-one-out effects and the null distribution beside it."""
    from weatherglass.inference.trust import assess, sample_of

    sample, names = sample_of(sets, measure, settings.permute, settings.ddof, covariances)
    d = result.signed_effect_size
    found = assess(sample, names, d, settings.resamples, settings.seed)
    telling = found.most_telling(d)
    # Only a p that could be significant can hang on a word or a template.
    asked = found.most_telling_of_each_kind(d) if result.p_value <= MAY_BE_SIGNIFICANT else []
    p_without = {each: _test(each.x, each.y, settings).p_value for each in (*asked, telling) if each}
    ends = (found.interval.bca_low, found.interval.bca_high) if found.interval else (None, None)
    if result.effect_size != d and found.interval:  # |d| was asked for, and d is negative
        ends = (-found.interval.bca_high, -found.interval.bca_low)
    return replace(result, ci_low=ends[0], ci_high=ends[1], details=found.record(telling, p_without))


def _effect_size(x: Vector, y: Vector, settings: Settings) -> float:
    if settings.profile:
        from weatherglass.metrics.weat.profiles import profile_of

        return profile_of(settings.profile).effect_size(x, y)
    return effect_size(x, y, settings.ddof)


def _profile_note(d: float, settings: Settings) -> dict[str, Any]:
    if not settings.profile:
        return {}
    return {"profile": {"name": settings.profile, "signed_effect_size": None if math.isnan(d) else d}}


def _test(x: Vector, y: Vector, settings: Settings) -> Significance:
    from weatherglass.inference.significance import permutation_test

    if settings.profile:
        from weatherglass.metrics.weat.profiles import profile_of

        rng = np.random.default_rng(settings.seed)
        return profile_of(settings.profile).significance(x, y, settings.alternative, rng)
    return permutation_test(
        x,
        y,
        method=settings.significance,
        alternative=settings.alternative,
        budget=settings.budget,
        precision=settings.precision,
        rng=np.random.default_rng(settings.seed),
    )


def _word_scores(element_set: VectorSet, scores: Vector) -> Vector:
    """The mean score of each word's elements, in order of first appearance."""
    if not element_set.elements:
        return scores
    return mean_by_unit(scores, unit_numbers([element.word for element in element_set.elements]))


def _element_scores(element_set: VectorSet, scores: Vector) -> Iterator[ElementScore]:
    elements = element_set.elements or [Element("", "")] * len(scores)
    for element, value in zip(elements, scores, strict=True):
        yield ElementScore(element_set.role, element.text, element.word, element.template, float(value))

"""Explain one row of a run step by step, from scores to p, and show what other tools would report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.audit.results import ElementScore, Result, UnitScore, unit_scores
from weatherglass.audit.stored import read_whole_run
from weatherglass.catalogue.names import model_name, set_name
from weatherglass.errors import WeatherglassError
from weatherglass.metrics import select_metrics
from weatherglass.metrics.weat.association import Association
from weatherglass.metrics.weat.profiles import OF_SCORES, Profile
from weatherglass.metrics.weat.scores import largest_effect_size
from weatherglass.stats.robustness import NULL_LEVELS
from weatherglass.storage.printable import one_line
from weatherglass.warnings import folded

EXACT = ("enumerate", "meet-in-the-middle", "lattice")
FORMULAS = {"eq2": "smallest |m(w, a) - m(w, b)|"}
"""The formula shown for an unsigned statistic if the statistic's name does not describe it."""
ALL_DIGITS = 12
TELLING = 3
"""The number of the most influential words and templates that are listed."""


@dataclass(frozen=True, slots=True)
class Reported:
    """The numbers that a profile would report for the same scores."""

    profile: str
    effect_size: float
    p_value: float
    why: str


@dataclass(frozen=True, slots=True)
class RowExplanation:
    """All steps of one row."""

    result: Result
    x: Sequence[UnitScore]
    """The exchangeable units of X, each with its score."""
    y: Sequence[UnitScore]
    steps: tuple[str, ...]
    """All steps, one line each."""
    profiles: tuple[Reported, ...]
    """The numbers of other tools; empty for a sentence test by words, since the papers score sentences."""


def explain(
    folder: str | Path,
    test: str,
    model: str | None = None,
    metric: str | None = None,
    digits: int = ALL_DIGITS,
    about: str = "",
) -> RowExplanation:
    """Read one row of a run and explain its steps; only the folder is needed.

    Args:
        folder: the folder of a run.
        test: its name in the run.
        model: the model, if the run has several.
        metric: the metric, if the run has several.
        digits: significant digits of the numbers; by default enough to compute d and p again.
        about: a text; the tokens of all sentence pairs that contain it are shown. By default, the tokens of the five
            pairs with the largest difference are shown.

    Raises:
        WeatherglassError: if not exactly one row of the run matches.
    """
    run = read_whole_run(Path(folder))
    show = partial(_number, digits=digits)
    position = run.find(test, model, metric)
    result = run.results[position]
    if about and "tokens" not in result.notes:
        raise WeatherglassError(f"'{result.test}': no tokens are stored for {result.metric}; omit --about")
    if not result.info.from_scores:
        return RowExplanation(result, (), (), tuple(_value_steps(result, show, about)), ())
    scores = result.scores
    units = unit_scores(scores, result.permute)
    x, y = (_of_role(units, role) for role in "XY")
    profiles = (
        tuple(_reported(scores, result, int(run.record.get("settings", {}).get("seed", 0))))
        if _scored_as_published(result)
        else ()
    )
    steps = (
        *_scores(result, x, y, show),
        *_effect(result, x, y, show),
        *_null(result, x, y, show),
        *_p(result, x, y, run.record["settings"]["correction"], show),
        *_robustness(result, run.record["settings"].get("smallest")),
        *_others(result, profiles),
        *_warnings(result),
    )
    return RowExplanation(result, x, y, steps, profiles)


Units = Sequence[UnitScore]
Token = Sequence[Any]
"""A token's text, its log-probability or None, and the factor of this log-probability in the sentence's score."""
Show = Callable[[float], str]
"""A function that returns a number as text, with the chosen number of digits."""


def _of_role(units: Units, role: str) -> Units:
    return [unit for unit in units if unit.role == role]


def _values(units: Units) -> Vector:
    return np.array([unit.score for unit in units])


def _head(result: Result) -> Iterator[str]:
    yield f"{result.test} on {model_name(result.model)}, {result.metric}"
    if result.options:
        yield f"encoded with {result.options}"
    yield ""


def _scores(result: Result, x: Units, y: Units, show: Show) -> Iterator[str]:
    association = _association(result)
    c_x, c_y, c_a, c_b = map(set_name, result.categories)
    yield from _head(result)
    measured = (
        f", computed from m, the {association.similarity} between the vectors of w and each attribute"
        if association
        else ""
    )
    yield f"1. Scores s(w){measured}"
    yield f"   A: {c_a}, {result.num_attr1} elements; B: {c_b}, {result.num_attr2} elements"
    if association and result.signed:
        yield (
            f"   s is the {association.statistic} of m over A minus that over B (reversed for a distance); "
            f"a word with s above 0 is nearer to {c_a}"
        )
    elif association:
        statistic = association.statistic
        formula = FORMULAS.get(statistic, f"{statistic} of m over A and B together")
        yield f"   s is the {formula}; it has no direction"
    elif not result.signed:
        yield f"   s of {result.metric} has no direction"
    if result.permute == "words":
        yield (
            "   A word's score is the mean over its sentences; an attribute word counts once, as the mean of its "
            "sentences."
        )
    for role, category, units in (("X", c_x, x), ("Y", c_y, y)):
        yield f"   {role}: {category}, {len(units)} {result.permute}"
        width = max(len(unit.name) for unit in units)
        yield from (f"   {unit.name:<{width}}  {show(unit.score)}" for unit in units)
    if result.oov:
        yield f"   Unknown to the model: {result.oov}"


def _association(result: Result) -> Association | None:
    """Return the similarity and the statistic of the metric; None if it has none or is not installed."""
    try:
        (metric,) = select_metrics([result.metric])
    except WeatherglassError:
        return None
    association: Association | None = getattr(metric, "association", None)
    return association


def _effect(result: Result, x: Units, y: Units, show: Show) -> Iterator[str]:
    in_x, in_y = _values(x), _values(y)
    both = np.concatenate([in_x, in_y])
    d, ddof = result.effect_size, result.ddof
    divisor = "n - 1" if ddof else "n"
    yield ""
    yield "2. Effect size: the difference of the means, in standard deviations of all scores"
    yield f"   mean of X = {show(float(in_x.mean()))}"
    yield f"   mean of Y = {show(float(in_y.mean()))}"
    yield f"   sd of all {len(both)} = {show(float(both.std(ddof=ddof)))} (divided by {divisor})"
    if math.isnan(d):
        yield "   d is not defined: all scores are equal"
        return
    most = largest_effect_size(len(in_x), len(in_y), ddof)
    yield f"   d = {show(d)}, which for these set sizes lies between -{most:.3f} and {most:.3f}"
    if d > 0 > in_x.mean() - in_y.mean():
        yield "   (the profile of this run prints d without its sign)"
    if result.signed:
        yield f"   {result.direction}"


def _null(result: Result, x: Units, y: Units, show: Show) -> Iterator[str]:
    in_x, in_y = _values(x), _values(y)
    both = np.concatenate([in_x, in_y])
    n, size = len(both), len(in_x)
    spread = math.sqrt(size * (n - size) / n * both.var(ddof=1))
    yield ""
    yield f"3. Null hypothesis: the labels X and Y of the {n} {result.permute} can be exchanged"
    yield f"   {size} of {n} can be labelled X, which gives {_count(math.comb(n, size))} labellings"
    yield f"   sum over X = {show(math.fsum(in_x))}"
    yield f"   over all labellings, the sum over X has mean {show(size * both.mean())} and sd {show(spread)}"
    yield f"   S = sum over X - sum over Y = {show(result.test_statistic)}"
    if result.robustness and result.robustness.null:
        low, high = np.interp([0.025, 0.975], NULL_LEVELS, result.robustness.null)
        yield f"   95 % of random relabellings have d between {low:.3f} and {high:.3f}"


def _p(result: Result, x: Units, y: Units, correction: str | None, show: Show) -> Iterator[str]:
    ways = math.comb(len(x) + len(y), len(x))
    tail = {
        "greater": "a sum over X at least as large",
        "less": "a sum over X at least as small",
        "two-sided": "a sum over X at least as far from the mean",
        "observed": "a sum over X at least as extreme, on the observed side",
    }[result.alternative]
    yield ""
    if result.not_tested:
        yield "4. p: none; this row is measured, not tested"
        yield f"   {result.not_tested}"
        yield (
            "   Texts that share tokens are not independent. If tokens were pure noise, p by words would "
            f"be at most 0.05 in {100 * (result.expected_level or 0.0):.0f} % of models"
        )
        yield from _p_elements(result, show)
        return
    yield f"4. p: the share of all labellings with {tail} (alternative {result.alternative})"
    if result.p_method in EXACT and ways < 2**53:
        count = _count(round(result.p_value * ways))
        yield f"   p = {count} / {_count(ways)} = {show(result.p_value)}, counted ({result.p_method})"
    else:
        bounds = (
            f", between {show(result.p_low)} and {show(result.p_high)}"
            if result.p_low is not None and result.p_high is not None
            else ""
        )
        yield f"   p = {show(result.p_value)} by {result.p_method}{bounds}"
    yield f"   smallest p possible with sets of this size: {show(result.p_floor)}"
    if result.p_adjusted is not None:
        yield f"   p adjusted with {correction} for the rows of the run: {show(result.p_adjusted)}"
    yield from _p_elements(result, show)
    if result.outcome is not None and result.p_max_t is not None:
        yield f"   outcome: {result.outcome}; p adjusted for the tests of its topic: {show(result.p_max_t)}"
    if not result.mark:
        yield (
            "   Not significant: the labels may be exchangeable, or the test may be too small. This does "
            "not show that there is no association."
        )


def _p_elements(result: Result, show: Show) -> Iterator[str]:
    if result.p_elements is not None:
        d = "" if result.effect_size_elements is None else show(result.effect_size_elements)
        yield f"   with single sentences instead of words, as published: d = {d}, p = {show(result.p_elements)}"


def _robustness(result: Result, smallest: float | None) -> Iterator[str]:
    yield ""
    yield "5. How robust d is"
    yield from _in_contexts(result)
    robustness = result.robustness
    if robustness is None:
        yield (
            "   not computed, because the row is not tested"
            if result.not_tested
            else "   not computed; see --trust"
        )
        return
    level = f"{100 * robustness.level:g} %"
    yield f"   {level} for fixed attribute words: {_ends(result.ci_low, result.ci_high, robustness.fixed_reason)}"
    random = _ends(result.ci_random_low, result.ci_random_high, robustness.random_reason)
    yield f"   {level} for random attribute words: {random}"
    if result.effect_size_random is not None:
        kind = (
            "without the noise of the attribute words"
            if robustness.random_corrected
            else "not corrected for noise"
        )
        yield f"   d for random attribute words = {result.effect_size_random:.4f} ({kind})"
    if result.p_random is not None:
        yield f"   p for random attribute words = {result.p_random:.3g}, two-sided"
    if robustness.excluded_above is not None:
        small = f": smaller than {smallest:g}" if result.small else ""
        yield f"   rules out |d| above {robustness.excluded_above:.2f}{small}"
    if result.score_reliability is not None:
        yield f"   reliability of a word's score over attribute words: {result.score_reliability:.2f}"
    if robustness.bootstrap:
        b = robustness.bootstrap
        yield f"   bootstrap: BCa {b.bca_low:.4f} to {b.bca_high:.4f} (error of an end {b.monte_carlo_error:.3f})"
    sign = math.copysign(1, result.effect_size)
    left_out = [(w.effect_size, w) for w in robustness.left_out if w.effect_size is not None]
    for d, without in sorted(left_out, key=lambda pair: sign * pair[0])[:TELLING]:
        p = f", p = {without.p_value:.3g}" if without.p_value is not None else ""
        yield f"   without the {without.kind} '{without.name}' ({without.role}): d = {d:.4f}{p}"
    for size, chance in result.power.items():
        yield f"   power to detect an effect of {size} with sets of this size: {chance:.2f}"
    if result.minimum_detectable is not None:
        yield f"   the smallest effect detected with 80 % power: {result.minimum_detectable:.2f}"


LINES = 8
"""The number of concordance lines."""
SIDE = 28
"""Characters on each side of a word in a concordance line."""


def _in_contexts(result: Result) -> Iterator[str]:
    """Yield how d depends on the sentences of its words, if they were encoded in sentences."""
    found = result.notes.get("contexts")
    if not found:
        return
    used = sorted(found["used"].values())
    yield f"   sentences per word: {used[0]} to {used[-1]}"
    low, *_, high = found["band"]
    yield f"   d with one sentence per word: 95 % of {found['draws']} draws between {low:.2f} and {high:.2f}"
    if found["needed"] is not None:
        yield f"   sentences per word for d within ±{found['stable']:g} in 95 % of samples: {found['needed']}"
    if found["shares"]:
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in found["shares"].items())
        yield f"   variance of a score in one sentence (REML): {shares}"
    if found["lines"]:
        yield "   sentences that change d most (d minus d without them):"
    for line in found["lines"][:LINES]:
        left, word, right = map(one_line, line["line"])
        yield f"   {line['change']:+.3f} {left[-SIDE:]:>{SIDE}}[{word}]{right[:SIDE]}"


def _ends(low: float | None, high: float | None, reason: str | None) -> str:
    return f"{low:.4f} to {high:.4f}" if low is not None and high is not None else reason or "not computed"


def _scored_as_published(result: Result) -> bool:
    """Return whether single sentences were scored, as in the papers, instead of being averaged per word first."""
    return result.permute == "elements" or result.p_elements is None


def _reported(scores: Sequence[ElementScore], result: Result, seed: int) -> Iterator[Reported]:
    """Yield what each profile reports for the elements, since no profile exchanges words."""
    units = unit_scores(scores, "elements")
    x, y = (_values(_of_role(units, role)) for role in "XY")
    for profile in OF_SCORES:
        significance = profile.significance(x, y, profile.alternatives[0], np.random.default_rng(seed))
        yield Reported(
            profile.name, profile.effect_size(x, y), significance.p_value, "; ".join(_why(profile, result))
        )


def _why(profile: Profile, result: Result) -> Iterator[str]:
    if profile.ddof != result.ddof:
        yield "sd divided by n" if profile.ddof == 0 else "sd divided by n - 1"
    if profile.absolute:
        yield "|d|"
    if profile.alternatives[0] != result.alternative:
        yield f"alternative {profile.alternatives[0]}"
    yield profile.draws


def _others(result: Result, profiles: Sequence[Reported]) -> Iterator[str]:
    yield ""
    yield "6. What other tools would report from these scores (their vectors may differ, too)"
    yield f"   {'this run':<13} d = {_rounded(result.effect_size)}  p = {_p_rounded(result.p_value)}"
    if not _scored_as_published(result):
        yield (
            "   Papers and other tools score and exchange single sentences, but this run exchanges words. "
            f"For their d and p, run the test again with --profile NAME: {', '.join(each.name for each in OF_SCORES)}."
        )
        return
    for reported in profiles:
        d, p = _rounded(reported.effect_size), _p_rounded(reported.p_value)
        yield f"   {reported.profile:<13} d = {d}  p = {p}  {reported.why}"
    yield from (f"   {profile.name}: {profile.caution}." for profile in OF_SCORES)


def _value_steps(result: Result, show: Show, about: str) -> Iterator[str]:
    """Yield the steps of a metric other than WEAT: its scores, its value, and the value without bias."""
    yield from _head(result)
    yield f"1. Scores of {len(result.scores)} elements by {result.metric}"
    width = max((len(score.text) for score in result.scores), default=0)
    yield from (f"   {score.role}  {score.text:<{width}}  {show(score.score)}" for score in result.scores)
    if result.oov:
        yield f"   Unknown to the model: {result.oov}"
    yield from _token_steps(result, show, about)
    yield ""
    yield f"2. Value: {show(result.value)}; without bias it is {show(result.unbiased)}"
    if result.lean:
        yield f"   {result.direction}"
    for name, value in result.notes.get("details", {}).items():
        if isinstance(value, float):
            yield f"   {name}: {show(value)}"
    yield (
        f"   p = {show(result.p_value)} by {result.p_method}, {result.alternative}"
        if not result.why_no_p
        else f"   no p: {result.why_no_p}"
    )
    yield from _value_robustness(result)
    yield from _warnings(result)


def _token_steps(result: Result, show: Show, about: str) -> Iterator[str]:
    """Yield what each token of some sentence pairs adds to the scores of the two sentences.

    Raises:
        WeatherglassError: if no pair contains `about`.
    """
    tokens = result.notes.get("tokens", [])
    order = sorted(range(len(tokens)), key=lambda place: -abs(result.scores[place].score))[:MOST_TELLING]
    if about:
        wanted = about.casefold()
        read = [" ".join(text for text, _, _ in second) for _, second in tokens]
        scored = zip(result.scores, read, strict=False)
        texts = [f"{score.text} {score.word} {other}".casefold() for score, other in scored]
        order = [place for place, text in enumerate(texts) if wanted in text]
        if not order:
            raise WeatherglassError(
                f"no sentence pair of '{result.test}' with stored tokens contains '{about}'"
            )
    if order:
        yield ""
        yield "   What each token adds to the score of its sentence; tokens without a number do not count"
    for place in order:
        yield f"   {result.scores[place].text}  {show(result.scores[place].score)}"
        first, second = tokens[place]
        width = max(len(text) for text, _, _ in (*first, *second))
        yield f"     {'':<{width}} {'X':>12} {'Y':>12} {'X - Y':>12}"
        for x, y in _aligned(first, second):
            text = (x or y or ("",))[0]
            added = _added(x), _added(y)
            difference = None if added == (None, None) else (added[0] or 0.0) - (added[1] or 0.0)
            cells = ("" if value is None else show(value) for value in (*added, difference))
            yield f"     {text:<{width}} {' '.join(f'{cell:>12}' for cell in cells)}".rstrip()


def _aligned(first: Sequence[Token], second: Sequence[Token]) -> Iterator[tuple[Token | None, Token | None]]:
    """Yield the tokens of two sentences: a shared token of both, or a token that only one of them has."""
    one, other = ([text for text, _, _ in some] for some in (first, second))
    for kind, i, i_end, j, j_end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from zip(first[i:i_end], second[j:j_end], strict=True)
        else:
            yield from ((token, None) for token in first[i:i_end])
            yield from ((None, token) for token in second[j:j_end])


def _added(token: Token | None) -> float | None:
    """Return what a token adds to the score of its sentence; None if it does not count."""
    if token is None or token[1] is None or not token[2]:
        return None
    return float(token[1] * token[2])


def _value_robustness(result: Result) -> Iterator[str]:
    """Yield the interval, null distribution and leave-one-out values of a metric other than WEAT."""
    robustness = result.robustness
    if robustness is None:
        return
    yield ""
    yield "3. How robust it is"
    level = f"{100 * robustness.level:g} %"
    if result.ci_low is not None and result.ci_high is not None:
        ends = f"{result.ci_low:.4g} … {result.ci_high:.4g}"
        yield f"   {level} interval for other words in the sets that are exchanged for p: {ends}"
    if result.ci_random_low is not None and result.ci_random_high is not None:
        ends = f"{result.ci_random_low:.4g} … {result.ci_random_high:.4g}"
        yield f"   {level} interval for other words in all sets: {ends}"
    if robustness.null:
        low, middle, high = (
            robustness.null[round(level * (len(robustness.null) - 1))] for level in (0.025, 0.5, 0.975)
        )
        yield (
            f"   With exchanged labels, the median is {middle:.4g}, and 95 % of the values are between "
            f"{low:.4g} and {high:.4g}"
        )
    known = [left for left in robustness.left_out if left.effect_size is not None]
    for left in sorted(known, key=lambda left: -abs((left.effect_size or 0.0) - result.value))[:MOST_TELLING]:
        p = "" if left.p_value is None else f", p = {left.p_value:.3g}"
        yield f"   without {left.name} ({left.role}): {left.effect_size:.4g}{p}"


MOST_TELLING = 5


def _warnings(result: Result) -> Iterator[str]:
    if result.warnings:
        yield ""
        yield "Warnings"
        yield from (f"   {warning}" for line in folded(result.warnings) for warning in line.warnings)


def _number(value: float, digits: int) -> str:
    return "not defined" if math.isnan(value) else f"{value:.{digits}g}"


def _rounded(d: float) -> str:
    return "   none" if math.isnan(d) else f"{d:7.4f}"


def _p_rounded(p: float) -> str:
    return "none     " if math.isnan(p) else f"{p:<9.3g}"


def _count(number: int) -> str:
    return f"{number:,}".replace(",", " ") if number < 10**12 else f"{number:.3g}"

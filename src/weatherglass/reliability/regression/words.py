"""The explanation in plain words: sentences that follow from its numbers, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from weatherglass.reliability.regression.explain import Explanation, FittedModel, Part
from weatherglass.reliability.regression.observations import CONTINUOUS

NEXT_TO_NOTHING = 0.005
"""A factor without which the marginal R² loses less than this is said to explain next to nothing."""
OF_THE_WORD = ("log senses", "pos")
"""Factors that are the same in all rows of a word, so that (1|word) bears on their standard errors."""


def in_plain_words(part: Part) -> list[str]:
    """One reliability, a sentence or two a line; all but the last are of the model with words, if there is one."""
    model = preferred(part)
    fitted = part.models[model]
    lines = [
        _rows(part, fitted),
        _what_explains(fitted),
        _directions(part, model),
        _random_part(part, fitted),
        _signs(part, model),
    ]
    if {"as published", "with word"} <= set(part.models):
        lines.append(_what_words_change(part))
    return [line for line in lines if line]


def preferred(part: Part) -> str:
    """The model with a random intercept for words, or the published one where that could not be fitted."""
    return list(part.models)[-1]


def agreeing_everywhere(explanation: Explanation) -> list[str]:
    """Estimates that have the sign of the reproduction, and an interval without zero, in every reliability."""
    agreeing = [
        [name for name in _settled(part, preferred(part)) if part.agrees(preferred(part), name)]
        for part in explanation.parts
    ]
    return [name for name in agreeing[0] if all(name in other for other in agreeing)] if agreeing else []


def signs_that_differ(parts: Mapping[str, Part]) -> dict[str, dict[str, float]]:
    """Estimates of which the sign is not the same in all parts.

    Args:
        parts: the same reliability under several conditions, by name.

    Returns:
        Coefficient -> condition -> estimate, of the conditions that have it.
    """
    found: dict[str, dict[str, float]] = {}
    for condition, part in parts.items():
        for c in part.models[preferred(part)].fit.coefficients:
            found.setdefault(c.name, {})[condition] = c.estimate
    return {name: by for name, by in found.items() if min(by.values()) < 0 <= max(by.values())}


def listed(names: Iterable[str]) -> str:
    """a, b and c; none, if there are none."""
    *first, last = list(names) or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def _percent(share: float, digits: int = 0) -> str:
    rounded = round(100 * share, digits) + 0.0  # −0 is 0
    return f"{rounded:.{digits}f} %".replace("-", "−")


def _rows(part: Part, fitted: FittedModel) -> str:
    left = part.rows - fitted.fit.rows
    reasons = "; ".join(f"{rows:,} with {reason}" for reason, rows in part.dropped.items())
    return f"{fitted.fit.rows:,} of {part.rows:,} rows enter" + (
        f", {_percent(left / part.rows)} leave: {reasons}." if left else "."
    )


def _what_explains(fitted: FittedModel) -> str:
    """Which factor costs most when it is left out, of all and of those of a word, and which cost next to nothing."""
    lost = {factor: change.marginal for factor, change in fitted.changes.items()}
    if not lost or max(lost.values()) <= 0:
        return "The marginal R² loses nothing without any one factor."
    most = max(lost, key=lost.__getitem__)
    line = f"The marginal R² ({fitted.fit.r2.marginal:.3f}) loses most without {most} ({lost[most]:.4f})"
    of_words = {factor: loss for factor, loss in lost.items() if factor != "rule" and loss > 0}
    if most == "rule" and of_words:
        next_most = max(of_words, key=of_words.__getitem__)
        line += f", and of the features of a word without {next_most} ({of_words[next_most]:.4f})"
    little = [factor for factor, loss in lost.items() if abs(loss) < NEXT_TO_NOTHING]
    rising = [factor for factor, loss in lost.items() if loss <= -NEXT_TO_NOTHING]
    line += "." + (f" Less than {NEXT_TO_NOTHING} goes with {listed(little)}." if little else "")
    return line + (f" It rises without {listed(rising)}." if rising else "")


def _directions(part: Part, model: str) -> str:
    """Which continuous features go with higher and lower scores, the largest estimate first."""
    estimates = {c.name: c.estimate for c in part.models[model].fit.coefficients if c.name in CONTINUOUS}
    settled = sorted(
        (name for name in estimates if part.settled(model, name)), key=lambda name: -abs(estimates[name])
    )
    higher = [f"{name} (+{estimates[name]:.4f})" for name in settled if estimates[name] > 0]
    lower = [f"{name} (−{abs(estimates[name]):.4f})" for name in settled if estimates[name] < 0]
    line = f"Scores are higher with more of: {listed(higher)}; lower with more of: {listed(lower)}."
    unsure = [name for name in estimates if name not in settled]
    return line + (f" The interval holds zero for {listed(unsure)}." if unsure else "")


def _random_part(part: Part, fitted: FittedModel) -> str:
    shares = fitted.fit.shares
    if not shares:
        return ""
    most = max(shares, key=shares.__getitem__)
    known = part.published.r2.get(most)
    original = "" if known is None else f" ({known:.3f} in the original)"
    return (
        f"Of all variance {shares[most]:.3f} lies between the {fitted.fit.levels[most]} levels of {most}{original}: "
        "the largest share of a random factor."
    )


def _settled(part: Part, model: str) -> list[str]:
    """Estimates that the reproduction has too, and whose interval leaves out zero."""
    names = [c.name for c in part.models[model].fit.coefficients]
    return [name for name in names if part.settled(model, name) and part.agrees(model, name) is not None]


def _signs(part: Part, model: str) -> str:
    settled = _settled(part, model)
    same = [name for name in settled if part.agrees(model, name)]
    other = [name for name in settled if name not in same]
    return (
        f"Estimates whose interval leaves out zero: {len(same)} with the sign of the reproduction ({listed(same)}), "
        f"{len(other)} with the other ({listed(other)})."
    )


def _what_words_change(part: Part) -> str:
    """What the random intercept for words does to the published model."""
    published, with_word = (
        {c.name: c for c in part.models[model].fit.coefficients} for model in ("as published", "with word")
    )
    grown = [
        with_word[name].se / published[name].se - 1
        for name in published
        if name.partition(":")[0] in OF_THE_WORD
    ]
    turned = [name for name in published if published[name].estimate * with_word[name].estimate < 0]
    unsettled = [
        name for name in published if part.settled("as published", name) > part.settled("with word", name)
    ]
    gained = [
        name for name in published if part.settled("as published", name) < part.settled("with word", name)
    ]
    share = part.models["with word"].fit.shares.get("word", 0.0)
    line = f"(1|word) has {_percent(share, 1)} of the variance"
    if grown:
        line += (
            f" and changes the standard errors of {listed(OF_THE_WORD)} by {_percent(median(grown))} (median)"
        )
    line += f". Signs that change with it: {listed(turned)}; intervals that come to hold zero: {listed(unsettled)}"
    return line + (f"; that leave it: {listed(gained)}." if gained else ".")

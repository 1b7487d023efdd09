"""Sentences that state the result of the regressions in plain words, each computed from their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from weatherglass.reliability.regression.explain import Explanation, FittedModel, Part
from weatherglass.reliability.regression.fit import WEIGHTED
from weatherglass.reliability.regression.observations import CONTINUOUS

NEGLIGIBLE = 0.005
"""A factor explains next to nothing if the marginal R² loses less than this without it."""
WORD_FACTORS = ("log senses", "pos")
"""Factors that are the same in all rows of a word, so that (1|word) changes their standard errors."""


def plain_sentences(part: Part) -> list[str]:
    """The sentences on one reliability; all but the last are on the model with words, if it was fitted."""
    model = preferred_model(part)
    fitted = part.models[model]
    lines = [
        _row_sentence(part, fitted),
        _factor_sentence(fitted),
        _direction_sentence(part, model),
        _variance_sentence(part, fitted),
        _sign_sentence(part, model),
    ]
    if {"as published", "with word"} <= set(part.models):
        lines.append(_word_intercept_sentence(part))
    return [line for line in lines if line]


def preferred_model(part: Part) -> str:
    """The model with a random intercept for words, or the published one if that could not be fitted."""
    return [name for name in part.models if name != WEIGHTED][-1]


def agreeing_in_all(explanation: Explanation) -> list[str]:
    """Estimates with the sign of the reproduction and an interval that excludes zero, in every reliability."""
    agreeing = [
        [
            name
            for name in _comparable(part, preferred_model(part))
            if part.same_sign(preferred_model(part), name)
        ]
        for part in explanation.parts
    ]
    return [name for name in agreeing[0] if all(name in other for other in agreeing)] if agreeing else []


def differing_signs(parts: Mapping[str, Part]) -> dict[str, dict[str, float]]:
    """Estimates whose sign is not the same in all parts.

    Args:
        parts: the same reliability under several conditions, by name.

    Returns:
        Coefficient -> condition -> estimate.
    """
    estimates: dict[str, dict[str, float]] = {}
    for condition, part in parts.items():
        for c in part.models[preferred_model(part)].fit.coefficients:
            estimates.setdefault(c.name, {})[condition] = c.estimate
    return {name: by for name, by in estimates.items() if min(by.values()) < 0 <= max(by.values())}


def join_names(names: Iterable[str]) -> str:
    """The names as a phrase: "a, b and c", or "none"."""
    *first, last = list(names) or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def _percent(share: float, digits: int = 0) -> str:
    rounded = round(100 * share, digits) + 0.0  # −0 is 0
    return f"{rounded:.{digits}f} %".replace("-", "−")


def _row_sentence(part: Part, fitted: FittedModel) -> str:
    left = part.rows - fitted.fit.rows
    reasons = "; ".join(f"{rows:,} with {reason}" for reason, rows in part.dropped.items())
    return f"{fitted.fit.rows:,} of {part.rows:,} rows enter" + (
        f", {_percent(left / part.rows)} leave: {reasons}." if left else "."
    )


def _factor_sentence(fitted: FittedModel) -> str:
    """Which factor explains most, overall and among the features of a word, and which explain next to nothing."""
    lost = {factor: change.marginal for factor, change in fitted.changes.items()}
    if not lost or max(lost.values()) <= 0:
        return "The marginal R² loses nothing without any one factor."
    most = max(lost, key=lost.__getitem__)
    line = f"The marginal R² ({fitted.fit.r2.marginal:.3f}) loses most without {most} ({lost[most]:.4f})"
    word_losses = {factor: loss for factor, loss in lost.items() if factor != "rule" and loss > 0}
    if most == "rule" and word_losses:
        next_most = max(word_losses, key=word_losses.__getitem__)
        line += f", and of the features of a word without {next_most} ({word_losses[next_most]:.4f})"
    little = [factor for factor, loss in lost.items() if abs(loss) < NEGLIGIBLE]
    rising = [factor for factor, loss in lost.items() if loss <= -NEGLIGIBLE]
    line += "." + (f" Less than {NEGLIGIBLE} goes with {join_names(little)}." if little else "")
    return line + (f" It rises without {join_names(rising)}." if rising else "")


def _direction_sentence(part: Part, model: str) -> str:
    """Which continuous features raise and lower the scores, the largest estimate first."""
    estimates = {c.name: c.estimate for c in part.models[model].fit.coefficients if c.name in CONTINUOUS}
    significant = sorted(
        (name for name in estimates if part.excludes_zero(model, name)),
        key=lambda name: -abs(estimates[name]),
    )
    higher = [f"{name} (+{estimates[name]:.4f})" for name in significant if estimates[name] > 0]
    lower = [f"{name} (−{abs(estimates[name]):.4f})" for name in significant if estimates[name] < 0]
    line = f"Scores are higher with more of: {join_names(higher)}; lower with more of: {join_names(lower)}."
    unsure = [name for name in estimates if name not in significant]
    return line + (f" The interval contains zero for {join_names(unsure)}." if unsure else "")


def _variance_sentence(part: Part, fitted: FittedModel) -> str:
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


def _comparable(part: Part, model: str) -> list[str]:
    """Estimates that the reproduction has, too, and whose interval excludes zero."""
    names = [c.name for c in part.models[model].fit.coefficients]
    return [
        name for name in names if part.excludes_zero(model, name) and part.same_sign(model, name) is not None
    ]


def _sign_sentence(part: Part, model: str) -> str:
    significant = _comparable(part, model)
    same = [name for name in significant if part.same_sign(model, name)]
    other = [name for name in significant if name not in same]
    return (
        f"Estimates whose interval excludes zero: {len(same)} with the sign of the reproduction ({join_names(same)}), "
        f"{len(other)} with the other ({join_names(other)})."
    )


def _word_intercept_sentence(part: Part) -> str:
    """What the random intercept for words changes in the published model."""
    published, with_word = (
        {c.name: c for c in part.models[model].fit.coefficients} for model in ("as published", "with word")
    )
    se_changes = [
        with_word[name].se / published[name].se - 1
        for name in published
        if name.partition(":")[0] in WORD_FACTORS
    ]
    changed_signs = [name for name in published if published[name].estimate * with_word[name].estimate < 0]
    no_longer = [
        name
        for name in published
        if part.excludes_zero("as published", name) > part.excludes_zero("with word", name)
    ]
    newly = [
        name
        for name in published
        if part.excludes_zero("as published", name) < part.excludes_zero("with word", name)
    ]
    share = part.models["with word"].fit.shares.get("word", 0.0)
    line = f"(1|word) has {_percent(share, 1)} of the variance"
    if se_changes:
        change = _percent(median(se_changes))
        line += f" and changes the standard errors of {join_names(WORD_FACTORS)} by {change} (median)"
    line += f". Signs that change with it: {join_names(changed_signs)}"
    line += f"; intervals that now contain zero: {join_names(no_longer)}"
    return line + (f"; that no longer contain it: {join_names(newly)}." if newly else ".")

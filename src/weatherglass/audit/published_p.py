"""p as the papers compute it, from a result by words: one-sided, single words or sentences exchanged."""

from __future__ import annotations

from weatherglass.audit.results import Result


def published_p(result: Result) -> float | None:
    """The one-sided p of Caliskan et al. and May et al.; None where it does not follow from what a result holds.

    X and Y of one size can change places, so that the statistic is symmetric around 0 under the null hypothesis: a
    two-sided p is twice the one-sided one of the observed side. With d below 0, what equals the observed value is not
    counted, which is one partition in a great many.
    """
    if not result.info.from_scores or not result.signed:
        return None
    p = result.p_value if result.p_elements is None else result.p_elements
    d = result.value if result.effect_size_elements is None else result.effect_size_elements
    if p != p or d != d:
        return None
    if result.alternative == "greater":
        return p
    if result.alternative != "two-sided" or len(set(result.target_sizes)) != 1:
        return None
    return p / 2 if d > 0 else 1 - p / 2

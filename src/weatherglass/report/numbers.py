"""Format numbers for readers, with minus signs and superscript exponents; split names into words."""

from __future__ import annotations

import math
import re

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ABSENT = "–"


def effect(d: float | None) -> str:
    """Two decimals, as papers print d.

    >>> effect(-0.254)
    '−0.25'
    """
    if d is None or math.isnan(d):
        return ABSENT
    return f"{d:.2f}".replace("-0.00", "0.00").replace("-", "−")


def p_value(p: float | None) -> str:
    """Two significant digits.

    >>> p_value(0.0342), p_value(2.63e-10)
    ('0.034', '2.6 × 10⁻¹⁰')
    """
    if p is None or math.isnan(p):
        return ABSENT
    if p >= 0.0995:
        return f"{p:.2f}"
    if p >= 0.00095:
        return f"{p:.2g}"
    if p <= 0:
        return "0"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def interval(low: float | None, high: float | None) -> str:
    """Both ends in brackets; empty if there is no interval."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f"[{effect(low)}, {effect(high)}]"


def percent(share: float) -> str:
    """The level of an interval.

    >>> percent(1 - 0.05)
    '95 %'
    """
    return f"{100 * share:g} %"


def spaced(name: str) -> str:
    """A category name with spaces between its words.

    >>> spaced("EuropeanAmericanNames")
    'European American Names'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def rounded(value: float | None, digits: int = 5) -> float | None:
    """The number with so many significant digits; None if it is missing or not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")

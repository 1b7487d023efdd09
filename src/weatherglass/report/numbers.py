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


def p_value(p: float | None, alpha: float = 0.05) -> str:
    """Return p with two significant digits, or as many as show on which side of alpha it lies.

    >>> p_value(0.0342), p_value(2.63e-10), p_value(0.05003), p_value(0.049999)
    ('0.034', '2.6 × 10⁻¹⁰', '0.05003', '0.049999')
    """
    if p is None or math.isnan(p):
        return ABSENT
    if p >= 0.00095:
        return p_digits(p, alpha)
    if p <= 0:
        return "0"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def p_digits(p: float, alpha: float) -> str:
    """Return a p that is not tiny in decimals; rounding never moves it to the other side of alpha, nor onto it."""
    text = f"{p:.2f}" if p >= 0.0995 else f"{p:.2g}"
    digits = 3
    while (float(text) <= alpha) != (p <= alpha) or (float(text) == alpha != p):
        if digits > 17:
            break
        text = f"{p:.{digits}g}"
        digits += 1
    return text


def bound(end: float) -> str:
    """Return an end of an interval: two decimals, or as many as show its sign.

    >>> bound(0.004), bound(-0.0003), bound(1.234), bound(0.0)
    ('0.004', '−0.0003', '1.23', '0.00')
    """
    if end == 0 or abs(end) >= 0.005:
        return effect(end)
    return f"{end:.{-math.floor(math.log10(abs(end)))}f}".replace("-", "−") if abs(end) > 1e-9 else "0.00"


def to(low: float, high: float) -> str:
    """Return both ends of an interval, as a sentence has them.

    >>> to(-0.421, 1.51)
    '−0.42 to 1.51'
    """
    return f"{bound(low)} to {bound(high)}"


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural unless it is one.

    >>> counted(1, "test"), counted(46, "test")
    ('1 test', '46 tests')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def interval(low: float | None, high: float | None) -> str:
    """Both ends in brackets; empty if there is no interval."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f"[{bound(low)}, {bound(high)}]"


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

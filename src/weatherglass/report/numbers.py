"""Format numbers for readers, with minus signs and superscript exponents, and split names into words."""

from __future__ import annotations

import math
import re

from weatherglass.warnings import counted as counted

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ABSENT = "–"


def effect(d: float | None) -> str:
    """Return d with two decimals, as papers print it.

    >>> effect(-0.254)
    '−0.25'
    """
    if d is None or math.isnan(d):
        return ABSENT
    return f"{d:.2f}".replace("-0.00", "0.00").replace("-", "−")


def p_value(p: float | None, alpha: float = 0.05) -> str:
    """Return p with two significant digits, or with enough digits to show on which side of alpha it lies.

    >>> p_value(0.0342), p_value(2.63e-10), p_value(0.05003), p_value(0.049999)
    ('0.034', '2.6 × 10⁻¹⁰', '0.05003', '0.049999')
    """
    if p is None or math.isnan(p):
        return ABSENT
    if p <= 0:
        return "0"
    if p < 0.00095:
        mantissa, exponent = f"{p:.1e}".split("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    text = f"{p:.2f}" if p >= 0.0995 else f"{p:.2g}"
    digits = 3
    while digits <= 17 and ((float(text) <= alpha) != (p <= alpha) or float(text) == alpha != p):
        text = f"{p:.{digits}g}"
        digits += 1
    return text


def bound(end: float) -> str:
    """Return an end of an interval with two decimals, or with enough digits to show its sign.

    >>> bound(0.004), bound(-0.0003), bound(1.234), bound(0.0)
    ('0.004', '−0.0003', '1.23', '0.00')
    """
    if end == 0 or abs(end) >= 0.005:
        return effect(end)
    return f"{end:.{-math.floor(math.log10(abs(end)))}f}".replace("-", "−") if abs(end) > 1e-9 else "0.00"


def to(low: float, high: float) -> str:
    """Return both ends of an interval, for a sentence.

    >>> to(-0.421, 1.51)
    '−0.42 to 1.51'
    """
    return f"{bound(low)} to {bound(high)}"


def interval(low: float | None, high: float | None) -> str:
    """Return both ends in brackets; empty if there is no interval."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f"[{bound(low)}, {bound(high)}]"


def percent(share: float) -> str:
    """Return a share in per cent.

    >>> percent(1 - 0.05)
    '95 %'
    """
    return f"{100 * share:g} %"


def spaced(name: str) -> str:
    """Return a category name with spaces between its words.

    >>> spaced("EuropeanAmericanNames")
    'European American Names'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def rounded(value: float | None, digits: int = 5) -> float | None:
    """Return the number with this many significant digits; None if it is missing or not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def format_effect(d: float | None, decimals: int = 2) -> str:
    """Return d for a column of a terminal, padded, with two decimals and a minus sign; other values have three."""
    if d is None or math.isnan(d):
        return "–"
    zero = f"{0:.{decimals}f}"
    return f"{d:{decimals + 3}.{decimals}f}".replace(f"-{zero}", f" {zero}").replace("-", "−")


def format_interval(low: float | None, high: float | None, decimals: int = 2) -> str:
    """Return the two ends, padded so that they align in a column.

    >>> format_interval(-0.421, 1.51), format_interval(-1.5, -0.98)
    ('−0.42 …  1.51', '−1.50 … −0.98')
    """
    if low is None or high is None:
        return "–"
    ends = (
        bound(end) if abs(end) < 0.005 and decimals == 2 else format_effect(end, decimals)
        for end in (low, high)
    )
    return " … ".join(f"{end:>5}" for end in ends)


def format_p(p: float | None, alpha: float = 0.05) -> str:
    """Return p for a terminal, like 0.034 or 2.6e-10, with enough digits to show its side of alpha; empty if there is
    no p.
    """
    if p is None or math.isnan(p):
        return ""
    if p == 0:
        return "0"
    return f"{p:.1e}".replace("e-0", "e-") if p < 0.001 else p_value(p, alpha)

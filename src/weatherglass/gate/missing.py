"""Arithmetic and logic in which a value may be missing; None stands for it (Kleene's three truth values)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATIONS: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def number(value: object) -> float | None:
    """A number that can be compared, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return None if math.isnan(value) else float(value)


def truth(value: object) -> bool | None:
    """A truth value, or None."""
    return value if isinstance(value, bool) else None


def compared(symbol: str, left: object, right: object) -> bool | None:
    """Undecided where a side is missing."""
    return None if left is None or right is None else COMPARISONS[symbol](left, right)


def both(left: bool | None, right: bool | None) -> bool | None:
    """False where a side is false, whatever the other."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def either(left: bool | None, right: bool | None) -> bool | None:
    """True where a side is true, whatever the other."""
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def negation(value: bool | None) -> bool | None:
    """What is undecided stays so."""
    return None if value is None else not value


def applied(function: Callable[[float], float], value: float | None) -> float | None:
    """The function of a number, or None."""
    return None if value is None else function(value)


def calculated(symbol: str, left: float | None, right: float | None) -> float | None:
    """Missing where a side is, where a divisor is 0, and where the result is no number."""
    if left is None or right is None or (symbol == "/" and right == 0):
        return None
    return number(OPERATIONS[symbol](left, right))

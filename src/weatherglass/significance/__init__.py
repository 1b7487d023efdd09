"""How often labels drawn at random would do as well: p-values of the permutation test (METHODS 3)."""

from __future__ import annotations

from weatherglass.significance.base import ALTERNATIVES, Alternative, Budget, Significance
from weatherglass.significance.choose import METHODS, permutation_test
from weatherglass.significance.correction import CORRECTIONS, adjust

__all__ = [
    "ALTERNATIVES",
    "CORRECTIONS",
    "METHODS",
    "Alternative",
    "Budget",
    "Significance",
    "adjust",
    "permutation_test",
]

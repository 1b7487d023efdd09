"""How often labels drawn at random would do as well: p-values of the permutation test (METHODS 3).

Importing this loads neither numba nor scipy; `weatherglass.significance.prepare` compiles the kernels ahead of time.
"""

from __future__ import annotations

from weatherglass.significance.base import ALTERNATIVES, Alternative, Budget, Significance
from weatherglass.significance.choose import METHODS, permutation_test
from weatherglass.significance.correction import CORRECTIONS, Correction, adjust

__all__ = [
    "ALTERNATIVES",
    "CORRECTIONS",
    "METHODS",
    "Alternative",
    "Budget",
    "Correction",
    "Significance",
    "adjust",
    "permutation_test",
]

"""Compute p-values of the permutation test: the share of relabellings at least as extreme (docs/methods 3).

Importing this package loads neither numba nor scipy; `kernels.prepare` compiles the kernels ahead of time.
"""

from __future__ import annotations

from weatherglass.stats import ALTERNATIVES, Alternative, Budget, Significance
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.permutation.choose import METHODS, permutation_test

__all__ = [
    "ALTERNATIVES",
    "METHODS",
    "Alternative",
    "Budget",
    "Significance",
    "adjust",
    "permutation_test",
]

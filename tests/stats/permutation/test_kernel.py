"""Machine code on the disk: loaded without what compiling needs, and no worse for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = """
import sys
import numpy as np
from weatherglass.stats.permutation.choose import permutation_test
scores = np.sin(np.arange(26.0))
print(permutation_test(scores[:13], scores[13:], method="meet-in-the-middle").p_value)
print("numba.np.polynomial.polynomial_core" in sys.modules)
from numba import njit
print(njit(lambda x: np.sort(x @ x)[0, 0])(np.eye(2)[::-1].copy()))
"""


@pytest.mark.large
def test_kernels_are_loaded_without_the_compiler_which_works_all_the_same(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, again = (
        subprocess.run(
            [sys.executable, "-c", COUNT], env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    )
    assert first[0] == again[0]
    assert (first[1], again[1]) == ("True", "False")
    assert first[2] == again[2] == "0.0"

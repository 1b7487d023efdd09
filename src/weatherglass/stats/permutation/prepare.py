"""Compile the permutation kernels once on a machine, before a run needs them, and say so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weatherglass.stats.permutation.bounds import bound_tail
from weatherglass.stats.permutation.enumerate import count_by_enumeration
from weatherglass.stats.permutation.grid import on_grid
from weatherglass.stats.permutation.kernel import all_cached
from weatherglass.stats.permutation.meet import count_by_meeting
from weatherglass.stats.permutation.tail import as_extreme_as

LATTICE = "weatherglass.stats.permutation.lattice"
COMPILING = "compiling the permutation kernels (once on this machine)"


def prepare(progress: Callable[[str], None] | None = None) -> None:
    """Compile the kernels that are not on disk yet, and tell `progress` so: it takes some seconds.

    A process loads each kernel when it first needs it. The kernel of the lattice is compiled at its first use: only
    scores with a common spacing need it.
    """
    if all_cached(besides=LATTICE):
        return
    if progress is not None:
        progress(COMPILING)
    load_kernels()


def load_kernels() -> None:
    """Load every kernel except the lattice's into this process, compiling those that are not on disk."""
    grid = on_grid(np.array([1.0, 3.0, 6.0]), np.array([2.0, 4.0, 5.0]))
    (tail,) = as_extreme_as(grid, 8, "greater").tails(grid)
    count_by_enumeration(tail, work=1000)
    count_by_meeting(tail, bytes_allowed=1000)
    bound_tail(tail, precision=0.5, work=1000)

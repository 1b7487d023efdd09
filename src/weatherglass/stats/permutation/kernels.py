"""Compile the permutation kernels with numba and cache them on disk before a run needs them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_KERNELS: list[Any] = []


def compiled(function: Function) -> Function:
    """Compile a function at its first call and cache the machine code in a folder that numba chooses.

    The folder is next to the source or, for a read-only installation, in the user's cache; if neither is writable,
    each process compiles the code again.

    Cached code is loaded without the modules that only compilation needs. By default, numba first imports everything
    that it can compile (BLAS, random numbers, text, …), which takes longer than loading these kernels. numba imports
    these modules anyway before it compiles, so that nothing is missing. This depends on numba's internals; if they
    change in a new version, numba loads the kernel in its usual way.
    """
    try:
        kernel = njit(cache=True, error_model="numpy")(function)
    except RuntimeError:
        kernel = njit(error_model="numpy")(function)
    _KERNELS.append(kernel)
    cache = getattr(kernel, "_cache", None)
    load = getattr(cache, "_load_overload", None)
    guarded = getattr(cache, "_guard_against_spurious_io_errors", None)
    if cache is None or load is None or guarded is None:
        return cast(Function, kernel)

    def load_overload(signature: Any, target_context: Any) -> Any:
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize(target_context)
        try:
            with guarded():
                return load(signature, target_context)
        except Exception:  # a damaged pickle can raise anything; the kernel is compiled again and replaces it
            with contextlib.suppress(OSError):
                cache.flush()
            return None

    cache.load_overload = load_overload
    return cast(Function, kernel)


def all_cached(besides: str = "") -> bool:
    """Return whether every imported kernel, except the one named, has its machine code in memory or cached on disk.

    The index on disk must contain code for the current source. A kernel whose state numba does not report counts as
    cached.

    Args:
        besides: the name of the one kernel that is not checked.
    """
    for kernel in _KERNELS:
        if kernel.signatures or kernel.py_func.__name__ == besides:
            continue
        file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
        load_index = getattr(file, "_load_index", None)
        try:
            cached = kernel.stats.cache_path is not None if load_index is None else bool(load_index())
        except Exception:  # a damaged pickle can raise anything
            return False
        if not cached:
            return False
    return True


LATTICE = "_count_sums"
"""The kernel that is compiled at its first use, because only scores with a common spacing need it."""
COMPILING = "compiling the permutation kernels (once on this machine)"


def prepare(progress: Callable[[str], None] | None = None) -> None:
    """Compile the kernels that are not on disk yet, which takes a few seconds, and report progress.

    A process loads each kernel when it first needs it.
    """
    from weatherglass.stats.permutation import bounds, exact  # noqa: F401 - they register their kernels

    if all_cached(besides=LATTICE):
        return
    if progress is not None:
        progress(COMPILING)
    load_kernels()


def load_kernels() -> None:
    """Load all kernels except the lattice kernel into this process, compiling those that are not on disk."""
    from weatherglass.stats.permutation.bounds import bound_tail
    from weatherglass.stats.permutation.exact import count_by_enumeration
    from weatherglass.stats.permutation.grid import as_extreme_as, on_grid
    from weatherglass.stats.permutation.meet_in_the_middle import count_by_meeting

    grid = on_grid(np.array([1.0, 3.0, 6.0]), np.array([2.0, 4.0, 5.0]))
    (tail,) = as_extreme_as(grid, 8, "greater").tails(grid)
    count_by_enumeration(tail, work=1000)
    count_by_meeting(tail, bytes_allowed=1000)
    bound_tail(tail, precision=0.5, work=1000)

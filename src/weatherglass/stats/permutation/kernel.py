"""Compiled loops: numba with a cache on disk, or without one where nothing can be written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_KERNELS: list[Any] = []


def compiled(function: Function) -> Function:
    """Compile at the first call and keep the machine code; numba finds a folder that can be written to.

    It is beside the source or, for a read-only installation, in the user's cache; if neither will do, each process
    compiles the code again.

    The kernel is loaded from the disk without what only compiling needs. Before numba looks for machine code, it
    imports all that it can compile (BLAS, random numbers, text, …), which takes longer than loading these kernels. It
    does so once more before it compiles, so that nothing is missing then. This depends on the internals of numba; in a
    version that has others, numba loads the kernel in its own way.
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
        except Exception:  # a damaged pickle can raise anything: the kernel is compiled again and replaces it
            with contextlib.suppress(OSError):
                cache.flush()
            return None

    cache.load_overload = load_overload
    return cast(Function, kernel)


def all_cached(besides: str = "") -> bool:
    """Return whether machine code of every kernel imported so far, except those of one module, is in memory or on disk.

    numba's index on disk must have code of the source as it is now. A kernel counts as cached where numba cannot be
    asked.
    """
    for kernel in _KERNELS:
        if kernel.signatures or kernel.py_func.__module__ == besides:
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

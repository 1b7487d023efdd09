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

    It is beside the source or, for a read-only installation, in the user's cache; if neither will do, the code is
    compiled anew in each process.
    """
    try:
        kernel = njit(cache=True, error_model="numpy")(function)
    except RuntimeError:
        kernel = njit(error_model="numpy")(function)
    _load_lightly(kernel)
    _KERNELS.append(kernel)
    return cast(Function, kernel)


def _load_lightly(kernel: Any) -> None:
    """Have this kernel loaded from the disk without what only compiling needs.

    Before numba looks for machine code, it imports all that it can compile (BLAS, random numbers, text, …), which takes
    longer than to load these kernels. It does so once more before it compiles, so that nothing is missing then. This
    reaches into numba; where a version of it has other insides, its own way remains.
    """
    cache = getattr(kernel, "_cache", None)
    load, guarded = (
        getattr(cache, "_load_overload", None),
        getattr(cache, "_guard_against_spurious_io_errors", None),
    )
    if cache is None or load is None or guarded is None:
        return

    def load_overload(signature: Any, target_context: Any) -> Any:
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize(target_context)
        try:
            with guarded():
                return load(signature, target_context)
        except Exception:  # a damaged pickle can raise anything: compiled anew, and written over it
            with contextlib.suppress(OSError):
                cache.flush()
            return None

    cache.load_overload = load_overload


def all_cached(besides: str = "") -> bool:
    """Whether machine code of every kernel imported so far, `besides` those of one module, is at hand or on disk."""
    asked = (kernel for kernel in _KERNELS if kernel.py_func.__module__ != besides)
    return all(kernel.signatures or _cached(kernel) for kernel in asked)


def _cached(kernel: Any) -> bool:
    """Whether numba's index on disk has code of the source as it is now; yes where numba cannot be asked."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    load_index = getattr(file, "_load_index", None)
    if load_index is None:
        return kernel.stats.cache_path is not None
    try:
        return bool(load_index())
    except Exception:  # a damaged pickle can raise anything
        return False

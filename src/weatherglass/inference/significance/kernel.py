"""Compiled loops: numba with a cache on disk, or without one where nothing can be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
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
    _KERNELS.append(kernel)
    return cast(Function, kernel)


def all_cached(besides: str = "") -> bool:
    """Whether machine code of every kernel imported so far, `besides` those of one module, is on disk and newer than
    its source.
    """
    asked = (kernel for kernel in _KERNELS if kernel.py_func.__module__ != besides)
    return all(kernel.signatures or _cached(kernel) for kernel in asked)


def _cached(kernel: Any) -> bool:
    folder = kernel.stats.cache_path
    if folder is None:
        return False
    source = kernel.py_func.__code__
    written = Path(source.co_filename).stat().st_mtime
    indexes = Path(folder).glob(f"*{kernel.__name__}-{source.co_firstlineno}.*.nbi")
    return any(index.stat().st_mtime >= written for index in indexes)

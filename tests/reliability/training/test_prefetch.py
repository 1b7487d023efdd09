"""Prefetching changes when memory is read, never what is computed; without numba's inner functions it is left out."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numba import njit

from weatherglass.reliability.training import glove
from weatherglass.reliability.training.glove import CONTEXT, PAIR, WORD, descend, initial_parameters


def compiled_anew() -> Any:
    """`descend`, with nothing taken from numba's cache on disk."""
    return njit(nogil=True, fastmath=True, error_model="numpy")(descend.py_func)


def trained(function: Any) -> tuple[bytes, str]:
    """The parameters after two passes over random pairs, and the code that they were computed by."""
    rng = np.random.default_rng(7)
    pairs = np.zeros(500, dtype=PAIR)
    pairs["word"], pairs["context"] = rng.integers(0, 40, (2, 500))
    pairs["log"], pairs["weight"] = rng.normal(size=500), rng.random(500)
    words, contexts = (initial_parameters(rng, 40, 150, side) for side in (WORD, CONTEXT))
    for _ in range(2):
        function(pairs, words, contexts, np.float32(0.05))
    code = next(iter(function.inspect_llvm().values()))
    return words.tobytes() + contexts.tobytes(), code


def test_the_compiled_training_prefetches() -> None:
    assert "@llvm.prefetch" in trained(compiled_anew())[1]


def test_without_numbas_inner_functions_the_same_bytes_are_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = trained(compiled_anew())
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "numba.np.arrayobj", None)  # importing it is an ImportError from here on
        bytes_without, code = trained(compiled_anew())
    assert "@llvm.prefetch" not in code
    assert bytes_without == expected


def test_inner_functions_with_other_arguments_are_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_another_version(*_: object) -> None:
        raise TypeError("get_item_pointer() takes other arguments")

    monkeypatch.setattr(glove, "_generate_prefetch", of_another_version)
    assert "@llvm.prefetch" not in trained(compiled_anew())[1]

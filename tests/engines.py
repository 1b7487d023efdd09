"""An engine for tests: what other processes would get and give, without the seconds that they take to start."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from weatherglass.arrays import AnyMatrix
from weatherglass.errors import UnitError
from weatherglass.parallel import ENGINES, Backend, EngineOptions, JobOutcome
from weatherglass.parallel.base import attempt

NAME = "copied:"
DIED = "its process died 3 times, perhaps for lack of memory; use fewer jobs"
"""The scheduler that asks for it, once it is registered."""


class Copied:
    """Computes pickled copies of units, the last one first, with a common array that nobody can write to."""

    in_process = False

    def __init__(self) -> None:
        self.seen: list[Any] = []
        """All units that were computed."""
        self.dies_with: Callable[[Any], bool] = lambda unit: False  # noqa: ARG005
        """Whether a unit kills its process, however often it is tried."""

    def map(
        self, function: Callable[..., Any], units: Iterable[Any], common: AnyMatrix | None = None
    ) -> Iterator[JobOutcome[Any, Any]]:
        shared = () if common is None else (np.array(common),)
        for array in shared:
            array.setflags(write=False)
        for unit in reversed(list(units)):
            self.seen.append(unit)
            if self.dies_with(unit):
                yield JobOutcome(
                    unit,
                    error=UnitError(DIED),
                )
                continue
            called, copy = pickle.loads(pickle.dumps((function, unit)))
            yield JobOutcome(unit, *pickle.loads(pickle.dumps(attempt(called, copy, *shared))))


def register(monkeypatch: pytest.MonkeyPatch) -> Copied:
    """Register the engine until the end of the test."""
    engine = Copied()

    def same(options: EngineOptions) -> Backend:
        assert options.address == ""
        return engine

    monkeypatch.setitem(ENGINES._registered, NAME.removesuffix(":"), same)
    return engine

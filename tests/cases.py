"""Many cases of one kind: make test runs a few of them, make test-all runs all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every(step: int, cases: Iterable[Any]) -> list[Any]:
    """Return the cases with all but the first of each `step` marked large; a tuple is the values of one case."""
    return [
        case
        if place % step == 0
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.large)
        for place, case in enumerate(cases)
    ]

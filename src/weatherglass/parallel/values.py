"""The values of units in their order, wherever they are computed; for work that is useless if a unit fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from weatherglass.arrays import AnyMatrix
from weatherglass.parallel.base import Backend, R, U
from weatherglass.progress import Progress


def values_of(
    workers: Backend,
    function: Callable[..., R],
    units: Sequence[U],
    progress: Progress,
    common: AnyMatrix | None = None,
) -> list[R]:
    """Return `function(unit)` of every unit, in the order of the units; `progress` advances with each.

    Args:
        workers: where the units are computed.
        function: as in `Backend.map`.
        units: as in `Backend.map`; no object may be in it twice.
        progress: its stage has one step per unit.
        common: as in `Backend.map`.

    Raises:
        Exception: the error of the first unit that failed.
    """
    values: dict[int, R] = {}
    for outcome in workers.map(function, units, common):
        if outcome.error is not None:
            raise outcome.error
        values[id(outcome.unit)] = cast(R, outcome.value)
        progress.advance()
    return [values[id(unit)] for unit in units]

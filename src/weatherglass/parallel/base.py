"""Define the protocol of backends, which compute independent, idempotent jobs and yield their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np

from weatherglass.arrays import AnyMatrix, Matrix, Vector
from weatherglass.progress import Progress

U = TypeVar("U")
R = TypeVar("R")

ATTEMPTS = 3
"""The number of attempts at a job whose process or machine is lost."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[U, R]):
    """A job and its outcome, which is a value or the error that it raised."""

    unit: U
    value: R | None = None
    error: Exception | None = None


class Backend(Protocol):
    """The interface of a backend, which computes jobs.

    Jobs are idempotent, since a job may be computed twice if a worker is lost.
    """

    @property
    def in_process(self) -> bool:
        """Return whether jobs use this process's objects; in other processes they use copies."""
        ...

    def map(
        self, function: Callable[..., R], units: Iterable[U], common: AnyMatrix | None = None
    ) -> Iterator[Outcome[U, R]]:
        """Return the outcomes of `function(unit)` as they finish, in any order; a failed job does not stop the others.

        Args:
            function: a function that can be imported by name, since it may run in another process.
            units: the jobs, as small objects that are created when needed.
            common: a large array that all jobs need; it is sent to each worker once, and passed as the second
                argument.
        """
        ...


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Options that the user chose for an engine."""

    jobs: int = 1
    address: str = ""
    """The text after ENGINE: in --scheduler; empty if there is none."""
    shared_dir: Path | None = None
    """A folder that this machine and all workers see under the same path."""


Engine = Callable[[EngineOptions], Backend]


def attempt(function: Callable[..., R], *arguments: Any) -> tuple[R | None, Exception | None]:
    """Return the value of a call, or the error that it raised; Ctrl-C is raised, not returned."""
    try:
        return function(*arguments), None
    except Exception as error:
        # Compiled code that is interrupted raises a SystemError, whose cause is the interrupt.
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        return None, error


def values_of(
    workers: Backend,
    function: Callable[..., R],
    units: Sequence[U],
    progress: Progress,
    common: AnyMatrix | None = None,
) -> list[R]:
    """Return `function(unit)` for every job, in the order of `units`; `progress` advances with each.

    Args:
        workers: where the jobs are computed.
        function: as in `Backend.map`.
        units: as in `Backend.map`; no object may occur in it twice.
        progress: its stage has one step per job.
        common: as in `Backend.map`.

    Raises:
        Exception: the error of the first job that failed.
    """
    values: dict[int, R] = {}
    for outcome in workers.map(function, units, common):
        if outcome.error is not None:
            raise outcome.error
        values[id(outcome.unit)] = cast(R, outcome.value)
        progress.advance()
    return [values[id(unit)] for unit in units]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a matrix in the packed array."""

    start: int
    rows: int
    width: int

    def of(self, packed: AnyMatrix) -> Matrix:
        """Return the matrix, without copying it."""
        end = self.start + self.rows * self.width
        return np.asarray(packed[self.start : end], dtype=np.float64).reshape(self.rows, self.width)


def pack(matrices: Sequence[Matrix]) -> tuple[list[Place], Vector]:
    """Return the place of each matrix, whatever its width, and the one-dimensional array that contains all
    matrices.
    """
    places, start = [], 0
    for matrix in matrices:
        places.append(Place(start, *matrix.shape))
        start += matrix.size
    if len(matrices) == 1:
        return places, matrices[0].reshape(-1)  # the usual case: one large matrix is not copied
    packed = np.empty(start)
    for place, matrix in zip(places, matrices, strict=True):
        place.of(packed)[:] = matrix
    return places, packed

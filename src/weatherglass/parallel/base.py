"""Define the protocol of backends, which compute independent, idempotent jobs, and show progress within jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, cast

import numpy as np

from weatherglass.arrays import AnyMatrix, Matrix, Vector
from weatherglass.progress import Progress
from weatherglass.storage.atomic import UNFINISHED

U = TypeVar("U")
R = TypeVar("R")

ATTEMPTS = 3
"""The number of attempts at a job whose process or machine is lost."""


@dataclass(frozen=True, slots=True)
class JobOutcome(Generic[U, R]):
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
    ) -> Iterator[JobOutcome[U, R]]:
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


STEPS = 1000
"""The size in bytes of a job's progress file when the job is finished."""
EVERY = 0.5
"""The number of seconds between two readings of the progress files."""

Report = Callable[[float], None]
"""A function that is called with shares of a job's work; the shares sum to 1."""


class UnitProgress:
    """Advance a progress by one step per job, in parts as the job reports them.

    A job is named by its target, the file that it will write. A job in another process appends to a small file next
    to its output; this process reads the size of that file.
    """

    def __init__(self, progress: Progress, targets: Sequence[Path], in_process: bool) -> None:
        """Set up the progress of some jobs.

        Args:
            progress: its stage has one step per job.
            targets: the files that the jobs will write.
            in_process: whether jobs call `add`; otherwise their files are read while the block runs.
        """
        self._progress = progress
        self._done = dict.fromkeys(targets, 0.0)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = None if in_process else threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._thread:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._thread:
            self._thread.join()

    def add(self, target: Path, share: float) -> None:
        """Advance by a share of a job's work."""
        self._advance(target, self._done[target] + share)

    def finish(self, target: Path) -> None:
        """Advance to the end of a job, even if it has failed."""
        self._advance(target, 1.0)

    def read(self) -> None:
        """Advance as far as the files of the jobs show."""
        for target, done in list(self._done.items()):
            if done < 1:
                with suppress(OSError):  # the job has not begun, or is finished
                    self._advance(target, share_file(target).stat().st_size / STEPS)

    def _advance(self, target: Path, done: float) -> None:
        with self._lock:
            before, done = self._done[target], min(done, 1.0)
            if done > before:  # a job whose process died begins again
                self._done[target] = done
                self._progress.advance(done - before)

    def _watch(self) -> None:
        while not self._ended.wait(EVERY):
            self.read()


def share_file(target: Path) -> Path:
    """Return the progress file of a job in another process."""
    return target.with_name(f"{UNFINISHED}{target.name}.share")


@contextmanager
def reported_in_file(target: Path) -> Iterator[Report]:
    """Yield a function that reports shares of a job in its file, which is removed when the block ends.

    If the file cannot be written, only the progress is lost.
    """
    file = share_file(target)
    done, size = 0.0, 0

    def report(share: float) -> None:
        nonlocal done, size
        done += share
        if round(STEPS * done) > size:
            size = round(STEPS * done)
            with suppress(OSError), file.open("wb") as opened:
                opened.truncate(size)

    try:
        yield report
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)

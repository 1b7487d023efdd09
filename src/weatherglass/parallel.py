"""Map a function over independent units: in this process or in several; one failing unit stops no other."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Generic, Protocol, TypeVar

from weatherglass.errors import UnitError

U = TypeVar("U")
R = TypeVar("R")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Outcome(Generic[U, R]):
    """A unit and what became of it: a value, or the error that it raised."""

    unit: U
    value: R | None = None
    error: Exception | None = None


class Backend(Protocol):
    """Where units are computed. Units are idempotent: one may be computed twice if a worker is lost."""

    @property
    def in_process(self) -> bool:
        """Whether units see this process's objects, or copies of them."""
        ...

    def map(self, function: Callable[[U], R], units: Iterable[U]) -> Iterator[Outcome[U, R]]:
        """Outcomes as they come, in any order."""
        ...


def backend(jobs: int) -> Backend:
    """In this process for one job, else that many local processes."""
    return InProcess() if jobs == 1 else LocalProcesses(jobs)


class InProcess:
    """One unit after another, here."""

    in_process = True

    def map(self, function: Callable[[U], R], units: Iterable[U]) -> Iterator[Outcome[U, R]]:
        for unit in units:
            yield Outcome(unit, *_attempt(function, unit))


@dataclass(frozen=True, slots=True)
class LocalProcesses:
    """Several processes on this machine, each with its share of the cores for BLAS and numba.

    A process that dies takes the whole pool with it; the units under way are then tried again in a new pool, a
    bounded number of times, since one of them may be what killed it.
    """

    jobs: int
    in_process: ClassVar[bool] = False

    def map(self, function: Callable[[U], R], units: Iterable[U]) -> Iterator[Outcome[U, R]]:
        waiting = deque[tuple[U, int]]()
        fresh = iter(units)
        while True:
            under_way: dict[Future[tuple[R | None, Exception | None]], tuple[U, int]] = {}
            try:
                with _pool(self.jobs) as pool:
                    while True:
                        # A short queue: units are made as they are needed, so that their arrays do not pile up.
                        room = 2 * self.jobs - len(under_way) - len(waiting)
                        waiting.extend((unit, 1) for unit in islice(fresh, max(0, room)))
                        while waiting:
                            unit, attempt = waiting[0]
                            under_way[pool.submit(_attempt, function, unit)] = (unit, attempt)
                            waiting.popleft()
                        if not under_way:
                            return
                        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                            value, error = future.result()
                            unit, _ = under_way.pop(future)
                            yield Outcome(unit, value, error)
            except BrokenProcessPool:
                for unit, attempt in under_way.values():
                    if attempt < ATTEMPTS:
                        waiting.append((unit, attempt + 1))
                    else:
                        yield Outcome(
                            unit, error=UnitError(f"its process died {ATTEMPTS} times; out of memory?")
                        )


def _attempt(function: Callable[[U], R], unit: U) -> tuple[R | None, Exception | None]:
    try:
        return function(unit), None
    except Exception as error:
        return None, error


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool that is ended at once, not waited for, when its user is interrupted."""
    spawn = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    with thread_share(jobs):
        pool = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_leave_interrupts_to_the_parent)
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
        pool.shutdown()


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def thread_share(jobs: int) -> Iterator[None]:
    """Processes started inside see an equal share of the cores, so that they do not fight over them."""
    share = str(max(1, (os.cpu_count() or 1) // jobs))
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, share))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

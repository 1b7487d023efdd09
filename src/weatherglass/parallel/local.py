"""Compute jobs in this process, or in several processes on this machine."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.parallel.base import ATTEMPTS, EngineOptions, JobOutcome, R, U, attempt
from weatherglass.storage.array_file import save_array

if TYPE_CHECKING:  # most runs use one process, and do not import this
    from concurrent.futures import Future, ProcessPoolExecutor

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class InProcess:
    """Compute one job after another in this process."""

    in_process = True

    def map(
        self, function: Callable[..., R], units: Iterable[U], common: AnyMatrix | None = None
    ) -> Iterator[JobOutcome[U, R]]:
        """Yield outcomes in the order of the jobs."""
        arguments = () if common is None else (common,)
        for unit in units:
            yield JobOutcome(unit, *attempt(function, unit, *arguments))


@dataclass(slots=True)
class LocalProcesses:
    """Compute jobs in several processes on this machine, each with its share of the cores for BLAS and numba.

    The processes are reused for the next jobs, such as those of the next model, until nothing refers to this object,
    since starting one takes a second. If a process dies, the whole pool ends; its unfinished jobs are then retried in
    a new pool, a limited number of times, since one of them may have killed it.
    """

    jobs: int
    in_process: ClassVar[bool] = False
    _pool: ProcessPoolExecutor | None = field(default=None, init=False, repr=False, compare=False)

    def map(
        self, function: Callable[..., R], units: Iterable[U], common: AnyMatrix | None = None
    ) -> Iterator[JobOutcome[U, R]]:
        """Yield outcomes as they finish."""
        with _mapped(common) as file:
            yield from self._map(function, units, file)

    def _map(
        self, function: Callable[..., R], units: Iterable[U], file: Path | None
    ) -> Iterator[JobOutcome[U, R]]:
        from concurrent.futures import FIRST_COMPLETED, wait
        from concurrent.futures.process import BrokenProcessPool

        waiting = deque[tuple[U, int]]()
        remaining = iter(units)
        while True:
            in_flight: dict[Future[tuple[R | None, Exception | None]], tuple[U, int]] = {}
            try:
                with self._processes() as pool:
                    while True:
                        # The queue is short, so that jobs are created only as they are needed.
                        room = 2 * self.jobs - len(in_flight) - len(waiting)
                        waiting.extend((unit, 1) for unit in islice(remaining, max(0, room)))
                        while waiting:
                            unit, tries = waiting[0]
                            in_flight[pool.submit(_attempt_with_file, function, unit, file)] = (unit, tries)
                            waiting.popleft()
                        if not in_flight:
                            return
                        for future in wait(in_flight, return_when=FIRST_COMPLETED).done:
                            value, error = future.result()
                            unit, _ = in_flight.pop(future)
                            yield JobOutcome(unit, value, error)
            except BrokenProcessPool:
                for unit, tries in in_flight.values():
                    if tries < ATTEMPTS:
                        waiting.append((unit, tries + 1))
                    else:
                        yield JobOutcome(
                            unit,
                            error=UnitError(
                                f"its process died {ATTEMPTS} times, perhaps for lack "
                                "of memory; use fewer jobs"
                            ),
                        )

    @contextmanager
    def _processes(self) -> Iterator[ProcessPoolExecutor]:
        """Yield the pool, and end it at once if the block is interrupted or a process dies."""
        with thread_share(self.jobs):
            pool = self._pool = self._pool or _pool(self.jobs)
            try:
                yield pool
            except BaseException:
                self._pool = None
                _end(pool)
                raise


def in_process(options: EngineOptions) -> InProcess:
    """Return the engine `in-process`, which has no address."""
    if options.address:
        raise WeatherglassError(f"engine 'in-process' takes no address, but '{options.address}' was given")
    return InProcess()


def processes(options: EngineOptions) -> LocalProcesses:
    """Return the engine `processes`; its address is a number of processes, as in `processes:4`."""
    if options.address and not (options.address.isdecimal() and int(options.address)):
        raise WeatherglassError(
            f"engine 'processes' takes a number, as in processes:4, but '{options.address}' was given"
        )
    return LocalProcesses(int(options.address or options.jobs))


@contextmanager
def _mapped(common: AnyMatrix | None) -> Iterator[Path | None]:
    """Provide the common array as a file that all processes map into their memory."""
    if common is None:
        yield None
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="weatherglass-") as folder:
        file = Path(folder) / "common.npy"
        save_array(file, common)
        yield file


def _attempt_with_file(
    function: Callable[..., Any], unit: Any, file: Path | None
) -> tuple[Any | None, Exception | None]:
    return attempt(function, unit) if file is None else attempt(function, unit, np.load(file, mmap_mode="r"))


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Return a pool whose processes start when there are jobs for them, and end when nothing refers to it."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_follow_parent,
        initargs=gc.get_threshold(),
    )


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once."""
    # The public method, `terminate_workers`, is new in Python 3.14, and `shutdown` forgets the processes.
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


def _follow_parent(*collection_threshold: int) -> None:
    """Let the parent handle Ctrl-C, and end this worker when its parent is killed.

    Otherwise a worker would wait for its next job for ever and keep its memory. Its garbage collector has the parent's
    threshold and does not run when the worker ends.
    """
    import atexit
    import signal
    import threading

    gc.set_threshold(*collection_threshold)
    atexit.register(gc.freeze)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def thread_share(jobs: int) -> Iterator[None]:
    """Give each process that is started in the block an equal share of the cores."""
    share = str(max(1, (os.cpu_count() or 1) // jobs))
    saved = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, share))
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

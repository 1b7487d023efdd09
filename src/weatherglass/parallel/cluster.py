"""Compute jobs on a Dask cluster with the scheduler of the user's site (SLURM, Kubernetes, or a few machines)."""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.errors import ClusterError, MissingExtraError, UnitError, WeatherglassError, reason_of
from weatherglass.parallel.base import ATTEMPTS, EngineOptions, JobOutcome, R, U, attempt
from weatherglass.storage.array_file import save_array
from weatherglass.storage.documents import json_document
from weatherglass.storage.installed import install_command

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_TIMEOUT = 15
"""Seconds to wait for a scheduler to answer."""

QUEUE_PER_THREAD = 2
"""The number of jobs submitted per thread of the cluster: enough to keep the workers busy without a long queue."""


class DaskCluster:
    """The workers of a scheduler. Each job uses one thread of BLAS and torch, since the workers share the cores.

    If a worker is lost, Dask gives its jobs to others. A job that fails because of a disk or
    the network is retried a limited number of times; any other error is reported and not retried.
    """

    in_process: ClassVar[bool] = False

    def __init__(self, scheduler: str, shared_dir: Path | None = None) -> None:
        _require_dask()
        self.scheduler = scheduler
        self.shared_dir = shared_dir
        if shared_dir is not None and not shared_dir.is_dir():
            raise ClusterError(f"--shared-dir {shared_dir}: this folder does not exist on this machine")

    def map(
        self, function: Callable[..., R], units: Iterable[U], common: AnyMatrix | None = None
    ) -> Iterator[JobOutcome[U, R]]:
        """Yield outcomes as they finish, from any worker."""
        with self._client() as client, self._common(client, common) as shared:
            try:
                yield from self._map(client, function, units, shared)
            except OSError:
                raise self._connection_lost() from None

    def _map(
        self, client: Client, function: Callable[..., R], units: Iterable[U], shared: CommonArray
    ) -> Iterator[JobOutcome[U, R]]:
        from distributed import KilledWorker, as_completed

        remaining = iter(units)
        in_flight: dict[Future[Any], tuple[U, int]] = {}
        done = as_completed(raise_errors=False, loop=client.loop)

        def submit(unit: U, tries: int) -> None:
            future = client.submit(attempt_on_worker, function, unit, shared.handle, pure=False)
            in_flight[future] = (unit, tries)
            done.add(future)

        def fill() -> None:
            room = max(2, QUEUE_PER_THREAD * sum(client.nthreads().values())) - len(in_flight)
            for unit in islice(remaining, max(0, room)):
                submit(unit, 1)

        fill()
        while in_flight:
            future = next(done)
            unit, tries = in_flight.pop(future)
            answer = _answer(future) if client.status == "running" else None
            if answer is None:
                if client.status != "running" or tries >= ATTEMPTS:
                    raise self._connection_lost()
                # The only worker with the common array, or with the result of this job, died before others had a copy.
                shared.send_again()
                submit(unit, tries + 1)
                continue
            value, error = answer
            if isinstance(error, KilledWorker):
                yield JobOutcome(
                    unit, error=UnitError(f"every worker that tried it died ({error.last_worker.address})")
                )
            elif isinstance(error, OSError) and tries < ATTEMPTS:
                submit(unit, tries + 1)
            else:
                yield JobOutcome(unit, value, error)
            fill()

    def _connection_lost(self) -> ClusterError:
        return ClusterError(
            f"lost the connection to the scheduler at {self.scheduler}; finished work is saved; run the "
            "same command again to continue"
        )

    @contextmanager
    def _client(self) -> Iterator[Client]:
        from distributed import Client

        is_file = "://" not in self.scheduler
        if is_file and not Path(self.scheduler).is_file():
            raise ClusterError(
                f"--scheduler {self.scheduler}: this file does not exist; give tcp://HOST:PORT, a scheduler file, or "
                "ENGINE:ADDRESS with the engine of an installed package"
            )
        try:
            address = _address_in(Path(self.scheduler)) if is_file else self.scheduler
            client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {self.scheduler} ({error}); start one with: dask scheduler"
            ) from None
        log = logging.getLogger("distributed")
        before = log.level
        log.setLevel(logging.CRITICAL)  # Dask would report errors a second time
        try:
            yield client
        finally:
            with contextlib.suppress(OSError, TimeoutError):
                client.close(timeout=2)
            log.setLevel(before)

    @contextmanager
    def _common(self, client: Client, common: AnyMatrix | None) -> Iterator[CommonArray]:
        """Provide the common array as a file in the shared folder, or send it to each worker once."""
        if common is None:
            yield CommonArray(None)
        elif self.shared_dir is None:

            def send() -> Any:
                return client.scatter(common, broadcast=True)

            yield CommonArray(send(), send)
        else:
            with tempfile.TemporaryDirectory(prefix="weatherglass-", dir=self.shared_dir) as folder:
                Path(folder).chmod(0o755)
                file = Path(folder) / "common.npy"
                save_array(file, common)
                yield CommonArray(file)


@dataclass(slots=True)
class CommonArray:
    """The array that all jobs share, in the form that is sent to the workers."""

    handle: Any
    """A future of the array, the file that contains it, or None."""
    send: Callable[[], Any] | None = None
    """A function that sends the array to the current workers; None if it was not sent."""

    def send_again(self) -> None:
        """Send the array again after the workers that had it were lost."""
        if self.send:
            self.handle = self.send()


def dask(options: EngineOptions) -> DaskCluster:
    """Return the engine `dask`; its address is tcp://HOST:PORT or a scheduler file."""
    return DaskCluster(options.address, options.shared_dir)


def _answer(future: Future[Any]) -> tuple[Any | None, Exception | None] | None:
    """Return the value or the error of a job; None if it is lost.

    A finished job can still be lost, because its worker keeps the result until it is fetched, and may die before that.
    """
    from distributed import CancelledError, KilledWorker

    if future.status in ("cancelled", "lost"):
        return None
    if future.status == "error" and isinstance(failure := future.exception(), Exception):
        return None, failure
    try:
        answer: tuple[Any | None, Exception | None] = future.result()
    except CancelledError:
        return None
    except KilledWorker as error:
        return None, error
    return answer


def attempt_on_worker(
    function: Callable[..., Any], unit: Any, common: AnyMatrix | Path | None
) -> tuple[Any | None, Exception | None]:
    """Compute one job on a worker, with one thread; an error that may be due to the machine names it."""
    from threadpoolctl import threadpool_limits

    _one_torch_thread()
    with threadpool_limits(1):
        if isinstance(common, Path):
            value, error = attempt(_with_file, function, unit, common)
        else:
            value, error = attempt(function, unit) if common is None else attempt(function, unit, common)
    return value, _with_host(error)


def _with_file(function: Callable[..., Any], unit: Any, file: Path) -> Any:
    if not file.is_file():
        raise ClusterError(f"cannot see {file}; --shared-dir must be the same folder on every machine")
    return function(unit, np.load(file, mmap_mode="r"))


def _one_torch_thread() -> None:
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)


def _with_host(error: Exception | None) -> Exception | None:
    """Add the name of the machine to an error if a file or a library is missing there; return other errors
    unchanged.
    """
    host = f"worker on {socket.gethostname()}"
    if isinstance(error, WeatherglassError) and not isinstance(error, UnitError):
        return type(error)(f"{host}: {error}")
    if isinstance(error, OSError):
        return OSError(error.errno, f"{host}: {reason_of(error)}", error.filename)
    return error


def _address_in(path: Path) -> str:
    """Return the address in a scheduler file, which `dask scheduler --scheduler-file` writes.

    Raises:
        ClusterError: if the file does not contain one.
    """
    content = json_document(path, ClusterError)
    address = content.get("address") if isinstance(content, dict) else None
    if not isinstance(address, str):
        raise ClusterError(f"--scheduler {path}: not a scheduler file of Dask (it contains no address)")
    return address


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            f"--scheduler needs dask and distributed; to install them, run: {install_command('distributed')}"
        ) from None

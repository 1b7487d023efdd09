"""Map a function over independent units: in this process, in local processes, or on a Dask cluster."""

from __future__ import annotations

from pathlib import Path

from weatherglass.errors import WeatherglassError
from weatherglass.parallel.base import ATTEMPTS, Backend, Outcome
from weatherglass.parallel.local import THREAD_VARIABLES, InProcess, LocalProcesses

__all__ = ["ATTEMPTS", "THREAD_VARIABLES", "Backend", "InProcess", "LocalProcesses", "Outcome", "backend"]


def backend(jobs: int = 1, scheduler: str | None = None, shared_dir: Path | None = None) -> Backend:
    """Where to compute: a Dask scheduler if one is named, else local processes if `jobs` is above 1.

    Args:
        jobs: local processes; 1 stays in this one.
        scheduler: address (tcp://HOST:PORT) or scheduler file of a Dask cluster.
        shared_dir: a folder that this machine and all workers see under the same path.
    """
    if scheduler is not None:
        from weatherglass.parallel.cluster import DaskCluster

        return DaskCluster(scheduler, shared_dir)
    if shared_dir is not None:
        raise WeatherglassError("--shared-dir needs --scheduler; local processes share this machine's disks")
    return InProcess() if jobs == 1 else LocalProcesses(jobs)

"""Map a function over independent units: in this process, in local processes, on a Dask cluster, or on an engine of
another package.
"""

from __future__ import annotations

from pathlib import Path

from weatherglass.errors import WeatherglassError
from weatherglass.parallel.base import Backend, Engine, EngineOptions, Outcome
from weatherglass.parallel.local import InProcess, LocalProcesses
from weatherglass.registry import Registry

__all__ = [
    "ENGINES",
    "Backend",
    "EngineOptions",
    "InProcess",
    "LocalProcesses",
    "Outcome",
    "backend",
]

ENGINES: Registry[Engine] = Registry(
    "engine",
    {
        "in-process": "weatherglass.parallel.local:in_process",
        "processes": "weatherglass.parallel.local:processes",
        "dask": "weatherglass.parallel.cluster:dask",
    },
    entry_points="weatherglass.engines",
)


def backend(jobs: int = 1, scheduler: str | None = None, shared_dir: str | Path | None = None) -> Backend:
    """Where to compute: on a scheduler if one is named, else in local processes if `jobs` is above 1.

    Args:
        jobs: local processes; 1 stays in this one.
        scheduler: address (tcp://HOST:PORT) or scheduler file of a Dask cluster, or ENGINE:ADDRESS with an engine
            of ENGINES.
        shared_dir: a folder that this machine and all workers see under the same path.

    Raises:
        WeatherglassError: for fewer than one process, a shared folder without a scheduler, or an address that the
            engine cannot read.
    """
    if jobs < 1:
        raise WeatherglassError(f"jobs is {jobs}, but at least 1 process is needed")
    if scheduler is not None:
        engine, address = _engine_and_address(scheduler)
    elif shared_dir is not None:
        raise WeatherglassError("--shared-dir needs --scheduler; local processes share this machine's disks")
    else:
        engine, address = ("in-process" if jobs == 1 else "processes"), ""
    return ENGINES.get(engine)(
        EngineOptions(jobs, address, Path(shared_dir) if shared_dir is not None else None)
    )


def _engine_and_address(scheduler: str) -> tuple[str, str]:
    """`tcp://HOST:PORT` and files are Dask's, whatever engines there are."""
    name, colon, address = scheduler.partition(":")
    if colon and not address.startswith("//") and name in ENGINES and not Path(scheduler).exists():
        return name, address
    return "dask", scheduler

"""Map a function over jobs in this process, in local processes, on a Dask cluster, or on another engine."""

from __future__ import annotations

from pathlib import Path

from weatherglass.errors import WeatherglassError
from weatherglass.parallel.base import Backend, Engine, EngineOptions, JobOutcome
from weatherglass.parallel.local import InProcess, LocalProcesses
from weatherglass.registry import Registry, checked_path, checked_text, checked_whole_number, wrong_type

__all__ = [
    "ENGINES",
    "Backend",
    "EngineOptions",
    "InProcess",
    "JobOutcome",
    "LocalProcesses",
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
    """Return the backend: the named scheduler, or local processes if `jobs` is above 1, or this process.

    Args:
        jobs: the number of local processes; 1 means this process.
        scheduler: the address (tcp://HOST:PORT) or scheduler file of a Dask cluster, or ENGINE:ADDRESS with an engine
            of ENGINES.
        shared_dir: a folder that this machine and all workers see under the same path.

    Raises:
        WeatherglassError: for fewer than one process, a shared folder without a scheduler, or an address that the
            engine cannot read.
    """
    jobs = checked_whole_number("jobs", jobs, 1)
    if scheduler is not None:
        engine, address = _engine_and_address(scheduler)
    elif shared_dir is not None:
        raise WeatherglassError("--shared-dir needs --scheduler; local processes share this machine's disks")
    else:
        return InProcess() if jobs == 1 else LocalProcesses(jobs)
    return ENGINES.get(engine)(
        EngineOptions(
            jobs, address, checked_path("shared_dir", shared_dir) if shared_dir is not None else None
        )
    )


def check_backend(given: object) -> None:
    """Refuse an argument `backend` that is not a backend; None is allowed.

    Raises:
        WeatherglassError: if it is not a backend; the message names the function that creates one.
    """
    if given is not None and not (callable(getattr(given, "map", None)) and hasattr(given, "in_process")):
        raise wrong_type("backend", "a backend made by weatherglass.parallel.backend(jobs)", given)


def _engine_and_address(scheduler: str) -> tuple[str, str]:
    """Return the engine and the address; `tcp://HOST:PORT` and files always mean Dask."""
    name, colon, address = checked_text("scheduler", scheduler).partition(":")
    file = checked_path("scheduler", scheduler)
    if colon and not address.startswith("//") and name in ENGINES and not file.exists():
        return name, address
    return "dask", scheduler

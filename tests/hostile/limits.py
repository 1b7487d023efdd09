"""What a reader may do with a hostile file: one line, at most 10 seconds of the processor, at most 1 GB of memory."""

from __future__ import annotations

import os
import resource
import traceback
from collections.abc import Callable
from pathlib import Path

from weatherglass.errors import WeatherglassError

SECONDS = 10
NO_MEMORY = "larger than memory"
"""What a reader says of a file for which memory did not suffice; tests/hostile/test_hdf5.py sees it said."""
MEMORY = 2**30
"""Bytes that one input may take beyond what the process had before."""


def limit_memory() -> None:
    """What this process has now, and 1 GB.

    The limit of another process would not do: where a library finds no room for its threads, it waits for ever.
    """
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    memory = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))


def refusal(read: Callable[..., object], *arguments: object) -> str:
    """The one line that reading ends in, in a process of its own with the limits set.

    Fails if it ends in anything else: a traceback, a line break, a kill, or a result.
    """
    outcome = outcome_of(read, *arguments)
    kind, _, line = outcome.partition(": ")
    assert kind == "refused", outcome
    assert "\n" not in line
    # Refused before it was asked for, not since there was no more.
    assert not any(sign in line for sign in ("MemoryError", NO_MEMORY, "Unable to allocate")), line
    return line


def outcome_of(read: Callable[..., object], *arguments: object) -> str:
    """What happened: "refused: LINE", "read", a traceback or a kill."""
    to_read, to_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(to_read)
        os.write(to_write, _outcome_here(read, *arguments).encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(to_write)
    with os.fdopen(to_read, "rb") as pipe:
        outcome = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return outcome or f"killed, status {status}"


def _outcome_here(read: Callable[..., object], *arguments: object) -> str:
    limit_memory()
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS + 1,) * 2)
    try:
        read(*arguments)
    except WeatherglassError as error:
        return f"refused: {error}"
    except BaseException:
        return traceback.format_exc()
    return "read"

"""The Backend protocol: independent, idempotent units of work in, outcomes out as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from weatherglass.arrays import AnyMatrix

U = TypeVar("U")
R = TypeVar("R")

ATTEMPTS = 3
"""How many times a unit is tried if its process or machine is lost."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[U, R]):
    """A unit and its outcome: a value, or the error that it raised."""

    unit: U
    value: R | None = None
    error: Exception | None = None


class Backend(Protocol):
    """Where units are computed. Units are idempotent: one may be computed twice if a worker is lost."""

    @property
    def in_process(self) -> bool:
        """Whether units see this process's objects, or copies of them."""
        ...

    def map(
        self, function: Callable[..., R], units: Iterable[U], common: AnyMatrix | None = None
    ) -> Iterator[Outcome[U, R]]:
        """Outcomes of `function(unit)` as they come, in any order; one failing unit stops no other.

        Args:
            function: importable by name, since it may run elsewhere.
            units: small; they are made as they are needed.
            common: a large array that all units need; it reaches each worker once, and the function as second
                argument.
        """
        ...


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What the user asked of an engine."""

    jobs: int = 1
    address: str = ""
    """What stands behind ENGINE: in --scheduler; empty where the engine was chosen by --jobs."""
    shared_dir: Path | None = None
    """A folder that this machine and all workers see under the same path."""


Engine = Callable[[EngineOptions], Backend]


def attempt(function: Callable[..., R], *arguments: Any) -> tuple[R | None, Exception | None]:
    """The value of a call, or the error it raised; Ctrl-C is no error of the call."""
    try:
        return function(*arguments), None
    except Exception as error:
        # Compiled code that is interrupted ends with a SystemError, and the interrupt is its cause.
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        return None, error

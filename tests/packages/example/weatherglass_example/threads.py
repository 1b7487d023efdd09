"""`--scheduler threads:N`: an engine of another package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from weatherglass.parallel import EngineOptions, JobOutcome
from weatherglass.parallel.base import attempt


@dataclass(frozen=True)
class Threads:
    """Several threads of this process."""

    number: int
    in_process: bool = True

    def map(
        self, function: Callable[..., Any], units: Iterable[Any], common: Any = None
    ) -> Iterator[JobOutcome[Any, Any]]:
        """Outcomes in the order of the units."""
        arguments = () if common is None else (common,)
        with ThreadPoolExecutor(self.number) as pool:
            yield from pool.map(lambda unit: JobOutcome(unit, *attempt(function, unit, *arguments)), units)


def threads(options: EngineOptions) -> Threads:
    """The engine `threads`; its address is the number of threads."""
    return Threads(int(options.address or options.jobs))

"""Progress of long work: a library call is silent, a command passes a progress bar."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Stages of known length, one after another."""

    def stage(self, name: str, total: int) -> None:
        """Begin a stage of `total` steps."""
        ...

    def advance(self, steps: int = 1) -> None:
        """Some steps of the current stage are done."""
        ...


class Silent:
    """Shows nothing."""

    def stage(self, name: str, total: int) -> None:
        pass

    def advance(self, steps: int = 1) -> None:
        pass

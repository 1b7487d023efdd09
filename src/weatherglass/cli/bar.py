"""What a command is doing: a bar on a terminal, one line a minute in a log."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from weatherglass.cli.console import complain
from weatherglass.report.layout import shortened
from weatherglass.storage.printable import one_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LOOK_BACK = 24 * 60 * 60.0
"""Seconds from which the remaining time is estimated; one embedding may train for an hour."""
LOG_EVERY = 60.0
"""Seconds between two lines in a log; work that takes less leaves none."""
BESIDE_THE_NAME = 50
"""Columns of the terminal that the bar, the count and the time keep, however long a model's name is."""
LEAST_NAME = 20


class Bar:
    """Progress on stderr: one line per stage on a terminal, else one line a minute."""

    def __init__(self, quiet: bool, log_every: float = LOG_EVERY) -> None:
        self._shown: list[Drawing | Log] = []
        if not quiet:
            self._shown = [Drawing() if is_terminal() else Log(log_every)]

    def __enter__(self) -> Self:
        for shown in self._shown:
            shown.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for shown in self._shown:
            shown.stop()

    def stage(self, name: str, total: int) -> None:
        for shown in self._shown:
            shown.stage(name, total)

    def advance(self, steps: int = 1) -> None:
        for shown in self._shown:
            shown.advance(steps)


def is_terminal() -> bool:
    """Whether stderr is a terminal; where a variable says so, rich decides, which is loaded only then."""
    if sys.stderr.isatty():
        return True
    if not {"FORCE_COLOR", "TTY_COMPATIBLE"} & set(os.environ):
        return False
    from rich.console import Console

    return Console(stderr=True).is_terminal


class Drawing:
    """A bar with the name of the stage, how far it is, and how long it may take."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._width = console.width
        self.progress: Progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            speed_estimate_period=LOOK_BACK,
        )
        self._task: TaskID | None = None

    def start(self) -> None:
        self.progress.start()

    def stop(self) -> None:
        self.progress.stop()

    def stage(self, name: str, total: int) -> None:
        if self._task is not None:
            self.progress.remove_task(self._task)
        room = max(LEAST_NAME, self._width - BESIDE_THE_NAME)
        self._task = self.progress.add_task(stage_name(name, room), total=total)

    def advance(self, steps: int) -> None:
        if self._task is not None:
            self.progress.advance(self._task, steps)


def stage_name(name: str, room: int) -> str:
    """The name of a stage in so many columns: its first word stays, a model's path loses its front.

    >>> stage_name("testing vectors:/data/embeddings/2024/glove.6B.300d.txt", 30)
    'testing …/glove.6B.300d.txt'
    """
    name = one_line(name)
    if len(name) <= room:
        return name
    verb, space, rest = name.partition(" ")
    if not space or len(verb) + 8 > room:
        return shortened(name, room, "front")
    return f"{verb} {shortened(rest, room - len(verb) - 1, 'front')}"


class Log:
    """Says once a minute what is being done, from a thread of its own: a stage may take long without a step."""

    def __init__(self, every: float, write: Callable[[str], object] | None = None) -> None:
        self._every = every
        self._write = write or _to_stderr
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weatherglass-log", daemon=True)
        self._began = self._stage_began = time.monotonic()
        self._name, self._done, self._total = "preparing", 0, 0
        self._first: int | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def stage(self, name: str, total: int) -> None:
        self._name, self._done, self._total = name, 0, total
        self._stage_began, self._first = time.monotonic(), None

    def advance(self, steps: int) -> None:
        if self._first is None:  # what an earlier run has done says nothing about the speed
            self._first = steps if steps > 1 else 0
        self._done += steps

    def line(self, now: float) -> str:
        """What is being done, how far it is, and how long it may take."""
        parts = [f"{self._name}: {self._done} of {self._total}" if self._total else self._name]
        if self._total and self._done >= self._total:
            parts = [f"after {self._name}"]
        new = self._done - (self._first or 0)
        if new > 0 and self._done < self._total:
            parts.append(
                f"about {_spoken((now - self._stage_began) / new * (self._total - self._done))} left"
            )
        return f"{', '.join(parts)} ({_spoken(now - self._began)} so far)"

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            self._write(self.line(time.monotonic()))


def _spoken(seconds: float) -> str:
    """A duration in its largest unit.

    >>> _spoken(42), _spoken(150), _spoken(7300)
    ('42 s', '2 min', '2.0 h')
    """
    seconds = max(0.0, seconds)  # a clock may be set back
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _to_stderr(line: str) -> None:
    complain(f"weatherglass: {line}")

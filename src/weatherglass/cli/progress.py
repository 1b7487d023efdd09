"""Show what a command is doing, with a bar on a terminal or one line per minute in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from weatherglass.cli.console import ERASE, complain, in_ascii, is_plain, is_terminal, width_of
from weatherglass.errors import InterruptedRunError
from weatherglass.progress import Progress, Silent, spoken_duration
from weatherglass.report.layout import shortened
from weatherglass.storage.printable import cell_len, one_line

LOG_EVERY = 60.0
"""Seconds between two lines in a log; shorter work writes no line."""
DRAW_EVERY = 0.2
BAR = 24
"""The width of the bar in columns."""
BESIDE_THE_NAME = 60
"""The number of columns kept for the bar, the count and the time, even if the name of a model is long."""
LEAST_NAME = 20


@contextmanager
def progress(quiet: bool, folder: Path | None = None) -> Iterator[Progress]:
    """Show the progress of the block, and report Ctrl-C in one line that states how to continue.

    Args:
        quiet: whether to show nothing.
        folder: the folder of finished work; None if it is not stored.

    Raises:
        InterruptedRunError: if the user stops work that can be continued.
    """
    shown = None if quiet else Bar() if is_terminal(sys.stderr) else Log(LOG_EVERY)
    try:
        if shown:
            shown.start()
        yield shown or Silent()
    except KeyboardInterrupt:
        if folder is None:
            raise
        raise InterruptedRunError(
            f"stopped; finished work is in {folder}, and the same command continues from there"
        ) from None
    finally:
        if shown:
            shown.stop()


class Log:
    """A progress that prints the current stage once per minute, from a thread, since a stage may take long without a
    step.
    """

    def __init__(self, every: float, write: Callable[[str], object] | None = None) -> None:
        self._every = every
        self._write = write or (lambda line: complain(f"weatherglass: {line}"))
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weatherglass-log", daemon=True)
        self._began = self._stage_began = time.monotonic()
        self._name, self._done, self._total = "preparing", 0.0, 0
        self._first: float | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def stage(self, name: str, total: int) -> None:
        self._name, self._done, self._total = name, 0.0, total
        self._stage_began, self._first = time.monotonic(), None

    def advance(self, steps: float = 1) -> None:
        if self._first is None:  # the steps of an earlier run do not count for the speed
            self._first = steps if steps > 1 else 0
        self._done += steps

    def line(self, now: float) -> str:
        """Return the stage, its progress and the estimated time left."""
        parts = [f"{self._name}: {self._count()}" if self._total else self._name]
        if self._total and self._done >= self._total:
            parts = [f"after {self._name}"]
        if left := self._left(now):
            parts.append(left)
        return f"{', '.join(parts)} ({spoken_duration(now - self._began)} so far)"

    def _count(self) -> str:
        """Return the number of finished steps, with the share of all steps if the next one has begun."""
        whole = int(self._done + 1e-6)
        share = f" ({self._done / self._total:.0%})" if self._done - whole > 1e-6 else ""
        return f"{whole} of {self._total}{share}"

    def _left(self, now: float) -> str:
        new = self._done - (self._first or 0)
        if new <= 0 or self._done >= self._total:
            return ""
        return f"about {spoken_duration((now - self._stage_began) / new * (self._total - self._done))} left"

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            self._write(self.line(time.monotonic()))


class Bar(Log):
    """A progress that redraws a line in place, with the name of the stage, a bar, the progress and the estimated time
    left.
    """

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        super().__init__(DRAW_EVERY, write or _draw)

    def stop(self) -> None:
        """End the thread and erase the line."""
        super().stop()
        self._write("")

    def line(self, now: float) -> str:
        """Return the line in the width of the terminal."""
        width = width_of(sys.stderr)
        name = stage_name(self._name, max(LEAST_NAME, width - BESIDE_THE_NAME))
        if not self._total:
            return shortened(name, width - 1)
        filled = round(BAR * min(1.0, self._done / self._total))
        bar = "█" * filled + "░" * (BAR - filled)
        return shortened("  ".join(filter(None, [name, bar, self._count(), self._left(now)])), width - 1)


def _draw(line: str) -> None:
    """Replace the line on the terminal."""
    text = in_ascii(line, sys.stderr.encoding) if is_plain(sys.stderr.encoding) else line
    with suppress(OSError, ValueError):
        sys.stderr.write(ERASE + text)
        sys.stderr.flush()


def stage_name(name: str, room: int) -> str:
    """Return the name of a stage in this many columns; its first word is kept, and a path is cut at its beginning.

    >>> stage_name("testing vectors:/data/embeddings/2024/glove.6B.300d.txt", 30)
    'testing …/glove.6B.300d.txt'
    """
    name = one_line(name)
    if cell_len(name) <= room:
        return name
    verb, space, rest = name.partition(" ")
    if not space or len(verb) + 8 > room:
        return shortened(name, room, "front")
    return f"{verb} {shortened(rest, room - len(verb) - 1, 'front')}"

"""Show progress within jobs. Each job reports the share of its work that is done, whatever process it runs in.

A job in another process appends to a small file next to its output; this process reads the size of that file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from weatherglass.progress import Progress
from weatherglass.storage.atomic import UNFINISHED

STEPS = 1000
"""The size in bytes of a job's progress file when the job is finished."""
EVERY = 0.5
"""The number of seconds between two readings of the progress files."""

Report = Callable[[float], None]
"""A function that is called with shares of a job's work; the shares sum to 1."""


class UnitProgress:
    """Advance a progress by one step per job, in parts as the job reports them.

    A job is named by its target, the file that it will write.
    """

    def __init__(self, progress: Progress, targets: Sequence[Path], in_process: bool) -> None:
        """Set up the progress of some jobs.

        Args:
            progress: its stage has one step per job.
            targets: the files that the jobs will write.
            in_process: whether jobs call `add`; otherwise their files are read while the block runs.
        """
        self._progress = progress
        self._done = dict.fromkeys(targets, 0.0)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = None if in_process else threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._thread:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._thread:
            self._thread.join()

    def add(self, target: Path, share: float) -> None:
        """Advance by a share of a job's work."""
        self._advance(target, self._done[target] + share)

    def finish(self, target: Path) -> None:
        """Advance to the end of a job, even if it has failed."""
        self._advance(target, 1.0)

    def read(self) -> None:
        """Advance as far as the files of the jobs show."""
        for target, done in list(self._done.items()):
            if done < 1:
                with suppress(OSError):  # the job has not begun, or is finished
                    self._advance(target, share_file(target).stat().st_size / STEPS)

    def _advance(self, target: Path, done: float) -> None:
        with self._lock:
            before, done = self._done[target], min(done, 1.0)
            if done > before:  # a job whose process died begins again
                self._done[target] = done
                self._progress.advance(done - before)

    def _watch(self) -> None:
        while not self._ended.wait(EVERY):
            self.read()


def share_file(target: Path) -> Path:
    """Return the progress file of a job in another process."""
    return target.with_name(f"{UNFINISHED}{target.name}.share")


@contextmanager
def reported_in_file(target: Path) -> Iterator[Report]:
    """Yield a function that reports shares of a job in its file, which is removed when the block ends.

    If the file cannot be written, only the progress is lost.
    """
    file = share_file(target)
    done, size = 0.0, 0

    def report(share: float) -> None:
        nonlocal done, size
        done += share
        if round(STEPS * done) > size:
            size = round(STEPS * done)
            with suppress(OSError), file.open("wb") as opened:
                opened.truncate(size)

    try:
        yield report
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)

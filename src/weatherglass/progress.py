"""Report the progress of long work: library calls are silent, commands and notebooks show a bar."""

from __future__ import annotations

import sys
from typing import Any, Protocol

from weatherglass.registry import wrong_type


class Progress(Protocol):
    """The interface for reporting progress through stages of known length, one after another."""

    def stage(self, name: str, total: int) -> None:
        """Begin a stage of `total` steps."""
        ...

    def advance(self, steps: float = 1) -> None:
        """Report that some steps of the current stage, or a part of one step, are done."""
        ...


class Silent:
    """A Progress that shows nothing."""

    def stage(self, name: str, total: int) -> None:
        pass

    def advance(self, steps: float = 1) -> None:
        pass


class NotebookBar:
    """A bar below the cell of a notebook, which restarts with each stage."""

    def __init__(self, show: Any) -> None:
        """Make a bar; `show` is IPython's `display`, which puts it into the notebook."""
        self._show = show
        self._handle: Any = None
        self._name, self._total, self._done, self._shown = "", 0, 0.0, -1

    def stage(self, name: str, total: int) -> None:
        self._name, self._total, self._done, self._shown = name, total, 0.0, -1
        self._draw()

    def advance(self, steps: float = 1) -> None:
        self._done += steps
        self._draw()

    def _draw(self) -> None:
        percent = int(100 * self._done / max(1, self._total) + 1e-6)
        whole = int(self._done + 1e-6)
        if percent == self._shown:  # at most a hundred messages per stage to the browser
            return
        self._shown = percent
        from html import escape

        content = {
            "text/html": f'<progress value="{self._done}" max="{max(1, self._total)}"></progress> '
            f"{escape(self._name)} {whole}/{self._total}",
            "text/plain": f"{self._name} {whole}/{self._total}",
        }
        if self._handle is None:
            self._handle = self._show(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def check_progress(given: object) -> None:
    """Refuse an argument `progress` without the methods of `Progress`; None is allowed.

    Raises:
        WeatherglassError: if a method is missing; the message names the methods.
    """
    if given is not None and not all(callable(getattr(given, name, None)) for name in ("stage", "advance")):
        raise wrong_type("progress", "an object with the methods stage and advance", given)


def progress_here() -> Progress:
    """Return a progress bar in a notebook, or else one that shows nothing, since libraries do not print."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if type(shell).__name__ != "ZMQInteractiveShell":  # the shell of a notebook, not of a terminal
        return Silent()
    from IPython.display import display

    return NotebookBar(display)


def spoken_duration(seconds: float) -> str:
    """Return a duration in its largest unit.

    >>> spoken_duration(42), spoken_duration(150), spoken_duration(7300)
    ('42 s', '2 min', '2.0 h')
    """
    seconds = max(0.0, seconds)  # a clock may be set back
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"

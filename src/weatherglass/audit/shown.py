"""Show a result, a comparison or a map of words in a notebook: its repr, its table, its frame and its plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Shown:
    """Methods that show a value; `weatherglass.report.values` has what each kind of value shows."""

    __slots__ = ()
    kind: ClassVar[str]
    """The class in `weatherglass.report.values` that shows the value."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._view().title}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a title and a table, below 50 kB."""
        return str(self._view().html())

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per word or, for a comparison, per effect.

        Args:
            library: "polars" or "pandas"; by default the first of them that is installed.
        """
        return self._view().frame(library)

    def plot(self, size: str | None = None) -> Axes:
        """Draw the words or, for a comparison, the changes, with matplotlib's pyplot.

        Args:
            size: "one-column", "two-columns", a width such as "12cm", or both such as "16x9cm" or "6.3x4in".
        """
        axes: Axes = self._view().plot(size)
        return axes

    def _view(self) -> Any:
        from weatherglass.report import show

        return show.view_of(self.kind, self)

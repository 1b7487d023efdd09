"""What `weatherglass.multiverse` gives: the specifications of every topic, with the ways to see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weatherglass.errors import WeatherglassError
from weatherglass.multiverses import multiverse

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(repr=False)
class Multiverse(multiverse.Multiverse):
    """What a multiverse found, and the ways to see it."""

    @classmethod
    def of(cls, finished: multiverse.Multiverse) -> Multiverse:
        """A multiverse as it was carried out, with what this class adds."""
        return cls(finished.topics, finished.agreement, finished.failures, finished.record)

    def __repr__(self) -> str:
        return f"<Multiverse: {self._title()}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: a row per topic and model, below 50 kB."""
        from html import escape

        from weatherglass.report.notebook import html_table
        from weatherglass.report.numbers import effect, p_value

        rows = []
        for entry in self.topics:
            sizes = [one["d"] for one in entry["specifications"] if one["d"] is not None]
            ends = (effect(min(sizes)), effect(max(sizes))) if sizes else ("–", "–")
            rows.append([entry["model"], entry["topic"], str(len(sizes)), *ends, p_value(entry["joint_p"])])
        heads = ("model", "topic", "specifications", "smallest d", "largest d", "joint p")
        table = html_table(heads, rows, len(rows), (2, 3, 4, 5))
        return f"<div><p><b>{escape(self._title())}</b></p>{table}</div>"

    def to_frame(self, library: str | None = None) -> Any:
        """One row per specification: its choices, d, interval and p.

        Args:
            library: "polars" or "pandas"; by default the first of them that is installed.
        """
        from weatherglass.report.frames import to_frame
        from weatherglass.report.multiverse.tables import COLUMNS

        rows = [
            {name: {"model": entry["model"], "topic": entry["topic"], **one}.get(name) for name in COLUMNS}
            for entry in self.topics
            for one in entry["specifications"]
        ]
        return to_frame(rows, library)

    def plot(self, topic: str | None = None, model: str | None = None) -> Axes:
        """Draw the specification curve of the first word list of a topic, of a model.

        Returns:
            The axes of the curve; below them, `axes.figure.axes[1]` are the choices.
        """
        from weatherglass.report.figures import in_pyplot
        from weatherglass.report.multiverse.curve import curve
        from weatherglass.report.multiverse.tables import lists_of

        wanted = [
            entry
            for entry in self.topics
            if topic in (None, entry["topic"]) and model in (None, entry["model"])
        ]
        if not wanted:
            known = "; ".join(f"{entry['topic']} on {entry['model']}" for entry in self.topics)
            raise WeatherglassError(f"no such topic and model (known: {known})")
        block, specifications = next(lists_of(wanted))
        return in_pyplot(curve(block, specifications))

    def _title(self) -> str:
        number = sum(len(entry["specifications"]) for entry in self.topics)
        failed = f"; {len(self.failures)} failed" if self.failures else ""
        return f"{number} specifications of {len(self.topics)} topics and models{failed}"

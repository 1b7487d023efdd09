"""What `weatherglass.run` gives: a run in hand, with the ways to see, store and compare it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from weatherglass.errors import OutputError, WeatherglassError, output_error
from weatherglass.registry import checked_path, one_of
from weatherglass.runs import results
from weatherglass.runs.folder import PAGE, RECORD, RunFolder
from weatherglass.runs.results import Failure
from weatherglass.runs.stored import JUDGED, StoredRun, read_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weatherglass.runs.compare import Comparison
    from weatherglass.runs.verdict import Verdict

PlotKind = Literal["forest", "matrix", "curve"]
PLOTS: tuple[PlotKind, ...] = ("forest", "matrix", "curve")


@dataclass(frozen=True, slots=True, repr=False)
class Run(results.Run):
    """Results with the record of how they came about, and the ways to see, store and compare them.

    >>> from weatherglass import run
    >>> run(tests="weat6")
    <Run: 1 result (1 model, 1 test, 1 metric), complete; verdicts: 1 cannot tell>
    """

    folder: Path | None = None
    """Where it is stored; None where it is not."""

    @classmethod
    def of(cls, finished: results.Run, folder: Path | None = None) -> Run:
        """A run as the audit leaves it, with what this class adds."""
        return cls(
            *(finished.results, finished.failures, finished.record, finished.keys, folder),
            judged=finished.judged,
        )

    def __repr__(self) -> str:
        return f"<Run: {self._title()}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: verdicts and results, below 50 kB."""
        from weatherglass.report.notebook import run_html

        return run_html(self._title(), self.results, self._verdicts(), self._alpha)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per result: the columns of results.tsv, topic, context, direction and the names of the sets.

        Args:
            library: "polars" or "pandas"; by default the first of them that is installed.
        """
        from weatherglass.report.frames import result_rows, to_frame

        return to_frame(list(result_rows(self.results, self.record.get("topics", {}))), library)

    def verdict_frame(self, library: str | None = None) -> Any:
        """One row per verdict: topic, model, metric, verdict, mean d, interval, p."""
        from weatherglass.report.frames import to_frame, verdict_rows

        return to_frame(list(verdict_rows(self._verdicts())), library)

    def plot(self, kind: PlotKind = "forest", metric: str | None = None) -> Axes:
        """Draw the results with matplotlib's pyplot.

        Args:
            kind: forest (d with its interval, a panel per model), matrix (tests down, models across), or curve (all d,
                sorted).
            metric: whose results; by default those of the first.

        Returns:
            The axes; of a forest with several models those of the first, and `axes.figure.axes` are all.

        Raises:
            UnknownNameError: for another kind, or a metric that the run does not have.
        """
        from weatherglass.report import figures
        from weatherglass.report.page.subjects import lay_out
        from weatherglass.report.tables import caption, interval_levels

        chosen = one_of("kind of plot", kind, PLOTS)
        stored = [self.stored()]
        layout, note, levels = lay_out(stored), caption(stored), interval_levels(stored)
        if not layout.metrics:
            raise WeatherglassError("the run has no result to plot")
        number = layout.metrics.index(
            one_of("metric of this run", metric or layout.metrics[0], layout.metrics)
        )
        if chosen != "matrix" and not layout.is_effect_size(number):
            raise WeatherglassError(
                f"{layout.metrics[number]} gives no effect sizes; plot its values as a matrix"
            )
        if chosen == "forest":
            figure = figures.forest(layout, number, note, levels)
        elif chosen == "matrix":
            figure = figures.matrix(layout, number, note)
        else:
            rows = [r for r in self.results if r.metric == layout.metrics[number]]
            figure = figures.sorted_effects(rows, note, levels)
        return figures.in_pyplot(figure)

    def to_latex(self, label: str = "tab:weatherglass") -> str:
        """A booktabs table for a paper: d, interval and p of every test.

        Args:
            label: for \\ref.
        """
        from weatherglass.report.tables import latex

        return latex([self.stored()], label)

    def to_markdown(self) -> str:
        """Tables of Markdown: tests down, models across."""
        from weatherglass.report.tables import markdown

        return markdown([self.stored()])

    def model_card(self) -> str:
        """A block of Markdown for a model card, with its numbers once more as JSON for programs."""
        from weatherglass.report.model_card import model_card_block

        return model_card_block(self.results, self.record, [one.to_json() for one in self._verdicts()])

    def methods(self) -> str:
        """How the numbers were computed, as a paper's methods section says it."""
        from weatherglass.report.paper import methods_paragraph

        return methods_paragraph(self.results, self.record)

    def sentences(self) -> list[str]:
        """For each verdict: what you may write in a paper, what you may not, and what to cite."""
        from weatherglass.report.write_up import sentences

        return sentences(self._verdicts(), self._alpha)

    def bibtex(self) -> str:
        """The papers behind the tests and the correction, and the software."""
        from weatherglass.report.paper import bibtex

        return bibtex(self.record)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the page: one file of HTML that needs no network.

        Args:
            path: the file; by default report.html in the run's folder, else in the current one.

        Returns:
            The file.
        """
        from weatherglass.report.page.html import page
        from weatherglass.storage.atomic import write_whole

        file = checked_path("path", path) if path is not None else (self.folder or Path()) / PAGE
        try:
            write_whole(file, page([self.stored()]))
        except OSError as error:
            raise output_error(file, error) from error
        return file

    def save(self, folder: str | Path) -> Run:
        """Store the run as `weatherglass run -o FOLDER` does: journal, table, record and page.

        Returns:
            The same run, which knows its folder.

        Raises:
            OutputError: if the folder holds a run already, or cannot be written.
        """
        path = checked_path("folder", folder)
        if self.folder is not None and path.resolve() == self.folder.resolve():
            return self
        if (path / RECORD).exists():
            raise OutputError(f"{path}: holds a run already; choose another folder")
        with RunFolder(path) as opened:
            for key, result in zip(self.keys, self.results, strict=True):
                opened.add(key, result)
            opened.write_table(self.results)
            opened.write_record(self.record)
        saved = replace(self, folder=path)
        saved.report()
        return saved

    def compare(self, other: Run | str | Path, *, alpha: float | None = None) -> Comparison:
        """What changed from this run to another: effect by effect, each with an interval of its change.

        Args:
            other: a later run, or its folder.
            alpha: of the intervals; by default that of this run.
        """
        from weatherglass.runs.compare import compare_stored

        after = other if isinstance(other, Run) else load_run(other)
        level = self._alpha if alpha is None else alpha
        return compare_stored(self.stored("before"), after.stored("after"), alpha=level)

    def stored(self, label: str = "run") -> StoredRun:
        """The run as the rooms of reports take it."""
        return StoredRun(
            self.folder.resolve().name if self.folder else label,
            self.folder or Path(label),
            self.results,
            self.record,
        )

    @property
    def _alpha(self) -> float:
        return float(self.record["settings"]["alpha"])

    def _verdicts(self) -> list[Verdict]:
        return self.verdicts() if self.record.get("status") in JUDGED else []

    def _title(self) -> str:
        judged: dict[str, int] = {}
        for verdict in self._verdicts():
            if not verdict.control:
                name = verdict.verdict or "not judged"
                judged[name] = judged.get(name, 0) + 1
        counts = [
            _counted(len({getattr(result, name) for result in self.results}), name)
            for name in ("model", "test", "metric")
        ]
        title = f"{_counted(len(self.results), 'result')} ({', '.join(counts)}), {self.record.get('status')}"
        if self.failures:
            title += f", {len(self.failures)} failed"
        if judged:
            title += "; verdicts: " + ", ".join(f"{number} {name}" for name, number in judged.items())
        return title


def load_run(folder: str | Path) -> Run:
    """A run that is stored in a folder, judged anew.

    Raises:
        OutputError: if the folder holds no run, or one that cannot be read in full.
    """
    path = checked_path("folder", folder)
    stored = read_run(path)
    if stored.lacking:
        raise OutputError(f"{path}: this run cannot be read in full: {stored.lacking[0]}")
    failures = [Failure(f["model"], f["test"], f["reason"]) for f in stored.record.get("failures", [])]
    return Run(stored.results, failures, json.loads(json.dumps(stored.record)), stored.keys, path)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

"""Define `Run`, which contains results and the record of their computation, with methods to show, store and compare
them.

The methods that show a run import `weatherglass.report.show`, a module of a higher layer, when they are called;
`pyproject.toml` lists this exception.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.audit.folder import JOURNAL, PAGE, RECORD, RunFolder
from weatherglass.audit.results import Failure, Result
from weatherglass.errors import OutputError, UnknownNameError, WeatherglassError, output_error
from weatherglass.registry import checked_path, unknown
from weatherglass.storage.reading import errors_in_one_line
from weatherglass.warnings import Warning, as_warning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weatherglass.audit.agreement import MetricAgreement
    from weatherglass.audit.compare import Comparison
    from weatherglass.audit.multiverse_p import MultiverseP
    from weatherglass.audit.verdict import Verdict
    from weatherglass.report.show import PlotKind

JUDGED = ("complete", "incomplete")
"""States of a run in which its family of tests is known; in all other states, p is not corrected."""


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """Results and the record of their computation, with methods to show, store and compare them.

    >>> from weatherglass import run
    >>> run(tests="weat6")
    <Run: 1 result (1 model, 1 test, 1 metric), complete; verdicts: 1 robust>
    """

    results: list[Result]
    failures: list[Failure]
    record: dict[str, Any]
    """The content of run.json: versions, models, settings, hashes of inputs, missing words, warnings, citations."""
    keys: tuple[str, ...] = ()
    """The key of each result, in the order of the results."""
    folder: Path | None = None
    """The folder in which the run is stored; None if it is not stored."""
    label: str = field(default="run", kw_only=True, compare=False)
    """The name of the run in reports of several runs, which is that of its folder."""
    lacking: tuple[str, ...] = field(default=(), kw_only=True)
    """Parts of the folder that are missing or could not be read."""
    judged: tuple[Verdict, ...] | None = field(default=None, kw_only=True, compare=False)
    """The verdicts, if they are already known."""

    def __repr__(self) -> str:
        return f"<Run: {self._title()}>"

    def stored_in(self, folder: Path) -> Run:
        """Return this run, with the folder in which it is stored."""
        return replace(self, folder=folder, label=folder.resolve().name)

    @property
    def path(self) -> Path:
        """Return the folder for messages, or the label if the run is not stored."""
        return self.folder or Path(self.label)

    @property
    def warnings(self) -> list[Warning]:
        """Return the warnings of the run, followed by those of its tests and rows."""
        return [as_warning(warning) for warning in self.record.get("warnings", [])]

    @property
    def notices(self) -> list[str]:
        """Return notices for the top of a report on missing parts and on whether the run is finished."""
        status = self.record.get("status", "complete")
        if status == "complete":
            return list(self.lacking)
        if status == "incomplete":
            return [*self.lacking, f"{self.state}; the other tests are shown."]
        return [*self.lacking, f"The run is {self.state}; only finished results are shown."]

    @property
    def state(self) -> str:
        """Return whether the run is complete, in words: "6 tests could not be computed"."""
        if self.failures:
            return f"{_counted(len(self.failures), 'test')} could not be computed"
        status = str(self.record.get("status", "complete"))
        return "still running, or was killed" if status == "running" else status

    @property
    def alpha(self) -> float:
        """Return the significance level."""
        return float(self.record["settings"]["alpha"])

    def verdicts(self, multiverse_p: MultiverseP | None = None) -> list[Verdict]:
        """Return what the tests of each topic show together, by model and metric; empty until the run is finished.

        Args:
            multiverse_p: the p of each topic for which a multiverse was run.
        """
        if self.record.get("status") not in JUDGED:
            return []
        if self.judged is not None and multiverse_p is None:
            return list(self.judged)
        from weatherglass.audit.conclude import recorded

        with reading_run(self.path):
            return recorded(self.results, self.record, multiverse_p)[1]

    @property
    def agreement(self) -> MetricAgreement | None:
        """Return the agreement of the metrics, from the record; None if there are fewer than two metrics."""
        if not self.record.get("agreement"):
            return None
        from weatherglass.audit.agreement import MetricAgreement

        with reading_run(self.path):
            return MetricAgreement.from_json(self.record["agreement"])

    def with_multiverse(self, topics: Sequence[Mapping[str, Any]]) -> Run:
        """Return this run with verdicts that also account for the p of a multiverse.

        Args:
            topics: the topics in the output of `weatherglass multiverse --json`.
        """
        from weatherglass.audit.conclude import recorded
        from weatherglass.audit.multiverse_p import multiverse_p

        if self.record.get("status") not in JUDGED:
            return self
        metrics = dict.fromkeys(result.metric for result in self.results)
        with reading_run(self.path):
            results, verdicts = recorded(self.results, self.record, multiverse_p(topics, metrics))
        record = {**self.record, "verdicts": [verdict.to_json() for verdict in verdicts]}
        return replace(self, results=results, record=record, judged=tuple(verdicts))

    def find(self, test: str, model: str | None = None, metric: str | None = None) -> int:
        """Return the position of the only result of a test.

        Raises:
            UnknownNameError: if there is none; the message names the nearest test, or why the test could not be run.
            WeatherglassError: if there are several; the message lists how they differ.
        """
        positions = [n for n, result in enumerate(self.results) if test in (result.test, result.row)]
        if not positions:
            raise self._absent(test)
        for name, wanted in (("model", model), ("metric", metric)):
            if wanted is not None:
                present = self._distinct(name, positions)
                if wanted not in present:
                    raise unknown(f"{name} of {test} in {self.path}", wanted, present)
                positions = [
                    position for position in positions if getattr(self.results[position], name) == wanted
                ]
        if len(positions) > 1:
            raise WeatherglassError(
                f"{test} has {len(positions)} results in {self.path}; {self._choices(positions)}"
            )
        return positions[0]

    def compare(self, other: Run | str | Path | None = None, *, alpha: float | None = None) -> Comparison:
        """Compare this run with another, effect by effect, with an interval for each change.

        Args:
            other: a later run, or its folder; without it, the other models of this run are compared with its first.
            alpha: the intervals are at level 1 − alpha; by default the alpha of this run.
        """
        from weatherglass.audit.compare import compare_models, compare_runs
        from weatherglass.audit.stored import load_run

        level = self.alpha if alpha is None else alpha
        if other is None:
            return compare_models(self, alpha=level)
        before = self if self.folder else replace(self, label="before")
        after = other if isinstance(other, Run) else load_run(other)
        after = after if after.folder else replace(after, label="after")
        return compare_runs(before, after, alpha=level)

    def save(self, folder: str | Path) -> Run:
        """Store the run like `weatherglass run -o FOLDER`, with journal, table, record and page.

        Returns:
            The same run with its folder.

        Raises:
            OutputError: if the folder contains a run already, or cannot be written.
        """
        path = checked_path("folder", folder)
        if self.folder is not None and path.resolve() == self.folder.resolve():
            return self
        if (path / RECORD).exists():
            raise OutputError(f"{path}: contains a run already; choose another folder")
        with RunFolder(path) as opened:
            for key, result in zip(self.keys, self.results, strict=True):
                opened.add(key, result)
            opened.write_table(self.results)
            opened.write_record(self.record)
        saved = self.stored_in(path)
        saved.report()
        return saved

    def report(self, path: str | Path | None = None) -> Path:
        """Write the page, which is one HTML file that needs no network.

        Args:
            path: the file; by default, report.html in the run's folder or, if it is not stored, in the current folder.

        Returns:
            The file.
        """
        from weatherglass.report import show
        from weatherglass.storage.atomic import write_whole

        file = checked_path("path", path) if path is not None else (self.folder or Path()) / PAGE
        try:
            write_whole(file, show.page([self]))
        except OSError as error:
            raise output_error(file, error) from error
        return file

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows, with verdicts and results, below 50 kB."""
        from weatherglass.report import show

        return show.run_html(self._title(), self.results, self.verdicts(), self.alpha, self.warnings)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a frame with one row per result: the columns of results.tsv, topic, context, direction and the names
        of the sets.

        Args:
            library: "polars" or "pandas"; by default, the first of the two that is installed.
        """
        from weatherglass.report import show

        return show.to_frame(list(show.result_rows(self.results, self.record.get("topics", {}))), library)

    def verdict_frame(self, library: str | None = None) -> Any:
        """Return a frame with one row per verdict: topic, model, metric, verdict, mean d, interval, p."""
        from weatherglass.report import show

        return show.to_frame(list(show.verdict_rows(self.verdicts())), library)

    def explore(self, models: Any = None) -> Any:
        """Return a widget for a notebook, in which words can be typed and d and p follow.

        Args:
            models: the models to explore, as for `weatherglass.run`; by default those of this run. A run of objects
                in memory needs the objects.

        Raises:
            MissingExtraError: if anywidget is not installed.
            WeatherglassError: if a model of the run cannot be loaded.
        """
        from weatherglass.explore.widget import explore_run

        return explore_run(self, models)

    def plot(self, kind: PlotKind = "forest", metric: str | None = None, size: str | None = None) -> Axes:
        """Draw the results with matplotlib's pyplot.

        Args:
            kind: topics (mean d of each topic with its tests), forest (d of each test with its interval), both with a
                panel per model; matrix (tests down, models across), or curve (all d, sorted).
            metric: the metric to draw; by default, the first.
            size: "one-column", "two-columns", a width such as "12cm", or both such as "16x9cm" or "6.3x4in"; a curve
                has a fixed size.

        Returns:
            The axes; with a panel per model, those of the first panel (`axes.figure.axes` has all).

        Raises:
            UnknownNameError: if the kind is unknown, or the run does not have the metric.
        """
        from weatherglass.report import show

        return show.run_plot(self, kind, metric, size)

    def to_latex(self, label: str = "tab:weatherglass") -> str:
        """Return a booktabs table for a paper, with d, interval and p of every test.

        Args:
            label: the label for \\ref.
        """
        from weatherglass.report import show

        return show.latex([self], label)

    def to_markdown(self) -> str:
        """Return tables in Markdown with a row per test and a column per model."""
        from weatherglass.report import show

        return show.markdown([self])

    def model_card(self) -> str:
        """Return a block of Markdown for a model card, with its numbers repeated as JSON for programs."""
        from weatherglass.report import show

        return show.model_card_block(self.results, self.record, self.verdicts())

    def methods(self) -> str:
        """Return a methods paragraph for a paper, which explains how the numbers were computed."""
        from weatherglass.report import show

        return show.methods_paragraph(self.results, self.record)

    def sentences(self) -> list[str]:
        """Return, for each verdict, what you may write in a paper, what you may not write, and what to cite."""
        from weatherglass.report import show

        return show.sentences(self.verdicts(), self.alpha)

    def bibtex(self) -> str:
        """Return BibTeX entries for the papers behind the tests and the correction, and for the software."""
        from weatherglass.report import show

        return show.bibtex(self.record)

    def _title(self) -> str:
        judged: dict[str, int] = {}
        for verdict in self.verdicts():
            if not verdict.check:
                name = verdict.outcome or "not judged"
                judged[name] = judged.get(name, 0) + 1
        counts = [
            _counted(len({getattr(result, name) for result in self.results}), name)
            for name in ("model", "test", "metric")
        ]
        title = f"{_counted(len(self.results), 'result')} ({', '.join(counts)}), {self.state}"
        if judged:
            title += "; verdicts: " + ", ".join(f"{number} {name}" for name, number in judged.items())
        return title

    def _absent(self, test: str) -> UnknownNameError:
        for failure in self.record.get("failures", []):
            if failure["test"] == test:
                return UnknownNameError(f"{test} could not be run on {failure['model']}: {failure['reason']}")
        return unknown(f"test in {self.path}", test, self._distinct("test", range(len(self.results))))

    def _choices(self, positions: Sequence[int]) -> str:
        """Return the options that would select one result."""
        for name in ("model", "metric"):
            present = self._distinct(name, positions)
            if len(present) > 1:
                return f"choose with --{name}: {', '.join(present)}"
        rows = self._distinct("row", positions)
        if len(rows) > 1:
            return f"choose one of its sets by name: {', '.join(map(repr, rows))}"
        return f"they differ in options: {'; '.join(self._distinct('options', positions))}"

    def _distinct(self, name: str, positions: Iterable[int]) -> list[str]:
        return list(dict.fromkeys(getattr(self.results[position], name) for position in positions))


@contextmanager
def reading_run(path: Path) -> Iterator[None]:
    """Report any exception in a block that uses the files of a run in one line with the folder.

    A record that was edited and given a new checksum may contain anything.

    Raises:
        OutputError: for any exception; an OutputError of the block passes through unchanged.
    """
    with errors_in_one_line(
        str(path), f"{RECORD} does not fit {JOURNAL}", "run the same command again", OutputError
    ):
        yield


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

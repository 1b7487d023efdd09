"""Run a reliability study, from its corpora to its tables, figures and page."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.audit.run import Run
from weatherglass.errors import OutputError, WeatherglassError, output_error
from weatherglass.parallel import Backend, check_backend
from weatherglass.progress import Progress, check_progress, progress_here
from weatherglass.registry import checked_path, one_of
from weatherglass.reliability.agreement.seeds import PRECISION, FamilyReport
from weatherglass.reliability.corpus import language_fact
from weatherglass.reliability.corpus.readers import STANDARD_INPUT
from weatherglass.reliability.study import (
    Group,
    embedding_patterns,
    imported_groups,
    score_study,
    study_folder,
    train_study,
    trained_groups,
)
from weatherglass.reliability.study_file import Study, read_study
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from weatherglass.reliability.regression.explain import Explanation
    from weatherglass.reliability.scoring.scores import ScoreTensor
    from weatherglass.warnings import Warning

AUDIT = "audit"


def group_warnings(groups: Sequence[Group]) -> list[Warning]:
    """Return the warnings of all groups, each about its corpus and algorithm."""
    return [
        warning.about(f"{group.corpus}, {group.algorithm}") for group in groups for warning in group.warnings
    ]


def run_study(
    study: Study | str | Path,
    folder: str | Path,
    backend: Backend | None = None,
    progress: Progress | None = None,
    train: bool = True,
    senses: str | Path | None = None,
    parts: str | Path | None = None,
) -> StudyResult:
    """Run the steps of a study (train, score, assess, explain, report), skipping those already done in `folder`.

    Args:
        study: a study, or the TOML file of one.
        folder: the folder for embeddings, scores, tables, figures and page.
        train: False to assess the embeddings that are already in `folder`, without training.
        senses: a file of words and their numbers of senses, to use instead of WordNet.
        parts: a file of words and their parts of speech, to use instead of Brill's lexicon.
    """
    check_progress(progress)
    check_backend(backend)
    study = study if isinstance(study, Study) else read_study(checked_path("study", study))
    folder = checked_path("folder", folder)
    senses = checked_path("senses", senses) if senses is not None else None
    parts = checked_path("parts", parts) if parts is not None else None
    with study_folder(folder):
        if train:
            groups, failures = train_study(study, folder, backend, progress)
        else:
            groups, failures = [*trained_groups(study, folder), *imported_groups(study, folder, progress)], []
        progress = progress or progress_here()
        warnings = group_warnings(groups)
        scored = score_study(study, groups, folder, backend, progress)
        tables, page, explanations = _report(study, groups, scored, folder, (senses, parts), progress)
        return StudyResult(tables, page, explanations, failures, warnings)


def _report(
    study: Study,
    groups: Sequence[Group],
    scored: Sequence[tuple[Group, ScoreTensor]],
    folder: Path,
    lexicon: tuple[Path | None, Path | None],
    progress: Progress,
) -> tuple[Mapping[str, pl.DataFrame], Path, Mapping[str, Explanation]]:
    from weatherglass.reliability.agreement.assess_study import assess_study
    from weatherglass.reliability.regression.explain import explain_study
    from weatherglass.reliability.tables import write_tables
    from weatherglass.report.study.figures import drawings, remove_outdated_figures, save_drawing
    from weatherglass.report.study.page import write_page
    from weatherglass.report.study.plots import coefficient_drawing

    tables = assess_study(study, scored, progress)
    write_tables(folder / TABLES, tables)
    # Without a base pair there is no word to explain.
    has_words = not tables["test_retest_words"].is_empty()
    explanations = explain_study(groups, tables, folder, *lexicon, progress) if has_words else {}
    progress.stage("drawing", 1)
    coefficients = [
        coefficient_drawing(explanation, pairs)
        for pairs, explanation in explanations.items()
        if explanation.parts
    ]
    figures = [
        (drawing, save_drawing(drawing, folder / FIGURES)) for drawing in (*coefficients, *drawings(tables))
    ]
    remove_outdated_figures(folder / FIGURES, {drawing.name for drawing, _ in figures})
    write_page(folder / PAGE, study, tables, figures, study_facts(study, groups), explanations)
    progress.advance()
    return tables, folder / PAGE, explanations


def audit_study(
    folder: Path,
    tests: Sequence[str] = ("weat*",),
    metrics: Sequence[str] = ("cosine/mean",),
    precision: float = PRECISION,
    jobs: int = 1,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> tuple[Run, FamilyReport]:
    """Run tests on every embedding of a study, and report how much the results vary with the seed.

    Args:
        folder: the folder of the study; the run is stored in its subfolder `audit`.
        tests: names, globs or files.
        metrics: spellings of metrics.
        precision: the precision for which the number of seeds is computed.
        jobs: the number of processes.
        progress: an object that receives progress updates.
        command: the words of the command line, for the record.

    Raises:
        CorpusError: if the study has no embeddings.
    """
    from weatherglass.api.audits import run
    from weatherglass.audit.plan import expand_families
    from weatherglass.reliability.agreement.seeds import family_report

    models = [f"{name}=vectors:{pattern}" for name, pattern in embedding_patterns(folder).items()]
    finished = run(
        models,
        list(tests),
        list(metrics),
        jobs=jobs,
        folder=folder / AUDIT,
        progress=progress,
        command=command,
    )
    return finished, family_report(finished.results, expand_families(models)[1], precision)


def study_facts(study: Study, groups: Sequence[Group]) -> list[tuple[str, str]]:
    """Return the name and text of each fact about the scale of a study: corpora, settings, embeddings."""
    facts = []
    corpora = {group.corpus: group.encoded for group in groups if group.encoded is not None}
    for name, corpus in corpora.items():
        source, settings = study.corpora[name]
        facts.append(
            (
                f"corpus {name}",
                f"{len(corpus.tokens):,} tokens, {len(corpus.words):,} words that occur at least "
                f"{settings.min_count} times; "
                f"{'standard input' if source == STANDARD_INPUT else source.name}, "
                f"{100 * settings.share:.0f} % of its lines; "
                f"{language_fact(corpus.words, corpus.counts)}",
            )
        )
    for algorithm, training in study.algorithms.items():
        text = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in asdict(training).items())
        facts.append((algorithm, text))
    embeddings: dict[str, list[str]] = {}
    for group in groups:
        text = "; ".join([f"{len(group.paths)} seeds", *map(str, group.warnings)])
        embeddings.setdefault(text, []).append(f"{group.corpus} {group.algorithm}")
    facts += [(f"embeddings {', '.join(names)}", text) for text, names in embeddings.items()]
    return [*facts, ("rules", f"{', '.join(study.rules)}; {study.neighbours} neighbours")]


TABLES, FIGURES, PAGE = "tables", "figures", "study.html"
SUMMARY = "summary"
CONDITION = ("corpus", "algorithm", "pairs", "measure", "by", "list")
"""The columns of the summary by which two studies are matched."""
SHOWN = (*CONDITION, "words", "median", "median_low", "median_high")


@dataclass(frozen=True, repr=False)
class StudyResult:
    """The tables, page and warnings of a finished study."""

    tables: Mapping[str, pl.DataFrame]
    page: Path
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    """The regression, by set of base pairs, that shows which words are measured reliably."""
    failures: Sequence[str] = ()
    """One line for each embedding that could not be trained."""
    warnings: Sequence[Warning] = ()
    """Warnings about imported embeddings, and about stored scores that were computed again."""

    @property
    def folder(self) -> Path:
        """Return the folder in which the study is stored."""
        return self.page.parent

    def __repr__(self) -> str:
        return f"<StudyResult: {self._title()}>"

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows, which is the summary, below 50 kB."""
        from html import escape

        from weatherglass.report.show import html_table

        rows = [
            [
                "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
                for value in row
            ]
            for row in self.tables[SUMMARY].select(SHOWN).iter_rows()
        ]
        numbers = range(len(CONDITION), len(SHOWN))
        table = html_table(SHOWN, rows, len(rows), list(numbers))
        return f"<div><p><b>{escape(self._title())}</b></p>{table}<p>Page: {escape(str(self.page))}</p></div>"

    def to_frame(self, table: str = SUMMARY, library: str | None = None) -> Any:
        """Return one of the tables.

        Args:
            table: the name of the table, such as "summary", "claims", "scores" or "test_retest_words"; see `tables`.
            library: "polars" (the default) or "pandas".
        """
        from weatherglass.report.show import frame_library, to_frame

        found = self.tables[one_of("table of this study", table, list(self.tables))]
        if frame_library(library) == "polars":
            return found
        return to_frame(found.to_dicts(), library)

    def plot(self, name: str | None = None) -> Axes:
        """Draw a figure of the study with matplotlib's pyplot.

        Args:
            name: the name of the figure's files in the folder `figures`; by default, the first figure.

        Returns:
            The axes of the first panel; `axes.figure.axes` has all.
        """
        from weatherglass.report.figures import in_pyplot
        from weatherglass.report.study.figures import drawings

        made = {drawing.name: drawing.figure for drawing in drawings(self.tables)}
        if not made:
            raise WeatherglassError("the study has no result to plot")
        return in_pyplot(made[one_of("figure of this study", name or next(iter(made)), list(made))])

    def to_latex(self, table: str = SUMMARY, label: str = "tab:reliability") -> str:
        """Return a booktabs table for a paper, with medians and their intervals, or another table of the study.

        Args:
            table: the name of the table; for "summary", only the columns that papers print are used.
            label: the label for \\ref.
        """
        from weatherglass.report.tables import latex_table

        frame = self.to_frame(table, "polars")
        shown = frame.select(SHOWN) if table == SUMMARY else frame
        title = f"Reliability of scores: {table.replace('_', ' ')}, with 95 % intervals"
        return latex_table(shown.columns, shown.iter_rows(), title, label)

    def report(self, path: str | Path | None = None) -> Path:
        """Return the page of the study; with a path, copy it there first."""
        return self.page if path is None else _copied(self.page, checked_path("path", path))

    def save(self, folder: str | Path) -> StudyResult:
        """Copy tables, figures and page to another folder; embeddings and scores are not copied.

        Raises:
            OutputError: if the folder contains a study already, or cannot be written.
        """
        path = checked_path("folder", folder)
        if (path / TABLES).exists():
            raise OutputError(f"{path}: contains a study already; choose another folder")
        try:
            for part in (TABLES, FIGURES):
                if (self.folder / part).is_dir():
                    shutil.copytree(self.folder / part, path / part)
        except OSError as error:
            raise output_error(path, error) from error
        return replace(self, page=_copied(self.page, path / PAGE))

    def compare(self, other: StudyResult | str | Path, library: str | None = None) -> Any:
        """Return the medians of two studies, their intervals and the change, as a frame.

        `apart` is true if the two intervals do not overlap. This is stricter than a test of the change, which would
        need the words of both studies.
        """
        from weatherglass.report.show import to_frame

        there = other if isinstance(other, StudyResult) else load_study(other)
        first, second = (_by_condition(each.tables[SUMMARY]) for each in (self, there))
        rows = [
            {**dict(zip(CONDITION, key, strict=True)), **_change(first[key], second[key])}
            for key in first
            if key in second
        ]
        if not rows:
            raise WeatherglassError("the two studies have no corpus, algorithm, measure and list in common")
        return to_frame(rows, library)

    def _title(self) -> str:
        summary = self.tables[SUMMARY]
        nouns = {"corpus": "corpora", "algorithm": "algorithms", "pairs": "sets of base pairs"}
        numbers = {name: summary[name].n_unique() for name in nouns}
        counts = [f"{number} {nouns[name]}" for name, number in numbers.items()]
        failed = f"; {len(self.failures)} embeddings failed" if self.failures else ""
        return f"reliability of {', '.join(counts)}; {summary.height} rows of summary{failed}"


def load_study(folder: str | Path) -> StudyResult:
    """Read the tables of a finished study in a folder.

    Raises:
        CorpusError: if the folder contains no tables.
    """
    from weatherglass.reliability.tables import read_tables

    path = checked_path("folder", folder)
    return StudyResult(read_tables(path / TABLES), path / PAGE)


def _by_condition(summary: pl.DataFrame) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(row[name] for name in CONDITION): row for row in summary.iter_rows(named=True)}


def _change(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    medians = [_known(each["median"]) for each in (before, after)]
    ends = [_known(each[name]) for each in (before, after) for name in ("median_low", "median_high")]
    low, high, other_low, other_high = ends
    apart = None
    if low is not None and high is not None and other_low is not None and other_high is not None:
        apart = high < other_low or other_high < low
    return {
        "before": medians[0],
        "before_low": low,
        "before_high": high,
        "after": medians[1],
        "after_low": other_low,
        "after_high": other_high,
        "change": None if medians[0] is None or medians[1] is None else medians[1] - medians[0],
        "apart": apart,
    }


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _copied(file: Path, place: Path) -> Path:
    from weatherglass.storage.atomic import write_whole

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, file.read_bytes())
    except OSError as error:
        raise output_error(place, error) from error
    return place

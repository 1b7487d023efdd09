"""`run_study`: a reliability study from its corpora to its tables, figures and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from weatherglass.api.study_results import FIGURES as FIGURES
from weatherglass.api.study_results import PAGE as PAGE
from weatherglass.api.study_results import TABLES as TABLES
from weatherglass.api.study_results import StudyResult as StudyResult
from weatherglass.audit.run import Run
from weatherglass.parallel import Backend, check_backend
from weatherglass.progress import Progress, check_progress, progress_here
from weatherglass.registry import checked_path
from weatherglass.reliability.agreement.seeds import PRECISION, FamilyReport
from weatherglass.reliability.corpus.corpus import language_fact
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

    from weatherglass.reliability.regression.explain import Explanation
    from weatherglass.reliability.scoring.scores import ScoreTensor

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
    """Train, score, assess, explain and report; steps that are already in `folder` are skipped.

    Args:
        study: a study, or the TOML file of one.
        folder: where everything is kept.
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
    from weatherglass.report.study.coefficients import coefficient_drawing
    from weatherglass.report.study.figures import drawings, remove_outdated_figures, save_drawing
    from weatherglass.report.study.page import write_page

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
    """Run tests on every embedding of a study, and report what the seed moves.

    Args:
        folder: of the study; the run is kept in its subfolder `audit`.
        tests: names, globs or files.
        metrics: spellings of metrics.
        precision: for the number of seeds needed.
        jobs: processes to use.
        progress: told how far the work has come.
        command: the words of the command line, for the record.

    Raises:
        CorpusError: if the study has no embeddings.
    """
    from weatherglass.api.audits import run
    from weatherglass.audit.families import expand_families
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
    """Name and text of each fact that shows the scale of a study: corpora, settings, embeddings."""
    facts = []
    corpora = {group.corpus: group.encoded for group in groups if group.encoded is not None}
    for name, corpus in corpora.items():
        source, settings = study.corpora[name]
        facts.append(
            (
                f"corpus {name}",
                f"{len(corpus.tokens):,} tokens, {len(corpus.words):,} words of at least {settings.min_count}; "
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

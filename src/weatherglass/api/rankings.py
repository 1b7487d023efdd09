"""Measure whether the same text ranks the same under another name (`weatherglass.rank`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from weatherglass.audit.plan import PlannedModel, choose_models
from weatherglass.audit.record import environment, now, recorded_call
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.in_memory import models_in
from weatherglass.errors import WeatherglassError
from weatherglass.parallel import backend
from weatherglass.progress import Progress, check_progress, progress_here
from weatherglass.ranking.ranking import (
    DEFAULT_TOP,
    FORMAT,
    JOURNAL,
    RECORD,
    TABLE,
    Ranker,
    Ranking,
    RankOptions,
    parse_top,
    run_ranking,
)
from weatherglass.ranking.scores import (
    ScoreJournal,
    Scorer,
    observe_scores,
    observe_variants,
    read_scores,
    score_pairs,
)
from weatherglass.ranking.texts import Materials, groups_of, read_materials
from weatherglass.ranking.variants import read_variants
from weatherglass.registry import checked_path
from weatherglass.storage.atomic import write_whole, writing_into
from weatherglass.storage.checksum import file_hash, write_checked_json

Texts = str | Path | Sequence[str] | Mapping[str, Sequence[str]] | None
Groups = str | Path | Mapping[str, Any]


def rank(
    models: Any = DEFAULT_MODEL,
    queries: Texts = None,
    passages: Texts = None,
    groups: Groups = "race",
    *,
    top: str | float = DEFAULT_TOP,
    alpha: float = 0.05,
    smallest: float | None = None,
    background: str | Path | None = None,
    scores: str | Path | None = None,
    scorer: Scorer | None = None,
    variants: str | Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> Ranking:
    """Measure how often a text ranks higher under the names of one group than under those of another.

    Args:
        models: specs, or objects in memory as in `run`.
        queries: a file (TOML, JSON lines, CSV, Excel, or one query per line), a list of texts, or lists by topic;
            advertisements of 12 occupations by default.
        passages: the same for passages, each with the slot {name} and optionally {they}, {them}, {their}, {title}; CVs
            by default. Passages of a topic are compared with its queries.
        groups: race, gender, race-gender or age; a file; or names by group, such as {"women": ["Ann", "Eve"], …}.
        top: what is selected from the pool of each query: a share such as "10%", or a number of places.
        alpha: the significance level.
        smallest: the smallest |win rate − 0.5| of interest; it allows the outcome "small".
        background: a file of other passages, one per line, among which each copy is placed alone.
        scores: a table of scores by query, passage and name, for a ranker that is not an embedding; models, queries
            and passages are then not used.
        scorer: a function that takes a list of (query, passage) pairs and returns a score each, such as
            `CrossEncoder(…).predict`; it replaces models.
        variants: a file of queries with their passages in given variants, such as male and female ones, or
            "grep-biasir"; it replaces queries, passages and groups.
        jobs: the number of local processes.
        scheduler: a Dask cluster to use instead.
        shared_dir: a folder that all its machines see under the same path.
        folder: the folder for results; results that it already has are not computed again.
        progress: an object that receives progress updates.
        command: the words of the command line that started this audit, for the record.

    Returns:
        The comparisons of the groups, over all contexts and by topic, each with its outcome.

    Raises:
        WeatherglassError: if an argument is wrong; the error is raised before work starts.

    Example:
        >>> found = rank(groups={"A": ["Ann", "Eve", "Amy"], "B": ["Ben", "Tom", "Max"]})
        >>> found.overall[0].names_x, found.overall[0].contexts
        (3, 144)
    """
    check_progress(progress)
    call = recorded_call(rank, locals())
    options = RankOptions(parse_top(top), alpha, smallest)
    path = checked_path("folder", folder) if folder is not None else None
    shown = progress or progress_here()
    record = {"format": FORMAT, **call, "started": now(), **environment(), "settings": asdict(options)}
    rankers: dict[str, Ranker]
    if variants is not None:
        if (
            any(each is not None for each in (queries, passages, background, scores, scorer))
            or groups != "race"
        ):
            raise WeatherglassError(
                "variants replace queries, passages, groups, background, scores and scorer; remove these "
                "arguments"
            )
        given = read_variants(checked_path("variants", variants))
        planned, workers = choose_models(models_in(models)), backend(jobs, scheduler, shared_dir)
        rankers = {
            label: partial(observe_variants, model, given, workers, shown)
            for label, model in zip(_labels(planned), planned, strict=True)
        }
        record |= {"materials": given.record(), "models": _models(planned)}
    elif scores is not None:
        if scorer is not None:
            raise WeatherglassError("scores and scorer cannot be combined; give one of them")
        if queries is not None or passages is not None or background is not None:
            raise WeatherglassError(
                "scores cannot be combined with queries, passages and background; a "
                "table of scores needs only groups"
            )
        table = checked_path("scores", scores)
        read = read_scores(table, groups_of(groups))
        rankers = {table.name: lambda _: read}
        record["materials"] = {
            "sha256": file_hash(table),
            "contexts_sha256": read.contexts_hash,
            "groups": [asdict(group) for group in read.groups],
        }
    elif scorer is not None:
        if not callable(scorer) or background is not None:
            raise WeatherglassError(
                "scorer should be a function that takes pairs of texts, and cannot be combined with the "
                "argument background"
            )
        materials = read_materials(queries, passages, groups)
        rankers = {_name(scorer): lambda _: score_pairs(scorer, materials, shown)}
        record |= _asked(materials, [])
    else:
        materials = read_materials(queries, passages, groups)
        planned = choose_models(models_in(models))
        others = checked_path("background", background) if background is not None else None
        workers = backend(jobs, scheduler, shared_dir)
        rankers = {
            label: partial(observe_scores, model, materials, workers, shown, background=others)
            for label, model in zip(_labels(planned), planned, strict=True)
        }
        record |= _asked(materials, planned)
    with nullcontext() if path is None else ScoreJournal(path / JOURNAL, "record", dict, dict) as journal:
        found = run_ranking(rankers, options, journal)
        found.record = {**record, "finished": now(), **found.record}
        if journal is not None and path is not None:
            found.record["warnings"] = [warning.to_json() for warning in journal.warnings]
            write_folder(found, path)
        return found


def _name(scorer: Scorer) -> str:
    """Return the name of a function, or of the class that a method belongs to."""
    owner = getattr(scorer, "__self__", None)
    return type(owner).__name__ if owner is not None else getattr(scorer, "__name__", type(scorer).__name__)


def _labels(models: Sequence[PlannedModel]) -> list[str]:
    """Return the name of each model, with its options if two have the same name."""
    names = [model.name for model in models]
    return [m.name if names.count(m.name) == 1 else f"{m.name} ({m.options})" for m in models]


def _asked(materials: Materials, models: Sequence[PlannedModel]) -> dict[str, Any]:
    """Return the part of the record that describes texts and models."""
    return {
        "materials": {"sha256": materials.fingerprint(), **asdict(materials)},
        "models": _models(models),
    }


def _models(models: Sequence[PlannedModel]) -> list[dict[str, Any]]:
    return [
        {"model": m.name, "options": m.options, "identity": m.identity, "resumable": m.resumable}
        for m in models
    ]


def write_folder(found: Ranking, folder: Path) -> None:
    """Write ranking.json, results.tsv, the impact statement and the page."""
    from weatherglass.report.ranking.page import write_page
    from weatherglass.report.ranking.writing import statement, statement_markdown

    impact = statement(found)
    with writing_into(folder):
        write_checked_json(folder / RECORD, found.to_json())
        write_whole(folder / TABLE, found.to_tsv())
        write_checked_json(folder / "statement.json", impact)
        write_whole(folder / "statement.md", statement_markdown(impact))
        write_page(found, folder)

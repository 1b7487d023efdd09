"""`weatherglass.run`: run tests on models, store the results in a folder, and write their page."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.api.results import Run
from weatherglass.audit.adding import check_addable
from weatherglass.audit.families import expand_families
from weatherglass.audit.held import held_run
from weatherglass.audit.plan import Plan, choose_models, choose_synonyms, choose_tests
from weatherglass.audit.profile import chosen_settings, under_profile
from weatherglass.audit.record import CommandCall, PythonCall, plain
from weatherglass.audit.settings import Settings
from weatherglass.catalogue.test import Test
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.in_memory import models_in
from weatherglass.errors import RenamedWarning, has_no_room
from weatherglass.metrics import DEFAULT_METRIC, select_metrics
from weatherglass.metrics.base import Metric
from weatherglass.metrics.weat.measure import Measure
from weatherglass.parallel import Backend, backend
from weatherglass.progress import Progress, check_progress, progress_here
from weatherglass.registry import checked_path
from weatherglass.runs import results
from weatherglass.runs.folder import PAGE, RECORD, RunFolder
from weatherglass.runs.stored import read_record
from weatherglass.storage.atomic import writing_into
from weatherglass.storage.checksum import write_checked_json

if TYPE_CHECKING:
    from weatherglass.audit.registrations import Registration

FAMILIES = "families.json"
"""What a run shows of its families of models."""


def run(
    models: Any = DEFAULT_MODEL,
    tests: Sequence[str | Test] | str | Test = "*",
    metrics: Sequence[str | Measure | Metric] | str | Measure | Metric = DEFAULT_METRIC,
    settings: Settings | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    folder: str | Path | None = None,
    add: bool = False,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
    measures: Sequence[str] | str | None = None,
    **changes: Any,
) -> Run:
    """Run association tests on models.

    Args:
        models: one or several: specs such as "vectors:glove.txt" or "NAME=vectors:glove.txt", and objects in memory:
            gensim KeyedVectors, a SentenceTransformer, a (model, tokenizer) pair, a spaCy pipeline, a dict or frame of
            word vectors, an object with `.encode` or `.transform`, a function texts → array (see `model`). A dict
            gives names: {"old": before, "new": after}. A * in a path stands for a family, such as the seeds of one
            embedding, whose spread is then in record["families"].
        tests: names, globs, paths of files or folders, or tests of your own; all 46 published ones by default.
        metrics: spellings such as "cosine/mean", globs over them, or metrics of your own.
        settings: how to test and judge; see `Settings`.
        jobs: local processes to use.
        scheduler: a Dask cluster to use instead: tcp://HOST:PORT or a scheduler file; or ENGINE:ADDRESS with an
            engine of another package.
        shared_dir: a folder that all its machines see under the same path.
        folder: where journal, table and record are kept; what is there already is not computed again.
        add: whether the results that the folder holds stay beside these, in one table, correction and page;
            else the folder shows this run only.
        progress: told how far the work has come.
        command: the words of the command line that asked for this run, for its record.
        measures: the name of `metrics` in version 0.1; works with a warning.
        changes: fields of the settings by name, such as alternative="two-sided" or trust="none".

    Returns:
        The results, in the order models × tests × metrics, with the record of the run.

    Raises:
        WeatherglassError: if an argument is wrong; raised before work starts.
    """
    models = models_in(models)
    check_progress(progress)
    call = CommandCall.of(command) if command is not None else PythonCall.of(run, locals())
    if measures is not None:
        warnings.warn("measures= is now metrics=", RenamedWarning, stacklevel=2)
        metrics = measures
    chosen = chosen_settings(settings, changes, run)
    asked_for = _listed(metrics)
    named = [metric for metric in asked_for if not (isinstance(metric, str) and "*" in metric)]
    selected = under_profile(select_metrics(asked_for), chosen.profile)
    by_name = {m.name for m in under_profile(select_metrics(named), chosen.profile)} if named else set()
    members, families = expand_families(models)
    plan = Plan(
        choose_models(members),
        choose_tests(_listed(tests)),
        selected,
        chosen,
        choose_synonyms(chosen.synonyms),
        frozenset(metric.name for metric in selected) - by_name,
    )
    plan.check()
    workers = backend(
        jobs, scheduler, checked_path("shared_dir", shared_dir) if shared_dir is not None else None
    )
    registrations = _registrations(plan, workers)
    shown = progress or progress_here()
    if folder is None:
        done = _carry_out(plan, call, workers, shown, registrations)
        return _with_families(Run.of(done), families)
    with RunFolder(checked_path("folder", folder)) as opened:
        added_to = read_record(opened.path) if add and (opened.path / RECORD).exists() else None
        if added_to:
            check_addable(added_to, plan, plain(asdict(chosen)))
        finished = held_run(plan, call, opened) if not add else None
        if finished is None:
            finished = _carry_out(plan, call, workers, shown, registrations, opened, added_to)
            finished.record["warnings"] += _write_page(Run.of(finished, opened.path), opened)
        return _with_families(Run.of(finished, opened.path), families, opened.path)


def _registrations(plan: Plan, workers: Backend) -> tuple[Registration, ...]:
    """What other processes have to be told; a lambda that cannot be sent is refused before anything is written."""
    if workers.in_process:
        return ()
    from weatherglass.audit.registrations import registrations_for

    return registrations_for(plan.metrics, plan.settings.covariance)


def _carry_out(
    plan: Plan,
    call: CommandCall | PythonCall,
    workers: Backend,
    progress: Progress,
    registrations: tuple[Registration, ...],
    folder: RunFolder | None = None,
    added_to: Mapping[str, Any] | None = None,
) -> results.Run:
    from weatherglass.audit.audit import Audit  # with all that computes, which a finished run does not need

    return Audit(plan, call, workers, progress, folder, registrations, added_to).carry_out()


def _with_families(finished: Run, families: Mapping[str, Sequence[str]], folder: Path | None = None) -> Run:
    """The same run with what it shows of its families in the record and, if there is a folder, in its families.json."""
    if families:
        from weatherglass.reliability.families import family_report

        shown = family_report(finished.results, families).to_json()
        finished.record["families"] = shown
        if folder is not None:
            with writing_into(folder):
                write_checked_json(folder / FAMILIES, shown)
    return finished


def _listed(given: Any) -> Sequence[Any]:
    """One thing or several, as several."""
    return given if isinstance(given, list | tuple) else [given]


def _write_page(finished: Run, folder: RunFolder) -> list[str]:
    """Write report.html; whatever is wrong with a page, the results stand, so that it is only a warning.

    From what is in memory: to read a large run back would take as long as to write its page, on one core.

    Raises:
        NoRoomError: if the disk is full, which is no fault of the page.
    """
    from weatherglass.report.page.html import write_page  # jinja2, only where there is a page to write

    try:
        write_page(finished.stored())
    except Exception as error:
        if has_no_room(error):
            raise folder.unwritable(error) from error
        return [f"{PAGE} was not written: {error or type(error).__name__}"]
    return []

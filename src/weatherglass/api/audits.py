"""Run tests on models, store the results in a folder, and write their page (`weatherglass.run`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.audit.folder import PAGE, RECORD, RunFolder
from weatherglass.audit.plan import Plan, choose_models, choose_tests, expand_families
from weatherglass.audit.record import cached_run, check_addable, recorded_call
from weatherglass.audit.registrations import registrations_for
from weatherglass.audit.run import Run
from weatherglass.audit.settings import Settings, chosen_settings
from weatherglass.audit.stored import read_record
from weatherglass.catalogue.pairs import PAIRS
from weatherglass.catalogue.test import Test
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.in_memory import models_in
from weatherglass.errors import WeatherglassError
from weatherglass.metrics import DEFAULT_METRIC, select_metrics
from weatherglass.metrics.base import Metric
from weatherglass.metrics.weat.association import Association
from weatherglass.metrics.weat.metric import under_profile
from weatherglass.parallel import backend
from weatherglass.progress import Progress, check_progress, progress_here
from weatherglass.registry import checked_path
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    from weatherglass.audit.contexts import Contexts


def run(
    models: Any = DEFAULT_MODEL,
    tests: Sequence[str | Test] | str | Test = "*",
    metrics: Sequence[str | Association | Metric] | str | Association | Metric = DEFAULT_METRIC,
    settings: Settings | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    folder: str | Path | None = None,
    add: bool = False,
    contexts: str | Path | Sequence[str] | Contexts | None = None,
    per_word: int = 100,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
    **changes: Any,
) -> Run:
    """Run association tests on models.

    Args:
        models: one model or several. A model is a spec such as "vectors:glove.txt" or "NAME=vectors:glove.txt", or an
            object in memory: gensim KeyedVectors, a SentenceTransformer, a (model, tokenizer) pair, a spaCy pipeline,
            a dict or frame of word vectors, an object with `.encode` or `.transform`, a function texts → array (see
            `model`). A dict gives names, as in {"old": before, "new": after}. A * in a path selects a family of
            models, such as the seeds of one embedding; record["families"] then has their spread.
        tests: names, globs, paths of files or folders, or tests of your own; by default, all 46 published tests, or
            the catalogue's sentence pairs if all metrics are for pairs.
        metrics: spellings such as "cosine/mean", globs over them, or metrics of your own.
        settings: the settings for testing and judging; see `Settings`.
        jobs: the number of local processes.
        scheduler: a Dask cluster to use instead (tcp://HOST:PORT or a scheduler file), or ENGINE:ADDRESS with an
            engine of another package.
        shared_dir: a folder that all machines of the cluster see under the same path.
        folder: the folder of journal, table and record; results that it already has are not computed again.
        add: whether to add the new results to those in the folder, with one table, correction and page; if False, the
            folder shows only this run.
        contexts: a corpus whose sentences the words of the tests are encoded in: a file or folder, contexts.json of an
            earlier run or its folder, or a list of texts. Each word is encoded in a sample of the sentences that
            contain it, and its vectors are averaged; tests must be of single words, and get the name context-NAME.
        per_word: the maximum number of sentences per word.
        progress: an object that receives progress updates.
        command: the words of the command line that started this run, for its record.
        changes: fields of the settings by name, such as alternative="two-sided" or trust="none".

    Returns:
        The results, in the order models × tests × metrics, with the record of the run.

    Raises:
        WeatherglassError: if an argument is wrong; the error is raised before work starts.
    """
    models = models_in(models)
    check_progress(progress)
    call = recorded_call(run, locals())
    chosen = chosen_settings(settings, changes, run)
    given: Sequence[Any] = (metrics, tests)
    asked_for, asked_tests = (some if isinstance(some, list | tuple) else [some] for some in given)
    selected = select_metrics(asked_for)
    all_tests = len(asked_tests) == 1 and isinstance(asked_tests[0], str) and asked_tests[0] == "*"
    if all_tests and all(metric.info.shape.attributes.most == 0 for metric in selected):
        asked_tests = [PAIRS]
    named = [metric for metric in asked_for if not (isinstance(metric, str) and "*" in metric)]
    by_name = selected if len(named) == len(asked_for) else select_metrics(named) if named else []
    if chosen.profile:
        selected, by_name = (under_profile(some, chosen.profile) for some in (selected, by_name))
    synonyms = chosen.synonyms or {}
    if isinstance(synonyms, str):
        from weatherglass.languages.lexicon import load_synonyms

        synonyms = load_synonyms(synonyms)
    members, families = expand_families(models)
    chosen_tests = choose_tests(asked_tests)
    if contexts is not None:
        from weatherglass.audit.contexts import in_contexts

        chosen_tests = list(map(in_contexts, chosen_tests))
    plan = Plan(
        choose_models(members),
        chosen_tests,
        selected,
        chosen,
        synonyms,
        frozenset(metric.name for metric in selected) - {metric.name for metric in by_name},
    )
    for profile in plan.profiles:
        if profile.combines_draws and contexts is None:
            raise WeatherglassError(
                f"profile '{profile.name}' combines single sentences of each word; add --contexts CORPUS"
            )
    if contexts is not None:
        plan = _with_contexts(plan, contexts, per_word, folder, progress or progress_here())
    workers = backend(jobs, scheduler, shared_dir)
    # Other processes need these values; a lambda, which cannot be sent, is refused before anything is written.
    registrations = () if workers.in_process else registrations_for(plan.metrics, chosen.covariance)
    with nullcontext() if folder is None else RunFolder(checked_path("folder", folder)) as opened:
        added_to = None
        if opened and not add:
            if (cached := cached_run(plan, call, opened)) is not None:
                return cached.stored_in(opened.folder)
        elif opened and (opened.folder / RECORD).exists():
            added_to = read_record(opened.folder)
            check_addable(added_to, plan)
        from weatherglass.audit.audit import (
            Audit,  # slow to import, and not needed for a cached run
        )

        if opened and plan.contexts:
            with opened.writing():
                plan.contexts.write(opened.folder)
        shown = progress or progress_here()
        finished = Audit(plan, call, workers, shown, opened, registrations, added_to).run()
        if families:
            from weatherglass.reliability.agreement.seeds import family_report

            finished.record["families"] = family_report(finished.results, families).to_json()
        if opened is None:
            return finished
        if families:
            opened.write_record(finished.record)
        finished = finished.stored_in(opened.folder)
        finished.record["warnings"] += [warning.to_json() for warning in _write_page(finished, opened)]
        return finished


def _with_contexts(
    plan: Plan,
    source: object,
    per_word: int,
    folder: str | Path | None,
    progress: Progress,
) -> Plan:
    """Return a plan with sentences of a corpus that contain the words of its tests and transforms."""
    from weatherglass.audit.contexts import check_gives_words
    from weatherglass.reliability.corpus.contexts import contexts_for

    for metric in plan.metrics:
        if metric.info.needs != "vectors":
            raise WeatherglassError(
                f"{metric.name} needs {metric.info.needs}, but contexts give vectors of words"
            )
    words: dict[str, None] = {}
    for model in plan.models:
        check_gives_words(model.encoder)
        words.update(dict.fromkeys(plan.texts(model, [row for row in plan.rows if row.model is model])))
    place = checked_path("folder", folder) if folder is not None else None
    return replace(
        plan, contexts=contexts_for(source, list(words), per_word, plan.settings.seed, place, progress)
    )


def _write_page(finished: Run, folder: RunFolder) -> list[Warning]:
    """Write report.html; if it cannot be made, return a warning, since the results are valid without the page.

    The page is made from the run in memory, since reading a large run takes as long as writing its page.

    Raises:
        OutputError: if the file cannot be written; with --quiet, nobody would see a warning.
    """
    from weatherglass.report.page import write_page  # imports jinja2

    try:
        write_page(finished)
    except OSError as error:
        raise folder.unwritable(error) from error
    except Exception as error:
        return [Warning.of("page-not-written", page=PAGE, reason=str(error) or type(error).__name__)]
    return []

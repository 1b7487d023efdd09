"""Run every reasonable combination of choices, and store results and curves in a folder
(`weatherglass.multiverse`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.audit.folder import CONTEXTS
from weatherglass.audit.multiverse_p import FORMAT
from weatherglass.audit.record import environment, now, recorded_call
from weatherglass.catalogue.test import Test
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.in_memory import models_in
from weatherglass.errors import WeatherglassError
from weatherglass.multiverses.choices import (
    CHOICES,
    LOG_PROBABILITY,
    Choices,
    ModelViews,
    measure,
    model_views,
    raw_similarity,
    select_tests,
    word_lists,
)
from weatherglass.multiverses.contexts import ContextViews
from weatherglass.multiverses.language_models import LanguageModelViews
from weatherglass.multiverses.multiverse import Multiverse, run_multiverse
from weatherglass.parallel import backend
from weatherglass.progress import Progress, check_progress, progress_here
from weatherglass.registry import checked_path, checked_texts, suggestion
from weatherglass.storage.atomic import write_whole, writing_into
from weatherglass.storage.checksum import write_checked_json
from weatherglass.storage.journal import Journal

if TYPE_CHECKING:
    from weatherglass.audit.contexts import Contexts
    from weatherglass.audit.registrations import Registration

JOURNAL = "multiverse.jsonl"
RECORD = "multiverse.json"


def multiverse(
    models: Any = DEFAULT_MODEL,
    tests: Sequence[str | Test] | str | Test = "*",
    choices: Sequence[str] | str = CHOICES,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    folder: str | Path | None = None,
    contexts: str | Path | Sequence[str] | Contexts | None = None,
    per_word: int = 100,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
    **changes: Any,
) -> Multiverse:
    """Compute d under every combination of reasonable choices, and test them together.

    Args:
        models: specs, or objects in memory as in `run`; a pattern such as "vectors:study/forum-sgns-*.safetensors" is
            one model with a seed per file.
        tests: topics ("gender and career"), names, globs, paths, or tests of your own; all 46 published tests by
            default.
        choices: the choices to vary; those that a model lacks are skipped.
        jobs: the number of local processes.
        scheduler: a Dask cluster to use instead (tcp://HOST:PORT or a scheduler file), or ENGINE:ADDRESS with an
            engine of another package.
        shared_dir: a folder that all machines of the cluster see under the same path.
        folder: the folder for results and curves; results that it already has are not computed again.
        contexts: a corpus whose sentences the words are encoded in, as in `run`. Tests of single words are run, and
            halves of the sentences, their length, the pooling of a word's pieces and the layer are varied.
        per_word: the maximum number of sentences per word.
        progress: an object that receives progress updates.
        command: the words of the command line, for the record.
        changes: other fields of `Choices`, such as similarities=("cosine", "mahalanobis") or alpha=0.01. With
            similarities=("log-probability",), tests of single words are run on masked language models, and template,
            casing, pieces and score are varied.

    Returns:
        The specifications of each topic and model, their p, the choices that change d, and those that change the
        conclusion.

    Raises:
        WeatherglassError: if an argument is wrong; the error is raised before work starts.
    """
    models = models_in(models)
    check_progress(progress)
    call = recorded_call(multiverse, locals())
    tupled: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()
    }
    varied = checked_texts("choices", [choices] if isinstance(choices, str) else choices)
    _check_names(changes)
    chosen = Choices(varied=tuple(varied), **tupled)
    found: dict[str, Test] = {}
    for item in _listed(tests):
        found |= {test.name: test for test in ([item] if isinstance(item, Test) else select_tests([item]))}
    if not found:
        raise WeatherglassError("no test is given; omit tests to run all of them")
    if chosen.of_language_models:
        found = {name: test for name, test in found.items() if test.context == "word"}
        if not found:
            raise WeatherglassError(f"{LOG_PROBABILITY} makes its own sentences; use tests of single words")
    path = checked_path("folder", folder) if folder is not None else None
    if contexts is not None:
        found = _in_contexts(found, chosen)
    lists = word_lists(list(found.values()))
    workers = backend(jobs, scheduler, shared_dir)
    known = () if workers.in_process else _registrations(chosen)
    views: Sequence[ModelViews] = [model_views(model, chosen) for model in models]
    shown = progress or progress_here()
    record = {"format": FORMAT, **call, "started": now(), **environment(), "settings": asdict(chosen)}
    if chosen.of_language_models:
        views = [LanguageModelViews.of(each, chosen) for each in views]
    sample = None
    if contexts is not None:
        sample = _sample(contexts, views, found.values(), chosen, per_word, path, shown)
        views = [ContextViews.of(each, sample, chosen) for each in views]
        record["contexts"] = {**sample.source, "file": CONTEXTS}
    if path is None:
        return replace(run_multiverse(views, lists, chosen, workers, shown, None, known), record=record)
    with Journal[dict[str, Any]](path / JOURNAL, "record", dict, dict) as journal:
        if sample is not None:
            with writing_into(path):
                sample.write(path)
        done = run_multiverse(views, lists, chosen, workers, shown, journal, known)
        finished = replace(
            done,
            record={
                **record,
                "finished": now(),
                "warnings": [warning.to_json() for warning in journal.warnings],
            },
        )
        write_folder(finished, path)
        return finished


def _in_contexts(tests: Mapping[str, Test], choices: Choices) -> dict[str, Test]:
    """Return the tests of single words as tests of these words in contexts; a topic may have others, too."""
    from weatherglass.audit.contexts import in_contexts

    if choices.of_language_models:
        raise WeatherglassError(f"{LOG_PROBABILITY} makes its own sentences; omit contexts")
    of_words = {name: in_contexts(test) for name, test in tests.items() if test.context == "word"}
    if not of_words:
        in_contexts(next(iter(tests.values())))  # its message names the reason
    return of_words


def _sample(
    source: object,
    views: Sequence[ModelViews],
    tests: Iterable[Test],
    choices: Choices,
    per_word: int,
    folder: Path | None,
    progress: Progress,
) -> Contexts:
    """Return sentences with the words of the tests and of the models' transforms."""
    from weatherglass.audit.contexts import check_gives_words
    from weatherglass.reliability.corpus.contexts import contexts_for

    words = dict.fromkeys(text for test in tests for text in test.texts)
    for each in views:
        for model in each.members.values():
            check_gives_words(model.encoder)  # before a corpus is read
            words |= dict.fromkeys(model.texts())
    return contexts_for(source, list(words), per_word, choices.seed, folder, progress)


def _registrations(choices: Choices) -> tuple[Registration, ...]:
    """Return the registrations that other processes need; a lambda is refused before anything is written."""
    from weatherglass.audit.registrations import registrations_of
    from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS
    from weatherglass.metrics.weat.covariance import ESTIMATORS

    raw = {measure(s, t).statistic for s in choices.similarities for t in choices.statistics}
    names = (
        [(SIMILARITIES, raw_similarity(name)) for name in choices.similarities],
        [(STATISTICS, name) for name in sorted(raw)],
    )
    return registrations_of([*names[0], *names[1], (ESTIMATORS, choices.covariance)])


def _check_names(given: Iterable[str]) -> None:
    """Refuse a name that is neither an argument of `multiverse` nor a field of `Choices`."""
    known = [each.name for each in fields(Choices) if each.name != "varied"]
    arguments = [name for name in signature(multiverse).parameters if name != "changes"]
    for name in given:
        if name not in known:
            raise WeatherglassError(f"unknown argument '{name}'{suggestion(name, [*arguments, *known])}")


def _listed(given: Any) -> Sequence[Any]:
    """Return the argument as a list; a single value becomes a list of one."""
    return given if isinstance(given, list | tuple) else [given]


def write_folder(finished: Multiverse, folder: Path) -> None:
    """Write multiverse.json, specifications.tsv, a curve per list and model, and the page that shows them."""
    from weatherglass.report.multiverse import specifications_tsv, write_page

    with writing_into(folder):
        write_checked_json(folder / RECORD, finished.to_json())
        write_whole(folder / "specifications.tsv", specifications_tsv(finished.topics))
        write_page(finished, folder)

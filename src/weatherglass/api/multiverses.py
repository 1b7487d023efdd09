"""`weatherglass.multiverse`: every sensible choice of an audit at once, stored in a folder with its curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

from weatherglass.api.multiverse_results import Multiverse
from weatherglass.audit.record import CommandCall, PythonCall, environment, now
from weatherglass.catalogue.test import Test
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.in_memory import models_in
from weatherglass.errors import WeatherglassError
from weatherglass.multiverses import multiverse as multiverses
from weatherglass.multiverses.knobs import KNOBS, Knobs
from weatherglass.multiverses.lists import select_tests, word_lists
from weatherglass.multiverses.models import model_views
from weatherglass.multiverses.multiverse import carry_out
from weatherglass.progress import Progress, check_progress, progress_here
from weatherglass.registry import checked_path, checked_texts, suggestion
from weatherglass.storage.atomic import write_whole, writing_into
from weatherglass.storage.checksum import write_checked_json
from weatherglass.storage.journal import Journal

JOURNAL = "multiverse.jsonl"
RECORD = "multiverse.json"


def multiverse(
    models: Any = DEFAULT_MODEL,
    tests: Sequence[str | Test] | str | Test = "*",
    knobs: Sequence[str] | str = KNOBS,
    *,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
    **changes: Any,
) -> Multiverse:
    """Compute d under every combination of sensible choices, and test them together.

    Args:
        models: specs, or objects in memory as `run` takes them; a pattern such as
            "vectors:study/forum-sgns-*.safetensors" is one model with a seed per file.
        tests: topics ("gender and career"), names, globs, paths, or tests of your own; all 46 published by default.
        knobs: which choices are varied; those that a model lacks are passed over.
        folder: where results and curves are written; what is there already is not computed again.
        progress: told how far the work has come.
        command: the words of the command line that asked for this, for the record.
        changes: other fields of `Knobs`, such as similarities=("cosine", "mahalanobis") or alpha=0.01.

    Returns:
        Per topic and model the specifications, their joint p, what moves d, and what the conclusion hangs on.

    Raises:
        WeatherglassError: if an argument is wrong; raised before work starts.
    """
    models = models_in(models)
    check_progress(progress)
    call = CommandCall.of(command) if command is not None else PythonCall.of(multiverse, locals())
    tupled: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()
    }
    turned = checked_texts("knobs", [knobs] if isinstance(knobs, str) else knobs)
    _check_names(changes)
    chosen = Knobs(turned=tuple(turned), **tupled)
    found: dict[str, Test] = {}
    for item in _listed(tests):
        found |= {test.name: test for test in ([item] if isinstance(item, Test) else select_tests([item]))}
    if not found:
        raise WeatherglassError("no test is asked for; leave out tests for all of them")
    path = checked_path("folder", folder) if folder is not None else None
    lists = word_lists(list(found.values()))
    views = [model_views(model, chosen) for model in models]
    record = {**call.record(), "started": now(), **environment(), "settings": chosen.to_json()}
    shown = progress or progress_here()
    if path is None:
        return Multiverse.of(replace(carry_out(views, lists, chosen, shown), record=record))
    with Journal(path / JOURNAL) as journal:
        done = carry_out(views, lists, chosen, shown, journal)
        finished = replace(done, record={**record, "finished": now(), "warnings": list(journal.warnings)})
        write_folder(finished, path)
        return Multiverse.of(finished)


def _check_names(given: Iterable[str]) -> None:
    """Refuse a name that is neither an argument of `multiverse` nor a field of `Knobs`."""
    known = [each.name for each in fields(Knobs) if each.name != "turned"]
    arguments = [name for name in signature(multiverse).parameters if name != "changes"]
    for name in given:
        if name not in known:
            raise WeatherglassError(f"unknown argument '{name}'{suggestion(name, [*arguments, *known])}")


def _listed(given: Any) -> Sequence[Any]:
    """One thing or several, as several."""
    return given if isinstance(given, list | tuple) else [given]


def write_folder(finished: multiverses.Multiverse, folder: Path) -> None:
    """Write multiverse.json, specifications.tsv, a curve per list and model, and the page that shows them."""
    from weatherglass.report.multiverse.page import write_page
    from weatherglass.report.multiverse.tables import specifications_tsv

    with writing_into(folder):
        write_checked_json(folder / RECORD, finished.to_json())
        write_whole(folder / "specifications.tsv", specifications_tsv(finished.topics))
        write_page(finished, folder)

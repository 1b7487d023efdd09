"""Build the record of a run, run.json, which states the request, how each number was computed, and the outcome."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

from weatherglass import __version__
from weatherglass.audit.folder import CONTEXTS, FORMAT, PAGE, RECORD, RunFolder, is_current
from weatherglass.audit.judge import family_sizes, judge
from weatherglass.audit.plan import Plan
from weatherglass.audit.results import Failure, Result, plain_value
from weatherglass.audit.run import Run
from weatherglass.audit.settings import default_settings
from weatherglass.audit.stored import record_if_readable
from weatherglass.audit.verdict import Verdict, with_outcomes
from weatherglass.errors import WeatherglassError
from weatherglass.registry import checked_texts
from weatherglass.storage.installed import installed_version
from weatherglass.warnings import Warning, as_warning, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "wordllama",
    "torch",
    "transformers",
    "sentence-transformers",
    "gensim",
)
"""Libraries whose version can change a number."""


def recorded_call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the command line or the Python call that started a run, as run.json records it.

    Arguments that have their default value are not recorded.

    Args:
        function: the function that was called.
        arguments: the values of its parameters; `changes` are fields of its settings, and `command` has the words of
            the command line, None for a call in Python. An object is recorded by its class and name.

    Raises:
        WeatherglassError: if the words of the command are not texts.
    """
    if arguments["command"] is not None:
        return {"called": "command line", "command": checked_texts("command", arguments["command"])}
    defaults = {name: parameter.default for name, parameter in signature(function).parameters.items()}
    defaults |= default_settings()
    named = {name: value for name, value in arguments.items() if name not in (*NOT_RECORDED, "changes")}
    given = {
        name: written
        for name, value in {**named, **arguments.get("changes", {})}.items()
        if (written := plain_value(value)) != plain_value(defaults.get(name))
    }
    return {"called": "python", "function": f"weatherglass.{function.__name__}", "arguments": given}


NOT_RESUMABLE = (
    "not resumable: the content of this object cannot be hashed; the same call would compute all results "
    "again"
)
NOT_RECORDED = ("command", "progress")
"""Arguments of a run that do not affect its results."""


def run_record(
    plan: Plan,
    call: Mapping[str, Any],
    started: str,
    *,
    added_to: Mapping[str, Any] | None = None,
    kept: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the record of a run before anything is computed: models, tests, settings, versions and the call.

    Args:
        call: the result of `recorded_call`. started: the time at which work began.
        added_to: the record of the run that this one is added to.
        kept: the keys of the results of that run that are kept.
    """
    record = {
        "format": FORMAT,
        "status": "running",
        **call,
        "started": started,
        "finished": started,
        **environment(),
        "models": [
            {
                "model": model.name,
                "options": model.options,
                "identity": model.identity,
                "resumable": model.resumable,
                "notes": [],
            }
            for model in plan.models
        ],
        "tests": plan.fingerprints,
        "topics": {test.name: test.topic or test.name for test in plan.tests},
        "metrics": [metric.name for metric in plan.metrics],
        "metric_packages": plan.packages,
        "settings": plain_value(asdict(plan.settings)),
        "keys": [row.key for row in plan.rows],
        "result_count": 0,
        "correction": {
            "method": plan.settings.correction,
            "alpha": plan.settings.alpha,
            "family": plan.settings.family,
            "smallest": plan.settings.smallest,
            "sizes": {},
        },
        "citations": sorted({test.citation for test in plan.tests if test.citation}),
    }
    if plan.contexts:
        counts = {word: each.found for word, each in plan.contexts.words.items()}
        record["contexts"] = {**plan.contexts.source, "file": CONTEXTS, "found": counts}
    return merged_record(record, added_to, kept) if added_to else record


def finished_record(
    record: Mapping[str, Any],
    plan: Plan,
    results: Sequence[Result],
    failures: Sequence[Failure],
    unreadable: Sequence[Warning],
    status: str,
) -> dict[str, Any]:
    """Return the record of a finished run, with the request and what was computed.

    Args:
        record: the result of `run_record`.
        unreadable: warnings about lines of the folder's journal that could not be read.
        status: complete, incomplete (some tests could not be run) or interrupted.
    """
    # Notes of the encoder, and whether a later run can recognise the model.
    notes = {
        (model.name, model.options): [*model.encoder.notes(), *([] if model.resumable else [NOT_RESUMABLE])]
        for model in plan.models
    }
    missing: dict[str, dict[str, Any]] = {}
    for result in results:
        if oov := result.notes.get("oov"):
            missing.setdefault(result.model, {})[result.test] = oov
    cautions = {metric.name: metric.info.caution for metric in plan.metrics if metric.info.caution}
    warnings = [
        *unreadable,
        *(as_warning(warning).about(m.name) for m in plan.models for warning in m.encoder.warnings()),
        *(Warning.of("profile", profile=p.name, caution=p.caution, habits=p.habits) for p in plan.profiles),
        *(Warning.of("metric", metric=name, caution=caution) for name, caution in cautions.items()),
        *collected_warnings(results),
    ]
    return {
        **record,
        "status": status,
        "finished": now(),
        "models": [
            {**model, "notes": notes.get((model["model"], model["options"]), model["notes"])}
            for model in record["models"]
        ],
        "result_count": len(results),
        "correction": {**record["correction"], "sizes": family_sizes(results, plan.settings.family)},
        "power": {f"{r.units_x} + {r.units_y} {r.permute}": dict(r.power) for r in results if r.power},
        "headline": headline(plan, results) if plan.profiles else None,
        "missing_words": missing,
        "warnings": [warning.to_json() for warning in warnings],
        "failures": [{"model": f.model, "test": f.test, "reason": f.reason} for f in failures],
    }


def headline(plan: Plan, results: Sequence[Result]) -> dict[str, Any] | None:
    """Return the one number that a profile reports over all tests; None if no profile reports one."""
    for profile in plan.profiles:
        names = {metric.name for metric in plan.metrics if getattr(metric, "profile", "") == profile.name}
        values = [abs(r.effect_size) for r in results if r.metric in names and not math.isnan(r.effect_size)]
        if profile.headline and values:
            return {"profile": profile.name, "name": "mean of |d|", "value": math.fsum(values) / len(values)}
    return None


def environment() -> dict[str, Any]:
    """Return the versions and the machine, without anything that identifies the user."""
    return {
        "weatherglass": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(_versions()),
    }


@cache
def _versions() -> dict[str, str]:
    """Return the versions of the packages that affect results; they do not change while the program runs."""
    return {name: version for name in PACKAGES if (version := installed_version(name))}


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def collected_warnings(results: Sequence[Result]) -> list[Warning]:
    """Return each warning of the results once, with its subject, which is a test, a test on a model, or a row.

    The model and the metric are named only if the run has several.
    """
    models = len({(result.model, result.options) for result in results}) > 1
    metrics = len({result.metric for result in results}) > 1
    found: dict[Warning, None] = {}
    for result in results:
        for warning in result.warnings:
            about = kind_of(warning.kind).about
            which = [result.model] * (models and about != "test") + [result.metric] * (
                metrics and about == "row"
            )
            row = result.row if about == "row" else result.test
            found[warning.about(f"{row} ({', '.join(which)})" if which else row)] = None
    return list(found)


def check_addable(record: Mapping[str, Any], plan: Plan) -> None:
    """Refuse to add results that do not fit into one table and one correction with those in the folder.

    Args:
        record: the record of the run in the folder.
        plan: the plan to add.

    Raises:
        WeatherglassError: if a setting, model or test differs from the run in the folder; the message names it.
    """
    before = record["settings"]
    for name, value in plain_value(asdict(plan.settings)).items():
        if value != before.get(name):
            raise WeatherglassError(
                f"cannot add: {name} is {value}, but {before.get(name)} in the existing run; use the same "
                "settings, or choose another folder with -o"
            )
    identities = {(model["model"], model["options"]): model["identity"] for model in record["models"]}
    for model in plan.models:
        if identities.get((model.name, model.options), model.identity) != model.identity:
            raise WeatherglassError(
                f"cannot add: the model '{model.name}' has changed since that run; choose another folder with -o"
            )
    for name, fingerprint in plan.fingerprints.items():
        if record["tests"].get(name, fingerprint) != fingerprint:
            raise WeatherglassError(
                f"cannot add: the test '{name}' has changed since that run; choose another folder with -o"
            )


def kept_keys(record: Mapping[str, Any], plan: Plan, finished: Mapping[str, Result]) -> list[str]:
    """Return the keys of the earlier results that are kept because the plan does not compute them."""
    planned = {row.key for row in plan.rows}
    return [key for key in record["keys"] if key in finished and key not in planned]


def merged_record(
    record: Mapping[str, Any], earlier: Mapping[str, Any], keys: Sequence[str]
) -> dict[str, Any]:
    """Return one record of both runs; entries computed from results already cover both runs."""
    named = {(model["model"], model["options"]) for model in record["models"]}
    others = [model for model in earlier["models"] if (model["model"], model["options"]) not in named]
    return {
        **record,
        "models": [*others, *record["models"]],
        "tests": {**earlier["tests"], **record["tests"]},
        "topics": {**earlier.get("topics", {}), **record["topics"]},
        "metrics": list(dict.fromkeys([*earlier["metrics"], *record["metrics"]])),
        "keys": [*keys, *record["keys"]],
        "citations": sorted({*earlier.get("citations", []), *record["citations"]}),
        "added_to": [*earlier.get("added_to", []), earlier.get("command") or earlier.get("function") or ""],
    }


NOT_COMPARED = ("started", "finished", "verdicts", "outcomes", "agreement", "families", "models", "warnings")
"""Entries of a record that may differ between equal runs, or that are compared only in part."""


def cached_run(plan: Plan, call: Mapping[str, Any], folder: RunFolder) -> Run | None:
    """Return the run in the folder if it is complete, matches the plan, and has its table and page; otherwise None.

    Args:
        plan: the requested plan.
        call: the result of `recorded_call`.
        folder: the opened folder.
    """
    keys = tuple(row.key for row in plan.rows)
    if any(key not in folder.finished for key in keys):
        return None
    record = record_if_readable(folder.folder)
    if record is None or not is_current(folder.folder / PAGE, folder.folder / RECORD):
        return None
    if len(record.get("outcomes") or ()) != len(keys):
        return None
    results = judge([folder.finished[key] for key in keys], plan.settings)
    results = with_outcomes(results, record["outcomes"])
    asked_for = finished_record(run_record(plan, call, now()), plan, results, [], folder.warnings, "complete")
    if not _is_same(record, json.loads(json.dumps(asked_for))) or not folder.table_is_current(results):
        return None
    return Run(results, [], record, keys, judged=tuple(map(Verdict.from_json, record["verdicts"])))


def _is_same(held: Mapping[str, Any], asked_for: Mapping[str, Any]) -> bool:
    """Return whether two records describe the same run, which means that they differ only in times and encoding
    details.
    """
    names = {*held, *asked_for} - {*NOT_COMPARED}
    if any(name not in held for name in ("verdicts", "agreement")) or any(
        name not in held or name not in asked_for or held[name] != asked_for[name] for name in names
    ):
        return False
    models = [[{**model, "notes": []} for model in record["models"]] for record in (held, asked_for)]
    known = set(map(as_warning, held["warnings"]))
    return models[0] == models[1] and known.issuperset(map(as_warning, asked_for["warnings"]))

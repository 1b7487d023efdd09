"""The record of a run: what run.json says, so that a reader can tell how each number came about."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass import __version__
from weatherglass.audit.adding import merged_record
from weatherglass.audit.plan import Model, Plan
from weatherglass.audit.profile import cautions_of, headline, warnings_of
from weatherglass.audit.settings import Settings
from weatherglass.encoders.base import IdentifiedEncoder, WarningEncoder
from weatherglass.registry import checked_texts
from weatherglass.runs.judge import family_sizes, power_by_size
from weatherglass.runs.results import Failure, Result
from weatherglass.storage.installed import installed_version

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


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A run that the command line asked for."""

    command: tuple[str, ...]
    """The words of the command, to be given again."""

    @classmethod
    def of(cls, command: Sequence[str]) -> CommandCall:
        """Return the call of these words of the command line."""
        return cls(tuple(checked_texts("command", command)))

    def record(self) -> dict[str, Any]:
        """For run.json."""
        return {"called": "command line", "command": list(self.command)}


@dataclass(frozen=True, slots=True)
class PythonCall:
    """A run that Python code asked for."""

    function: str
    arguments: Mapping[str, Any]
    """Those that are not the default, as plain values; an object of the user's own as its class and name."""

    @classmethod
    def of(cls, function: Callable[..., Any], arguments: Mapping[str, Any]) -> PythonCall:
        """The call of `function` with these values of its parameters; `changes` are fields of its settings."""
        defaults = {name: parameter.default for name, parameter in signature(function).parameters.items()}
        defaults |= {field.name: getattr(Settings(), field.name) for field in fields(Settings)}
        named = {name: value for name, value in arguments.items() if name not in (*NOT_RECORDED, "changes")}
        given = {
            name: written
            for name, value in {**named, **arguments.get("changes", {})}.items()
            if (written := plain(value)) != plain(defaults.get(name))
        }
        return cls(f"weatherglass.{function.__name__}", given)

    def record(self) -> dict[str, Any]:
        """For run.json."""
        return {"called": "python", "function": self.function, "arguments": dict(self.arguments)}


NOT_RESUMABLE = (
    "not resumable: the content of this object cannot be hashed; the same call computes all of it again"
)
NOT_RECORDED = ("command", "progress")
"""Arguments of a run that say nothing about its results."""


def plain(value: Any) -> Any:
    """A value as JSON can hold it; an object with a name, such as an encoder or a test, as <class name>."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return f"<{type(value).__name__} {name}>"
    if is_dataclass(value) and not isinstance(value, type):
        return {key: plain(item) for key, item in asdict(value).items()}
    return f"<{type(value).__name__}>"


def run_record(
    plan: Plan,
    call: CommandCall | PythonCall,
    results: Sequence[Result],
    failures: Sequence[Failure],
    unreadable: Sequence[str],
    started: str,
    status: str,
    *,
    added_to: Mapping[str, Any] | None = None,
    kept: Sequence[str] = (),
) -> dict[str, Any]:
    """What run.json says.

    Args:
        call: who asked for the run, and how.
        unreadable: what could not be read of the folder's journal.
        started: when work began.
        status: running, complete, incomplete (some tests could not be run) or interrupted.
        added_to: the record of the run that this one is added to.
        kept: keys of its results.
    """
    record = {
        "status": status,
        **call.record(),
        "started": started,
        "finished": now(),
        **environment(),
        "models": [
            {
                "model": model.name,
                "options": model.options,
                "identity": model.identity,
                "resumable": model.resumable,
                "notes": model_notes(model),
            }
            for model in plan.models
        ],
        "tests": {test.name: test.fingerprint() for test in plan.tests},
        "topics": {test.name: test.topic or test.name for test in plan.tests},
        "metrics": [metric.name for metric in plan.metrics],
        "metric_packages": plan.packages,
        "settings": plain(asdict(plan.settings)),
        "keys": list(plan.keys()),
        "result_count": len(results),
        "correction": {**asdict(plan.correction), "sizes": family_sizes(results, plan.correction)},
        "power": power_by_size(results),
        "headline": headline(plan.metrics, results),
        "missing_words": missing_words(results),
        "warnings": [
            *unreadable,
            *encoder_warnings(plan),
            *warnings_of(plan.metrics),
            *cautions_of(plan.metrics),
            *collected_warnings(results),
        ],
        "failures": failure_records(failures),
        "citations": sorted({test.citation for test in plan.tests if test.citation}),
    }
    return merged_record(record, added_to, kept) if added_to else record


def model_notes(model: Model) -> list[str]:
    """What the encoder has to say, and whether a later run can know it again."""
    encoder = model.encoder
    notes = encoder.notes() if isinstance(encoder, IdentifiedEncoder) else []
    return notes if model.resumable else [*notes, NOT_RESUMABLE]


def encoder_warnings(plan: Plan) -> list[str]:
    """What the models warn of, such as words that look the same but are not."""
    return [
        f"{model.name}: {warning}"
        for model in plan.models
        if isinstance(model.encoder, WarningEncoder)
        for warning in model.encoder.warnings()
    ]


def environment() -> dict[str, Any]:
    """Versions and machine, without anything that identifies the user."""
    return {
        "weatherglass": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version for name in PACKAGES if (version := installed_version(name))},
    }


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def missing_words(results: Sequence[Result]) -> dict[str, dict[str, Any]]:
    """The ledger of unknown words: model → test → what was dropped or skipped."""
    ledger: dict[str, dict[str, Any]] = {}
    for result in results:
        if oov := result.notes.get("oov"):
            ledger.setdefault(result.model, {})[result.test] = oov
    return ledger


def collected_warnings(results: Sequence[Result]) -> list[str]:
    """Each warning once, with the tests it was made on, and the models and metrics where there are several."""
    places: dict[str, dict[str, None]] = {}
    models = len({(result.model, result.options) for result in results}) > 1
    metrics = len({result.metric for result in results}) > 1
    for result in results:
        which = ", ".join([result.model] * models + [result.metric] * metrics)
        for warning in result.warnings:
            place = f"{result.test} ({which})" if which else result.test
            places.setdefault(warning, {})[place] = None
    return [f"{', '.join(where)}: {warning}" for warning, where in places.items()]


def failure_records(failures: Sequence[Failure]) -> list[dict[str, str]]:
    """Failures as plain values."""
    return [{"model": f.model, "test": f.test, "reason": f.reason} for f in failures]

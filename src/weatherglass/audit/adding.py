"""A run added to the one that its folder holds: which of its results stay, and one record of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weatherglass.audit.plan import Plan
from weatherglass.audit.results import Result
from weatherglass.errors import WeatherglassError


def check_addable(record: Mapping[str, Any], plan: Plan, settings: Mapping[str, Any]) -> None:
    """Refuse to put results together that one correction and one table could not hold.

    Args:
        record: of the run in the folder.
        plan: what is to be added.
        settings: of the plan, as a record has them.

    Raises:
        WeatherglassError: naming the setting, model or test that differs from the run in the folder.
    """
    before = record["settings"]
    for name, value in settings.items():
        if value != before.get(name):
            raise WeatherglassError(
                f"cannot add: {name} is {value}, but {before.get(name)} in the run to add to; "
                "give the same settings, or another folder with -o"
            )
    identities = {(model["model"], model["options"]): model["identity"] for model in record["models"]}
    for model in plan.models:
        if identities.get((model.name, model.options), model.identity) != model.identity:
            raise WeatherglassError(
                f"cannot add: the model '{model.name}' has changed since that run; choose another folder with -o"
            )
    for test in plan.tests:
        if record["tests"].get(test.name, test.fingerprint()) != test.fingerprint():
            raise WeatherglassError(
                f"cannot add: the test '{test.name}' has changed since that run; choose another folder with -o"
            )


def kept_keys(record: Mapping[str, Any], plan: Plan, finished: Mapping[str, Result]) -> list[str]:
    """Keys of the earlier results that stay: all that the plan does not name."""
    planned = {row.key for row in plan.rows}
    return [key for key in record["keys"] if key in finished and key not in planned]


def merged_record(
    record: Mapping[str, Any], earlier: Mapping[str, Any], keys: Sequence[str]
) -> dict[str, Any]:
    """One record of both runs; what is computed from results is that of all of them already."""
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

"""What a shell completes: names of tests and topics, metrics and models."""

from __future__ import annotations

import json
from pathlib import Path

import typer


def complete_test(incomplete: str) -> list[str]:
    """Names of tests, topics, and files."""
    from weatherglass.catalogue import list_topics
    from weatherglass.catalogue.select import catalogue_names

    return _starting(incomplete, [*catalogue_names(), *list_topics()]) + _paths(incomplete)


def complete_topic(incomplete: str) -> list[str]:
    """Topics of the catalogue."""
    from weatherglass.catalogue import list_topics

    return _starting(incomplete, list_topics())


def complete_metric(incomplete: str) -> list[str]:
    """Metrics, and every similarity/statistic of WEAT."""
    from weatherglass.metrics import METRICS
    from weatherglass.metrics.weat.measure import known_measures

    return _starting(incomplete, [*METRICS.names(), *map(str, known_measures())])


def complete_model(incomplete: str) -> list[str]:
    """Presets, kinds of models with their colon, and files; behind NAME= likewise."""
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.encoders.kinds import known_kinds
    from weatherglass.encoders.presets import PRESETS

    name, equals, rest = incomplete.rpartition("=")
    kinds = [f"{kind}:" for kind in known_kinds() if kind != DEFAULT_MODEL]
    found = _starting(rest, list(dict.fromkeys([DEFAULT_MODEL, *PRESETS, *kinds]))) + _paths(rest)
    return [f"{name}{equals}{one}" for one in found]


def complete_test_of_run(context: typer.Context, incomplete: str) -> list[str]:
    """The tests that the run's folder holds."""
    try:
        record = json.loads((Path(context.params["run"]) / "run.json").read_text(encoding="utf-8"))
        return _starting(incomplete, list(record["tests"]))
    except (OSError, ValueError, KeyError, TypeError):
        return complete_test(incomplete)


def _starting(incomplete: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _paths(incomplete: str) -> list[str]:
    """Files and folders whose path starts so; none for nothing, or a whole folder would hide the names."""
    if not incomplete:
        return []
    folder, _, start = incomplete.rpartition("/")
    try:
        names = sorted(
            path.name for path in Path(folder or "/" * incomplete.startswith("/") or ".").iterdir()
        )
    except OSError:
        return []
    return [incomplete[: len(incomplete) - len(start)] + name for name in names if name.startswith(start)]

"""The record of a run: what run.json says, so that a reader can tell how each number came about."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from weatherglass import __version__
from weatherglass.results import Failure, Result

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


def environment() -> dict[str, Any]:
    """Versions and machine, without anything that identifies the user."""
    return {
        "weatherglass": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def command_line() -> list[str]:
    """The command that is running, to be given again."""
    return ["weatherglass", *sys.argv[1:]]


def missing_words(results: Sequence[Result]) -> dict[str, dict[str, Any]]:
    """The ledger of unknown words: model → test → what was dropped or skipped."""
    ledger: dict[str, dict[str, Any]] = {}
    for result in results:
        if oov := result.notes.get("oov"):
            ledger.setdefault(result.model, {})[result.test] = oov
    return ledger


def collected_warnings(results: Sequence[Result]) -> list[str]:
    """Each warning once, with the tests and models it was made on."""
    places: dict[str, dict[str, None]] = {}
    several = len({(result.model, result.options) for result in results}) > 1
    for result in results:
        for warning in result.warnings:
            place = f"{result.test} ({result.model})" if several else result.test
            places.setdefault(warning, {})[place] = None
    return [f"{', '.join(where)}: {warning}" for warning, where in places.items()]


def failure_records(failures: Sequence[Failure]) -> list[dict[str, str]]:
    """Failures as plain values."""
    return [{"model": f.model, "test": f.test, "reason": f.reason} for f in failures]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

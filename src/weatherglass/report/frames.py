"""Rows as a frame of polars or pandas, whichever is installed or asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from weatherglass.audit.results import COLUMNS, Result
from weatherglass.audit.verdict import Verdict
from weatherglass.errors import MissingExtraError
from weatherglass.registry import one_of

LIBRARIES = ("polars", "pandas")


def frame_library(asked_for: str | None) -> str:
    """The library to make frames with: the one asked for, else the first that is installed.

    Raises:
        UnknownNameError: for another library.
        MissingExtraError: if it, or any, is not installed.
    """
    wanted = [one_of("library of frames", asked_for, LIBRARIES)] if asked_for else LIBRARIES
    installed = [name for name in wanted if find_spec(name) is not None]
    if not installed:
        raise MissingExtraError(f"a frame needs {' or '.join(wanted)}; run: pip install {wanted[0]}")
    return installed[0]


def to_frame(rows: Sequence[Mapping[str, Any]], library: str | None = None) -> Any:
    """One row per mapping, all with the same names; what is not known is null, as is NaN."""
    chosen = frame_library(library)
    names = list(rows[0]) if rows else []
    columns = {name: [_known(row[name]) for row in rows] for name in names}
    if chosen == "polars":
        import polars

        return polars.DataFrame(columns, strict=False)
    import pandas

    return pandas.DataFrame(columns)


def result_rows(results: Sequence[Result], topics: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The columns of results.tsv as numbers and texts, and what the sets and the sign of each test mean."""
    for result in results:
        yield {
            **{name: getattr(result, name) for name in COLUMNS},
            "topic": topics.get(result.test, ""),
            "context": result.context,
            "direction": result.direction,
            "targets": "; ".join(result.target_categories),
            "attributes": "; ".join(result.attribute_categories),
        }


def verdict_rows(verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    """One row per topic, model and metric."""
    for verdict in verdicts:
        record = verdict.to_json()
        yield {
            **{name: value for name, value in record.items() if not isinstance(value, dict | list | tuple)},
            "tests": "; ".join(verdict.tests),
            "reference": f"{verdict.reference.above}/{verdict.reference.models}"
            if verdict.reference
            else None,
        }


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value

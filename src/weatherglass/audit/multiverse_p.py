"""p over all specifications of a multiverse, which a verdict asks for where one was run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from weatherglass.errors import OutputError, unreadable
from weatherglass.storage.checksum import MISMATCH, State, read_checked_json
from weatherglass.storage.reading import require_regular_file

MultiverseP = Mapping[tuple[str, str, str], float]
"""By topic, model and metric, as results and verdicts name them: p of the mean d over all specifications, corrected."""


def multiverse_p(
    entries: Iterable[Mapping[str, Any]], metrics: Iterable[str]
) -> dict[tuple[str, str, str], float]:
    """Return the corrected joint p of each topic, from the entries of `weatherglass multiverse --json`.

    A multiverse goes over similarities and statistics, so its p applies to each of these `metrics`; an entry with a
    `metric` of its own applies to that one alone. An entry without p is skipped.

    >>> multiverse_p([{"topic": "age and valence", "model": "m", "joint_p_holm": 0.03}], ["cosine/mean"])
    {('age and valence', 'm', 'cosine/mean'): 0.03}
    """
    wanted = list(metrics)
    found = {}
    for entry in entries:
        p = entry.get("joint_p_holm")
        if p is None or math.isnan(p):
            continue
        for metric in [entry["metric"]] if entry.get("metric") else wanted:
            found[entry["topic"], entry["model"], metric] = float(p)
    return found


def read_multiverse(path: Path) -> Any:
    """What multiverse.json holds, or a file with the output of `weatherglass multiverse --json`, which has no checksum.

    Raises:
        OutputError: if it cannot be read, is no JSON, or is damaged.
    """
    require_regular_file(path, OutputError)
    try:
        content, state = read_checked_json(path.read_bytes())
    except OSError as error:
        raise OutputError(unreadable(path, error)) from error
    except ValueError as error:
        raise OutputError(f"{path}: not JSON ({error})") from error
    if state is State.DAMAGED:
        raise OutputError(
            f"{path}: {MISMATCH}; running the same 'weatherglass multiverse' again writes it anew"
        )
    return content


def read_multiverse_p(path: Path, metrics: Iterable[str]) -> dict[tuple[str, str, str], float]:
    """Return the corrected joint p of each topic in a file with the output of `weatherglass multiverse --json`.

    Raises:
        OutputError: if it cannot be read, or holds something else.
    """
    try:
        content = read_multiverse(path)
        entries = content["topics"] if isinstance(content, dict) else content
        return multiverse_p(entries, metrics)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path}: not the output of 'weatherglass multiverse --json'") from error

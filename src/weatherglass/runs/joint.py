"""What a multiverse says of each topic: the joint p that a verdict asks for where a multiverse was run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from weatherglass.errors import OutputError, unreadable
from weatherglass.storage.checksum import MISMATCH, State, read_checked_json
from weatherglass.storage.reading import require_regular_file

JointP = Mapping[tuple[str, str, str], float]
"""By topic, model and metric, as results and verdicts name them: p of the mean d over all specifications."""


def joint_p(
    entries: Iterable[Mapping[str, Any]], metrics: Iterable[str]
) -> dict[tuple[str, str, str], float]:
    """The joint p of each topic, from the entries of `weatherglass multiverse --json`.

    A multiverse goes over similarities and statistics, so its joint p is asked of each of these `metrics`; an entry
    with a `metric` of its own is for that one alone. An entry without a joint p says nothing.

    >>> joint_p([{"topic": "age and valence", "model": "m", "joint_p": 0.03}], ["cosine/mean"])
    {('age and valence', 'm', 'cosine/mean'): 0.03}
    """
    wanted = list(metrics)
    found = {}
    for entry in entries:
        p = entry.get("joint_p")
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


def read_joint_p(path: Path, metrics: Iterable[str]) -> dict[tuple[str, str, str], float]:
    """The joint p of each topic in a file that holds the output of `weatherglass multiverse --json`.

    Raises:
        OutputError: if it cannot be read, or holds something else.
    """
    try:
        content = read_multiverse(path)
        entries = content["topics"] if isinstance(content, dict) else content
        return joint_p(entries, metrics)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path}: not the output of 'weatherglass multiverse --json'") from error

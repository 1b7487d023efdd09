"""Read p over all specifications of a multiverse, which limits the verdict on a topic if one was run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from weatherglass.errors import OutputError, unreadable
from weatherglass.storage.checksum import MISMATCH, State, read_checked_json
from weatherglass.storage.reading import require_regular_file

MultiverseP = Mapping[tuple[str, str, str], float]
"""The corrected p of the mean d over all specifications, by topic, model and metric (with the names in the
results).
"""


def multiverse_p(
    entries: Iterable[Mapping[str, Any]], metrics: Iterable[str]
) -> dict[tuple[str, str, str], float]:
    """Return the corrected p of each topic, from the entries of `weatherglass multiverse --json`.

    A multiverse varies similarities and statistics, so its p applies to each of `metrics`; an entry that names a
    `metric` applies only to that metric. An entry without p is skipped.

    >>> multiverse_p([{"topic": "age and valence", "model": "m", "multiverse_p_holm": 0.03}], ["cosine/mean"])
    {('age and valence', 'm', 'cosine/mean'): 0.03}
    """
    wanted = list(metrics)
    found = {}
    for entry in entries:
        p = entry.get("multiverse_p_holm")
        if p is None or math.isnan(p):
            continue
        for metric in [entry["metric"]] if entry.get("metric") else wanted:
            found[entry["topic"], entry["model"], metric] = float(p)
    return found


FORMAT = 1
"""The version of multiverse.json's format; it is increased when older files can no longer be read."""


def read_multiverse(path: Path) -> list[dict[str, Any]]:
    """Read the topics from multiverse.json, or from a file with the output of `weatherglass multiverse --json`.

    The output of the command has no checksum; it may consist of the list of topics alone.

    Raises:
        OutputError: if the file cannot be read, is damaged, has another format, or has other content.
    """
    require_regular_file(path, OutputError)
    try:
        content, state = read_checked_json(path.read_bytes())
    except OSError as error:
        raise OutputError(unreadable(path, error)) from error
    except ValueError as error:
        raise OutputError(f"{path}: not JSON ({error})") from error
    again = "run the same 'weatherglass multiverse' again to rewrite it"
    if state is State.DAMAGED:
        raise OutputError(f"{path}: {MISMATCH}; {again}")
    written = content.get("format", FORMAT) if isinstance(content, dict) else FORMAT
    if written != FORMAT:
        raise OutputError(
            f"{path}: the multiverse is stored in format {written}, but this version of weatherglass reads format "
            f"{FORMAT}; {again}"
        )
    topics = content.get("topics") if isinstance(content, dict) else content
    if not isinstance(topics, list) or not all(isinstance(topic, dict) for topic in topics):
        raise OutputError(f"{path}: not the output of 'weatherglass multiverse --json'")
    if any("joint_p" in topic for topic in topics):
        raise OutputError(
            f"{path}: this file has an older format ('joint_p' instead of 'multiverse_p'); {again}"
        )
    return topics


def read_multiverse_p(path: Path, metrics: Iterable[str]) -> dict[tuple[str, str, str], float]:
    """Return the corrected p of each topic in a file with the output of `weatherglass multiverse --json`.

    Raises:
        OutputError: if the file cannot be read, or has other content.
    """
    try:
        return multiverse_p(read_multiverse(path), metrics)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{path}: not the output of 'weatherglass multiverse --json'") from error

"""The specifications as a table, and each topic as one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass.catalogue.names import set_name
from weatherglass.multiverses.specifications import FACTORS
from weatherglass.storage.printable import tsv_line

COLUMNS = (
    *("model", "topic", "target_list", *FACTORS),
    *("d", "ci_low", "ci_high", "p", "p_max_t", "counted", "published"),
)


def specifications_tsv(topics: Sequence[Mapping[str, Any]]) -> str:
    """One line per specification; an empty cell where there is no such choice or number."""
    lines = [tsv_line(COLUMNS)]
    for entry in topics:
        for one in entry["specifications"]:
            row = {"model": entry["model"], "topic": entry["topic"], **one}
            lines.append(tsv_line([_cell(row.get(column)) for column in COLUMNS]))
    return "".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def largest_shares(decomposition: Mapping[str, Any]) -> str:
    """Return the three choices that move d most, with shares of the variance.

    >>> largest_shares({"variance": 0.5, "main": {"statistic": 0.3}, "pairs": {}, "rest": 0.2})
    'statistic 60 %, rest 40 %'
    """
    variance = decomposition["variance"]
    parts = {**decomposition["main"], **decomposition["pairs"], "rest": decomposition["rest"]}
    ordered = sorted(parts.items(), key=lambda item: -item[1])[:3]
    return (
        ", ".join(f"{name} {100 * part / variance:.0f} %" for name, part in ordered if part > 0) or "nothing"
    )


def lists_of(
    topics: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Every word list on every model, with its specifications."""
    for entry in topics:
        for block in entry["lists"]:
            own = [one for one in entry["specifications"] if one["target_list"] == block["list"]]
            yield block, own


def named_targets(targets: str) -> str:
    """Return target sets in the names that people use."""
    return " and ".join(map(set_name, targets.split(" and ")))

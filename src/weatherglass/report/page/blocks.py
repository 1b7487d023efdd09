"""Pack details.sqlite into compressed blocks inside the page, which the browser decompresses when a result is opened.

A block is JSON, compressed, in base64: one for each model and measure, and a shared one with every text once, and the
lists by which results refer to them. Numbers are rounded to what a plot can show: scores to four digits, effect sizes
to three decimals. Numbers that are printed come from the table of results, not from here.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

from weatherglass.report.numbers import rounded
from weatherglass.runs.details import DETAILS, TABLES, Details
from weatherglass.runs.stored import StoredRun

SCORE_STEPS = 9999
"""Scores are stored as integer multiples of the largest |s| divided by this."""
EFFECT_STEPS = 1000

Row = Sequence[Any]


@dataclass(slots=True)
class Numbering:
    """Numbers distinct items in the order in which they first appear."""

    numbers: dict[Hashable, int] = field(default_factory=dict)

    def number_of(self, item: Hashable) -> int:
        return self.numbers.setdefault(item, len(self.numbers))


class Packer:
    """Collects the details of runs, block by block."""

    def __init__(self) -> None:
        self._elements = Numbering()
        self._lists = {kind: Numbering() for kind in ("elements", "words", "left_out")}
        self._blocks: dict[int, list[str]] = {}
        """Block -> its results, each as a member of a JSON object, already serialised."""

    def add(self, run: StoredRun, number: Callable[[int], int], block: Callable[[int], int]) -> None:
        """Pack one run; `number` and `block` give a result's number in the page and its block."""
        with closing(Details(run.path / DETAILS)) as details:
            texts = {row["id"]: tuple(row)[1:] for row in details.every("element")}
            present = details.tables()
            tables = {table: _Groups(details, table) for table in TABLES if table in present}
            for position, stored in sorted(run.details.items(), key=itemgetter(1)):
                rows: dict[str, list[Row]] = {table: [] for table in TABLES}
                rows |= {table: groups.rows_of(stored) for table, groups in tables.items()}
                packed = self._pack(rows, texts) | _remarks(run, position)
                member = f"{json.dumps(str(number(position)))}:{_json(packed)}"
                self._blocks.setdefault(block(position), []).append(member)

    def blocks(self) -> Iterator[tuple[str, str]]:
        """Name and content of each block."""
        if not self._blocks:
            return
        shared = {
            "elements": list(self._elements.numbers),
            "lists": {kind: list(numbering.numbers) for kind, numbering in self._lists.items()},
        }
        yield "shared", compress(_json(shared))
        for block, members in self._blocks.items():
            yield str(block), compress("{" + ",".join(members) + "}")

    def _pack(self, rows: dict[str, list[Row]], texts: dict[int, tuple[Any, ...]]) -> dict[str, Any]:
        packed: dict[str, Any] = {}
        if scores := rows["element_score"]:
            step = max((abs(row[4]) for row in scores), default=0) / SCORE_STEPS or 1
            packed["step"] = float(f"{step:.6g}")
            packed["elements"] = self._list(
                "elements", ((row[1], self._elements.number_of(texts[row[3]])) for row in scores)
            )
            packed["scores"] = [round(row[4] / step) for row in scores]
            words = rows["word_score"]
            packed["words"] = self._list("words", ((row[1], row[2], row[4]) for row in words))
            packed["word_scores"] = [round(row[3] / step) for row in words]
        if left_out := rows["left_out"]:
            packed["left_out"] = self._list("left_out", ((row[1], row[2], row[3]) for row in left_out))
            packed["without"] = [_effect(row[4]) for row in left_out]
            packed["telling"] = [(place, row[5]) for place, row in enumerate(left_out) if row[5] is not None]
        if null := rows["null_quantile"]:
            packed["null"] = _differences([round(row[2] * EFFECT_STEPS) for row in null])
        for row in rows["confidence_interval"]:
            packed[row[1]] = [row[2], row[3], row[4]]
        for row in rows["attribute_noise"]:
            packed["attribute_noise"] = rounded(row[1], 3)
        if power := rows["power"]:
            packed["power"] = [[row[1], row[2]] for row in power]
        return packed

    def _list(self, kind: str, items: Iterator[tuple[Any, ...]]) -> int:
        return self._lists[kind].number_of(tuple(items))


class _Groups:
    """The rows of one table by result, read once, in the order of the results."""

    def __init__(self, details: Details, table: str) -> None:
        self._groups = groupby(details.every(table), key=lambda row: int(row["result"]))
        self._ahead: tuple[int, list[Row]] | None = None

    def rows_of(self, result: int) -> list[Row]:
        while self._ahead is None or self._ahead[0] < result:
            group = next(self._groups, None)
            if group is None:
                return []
            self._ahead = group[0], [tuple(row) for row in group[1]]
        return self._ahead[1] if self._ahead[0] == result else []


def compress(text: str) -> str:
    """Gzip and base64, which a browser reverses with atob and DecompressionStream; deterministic."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _remarks(run: StoredRun, position: int) -> dict[str, Any]:
    result = run.results[position]
    remarks: dict[str, Any] = {"p_middle": result.p_middle, "certified": result.certified}
    if result.warnings:
        remarks["warnings"] = list(result.warnings)
    if result.notes:
        remarks["notes"] = dict(result.notes)
    return remarks


def _effect(d: float | None) -> int | None:
    return None if d is None else round(d * EFFECT_STEPS)


def _differences(values: Sequence[int]) -> list[int]:
    """The first value, then the difference of each value from the one before: small numbers compress well."""
    return [*values[:1], *(after - before for before, after in pairwise(values))]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

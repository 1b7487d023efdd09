"""Packs what details.sqlite holds into blocks that a page carries and a browser unpacks when a result is opened.

A block is JSON, compressed and written in base64: one for each model and measure, and one that they share with the
texts, each once, and the lists in which results name them. Numbers are rounded to what a plot can show: scores to four
digits, effect sizes to three decimals. The figures that are printed come from the table, not from here.
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
"""Scores are whole multiples of the largest |s| over this."""
EFFECT_STEPS = 1000

Row = Sequence[Any]


@dataclass(slots=True)
class Numbering:
    """Gives each distinct thing a number, in the order in which things come."""

    numbers: dict[Hashable, int] = field(default_factory=dict)

    def of(self, thing: Hashable) -> int:
        return self.numbers.setdefault(thing, len(self.numbers))


class Packer:
    """Collects the details of runs, block by block."""

    def __init__(self) -> None:
        self._elements = Numbering()
        self._lists = {kind: Numbering() for kind in ("elements", "words", "left_out")}
        self._blocks: dict[int, list[str]] = {}
        """By block, its results: the member of a JSON object, already written."""

    def add(self, run: StoredRun, number: Callable[[int], int], block: Callable[[int], int]) -> None:
        """Pack one run; `number` and `block` tell a result's number in the page and the block it goes to."""
        with closing(Details(run.path / DETAILS)) as details:
            texts = {row["id"]: tuple(row)[1:] for row in details.every("element")}
            present = details.tables()
            tables = {table: _Groups(details, table) for table in TABLES if table in present}
            for position, stored in sorted(run.details.items(), key=itemgetter(1)):
                rows: dict[str, list[Row]] = {table: [] for table in TABLES}
                rows |= {table: groups.of(stored) for table, groups in tables.items()}
                packed = self._pack(rows, texts) | _about(run, position)
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
                "elements", ((row[1], self._elements.of(texts[row[3]])) for row in scores)
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
        return self._lists[kind].of(tuple(items))


class _Groups:
    """The rows of one table by result, read once in the order in which results were written."""

    def __init__(self, details: Details, table: str) -> None:
        self._groups = groupby(details.every(table), key=lambda row: int(row["result"]))
        self._ahead: tuple[int, list[Row]] | None = None

    def of(self, result: int) -> list[Row]:
        while self._ahead is None or self._ahead[0] < result:
            following = next(self._groups, None)
            if following is None:
                return []
            self._ahead = following[0], [tuple(row) for row in following[1]]
        return self._ahead[1] if self._ahead[0] == result else []


def compress(text: str) -> str:
    """What a browser turns back with atob and DecompressionStream; the same text gives the same bytes."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _about(run: StoredRun, position: int) -> dict[str, Any]:
    result = run.results[position]
    said: dict[str, Any] = {"p_middle": result.p_middle, "certified": result.certified}
    if result.warnings:
        said["warnings"] = list(result.warnings)
    if result.notes:
        said["notes"] = dict(result.notes)
    return said


def _effect(d: float | None) -> int | None:
    return None if d is None else round(d * EFFECT_STEPS)


def _differences(values: Sequence[int]) -> list[int]:
    """The first value, then each one's distance from the one before: small numbers compress well."""
    return [*values[:1], *(after - before for before, after in pairwise(values))]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

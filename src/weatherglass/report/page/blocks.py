"""Packs the details of results into blocks that a page carries and a browser unpacks when a result is opened.

A block is JSON, compressed and written in base64: one for each model and metric, and one that they share with the
texts, each once, and the lists in which results name them. Numbers are rounded to what a plot can show: scores to four
digits, effect sizes to three decimals. The figures that are printed come from the table, not from here.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from weatherglass.inference.trust import Trust
from weatherglass.report.numbers import rounded
from weatherglass.runs.results import Result, word_scores
from weatherglass.runs.stored import StoredRun

SCORE_STEPS = 9999
"""Scores are whole multiples of the largest |s| over this."""
EFFECT_STEPS = 1000


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
        for position, result in enumerate(run.results):
            member = f"{json.dumps(str(number(position)))}:{_json(self._packed(result))}"
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

    def _packed(self, result: Result) -> dict[str, Any]:
        packed: dict[str, Any] = {"p_middle": rounded(result.p_middle, 17), "certified": result.certified}
        if result.warnings:
            packed["warnings"] = list(result.warnings)
        if result.notes:
            packed["notes"] = dict(result.notes)
        if result.scores:
            packed |= self._packed_scores(result)
        if result.trust:
            packed |= self._packed_trust(result.trust)
        if result.power:
            packed["power"] = [[float(d), chance] for d, chance in result.power.items()]
        return packed

    def _packed_scores(self, result: Result) -> dict[str, Any]:
        step = float(f"{max(abs(s.score) for s in result.scores) / SCORE_STEPS or 1:.6g}")
        words = word_scores(result)
        elements = ((s.role, self._elements.of((s.text, s.word, s.template))) for s in result.scores)
        return {
            "step": step,
            "elements": self._list("elements", elements),
            "scores": [round(s.score / step) for s in result.scores],
            "words": self._list("words", ((role, word, number) for role, word, _, number in words)),
            "word_scores": [round(score / step) for _, _, score, _ in words],
        }

    def _packed_trust(self, trust: Trust) -> dict[str, Any]:
        packed: dict[str, Any] = {}
        if trust.left_out:
            packed["left_out"] = self._list("left_out", ((w.kind, w.role, w.name) for w in trust.left_out))
            packed["without"] = [_effect(w.effect_size) for w in trust.left_out]
            packed["telling"] = [
                (n, w.p_value) for n, w in enumerate(trust.left_out) if w.p_value is not None
            ]
        if trust.null:
            packed["null"] = _differences([round(d * EFFECT_STEPS) for d in trust.null])
        if interval := trust.interval:
            packed["bca"] = [interval.bca_low, interval.bca_high, interval.resamples]
            packed["percentile"] = [interval.percentile_low, interval.percentile_high, interval.resamples]
        if trust.attribute_noise is not None:
            packed["attribute_noise"] = rounded(trust.attribute_noise, 3)
        return packed

    def _list(self, kind: str, items: Iterator[tuple[Any, ...]]) -> int:
        return self._lists[kind].of(tuple(items))


def compress(text: str) -> str:
    """What a browser turns back with atob and DecompressionStream; the same text gives the same bytes."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _effect(d: float | None) -> int | None:
    return None if d is None else round(d * EFFECT_STEPS)


def _differences(values: Sequence[int]) -> list[int]:
    """The first value, then each one's distance from the one before: small numbers compress well."""
    return [*values[:1], *(after - before for before, after in pairwise(values))]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

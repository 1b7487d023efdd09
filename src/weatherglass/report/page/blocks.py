"""Pack the details of results into compressed blocks, which the browser decompresses when a result is opened.

A block is JSON, compressed, in base64: one for each model and metric, and a shared one with every text once, and the
lists by which results refer to them, with the names of their fields. Numbers are rounded to what a plot can show:
scores to four digits, effect sizes to three decimals. Numbers that are printed come from the results, not from here.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from weatherglass.inference.trust import Trust
from weatherglass.report.numbers import rounded
from weatherglass.runs.results import Result, word_scores
from weatherglass.runs.stored import StoredRun

SCORE_STEPS = 9999
"""Scores are stored as integer multiples of the largest |s| divided by this."""
EFFECT_STEPS = 1000


class Text(NamedTuple):
    """A target element, whichever results score it."""

    text: str
    word: str
    template: str | None


class Placed(NamedTuple):
    """A text in the list of a result."""

    role: str
    element: int
    """The number of its Text."""


class Word(NamedTuple):
    """A word in the list of a result, and how many elements it has."""

    role: str
    word: str
    elements: int


class Omitted(NamedTuple):
    """What is left out for one of the leave-one-out effects of a result."""

    kind: str
    role: str
    name: str


LISTS: dict[str, type[Placed] | type[Word] | type[Omitted]] = {
    "elements": Placed,
    "words": Word,
    "left_out": Omitted,
}
"""The lists that results name by number, since many results have the same, and what is in them."""


@dataclass(slots=True)
class Numbering:
    """Numbers distinct items in the order in which they first appear."""

    numbers: dict[Hashable, int] = field(default_factory=dict)

    def number_of(self, item: Hashable) -> int:
        return self.numbers.setdefault(item, len(self.numbers))


class Packer:
    """Collects the details of runs, block by block."""

    def __init__(self) -> None:
        self._texts = Numbering()
        self._lists = {name: Numbering() for name in LISTS}
        self._blocks: dict[int, list[str]] = {}
        """Block -> its results, each as a member of a JSON object, already serialised."""

    def add(self, run: StoredRun, number: Callable[[int], int], block: Callable[[int], int]) -> None:
        """Pack one run; `number` and `block` tell a result's number in the page and the block it goes to."""
        for position, result in enumerate(run.results):
            member = f"{json.dumps(str(number(position)))}:{_json(self._packed(result, run.alpha))}"
            self._blocks.setdefault(block(position), []).append(member)

    def blocks(self) -> Iterator[tuple[str, str]]:
        """Name and content of each block."""
        if not self._blocks:
            return
        shared = {
            "texts": {"fields": Text._fields, "rows": list(self._texts.numbers)},
            "lists": {
                name: {"fields": LISTS[name]._fields, "lists": list(numbering.numbers)}
                for name, numbering in self._lists.items()
            },
        }
        yield "shared", compress(_json(shared))
        for block, members in self._blocks.items():
            yield str(block), compress("{" + ",".join(members) + "}")

    def _packed(self, result: Result, alpha: float) -> dict[str, Any]:
        packed: dict[str, Any] = {"p_middle": rounded(result.p_middle, 17), "certified": result.certified}
        if result.warnings:
            packed["warnings"] = list(result.warnings)
        if result.notes:
            packed["notes"] = dict(result.notes)
        if result.scores:
            packed |= self._packed_scores(result)
        if result.trust:
            packed |= self._packed_trust(result.trust, alpha)
        if result.power:
            packed["power"] = dict(result.power)
        for name in ("score_reliability", "minimum_detectable"):
            if (value := rounded(getattr(result, name), 3)) is not None:
                packed[name] = value
        return packed

    def _packed_scores(self, result: Result) -> dict[str, Any]:
        step = float(f"{max(abs(s.score) for s in result.scores) / SCORE_STEPS or 1:.6g}")
        words = word_scores(result)
        elements = (
            Placed(s.role, self._texts.number_of(Text(s.text, s.word, s.template))) for s in result.scores
        )
        return {
            "step": step,
            "elements": self._list("elements", elements),
            "scores": [round(s.score / step) for s in result.scores],
            "words": self._list("words", (Word(role, word, number) for role, word, _, number in words)),
            "word_scores": [round(score / step) for _, _, score, _ in words],
        }

    def _packed_trust(self, trust: Trust, alpha: float) -> dict[str, Any]:
        packed: dict[str, Any] = {
            "such_corrected": trust.such_corrected,
            "templates_random": trust.templates_random,
            "these_reason": trust.these_reason,
            "such_reason": trust.such_reason,
            "excluded_above": rounded(trust.excluded_above, 3),
            "trust_notes": list(trust.notes),
        }
        if trust.left_out:
            left_out = (Omitted(w.kind, w.role, w.name) for w in trust.left_out)
            packed["left_out"] = self._list("left_out", left_out)
            packed["without"] = [_effect(w.effect_size) for w in trust.left_out]
            p_values = ((n, w.p_value) for n, w in enumerate(trust.left_out))
            packed["p_without"] = {str(n): p for n, p in p_values if p is not None}
        if trust.null:
            packed["null"] = _differences([round(d * EFFECT_STEPS) for d in trust.null])
        if trust.bootstrap:
            packed["bootstrap"] = {name: rounded(value, 5) for name, value in asdict(trust.bootstrap).items()}
        by_kind = (trust.hangs_on(kind, alpha) for kind in ("word", "template"))
        if hangs_on := [asdict(support) for support in by_kind if support]:
            packed["hangs_on"] = hangs_on
        return packed

    def _list(self, name: str, items: Iterator[Placed] | Iterator[Word] | Iterator[Omitted]) -> int:
        return self._lists[name].number_of(tuple(items))


def compress(text: str) -> str:
    """Gzip and base64, which a browser reverses with atob and DecompressionStream; deterministic."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _effect(d: float | None) -> int | None:
    return None if d is None else round(d * EFFECT_STEPS)


def _differences(values: Sequence[int]) -> list[int]:
    """The first value, then the difference of each value from the one before: small numbers compress well."""
    return [*values[:1], *(after - before for before, after in pairwise(values))]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

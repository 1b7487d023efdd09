"""Pack the details of results into compressed blocks, which the browser decompresses when a result is opened.

A block is JSON, compressed, in base64: one for each model and metric, and a shared one with every text once, and the
lists by which results refer to them, with the names of their fields. Numbers are rounded to what a plot can show:
scores to four digits (of sentences three), effect sizes to three decimals, the null distribution to two. Numbers that
are printed come from the results, not from here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.report.kit import compress, in_json
from weatherglass.report.numbers import rounded
from weatherglass.warnings import folded

if TYPE_CHECKING:
    from weatherglass.stats.robustness import Robustness

WORD_STEPS, SENTENCE_STEPS = 9999, 999
"""Scores are stored as integer multiples of the largest |s| divided by one of these: of words to four digits; of the
sentences of a word, which are ticks in a plot, to three, so that their mean still has four."""
EFFECT_STEPS = 1000
NULL_STEPS = 100
"""A bar of the null distribution is about 0.1 wide."""
NULL_EVERY = 2
"""Of the stored quantiles, every second one is drawn."""


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


class Omitted(NamedTuple):
    """What is left out for one of the leave-one-out effects of a result."""

    kind: str
    role: str
    name: str


LISTS: dict[str, type[Placed] | type[Omitted]] = {"elements": Placed, "left_out": Omitted}
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
        self._known: dict[Hashable, int] = {}
        """Number of a list by what it is made from: most results of a test have the same, and comparing is quick."""
        self._blocks: dict[int, list[str]] = {}
        """Block -> its results, each as a member of a JSON object, already serialised."""

    def add(self, run: Run, number: Callable[[int], int], block: Callable[[int], int]) -> None:
        """Pack one run; `number` and `block` tell a result's number in the page and the block it goes to."""
        for position, result in enumerate(run.results):
            member = f"{json.dumps(str(number(position)))}:{in_json(self._packed(result, run.alpha))}"
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
        yield "shared", compress(in_json(shared))
        for block, members in self._blocks.items():
            yield str(block), compress("{" + ",".join(members) + "}")

    def _packed(self, result: Result, alpha: float) -> dict[str, Any]:
        packed: dict[str, Any] = {"p_middle": rounded(result.p_middle, 17), "certified": result.certified}
        if result.warnings:
            packed["warnings"] = [w.text for line in folded(result.warnings) for w in line.warnings]
        if result.notes:
            packed["notes"] = dict(result.notes)
        if result.scores:
            packed |= self._packed_scores(result)
        if result.trust:
            packed |= self._packed_trust(result.trust, result.value, alpha)
        if result.power:
            packed["power"] = dict(result.power)
        for name in ("score_reliability", "minimum_detectable"):
            if (value := rounded(getattr(result, name), 3)) is not None:
                packed[name] = value
        return packed

    def _packed_scores(self, result: Result) -> dict[str, Any]:
        scores = np.array([s.score for s in result.scores])
        steps = WORD_STEPS if result.p_elements is None else SENTENCE_STEPS
        undefined = ~np.isfinite(scores)
        defined = np.where(undefined, 0.0, scores)
        step = float(f"{np.abs(defined).max() / steps or 1:.6g}")
        key = ("elements", result.test, tuple([(s.text, s.word) for s in result.scores]))
        number = self._known.get(key)
        if number is None:
            placed = (
                Placed(s.role, self._texts.number_of(Text(s.text, s.word, s.template))) for s in result.scores
            )
            number = self._known[key] = self._lists["elements"].number_of(tuple(placed))
        in_steps: list[int | None] = np.rint(defined / step).astype(int).tolist()
        for place in np.flatnonzero(undefined).tolist():
            in_steps[place] = None
        return {"step": step, "elements": number, "scores": in_steps}

    def _packed_trust(self, trust: Robustness, d: float, alpha: float) -> dict[str, Any]:
        packed: dict[str, Any] = {
            "such_corrected": trust.random_corrected,
            "templates_random": trust.templates_random,
            "these_reason": trust.fixed_reason,
            "such_reason": trust.random_reason,
            "excluded_above": rounded(trust.excluded_above, 3),
        }
        if trust.left_out:
            packed["left_out"] = self._left_out(trust)
            packed["without"] = [_change(w.effect_size, d) for w in trust.left_out]
            p_values = ((n, w.p_value) for n, w in enumerate(trust.left_out))
            packed["p_without"] = {str(n): p for n, p in p_values if p is not None}
        if trust.null:
            packed["null"] = _differences([round(q * NULL_STEPS) for q in trust.null[::NULL_EVERY]])
        if trust.bootstrap:
            packed["bootstrap"] = {name: rounded(value, 5) for name, value in asdict(trust.bootstrap).items()}
        by_kind = (trust.hangs_on(kind, alpha) for kind in ("word", "template"))
        if hangs_on := [asdict(support) for support in by_kind if support]:
            packed["hangs_on"] = hangs_on
        return packed

    def _left_out(self, trust: Robustness) -> int:
        key = ("left out", tuple([(w.kind, w.role, w.name) for w in trust.left_out]))
        if key not in self._known:
            omitted = tuple(Omitted(w.kind, w.role, w.name) for w in trust.left_out)
            self._known[key] = self._lists["left_out"].number_of(omitted)
        return self._known[key]


def _change(without: float | None, d: float) -> int | None:
    """How far d moves without a word: smaller numbers than d itself."""
    return None if without is None or math.isnan(d) else round((without - d) * EFFECT_STEPS)


def _differences(values: Sequence[int]) -> list[int]:
    """The first value, then the difference of each value from the one before: small numbers compress well."""
    return [*values[:1], *(after - before for before, after in pairwise(values))]

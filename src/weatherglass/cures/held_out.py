"""Tests on words that a transform never saw: seen words are left out, and held-out ones of the same side come in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.mitigation.lists import Pair, Sides, sides_of

ENDING = "held-out"
LEAST = 2
"""Words that a set needs."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A test without seen words."""

    test: Test
    left_out: tuple[str, ...]
    added: tuple[str, ...]


def held_out_test(test: Test, seen: Collection[str], sides: Sides, spare: Iterable[Pair]) -> HeldOut | str:
    """The test on unseen words, or why there is none.

    Args:
        test: of which the seen words are left out.
        seen: words that the transform was fitted on.
        sides: the words of both ends of the attribute, which tell the side that a set is on.
        spare: pairs that take the place of seen words, as many of a side as were left out; only where more than half of
            a set was seen (a noun among names would be no name), and the test is of bare words.
    """
    unseen = [pair for pair in spare if not set(pair) & set(seen)]
    sets, left_out, added = [], [], []
    for element_set in test.sets:
        kept = tuple(e for e in element_set.elements if e.word not in seen)
        gone = [e.word for e in element_set.elements if e.word in seen]
        lacking = test.context == "word" and 2 * len(kept) < len(element_set)
        more = _spare_words(gone, sides, unseen, element_set) if lacking else ()
        kept += tuple(Element(word, word) for word in more)
        if len({e.word for e in kept}) < LEAST:
            return (
                f"{test.name}: the transform was fitted on {len(set(gone))} words of {element_set.category}"
            )
        left_out += list(dict.fromkeys(gone))
        added += list(more)
        sets.append(ElementSet(element_set.category, kept))
    count = len(test.targets)
    name = f"{test.name} {ENDING}" if left_out else test.name
    held = replace(test, name=name, targets=tuple(sets[:count]), attributes=tuple(sets[count:]))
    return HeldOut(held, tuple(left_out), tuple(added))


def _spare_words(
    gone: list[str], sides: Sides, spare: list[Pair], element_set: ElementSet
) -> tuple[str, ...]:
    """As many held-out words of the set's side as it lost."""
    if not gone:
        return ()
    counts = [len(set(gone) & set(side)) for side in sides]
    if counts[0] == counts[1]:
        return ()
    words = sides_of(spare)[0 if counts[0] > counts[1] else 1]
    present = set(element_set.words)
    return tuple(word for word in words if word not in present)[: len(set(gone))]

"""Build tests of sentence pairs, which ask which of two sentences a language model finds more probable (docs/methods
16).

A test of pairs is a `Test` with the context "pair" and without attribute sets. Its target sets have one sentence for
each pair, in the same order: X has the stereotypical sentences, Y the others, and an optional third set unrelated
sentences. The `word` of both sentences of a pair identifies its unit, which is its term, its template, or the pair
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from weatherglass.catalogue.test import PAIR, Element, ElementSet, Test
from weatherglass.errors import CatalogueError
from weatherglass.storage.documents import shipped_toml

CATEGORIES = ("stereotype", "anti-stereotype", "unrelated")
SLOT = "{}"
"""The slot for the word in the template of a pair."""
PAIRS = "pairs"
"""The name of all pair tests of the catalogue, as in -t pairs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences that differ in the people they are about, or in what they say about them."""

    more: str
    """The sentence that agrees with the stereotype."""
    less: str
    term: str = ""
    """The word that the pair is about; all pairs with the same term are one unit. Empty if every pair is its own
    unit.
    """
    unrelated: str = ""
    """A meaningless sentence, if there is one."""
    template: str = ""
    """The part that the sentences share, with {} in the place of the word in which they differ."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return the two or three sentences of the pair."""
        return (self.more, self.less, self.unrelated) if self.unrelated else (self.more, self.less)


def pair_test(
    name: str,
    pairs: Sequence[Pair],
    *,
    source: str = "",
    citation: str = "",
    topic: str = "",
    language: str = "en",
) -> Test:
    """Return a test of sentence pairs.

    Raises:
        CatalogueError: if a pair has identical sentences, an empty sentence, or one that does not fit its template, or
            if only some pairs have an unrelated sentence.
    """
    if not pairs:
        raise CatalogueError(f"test '{name}': contains no pair")
    for number, pair in enumerate(pairs, 1):
        if problem := problem_of(pair, len(pairs[0].sentences)):
            raise CatalogueError(f"test '{name}', pair {number}: {problem}")
    sets = []
    for place, category in enumerate(CATEGORIES[: len(pairs[0].sentences)]):
        elements = (
            Element(pair.sentences[place], pair.term or f"pair {number}", pair.template or None)
            for number, pair in enumerate(pairs, 1)
        )
        sets.append(ElementSet(category, tuple(elements)))
    return Test(name, tuple(sets), (), PAIR, source, citation, language=language, topic=topic)


def problem_of(pair: Pair, size: int) -> str:
    """Return what is wrong with a pair of a test with `size` sentences per pair; empty if nothing is."""
    if not all(sentence.strip() for sentence in (pair.more, pair.less)):
        return "a sentence is empty"
    if pair.more == pair.less:
        return f"both sentences are {pair.more!r}"
    if len(pair.sentences) != size:
        return "an unrelated sentence is missing; give one in every pair, or in none"
    if pair.template:
        if pair.template.count(SLOT) != 1:
            return f"the template {pair.template!r} should contain {SLOT} once"
        for sentence in pair.sentences:
            if word_span(sentence, pair.template) is None:
                return f"{sentence!r} does not fit the template {pair.template!r}"
    return ""


def word_span(sentence: str, template: str | None) -> tuple[int, int] | None:
    """Return the span of the word that fills the template; None if the sentence does not fit it.

    >>> word_span("The chef was slow.", "The chef was {}.")
    (13, 17)
    """
    before, slot, after = (template or "").partition(SLOT)
    start, end = len(before), len(sentence) - len(after)
    fits = slot and sentence.startswith(before) and sentence.endswith(after) and sentence[start:end].strip()
    return (start, end) if fits and start < end else None


def pairs_of(test: Test) -> Iterator[Pair]:
    """Yield the pairs of a pair test."""
    for number, elements in enumerate(zip(*(target.elements for target in test.targets), strict=True), 1):
        texts = [element.text for element in elements]
        term = elements[0].word if elements[0].word != f"pair {number}" else ""
        yield Pair(texts[0], texts[1], term, texts[2] if len(texts) > 2 else "", elements[0].template or "")


@cache
def pair_names() -> tuple[str, ...]:
    """Return the names of the pair tests of the catalogue."""
    return tuple(shipped_toml("weatherglass.catalogue", "pairs"))


@cache
def shipped_pair_test(name: str) -> Test:
    """Return a pair test of the catalogue, which must be one of `pair_names`."""
    entry = shipped_toml("weatherglass.catalogue", "pairs")[name]
    return pair_test(name, read_entries(entry["pair"]), source="weatherglass", topic=entry["topic"])


def read_entries(entries: Iterable[dict[str, Any]]) -> list[Pair]:
    """Return the pairs in tables whose keys are the fields of `Pair`.

    Raises:
        CatalogueError: if there is another key, a missing sentence, or a value that is not text.
    """
    pairs = []
    for number, entry in enumerate(entries, 1):
        wrong = next((key for key, value in entry.items() if not isinstance(value, str)), None)
        if wrong is not None:
            raise CatalogueError(f"pair {number}: {wrong} should be text")
        try:
            pairs.append(Pair(**entry))
        except TypeError:
            keys = ", ".join(Pair.__slots__)
            raise CatalogueError(
                f"pair {number}: has the keys {', '.join(entry)}, but may have {keys}"
            ) from None
    return pairs

"""A test as data: elements, sets of elements, and the test that compares four sets."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from weatherglass.errors import CatalogueError

Context = Literal["word", "sent", "sent-unbleached", "paragraph"]


@dataclass(frozen=True, slots=True)
class Element:
    """One text that is encoded, and the word it was made from."""

    text: str
    word: str
    """The word that the text carries; equal to `text` in a word-level test."""
    template: str | None = None
    """The sentence template the word was put into, with the word's place marked; None for a bare word."""


@dataclass(frozen=True, slots=True)
class ElementSet:
    """A category, such as Flowers, and the elements that stand for it."""

    category: str
    elements: tuple[Element, ...]

    def __len__(self) -> int:
        return len(self.elements)

    @property
    def texts(self) -> tuple[str, ...]:
        """What is encoded, in order."""
        return tuple(element.text for element in self.elements)

    @property
    def words(self) -> tuple[str, ...]:
        """The word of each element, in order; a word recurs once per sentence made from it."""
        return tuple(element.word for element in self.elements)


@dataclass(frozen=True)  # no slots: the instance caches its fingerprint
class AssociationTest:
    """Two target sets compared on their association with two attribute sets."""

    name: str
    targets: tuple[ElementSet, ElementSet]
    """X and Y; the null hypothesis is that their labels can be exchanged."""
    attributes: tuple[ElementSet, ElementSet]
    """A and B; a positive effect means that X leans to A."""
    context: Context = "word"
    source: str = ""
    """Paper and table, in words."""
    citation: str = ""
    """Key of the paper to cite, such as caliskan2017; empty for a user's own test."""
    warnings: tuple[str, ...] = ()
    """What a reader should know and what does not stop the test, such as X and Y sharing elements."""

    def __post_init__(self) -> None:
        for role, element_set in zip("XYAB", self.sets, strict=True):
            if not element_set.elements:
                raise CatalogueError(f"test '{self.name}': set {role} ({element_set.category}) is empty")

    @property
    def sets(self) -> tuple[ElementSet, ElementSet, ElementSet, ElementSet]:
        """X, Y, A, B."""
        return (*self.targets, *self.attributes)

    @property
    def categories(self) -> tuple[str, str, str, str]:
        """The names of X, Y, A and B."""
        x, y, a, b = self.sets
        return x.category, y.category, a.category, b.category

    @property
    def texts(self) -> tuple[str, ...]:
        """Every distinct text, in order of first appearance."""
        return tuple(dict.fromkeys(text for element_set in self.sets for text in element_set.texts))

    def fingerprint(self) -> str:
        """A hash of the content, the same wherever the test was read from; computed once."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        content = [[s.category, [[e.text, e.word] for e in s.elements]] for s in self.sets]
        return hashlib.sha256(json.dumps([self.name, content], ensure_ascii=False).encode()).hexdigest()

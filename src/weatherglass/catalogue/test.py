"""Represent a test as data: elements, sets of elements, and the target and attribute sets that it compares."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from weatherglass.errors import CatalogueError
from weatherglass.languages.similar_words import shown_twins, twins_among
from weatherglass.warnings import Warning

Context = Literal["word", "sent", "sent-unbleached", "paragraph", "pair", "corpus"]
PAIR: Context = "pair"
"""The context of a test of sentence pairs, which has no attribute sets."""
CORPUS: Context = "corpus"
"""The context of a test of words in sentences of a corpus, which the run finds."""


@dataclass(frozen=True, slots=True)
class Element:
    """One text to encode, and the word it was made from."""

    text: str
    word: str
    """The word that the text is about; equal to `text` in a word-level test."""
    template: str | None = None
    """The sentence template with a slot for the word; None for a single word."""


@dataclass(frozen=True, slots=True)
class ElementSet:
    """A category such as Flowers, and the elements that represent it."""

    category: str
    elements: tuple[Element, ...]

    def __len__(self) -> int:
        return len(self.elements)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts of the elements, in order."""
        return tuple(element.text for element in self.elements)

    @property
    def words(self) -> tuple[str, ...]:
        """Return the word of each element, in order; a word occurs once for each of its sentences."""
        return tuple(element.word for element in self.elements)


@dataclass(frozen=True, slots=True)
class Test:
    """A test, which compares target sets by their association with attribute sets; WEAT takes two of each.

    >>> def words(category, *texts):
    ...     return ElementSet(category, tuple(Element(text, text) for text in texts))
    >>> ranks = [words("Low", "servant"), words("Middle", "clerk"), words("High", "judge")]
    >>> test = Test("rank", targets=(words("Women", "woman", "she"),), attributes=tuple(ranks))
    >>> test.shape, test.roles
    ((1, 3), ('X', 'A', 'B', 'A3'))
    """

    __test__ = False  # the name is not for pytest

    name: str
    targets: tuple[ElementSet, ...]
    """The target sets X, Y, X3, …; at least one. For WEAT they are X and Y, whose labels are exchanged under the null
    hypothesis.
    """
    attributes: tuple[ElementSet, ...]
    """The attribute sets A, B, A3, …; none in a test of pairs, otherwise at least one. In WEAT, a positive effect
    means that X leans to A.
    """
    context: Context = "word"
    source: str = ""
    """The paper and table, in words."""
    citation: str = ""
    """The key of the paper to cite, such as caliskan2017; empty for a user's own test."""
    warnings: tuple[Warning, ...] = ()
    """Problems that do not stop the test, such as elements that X and Y share."""
    language: str = "en"
    """The code of the language, such as en."""
    topic: str = ""
    """The subject, such as "gender and career"; it does not change the result."""
    shape: tuple[int, int] = field(init=False, repr=False, compare=False)
    """The number of target sets and the number of attribute sets."""
    roles: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The name of each set in formulas and messages: X, Y, X3, … and A, B, A3, …"""
    sets: tuple[ElementSet, ...] = field(init=False, repr=False, compare=False)
    """The target sets, followed by the attribute sets."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", (len(self.targets), len(self.attributes)))
        object.__setattr__(self, "roles", set_roles(*self.shape))
        object.__setattr__(self, "sets", (*self.targets, *self.attributes))
        for kind, sets in (("target", self.targets), ("attribute", self.attributes)):
            if not sets and (kind == "target" or self.context != PAIR):
                raise CatalogueError(f"test '{self.name}': it has no {kind} set, but needs at least one")
        for role, element_set in zip(self.roles, self.sets, strict=True):
            if not element_set.elements:
                raise CatalogueError(f"test '{self.name}': set {role} ({element_set.category}) is empty")

    @property
    def categories(self) -> tuple[str, ...]:
        """Return the category of each set, in the order of `sets`."""
        return tuple(element_set.category for element_set in self.sets)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return every distinct text, in order of first appearance."""
        return tuple(dict.fromkeys(element.text for one in self.sets for element in one.elements))

    def sentences(
        self,
        templates: Iterable[str] | None = None,
        *,
        classes: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> Test:
        """Return the test with every word in sentences.

        Args:
            templates: sentences with {word}, or another slot of the language pack, for the word. By default, the
                templates of the language are used; in English, those of May et al. (2019).
            classes: the class of a word ("person noun", "given name", …) if templates of the pack depend on it.
            name: the name of the new test; sent-NAME by default.

        Raises:
            CatalogueError: if the test is in sentences already, or a word fits no template.
        """
        from weatherglass.catalogue.from_words import sentences_of

        return sentences_of(self, templates, classes, name)

    def fingerprint(self) -> str:
        """Return a hash of the content, which does not depend on the file that the test was read from."""
        sets = [[s.category, [[e.text, e.word] for e in s.elements]] for s in self.sets]
        # The topic changes no result, and defaults are left out, so that fingerprints of earlier versions stay valid.
        more: dict[str, int | str] = {}
        if self.shape != (2, 2):
            more["targets"] = len(self.targets)
        if self.language != "en":
            more["language"] = self.language
        elements = [element for element_set in self.sets for element in element_set.elements]
        if self.context == PAIR:
            more["templates"] = json.dumps([e.template for e in self.targets[0].elements])
        elif any(e.text != e.word and e.template is None for e in elements):
            more["templates"] = "not stated"  # so that no template can be left out
        content = [self.name, sets, more] if more else [self.name, sets]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def set_roles(targets: int, attributes: int) -> tuple[str, ...]:
    """Return the roles for these numbers of sets: the letters of the papers for the first two sets, then numbers.

    >>> set_roles(3, 1)
    ('X', 'Y', 'X3', 'A')
    """
    return tuple(
        letters[place] if place < len(letters) else f"{letters[0]}{place + 1}"
        for letters, number in (("XY", targets), ("AB", attributes))
        for place in range(number)
    )


def distinct(role: str, category: str, elements: Iterable[Element]) -> tuple[ElementSet, list[Warning]]:
    """Return the set without duplicate texts (the first is kept), and a warning that counts the duplicates."""
    elements = list(elements)
    first: dict[str, Element] = {}
    for element in elements:
        first.setdefault(element.text, element)
    counts = Counter(element.text for element in elements)
    repeated = [text for text, count in counts.items() if count > 1]
    left_out = len(elements) - len(first)
    warnings = []
    if left_out:
        named = f"{role} ({category})".strip()
        warnings.append(Warning.of("duplicates", set=named, count=left_out, words=repeated))
    return ElementSet(category, tuple(first.values())), warnings


def overlaps(targets: Sequence[ElementSet], attributes: Sequence[ElementSet]) -> list[Warning]:
    """Return a warning for each pair of target sets, or of attribute sets, that share elements or similar ones."""
    roles = set_roles(len(targets), len(attributes))
    labelled_targets = zip(roles[: len(targets)], targets, strict=True)
    labelled_attributes = zip(roles[len(targets) :], attributes, strict=True)
    pairs = [*combinations(labelled_targets, 2), *combinations(labelled_attributes, 2)]
    classical = (len(targets), len(attributes)) == (2, 2)
    warnings = []
    for (first, one), (second, other) in pairs:
        pair = {"first": f"{first} ({one.category})", "second": f"{second} ({other.category})"}
        shared = [text for text in one.texts if text in frozenset(other.texts)]
        if len(shared) == len(one) == len(other):
            warnings.append(Warning.of("same-sets", **pair, effect_is_zero=classical))
        elif shared:
            warnings.append(Warning.of("shared-words", **pair, words=shared))
        across = _twins_across(one.texts, other.texts)
        if across:
            warnings.append(Warning.of("lookalikes", **pair, words=shown_twins(across)))
    return warnings


def _twins_across(texts: Sequence[str], others: Sequence[str]) -> list[tuple[str, ...]]:
    """Return groups of different texts that look the same and occur in both sets."""
    groups = twins_among((*texts, *others))
    return [group for group in groups if not (set(group) <= set(texts) or set(group) <= set(others))]

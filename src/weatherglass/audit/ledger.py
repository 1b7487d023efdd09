"""What a model does not know of a test: dropped and listed, never silently (docs/methods 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from weatherglass.audit.encode import Encodings
from weatherglass.catalogue.test import Element, Test
from weatherglass.encoders.base import Model
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.mitigation.base import Transform
from weatherglass.warnings import Warning

MISSING_SHARE = 0.2
"""More than this share of a set missing is worth a warning."""


@dataclass(slots=True)
class MissingWords:
    """What a model did not know of one test."""

    dropped: dict[str, list[str]] = field(default_factory=dict)
    """By set: the elements left out because nothing in them is known."""
    missing: dict[str, int] = field(default_factory=dict)
    """By word: how many elements it was skipped in."""
    notes: dict[str, int] = field(default_factory=dict)
    """By remark, such as "cut to 512 tokens": how many elements it was made on."""

    def words(self) -> list[str]:
        """Every word or element that is unknown, once."""
        unread = (text for texts in self.dropped.values() for text in texts)
        return list(dict.fromkeys([*self.missing, *(text for text in unread if not self.missing)]))


@dataclass(frozen=True, slots=True)
class KnownSet:
    """The elements of one set that the model knows, and their rows among its vectors."""

    role: str
    rows: list[int]
    elements: tuple[Element, ...]
    category: str
    unknown: tuple[str, ...]
    """The texts of the others."""

    def only(self, words: set[str]) -> KnownSet:
        """The elements of these words."""
        kept = [place for place, element in enumerate(self.elements) if element.word in words]
        elements = tuple(self.elements[place] for place in kept)
        return replace(self, rows=[self.rows[place] for place in kept], elements=elements)


def known_sets(
    test: Test, encodings: Encodings, roles: Sequence[str]
) -> tuple[list[KnownSet], MissingWords, list[Warning]]:
    """Return these sets without the elements that the model does not know, a list of those, and warnings.

    A set may end up with few elements or none: how many are needed is for the metric to say.
    """
    missing = MissingWords()
    warnings: list[Warning] = []
    sets = []
    by_role = dict(zip(test.roles, test.sets, strict=True))
    for role in roles:
        element_set = by_role[role]
        rows = [encodings.row[element.text] for element in element_set.elements]
        for row in rows:
            covered = encodings.coverage[row]
            for word in dict.fromkeys(covered.missing):
                missing.missing[word] = missing.missing.get(word, 0) + 1
            if covered.note:
                missing.notes[covered.note] = missing.notes.get(covered.note, 0) + 1
        known = np.asarray(~np.isnan(encodings.vectors[rows]).all(axis=1))
        size, category = len(rows), element_set.category
        kept = [place for place in range(size) if known[place]]
        dropped = [element_set.elements[place].text for place in range(size) if not known[place]]
        if dropped:
            missing.dropped[role] = dropped
        if len(dropped) > MISSING_SHARE * size:
            warnings.append(Warning.of("unknown-words", missing=len(dropped), size=size, category=category))
        elements = tuple(element_set.elements[place] for place in kept)
        sets.append(KnownSet(role, [rows[place] for place in kept], elements, category, tuple(dropped)))
    return sets, missing, warnings


def whole_pairs(test: Test, sets: Sequence[KnownSet]) -> tuple[list[KnownSet], list[Warning]]:
    """The target sets without the words whose partner, at their place in the other set, the model does not know."""
    places = {
        role: {word: place for place, word in enumerate(dict.fromkeys(element_set.words))}
        for role, element_set in zip(test.roles, test.targets, strict=False)
    }
    targets = [known for known in sets if known.role in places]
    known_places = [{places[known.role][e.word] for e in known.elements} for known in targets]
    both = set.intersection(*known_places)
    lost = len(set.union(*known_places)) - len(both)
    kept = [
        known.only({word for word, place in places[known.role].items() if place in both}) for known in targets
    ]
    warnings = [Warning.of("broken-pairs", count=lost)] if lost else []
    return [*kept, *(known for known in sets if known.role not in places)], warnings


def other_tokens(test: Test, encoder: Model) -> list[Warning]:
    """A warning if word vectors are looked up by the tokens of another language than the test's."""
    tokens_of = encoder.options.get("language", DEFAULT_LANGUAGE)
    by_words = encoder.options.get("tokens") == "words" and test.context != "word"
    if not by_words or test.language == tokens_of or test.language not in LANGUAGES:
        return []
    return [Warning.of("other-language", rules=tokens_of, language=test.language)]


def fitted_on_test(seen: Sequence[str], transforms: Sequence[Transform]) -> Warning:
    """Return the warning that transforms were fitted on words of the test: its number says little about others."""
    names = " | ".join(transform.name.partition("?")[0] for transform in transforms)
    return Warning.of("fitted-on-test", transforms=names, words=seen)

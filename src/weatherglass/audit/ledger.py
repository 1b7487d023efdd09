"""What a model does not know of a test: dropped and listed, never silently (docs/methods 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weatherglass.arrays import Matrix
from weatherglass.audit.encode import Encodings
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.encoders.base import Encoder
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.metrics.sets import VectorSet
from weatherglass.mitigation.base import Transform

SHOWN = 5
"""How many words a warning lists."""

MISSING_SHARE = 0.2
"""More than this share of a set missing is worth a warning."""


@dataclass(slots=True)
class Ledger:
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

    def vectors(self, all_vectors: Matrix) -> VectorSet:
        """The set as vectors."""
        return VectorSet(self.role, all_vectors[self.rows], self.elements, self.category, self.unknown)


def known_sets(
    test: Test, encodings: Encodings, roles: Sequence[str]
) -> tuple[list[KnownSet], Ledger, list[str]]:
    """These sets without the elements that the model does not know; the ledger lists those, warnings follow.

    A set may end up with few elements or none: how many are needed is for the metric to say.
    """
    ledger = Ledger()
    warnings: list[str] = []
    sets = []
    by_role = dict(zip(test.roles, test.sets, strict=True))
    for role in roles:
        element_set = by_role[role]
        kept = _known_elements(role, element_set, encodings, ledger)
        dropped = len(element_set) - len(kept)
        if dropped > MISSING_SHARE * len(element_set):
            warnings.append(
                f"{dropped} of the {len(element_set)} elements of {element_set.category} are unknown to the model"
            )
        rows = [encodings.row[element.text] for element in kept]
        unknown = tuple(ledger.dropped.get(role, ()))
        sets.append(KnownSet(role, rows, kept, element_set.category, unknown))
    return sets, ledger, warnings


def whole_pairs(test: Test, sets: Sequence[KnownSet]) -> tuple[list[KnownSet], list[str]]:
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
    pairs = "pair is" if lost == 1 else "pairs are"
    warnings = [f"{lost} {pairs} left out: the model knows one word of it only"] if lost else []
    return [*kept, *(known for known in sets if known.role not in places)], warnings


def other_tokens(test: Test, encoder: Encoder) -> list[str]:
    """A warning if word vectors are looked up by the tokens of another language than the test's."""
    tokens_of = encoder.options.get("language", DEFAULT_LANGUAGE)
    by_words = encoder.options.get("tokens") == "words" and test.context != "word"
    if not by_words or test.language == tokens_of or test.language not in LANGUAGES:
        return []
    return [
        f"the model splits sentences by the rules of '{tokens_of}', but the test is in '{test.language}': "
        f"add language={test.language} to the model, as in vectors:FILE?language={test.language}"
    ]


def seen_words(seen: Sequence[str], transforms: Sequence[Transform]) -> list[str]:
    """A warning if the model's transforms were fitted on words of the test: its number says little about others."""
    if not seen:
        return []
    names = " | ".join(transform.name.partition("?")[0] for transform in transforms)
    words = "1 word of the test is" if len(seen) == 1 else f"{len(seen)} words of the test are"
    listed = f"{', '.join(seen[:SHOWN])}{', …' if len(seen) > SHOWN else ''}"
    return [f"{words} among those that {names} was fitted on ({listed})"]


def _known_elements(
    role: str, element_set: ElementSet, encodings: Encodings, ledger: Ledger
) -> tuple[Element, ...]:
    kept = []
    for element in element_set.elements:
        covered = encodings.coverage[encodings.row[element.text]]
        for word in dict.fromkeys(covered.missing):
            ledger.missing[word] = ledger.missing.get(word, 0) + 1
        if covered.note:
            ledger.notes[covered.note] = ledger.notes.get(covered.note, 0) + 1
        if encodings.known(element.text):
            kept.append(element)
        else:
            ledger.dropped.setdefault(role, []).append(element.text)
    return tuple(kept)

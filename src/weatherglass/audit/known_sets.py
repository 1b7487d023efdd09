"""Find the words of a test that a model does not know (docs/methods 6), and how it splits the other words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.audit.encode import Encodings
from weatherglass.catalogue.names import set_name
from weatherglass.catalogue.test import CORPUS, Element, ElementSet, Test
from weatherglass.encoders.base import Coverage, Model
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.similar_words import related_words
from weatherglass.languages.tokenise import word_count
from weatherglass.mitigation.base import Transform
from weatherglass.stats.confounding import Confounding, confounding, described, is_whole_word, tokens_of
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    from weatherglass.audit.encode import Encodings

MISSING_SHARE = 0.2
"""The share of missing words in a set above which a warning is given."""


UNFAMILIAR_PIECES = 3.0
"""The mean number of tokens per word above which a model hardly speaks the language of a test. The 46 published tests
have up to 2.6 on the embedded model and 1.5 on all-MiniLM-L6-v2, which splits Russian words into 6.1.
"""
UNFAMILIAR_UNKNOWN = 0.5
"""The share of unknown words above which word vectors hardly cover the language of a test."""


@dataclass(slots=True)
class MissingWords:
    """The words and elements of one test that a model does not know."""

    dropped: dict[str, list[str]] = field(default_factory=dict)
    """The dropped elements of each set, of which the model knows no part."""
    missing: dict[str, int] = field(default_factory=dict)
    """The number of elements in which each unknown word is skipped."""
    notes: dict[str, int] = field(default_factory=dict)
    """The number of elements with each remark, such as "cut to 512 tokens"."""

    def words(self) -> list[str]:
        """Return every unknown word or element, without repeats."""
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
    """The texts of the elements that the model does not know."""

    def only(self, words: set[str]) -> KnownSet:
        """Return the set restricted to the elements of the given words."""
        kept = [place for place, element in enumerate(self.elements) if element.word in words]
        elements = tuple(self.elements[place] for place in kept)
        return replace(self, rows=[self.rows[place] for place in kept], elements=elements)


def known_sets(
    test: Test, encodings: Encodings, roles: Sequence[str]
) -> tuple[list[KnownSet], MissingWords, list[Warning]]:
    """Return the sets with the elements that the model knows, the missing words, and warnings.

    A set may have few elements left, or none; the metric decides how many it needs.
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
        if len(dropped) > MISSING_SHARE * size and test.context != CORPUS:  # listed with their contexts
            warnings.append(Warning.of("unknown-words", missing=len(dropped), size=size, category=category))
        elements = tuple(element_set.elements[place] for place in kept)
        sets.append(KnownSet(role, [rows[place] for place in kept], elements, category, tuple(dropped)))
    return sets, missing, warnings


def whole_pairs(test: Test, sets: Sequence[KnownSet]) -> tuple[list[KnownSet], list[Warning]]:
    """Return the target sets without the words whose counterpart in the other set the model does not know."""
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
    """Return a warning if word vectors are looked up with the tokenizer of a language other than the test's."""
    tokens_of = encoder.options.get("language", DEFAULT_LANGUAGE)
    by_words = encoder.options.get("tokens") == "words" and test.context != "word"
    if not by_words or test.language == tokens_of or test.language not in LANGUAGES:
        return []
    return [Warning.of("other-language", rules=tokens_of, language=test.language)]


def unfamiliar(test: Test, encodings: Encodings, roles: Sequence[str]) -> list[Warning]:
    """Return a warning if the model knows few words of a test or splits them into many tokens, as in a foreign
    language. Character-level and byte-level models get no warning about the number of tokens per word.
    """
    if test.context == CORPUS:
        return []
    sets = dict(zip(test.roles, test.sets, strict=True))
    texts = list(dict.fromkeys(element.text for role in roles for element in sets[role].elements))
    covered = [encodings.coverage[encodings.row[text]] for text in texts]
    pieces = sum(len(one.tokens) for one in covered) - len(covered) * _added_to_each(texts, covered)
    unknown = sum(len(one.missing) for one in covered)
    by_character = pieces in (sum(map(len, texts)), sum(len(text.encode()) for text in texts))
    per_word = pieces / max(1.0, sum(map(word_count, texts)))
    many = per_word > UNFAMILIAR_PIECES and not by_character
    if not many and unknown <= UNFAMILIAR_UNKNOWN * pieces:
        return []
    values = {"unknown": unknown, "tokens": pieces, "pieces": per_word, "language": test.language}
    return [Warning.of("unfamiliar-language", split=many, **values)]


def _added_to_each(texts: Sequence[str], covered: Sequence[Coverage]) -> int:
    """Return the number of tokens, such as [CLS], that the model adds at the ends of every text."""
    if len(covered) < 2 or not all(len(one.tokens) > 1 for one in covered):
        return 0
    ends = ({one.tokens[0] for one in covered}, {one.tokens[-1] for one in covered})
    named = [end.pop() for end in ends if len(end) == 1]  # "▁" begins a word and is not added to it
    return sum(any(map(str.isalnum, token)) and not any(token in text for text in texts) for token in named)


def fitted_on_test(seen: Sequence[str], transforms: Sequence[Transform]) -> Warning:
    """Return the warning that transforms were fitted on words of the test, so that the result does not generalise to
    other words.
    """
    names = " | ".join(transform.name.partition("?")[0] for transform in transforms)
    return Warning.of("fitted-on-test", transforms=names, words=seen)


TARGETS = ("X", "Y")


@dataclass(frozen=True, slots=True)
class TargetTexts:
    """Facts about how a model splits the texts of X and Y, and whether they are confounded."""

    pieces: tuple[float, ...] | None
    """The mean number of tokens of each word's texts, X first; None if the model does not report how it splits
    them.
    """
    confounding: Confounding | None
    """The reason why the test is measured but not tested."""
    why_not_tested: str = ""
    """The reason in words."""


def read_targets(sets: Sequence[KnownSet], encodings: Encodings) -> TargetTexts | None:
    """Return how a model splits the texts of the target sets; None if the targets are not exactly X and Y."""
    targets = [known for known in sets if known.role[0] in "XY"]
    if tuple(known.role for known in targets) != TARGETS or not all(known.elements for known in targets):
        return None

    def pieces_of(text: str) -> list[str]:
        covered = encodings.coverage[encodings.row[text]]
        return [token.lower() for token in covered.tokens if token not in covered.missing]

    texts = [element.text for known in targets for element in known.elements]
    splits = any(encodings.coverage[encodings.row[text]].tokens != (text,) for text in texts)
    units = [list(_by_word(known.elements).values()) for known in targets]
    pieces = None
    if splits:
        counts = [[len(pieces_of(text)) for text in unit] for words in units for unit in words]
        pieces = tuple(sum(unit) / len(unit) for unit in counts)
    return _target_texts(units, pieces_of if splits else tokens_of, targets, pieces)


def confounded_by_words(test: Test) -> str:
    """Return why a test will be measured but not tested, judging by its words alone; empty if it can be tested."""
    if len(test.targets) != len(TARGETS) or not all(len(targets) for targets in test.targets):
        return ""
    units = [list(_by_word(targets.elements).values()) for targets in test.targets]
    return _target_texts(units, tokens_of, test.targets, None).why_not_tested


def related_words_in(sets: Iterable[tuple[str, KnownSet | ElementSet]], language: str) -> list[Warning]:
    """Return a warning for each group of words that share a stem or a word, within the sets of the given roles."""
    by_kind: dict[str, list[tuple[str, str, list[str]]]] = {}
    for role, one in sets:
        kind = "targets" if role[0] in "XY" else "attributes"
        by_kind.setdefault(kind, []).append((role, one.category, list(_by_word(one.elements))))
    found = []
    for alike in by_kind.values():
        lists = [words for *_, words in alike]
        for role, category, words in alike:
            for group in related_words(words, language, among=lists):
                values = {
                    "role": role,
                    "category": set_name(category),
                    "shared": group.shared,
                    "words": group.words,
                }
                found.append(Warning.of("related-words", **values))
    return found


def _target_texts(
    units: Sequence[Sequence[Sequence[str]]],
    split: Callable[[str], list[str]],
    targets: Sequence[KnownSet | ElementSet],
    pieces: tuple[float, ...] | None,
) -> TargetTexts:
    x, y = ([[split(text) for text in unit] for unit in words] for words in units)
    templates = [{element.template for element in one.elements if element.template} for one in targets]
    found = confounding(x, y, *templates)
    if found and pieces:
        texts = [text for words in units for unit in words for text in unit]
        tokens = [
            replace(
                token, piece=not all(is_whole_word(token.token, t) for t in texts if token.token in split(t))
            )
            for token in found.tokens
        ]
        found = replace(found, tokens=tuple(tokens))
    why = described(found, len(x), len(y)) if found else ""
    return TargetTexts(pieces, found, why)


def _by_word(elements: Sequence[Element]) -> dict[str, list[str]]:
    """Return the texts of each word, in order of first appearance."""
    texts: dict[str, list[str]] = {}
    for element in elements:
        texts.setdefault(element.word, []).append(element.text)
    return texts

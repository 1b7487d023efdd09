"""What the texts of a test tell before any vector is compared: pieces, confounding tokens, related words (10.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.languages.stems import common_stems, related_words
from weatherglass.stats.confounded import Confounding, confounding, described, is_whole_word, tokens_of
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    from weatherglass.audit.encode import Encodings
    from weatherglass.audit.ledger import KnownSet

TARGETS = ("X", "Y")


@dataclass(frozen=True, slots=True)
class TargetTexts:
    """What is known of the texts of X and Y before any vector is compared."""

    pieces: tuple[float, ...] | None
    """The mean number of pieces of each word's texts, X first; None where the model does not say how it splits them."""
    confounding: Confounding | None
    """Why the test is measured, not tested."""
    why_not_tested: str = ""
    """The same in words."""


def read_targets(sets: Sequence[KnownSet], encodings: Encodings) -> TargetTexts | None:
    """Return how a model reads the target sets; None where there are not exactly X and Y."""
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
    """Return why a test will be measured, not tested, as far as its words tell without a model; else empty."""
    if len(test.targets) != len(TARGETS) or not all(len(targets) for targets in test.targets):
        return ""
    units = [list(_by_word(targets.elements).values()) for targets in test.targets]
    return _target_texts(units, tokens_of, test.targets, None).why_not_tested


def related_in_test(test: Test) -> list[Warning]:
    """Return a warning for each group of words of one set that share a stem or a word."""
    return _related(zip(test.roles, test.sets, strict=True), test.language)


def related_in_sets(sets: Sequence[KnownSet], language: str) -> list[Warning]:
    """Return the same for the words that a model knows."""
    return _related(((known.role, known) for known in sets), language)


def _related(sets: Iterable[tuple[str, KnownSet | ElementSet]], language: str) -> list[Warning]:
    by_kind: dict[str, list[tuple[str, str, list[str]]]] = {}
    for role, one in sets:
        kind = "targets" if role[0] in "XY" else "attributes"
        by_kind.setdefault(kind, []).append((role, one.category, list(_by_word(one.elements))))
    found = []
    for alike in by_kind.values():
        everywhere = common_stems([words for *_, words in alike], language)
        for role, category, words in alike:
            for group in related_words(words, language, everywhere):
                values = {"role": role, "category": category, "shared": group.shared, "words": group.words}
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
    """The texts of each word, in order of first appearance."""
    texts: dict[str, list[str]] = {}
    for element in elements:
        texts.setdefault(element.word, []).append(element.text)
    return texts

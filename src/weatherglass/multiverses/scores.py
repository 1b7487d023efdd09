"""The score of every target word under every specification of one word list and one view of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.audit.covariances import Pair
from weatherglass.audit.encode import Encodings
from weatherglass.catalogue.test import Element, Test
from weatherglass.errors import UnitError, ZeroVectorError
from weatherglass.inference.jackknife import jackknife_variance
from weatherglass.inference.joint import effect_sizes
from weatherglass.inference.removal import scores_without_each_attribute
from weatherglass.metrics.sets import VectorSet, name_zero_vector
from weatherglass.metrics.units import mean_by_unit, unit_numbers
from weatherglass.metrics.weat.covariance import estimate_covariance
from weatherglass.metrics.weat.measure import SIMILARITIES, STATISTICS
from weatherglass.metrics.weat.tables import Tables, tables_of
from weatherglass.multiverses.knobs import Knobs, measure
from weatherglass.multiverses.lists import Setting, WordList

LEAST_WORDS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One specification with the scores of the words, X first."""

    choices: dict[str, str]
    """Level by knob, for every knob, also those with one level."""
    scores: Vector
    attribute_variance: float
    """The squared standard error of d over the words of A and of B: a jackknife."""
    counted: bool
    """Whether it is one of the factorial; published settings outside it and eq2 are only listed."""


@dataclass(frozen=True, slots=True)
class Known:
    """The words of a list that every view knows in every setting: one that a specification lacks leaves all."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    attributes: dict[str, tuple[frozenset[str], frozenset[str]]]
    """By attribute list: the words of A and of B."""
    dropped: tuple[str, ...]


def known_words(word_list: WordList, views: Sequence[Encodings]) -> Known:
    """What is left of a list.

    Raises:
        UnitError: if fewer than two words of a set are known everywhere.
    """
    tests = {test.name: test for test in word_list.tests}

    def lost(side: str, tests: Sequence[Test]) -> set[str]:
        elements = (
            element
            for test in tests
            for element_set in (test.targets if side == "targets" else test.attributes)
            for element in element_set.elements
        )
        return {e.word for e in elements if not all(_readable(e, view) for view in views)}

    gone = lost("targets", list(tests.values()))
    x, y = (tuple(word for word in words if word not in gone) for words in word_list.words)
    attributes = {}
    dropped = {word for words in word_list.words for word in words} & gone
    for name, members in word_list.attribute_lists().items():
        missing = lost("attributes", members)
        a, b = (
            frozenset.intersection(*(frozenset(test.attributes[side].words) for test in members)) - missing
            for side in (0, 1)
        )
        dropped |= missing
        attributes[name] = (a, b)
    for role, size in (
        ("X", len(x)),
        ("Y", len(y)),
        *(("A or B", len(s)) for pair in attributes.values() for s in pair),
    ):
        if size < LEAST_WORDS:
            raise UnitError(
                f"{word_list.name}: {size} words of {role} are known in every specification; 2 are needed"
            )
    return Known(x, y, attributes, tuple(sorted(dropped)))


def _readable(element: Element, view: Encodings) -> bool:
    """Whether the view knows the text and, in a sentence, the word that it is about."""
    if element.text not in view.row or not view.known(element.text):
        return False
    missing = view.coverage[view.row[element.text]].missing
    return not (missing and set(element.word.split()) & {token.strip(".,'") for token in missing})


def scored_specifications(
    word_list: WordList, known: Known, encodings: Encodings, knobs: Knobs
) -> Iterator[Scored]:
    """Every specification of the list on one view, attribute lists and settings first, then measures."""
    settings = word_list.settings()
    names = knobs.levels("list", list(settings))
    extra = word_list.published_sentences()
    for name in names:
        levels = knobs.levels("template", list(settings[name]))
        wanted = [(settings[name][level], True) for level in levels]
        if name in extra and knobs.turns("template"):
            wanted.append((extra[name], False))
        for test_name in dict.fromkeys(setting.test.name for setting, _ in wanted):
            some = [(setting, counted) for setting, counted in wanted if setting.test.name == test_name]
            for scored in _of_test(some, known, known.attributes[name], encodings, knobs):
                yield Scored(
                    {"list": name, **scored.choices}, scored.scores, scored.attribute_variance, scored.counted
                )


def _of_test(
    settings: Sequence[tuple[Setting, bool]],
    known: Known,
    attribute_words: tuple[frozenset[str], frozenset[str]],
    encodings: Encodings,
    knobs: Knobs,
) -> Iterator[Scored]:
    """The specifications of one test: its sentences and attributes are compared once for each similarity."""
    sets = _vector_sets(settings[0][0].test, (known.x, known.y, *attribute_words), encodings)
    rows_of: list[tuple[Setting, bool, Integers, Integers]] = []
    for similarity in knobs.levels("similarity", knobs.similarities):
        try:
            tables = tables_of(sets, similarity, _covariances(sets, similarity, knobs))
        except ZeroVectorError:
            raise UnitError(name_zero_vector(sets)) from None
        to_a, to_b = _by_attribute(tables)
        sorted_a, sorted_b = np.sort(to_a, axis=1), np.sort(to_b, axis=1)
        targets = (*tables.elements[0], *tables.elements[1])
        rows_of = rows_of or [(s, counted, *_rows(s, targets, known)) for s, counted in settings]
        orientation = SIMILARITIES.get(similarity).orientation
        for statistic in knobs.levels("statistic", knobs.statistics):
            raw = measure(similarity, statistic).statistic
            association = STATISTICS.get(raw).association
            scores = association(sorted_a, sorted_b, orientation)
            without = np.hstack(scores_without_each_attribute(raw, to_a, to_b, orientation, association))
            for setting, counted, rows, units in rows_of:
                yield Scored(
                    {"template": setting.name, "similarity": similarity, "statistic": statistic},
                    mean_by_unit(scores[rows], units),
                    _attribute_variance(mean_by_unit(without[rows], units), len(known.x), to_a.shape[1]),
                    counted and statistic != "eq2",
                )


def _attribute_variance(without: Matrix, n_x: int, n_a: int) -> float:
    d = effect_sizes(without, n_x)
    return float(jackknife_variance(d[:n_a]) + jackknife_variance(d[n_a:]))


def _vector_sets(
    test: Test, words: Sequence[Sequence[str] | frozenset[str]], encodings: Encodings
) -> list[VectorSet]:
    sets = []
    for role, element_set, wanted in zip("XYAB", test.sets, words, strict=True):
        elements = tuple(element for element in element_set.elements if element.word in wanted)
        rows = [encodings.row[element.text] for element in elements]
        sets.append(VectorSet(role, encodings.vectors[rows], elements, element_set.category))
    return sets


def _covariances(sets: Sequence[VectorSet], similarity: str, knobs: Knobs) -> Pair | None:
    if not SIMILARITIES.get(similarity).whitened:
        return None
    a, b = (estimate_covariance(some.vectors, knobs.covariance) for some in sets[2:])
    return a, b


def _by_attribute(tables: Tables) -> tuple[Matrix, Matrix]:
    """The measures with the sentences of an attribute word averaged, so that every attribute word counts once."""
    to_a, to_b = (
        mean_by_unit(table.T, unit_numbers([element.word for element in elements])).T
        for table, elements in zip((tables.to_a, tables.to_b), tables.elements[2:], strict=True)
    )
    return to_a, to_b


def _rows(setting: Setting, targets: Sequence[Element], known: Known) -> tuple[Integers, Integers]:
    """The rows of the setting's elements, and the number of the word that each is about, X first."""
    place: Mapping[str, int] = {f"X{word}": number for number, word in enumerate(known.x)} | {
        f"Y{word}": len(known.x) + number for number, word in enumerate(known.y)
    }
    n_x_rows = sum(element.word in known.x for element in targets)
    rows, units = [], []
    for row, element in enumerate(targets):
        if setting.has(element):
            rows.append(row)
            side = "X" if f"X{element.word}" in place and row < n_x_rows else "Y"
            units.append(place[f"{side}{element.word}"])
    return np.array(rows, dtype=np.int64), np.array(units, dtype=np.int64)

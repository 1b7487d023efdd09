"""One word list on one model: all that another process needs to test it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weatherglass.arrays import Vector
from weatherglass.audit.encode import Encodings
from weatherglass.audit.registrations import Registration
from weatherglass.encoders.base import Coverage
from weatherglass.multiverses.knobs import Knobs
from weatherglass.multiverses.lists import WordList
from weatherglass.parallel.packed import Place, pack


@dataclass(frozen=True, slots=True)
class ListView:
    """The texts of one word list in one view of a model."""

    choices: dict[str, str]
    place: Place
    """Of the view's vectors in the array that all units share."""
    rows: dict[str, int]
    """By text: its row there."""
    coverage: list[Coverage]
    """Of the texts, in the same order."""

    def encodings(self, vectors: Vector) -> Encodings:
        """Return vectors and coverage of the list alone."""
        numbers = {text: number for number, text in enumerate(self.rows)}
        return Encodings(numbers, self.place.of(vectors)[list(self.rows.values())], self.coverage)


@dataclass(frozen=True, slots=True)
class ListUnit:
    """One word list on one model; its vectors are rows of the array that all units share."""

    model: str
    word_list: WordList
    knobs: Knobs
    views: tuple[ListView, ...]
    registrations: tuple[Registration, ...] = ()
    """What the process that computes it has to register first."""

    def encodings(self, vectors: Vector) -> list[tuple[dict[str, str], Encodings]]:
        """Return every view with its choices."""
        return [(view.choices, view.encodings(vectors)) for view in self.views]


def list_units(
    model: str,
    lists: Sequence[WordList],
    views: Sequence[tuple[dict[str, str], Encodings]],
    knobs: Knobs,
    registrations: tuple[Registration, ...],
) -> tuple[Iterator[ListUnit], Vector]:
    """Return a unit per word list, made as it is needed, and the array that all of them share."""
    places, vectors = pack([encodings.vectors for _, encodings in views])
    without_vectors = [
        (choices, place, encodings.row, encodings.coverage)
        for (choices, encodings), place in zip(views, places, strict=True)
    ]

    def units() -> Iterator[ListUnit]:
        for some in lists:
            texts = list(dict.fromkeys(text for test in some.tests for text in test.texts))
            yield ListUnit(
                model,
                some,
                knobs,
                tuple(
                    ListView(choices, place, {t: row[t] for t in texts}, [coverage[row[t]] for t in texts])
                    for choices, place, row, coverage in without_vectors
                ),
                registrations,
            )

    return units(), vectors

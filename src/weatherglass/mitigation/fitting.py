"""What the fits share: vectors of the words that a model knows, spans of differences, checks with clear errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.errors import EncoderError
from weatherglass.mitigation.lists import Classes, Pair

ROUNDING = 1e-8
"""Singular values below this share of the largest, or of the vectors' length, count as 0: float32 rounds near it."""


def known_vectors(texts: Sequence[str], vectors: Matrix) -> dict[str, Vector]:
    """The vectors of the texts that the model knows."""
    return {text: row for text, row in zip(texts, vectors, strict=True) if not np.isnan(row).any()}


def known_pairs(name: str, pairs: Sequence[Pair], known: Mapping[str, Vector]) -> list[Pair]:
    """The pairs of which the model knows both words.

    Raises:
        EncoderError: if there is none.
    """
    whole = [pair for pair in pairs if pair[0] in known and pair[1] in known]
    if not whole:
        raise EncoderError(f"{name}: the model knows both words of none of the {len(pairs)} pairs")
    return whole


def known_rows(name: str, words: Sequence[str], vectors: Matrix, least: int) -> Matrix:
    """The vectors of the words that the model knows.

    Raises:
        EncoderError: if there are fewer than `least`.
    """
    rows: Matrix = vectors[~np.isnan(vectors).any(axis=1)]
    if len(rows) < least:
        found = "none" if not len(rows) else str(len(rows))
        raise EncoderError(
            f"{name}: the model knows {found} of the {len(words)} words of the list; {least} are needed"
        )
    return rows


def labelled_rows(name: str, classes: Classes, vectors: Matrix) -> tuple[Matrix, Integers]:
    """The vectors of the words that the model knows, and the number of each one's class.

    Raises:
        EncoderError: if a class has fewer than two known words.
    """
    known = ~np.isnan(vectors).any(axis=1)
    labels = np.array(classes.labels)[known]
    for number, (label, words) in enumerate(zip(classes.names, classes.words, strict=True)):
        count = int((labels == number).sum())
        if count < 2:
            raise EncoderError(
                f"{name}: the model knows {count} of the {len(words)} words of class '{label}'; 2 are needed"
            )
    return vectors[known], labels


def span(name: str, differences: Matrix, components: int, what: str) -> Matrix:
    """The first principal directions through 0 of some differences, orthonormal, one a row.

    Raises:
        EncoderError: if the differences span fewer dimensions.
    """
    _, singular, directions = np.linalg.svd(differences, full_matrices=False)
    rank = int((singular > max(ROUNDING * singular[0], np.finfo(np.float64).tiny)).sum())
    if rank < components:
        raise EncoderError(
            f"{name}: {what} span {rank} dimensions, but components={components} are asked for"
        )
    return np.asarray(directions[:components])


def nothing_left(name: str, width: int, removed: int) -> None:
    """Refuse to remove all dimensions.

    Raises:
        EncoderError: if no dimension would be left.
    """
    if removed >= width:
        raise EncoderError(f"{name}: removing {removed} of {width} dimensions leaves nothing")


def partly_known(known: int, asked: int, what: str) -> tuple[str, ...]:
    """A note where the model does not know all of a list."""
    return (
        (f"fitted on {known} of {asked} {what}; the model does not know the others",) if known < asked else ()
    )

"""Arrange texts as a tree of tokens, so that a causal model reads the beginning of several texts only once.

The tokens of a tree are one row of input. Each has the position that it has in its text, and sees only the tokens
before it in that text, so that the model predicts the same as from single texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

ROOT = -1


@dataclass(slots=True)
class PrefixTree:
    """The tokens of some texts, where a beginning that texts share occurs once."""

    ids: list[int] = field(default_factory=list)
    """The tokens, each after the token before it in its text."""
    parents: list[int] = field(default_factory=list)
    """The index of the token before each one; `ROOT` for a first token."""
    positions: list[int] = field(default_factory=list)
    """The position of each token in its text."""
    paths: dict[int, list[int]] = field(default_factory=dict)
    """The indices of the tokens of each text, by the text's place in the list of all texts."""

    def add(self, place: int, text: Sequence[int], shared: int) -> None:
        """Add a text that has its first `shared` tokens in common with the text added last."""
        path = [] if not self.paths else next(reversed(self.paths.values()))[:shared]
        for token in text[len(path) :]:
            self.parents.append(path[-1] if path else ROOT)
            self.positions.append(len(path))
            path.append(len(self.ids))
            self.ids.append(token)
        self.paths[place] = path

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Return which tokens (columns) each token (row) attends to: itself and those before it in its text."""
        mask = np.eye(len(self.ids), dtype=np.bool_)
        for index, parent in enumerate(self.parents):
            if parent != ROOT:
                mask[index] |= mask[parent]
        return mask


def prefix_trees(texts: Sequence[Sequence[int]], most: int) -> Iterator[PrefixTree]:
    """Yield trees of at most `most` tokens; a text with more tokens has a tree of its own."""
    tree, before = PrefixTree(), texts[0] if texts else ()
    for place in sorted(range(len(texts)), key=lambda place: tuple(texts[place])):
        text = texts[place]
        shared = shared_length(before, text)
        if tree.paths and len(tree.ids) + len(text) - shared > most:
            yield tree
            tree = PrefixTree()
        tree.add(place, text, shared)
        before = text
    if tree.paths:
        yield tree


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the number of tokens with which both texts begin.

    >>> shared_length([5, 7, 2], [5, 7, 9, 9])
    2
    """
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))

"""Trees of texts: every text is in one tree, shared beginnings occur once, and a token sees only its own text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weatherglass.encoders.prefix_tree import prefix_trees

TEXTS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=8), min_size=1, max_size=20)


@given(TEXTS, st.integers(8, 40))
def test_a_tree_has_every_beginning_once_and_every_token_sees_its_own(
    texts: list[list[int]], most: int
) -> None:
    places: list[int] = []
    for tree in prefix_trees(texts, most):
        places += tree.paths
        assert len(tree.ids) <= most
        beginnings = {tuple(texts[place][:end]) for place in tree.paths for end in range(1, 9)}
        assert len(tree.ids) == len(beginnings)
        for place, path in tree.paths.items():
            assert [tree.ids[index] for index in path] == texts[place]
            assert [tree.positions[index] for index in path] == list(range(len(path)))
            for position, index in enumerate(path):
                assert set(np.flatnonzero(tree.visible[index])) == set(path[: position + 1])
    assert sorted(places) == list(range(len(texts)))


@pytest.mark.parametrize(("most", "expected"), [(9, [9]), (7, [6, 6]), (4, [6, 6])])
def test_a_text_that_is_too_long_has_its_own_tree(most: int, expected: list[int]) -> None:
    texts = [[1, 2, 3, 4, 5, 6], [1, 2, 3, 7, 8, 9]]
    assert [len(tree.ids) for tree in prefix_trees(texts, most)] == expected

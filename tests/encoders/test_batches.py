"""Batches: every text once, none too large, texts of like length together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weatherglass.encoders.pooling import by_length


@given(st.lists(st.integers(0, 60), max_size=80), st.integers(1, 20), st.integers(1, 200))
def test_batches_hold_every_text_once_within_their_limits(
    lengths: list[int], texts: int, tokens: int
) -> None:
    batches = [[lengths[place] for place in batch] for batch in by_length(lengths, texts, tokens)]
    places = [int(place) for batch in by_length(lengths, texts, tokens) for place in batch]
    assert sorted(places) == list(range(len(lengths)))
    assert [length for batch in batches for length in batch] == sorted(lengths, reverse=True)
    for batch in batches:
        assert 1 <= len(batch) <= texts
        assert len(batch) == 1 or len(batch) * max(batch) <= tokens


def test_a_full_batch_is_not_split_further() -> None:
    assert [len(batch) for batch in by_length([5] * 10, 4, 100)] == [4, 4, 2]
    assert [len(batch) for batch in by_length([5] * 10, 100, 15)] == [3, 3, 3, 1]

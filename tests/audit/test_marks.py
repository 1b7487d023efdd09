"""Marks: one for every outcome, the same for rows and topics, and none that can be taken for another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.results import made_result

from weatherglass.audit.results import Mark, mark_of
from weatherglass.stats import Outcome


def test_every_outcome_has_its_mark_and_none_is_shared() -> None:
    marks = [mark_of(replace(made_result(0.5), outcome=outcome.value)) for outcome in Outcome]
    assert [mark.words for mark in marks] == [outcome.value for outcome in Outcome]
    assert [mark.glyph for mark in marks] == [outcome.mark for outcome in Outcome]
    assert len({mark.glyph for mark in Mark}) == len({mark.ascii for mark in Mark}) == len(Mark)
    assert all(mark.ascii.isascii() and len(mark.ascii) == len(mark.glyph) <= 1 for mark in Mark)


@pytest.mark.parametrize(
    ("fields", "mark", "printed"),
    [
        ({"outcome": "robust"}, Mark.ROBUST, "**"),
        ({"outcome": "limited"}, Mark.LIMITED, "*"),
        ({"outcome": "unconfirmed"}, Mark.UNCONFIRMED, ""),
        ({"outcome": None, "not_tested": "one contrast"}, Mark.MEASURED, ""),
        ({"outcome": None}, Mark.NOT_JUDGED, ""),
        # Neither p by sentences nor the corrected p of all rows lifts a mark.
        ({"outcome": "inconclusive", "p_elements": 1e-9, "p_adjusted": 1e-9}, Mark.INCONCLUSIVE, ""),
    ],
)
def test_a_row_is_marked_by_its_outcome_alone(fields: dict[str, object], mark: Mark, printed: str) -> None:
    row = replace(made_result(1e-6), **fields)  # type: ignore[arg-type]
    assert mark_of(row) is mark
    assert mark_of(row).stars == printed

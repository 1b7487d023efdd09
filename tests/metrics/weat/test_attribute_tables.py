"""The word × attribute-word table that a topic is judged by."""

from __future__ import annotations

import numpy as np
import pytest

from weatherglass.catalogue.test import Element
from weatherglass.metrics.sets import VectorSet
from weatherglass.metrics.weat.association import Association
from weatherglass.metrics.weat.tables import attribute_tables, named_sample, tables_of, unit_scores


def sets(rng: np.random.Generator) -> list[VectorSet]:
    found = []
    for role, words in {"X": "pqr", "Y": "pst", "A": "abc", "B": "defg"}.items():
        elements = [Element(f"{word} {i}", word, f"{{}} {i}") for i in range(2) for word in words]
        found.append(VectorSet(role, rng.normal(size=(len(elements), 6)), tuple(elements)))
    return found


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_scores_are_the_difference_of_the_means_in_the_order_asked_for(similarity: str) -> None:
    tables = tables_of(sets(np.random.default_rng(1)), similarity, None)
    named = named_sample(tables, Association(similarity, "mean"), "words", 1)
    found = attribute_tables(named, "rqp", "tps")
    assert found is not None
    place = {("X", word): row for row, word in enumerate(named.units[0])}
    place |= {("Y", word): 3 + row for row, word in enumerate(named.units[1])}
    order = [place["X", word] for word in "rqp"] + [place["Y", word] for word in "tps"]
    scores = unit_scores(named.sample)[order]
    np.testing.assert_allclose(found.to_a.mean(axis=1) - found.to_b.mean(axis=1), scores, rtol=1e-12)
    assert (set(found.a), set(found.b)) == (set("abc"), set("defg"))


def test_other_statistics_have_no_table() -> None:
    tables = tables_of(sets(np.random.default_rng(1)), "cosine", None)
    named = named_sample(tables, Association("cosine", "median"), "words", 1)
    assert attribute_tables(named, "pqr", "pst") is None

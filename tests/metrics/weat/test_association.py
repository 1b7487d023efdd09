"""Measures as values: their text is their identity, and names, groups and globs select them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.errors import UnknownNameError
from weatherglass.metrics.weat.association import (
    SIMILARITIES,
    STATISTICS,
    Association,
    known_associations,
    select_associations,
)
from weatherglass.metrics.weat.scores import PairStatistic, SetStatistic, Similarity, associations


@pytest.mark.parametrize("measure", known_associations(), ids=str)
def test_parsing_its_text_gives_the_same_measure(measure: Association) -> None:
    assert Association.parse(str(measure)) == measure
    assert hash(Association.parse(str(measure))) == hash(measure)


def test_the_default_measure_is_that_of_caliskan_2017() -> None:
    assert str(Association()) == "cosine/mean"


def test_measures_sort_by_similarity_and_then_statistic() -> None:
    written = ["euclidean/min", "cosine/min", "cosine/eq2"]
    assert [str(m) for m in sorted(map(Association.parse, written))] == [
        "cosine/eq2",
        "cosine/min",
        "euclidean/min",
    ]


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("cosin/mean", "cosine/mean"),
        ("euclidean/medain", "euclidean/median"),
        ("cosine", "cosine/mean"),
        ("azarpanah", "azarpanah2021"),
    ],
)
def test_an_unknown_measure_is_answered_with_the_nearest(text: str, nearest: str) -> None:
    with pytest.raises(UnknownNameError, match=naming(f"'{text}'", suggesting=nearest)):
        select_associations([text])


@pytest.mark.parametrize("text", ["", "cosine/", "/mean", "cosine/mean/max", "foo/*"])
def test_a_malformed_measure_is_refused(text: str) -> None:
    with pytest.raises(UnknownNameError, match=naming("similarity/statistic")):
        select_associations([text])


def test_a_star_selects_every_similarity_with_every_statistic() -> None:
    selected = select_associations(["*"])
    assert len(selected) == len(set(selected)) == 25


def test_a_glob_selects_one_statistic_of_every_similarity() -> None:
    assert [str(m) for m in select_associations(["*/mean"])] == [
        "cosine/mean",
        "euclidean/mean",
        "manhattan/mean",
        "mahalanobis/mean",
        "dot/mean",
    ]


def test_the_twenty_measures_of_the_paper_are_all_but_dot() -> None:
    assert set(select_associations(["azarpanah2021"])) == set(select_associations(["*"])) - set(
        select_associations(["dot/*"])
    )


def test_a_measure_selected_twice_comes_once_where_it_was_first_asked_for() -> None:
    assert [str(m) for m in select_associations(["dot/max", "dot/m*x", "cosine/mean", "*/mean"])][:2] == [
        "dot/max",
        "cosine/mean",
    ]


@pytest.fixture
def own_measures() -> Iterator[None]:
    """A similarity and two statistics as a user registers them; taken out again afterwards."""
    tables = [(table, dict(table._registered)) for table in (SIMILARITIES, STATISTICS)]
    SIMILARITIES.register(
        "chebyshev", Similarity(lambda w, a: np.abs(w[:, None] - a[None]).max(axis=2), orientation=-1)
    )
    STATISTICS.register("midrange", SetStatistic(lambda rows: (rows[:, 0] + rows[:, -1]) / 2))
    STATISTICS.register("gap", PairStatistic(lambda to_a, to_b: np.abs(to_a[:, 0] - to_b[:, 0])))
    yield
    for table, values in tables:
        table._registered = values  # type: ignore[assignment]


@pytest.mark.usefixtures("own_measures")
def test_a_registered_similarity_and_statistic_are_measured_like_our_own() -> None:
    targets, a, b = np.array([[0.0, 0.0]]), np.array([[1.0, 3.0], [0.0, 5.0]]), np.array([[2.0, 1.0]])
    scores = associations(targets, a, b, select_associations(["chebyshev/midrange", "chebyshev/gap"]))
    # Farthest coordinates: 3 and 5 from A, 2 from B.
    assert {str(m): s.tolist() for m, s in scores.items()} == {
        "chebyshev/midrange": [-(4.0 - 2.0)],
        "chebyshev/gap": [1.0],
    }


@pytest.mark.usefixtures("own_measures")
def test_globs_reach_registered_measures() -> None:
    assert Association("chebyshev", "eq2") in select_associations(["*/eq2"])
    assert Association("cosine", "midrange") in select_associations(["cosine/*"])
    assert len(select_associations(["azarpanah2021"])) == 20

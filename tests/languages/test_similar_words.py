"""Words of a list that share a stem or a word: forms of one word, phrases with a common part."""

from __future__ import annotations

import pytest

from weatherglass.languages.similar_words import related_words


def groups(words: list[str], language: str = "en") -> list[set[str]]:
    return [set(group.words) for group in related_words(words, language)]


@pytest.mark.parametrize(
    ("words", "language", "related"),
    [
        (["she", "her", "hers", "daughter"], "en", [{"her", "hers"}]),
        (["likable", "liked", "fair"], "en", [{"likable", "liked"}]),
        (["family", "families", "home"], "en", [{"family", "families"}]),
        (["happy", "Happiness", "joy"], "en", [{"happy", "Happiness"}]),
        (["invest", "investor", "investment", "bank"], "en", [{"invest", "investor", "investment"}]),
        (["white woman", "white girl", "fair lady"], "en", [{"white woman", "white girl"}]),
        (["Lehrer", "Lehrerin", "Arzt"], "de", [{"Lehrer", "Lehrerin"}]),
        (["étudiant", "étudiante", "roi"], "fr", [{"étudiant", "étudiante"}]),
        (["hermano", "hermana", "rey"], "es", [{"hermano", "hermana"}]),
        (["hermano", "hermana", "rey"], "tlh", []),
        (["he", "him", "his", "her", "man", "male"], "en", []),
        (["ant", "fly", "wasp", "bee", "beetle"], "en", []),
        (["Ann", "Anne", "Joan", "Joanna"], "en", []),
        (["one of us", "two of us", "all of us"], "en", []),
        ([], "en", []),
        (["…", "!"], "en", []),
    ],
)
def test_forms_of_one_word_and_phrases_are_found(
    words: list[str], language: str, related: list[set[str]]
) -> None:
    assert groups(words, language) == related


def test_a_word_can_be_in_two_groups_but_no_group_in_another() -> None:
    assert groups(["white woman", "white girl", "tall woman"]) == [
        {"white woman", "white girl"},
        {"white woman", "tall woman"},
    ]
    assert groups(["old friend", "old friends", "old enemy", "friendly"]) == [
        {"old friend", "old friends", "friendly"}
    ]


def test_what_every_word_has_sets_no_word_apart() -> None:
    lists = [["German American", "Polish Americans"], ["Kenyan American", "South African American"]]
    assert [related_words(words, "en", among=lists) for words in lists] == [[], []]
    assert [group.shared for group in related_words(lists[1], "en")] == ["american"]
    assert [group.shared for group in related_words(lists[1], "en", among=[*lists, ["he"]])] == ["american"]

"""Synonyms: the list that is shipped, a user's own, and WordNet's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.messages import naming

from weatherglass.catalogue import load_tests
from weatherglass.errors import CatalogueError, UnknownNameError
from weatherglass.languages.lexicon import load_synonyms

TESTS = [f"weat{number}" for number in range(1, 11)]

DATA_NOUN = """\
  1 This is where the licence stands.
00001740 03 n 03 joy 0 delight 0 great_pleasure 0 001 @ 00001930 n 0000 | a feeling
00001930 03 n 02 joy 1 pleasure 0 000 | another sense
"""
DATA_ADJ = "00003131 00 s 02 glad(p) 0 happy 1 000 | full of joy\n"


@pytest.fixture
def wordnet_folder(tmp_path: Path) -> Path:
    """A WordNet of three synsets, in the form that wndb(5) describes."""
    for part, text in {"noun": DATA_NOUN, "verb": "", "adj": DATA_ADJ, "adv": ""}.items():
        (tmp_path / f"data.{part}").write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", TESTS)
def test_every_attribute_word_has_five_synonyms_and_every_set_a_hundred_vectors(name: str) -> None:
    synonyms = load_synonyms("catalogue")
    (test,) = load_tests([name])
    for attributes in test.attributes:
        assert all(len(synonyms[word]) >= 5 for word in attributes.words)
        enlarged = {*attributes.words, *(other for word in attributes.words for other in synonyms[word])}
        assert len(enlarged) >= 100


@pytest.mark.parametrize("name", TESTS)
def test_no_synonym_stands_for_both_attributes_of_a_test(name: str) -> None:
    synonyms = load_synonyms("catalogue")
    (test,) = load_tests([name])
    a, b = ({*s.words, *(other for word in s.words for other in synonyms[word])} for s in test.attributes)
    assert not a & b


def test_the_list_has_no_word_that_no_test_uses() -> None:
    used = {word for test in load_tests(TESTS) for attributes in test.attributes for word in attributes.words}
    assert set(load_synonyms("catalogue")) == used


def test_a_list_of_the_users_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('joy = ["glee", "mirth", "glee"]\nshort-term = ["brief"]\n')
    assert load_synonyms(str(path)) == {"joy": ("glee", "mirth"), "short-term": ("brief",)}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('joy = "glee"', "'joy'"),
        ("joy = [1]", "'joy'"),
        ('joy = ["glee"', "Unclosed array"),
        ('[joy]\nnoun = ["glee"]', "'joy'"),
    ],
)
def test_a_malformed_list_is_refused_with_the_place(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(CatalogueError, match=naming(path, complaint)):
        load_synonyms(path)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownNameError, match=naming("'nowhere.toml'", "No such file")):
        load_synonyms("nowhere.toml")


def test_wordnet_gives_the_fellows_of_a_word_in_all_its_synsets(wordnet_folder: Path) -> None:
    synonyms = load_synonyms(wordnet_folder)
    assert synonyms["joy"] == ("delight", "pleasure")
    assert synonyms["happy"] == ("glad",)
    assert not any("_" in word for word in synonyms)


def test_wordnet_is_found_where_the_environment_says(
    wordnet_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wordnet_folder / "index.noun").write_text("")
    monkeypatch.setenv("WNSEARCHDIR", str(wordnet_folder))
    assert load_synonyms("wordnet") == load_synonyms(wordnet_folder)


def test_without_wordnet_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weatherglass.languages.lexicon.find_wordnet", lambda: None)
    with pytest.raises(UnknownNameError, match=naming("WordNet", "wordnet-base", "--synonyms catalogue")):
        load_synonyms("wordnet")


def test_a_folder_that_is_no_wordnet_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=naming(tmp_path / "data.noun", "WordNet")):
        load_synonyms(tmp_path)

"""Tests of sentence pairs as data: the catalogue's own, files, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.messages import naming

from weatherglass.catalogue import load_test, load_tests, read_toml, to_toml
from weatherglass.catalogue.pairs import Pair, pair_names, pair_test, pairs_of, word_span
from weatherglass.errors import CatalogueError

PAIRS = (
    Pair("The chef was slow.", "The chef was quick.", "chef", "The chef was sky.", "The chef was {}."),
    Pair('The maid was "shy".', 'The maid was "bold".', "maid", 'The maid was "sea".', 'The maid was "{}".'),
)


def test_the_catalogue_has_six_balanced_topics() -> None:
    tests = load_tests(["pairs"])
    assert len(tests) == len(pair_names()) == 6
    assert sum(len(test.targets[0]) for test in tests) >= 60
    for test in tests:
        assert test.context == "pair"
        assert test.shape == (2, 0)
        assert test.topic.startswith("pairs: ")
        terms = Counter(test.targets[0].words)
        assert set(terms.values()) == {1}  # each pair is about something else
        texts = [sentence for pair in pairs_of(test) for sentence in pair.sentences]
        assert len(set(texts)) == len(texts)


def test_pairs_differ_in_few_words() -> None:
    for test in load_tests(["pairs"]):
        for pair in pairs_of(test):
            more, less = pair.more.split(), pair.less.split()
            assert len(more) == len(less)
            assert sum(one != other for one, other in zip(more, less, strict=True)) <= 2, pair


def test_half_of_the_pairs_are_about_each_group() -> None:
    groups = {
        "pairs-ethnicity": ("Black", "white"),
        "pairs-religion": ("Muslim", "Christian"),
        "pairs-class": ("poor", "rich"),
    }
    for name, (first, second) in groups.items():
        sentences = [pair.more.lower() for pair in pairs_of(load_test(name))]
        counts = [sum(group.lower() in text.split() for text in sentences) for group in (first, second)]
        assert counts == [6, 6], name


def test_a_written_file_is_read_back(tmp_path: Path) -> None:
    test = pair_test("mine", PAIRS, source="here", topic="cooks")
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(test), encoding="utf-8")
    again = read_toml(path)
    assert again == test
    assert again.fingerprint() == test.fingerprint()
    assert list(pairs_of(again)) == list(PAIRS)


def test_a_template_is_part_of_the_fingerprint() -> None:
    without = [Pair(pair.more, pair.less, pair.term, pair.unrelated) for pair in PAIRS]
    assert pair_test("mine", PAIRS).fingerprint() != pair_test("mine", without).fingerprint()


def test_the_place_of_a_word_is_found_by_its_template() -> None:
    assert word_span("He is here.", "{} is here.") == (0, 2)
    assert word_span("He is here.", None) is None
    assert word_span("He is here.", "{} was here.") is None
    assert word_span(" is here.", "{} is here.") is None


@pytest.mark.parametrize(
    "pair",
    [
        Pair("The same.", "The same."),
        Pair("", "One."),
        Pair("One.", "  "),
        Pair("One cat.", "One dog.", template="Two {}"),
        Pair("One cat.", "One dog.", template="One cat."),
        Pair("One cat.", "One dog.", unrelated="One sky."),
    ],
)
def test_a_wrong_pair_is_one_line_with_its_number(pair: Pair) -> None:
    with pytest.raises(CatalogueError, match=naming("mine", "2")) as raised:
        pair_test("mine", [Pair("A.", "B."), pair])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "content",
    [
        "pair = 3",
        "pair = []",
        "pair = [3]",
        '[[pair]]\nmore = "a"',
        '[[pair]]\nmore = "a"\nless = "b"\nother = "c"',
        '[[pair]]\nmore = "a"\nless = 3',
        '[[pair]]\nmore = "a"\nless = "a"',
        'X = "x"\n[[pair]]\nmore = "a"\nless = "b"',
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "pairs.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CatalogueError, match=naming("pairs.toml")) as raised:
        read_toml(path)
    assert "\n" not in str(raised.value)

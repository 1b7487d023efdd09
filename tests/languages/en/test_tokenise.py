"""Tokenisers: the conventions of the Penn Treebank, held against nltk's implementation of them."""

from __future__ import annotations

import re

import pytest

from weatherglass.catalogue import list_tests, load_test
from weatherglass.languages.tokenise import none, treebank, whitespace

SENTENCES = [
    "I can't, won't; don't!",
    "The dogs' bowl: 9:30, 1,000.",
    "rock'n'roll's o'clock I'd we've they'll",
    "I cannot, gonna 'tis 'Twas",
    "AT&T cost $5.50, i.e. 3%.",
    "a well-known thing -- yes",
    '"Quote," she said.',
    '("Really?")',
    "What?! (Really) [no] {maybe} <tag>",
    "and so on...",
    "New_York is in the U.S. of A.",
    "I'M HERE, DON'T GO",
    "user@host #1 a;b",
    "word",
    "",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_is_split_as_nltk_does(sentence: str) -> None:
    nltk = pytest.importorskip("nltk.tokenize.treebank")
    assert treebank(sentence) == nltk.TreebankWordTokenizer().tokenize(sentence)


def test_all_published_texts_are_split_as_nltk_does() -> None:
    nltk = pytest.importorskip("nltk.tokenize.treebank").TreebankWordTokenizer()
    texts = {text for name in list_tests() for text in load_test(name).texts}
    assert len(texts) > 4000
    for text in texts:
        # Like nltk.word_tokenize: first sentences, then words. There are no abbreviations in these texts.
        expected = [word for sentence in re.split(r"(?<=\.)\s+", text) for word in nltk.tokenize(sentence)]
        assert treebank(text) == expected


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("This is Amy. She left.", "This is Amy . She left ."),
        ('He said "no." Then he left.', "He said `` no . '' Then he left ."),
        (
            "Mr. J. Smith of the U.S. Army left. It rained.",
            "Mr. J. Smith of the U.S. Army left . It rained .",
        ),
        ("So am I. He left etc. in vol. 3.", "So am I . He left etc. in vol . 3 ."),
        ("They arrived (late.) Then they left.", "They arrived ( late . ) Then they left ."),
    ],
)
def test_every_sentence_has_its_full_stop_and_abbreviations_keep_theirs(text: str, tokens: str) -> None:
    # The Treebank's rule, which nltk.word_tokenize follows only with data that it has to download.
    assert treebank(text) == tokens.split()


def test_whitespace_leaves_punctuation_with_its_word() -> None:
    assert whitespace("  This is Amy's, no? ") == ["This", "is", "Amy's,", "no?"]


def test_none_takes_the_text_as_one_word() -> None:
    assert none("New York") == ["New York"]
    assert none(" ") == []

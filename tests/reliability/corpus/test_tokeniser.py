"""Tokens are those of one regular expression, in any script."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weatherglass.errors import UnknownNameError
from weatherglass.reliability.corpus import Tokeniser, prepared, words_and_marks

EXPRESSION = re.compile(r"</?[A-Za-z]+>|[^\W_]+(?:'[^\W_]+)*")
"""The slow and plain definition of a token."""
PIECES = [
    "don't",
    "'",
    "''",
    "’",
    "<unk>",
    "</s>",
    "<",
    ">",
    "a_b",
    "_",
    "é",
    "ß",
    "東京",
    "²",
    "½",
    "\u0307",
    " ",
    "-",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
@example("'tis the dogs' <b>don''t</b> rock'n'roll <1> <<unk>> a'<s>'b")
def test_tokens_are_those_of_the_expression(text: str) -> None:
    assert words_and_marks(text) == EXPRESSION.findall(text.replace("’", "'"))


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("Straße, l’homme; Müller-Lüdenscheidt", ["straße", "l'homme", "müller", "lüdenscheidt"]),
        ("Он сказал: «да»", ["он", "сказал", "да"]),
    ],
)
def test_letters_of_any_script_are_words(line: str, tokens: list[str]) -> None:
    assert list(Tokeniser()(line)) == [tokens]


def test_corpora_are_prepared_as_in_the_paper() -> None:
    line = " The <unk> , said Mr. He , see http://a.b/c : no . It is @-@ so ! "
    (wiki,) = prepared("wikitext")(line)
    assert wiki == line.split()
    reddit = list(prepared("reddit")("He said no. See http://a.b/c! It's SO."))
    assert reddit == [["he", "said", "no"], ["see", "it's", "so"]]
    assert prepared("reddit", sentences=False) == prepared("")
    with pytest.raises(UnknownNameError, match="reddit"):
        prepared("redit")

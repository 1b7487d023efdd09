"""How tests read messages: names, numbers and suggestions are found as wholes, whatever the wording."""

from __future__ import annotations

import doctest
import re

import pytest
from tests import messages
from tests.messages import at_column, in_order, mentions


def test_the_examples_hold() -> None:
    found = doctest.testmod(messages)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("text", ["17", "0.7", "-7", "−7", "7.5", "7,000", "w7", "7th"])
def test_a_number_is_found_as_a_whole(text: str) -> None:
    assert mentions(f"line 7: {text}", 7)
    assert mentions("7, or 8.", 7, 8)
    assert not mentions(f"line {text} of x", 7)


def test_a_name_is_found_as_a_whole_and_a_suggestion_in_quotation_marks() -> None:
    assert not mentions("unknown 'hard-debias'", "hard-debia")
    for quoted in ("'holm'", '"holm"', "“holm”", "`holm`"):
        assert mentions(f"did you mean {quoted}?", suggesting="holm")
    assert not mentions("known: holm, none", suggesting="holm")


def test_small_letters_are_found_in_capitals_and_a_space_at_the_end_of_a_line() -> None:
    assert mentions("Cannot\n  tell", "cannot tell")
    assert not mentions("set x", "set X")


def test_the_order_and_the_column_count() -> None:
    assert re.search(in_order("a.txt", 2, "b.txt"), "a.txt: 2 numbers, as in b.txt")
    assert not re.search(in_order("b.txt", "a.txt"), "a.txt: 2 numbers, as in b.txt")
    assert re.search(at_column(3, "'('"), "in 'x (y', column 3: '(' is not expected here")
    assert not re.search(at_column(3, "'('"), "in 'x (y', column 13: '(' is not expected here")

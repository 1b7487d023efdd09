"""Text for one line: no control character of any text reaches a terminal, and a line has an end."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from weatherglass.storage.printable import one_line, printable_json, short_line

ANY = st.text(st.characters(exclude_categories=()), max_size=400)


@given(ANY)
def test_nothing_that_moves_a_cursor_is_left(text: str) -> None:
    shown = one_line(text)
    left = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert left <= {"\u200c", "\u200d"}  # emoji and Indic scripts are spelt with them
    assert len(shown.splitlines()) <= 1
    shown.encode()


@given(ANY)
def test_what_is_shown_is_shown_again_as_it_is(text: str) -> None:
    assert one_line(one_line(text)) == one_line(text)


@given(ANY, st.integers(20, 300))
def test_a_short_line_keeps_its_two_ends(text: str, longest: int) -> None:
    line, short = one_line(text), short_line(text, longest)
    assert len(short) <= longest
    if len(line) <= longest:
        assert short == line
    else:
        head, _, tail = short.partition("…") if "…" not in line else (short[: longest // 2], "…", "")
        assert line.startswith(head)
        assert line.endswith(tail)
        assert len(short) == longest


def test_control_characters_are_shown_and_not_dropped() -> None:
    assert one_line("a\x1b[2Jb\x07\x9b") == r"a\x1b[2Jb\x07\x9b"
    assert one_line("abc\u202edef") == r"abc\u202edef"
    assert one_line("two\nlines\r\n") == "two lines "
    assert one_line("\udcff") == r"\udcff"


@given(ANY)
def test_json_means_the_same_and_sends_nothing(text: str) -> None:
    document = printable_json(json.dumps({text: [text]}, indent=1, ensure_ascii=False))
    assert json.loads(document) == {text: [text]}
    left = {
        c for c in document if c <= "\uffff" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    }
    assert left <= {"\n", "\u200c", "\u200d"}

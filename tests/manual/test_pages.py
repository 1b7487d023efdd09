"""The manual in the package: its pages, their sections, what a warning points at, and what the wheel carries."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.manual.emitted import EMITTED
from typer.testing import CliRunner

from weatherglass.cli import app
from weatherglass.errors import UnknownNameError
from weatherglass.inference.notes import Note
from weatherglass.manual.anchors import ANCHORS, anchor_of, with_anchor
from weatherglass.manual.pages import CHECKOUT, GUIDE, Page, read_page, topic_of, topics

ROOT = Path(__file__).parents[2]


def test_topics_are_named_by_their_path() -> None:
    assert topic_of("index.md") == "start"
    assert topic_of("how-to/index.md") == "how-to"
    assert topic_of("methods/README.md") == "methods"
    assert topic_of("concepts/units.md") == "concepts/units"


def test_the_last_part_of_a_topic_is_enough() -> None:
    assert read_page("units").topic == "concepts/units"
    with pytest.raises(UnknownNameError, match="did you mean 'glossary'"):
        read_page("glosary")


def test_a_section_ends_where_the_next_of_its_level_begins() -> None:
    page = Page(
        "a.md", "# A\n\none\n\n## B\n\ntwo\n\n```sh\n# not a heading\n```\n\n### C\n\nthree\n\n## D\n\nfour\n"
    )
    assert page.anchors() == ["a", "b", "c", "d"]
    assert " ".join(page.text("b").split()) == "## B two ```sh # not a heading ``` ### C three"
    with pytest.raises(UnknownNameError, match="unknown section of 'a' 'e'"):
        page.text("e")


def test_a_terminal_has_no_addresses_comments_or_pictures() -> None:
    page = Page(
        "how-to/x.md",
        "# X\n\n<!-- made: commands -->\n\n![a](b.png) **p**{ #p } [units](../concepts/units.md#a)\n",
    )
    assert page.text() == "# X\n\n **p** units\n"
    assert page.topics_named() == ["concepts/units#a"]


@pytest.mark.parametrize("topic", topics())
def test_every_topic_that_a_page_names_can_be_printed(topic: str) -> None:
    for named in read_page(topic).topics_named():
        name, _, anchor = named.partition("#")
        page = read_page(name)
        assert not anchor or page.text(anchor)


@pytest.mark.parametrize("topic", topics())
def test_a_page_fits_into_80_columns(topic: str) -> None:
    printed = CliRunner().invoke(app, ["docs", topic], env={"COLUMNS": "200"})
    assert printed.exit_code == 0
    assert max(map(cell_len, printed.output.splitlines())) <= 80


def test_the_list_has_every_topic() -> None:
    assert list(json.loads(CliRunner().invoke(app, ["docs", "--json"]).output)) == list(topics())


def test_every_anchor_of_a_warning_is_a_section() -> None:
    assert set(ANCHORS) == set(read_page("warnings").anchors()[1:])


def without_names(warning: str) -> str:
    """Return a warning without what differs from case to case: numbers, words in quotes, names of sets."""
    return re.sub(r"'[^']*'|\d[\d.]*|\b[A-Z]\w*", "#", warning)


@pytest.mark.parametrize("anchor", ANCHORS)
def test_a_warning_that_the_code_emits_points_at_the_section_that_quotes_it(anchor: str) -> None:
    emitted = [warning for warning in EMITTED[anchor]() if anchor_of(warning) == anchor]
    assert emitted, f"no warning points at {anchor}: {EMITTED[anchor]()}"
    section = read_page("warnings").text(anchor)
    quoted = " ".join(line[2:] for line in section.splitlines() if line.startswith("> "))
    assert anchor_of(quoted) == anchor
    parts = [without_names(part) for part in quoted.split("…")]
    assert any(all(part in without_names(warning) for part in parts) for warning in emitted), (
        emitted,
        quoted,
    )


def test_every_note_of_a_row_has_a_section() -> None:
    assert {anchor_of(note) for note in Note} == {"skewed", "spreads", "attribute-noise", "these-words-only"}
    assert with_anchor("weat1: the sets differ in spread") == "weat1: the sets differ in spread [spreads]"
    assert with_anchor("the cache cannot be written") == "the cache cannot be written"


def test_the_wheel_carries_what_the_list_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    folders = {re.sub(r"/\*\.md$", "", pattern) for pattern in GUIDE}
    assert {path.removeprefix("docs/") for path in included} == folders
    assert all(
        place == f"weatherglass/manual/pages/{path.removeprefix('docs/')}" for path, place in included.items()
    )
    assert all((ROOT / path).exists() for path in included)
    assert CHECKOUT == ROOT / "docs"

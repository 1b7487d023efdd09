"""The manual in the package: its pages, their sections, what a warning points at, and what the wheel carries."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.manual.emitted import EMITTED

from weatherglass.cli import app
from weatherglass.errors import UnknownNameError
from weatherglass.manual import CHECKOUT, GUIDE, Page, read_page, topic_of, topics
from weatherglass.storage.printable import cell_len
from weatherglass.warnings import Warning
from weatherglass.warnings.kinds import KINDS

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


def test_every_page_that_the_readme_names_can_be_printed() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = {topic_of(path) for path in re.findall(r"\]\(docs/([\w/-]+(?:\.md)?)/?[)#]", readme)}
    assert len(named) > 30
    assert named <= set(topics())


def test_every_kind_of_warning_has_a_section_and_every_section_a_kind() -> None:
    documented = {name for name, kind in KINDS.items() if kind.section}
    assert documented == set(read_page("warnings").anchors()[1:])
    assert {name for name, kind in KINDS.items() if not kind.section} == {"other"}


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.section])
def test_a_section_quotes_what_the_table_says_of_its_example(kind: str) -> None:
    section = read_page("warnings").source.split(f"\n## {kind}\n")[1].split("\n## ")[0]
    quoted = [line.removeprefix("> ") for line in section.splitlines() if line.startswith("> ")]
    assert quoted == [Warning(kind, "", KINDS[kind].example).text]


@pytest.mark.parametrize("kind", EMITTED)
def test_the_code_emits_a_warning_with_the_values_of_its_example(kind: str) -> None:
    emitted = [warning for warning in EMITTED[kind]() if warning.kind == kind]
    assert emitted, [warning.kind for warning in EMITTED[kind]()]
    assert all(set(warning.values) == set(KINDS[kind].example) for warning in emitted)
    assert all(warning.anchor == kind for warning in emitted)


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

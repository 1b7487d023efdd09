"""The walks of docs/walks: every step prints what its page shows, today and in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.walk import PAGES, WALKS, WalkError, compared, differences, walked

TRAINS = ("reliability",)


def test_there_are_seven_walks_and_the_first_page_names_them() -> None:
    index = (WALKS / "index.md").read_text(encoding="utf-8")
    assert len(PAGES) == 7
    assert all(f"({path.name})" in index for path in PAGES)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.large) if path.stem in TRAINS else path for path in PAGES],
    ids=lambda path: path.stem,
)
def test_a_walk_prints_what_its_page_shows(path: Path) -> None:
    assert list(differences(path)) == []


def test_a_page_that_is_out_of_date_is_found(tmp_path: Path) -> None:
    page = tmp_path / "walk.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    assert {"-3", "+2"} <= set(differences(page))
    assert walked(page.read_text()) == "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n"


@pytest.mark.parametrize(
    "step",
    [
        "```sh\ngit log\n```\n",
        "```sh\nweatherglass docs | grep x\n```\n",
        "```python\nimport subprocess\n```\n",
        "```python\nfrom tests.models import HashedEncoder\n```\n",
        "```csv\na,b\n```\n",
    ],
)
def test_a_step_has_nothing_but_the_package(step: str) -> None:
    with pytest.raises(WalkError):
        walked(step)


def test_a_step_whose_times_differ_is_compared_without_numbers() -> None:
    first, second = (
        f"a 7\n\n<!-- times differ -->\n```sh\nx 7\n```\n\n```text\n{took} min  of 8\n```\nb 7\n"
        for took in ("3", "44")
    )
    assert compared(first) == compared(second) != compared(first.replace("b 7", "b 8"))
    assert compared(first) != compared(first.replace(" of ", " off "))
    assert compared(first) != compared(first.replace("a 7", "a 8"))

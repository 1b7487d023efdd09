"""docs/papers: every item of the papers has a row, and every row was made by a command that finds it."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "papers"
ITEMS = {"may2019": range(1, 84), "azarpanah2021": range(84, 129), "du2021": range(129, 182)}
"""The numbers of the items by paper, as the checklist of all papers counts them."""


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "write.py"))


def rows(paper: str) -> dict[int, dict[str, str]]:
    """Return the rows of a paper's table by number."""
    with (DOCS / f"{paper}.tsv").open(encoding="utf-8", newline="") as file:
        return {
            int(row["number"]): row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        }


@pytest.mark.parametrize("paper", ITEMS)
def test_every_item_of_a_paper_has_a_row(paper: str, written: dict[str, Any]) -> None:
    titles, commands, items = written["load"]()
    assert paper in titles
    own = [item for item in items if item.paper == paper]
    assert [item.n for item in own] == list(ITEMS[paper])
    found = rows(paper)
    assert list(found) == list(ITEMS[paper])
    for item in own:
        assert item.state in written["STATES"]
        assert found[item.n]["state"] == item.state
        assert item.command in commands or (item.state != "works" and item.why)
        assert bool(item.command) == bool(item.finds)
        if item.command:
            assert found[item.n]["command"] == " ".join(commands[item.command].split())
            assert found[item.n]["printed"]


@pytest.mark.parametrize("paper", ITEMS)
def test_the_page_counts_its_states(paper: str, written: dict[str, Any]) -> None:
    states = [row["state"] for row in rows(paper).values()]
    counted = ", ".join(f"{state}: {states.count(state)}" for state in written["STATES"])
    assert f"{len(states)} items. {counted}." in (DOCS / f"{paper}.md").read_text(encoding="utf-8")


def test_a_text_that_is_not_in_the_output_is_an_error(written: dict[str, Any]) -> None:
    item = written["Item"]
    items = [
        item("p", 1, "§1", "found", "works", "c", (r"d = [\d.]+", "weat6")),
        item("p", 2, "§1", "lost", "works", "c", ("weat7",)),
        item("p", 3, "§1", "without a command", "partly", why="open"),
    ]
    results, missing = written["results_of"](items, lambda _: "weat6\n d = 1.5 |\n")
    assert results == {1: "d = 1.5; weat6", 2: ""}
    assert len(missing) == 1
    assert "2" in missing[0]
    text = written["item_table"]({"c": "echo 'a | b'"}, items, results)
    assert [line.split("\t")[0] for line in text.splitlines()] == ["number", "1", "2", "3"]


@pytest.mark.parametrize("paper", ITEMS)
def test_the_page_shows_every_claim_and_every_item_that_does_not_work(
    paper: str, written: dict[str, Any]
) -> None:
    text = (DOCS / f"{paper}.md").read_text(encoding="utf-8")
    _, _, items = written["load"]()
    shown = [
        item for item in items if item.paper == paper and (item.state != "works" or "claim" in item.item[:17])
    ]
    assert shown
    assert sum(line.startswith("| ") for line in text.splitlines()) - text.count("|---|---|---|") == len(
        shown
    )


def test_a_command_runs_once_and_its_failure_ends_the_writing(
    tmp_path: Path, written: dict[str, Any]
) -> None:
    commands = {"count": "echo ran >> log; wc -l < log", "fails": "exit 3"}
    output = written["run_commands"](commands, tmp_path)
    assert output("count").strip() == output("count").strip() == "1"
    with pytest.raises(SystemExit):
        output("fails")

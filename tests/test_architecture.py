"""docs/architecture.md shows the source as it is: its rooms, and the layers that import-linter enforces."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "weatherglass"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST_LOOSE_MODULES = 8


def test_the_listing_names_every_room_and_every_loose_module() -> None:
    listing = PAGE.partition("```\nsrc/weatherglass/\n")[2].partition("```")[0]
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert set(re.findall(r"^  (\w+)/", listing, re.MULTILINE)) == rooms
    assert set(re.findall(r"\w+\.py", listing)) == {path.name for path in SOURCE.glob("*.py")}


def test_the_layers_are_those_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    assert "\n".join(["```", *layers, "```"]) in PAGE


@pytest.mark.parametrize("folder", ["", "reliability"])
def test_few_modules_are_loose(folder: str) -> None:
    loose = list((SOURCE / folder).glob("*.py"))
    assert len(loose) <= MOST_LOOSE_MODULES, sorted(path.name for path in loose)


def test_every_path_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([\w.]+/[\w./]*)`", PAGE))
    assert len(named) > 40
    assert [path for path in named if not ((ROOT / path).exists() or (SOURCE / path).exists())] == []


@pytest.mark.parametrize("name", ["Run", "Result", "Verdict", "Settings", "Rule", "Multiverse", "Estimate"])
def test_a_noun_of_the_design_is_one_class(name: str) -> None:
    defined = re.compile(rf"^class {name}\b", re.MULTILINE)
    places = [path for path in SOURCE.rglob("*.py") if defined.search(path.read_text(encoding="utf-8"))]
    assert len(places) == 1, places

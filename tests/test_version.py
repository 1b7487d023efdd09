"""The version is written once, in `weatherglass/__init__.py`; what cannot read it there must agree with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import weatherglass

ROOT = Path(__file__).resolve().parents[1]


def test_the_package_takes_its_version_from_the_source() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in settings["project"]["dynamic"]
    source = ROOT / settings["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{weatherglass.__version__}"' in source.read_text(encoding="utf-8")


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [weatherglass.__version__]


def test_the_changelog_has_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert weatherglass.__version__ in re.findall(r"^## ([^\s,]+)", changelog, re.MULTILINE)

"""Every relative link and every path named in the pages of the repository leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAMED_PATH = re.compile(r"`((?:src|tests|docs|benchmarks)/[\w./-]*)`")
MODULE = re.compile(r"`(\w+(?:/\w+)+\.(?:py|toml))`")
"""A file of the package named without src/weatherglass before it: `encoders/base.py`."""


def anchors(page: Path) -> set[str]:
    """The addresses of a page's headings, as GitHub makes them."""
    texts = HEADING.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if path and not (target.exists() and target.is_relative_to(ROOT)):
        return False
    return not anchor or target.suffix != ".md" or anchor in anchors(target)


def broken_links(page: Path) -> list[str]:
    links = LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in links if not re.match(r"[a-z]+:", link) and not leads_somewhere(page, link)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_exists_in_the_repository(page: Path) -> None:
    assert broken_links(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_and_folder_that_is_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    absent = [path for path in NAMED_PATH.findall(text) if not (ROOT / path).exists()]
    bases = (ROOT, ROOT / "src", ROOT / "src" / "weatherglass")
    absent += [path for path in MODULE.findall(text) if not any((base / path).exists() for base in bases)]
    assert absent == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n[here](#a-page) [there](absent.md) [no](#nowhere) [out](https://example.org)\n"
    )
    assert broken_links(page) == ["absent.md", "#nowhere"]

"""What the built site must hold: every link leads somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Tags whose address a browser loads by itself."""


class Page(HTMLParser):
    """The addresses on a page: what it links to, what it fetches, and which anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what the tag says of addresses."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        rel = values.get("rel", "")
        if tag in FETCHED and FETCHED[tag] in values and rel not in ("canonical", "prev", "next"):
            self.fetched.append(values[FETCHED[tag]])


def problems(site: Path) -> list[str]:
    """One line for each broken link and each address that is fetched from another host."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in page.fetched:
            if urlsplit(address).netloc:
                found.append(f"{name}: fetches {address}, but the site must work without the network")
            elif not urlsplit(address).scheme and not _exists(path, address, pages):
                found.append(f"{name}: {address} is missing")
        for address in page.links:
            parts = urlsplit(address)
            if not parts.scheme and not parts.netloc and not _exists(path, address, pages):
                found.append(f"{name}: the link {address} leads nowhere")
    return found


def _exists(page: Path, address: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(address)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target = target / "index.html"
    if not target.exists():
        return False
    anchored = (
        target in pages and target.parent.name != "gallery"
    )  # a run's page writes its anchors by script
    return not parts.fragment or not anchored or unquote(parts.fragment) in pages[target].anchors

"""The manual: pages by topic, read from the installed package or, in a checkout, from docs/."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weatherglass.registry import unknown

INSTALLED = Path(__file__).parent / "pages"
CHECKOUT = Path(__file__).parents[3] / "docs"

GUIDE = (
    "index.md",
    "how-to/*.md",
    "concepts/*.md",
    "warnings.md",
    "faq.md",
    "glossary.md",
    "coming-from.md",
    "tests.md",
    "languages.md",
    "models.md",
    "transformers.md",
    "encoders.md",
    "metrics.md",
    "measures.md",
    "profiles.md",
    "python.md",
    "mitigation.md",
    "writing.md",
    "report.md",
    "gate.md",
    "trust.md",
    "methods/*.md",
    "reliability.md",
    "regression.md",
    "scaling.md",
    "packages.md",
)
"""What the wheel carries, in the order in which `weatherglass docs` lists it; studies and figures stay on the site."""

START = "start"
"""The topic of the first page."""

_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
_COMMENT = re.compile(r"^<!--.*?-->\n+", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_ATTRIBUTES = re.compile(r"\{ #[\w-]+ \}")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the manual, as it is written."""

    path: str
    """Below docs/, such as how-to/own-test.md."""
    source: str

    @property
    def topic(self) -> str:
        """Its name on the command line."""
        return topic_of(self.path)

    @property
    def title(self) -> str:
        """Its first heading."""
        found = _HEADING.search(self.source)
        return found[2] if found else self.topic

    def text(self, anchor: str = "") -> str:
        """Markdown for a terminal: without comments, pictures and addresses; of one section where an anchor is given.

        Raises:
            UnknownNameError: if no heading of the page has this anchor.
        """
        source = self._section(anchor) if anchor else self.source
        plain = _ATTRIBUTES.sub("", _PICTURE.sub("", _COMMENT.sub("", source)))
        return _LINK.sub(lambda link: link[1], plain).strip() + "\n"

    def topics_named(self, anchor: str = "") -> list[str]:
        """The topics that the page (or a section of it) links to, each once."""
        source = self._section(anchor) if anchor else self.source
        topics = (self._linked(link[2]) for link in _LINK.finditer(source))
        return list(dict.fromkeys(topic for topic in topics if topic and topic != self.topic))

    def anchors(self) -> list[str]:
        """The anchors of its headings."""
        return [anchor for anchor, _, _ in self._headings()]

    def _linked(self, address: str) -> str:
        path, _, anchor = address.partition("#")
        if ":" in path or not path.endswith(".md"):
            return ""
        topic = topic_of(posixpath.normpath(posixpath.join(posixpath.dirname(self.path), path)))
        if topic not in topics():
            return ""
        return f"{topic}#{anchor}" if anchor else topic

    def _headings(self) -> Iterator[tuple[str, int, int]]:
        """Anchor, level and position; a # in a code block is a comment of that code."""
        hidden = _CODE.sub(lambda block: " " * len(block[0]), self.source)
        for heading in _HEADING.finditer(hidden):
            yield slug(heading[2]), len(heading[1]), heading.start()

    def _section(self, anchor: str) -> str:
        headings = list(self._headings())
        for place, (name, level, start) in enumerate(headings):
            if name == anchor:
                ends = (at for _, other, at in headings[place + 1 :] if other <= level)
                return self.source[start : next(ends, len(self.source))]
        raise unknown(f"section of '{self.topic}'", anchor, [name for name, _, _ in headings])


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def topic_of(path: str) -> str:
    """The topic of a page's path below docs/: how-to/own-test.md is how-to/own-test, methods/README.md is methods."""
    topic = path.removesuffix(".md").removesuffix("/README").removesuffix("/index")
    return START if topic == "index" else topic


@cache
def topics() -> dict[str, str]:
    """Topic -> path below docs/, in the order of GUIDE; the page that opens a folder comes first."""
    found = (path for pattern in GUIDE for path in sorted(_folder().glob(pattern), key=_opens_folder_first))
    paths = (path.relative_to(_folder()).as_posix() for path in found)
    return {topic_of(path): path for path in paths}


def _folder() -> Path:
    return INSTALLED if INSTALLED.exists() else CHECKOUT


def _opens_folder_first(path: Path) -> tuple[bool, str]:
    return path.stem not in ("index", "README"), path.name


def read_page(topic: str) -> Page:
    """The page of a topic; the last part of its name is enough where it is the only one.

    Raises:
        UnknownNameError: if there is no such topic; the nearest is named.
    """
    known = topics()
    if topic not in known:
        ends = [name for name in known if name.rpartition("/")[2] == topic]
        if len(ends) != 1:
            raise unknown("topic", topic, known)
        topic = ends[0]
    return Page(known[topic], (_folder() / known[topic]).read_text(encoding="utf-8"))

"""Read pages of the manual by topic, from the installed package or, in a checkout, from docs/."""

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
    "walks/*.md",
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
    "reference.md",
    "methods/*.md",
    "reliability.md",
    "regression.md",
    "calibration.md",
    "scaling.md",
    "packages.md",
    "api/README.md",
    "architecture.md",
)
"""The pages in the wheel, in the order of `weatherglass docs`; studies and figures are only on the website."""

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
    """A page of the manual in Markdown."""

    path: str
    """The path in docs/, such as how-to/reproduce.md."""
    source: str

    @property
    def topic(self) -> str:
        """Return the name of the page on the command line."""
        return topic_of(self.path)

    @property
    def title(self) -> str:
        """Return the first heading."""
        found = _HEADING.search(self.source)
        return found[2] if found else self.topic

    def text(self, anchor: str = "") -> str:
        """Return the Markdown, or one section if an anchor is given, for a terminal: without comments, pictures and
        addresses.

        Raises:
            UnknownNameError: if no heading of the page has this anchor.
        """
        source = self._section(anchor) if anchor else self.source
        plain = _ATTRIBUTES.sub("", _PICTURE.sub("", _COMMENT.sub("", source)))
        return _LINK.sub(lambda link: link[1], plain).strip() + "\n"

    def topics_named(self, anchor: str = "") -> list[str]:
        """Return the topics that the page, or a section of it, links to."""
        source = self._section(anchor) if anchor else self.source
        topics = (self._linked(link[2]) for link in _LINK.finditer(source))
        return list(dict.fromkeys(topic for topic in topics if topic and topic != self.topic))

    def anchors(self) -> list[str]:
        """Return the anchors of the headings."""
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
        """Yield the anchor, level and position of each heading; a # in a code block is not a heading."""
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
    """Return the anchor of a heading, as on GitHub and on the website."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def topic_of(path: str) -> str:
    """Return the topic of a path in docs/: how-to/reproduce for how-to/reproduce.md, methods for methods/README.md."""
    topic = path.removesuffix(".md").removesuffix("/README").removesuffix("/index")
    return START if topic == "index" else topic


@cache
def topics() -> dict[str, str]:
    """Return the path in docs/ of each topic, in the order of GUIDE; the index page of a folder comes first."""
    found = (path for pattern in GUIDE for path in sorted(_folder().glob(pattern), key=_opens_folder_first))
    paths = (path.relative_to(_folder()).as_posix() for path in found)
    return {topic_of(path): path for path in paths}


def _folder() -> Path:
    return INSTALLED if INSTALLED.exists() else CHECKOUT


def _opens_folder_first(path: Path) -> tuple[bool, str]:
    return path.stem not in ("index", "README"), path.name


def read_page(topic: str) -> Page:
    """Return the page of a topic; the last part of its name is enough if it is unique.

    Raises:
        UnknownNameError: if there is no such topic; the message suggests the nearest one.
    """
    known = topics()
    if topic not in known:
        ends = [name for name in known if name.rpartition("/")[2] == topic]
        if len(ends) != 1:
            raise unknown("topic", topic, known)
        topic = ends[0]
    return Page(known[topic], (_folder() / known[topic]).read_text(encoding="utf-8"))

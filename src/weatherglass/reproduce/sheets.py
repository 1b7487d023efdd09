"""What a reproduction shows: statements of the paper, tables and figures, on the terminal, as TSV and on a page."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weatherglass.report.kit import render
from weatherglass.report.layout import Column, table_in_blocks
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import tsv_line

PAGE = "reproduction.html"
VERDICTS = {True: "holds", False: "does not hold", None: "cannot be told"}
PIXELS_PER_PICTURE_PIXEL = 96 / 300
"""Figures are drawn with 300 dots per inch; a browser has 96."""


def file_name(text: str) -> str:
    """Return a name for a file or an anchor: a model's name may have spaces and slashes.

    >>> file_name("table4-my model/2")
    'table4-my-model-2'
    """
    return re.sub(r"[^\w.-]+", "-", text)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper, judged on the given models and on what the paper itself prints."""

    statement: str
    holds: bool | None
    """None where the given models cannot decide it."""
    ours: str
    """The numbers that decide, or why there are none."""
    theirs: str
    """The same numbers as published."""
    theirs_hold: bool | None = None
    """Whether the published numbers bear it out; None where the legible ones cannot decide it."""

    @property
    def verdict(self) -> str:
        """The judgement of our numbers in words."""
        return VERDICTS[self.holds]

    @property
    def published_verdict(self) -> str:
        """The judgement of the published numbers in words."""
        return VERDICTS[self.theirs_hold]


def claim_lines(claims: Iterable[Claim]) -> Iterator[str]:
    """Yield each claim in three lines, which need no table and fit any terminal."""
    for claim in claims:
        yield claim.statement
        yield f"  here: {claim.verdict} ({claim.ours})"
        yield f"  in the paper: {claim.published_verdict} ({claim.theirs})"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: its first row is the headings, and its first column identifies the rows."""

    name: str
    """Unique within a reproduction."""
    title: str
    """The part before its colon is the link in the head of the page."""
    rows: Sequence[Sequence[str]]
    words: tuple[int, ...] = (0,)
    """The columns that are not numbers."""
    intro: str = ""
    """What the page says above it."""
    at_most: int | None = None
    """How many rows terminal and page show; the file has all of them."""

    @classmethod
    def of_claims(cls, title: str, claims: Iterable[Claim]) -> Sheet:
        """Return the statements of a paper as a table."""
        headings = ["statement", "verdict", "ours", "published_verdict", "published"]
        cells = [[c.statement, c.verdict, c.ours, c.published_verdict, c.theirs] for c in claims]
        return cls("claims", title, [headings, *cells], (0, 1, 2, 3, 4))

    @classmethod
    def of_models_not_given(cls, specs: Mapping[str, str]) -> list[Sheet]:
        """Return a table of the specs of models that the paper has and the run has not, if there are any."""
        title = "Not given: add --model NAME=SPEC (docs/encoders.md says where to get the weights)"
        rows = [["name", "spec"], *([name, spec] for name, spec in specs.items())]
        return [cls("not-given", title, rows, (0, 1))] if specs else []

    @property
    def shown(self) -> Sequence[Sequence[str]]:
        """The rows without the headings, as many as terminal and page show."""
        return self.rows[1 : None if self.at_most is None else self.at_most + 1]

    @property
    def link(self) -> str:
        """The short name of the table."""
        return self.title.partition(":")[0]

    @property
    def anchor(self) -> str:
        """Its id on the page, and the name of its file without the ending."""
        return file_name(self.name)


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure that was drawn, and what it shows."""

    path: Path
    title: str


def sheet_lines(sheet: Sheet, width: int) -> Iterator[str]:
    """Yield the table for a terminal of this width, its first column repeated where the others do not fit."""
    longest = max((len(row[0]) for row in sheet.shown), default=0)
    columns = [
        Column(
            heading,
            right=place not in sheet.words,
            shorten="middle" if place == 0 else "end" if place in sheet.words else None,
            least=min(longest, 3 * width // 5) if place == 0 else 12,
        )
        for place, heading in enumerate(sheet.rows[0])
    ]
    yield sheet.title
    yield from table_in_blocks(columns, sheet.shown, width)
    yield ""


def write_sheets(
    folder: Path, title: str, sheets: Sequence[Sheet], pictures: Sequence[Picture], notes: Iterable[str]
) -> list[Path]:
    """Write each table as TSV, and the page with all of them, the figures and the notes."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for sheet in sheets:
        path = folder / f"{sheet.anchor}.tsv"
        write_whole(path, "".join(tsv_line([_plain(cell) for cell in row]) for row in sheet.rows))
        written.append(path)
    path = folder / PAGE
    write_whole(path, page(title, sheets, pictures, notes))
    return [*written, path]


def _plain(cell: str) -> str:
    """Return a cell as a program reads it: numbers with a hyphen for the minus sign, and not aligned by spaces."""
    return re.sub(r"−(?=\d)", "-", " ".join(cell.split()))


def page(title: str, sheets: Sequence[Sheet], pictures: Sequence[Picture], notes: Iterable[str]) -> str:
    """Return one HTML file that opens from the disk and fetches nothing; every text in it is escaped."""
    values = {
        "title": title,
        "sheets": sheets,
        "pictures": [_embedded(picture) for picture in pictures],
        "notes": list(notes),
    }
    return render("weatherglass.reproduce", "reproduction.html", values, styles=["reproduction.css"])


def _embedded(picture: Picture) -> dict[str, str | int]:
    """Return the picture for the page, with the width at which its letters are as large as when printed."""
    content = picture.path.read_bytes()
    width = int.from_bytes(content[16:20], "big")  # of the PNG's first chunk
    return {
        "title": picture.title,
        "width": round(width * PIXELS_PER_PICTURE_PIXEL),
        "data": base64.b64encode(content).decode("ascii"),
    }

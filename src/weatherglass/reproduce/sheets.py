"""Show the statements, tables and figures of a reproduction on the terminal, as TSV and on a page."""

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
VERDICTS = {True: "holds", False: "does not hold", None: "cannot be judged"}
PIXELS_PER_PICTURE_PIXEL = 96 / 300
"""The ratio of screen to print resolution: figures are drawn at 300 dots per inch, and a browser shows 96."""


def file_name(text: str) -> str:
    """Return a name for a file or an anchor, without the spaces and slashes that the name of a model may have.

    >>> file_name("table4-my model/2")
    'table4-my-model-2'
    """
    return re.sub(r"[^\w.-]+", "-", text)


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A statement of a paper, judged on the given models and on the numbers that the paper prints."""

    statement: str
    holds: bool | None
    """Whether the claim holds on the given models; None if it cannot be judged on them."""
    ours: str
    """The numbers by which the claim is judged, or the reason why there are none."""
    theirs: str
    """The same numbers in the paper."""
    theirs_hold: bool | None = None
    """Whether the published numbers support the claim; None if the legible numbers do not decide it."""

    @property
    def verdict(self) -> str:
        """Return the verdict on our numbers in words."""
        return VERDICTS[self.holds]

    @property
    def published_verdict(self) -> str:
        """Return the verdict on the published numbers in words."""
        return VERDICTS[self.theirs_hold]


def claim_lines(claims: Iterable[PaperClaim]) -> Iterator[str]:
    """Yield each claim in three lines that fit any terminal."""
    for claim in claims:
        yield claim.statement
        yield f"  here: {claim.verdict} ({claim.ours})"
        yield f"  in the paper: {claim.published_verdict} ({claim.theirs})"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table; its first row contains the headings, and its first column identifies the rows."""

    name: str
    """The name, which is unique within a reproduction."""
    title: str
    """The title; the part before the colon is the link at the top of the page."""
    rows: Sequence[Sequence[str]]
    words: tuple[int, ...] = (0,)
    """The columns that are not numbers."""
    intro: str = ""
    """The text above the table on the page."""
    at_most: int | None = None
    """The maximum number of rows on the terminal and the page; the file has all of them."""

    @classmethod
    def of_claims(cls, title: str, claims: Iterable[PaperClaim]) -> PaperTable:
        """Return the statements of a paper as a table."""
        headings = ["statement", "verdict", "ours", "published_verdict", "published"]
        cells = [[c.statement, c.verdict, c.ours, c.published_verdict, c.theirs] for c in claims]
        return cls("claims", title, [headings, *cells], (0, 1, 2, 3, 4))

    @classmethod
    def of_models_not_given(cls, specs: Mapping[str, str]) -> list[PaperTable]:
        """Return a table of the specs of the paper's models that are not in the run, if there are any."""
        title = "Not given: add --model NAME=SPEC (see docs/encoders.md for the weights)"
        rows = [["name", "spec"], *([name, spec] for name, spec in specs.items())]
        return [cls("not-given", title, rows, (0, 1))] if specs else []

    @property
    def shown(self) -> Sequence[Sequence[str]]:
        """Return the rows on the terminal and the page, without the headings."""
        return self.rows[1 : None if self.at_most is None else self.at_most + 1]

    @property
    def link(self) -> str:
        """Return the short name of the table."""
        return self.title.partition(":")[0]

    @property
    def anchor(self) -> str:
        """Return the id of the table on the page, which is also the name of its file without the suffix."""
        return file_name(self.name)


@dataclass(frozen=True, slots=True)
class Picture:
    """The file of a figure, and its title."""

    path: Path
    title: str


def sheet_lines(sheet: PaperTable, width: int) -> Iterator[str]:
    """Yield the table for a terminal of this width, in blocks that repeat the first column if it does not fit."""
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
    folder: Path, title: str, sheets: Sequence[PaperTable], pictures: Sequence[Picture], notes: Iterable[str]
) -> list[Path]:
    """Write each table as TSV, and a page with all tables, figures and notes."""
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
    """Return a cell for programs, with a hyphen as the minus sign and without spaces for alignment."""
    return re.sub(r"−(?=\d)", "-", " ".join(cell.split()))


def page(title: str, sheets: Sequence[PaperTable], pictures: Sequence[Picture], notes: Iterable[str]) -> str:
    """Return one self-contained HTML file in which all text is escaped."""
    values = {
        "title": title,
        "sheets": sheets,
        "pictures": [_embedded(picture) for picture in pictures],
        "notes": list(notes),
    }
    return render("weatherglass.reproduce", "reproduction.html", values, styles=["reproduction.css"])


def _embedded(picture: Picture) -> dict[str, str | int]:
    """Return a picture for the page, with the width at which its text is as large as in print."""
    content = picture.path.read_bytes()
    width = int.from_bytes(content[16:20], "big")  # of the PNG's first chunk
    return {
        "title": picture.title,
        "width": round(width * PIXELS_PER_PICTURE_PIXEL),
        "data": base64.b64encode(content).decode("ascii"),
    }

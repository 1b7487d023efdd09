"""Draw random sentences of docs, docstrings and messages for an editor, and find phrases that our style bans.

`python -m docs.sample --seed 7` prints 200 sentences of each kind, and with `--write FILE` a table of them, in which an
editor names the rule of our style that a sentence breaks. `python -m docs.sample --check` prints every banned phrase
with its place and fails if there is one; it also prints how many sentences of the last sample an editor marked. This
sample, docs/proofs/voice.tsv, shows the sentences as they were; most marked ones have been mended since. Sentences that
are right although a pattern matches are in ALLOWED.
"""

from __future__ import annotations

import argparse
import ast
import csv
import random
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "weatherglass"
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
KINDS = ("docs", "docstrings", "messages")
MARKED = ROOT / "docs" / "proofs" / "voice.tsv"
"""The last sample that an editor marked."""
COLUMNS = ("seed", "kind", "place", "sentence", "rule")
"""Of a table of marks; `rule` is empty if the sentence breaks none."""

BANNED: Mapping[str, str] = {
    r"\banew\b": "again, from scratch",
    r"\bso many\b": "this many",
    r"(?<!\b[Nn]o )\bsuch (?!as\b|an?\b)": "like these, of this kind (“no such file” is what systems say)",
    r"\b(?:stand|stands|stood) (?:beside|in|at|on|for itself|before|after|there|above|below)\b": "is, appears",
    r"\b(?:holds|hold|held) (?:the|a|an|no|all|only|what|one|each|every|its|their)\b": "contain, keep",
    r"\btold (?:apart )?from\b": "distinguished from, detected",
    r"\bof (?:ours|others|one's own|theirs)\b": "our, from other people",
    r"\bwhat is had\b": "what is available",
    r"(?<!there )(?<!There )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|larger\b|smaller\b|other\b)": "is not a",
    r"\bhangs? on\b": "depends on",
    r"\bleaves? behind\b": "writes",
    r"\b(?:says|said|say|do|does|states) otherwise\b": "differently",
    r"\bturns? (?:the|a|its) (?:sign|conclusion|verdict)\b": "flip, change",
    r"^(?:Beside|Of) (?!course)": "begin with the subject",
    r"\bhowever many\b": "any number of",
    r"\bmeetings?\b": "meet in the middle",
    r"\bknobs?\b": "choice",
    r"\bin other hands\b": "with other tools",
    r"\bnone where\b": "empty if",
    r"\bby itself only\b|\bonly by itself\b": "alone",
}
"""Patterns that VOICE bans, and what to write instead."""

ALLOWED: Mapping[str, frozenset[str]] = {
    # The changelog names what was renamed.
    r"\bknobs?\b": frozenset(
        {
            "`measures` is called `metrics`; `knobs` of a multiverse is called `choices`, and `joint_p` in its files "
            "`multiverse_p`."
        }
    ),
}
"""Sentences that a pattern matches and that are right, by pattern, with the reason."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that a user or a reader of the source can see."""

    kind: str
    place: str
    text: str


def sentences() -> Iterator[Sentence]:
    """Yield every sentence of four or more words of docs, docstrings and messages."""
    for page in [*(ROOT / name for name in PAGES), *sorted((ROOT / "docs").rglob("*.md"))]:
        yield from _split("docs", str(page.relative_to(ROOT)), _prose(page.read_text(encoding="utf-8")))
    for path in sorted(SOURCE.rglob("*.py")):
        place, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))
        documented = _docstrings(tree)
        for node in documented:
            yield from _split("docstrings", f"{place}:{node.lineno}", [str(node.value)])
        inner = {
            id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
        }
        for literal in ast.walk(tree):
            if isinstance(literal, ast.JoinedStr) or (
                isinstance(literal, ast.Constant)
                and isinstance(literal.value, str)
                and id(literal) not in inner
                and literal not in documented
            ):
                yield from _split("messages", f"{place}:{literal.lineno}", [_text(literal)])
    for template in sorted(SOURCE.rglob("*.html")):
        place = str(template.relative_to(ROOT))
        hidden = r"\{[%#].*?[%#]\}|<(script|style).*?</\1>|<[^>]*>"
        shown = re.sub(hidden, "\n", template.read_text(encoding="utf-8"), flags=re.S)
        yield from _split("messages", place, re.split(r"\n\s*", re.sub(r"\{\{.*?\}\}", "…", shown)))


def _docstrings(tree: ast.Module) -> list[ast.Constant]:
    """Return the docstrings of a module, its classes and functions, and the strings under its fields."""
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]


def _text(literal: ast.JoinedStr | ast.Constant) -> str:
    """Return the text of a literal, with an ellipsis for each value that is filled in."""
    if isinstance(literal, ast.Constant):
        return str(literal.value)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in literal.values)


def _prose(page: str) -> list[str]:
    """Return the paragraphs, list items and table cells of a Markdown page, without comments and blocks of code."""
    page = re.sub(r"^(```|~~~).*?^\1", "", page, flags=re.S | re.M)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.S)
    page = re.sub(r"</?[a-zA-Z][^>\n]*>|^#.*$", "", page, flags=re.M)
    page = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", page)
    page = re.sub(r"(?<=\n\n)(?: {4}(?![-*] ).*\n)+", "", page)  # indented code
    page = re.sub(r"^\|.*$", lambda row: re.sub(r"(?<!\\)\|", "\n\n", row[0]), page, flags=re.M)
    blocks = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s+", page, flags=re.M)
    return [block for block in blocks if block.strip() and not re.fullmatch(r"\s*`[^`]+`\s*", block)]


def _split(kind: str, place: str, blocks: list[str]) -> Iterator[Sentence]:
    """Yield the sentences of some blocks of text."""
    for block in blocks:
        for paragraph in re.split(
            r"\n\s*\n|\n(?=\s*(?:Args|Returns|Raises|Yields|Attributes|>>>|\.\.\. ))", block
        ):
            if ">>>" in paragraph:
                continue
            for text in re.split(r"(?<=[.!?])\s+(?=[A-Z“\"'`*])", " ".join(paragraph.split())):
                if len(re.findall(r"\b[A-Za-z]{2,}\b", text)) >= 4 and re.search(r"[a-z] [a-z]", text):
                    yield Sentence(kind, place, text)


def banned(every: list[Sentence]) -> Iterator[str]:
    """Yield a line for every banned phrase that is not allowed: place, phrase, what to write instead, sentence."""
    for sentence in every:
        for pattern, better in BANNED.items():
            match = re.search(pattern, sentence.text)
            if match and sentence.text not in ALLOWED.get(pattern, ()):
                yield f"{sentence.place}: “{match[0]}” ({better}): {sentence.text}"


def write_marks(path: Path, seed: int, drawn: Mapping[str, list[Sentence]]) -> None:
    """Write a table of sentences to be marked."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for kind, some in drawn.items():
            table.writerows([seed, kind, one.place, one.text, ""] for one in some)


def marked(path: Path) -> dict[str, tuple[int, int]]:
    """Return for each kind the number of marked sentences and of all sentences of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    of_kind = {kind: [row["rule"] for row in rows if row["kind"] == kind] for kind in KINDS}
    return {kind: (sum(map(bool, rules)), len(rules)) for kind, rules in of_kind.items()}


def main() -> int:
    """Print a sample, or the banned phrases and the marks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="which sample to draw (default: 0)")
    parser.add_argument("--size", type=int, default=200, help="sentences of each kind (default: 200)")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write a table of the sample, to be marked"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="print banned phrases and marks; fail if there is a banned phrase",
    )
    given = parser.parse_args()
    every = list(dict.fromkeys(sentences()))
    if given.check:
        lines = list(banned(every))
        sys.stdout.writelines(f"{line}\n" for line in lines)
        shares = marked(MARKED)
        sys.stdout.writelines(
            f"{kind}: {found} of {size} sentences break a rule\n" for kind, (found, size) in shares.items()
        )
        return bool(lines)
    draw = random.Random(given.seed)
    drawn = {}
    for kind in KINDS:
        of_kind = [sentence for sentence in every if sentence.kind == kind]
        drawn[kind] = draw.sample(of_kind, min(given.size, len(of_kind)))
        sys.stdout.write(f"# {kind}: {given.size} of {len(of_kind)} sentences, seed {given.seed}\n\n")
        sys.stdout.writelines(f"- {sentence.place}: {sentence.text}\n" for sentence in drawn[kind])
        sys.stdout.write("\n")
    if given.write:
        write_marks(given.write, given.seed, drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Write the table "The 46 tests before and after" of docs/trust.md: version 0.1 beside runs of today.

    weatherglass run -o wordllama
    weatherglass run st:all-MiniLM-L6-v2 -o minilm
    python docs/trust/write.py wordllama minilm

What version 0.1 (commit a678497) printed is in version-0.1.tsv: the unit was the sentence, p one-sided, alpha 0.01.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "trust.md"
BEGIN, END = "<!-- before and after: docs/trust/write.py -->", "<!-- end -->"
ALPHA_BEFORE, ALPHA = 0.01, 0.05

Row = Mapping[str, str]


def rows_of(path: Path) -> list[Row]:
    """A table with a head line."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def number(text: str, digits: int = 2) -> str:
    """An effect size as the other pages print it; a dash where there is none."""
    return f"{float(text):.{digits}f}".replace("-", "−") if text else "–"


def p(text: str) -> str:
    """A p-value with two digits."""
    return f"{float(text):.2g}" if text else "–"


def interval(row: Row, low: str, high: str) -> str:
    """Both ends of an interval."""
    return f"{number(row[low])} … {number(row[high])}" if row[low] else "–"


def cause(before: Row, after: Row) -> str:
    """Why the mark is another one than before; empty where it is not."""
    was, now = before["significance"], after["significance"]
    if was == now:
        return ""
    two_sided = min(1.0, 2 * float(before["p_value"]))
    by_sentences = after["p_elements"]
    if bool(was) == bool(now):
        return "the correction, with p by words" if by_sentences else "the correction, at 0.05"
    if was:
        return "words, not sentences"
    if float(after["effect_size"]) < 0 and float(before["p_value"]) > 0.5:
        return "against the listed direction: two-sided p sees it"
    return "alpha 0.05, not 0.01" if two_sided <= ALPHA or not by_sentences else "words, not sentences"


def table(before: Sequence[Row], after: Sequence[Row]) -> Iterator[str]:
    """One line per test."""
    yield "| test | d | 95 % | p | mark | → d | 95 %, these | p | mark | d∞ | 95 %, such | p | why the mark changed |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    old = {row["test"]: row for row in before}
    for row in after:
        was = old[row["test"]]
        cells = (
            row["test"],
            number(was["effect_size"]),
            interval(was, "ci_low", "ci_high"),
            p(was["p_value"]),
            was["significance"],
            number(row["effect_size"]),
            interval(row, "ci_low", "ci_high"),
            p(row["p_value"]),
            row["significance"],
            number(row["effect_size_random"]),
            interval(row, "ci_random_low", "ci_random_high"),
            p(row["p_random"]),
            cause(was, row),
        )
        yield "| " + " | ".join(cell.replace("*", "\\*") for cell in cells) + " |"


def summary(before: Sequence[Row], after: Sequence[Row]) -> str:
    """How many marks there were and are, and how many both readings share."""
    was, now = (Counter(row["significance"] for row in rows) for rows in (before, after))
    both = sum(row["significance"] != "" and float(row["p_random"] or 1) <= ALPHA for row in after)
    held_zero = sum(
        row["significance"] != ""
        and row["ci_low"] != ""
        and float(row["ci_low"]) <= 0 <= float(row["ci_high"])
        for row in before
    )
    return (
        f"Before: {was['*'] + was['**']} of {len(before)} significant at {ALPHA_BEFORE:g}, "
        f"{was['**']} after correction; the intervals of {held_zero} of them hold 0. "
        f"Now: {now['*'] + now['**']} at {ALPHA:g}, {now['**']} after correction; {both} of the "
        f"{now['*'] + now['**']} hold for attributes like these, too. No interval disagrees with its p."
    )


def main() -> None:
    """Replace the part of the page between the two comments."""
    old = rows_of(HERE / "version-0.1.tsv")
    lines = [BEGIN, ""]
    for folder, model in zip(map(Path, sys.argv[1:]), ("wordllama", "all-MiniLM-L6-v2"), strict=True):
        before = [row for row in old if row["model"] == model]
        after = rows_of(folder / "results.tsv")
        lines += [f"### {model}", "", summary(before, after), "", *table(before, after), ""]
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    PAGE.write_text(head + "\n".join([*lines, END]) + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()

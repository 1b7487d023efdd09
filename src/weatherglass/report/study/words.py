"""Summarise, by word list, which scores differ from 0 over seeds and base pairs, so that they can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from weatherglass.errors import WeatherglassError
from weatherglass.reliability.agreement.icc import FEWEST
from weatherglass.reliability.lists import FREQUENT_LIST, frequent_words, target_list
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.tables import (
    CANNOT_TELL,
    SHOWN,
    THESE_SEEDS,
    StudyCondition,
    WordScore,
    read_rows,
)
from weatherglass.report.numbers import rounded
from weatherglass.report.study.plots import label

MOST_DOTS = 300
MOST_ROWS = 30_000
"""The number of rows of the table in the page; the remaining rows are in tables/words.tsv."""
STABLE = 0.75
"""The smallest test–retest reliability at which the scores hardly vary with the seed (excellent, docs/methods)."""


@dataclass(frozen=True, slots=True)
class WordDot:
    """A word's score in a drawing, with its position in per cent of the axis and its height in pixels."""

    x: str
    y: float
    verdict: str
    word: str


@dataclass(frozen=True, slots=True)
class ListSummary:
    """The words of a list whose scores differ from 0."""

    name: str
    words: int
    shown: Sequence[str]
    """The words whose scores differ from 0, starting with the largest |score|."""
    these_seeds: int
    retest: float | None
    """The median test–retest reliability of the words."""
    dots: Sequence[WordDot]
    height: float


@dataclass(frozen=True, slots=True)
class StudySummary:
    """The words of each list in the first condition and rule, and counts for the other conditions and rules."""

    condition: StudyCondition
    rule: str
    ends: tuple[str, str]
    """The words of the first base pair, to which scores above and below 0 lean."""
    ticks: Sequence[tuple[str, str]]
    zero: str
    lists: Sequence[ListSummary]
    others: Sequence[tuple[StudyCondition, str, Sequence[tuple[str, int, int]]]]
    """The condition, the rule, and for each list the number of words that differ from 0 and the number of all
    words.
    """
    same_sign: float
    """The share of all words whose score has the more frequent sign."""

    @property
    def targets(self) -> list[ListSummary]:
        """Return the study's own lists, or the frequent words if it has none."""
        own = [one for one in self.lists if one.name != FREQUENT_LIST]
        return own or list(self.lists)

    @property
    def told(self) -> tuple[int, int, int]:
        """Return the numbers of words in some lists that differ from 0, that differ only for these seeds, and of all
        words.
        """
        lists = self.targets
        return (
            sum(len(one.shown) for one in lists),
            sum(one.these_seeds for one in lists),
            sum(one.words for one in lists),
        )

    @property
    def retest(self) -> float | None:
        """Return the median test–retest reliability of the largest of some lists."""
        return max(self.targets, key=lambda one: one.words).retest if self.targets else None


def word_lists(study: Study, vocabulary: Sequence[str]) -> dict[str, set[str]]:
    """Return the words of each target list, followed by the frequent words; skip a file that no longer exists."""
    named = [(name, "") for name in study.targets]
    if isinstance(study.frequent, str):
        named.append((study.frequent, FREQUENT_LIST))
    lists: dict[str, set[str]] = {}
    for name, called in named:
        try:
            found = target_list(name)
        except WeatherglassError:
            continue
        lists[called or found.name] = set(found.words)
    if isinstance(study.frequent, int):
        lists[FREQUENT_LIST] = set(frequent_words(vocabulary, study.frequent).words)
    return lists


def summarise(study: Study, tables: Mapping[str, pl.DataFrame]) -> StudySummary | None:
    """Return the summary at the top of the page; None if no word has a score."""
    table = tables.get("words", pl.DataFrame())
    if table.is_empty():
        return None
    groups = list(_groups(table))
    condition, rule, rows = groups[0]
    lists = word_lists(study, rows["word"].to_list())
    parts = {name: rows.filter(pl.col("word").is_in(list(words))) for name, words in lists.items()}
    scale = _Scale(*_axis([_drawn(part) for part in parts.values()]))
    summaries = [_list_summary(name, part, scale) for name, part in parts.items()]
    toward = {row.toward: row.score >= 0 for row in read_rows(rows, WordScore)}
    first = next((word for word, positive in toward.items() if positive), "")
    second = next((word for word, positive in toward.items() if not positive), "")
    positive = (rows["score"] > 0).mean()
    share = float(positive) if isinstance(positive, float) else 0.0
    others = []
    for other, its_rule, its_rows in groups:
        its_lists = word_lists(study, its_rows["word"].to_list())
        counts = [
            (name, int((part["verdict"] == SHOWN).sum()), part.height)
            for name, words in its_lists.items()
            for part in (its_rows.filter(pl.col("word").is_in(list(words))),)
        ]
        others.append((other, its_rule, counts))
    return StudySummary(
        condition,
        rule,
        (first, second),
        scale.ticks(),
        scale.place(0.0),
        [one for one in summaries if one.words],
        others,
        max(share, 1 - share),
    )


def _groups(table: pl.DataFrame) -> Iterator[tuple[StudyCondition, str, pl.DataFrame]]:
    keys = ["corpus", "algorithm", "pairs", "rule"]
    for names, rows in table.group_by(keys, maintain_order=True):
        corpus, algorithm, pairs, rule = map(str, names)
        yield StudyCondition(corpus, algorithm, pairs), rule, rows


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float

    def place(self, score: float) -> str:
        return f"{100 * (score - self.low) / ((self.high - self.low) or 1):.4g}%"

    def ticks(self) -> list[tuple[str, str]]:
        """Return about four round numbers with their positions."""
        rough = (self.high - self.low) / 4 or 1.0
        power = 10.0 ** len(str(int(1 / rough))) if rough < 1 else 1.0
        step = next(step / power for step in (1, 2, 5, 10, 20, 50, 100) if step / power >= rough * 0.7)
        first = int(self.low / step) - 1
        values = [n * step for n in range(first, first + 12) if self.low <= n * step <= self.high]
        return [(self.place(value), f"{value:.3g}".replace("-", "−")) for value in values]


def _drawn(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the words of a list that are drawn: all that differ from 0, and a selection of the others."""
    every = max(1, -(-rows.height // MOST_DOTS))
    return rows.with_row_index().filter((pl.col("index") % every == 0) | (pl.col("verdict") == SHOWN))


def _axis(drawn: Sequence[pl.DataFrame]) -> tuple[float, float]:
    """Return an axis with room for every dot."""
    scores = [float(score) for rows in drawn for score in rows["score"].drop_nulls().drop_nans()]
    if not scores:
        return -1.0, 1.0
    low, high = min(scores), max(scores)
    margin = (high - low) * 0.06 or 0.01
    return min(0.0, low) - margin, max(0.0, high) + margin


def _list_summary(name: str, rows: pl.DataFrame, scale: _Scale) -> ListSummary:
    shown = rows.filter(pl.col("verdict") == SHOWN).sort(pl.col("score").abs(), descending=True)
    known = rows["icc"].drop_nans().drop_nulls()
    dots = list(_dots(rows, scale))
    return ListSummary(
        name,
        rows.height,
        shown["word"].to_list(),
        int((rows["verdict"] == THESE_SEEDS).sum()),
        None if known.is_empty() else float(str(known.median())),
        dots,
        max((abs(dot.y) for dot in dots), default=0.0) + 6,
    )


def _dots(rows: pl.DataFrame, scale: _Scale) -> Iterator[WordDot]:
    """Yield scores as dots, stacked if they would cover each other."""
    columns: Counter[int] = Counter()
    for row in read_rows(_drawn(rows).sort("score"), WordScore):
        place = scale.place(row.score)
        column = int(float(place[:-1]) * 0.9)
        stacked = columns[column]
        columns[column] += 1
        yield WordDot(place, (stacked + 1) // 2 * (5 if stacked % 2 else -5), row.verdict, row.word)


def words_for_script(study: Study, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the table of words, with conditions, rules, lists, and a row per word; the study's lists come first."""
    table = tables.get("words", pl.DataFrame())
    conditions: list[dict[str, Any]] = []
    names: list[str] = []
    left_out = 0
    room = MOST_ROWS
    for condition, rule, rows in _groups(table) if not table.is_empty() else ():
        lists = word_lists(study, rows["word"].to_list())
        names = names or list(lists)
        own = set().union(*(words for name, words in lists.items() if name != FREQUENT_LIST))
        every = read_rows(rows, WordScore)
        listed = [row for row in every if row.word in own]
        further = [row for row in every if row.word not in own]
        further.sort(key=lambda row: row.p_value if row.p_value == row.p_value else 2.0)
        kept = [*listed, *further][: max(len(listed), room)]
        left_out += rows.height - len(kept)
        room -= len(kept)
        conditions.append(
            {
                "name": f"{condition.corpus}, {label(condition.algorithm)}, {label(condition.pairs)} pairs",
                "rule": label(rule),
                "of": rows["of"][0] if rows.height else 0,
                "rows": [_short(row, lists) for row in kept],
            }
        )
    return {"conditions": conditions, "lists": [label(name) for name in names], "left_out": left_out}


VERDICTS = (SHOWN, THESE_SEEDS, CANNOT_TELL)


def _short(row: WordScore, lists: Mapping[str, set[str]]) -> list[Any]:
    in_lists = [number for number, words in enumerate(lists.values()) if row.word in words]
    figures = (
        *(row.score, row.low, row.high, row.p_value, row.p_adjusted),
        *(row.icc, row.icc_low, row.icc_high),
    )
    return [
        row.word,
        in_lists,
        VERDICTS.index(row.verdict),
        *(rounded(figure, 4) for figure in figures),
        row.rank,
    ]


def answer(summary: StudySummary | None) -> tuple[str, str]:
    """Return the answer to "Can I trust my scores?", in a phrase and a sentence."""
    if summary is None:
        return "No scores.", (
            f"A score needs at least {FEWEST} base pairs that occur in the corpus, but no set of base "
            "pairs has that many."
        )
    shown, these_seeds, words = summary.told
    if not words:
        return "No listed words.", "None of the study’s words occurs in the corpus."
    if not shown:
        more = f"; for {these_seeds}, it does only with the seeds of this study" if these_seeds else ""
        return "Not yet.", f"No listed word’s score differs from 0 over other seeds and base pairs{more}."
    of = f"{shown} of {words} listed words"
    if 2 * shown >= words:
        return (
            "For most words.",
            f"{of} have a score whose sign other seeds and similar base pairs would not change.",
        )
    return (
        "For some words.",
        f"Only {of} have a score whose sign other seeds and similar base pairs would not change.",
    )

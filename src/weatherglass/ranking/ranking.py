"""Run a ranking audit: score the copies with every model, compare the groups, judge, and store finished results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from weatherglass.errors import ClusterError, OutputError, WeatherglassError, reason
from weatherglass.ranking.compare import (
    COLUMNS,
    OVERALL,
    QUERIES,
    REST,
    GroupComparison,
    Interaction,
    RankedQuery,
    compare_groups,
    compare_variants,
    interaction_of,
    ranked_queries,
)
from weatherglass.ranking.scores import ScoreJournal, Scores
from weatherglass.registry import check_number, described, shown
from weatherglass.stats import Outcome
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.win_rate import averaged, placements
from weatherglass.storage.printable import tsv_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weatherglass.ranking.change import RankingComparison

CONTEXTS, ONE_NAME, ONE_QUERY, OTHER_SLOTS = "contexts", "one name", "one query", "other slots"
"""Limits of an outcome: other contexts may not show it, p is above alpha without one name or query, or the groups also
differ in pronouns or titles, which all names of a group share.
"""


def judge(
    comparisons: Sequence[GroupComparison], alpha: float = 0.05, smallest: float | None = None
) -> list[GroupComparison]:
    """Return the comparisons with adjusted p and outcome, in the order given.

    The outcomes are the same as for tests and topics (docs/methods 12). Comparisons over all contexts are one family,
    and those by topic are another. Comparisons of a group with the rest repeat the results of the pairs, so they have
    their own families.

    Args:
        comparisons: the comparisons of one or more models; each model is judged separately.
        alpha: the significance level of each family.
        smallest: the smallest |win rate − 0.5| of interest; without it, no outcome is small.
    """
    families: dict[tuple[str, bool, bool], list[int]] = {}
    for place, one in enumerate(comparisons):
        families.setdefault((one.model, one.topic == OVERALL, one.y == REST), []).append(place)
    judged = list(comparisons)
    # By topic first: what is over all depends on which topics are significant.
    for (_, overall, _), places in sorted(families.items(), key=lambda item: item[0][1]):
        rows = [comparisons[place] for place in places]
        p = adjust([row.p for row in rows], "holm")
        both = adjust([_both(row) for row in rows], "holm")
        for place, row, own, larger in zip(places, rows, map(float, p), map(float, both), strict=True):
            adjusted = replace(row, p_adjusted=own, p_both_adjusted=larger)
            signs = _marked_signs(row, judged, alpha) if overall else set()
            outcome, limit = _outcome(adjusted, signs, alpha, smallest)
            judged[place] = replace(adjusted, outcome=str(outcome), limit=limit)
    return judged


def _both(row: GroupComparison) -> float:
    """Return the larger p of fixed and random contexts; 1 if there is no result for random contexts."""
    return 1.0 if row.p_random is None else max(row.p, row.p_random)


def _marked_signs(row: GroupComparison, judged: Sequence[GroupComparison], alpha: float) -> set[bool]:
    """Return the directions of the topics that are significant after correction, for the same groups."""
    same = [
        one
        for one in judged
        if (one.model, one.x, one.y) == (row.model, row.x, row.y) and one.topic != OVERALL
    ]
    return {one.win_rate > 0.5 for one in same if one.p_adjusted is not None and one.p_adjusted <= alpha}


def _outcome(
    row: GroupComparison, marked: set[bool], alpha: float, smallest: float | None
) -> tuple[Outcome, str]:
    assert row.p_adjusted is not None
    assert row.p_both_adjusted is not None
    if row.p_adjusted <= alpha:
        if row.p_both_adjusted > alpha:
            return Outcome.LIMITED, CONTEXTS
        if row.differing_slots:
            return Outcome.LIMITED, OTHER_SLOTS
        if row.deciding:
            return Outcome.LIMITED, ONE_QUERY if row.unit == QUERIES else ONE_NAME
        return Outcome.ROBUST, ""
    if len(marked) == 2:
        return Outcome.CONFLICTING, ""
    if marked:
        return Outcome.ISOLATED, ""
    if row.p <= alpha:
        return Outcome.UNCONFIRMED, ""
    ends = (row.ci_low_random, row.ci_high_random)
    if smallest is not None and all(end is not None and abs(end - 0.5) < smallest for end in ends):
        return Outcome.SMALL, ""
    return Outcome.INCONCLUSIVE, ""


DEFAULT_TOP = "10%"
EXAMPLES = 4
"""The number of passages of each topic whose ranks under every name are stored."""


@dataclass(frozen=True, slots=True)
class RankOptions:
    """Options for how a ranking audit selects and judges.

    Raises:
        WeatherglassError: on creation, if a number is out of range.
    """

    top: float = 0.1
    """The selection: a share of each query's pool if it is below 1, otherwise a number of places."""
    alpha: float = 0.05
    smallest: float | None = None
    """The smallest |win rate − 0.5| of interest."""

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, between=(0, 1))
        if self.smallest is not None:
            check_number("smallest", self.smallest, between=(0, 0.5))


def parse_top(given: Any) -> float:
    """Return the selection as a share below 1 or a number of places.

    >>> parse_top("10%"), parse_top("5"), parse_top(0.2)
    (0.1, 5.0, 0.2)

    Raises:
        WeatherglassError: if the value is neither.
    """
    text = str(given).strip() if isinstance(given, str | int | float) and not isinstance(given, bool) else ""
    number, per_cent = text.removesuffix("%").strip(), text.endswith("%")
    try:
        value = float(number) / (100 if per_cent else 1)
    except ValueError:
        value = float("nan")
    if not (0 < value < 1 or (value >= 1 and value == round(value) and not per_cent)):
        what = f"'{shown(given)}'" if text else described(given)
        raise WeatherglassError(
            f"top is {what}, but should be a share such as 10%, or a number of places such as 5"
        )
    return value


@dataclass(frozen=True, slots=True)
class RankedName:
    """A name over all contexts of one model."""

    model: str
    group: str
    name: str
    mean_rank: float
    """The mean over contexts of the share of all names that this name outranks; 0.5 is the middle."""
    pieces: int | None
    by_topic: dict[str, float] = field(default_factory=dict)
    """The same for the contexts of each topic; empty if there is only one topic."""

    def rank_on(self, topic: str) -> float:
        """Return the mean rank over the contexts of a topic, or over all."""
        return self.mean_rank if topic == OVERALL else self.by_topic[topic]


@dataclass(frozen=True, slots=True)
class Example:
    """One passage under every name, with its ranks among its copies, averaged over the queries of a topic."""

    model: str
    topic: str
    passage: int
    """The index of the passage in the record."""
    places: dict[str, float]
    """The ranks by name; 1 is the top."""


@dataclass(slots=True, repr=False)
class Ranking:
    """The results of a ranking audit as plain values, as they are stored and printed, with methods to show them.

    As in `Run`, the methods that show results import `report/show.py` when they are called.
    """

    comparisons: list[GroupComparison]
    """The comparisons by model, first over all contexts and then by topic."""
    interactions: list[Interaction] = field(default_factory=list)
    names: list[RankedName] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    """The first passages of each topic."""
    queries: list[RankedQuery] = field(default_factory=list)
    """Every query, if its passages are given in variants; there are no names then."""
    failures: list[dict[str, str]] = field(default_factory=list)
    record: dict[str, Any] = field(default_factory=dict)
    """Texts, names, options, versions, command."""

    @property
    def alpha(self) -> float:
        """Return the significance level."""
        return float(self.record.get("settings", {}).get("alpha", RankOptions().alpha))

    @property
    def overall(self) -> list[GroupComparison]:
        """Return the comparisons over all contexts."""
        return [one for one in self.comparisons if one.topic == OVERALL]

    def to_json(self) -> dict[str, Any]:
        """Return the content of ranking.json."""
        return {
            **self.record,
            "comparisons": [asdict(one) for one in self.comparisons],
            "interactions": [asdict(one) for one in self.interactions],
            "names": [asdict(one) for one in self.names],
            "examples": [asdict(one) for one in self.examples],
            **({"by_query": [asdict(one) for one in self.queries]} if self.queries else {}),
            "failures": self.failures,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return the results from a record that `to_json` made."""
        record = dict(content)
        return cls(
            [GroupComparison.from_json(one) for one in record.pop("comparisons")],
            [Interaction(**one) for one in record.pop("interactions")],
            [RankedName(**one) for one in record.pop("names")],
            [Example(**one) for one in record.pop("examples")],
            [RankedQuery(**one) for one in record.pop("by_query", ())],
            record.pop("failures"),
            record,
        )

    def to_tsv(self) -> str:
        """Return results.tsv, with a row per comparison; a cell without a value is empty."""
        rows = [[_cell(getattr(one, name)) for name in COLUMNS] for one in self.comparisons]
        return "".join(map(tsv_line, [list(COLUMNS), *rows]))

    def compare(self, other: Ranking | None = None, *, alpha: float | None = None) -> RankingComparison:
        """Compare this audit with a later one of the same texts and names, with an interval for each change.

        Args:
            other: the later audit; without it, the other models of this audit are compared with its first.
            alpha: the intervals are at level 1 − alpha; by default the alpha of this audit.
        """
        from weatherglass.ranking.change import compare_ranked_models, compare_rankings

        level = self.alpha if alpha is None else alpha
        if other is None:
            return compare_ranked_models(self, level)
        return compare_rankings(self, other, level)

    def __repr__(self) -> str:
        return f"<Ranking: {self._title()}>"

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows, with one row per comparison, below 50 kB."""
        from weatherglass.report import show

        return show.ranking_html(self, self._title())

    def to_frame(self, library: str | None = None) -> Any:
        """Return a frame with one row per comparison.

        Args:
            library: "polars" or "pandas"; by default, the first of the two that is installed.
        """
        from weatherglass.report import show

        return show.to_frame(
            [{name: getattr(one, name) for name in COLUMNS} for one in self.comparisons], library
        )

    def plot(self, model: str | None = None) -> Axes:
        """Draw the win rates of the two groups with the smallest p, by topic and overall.

        Args:
            model: the name of the model; by default, the first.
        """
        from weatherglass.report import show

        return show.ranking_plot(self, model)

    def _title(self) -> str:
        models = len({one.model for one in self.comparisons})
        failed = f"; {len(self.failures)} failed" if self.failures else ""
        return f"{len(self.comparisons)} comparisons of {models} model{'s' if models != 1 else ''}{failed}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return repr(value) if isinstance(value, float) else str(value)


Ranker = Callable[[ScoreJournal | None], Scores]
"""A function that returns the scores of a model; scores in the journal are not computed again."""


def run_ranking(
    rankers: Mapping[str, Ranker], options: RankOptions, journal: ScoreJournal | None = None
) -> Ranking:
    """Return the judged comparisons of every ranker; a ranker that fails does not stop the others.

    Args:
        rankers: the rankers, by the name of their model.
        options: the options for selecting and judging. journal: the journal in which scores are stored as soon as they
            are computed.

    Raises:
        WeatherglassError: if all rankers fail.
    """
    found = Ranking([])
    for model, scored in rankers.items():
        try:
            scores = scored(journal)
        except (OutputError, ClusterError):
            raise
        except WeatherglassError as error:
            found.failures.append({"model": model, "reason": reason(error)})
            continue
        if scores.units:
            found.comparisons += compare_variants(scores, model, options.top, options.alpha)
            found.queries += ranked_queries(scores, model)
            continue
        found.comparisons += compare_groups(scores, model, options.top, options.alpha)
        if (contrast := interaction_of(scores, model, options.alpha)) is not None:
            found.interactions.append(contrast)
        found.names += _ranked_names(scores, model)
        found.examples += _examples(scores, model)
        found.record.setdefault("dropped_names", {})[model] = list(scores.dropped)
    if not found.comparisons:
        raise WeatherglassError(found.failures[0]["reason"])
    found.comparisons = judge(found.comparisons, options.alpha, options.smallest)
    return found


def _ranked_names(scores: Scores, model: str) -> list[RankedName]:
    """Return every name with its mean rank among all names."""
    placed = placements(scores.values, scores.values)
    shares = placed.mean(axis=1)
    by_topic: list[dict[str, float]] = [{} for _ in shares]
    if len(scores.topics) > 1:
        means = averaged(placed, scores.topic).tolist()
        by_topic = [dict(zip(scores.topics, row, strict=True)) for row in means]
    pieces: Sequence[Any] = [None] * len(shares)
    if scores.pieces is not None:
        pieces = scores.pieces.astype(np.int64).tolist()
    names = [(group.name, name) for group in scores.groups for name in group.names]
    return [
        RankedName(model, group, name, float(share), count, topics)
        for (group, name), share, count, topics in zip(names, shares, pieces, by_topic, strict=True)
    ]


def _examples(scores: Scores, model: str) -> list[Example]:
    """Return the first passages of each topic under every name."""
    names = [name for group in scores.groups for name in group.names]
    found = []
    for number, topic in enumerate(scores.topics):
        own = scores.topic == number
        for passage in np.unique(scores.passage[own])[:EXAMPLES].tolist():
            values = scores.values[:, own & (scores.passage == passage)]
            places = len(names) * (1 - placements(values, values).mean(axis=1)) + 0.5
            found.append(Example(model, topic, passage, dict(zip(names, places.tolist(), strict=True))))
    return found


JOURNAL, RECORD, TABLE = "ranking.jsonl", "ranking.json", "results.tsv"
FORMAT = 1
"""The version of ranking.json's format; it is increased when older files can no longer be read."""


def load_ranking(folder: Path) -> Ranking:
    """Return the ranking audit stored in a folder.

    Raises:
        OutputError: if the folder contains no audit, or its record is damaged or in another format.
    """
    from weatherglass.storage.checksum import read_checked_json

    path = folder / RECORD
    try:
        record, _ = read_checked_json(path.read_bytes())
        if (written := record.get("format", FORMAT)) != FORMAT:
            raise OutputError(
                f"{path}: the audit is stored in format {written}, but this version of weatherglass reads format "
                f"{FORMAT}; run the same command again to write it in this format"
            )
        return Ranking.from_json(record)
    except OSError:
        raise OutputError(
            f"{folder}: not a folder of a ranking audit ({RECORD} is missing); use one written by 'weatherglass rank'"
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise OutputError(
            f"{path}: the file is damaged; run the audit again, which computes only what is missing"
        ) from None

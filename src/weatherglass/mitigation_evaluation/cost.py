"""Measure the cost of a transform in similarity, analogies, unchanged neighbours, and retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from math import isfinite, nan
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from weatherglass.arrays import Integers, Matrix, Vector, unit_length
from weatherglass.errors import CatalogueError
from weatherglass.mitigation_evaluation.recovery import (
    BeforeAfter,
    IntervalEstimate,
    NeutralWords,
    mean,
    measures,
    nearest_rows,
    recoveries,
    share,
)
from weatherglass.parallel import Backend
from weatherglass.parallel.base import Place, pack, values_of
from weatherglass.progress import Progress
from weatherglass.registry import shown
from weatherglass.storage.documents import document_text

RESAMPLES = 400
KEPT = 10
"""The number of nearest neighbours that are compared."""
ASKED = 1000
"""The number of words whose neighbours are compared."""
QUESTIONS = 4000
"""The maximum number of analogies that are evaluated, spread evenly over the set."""
FEWEST = 20
"""The number of known pairs or questions below which a set is skipped, with a note."""


@dataclass(frozen=True, slots=True)
class SimilaritySet:
    """Pairs of texts with human similarity judgements."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    scores: tuple[float, ...]

    @property
    def texts(self) -> list[str]:
        return [text for pair in self.pairs for text in pair]


@dataclass(frozen=True, slots=True)
class AnalogySet:
    """Analogies: a is to b as c is to d."""

    name: str
    questions: tuple[tuple[str, str, str, str], ...]

    @property
    def texts(self) -> list[str]:
        return [word for question in self.questions for word in question]


def read_similarity(path: Path) -> SimilaritySet:
    """Read a file with lines `text<tab>text<tab>score`; lines without a number before the first pair are headers.

    Raises:
        CatalogueError: if the file has another format; the message names the file and the line.
    """
    pairs: list[tuple[str, str]] = []
    scores: list[float] = []
    for number, line in _lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < 3 or not all(cells[:2]):
            raise CatalogueError(f"{path}, line {number}: expected two texts and a number, separated by tabs")
        try:
            score = float(cells[2])
        except ValueError:
            if not pairs:  # a header
                continue
            score = nan
        if not isfinite(score):
            raise CatalogueError(f"{path}, line {number}: '{cells[2]}' is not a number")
        pairs.append((cells[0], cells[1]))
        scores.append(score)
    if len(pairs) < FEWEST:
        raise CatalogueError(f"{path}: has {len(pairs)} pairs, but at least {FEWEST} are needed")
    return SimilaritySet(path.stem, tuple(pairs), tuple(scores))


def read_analogies(path: Path) -> AnalogySet:
    """Read a file with four words per line, separated by spaces; a line that begins with a colon names a section.

    Raises:
        CatalogueError: if the file has another format; the message names the file and the line.
    """
    questions = []
    for number, line in _lines(path):
        if line.startswith(":"):
            continue
        words = line.split()
        if len(words) != 4:
            raise CatalogueError(f"{path}, line {number}: {len(words)} words, but an analogy has four")
        questions.append((words[0], words[1], words[2], words[3]))
    if len(questions) < FEWEST:
        raise CatalogueError(f"{path}: has {len(questions)} questions, but at least {FEWEST} are needed")
    return AnalogySet(path.stem, tuple(questions))


def installed_sets() -> tuple[list[SimilaritySet], list[AnalogySet]]:
    """Return WordSim-353, SimLex-999 and Google's analogies, which come with gensim; empty if gensim is not
    installed.
    """
    if find_spec("gensim") is None:
        return [], []
    folder = Path(str(files("gensim"))) / "test" / "test_data"
    similarity = [folder / "wordsim353.tsv", folder / "simlex999.txt"]
    analogies = [folder / "questions-words.txt"]
    return (
        [read_similarity(path) for path in similarity if path.is_file()],
        [read_analogies(path) for path in analogies if path.is_file()],
    )


def _lines(path: Path) -> list[tuple[int, str]]:
    text = document_text(path, CatalogueError)
    return [
        (n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")
    ]


def similarity_cost(
    chosen: SimilaritySet, row: Mapping[str, int], before: Matrix, after: Matrix
) -> BeforeAfter | None:
    """Return Spearman's correlation of cosines with human scores and its change, with a bootstrap over pairs."""
    known = [
        (row[first], row[second], score)
        for (first, second), score in zip(chosen.pairs, chosen.scores, strict=True)
        if first in row and second in row
    ]
    if len(known) < FEWEST:
        return None
    first, second = (np.array([entry[side] for entry in known]) for side in (0, 1))
    scores = np.array([entry[2] for entry in known])
    cosines = [
        (unit_length(vectors[first]) * unit_length(vectors[second])).sum(axis=1)
        for vectors in (before, after)
    ]
    rng = np.random.default_rng(0)
    draws = rng.integers(len(known), size=(RESAMPLES, len(known)))
    values = [spearman(one, scores) for one in cosines]
    drawn = np.array([[spearman(one[places], scores[places]) for one in cosines] for places in draws])
    return BeforeAfter(
        f"similarity: {chosen.name}",
        _with_ends(values[0], drawn[:, 0]),
        _with_ends(values[1], drawn[:, 1]),
        n=len(known),
        change=_with_ends(values[1] - values[0], drawn[:, 1] - drawn[:, 0]),
    )


def spearman(first: Vector, second: Vector) -> float:
    """Return the correlation of ranks; ties have their mean rank."""
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def _with_ends(value: float, drawn: Vector) -> IntervalEstimate:
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return IntervalEstimate(value, float(low), float(high))


def analogy_cost(
    chosen: AnalogySet, row: Mapping[str, int], before: Matrix, after: Matrix
) -> BeforeAfter | None:
    """Return the share of questions that b − a + c answers with d, among all known words except a, b and c."""
    known = [
        [row[word] for word in question] for question in chosen.questions if all(w in row for w in question)
    ]
    if len(known) < FEWEST:
        return None
    questions = np.array(known[:: -(-len(known) // QUESTIONS)])
    right = [answered(questions, unit_length(vectors)) for vectors in (before, after)]
    n = len(questions)
    before_share, after_share = (share(int(one.sum()), n) for one in right)
    change = mean(right[1].astype(np.float64) - right[0])
    return BeforeAfter(f"analogies: {chosen.name}", before_share, after_share, n=n, change=change)


def answered(questions: Integers, units: Matrix) -> Vector:
    """Return, for each question (a row of four indices), whether d is the word nearest to b − a + c (3CosAdd)."""
    right = np.empty(len(questions))
    for start in range(0, len(questions), 1000):
        a, b, c, d = questions[start : start + 1000].T
        cosines = (units[b] - units[a] + units[c]) @ units.T
        for given in (a, b, c):
            cosines[np.arange(len(cosines)), given] = -np.inf
        right[start : start + 1000] = cosines.argmax(axis=1) == d
    return right


def neighbours_kept(before: Matrix, after: Matrix) -> BeforeAfter:
    """Return the share of the ten nearest neighbours of frequent words that did not change; 1 means no change."""
    asked = min(ASKED, len(before))
    count = min(KEPT, len(before) - 1)
    old, new = (nearest_rows(unit_length(vectors), 0, asked, count) for vectors in (before, after))
    kept = np.array([len(set(a) & set(b)) / count for a, b in zip(old.tolist(), new.tolist(), strict=True)])
    return BeforeAfter(
        "neighbours kept", IntervalEstimate(1.0, 1.0, 1.0), mean(kept), n=asked, change=mean(kept - 1)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The vectors before and after a transform."""

    before: Matrix
    """Vectors of the neutral words."""
    after: Matrix
    randomly: Sequence[Matrix]
    """Vectors of the same words after random transforms of the same rank."""
    whole_before: Matrix
    """The vectors of all texts that the model knows."""
    whole_after: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class RecoveryJob:
    """A job that measures what can be recovered from one set of vectors of the neutral words."""

    place: Place
    neutral: NeutralWords

    def compute(self, vectors: Vector) -> dict[str, IntervalEstimate]:
        return measures(self.place.of(vectors), self.neutral)


@dataclass(frozen=True, slots=True, eq=False)
class CostJob:
    """A job that computes the cost on one set or, without a set, the share of unchanged neighbours."""

    before: Place
    after: Place
    chosen: SimilaritySet | AnalogySet | None = None
    row: Mapping[str, int] | None = None
    """The row of each text that the model knows."""

    def compute(self, vectors: Vector) -> BeforeAfter | str:
        before, after = self.before.of(vectors), self.after.of(vectors)
        if self.chosen is None:
            return neighbours_kept(before, after)
        row = self.row or {}
        if isinstance(self.chosen, SimilaritySet):
            cost = similarity_cost(self.chosen, row, before, after)
        else:
            cost = analogy_cost(self.chosen, row, before, after)
        return cost or f"{self.chosen.name}: not used: the model knows fewer than {FEWEST} of its entries"


def compute_job(
    job: RecoveryJob | CostJob, vectors: Vector
) -> dict[str, IntervalEstimate] | BeforeAfter | str:
    """Compute one job in any process.

    BLAS uses one thread, so that results do not depend on the number of threads.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return job.compute(vectors)


def recovered_and_cost(
    vectors: Vectors,
    neutral: NeutralWords,
    sets: tuple[Sequence[SimilaritySet], Sequence[AnalogySet]],
    row: Mapping[str, int],
    workers: Backend,
    progress: Progress,
) -> tuple[list[BeforeAfter], list[BeforeAfter], list[str]]:
    """Return recoveries and costs, and notes on skipped sets.

    Args:
        vectors: the vectors before and after the transform.
        neutral: the neutral words, with their old bias.
        sets: similarity and analogy sets.
        row: the row of each text in the vectors of all known texts.
        workers: where the jobs are computed.
        progress: advances with each job.
    """
    places, packed = pack(
        [vectors.whole_before, vectors.whole_after, vectors.before, vectors.after, *vectors.randomly]
    )
    whole_before, whole_after, before, after, *randomly = places
    jobs = [
        *(RecoveryJob(place, neutral) for place in (before, after, *randomly)),
        *(
            CostJob(whole_before, whole_after, one, {text: row[text] for text in one.texts if text in row})
            for some in sets
            for one in some
        ),
        CostJob(before, after),
    ]
    progress.stage("measuring the bias that remains and the cost of the mitigation", len(jobs))
    values = values_of(workers, compute_job, jobs, progress, packed)
    measured = [value for value in values if isinstance(value, dict)]
    cost = [value for value in values if isinstance(value, BeforeAfter)]
    return recoveries(measured, neutral), cost, [value for value in values if isinstance(value, str)]


CUTOFF = 10
"""The number of places that count, as in nDCG@10."""
DECIMALS = 12
"""The number of decimals to which similarities are rounded, so that equal vectors tie."""


@dataclass(frozen=True, slots=True)
class RelevanceSet:
    """Queries and passages, with the relevance of some pairs."""

    name: str
    queries: tuple[str, ...]
    passages: tuple[str, ...]
    gains: tuple[dict[int, float], ...]
    """For each query, the relevance of passages by number; all other passages have relevance 0."""


def read_relevance(path: Path) -> RelevanceSet:
    """Read a table with the columns query, passage and, optionally, relevance, which is 1 if it is missing.

    Every query is ranked against all passages of the table. Queries without a relevant passage are only used for their
    passages.

    Raises:
        CatalogueError: if the table has another form, a relevance is not a number of at least 0, a pair occurs twice,
            or fewer than two queries have a relevant passage.
    """
    from weatherglass.storage.tables import read_rows

    found: dict[str, dict[str, float]] = {}
    for row in read_rows(path, ["query", "passage"], ["relevance"], error=CatalogueError):
        given = row["relevance"]
        try:
            relevance = float(given) if given else 1.0
        except ValueError:
            relevance = float("nan")
        if not (isfinite(relevance) and relevance >= 0):
            raise CatalogueError(
                f"{row.place}: the relevance is '{shown(given)}', but should be a number of at least 0"
            )
        of_query = found.setdefault(row["query"], {})
        if row["passage"] in of_query:
            raise CatalogueError(
                f"{row.place}: this query and passage are already in the table; keep one row"
            )
        of_query[row["passage"]] = relevance
    number = {
        passage: place
        for place, passage in enumerate(dict.fromkeys(p for of_query in found.values() for p in of_query))
    }
    asked = {query: of_query for query, of_query in found.items() if any(of_query.values())}
    if len(asked) < 2:
        raise CatalogueError(
            f"{path}: {len(asked)} of the queries have a relevant passage, but at least 2 are needed"
        )
    gains = tuple({number[p]: gain for p, gain in of_query.items()} for of_query in asked.values())
    return RelevanceSet(path.stem, tuple(asked), tuple(number), gains)


def ndcg(scores: Vector, gains: Vector, cutoff: int = CUTOFF) -> float:
    """Return nDCG of one query, with linear gains; passages with equal scores share the gain of their places.

    >>> round(ndcg(np.array([3.0, 2.0, 1.0]), np.array([0.0, 1.0, 0.0])), 4)
    0.6309
    """
    discounts = np.where(np.arange(len(scores)) < cutoff, 1 / np.log2(2 + np.arange(len(scores))), 0.0)
    order = np.argsort(-scores, kind="stable")
    tied: Integers = np.unique(-scores[order], return_inverse=True)[1]
    shared = (np.bincount(tied, discounts) / np.bincount(tied))[tied]
    best = float(np.sort(gains)[::-1] @ discounts)
    return float(gains[order] @ shared) / best if best else 0.0


def retrieval_cost(
    chosen: RelevanceSet, before: tuple[Matrix, Matrix], after: tuple[Matrix, Matrix]
) -> BeforeAfter:
    """Return mean nDCG@10 without and with a transform, and its change, with queries as units.

    Args:
        chosen: the queries, passages and their relevance.
        before: the vectors of queries and of passages.
        after: the same after the transform.
    """
    gains = np.zeros((len(chosen.queries), len(chosen.passages)))
    for row, of_query in zip(gains, chosen.gains, strict=True):
        row[list(of_query)] = list(of_query.values())
    found = [
        np.array(
            [
                ndcg(scores, own)
                for scores, own in zip(
                    np.round(unit_length(queries) @ unit_length(passages).T, DECIMALS), gains, strict=True
                )
            ]
        )
        for queries, passages in (before, after)
    ]
    return BeforeAfter(
        f"nDCG@{CUTOFF}: {chosen.name}",
        mean(found[0]),
        mean(found[1]),
        n=len(gains),
        change=mean(found[1] - found[0]),
    )

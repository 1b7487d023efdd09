"""What a transform cost: similarity of words or sentences, analogies, and neighbours that are the same as before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from weatherglass.arrays import Integers, Matrix, Vector, unit_length
from weatherglass.cures.estimate import BeforeAfter, Estimate, mean, share
from weatherglass.cures.recovery import nearest_rows
from weatherglass.errors import CatalogueError
from weatherglass.storage.documents import document_text

RESAMPLES = 400
KEPT = 10
"""Nearest neighbours that are compared."""
ASKED = 1000
"""Words whose neighbours are compared."""
QUESTIONS = 4000
"""Analogies that are asked at most, evenly from the whole set."""
FEWEST = 20
"""Pairs or questions below which a set is passed over, and said so."""


@dataclass(frozen=True, slots=True)
class SimilaritySet:
    """Pairs of texts with people's judgements of how similar they are."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    scores: tuple[float, ...]

    @property
    def texts(self) -> list[str]:
        """All texts."""
        return [text for pair in self.pairs for text in pair]


@dataclass(frozen=True, slots=True)
class AnalogySet:
    """a is to b as c is to d."""

    name: str
    questions: tuple[tuple[str, str, str, str], ...]

    @property
    def texts(self) -> list[str]:
        """All words."""
        return [word for question in self.questions for word in question]


def read_similarity(path: Path) -> SimilaritySet:
    """A file with lines `text<tab>text<tab>score`; lines without a number at the end of the first block are headers.

    Raises:
        CatalogueError: with file and line, for what is no such file.
    """
    pairs: list[tuple[str, str]] = []
    scores: list[float] = []
    for number, line in _lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < 3 or not all(cells[:2]):
            raise CatalogueError(
                f"{path}, line {number}: should be two texts and a number, with tabs between"
            )
        try:
            score = float(cells[2])
            if not isfinite(score):
                raise CatalogueError(f"{path}, line {number}: '{cells[2]}' is no number")
        except ValueError:
            if not pairs:  # a header
                continue
            raise CatalogueError(f"{path}, line {number}: '{cells[2]}' is no number") from None
        pairs.append((cells[0], cells[1]))
        scores.append(score)
    if len(pairs) < FEWEST:
        raise CatalogueError(f"{path}: {len(pairs)} pairs; at least {FEWEST} are needed")
    return SimilaritySet(path.stem, tuple(pairs), tuple(scores))


def read_analogies(path: Path) -> AnalogySet:
    """A file with four words a line, spaces between; a line that begins with a colon names a section.

    Raises:
        CatalogueError: with file and line, for what is no such file.
    """
    questions = []
    for number, line in _lines(path):
        if line.startswith(":"):
            continue
        words = line.split()
        if len(words) != 4:
            raise CatalogueError(f"{path}, line {number}: {len(words)} words; a question has four")
        questions.append((words[0], words[1], words[2], words[3]))
    if len(questions) < FEWEST:
        raise CatalogueError(f"{path}: {len(questions)} questions; at least {FEWEST} are needed")
    return AnalogySet(path.stem, tuple(questions))


def installed_sets() -> tuple[list[SimilaritySet], list[AnalogySet]]:
    """WordSim-353, SimLex-999 and Google's analogies, which come with gensim; none where it is not installed."""
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
    """Spearman's correlation of cosines with people's scores, and its change, both by the bootstrap over pairs."""
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
    """Correlation of ranks, ties at their mean rank."""
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def _with_ends(value: float, drawn: Vector) -> Estimate:
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def analogy_cost(
    chosen: AnalogySet, row: Mapping[str, int], before: Matrix, after: Matrix
) -> BeforeAfter | None:
    """The share of questions that b − a + c answers with d, among all words at hand but a, b and c."""
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
    """Whether each question, as rows of four numbers, is answered by the word nearest to b − a + c (3CosAdd)."""
    right = np.empty(len(questions))
    for start in range(0, len(questions), 1000):
        a, b, c, d = questions[start : start + 1000].T
        cosines = (units[b] - units[a] + units[c]) @ units.T
        for given in (a, b, c):
            cosines[np.arange(len(cosines)), given] = -np.inf
        right[start : start + 1000] = cosines.argmax(axis=1) == d
    return right


def neighbours_kept(before: Matrix, after: Matrix) -> BeforeAfter:
    """The share of the ten nearest words that are the same as before, over frequent words; without a change it is 1."""
    asked = min(ASKED, len(before))
    count = min(KEPT, len(before) - 1)
    old, new = (nearest_rows(unit_length(vectors), 0, asked, count) for vectors in (before, after))
    kept = np.array([len(set(a) & set(b)) / count for a, b in zip(old.tolist(), new.tolist(), strict=True)])
    return BeforeAfter("neighbours kept", Estimate(1.0, 1.0, 1.0), mean(kept), n=asked, change=mean(kept - 1))


def cost_of(
    chosen: SimilaritySet | AnalogySet, row: Mapping[str, int], before: Matrix, after: Matrix
) -> BeforeAfter | str:
    """Return the cost on one set, or a note that the model knows too little of it."""
    measured = (
        similarity_cost(chosen, row, before, after)
        if isinstance(chosen, SimilaritySet)
        else analogy_cost(chosen, row, before, after)
    )
    return measured or f"{chosen.name}: the model knows fewer than {FEWEST} of it"

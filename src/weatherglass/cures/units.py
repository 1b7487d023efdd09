"""What is recovered after a transform and what it cost, as units that several processes can compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weatherglass.arrays import Matrix, Vector
from weatherglass.cures.cost import AnalogySet, SimilaritySet, cost_of, neighbours_kept
from weatherglass.cures.estimate import BeforeAfter, Estimate
from weatherglass.cures.recovery import NeutralWords, measures, recoveries
from weatherglass.parallel import Backend
from weatherglass.parallel.packed import Place, pack
from weatherglass.parallel.values import values_of
from weatherglass.progress import Progress


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The vectors before and after a transform."""

    before: Matrix
    """Of the neutral words."""
    after: Matrix
    randomly: Sequence[Matrix]
    """Of the same words after random transforms of the same rank."""
    whole_before: Matrix
    """Of all texts that the model knows."""
    whole_after: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class RecoveryUnit:
    """What can be recovered from one set of vectors of the neutral words."""

    place: Place
    neutral: NeutralWords

    def compute(self, vectors: Vector) -> dict[str, Estimate]:
        """Return the four measures."""
        return measures(self.place.of(vectors), self.neutral)


@dataclass(frozen=True, slots=True, eq=False)
class CostUnit:
    """The cost on one set, or, without a set, the neighbours that are kept."""

    before: Place
    after: Place
    chosen: SimilaritySet | AnalogySet | None = None
    row: Mapping[str, int] | None = None
    """By text of the set: its row, where the model knows it."""

    def compute(self, vectors: Vector) -> BeforeAfter | str:
        """Return the cost, or a note that there is none."""
        before, after = self.before.of(vectors), self.after.of(vectors)
        if self.chosen is None:
            return neighbours_kept(before, after)
        return cost_of(self.chosen, self.row or {}, before, after)


def compute_unit(unit: RecoveryUnit | CostUnit, vectors: Vector) -> dict[str, Estimate] | BeforeAfter | str:
    """Return what one unit gives, in whichever process.

    BLAS has one thread, so that bits do not depend on how many there are.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return unit.compute(vectors)


def recovered_and_cost(
    vectors: Vectors,
    neutral: NeutralWords,
    sets: tuple[Sequence[SimilaritySet], Sequence[AnalogySet]],
    row: Mapping[str, int],
    workers: Backend,
    progress: Progress,
) -> tuple[list[BeforeAfter], list[BeforeAfter], list[str]]:
    """Return recoveries and costs, and notes on the sets of which the model knows too little.

    Args:
        vectors: before and after.
        neutral: the neutral words, with their old bias.
        sets: what the cost is measured on.
        row: by text, its row in the vectors of all known texts.
        workers: where the units are computed.
        progress: advances with each unit.
    """
    places, packed = pack(
        [vectors.whole_before, vectors.whole_after, vectors.before, vectors.after, *vectors.randomly]
    )
    whole_before, whole_after, before, after, *randomly = places
    units = [
        *(RecoveryUnit(place, neutral) for place in (before, after, *randomly)),
        *(
            CostUnit(whole_before, whole_after, one, {text: row[text] for text in one.texts if text in row})
            for some in sets
            for one in some
        ),
        CostUnit(before, after),
    ]
    progress.stage("what is left, and what it cost", len(units))
    values = values_of(workers, compute_unit, units, progress, packed)
    measured = [value for value in values if isinstance(value, dict)]
    cost = [value for value in values if isinstance(value, BeforeAfter)]
    return recoveries(measured, neutral), cost, [value for value in values if isinstance(value, str)]

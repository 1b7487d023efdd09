"""One test on one model: all that another process needs to compute it, and the computing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from weatherglass.arrays import Matrix
from weatherglass.audit.covariances import Pair
from weatherglass.audit.evaluate import evaluate
from weatherglass.audit.ledger import KnownSet, Ledger
from weatherglass.audit.parts import Part
from weatherglass.audit.registrations import Registration
from weatherglass.audit.settings import Settings
from weatherglass.catalogue.test import Test
from weatherglass.metrics.base import Metric
from weatherglass.runs.results import Result


@dataclass(frozen=True, slots=True)
class Unit:
    """One test on one model; its vectors are rows of the array that all units share."""

    model: str
    options: str
    test: Test
    part: Part
    """Which of its sets are measured."""
    sets: list[KnownSet]
    ledger: Ledger
    warnings: tuple[str, ...]
    metrics: list[Metric]
    settings: Settings
    covariances: Pair | None = None
    registrations: tuple[Registration, ...] = ()
    """What the process that computes it has to register first."""
    seen: tuple[str, ...] = ()
    """Words of the test that the model's transforms were fitted on."""


def evaluate_unit(unit: Unit, vectors: Matrix) -> list[Result]:
    """The results of one test on one model, one per metric, with one BLAS thread so that bits do not depend on
    how many there are.
    """
    from threadpoolctl import threadpool_limits

    for registration in unit.registrations:
        registration.register()
    notes: dict[str, Any] = (
        {"oov": asdict(unit.ledger)}
        if unit.ledger.missing or unit.ledger.dropped or unit.ledger.notes
        else {}
    )
    if not unit.part.whole:
        notes["part_of"] = list(unit.test.shape)
    sets = [known.vectors(vectors) for known in unit.sets]
    with threadpool_limits(1):
        return [
            replace(
                result,
                model=unit.model,
                options=unit.options,
                test=unit.test.name,
                context=unit.test.context,
                sets=unit.part.sets,
                categories=tuple(element_set.category for element_set in unit.part.of(unit.test)),
                oov=", ".join(unit.ledger.words()),
                fitted_words=", ".join(unit.seen),
                warnings=(*unit.warnings, *result.warnings),
                notes={**notes, **result.notes},
            )
            for result in evaluate(sets, unit.metrics, unit.settings, unit.covariances)
        ]

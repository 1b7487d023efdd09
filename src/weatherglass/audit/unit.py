"""One test on one model: all that another process needs to compute it, and the computing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from weatherglass.arrays import Matrix
from weatherglass.audit.covariances import Pair
from weatherglass.audit.evaluate import evaluate
from weatherglass.audit.ledger import KnownSet, MissingWords
from weatherglass.audit.parts import Part
from weatherglass.audit.registrations import Registration
from weatherglass.audit.results import Result
from weatherglass.audit.settings import Settings
from weatherglass.audit.target_texts import TargetTexts
from weatherglass.catalogue.test import Test
from weatherglass.metrics.base import Metric
from weatherglass.metrics.sets import VectorSet
from weatherglass.warnings import Warning


@dataclass(frozen=True, slots=True)
class Job:
    """One test on one model; its vectors are rows of the array that all jobs share."""

    model: str
    options: str
    test: Test
    part: Part
    """Which of its sets are measured."""
    sets: list[KnownSet]
    missing: MissingWords
    warnings: tuple[Warning, ...]
    metrics: list[Metric]
    settings: Settings
    covariances: Pair | None = None
    registrations: tuple[Registration, ...] = ()
    """What the process that computes it has to register first."""
    seen: tuple[str, ...] = ()
    """Words of the test that the model's transforms were fitted on."""
    targets: TargetTexts | None = None
    """How the model splits the texts of X and Y; None where not both are measured."""


def evaluate_job(job: Job, vectors: Matrix) -> list[Result]:
    """Return the results of one test on one model, one per metric.

    One BLAS thread computes them, so that bits do not depend on how many there are.
    """
    from threadpoolctl import threadpool_limits

    for registration in job.registrations:
        registration.register()
    notes: dict[str, Any] = {}
    if job.missing.missing or job.missing.dropped or job.missing.notes:
        notes["oov"] = asdict(job.missing)
    if not job.part.whole:
        notes["part_of"] = list(job.test.shape)
    sets = [
        VectorSet(known.role, vectors[known.rows], known.elements, known.category, known.unknown)
        for known in job.sets
    ]
    with threadpool_limits(1):
        return [
            replace(
                result,
                model=job.model,
                options=job.options,
                test=job.test.name,
                context=job.test.context,
                sets=job.part.sets,
                categories=tuple(known.category for known in job.sets),
                oov=", ".join(job.missing.words()) if notes else "",
                fitted_words=", ".join(job.seen),
                warnings=(*job.warnings, *result.warnings),
                notes={**notes, **result.notes},
            )
            for result in evaluate(sets, job.metrics, job.settings, job.covariances, job.targets)
        ]

"""Compare all definitions of the Mahalanobis distance that fit Azarpanah & Farhadloo (2021) with their Table 4.

The paper states neither the synonyms nor the penalty, and contains no code. A reading of the paper fixes six choices.
Every combination is computed for the legible cells of Table 4; the nearest reading is the one with the smallest mean
difference of |d|.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.audit.covariances import enlarged
from weatherglass.audit.encode import Encodings, encode_texts
from weatherglass.audit.plan import PlannedModel
from weatherglass.catalogue import load_tests
from weatherglass.catalogue.test import ElementSet, Test
from weatherglass.errors import UnitError
from weatherglass.languages.lexicon import Synonyms
from weatherglass.metrics.weat.association import STATISTICS, Association
from weatherglass.metrics.weat.covariance import (
    GAP_PER_DIMENSION_IN_FOLDS,
    estimate_covariance,
    graphical_lasso,
    sample_covariance,
)
from weatherglass.metrics.weat.scores import effect_size, unit_rows, whiten
from weatherglass.parallel import backend
from weatherglass.progress import Progress, progress_here

if TYPE_CHECKING:
    from weatherglass.reproduce.azarpanah2021 import Cells

SYNONYMS: Final = ("with synonyms", "no synonyms")
VECTORS: Final = ("vectors as they are", "unit vectors")
SCALING: Final = ("not scaled", "standardised")
"""The scalings of vectors; standardised means that every dimension is divided by its sd over both attribute sets."""
COVARIANCES: Final = ("of each set", "of A for both", "of A and B together")
MATRICES: Final = ("inverse", "not inverted")
"""The uses of the covariance; not inverted means that it is used in place of its inverse."""
FORMS: Final = ("distance", "squared distance")


def diagonal(vectors: Matrix) -> Matrix:
    """Return the precision matrix without correlations, which is the limit of a large penalty."""
    return np.diag(1 / np.diag(sample_covariance(vectors)))


def penalised(penalty: float) -> Callable[[Matrix], Matrix]:
    """Return the graphical lasso with the given penalty, fitted as precisely as in cross-validation."""

    def precision(vectors: Matrix) -> Matrix:
        S = sample_covariance(vectors)
        return graphical_lasso(S, penalty, GAP_PER_DIMENSION_IN_FOLDS * len(S)).precision

    return precision


ESTIMATORS: dict[str, Callable[[Matrix], Matrix]] = {
    "glasso, 3-fold": lambda vectors: estimate_covariance(vectors, "glasso").precision,
    "glasso, penalty 0.01": penalised(0.01),
    "glasso, penalty 0.1": penalised(0.1),
    "ledoit-wolf": lambda vectors: estimate_covariance(vectors, "ledoit-wolf").precision,
    "diagonal": diagonal,
}
"""Estimators by name; each computes a precision matrix from the vectors of a set."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading on one model, compared with Table 4."""

    model: str
    choices: tuple[str, ...]
    cells: int
    equal: int
    """The number of cells whose |d| agrees to two digits."""
    mean_difference: float


Fit = tuple[str, Hashable, Matrix]
"""The name of an estimator, the key of its fit, and the vectors."""


def try_readings(
    models: Mapping[str, str],
    cells: Cells,
    synonyms: Synonyms,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Reading]:
    """Return all readings of each model that has legible Mahalanobis cells, nearest first."""
    from threadpoolctl import threadpool_limits

    shown = progress or progress_here()
    found: list[Reading] = []
    for name, spec in models.items():
        wanted = {
            (test, measure): cell.effect_size
            for (model, test, measure), cell in cells.items()
            if model == name and measure.similarity == "mahalanobis"
        }
        if wanted:
            tests = load_tests(list(dict.fromkeys(test for test, _ in wanted)))
            encoded = _encoded(PlannedModel.of(f"{name}={spec}"), tests, synonyms, shown)
            with threadpool_limits(1):  # matrices of 300 × 300, for which threads would wait for each other
                tried = list(_readings(name, wanted, tests, encoded, synonyms, jobs, shown))
            found += sorted(tried, key=lambda reading: reading.mean_difference)
    return found


def _encoded(model: PlannedModel, tests: list[Test], synonyms: Synonyms, progress: Progress) -> Encodings:
    texts = [text for test in tests for targets in test.targets for text in targets.texts]
    texts += [
        text for test in tests for attributes in test.attributes for text in enlarged(attributes, synonyms)
    ]
    return encode_texts(model.encoder, [*texts, *model.texts()], backend(1), progress).transformed(
        model.transforms
    )


def _readings(
    model: str,
    wanted: Mapping[tuple[str, Association], float],
    tests: list[Test],
    encoded: Encodings,
    synonyms: Synonyms,
    jobs: int,
    progress: Progress,
) -> Iterator[Reading]:
    prepared: dict[tuple[str, ...], _Sets] = {
        (test.name, *how): _prepared(test, encoded, synonyms, *how)
        for test in tests
        for how in product(SYNONYMS, VECTORS, SCALING)
    }
    fits: dict[tuple[str, Hashable], Fit] = {}
    for (_, *how), sets in prepared.items():
        for estimator, of in product(ESTIMATORS, ("A", "B", "A and B")):
            key = (*how, sets.names[of])
            fits.setdefault((estimator, key), (estimator, key, sets.samples[of]))
    progress.stage(f"Mahalanobis readings of {model}", len(fits))
    precisions: dict[tuple[str, Hashable], Matrix | None] = {}
    for outcome in backend(jobs).map(_fit, list(fits.values())):
        precisions[outcome.unit[0], outcome.unit[1]] = outcome.value
        progress.advance()
    for choices in product(SYNONYMS, VECTORS, SCALING, ESTIMATORS, COVARIANCES, MATRICES, FORMS):
        *how, estimator, of, matrix, form = choices
        names = {"of each set": ("A", "B"), "of A for both": ("A", "A")}.get(of, ("A and B",) * 2)
        ours: dict[tuple[str, Association], float] = {}
        for test in tests:
            sets = prepared[(test.name, *how)]
            pair = [precisions[estimator, (*how, sets.names[name])] for name in names]
            known = [precision for precision in pair if precision is not None]
            measures = [measure for name, measure in wanted if name == test.name]
            if len(known) == 2:
                effects = _effects(sets, known, measures, matrix, form)
                ours |= {(test.name, measure): d for measure, d in effects.items()}
        if len(ours) == len(wanted):
            differences = [abs(ours[cell] - published) for cell, published in wanted.items()]
            equal = sum(f"{ours[cell]:.2f}" == f"{published:.2f}" for cell, published in wanted.items())
            mean = math.fsum(differences) / len(differences)
            yield Reading(model, choices, len(wanted), equal, mean)


@dataclass(frozen=True, slots=True, eq=False)
class _Sets:
    """The vectors of one test, and the vectors from which its covariances are estimated."""

    x: Matrix
    y: Matrix
    a: Matrix
    b: Matrix
    samples: Mapping[str, Matrix]
    """The vectors by "A", "B" and "A and B"."""
    names: Mapping[str, Hashable]
    """The keys of the covariances; equal texts with equal scaling have equal covariances."""


def _prepared(
    test: Test, encoded: Encodings, synonyms: Synonyms, listed: str, length: str, scaling: str
) -> _Sets:
    def vectors(texts: tuple[str, ...]) -> Matrix:
        rows = np.array([encoded.row[text] for text in texts if encoded.known(text)], dtype=np.int64)
        known = encoded.vectors[rows]
        return unit_rows(known, test.name) if length == "unit vectors" else known

    def larger(attributes: ElementSet) -> tuple[str, ...]:
        return enlarged(attributes, synonyms if listed == "with synonyms" else {})

    texts = {"A": larger(test.attributes[0]), "B": larger(test.attributes[1])}
    texts["A and B"] = (*texts["A"], *texts["B"])
    samples = {name: vectors(listed) for name, listed in texts.items()}
    sd: Vector | float = 1.0
    names: dict[str, Hashable] = dict(texts)
    if scaling == "standardised":
        sd = samples["A and B"].std(axis=0)
        names = {name: (test.name, listed) for name, listed in texts.items()}
    x, y, a, b = (vectors(s.texts) / sd for s in (*test.targets, *test.attributes))
    return _Sets(x, y, a, b, {name: sample / sd for name, sample in samples.items()}, names)


def _fit(fit: Fit) -> Matrix | None:
    """Return the precision matrix; None if there are too few vectors for the estimator."""
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):  # the last bits would depend on the number of threads
            return ESTIMATORS[fit[0]](np.unique(fit[2], axis=0))
    except (UnitError, ArithmeticError, np.linalg.LinAlgError):
        return None


def _effects(
    sets: _Sets, precisions: list[Matrix], measures: list[Association], matrix: str, form: str
) -> dict[Association, float]:
    """Return |d| for each measure, all computed from one table of distances."""
    from scipy.spatial.distance import cdist

    targets = np.concatenate([sets.x, sets.y])
    raw = []
    for attributes, precision in zip((sets.a, sets.b), precisions, strict=True):
        weights: Matrix = (
            precision if matrix == "inverse" else np.asarray(np.linalg.inv(precision), np.float64)
        )
        distances = cdist(whiten(targets, weights), whiten(attributes, weights))
        raw.append(np.sort(distances**2 if form == "squared distance" else distances, axis=1))
    found = {}
    for measure in measures:
        scores = STATISTICS.get(measure.statistic).association(raw[0], raw[1], -1)
        found[measure] = abs(effect_size(scores[: len(sets.x)], scores[len(sets.x) :], 1))
    return found

"""Estimate the covariances that Mahalanobis measures need, one per attribute set of a model, for all tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.audit.encode import Encodings
from weatherglass.audit.registrations import Registration
from weatherglass.audit.settings import Synonyms
from weatherglass.catalogue.test import ElementSet, Test
from weatherglass.errors import UnitError, reason
from weatherglass.metrics.weat.covariance import Covariance, estimate_covariance
from weatherglass.parallel import Backend
from weatherglass.progress import Progress

Pair = tuple[Covariance, Covariance]


@dataclass(frozen=True, slots=True)
class CovarianceUnit:
    """The vectors of one attribute set and of its words' synonyms."""

    texts: tuple[str, ...]
    vectors: Matrix
    estimator: str
    registrations: tuple[Registration, ...] = ()
    """Values that the process must register before it estimates the covariance."""


def enlarged(attributes: ElementSet, synonyms: Synonyms) -> tuple[str, ...]:
    """Return the texts of a set and the synonyms of its single words, without repeats."""
    more = [
        word
        for element in attributes.elements
        if element.text == element.word
        for word in synonyms.get(element.word, ())
    ]
    return tuple(dict.fromkeys([*attributes.texts, *more]))


def estimate_covariances(
    tests: Sequence[Test],
    encodings: Encodings,
    synonyms: Synonyms,
    estimator: str,
    workers: Backend,
    progress: Progress,
    registrations: tuple[Registration, ...] = (),
) -> dict[tuple[str, ...], Covariance | Exception]:
    """Return the covariance of each attribute set by its texts, or the error that was raised."""
    sets = dict.fromkeys(enlarged(attributes, synonyms) for test in tests for attributes in test.attributes)
    progress.stage("estimating covariances", len(sets))
    covariances: dict[tuple[str, ...], Covariance | Exception] = {}
    units = (
        CovarianceUnit(texts, _known_vectors(texts, encodings), estimator, registrations) for texts in sets
    )
    for outcome in workers.map(_estimate, units):
        covariance = outcome.value or outcome.error
        assert covariance is not None
        covariances[outcome.unit.texts] = covariance
        progress.advance()
    return covariances


def covariances_for(
    test: Test, synonyms: Synonyms, covariances: Mapping[tuple[str, ...], Covariance | Exception]
) -> Pair:
    """Return the covariances of A and B.

    Raises:
        UnitError: if one of the covariances could not be estimated; only metrics that need it fail.
    """
    pair = []
    for attributes in test.attributes:
        covariance = covariances[enlarged(attributes, synonyms)]
        if isinstance(covariance, Exception):
            raise UnitError(f"{reason(covariance)} (attribute set {attributes.category})") from covariance
        pair.append(covariance)
    return pair[0], pair[1]


def _known_vectors(texts: tuple[str, ...], encodings: Encodings) -> Matrix:
    rows = [encodings.row[text] for text in texts if encodings.known(text)]
    return encodings.vectors[np.array(rows, dtype=np.int64)]


def _estimate(unit: CovarianceUnit) -> Covariance:
    for registration in unit.registrations:
        registration.register()
    return estimate_covariance(unit.vectors, unit.estimator)

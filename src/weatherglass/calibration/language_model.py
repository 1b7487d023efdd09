"""Evaluate the metrics of language models on a tiny masked model that was trained on a planted corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.audit.known_sets import KnownSet
from weatherglass.audit.pairs import score_pairs, score_words
from weatherglass.audit.plan import PlannedModel, PlannedResult, parts_of
from weatherglass.catalogue.pairs import SLOT, Pair, pair_test
from weatherglass.catalogue.test import Element, Test
from weatherglass.encoders import load_encoder
from weatherglass.encoders.spec import Spec
from weatherglass.metrics.base import Context, Metric, MetricInfo
from weatherglass.metrics.log_probability import ATTRIBUTE, TARGET, TEMPLATES, LogProbability
from weatherglass.metrics.pairs import PairMetric
from weatherglass.metrics.sets import VectorSet
from weatherglass.parallel import InProcess
from weatherglass.progress import Silent
from weatherglass.reliability.training.masked import one_thread

ModelMetric = LogProbability | PairMetric


def of_language_models(metrics: Sequence[Metric]) -> list[ModelMetric]:
    """Return the metrics that need the log-probabilities of a language model."""
    return [metric for metric in metrics if isinstance(metric, LogProbability | PairMetric)]


def pairs_of_sentences(
    test: Test, words: Sequence[Sequence[str]], pairs: Sequence[tuple[str, str]], groups: str
) -> Test | None:
    """Return a test of sentence pairs that differ in the person: "he is salary." agrees with the stereotype, and "she
    is salary." does not.

    Args:
        test: the test of the stereotype.
        words: the words of each of its sets that the model knows.
        pairs: words that replace each other; without any, words of the two groups at the same place do.
        groups: which sets of the test are the groups of people: "targets" or "attributes".

    Returns:
        The test; its terms are the other words, and it has a pair for each term, pair of people and template of
        `log-probability`. None if no two people can be paired.
    """
    people, ascribed = (words[:2], words[2:]) if groups == "targets" else (words[2:], words[:2])
    known = [set(group) for group in people]
    chosen = [pair for pair in pairs if pair[0] in known[0] and pair[1] in known[1]]
    if not chosen and len(people[0]) == len(people[1]):
        chosen = list(zip(*people, strict=True))
    made = [
        Pair(
            template.replace(SLOT, both[side]),
            template.replace(SLOT, both[1 - side]),
            term,
            template=template,
        )
        for side, terms in enumerate(ascribed)
        for term in terms
        for both in chosen
        for template in (form.replace(ATTRIBUTE, term).replace(TARGET, SLOT) for form in TEMPLATES)
    ]
    return pair_test(f"{test.name} as pairs", made) if made else None


def open_model(folder: Path) -> PlannedModel:
    """Return the masked language model of a folder."""
    encoder = load_encoder(Spec("hf", str(folder)), cache=False)
    return PlannedModel(encoder, encoder.name, "", "")


def language_model_values(
    model: PlannedModel,
    test: Test,
    words: Sequence[Sequence[str]],
    pairs: Test | None,
    metrics: Sequence[ModelMetric],
) -> Iterator[tuple[str, str, MetricInfo, float]]:
    """Yield name, sets, facts and value of every metric of language models that can measure the test or its pairs.

    Args:
        model: a masked language model.
        test: a test of words.
        words: the words of each of its sets that the model knows.
        pairs: the test of `pairs_of_sentences`.
        metrics: the metrics.
    """
    sets = [
        replace(one, elements=tuple(Element(word, word) for word in some))
        for one, some in zip(test.sets, words, strict=True)
    ]
    n_targets = len(test.targets)
    known = replace(test, targets=tuple(sets[:n_targets]), attributes=tuple(sets[n_targets:]))
    for metric in metrics:
        asked = pairs if isinstance(metric, PairMetric) else known
        for part in parts_of(asked, metric) if asked else []:
            assert asked is not None
            row = PlannedResult(model, asked, metric, part, "")
            with one_thread():
                found, table = _scores(model, row)
            value = float(metric.evaluate(_vector_sets(found, table), Context([metric])).value)
            if np.isfinite(value):
                yield metric.name, " ".join(part.roles), metric.info, value


def _scores(model: PlannedModel, row: PlannedResult) -> tuple[list[KnownSet], Matrix]:
    """Return the sets that the model can score, and their scores."""
    if isinstance(row.metric, PairMetric):
        scored = score_pairs(model, [row], InProcess(), Silent())
        return scored.rows[0][1], scored.array
    answers = score_words(model, row, InProcess(), Silent())
    return answers.sets, answers.table


def _vector_sets(known: Sequence[KnownSet], table: Matrix) -> list[VectorSet]:
    return [VectorSet(one.role, table[one.rows], one.elements, one.category, one.unknown) for one in known]

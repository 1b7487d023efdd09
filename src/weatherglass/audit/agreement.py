"""Compare how metrics rank models and tests, with Kendall's tau between their rankings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.audit.results import Result, plain_value
from weatherglass.stats.ranking import RankAgreement, kendall_tau, rank_agreement, too_few_tests


@dataclass(frozen=True, slots=True)
class MetricRanking:
    """The models ranked by one metric, starting with the one farthest from the value without bias."""

    metric: str
    models: tuple[str, ...]
    sizes: tuple[float, ...]
    """The mean over tests of |value − value without bias|, in the metric's own units."""


@dataclass(frozen=True, slots=True)
class MetricPair:
    """Two metrics, and how similar their rankings are."""

    metrics: tuple[str, str]
    of_models: RankAgreement | None
    """Kendall's tau of the rankings of models; None if there are fewer than two models."""
    of_tests: float
    """Kendall's tau of the rankings of tests, the mean over models; NaN if there are too few tests."""
    tests: int


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """The agreement of several metrics in ranking the same models and tests."""

    tests: int
    rankings: tuple[MetricRanking, ...]
    pairs: tuple[MetricPair, ...]
    why_no_tau: str = ""
    """The reason why no tau is given; empty if there are enough tests."""

    def disagreeing(self) -> list[MetricPair]:
        """Return the pairs that rank models differently, starting with those that differ most."""
        ranked = [pair for pair in self.pairs if pair.of_models and not math.isnan(pair.of_models.tau)]
        apart = [pair for pair in ranked if pair.of_models and pair.of_models.tau < 1]
        return sorted(apart, key=lambda pair: pair.of_models.tau if pair.of_models else 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with NaN as None."""
        plain: dict[str, Any] = plain_value(asdict(self))
        return plain

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> MetricAgreement:
        """Return the agreement that `to_json` stored."""
        rankings = (
            MetricRanking(one["metric"], tuple(one["models"]), tuple(map(_number, one["sizes"])))
            for one in record["rankings"]
        )
        return cls(
            record["tests"],
            tuple(rankings),
            tuple(map(_pair_from_json, record["pairs"])),
            record["why_no_tau"],
        )


def _pair_from_json(pair: Mapping[str, Any]) -> MetricPair:
    first, second = pair["metrics"]
    of_models = pair["of_models"]
    found = (
        RankAgreement(_number(of_models["tau"]), of_models["low"], of_models["high"]) if of_models else None
    )
    return MetricPair((first, second), found, _number(pair["of_tests"]), pair["tests"])


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def metric_agreement(results: Sequence[Result], seed: int = 0) -> MetricAgreement | None:
    """Return the agreement of the metrics of some results, over the tests that all of them measured on every model.

    A test that a metric splits into parts counts once, with the mean over its parts.

    Returns:
        The agreement; None if there are fewer than two metrics, or no test that all of them measured.
    """
    sizes: dict[tuple[str, str, str], list[float]] = {}
    for result in results:
        if not math.isnan(result.bias):
            model = f"{result.model} [{result.options}]" if result.options else result.model
            sizes.setdefault((result.metric, model, result.test), []).append(abs(result.bias))
    metrics = list(dict.fromkeys(metric for metric, _, _ in sizes))
    models = list(dict.fromkeys(model for _, model, _ in sizes))
    tests = [
        test
        for test in dict.fromkeys(test for _, _, test in sizes)
        if all((metric, model, test) in sizes for metric in metrics for model in models)
    ]
    if len(metrics) < 2 or not tests:
        return None
    tables = {
        metric: np.array([[float(np.mean(sizes[metric, model, test])) for model in models] for test in tests])
        for metric in metrics
    }
    return MetricAgreement(
        len(tests),
        tuple(_ranking(metric, models, table) for metric, table in tables.items()),
        tuple(
            _pair(first, second, tables[first], tables[second], seed)
            for place, first in enumerate(metrics)
            for second in metrics[place + 1 :]
        ),
        too_few_tests(len(tests)),
    )


def _ranking(metric: str, models: Sequence[str], table: Matrix) -> MetricRanking:
    means = table.mean(axis=0)
    order = np.argsort(-means, kind="stable")
    return MetricRanking(
        metric, tuple(models[place] for place in order), tuple(float(means[n]) for n in order)
    )


def _pair(first: str, second: str, table: Matrix, other: Matrix, seed: int) -> MetricPair:
    of_models = rank_agreement(table, other, seed) if table.shape[1] > 1 else None
    of_tests = [kendall_tau(table[:, model], other[:, model]) for model in range(table.shape[1])]
    mean = math.nan if too_few_tests(len(table)) else float(np.mean(of_tests))
    return MetricPair((first, second), of_models, mean, len(table))

"""What a seed moves: each test over a family of models that differ by their seed, checkpoint or fine-tuning."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.inference.jackknife import jackknife_variance
from weatherglass.inference.seed_share import seed_share, seeds_needed
from weatherglass.reliability.agreement.crossed import crossed_retest
from weatherglass.runs.results import Result, word_scores

PRECISION = 0.1
"""Seeds are counted that bring the mean within this, either way."""


@dataclass(frozen=True, slots=True)
class FamilyEffect:
    """One test and metric over a family: its value for every member, and what the seed moves; NaN if not estimable."""

    family: str
    test: str
    metric: str
    sets: str
    members: tuple[str, ...]
    """Models that have a value."""
    values: tuple[float, ...]
    """d, or the value of another metric, of each."""
    mean: float
    sd: float
    low: float
    """The 95 % interval of the mean over other seeds, with these words."""
    high: float
    word_variance: float
    """The squared standard error over other target words, seeds averaged."""
    attribute_variance: float
    """The same over other attribute words."""
    share: float
    """Of the variance for other seeds and target words, the seed's part."""
    share_low: float
    share_high: float
    icc: float
    """Test–retest of the words' scores over members: ICC(2,1), rows are words."""
    icc_low: float
    icc_high: float
    seeds_needed: int | None
    """For a mean within ± the stated precision."""


@dataclass(frozen=True, slots=True)
class FamilyAgreement:
    """Test–retest of a metric's values over a family: ICC(2,1), rows are tests."""

    family: str
    metric: str
    tests: int
    members: int
    icc: float
    low: float
    high: float
    note: str


@dataclass(frozen=True, slots=True)
class FamilyReport:
    """What a run shows of its families."""

    effects: tuple[FamilyEffect, ...]
    agreements: tuple[FamilyAgreement, ...]
    precision: float

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is not a number is null."""
        return {
            "precision": self.precision,
            "effects": [_plain(asdict(effect)) for effect in self.effects],
            "agreements": [_plain(asdict(agreement)) for agreement in self.agreements],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> FamilyReport:
        """The inverse of `to_json`."""
        return cls(
            tuple(FamilyEffect(**_numbers(effect)) for effect in record["effects"]),
            tuple(FamilyAgreement(**_numbers(agreement)) for agreement in record["agreements"]),
            record["precision"],
        )


def family_report(
    results: Sequence[Result], families: Mapping[str, Sequence[str]], precision: float = PRECISION
) -> FamilyReport:
    """Every test and metric of a run over every family with at least two members.

    Args:
        results: of the run.
        families: the models of each family.
        precision: how near the mean over seeds should come to that over all seeds, for `seeds_needed`.
    """
    effects = []
    for family, members in families.items():
        cells: dict[tuple[str, str, str], list[Result]] = {}
        for result in results:
            if result.model in members and not math.isnan(result.value):
                cells.setdefault((result.test, result.metric, result.sets), []).append(result)
        effects += [_effect(family, own, precision) for own in cells.values() if len(own) > 1]
    keys = dict.fromkeys((effect.family, effect.metric) for effect in effects)
    agreements = [
        _agreement([e for e in effects if (e.family, e.metric) == key], families[key[0]]) for key in keys
    ]
    return FamilyReport(tuple(effects), tuple(agreements), precision)


def _effect(family: str, results: Sequence[Result], precision: float) -> FamilyEffect:
    first = results[0]
    values = np.array([result.value for result in results])
    without = _without_each_word(results)
    targets = [table for role, table in without.items() if role[0] in "XY"]
    attributes = [table for role, table in without.items() if role[0] in "AB"]
    seeds = seed_share(values, targets)
    words = crossed_retest(_word_table(results)[None], rows="words")
    return FamilyEffect(
        family,
        first.test,
        first.metric,
        first.sets,
        tuple(result.model for result in results),
        tuple(values.tolist()),
        seeds.mean,
        seeds.sd,
        seeds.low,
        seeds.high,
        seeds.word_variance,
        sum(float(jackknife_variance(table.mean(axis=0))) for table in attributes)
        if attributes
        else math.nan,
        seeds.share,
        seeds.share_low,
        seeds.share_high,
        float(words.value[0]),
        float(words.low[0]),
        float(words.high[0]),
        seeds_needed(seeds.sd, precision),
    )


def _without_each_word(results: Sequence[Result]) -> dict[str, Matrix]:
    """By set, member × word: the value without each word that every member knows."""
    tables = [
        {(left.role, left.name): left.effect_size for left in result.trust.left_out if left.kind == "word"}
        if result.trust
        else {}
        for result in results
    ]
    common = [key for key in tables[0] if all(table.get(key) is not None for table in tables)]
    return {
        role: np.array(
            [[table[key] for key in common if key[0] == role] for table in tables], dtype=np.float64
        )
        for role in dict.fromkeys(role for role, _ in common)
    }


def _word_table(results: Sequence[Result]) -> Matrix:
    """word × member: the scores of the words that every member knows."""
    tables = [{(unit.role, unit.name): unit.score for unit in word_scores(result)} for result in results]
    common = [key for key in tables[0] if all(key in table for table in tables)]
    return np.array([[table[key] for table in tables] for key in common]).reshape(len(common), len(results))


def _agreement(effects: Sequence[FamilyEffect], members: Sequence[str]) -> FamilyAgreement:
    """Over the tests that every member has."""
    whole = [effect for effect in effects if len(effect.members) == len(members)]
    values = np.array([effect.values for effect in whole]).reshape(len(whole), len(members))
    icc = crossed_retest(values[None], rows="tests")
    return FamilyAgreement(
        effects[0].family,
        effects[0].metric,
        len(whole),
        len(members),
        float(icc.value[0]),
        float(icc.low[0]),
        float(icc.high[0]),
        icc.reason,
    )


def _numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    read = {
        name: math.nan if value is None and name != "seeds_needed" else value
        for name, value in values.items()
    }
    return {name: tuple(value) if isinstance(value, list) else value for name, value in read.items()}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in values.items()}

"""Measures in a whole run: covariances are shared, recorded, stop nothing else; a direction only where there is one."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.models import HashedEncoder
from tests.results import made_result

from weatherglass import covariances
from weatherglass.arrays import Matrix
from weatherglass.association.covariance import Covariance, estimate_covariance
from weatherglass.association.measure import STATISTICS
from weatherglass.association.statistic import PairStatistic
from weatherglass.audit import run
from weatherglass.explain import explain
from weatherglass.junit import junit
from weatherglass.report.html import kind
from weatherglass.results import Result
from weatherglass.stored import read_run


def test_a_covariance_that_cannot_be_had_stops_no_other_measure() -> None:
    wide = HashedEncoder(width=1025)
    finished = run([wide], "weat9", ["cosine/mean", "euclidean/eq2", "mahalanobis/mean"], ci="none")
    assert [result.measure for result in finished.results] == ["cosine/mean", "euclidean/eq2"]
    (failure,) = finished.failures
    assert failure.test == "weat9"
    assert "ledoit-wolf" in failure.reason


def test_each_attribute_set_is_estimated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    estimated: list[int] = []

    def counted(vectors: Matrix, estimator: str) -> Covariance:
        estimated.append(len(vectors))
        return estimate_covariance(vectors, estimator)

    monkeypatch.setattr(covariances, "estimate_covariance", counted)
    # weat1 and weat2 share both attribute sets; weat3 and weat4 share theirs, of which Pleasant is that of weat1.
    run(
        [HashedEncoder()],
        ["weat1", "weat2", "weat3", "weat4"],
        "mahalanobis/*",
        covariance="ledoit-wolf",
        ci="none",
        significance="normal",
    )
    assert estimated == [25, 25, 25]


def test_a_result_records_how_its_covariances_came_about() -> None:
    synonyms = {"impermanent": ("brief", "passing", "interim"), "stable": ("fixed",)}
    finished = run(
        [HashedEncoder(width=6)], "weat9", ["mahalanobis/mean", "cosine/mean"], synonyms=synonyms, ci="none"
    )
    whitened, plain = finished.results
    record = whitened.notes["covariance"]
    # "brief" is an attribute itself, so it counts once.
    assert (record["A"]["vectors"], record["B"]["vectors"]) == (7 + 2, 7 + 1)
    assert record["A"]["estimator"] == "glasso"
    assert record["A"]["penalty"] > 0
    assert 0 <= record["A"]["nonzero_share"] <= 1
    assert "covariance" not in plain.notes


def test_synonyms_change_mahalanobis_and_nothing_else() -> None:
    def effects(synonyms: str | None) -> dict[str, float]:
        finished = run(
            [HashedEncoder()],
            "weat9",
            ["*/mean", "*/max"],
            synonyms=synonyms,
            covariance="ledoit-wolf",
            ci="none",
            significance="normal",
        )
        return {result.measure: result.effect_size for result in finished.results}

    plain, enlarged = effects(None), effects("catalogue")
    for measure, d in plain.items():
        assert (enlarged[measure] != d) == measure.startswith("mahalanobis")
        assert math.isfinite(enlarged[measure])


def test_a_statistic_of_ones_own_without_direction_is_given_none_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in the run, and not when its folder is read where the statistic is not registered."""
    with monkeypatch.context() as registered:
        gap = PairStatistic(lambda to_a, to_b: np.abs(to_a[:, 0] - to_b[:, 0]))
        registered.setattr(STATISTICS, "_values", {**STATISTICS._values, "gap": gap})
        measures = ["cosine/mean", "cosine/gap"]
        finished = run([HashedEncoder()], "weat7", measures, folder=tmp_path, ci="none")
        assert Result.from_columns(finished.results[1].columns()).signed is False
    assert "gap" not in STATISTICS
    signed, unsigned = read_run(tmp_path).results
    assert signed.direction == finished.results[0].direction
    assert " lean to " in signed.direction
    assert finished.results[1].direction == unsigned.direction == "none: gap is unsigned"
    assert Result.from_json(finished.results[1].to_json()).direction == unsigned.direction
    assert finished.results[1].effect_size != 0
    assert [unsigned.lean, unsigned.signed] == [None, False]
    assert "positive" in kind(replace(unsigned, effect_size=-1.0))
    steps = "\n".join(explain(tmp_path, "weat7", measure="cosine/gap").steps)
    assert "s is the gap of m over A and B together; it has no direction" in steps
    assert " lean to " not in steps
    assert "gap is unsigned" in junit(finished, [])


def test_a_table_alone_does_not_tell_the_direction_of_an_unknown_statistic() -> None:
    result = made_result(measure="cosine/gap", test="weat7", model="m")
    assert Result.from_columns(result.columns()).direction == "not known: the statistic gap is not registered"
    older = {
        name: value for name, value in made_result(measure="dot/eq2").to_json().items() if name != "signed"
    }
    assert Result.from_json(older).direction == "none: eq2 is unsigned"

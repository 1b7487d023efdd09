"""Measures in a whole run: covariances are shared, recorded, and stop nothing that does not need them."""

from __future__ import annotations

import math

import pytest
from tests.models import HashedEncoder

from weatherglass import covariances
from weatherglass.arrays import Matrix
from weatherglass.association.covariance import Covariance, estimate_covariance
from weatherglass.audit import run


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

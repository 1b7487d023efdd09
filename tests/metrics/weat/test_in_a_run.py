"""Measures in a whole run: covariances are shared, recorded, stop nothing else; a direction only where there is one."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming
from tests.metrics.weat.own_measures import chebyshev, midrange, uncorrelated
from tests.models import HashedEncoder

from weatherglass.api.audits import run
from weatherglass.arrays import AnyMatrix, Matrix
from weatherglass.audit import covariances
from weatherglass.audit.explain import explain
from weatherglass.audit.registrations import Registration
from weatherglass.audit.results import NO_DIRECTION, Result
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_test
from weatherglass.errors import ClusterError, UnitError, WeatherglassError
from weatherglass.gate.junit import junit
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS
from weatherglass.metrics.weat.covariance import ESTIMATORS, Covariance, estimate_covariance
from weatherglass.metrics.weat.scores import COSINE, PairStatistic, SetStatistic, Similarity
from weatherglass.registry import Registry


def test_a_covariance_that_cannot_be_had_stops_no_other_measure() -> None:
    wide = HashedEncoder(width=1025)
    finished = run([wide], "weat9", ["cosine/mean", "euclidean/eq2", "mahalanobis/mean"], trust="none")
    assert [result.metric for result in finished.results] == ["cosine/mean", "euclidean/eq2"]
    (failure,) = finished.failures
    assert failure.test == "weat9"
    assert "ledoit-wolf" in failure.reason


class Minute(HashedEncoder):
    """Makes the vectors of some texts so small that their squares are 0, and with them their covariance."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(width=6)
        self._texts = set(texts)

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        scales = [1e-200 if text in self._texts else 1.0 for text in texts]
        return np.asarray(super().encode(texts) * np.array(scales)[:, None])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_singular_covariance_fails_only_what_needs_it(jobs: int) -> None:
    encoder = Minute(load_test("weat9").attributes[0].texts)
    finished = run(
        [encoder],
        ["weat8", "weat9"],
        ["cosine/mean", "mahalanobis/mean"],
        covariance="ledoit-wolf",
        trust="none",
        significance="normal",
        jobs=jobs,
    )
    assert [(result.test, result.metric) for result in finished.results] == [
        ("weat8", "cosine/mean"),
        ("weat8", "mahalanobis/mean"),
        ("weat9", "cosine/mean"),
    ]
    (failure,) = finished.failures
    assert failure.test == "weat9"
    assert mentions(failure.reason, "mahalanobis", "ledoit-wolf", "positive definite", 7, "Temporary")
    assert finished.record["status"] == "incomplete"


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), RuntimeError("lost"), ClusterError("gone")])
def test_whatever_an_estimator_raises_stops_no_other_measure(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Matrix) -> tuple[Matrix, float]:
        raise error

    monkeypatch.setitem(ESTIMATORS._registered, "failing", fail)
    finished = run(
        [HashedEncoder()], "weat9", ["cosine/mean", "mahalanobis/mean"], covariance="failing", trust="none"
    )
    assert [result.metric for result in finished.results] == ["cosine/mean"]
    (failure,) = finished.failures
    assert str(error) in failure.reason


def test_a_precision_that_cannot_be_whitened_with_stops_no_other_measure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ESTIMATORS._registered, "negative", lambda vectors: (-np.eye(vectors.shape[1]), 0.0))
    finished = run(
        [HashedEncoder()], "weat9", ["cosine/mean", "mahalanobis/mean"], covariance="negative", trust="none"
    )
    assert [result.metric for result in finished.results] == ["cosine/mean"]
    assert mentions(finished.failures[0].reason, "negative", "positive definite", 7)


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
        trust="none",
        significance="normal",
    )
    assert estimated == [25, 25, 25]


def test_a_result_records_how_its_covariances_came_about() -> None:
    synonyms = {"impermanent": ("brief", "passing", "interim"), "stable": ("fixed",)}
    finished = run(
        [HashedEncoder(width=6)],
        "weat9",
        ["mahalanobis/mean", "cosine/mean"],
        synonyms=synonyms,
        trust="none",
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
            trust="none",
            significance="normal",
        )
        return {result.metric: result.effect_size for result in finished.results}

    plain, enlarged = effects(None), effects("catalogue")
    for measure, d in plain.items():
        assert (enlarged[measure] != d) == measure.startswith("mahalanobis")
        assert math.isfinite(enlarged[measure])


@pytest.fixture
def own_names() -> Iterator[None]:
    """What a test registers is forgotten after it."""
    registries: list[Registry[Any]] = [SIMILARITIES, STATISTICS, ESTIMATORS]
    before = [dict(registry._registered) for registry in registries]
    yield
    for registry, values in zip(registries, before, strict=True):
        registry._registered = values


def own_results(jobs: int) -> list[tuple[str, float, float]]:
    finished = run(
        [HashedEncoder(width=6)],
        ["weat8", "weat9"],
        ["chebyshev/midrange", "mahalanobis/midrange", "alias/mean", "cosine/mean"],
        covariance="uncorrelated",
        trust="none",
        significance="normal",
        jobs=jobs,
    )
    assert not finished.failures
    return [(result.metric, result.effect_size, result.p_value) for result in finished.results]


@pytest.mark.usefixtures("own_names")
def test_what_a_user_registers_works_in_other_processes() -> None:
    SIMILARITIES.register("chebyshev", Similarity(chebyshev, orientation=-1))
    SIMILARITIES.register("alias", COSINE)
    STATISTICS.register("midrange", SetStatistic(midrange))
    ESTIMATORS.register("uncorrelated", uncorrelated)
    results = own_results(jobs=2)
    assert results == own_results(jobs=1)
    assert len(results) == 8
    # A copy of cosine takes the same short cut as cosine itself.
    assert [r[1:] for r in results if r[0] == "alias/mean"] == [
        r[1:] for r in results if r[0] == "cosine/mean"
    ]


@pytest.mark.usefixtures("own_names")
def test_a_lambda_is_refused_before_other_processes_start(tmp_path: Path) -> None:
    SIMILARITIES.register("chebyshev", Similarity(lambda w, a: chebyshev(w, a), orientation=-1))
    encoder = HashedEncoder()
    with pytest.raises(WeatherglassError, match=naming("similarity", "chebyshev", "jobs=1")) as refused:
        run([encoder], "weat9", "chebyshev/mean", jobs=2, folder=tmp_path / "run")
    assert "\n" not in str(refused.value)
    assert not encoder.encoded
    assert not (tmp_path / "run").exists()
    assert run([encoder], "weat9", "chebyshev/mean", trust="none").results


@pytest.mark.usefixtures("own_names")
def test_a_function_of_a_notebook_is_refused_before_other_processes_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notebook = ModuleType("__main__")  # Like that of a kernel, it comes from no file.
    exec("def midrange(rows):\n    return rows[:, 0]", notebook.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    STATISTICS.register("midrange", SetStatistic(notebook.midrange))
    with pytest.raises(WeatherglassError, match=naming("statistic", "midrange", "notebook")):
        run([HashedEncoder()], "weat9", "cosine/midrange", jobs=2)


def test_a_process_that_cannot_import_a_measure_says_so() -> None:
    """A worker on another machine may lack the module; pickle protocol 0 names it as plain text."""
    with pytest.raises(UnitError, match=naming("statistic", "mine", "absent_module")):
        Registration("statistic", "mine", b"cabsent_module\nmine\n.").register()


def test_a_statistic_of_ones_own_without_direction_is_given_none_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in the run, and not when its folder is read where the statistic is not registered."""
    with monkeypatch.context() as registered:
        gap = PairStatistic(lambda to_a, to_b: np.abs(to_a[:, 0] - to_b[:, 0]))
        registered.setattr(STATISTICS, "_registered", {**STATISTICS._registered, "gap": gap})
        measures = ["cosine/mean", "cosine/gap"]
        finished = run([HashedEncoder()], "weat7", measures, folder=tmp_path, trust="none")
    assert "gap" not in STATISTICS
    signed, unsigned = read_run(tmp_path).results
    assert signed.direction == finished.results[0].direction
    assert signed.direction == NO_DIRECTION  # without an interval there is none
    assert finished.results[1].direction == unsigned.direction
    assert unsigned.direction.startswith("none: ")
    assert mentions(unsigned.direction, "cosine/gap", "unsigned")
    assert Result.from_json(finished.results[1].to_json()).direction == unsigned.direction
    assert finished.results[1].effect_size != 0
    assert [unsigned.lean, unsigned.signed] == [None, False]
    steps = "\n".join(explain(tmp_path, "weat7", metric="cosine/gap").steps)
    scores, _, effect = steps.partition("\n3. ")[0].partition("\n2. ")
    assert mentions(scores, "gap", "no direction")
    assert not any(mentions(effect, category) for category in unsigned.categories)
    assert mentions(junit(finished, []), "cosine/gap", "unsigned")

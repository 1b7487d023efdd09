"""A multiverse in several processes: the same bits, one journal, and what becomes of interrupts and dead workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests import engines
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import Matrix
from weatherglass.errors import ClusterError, WeatherglassError
from weatherglass.metrics.weat.association import SIMILARITIES
from weatherglass.metrics.weat.scores import Similarity
from weatherglass.multiverses.specifications import ListJob

TESTS = ("weat8", "weat9", "weat10")
"""Three word lists of three topics."""
CHOICES = ("similarity", "statistic")


def chebyshev(w: Matrix, a: Matrix) -> Matrix:
    return np.asarray(np.abs(w[:, None] - a).max(axis=2))


@pytest.fixture
def own_similarity(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = {**SIMILARITIES._registered, "chebyshev": Similarity(chebyshev, orientation=-1)}
    monkeypatch.setattr(SIMILARITIES, "_registered", registered)


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> engines.Copied:
    return engines.register(monkeypatch)


class Stable(HashedEncoder):
    """An object in memory that a later call knows again."""

    def identity(self) -> str:
        return "stable"

    def notes(self) -> list[str]:
        return []


def found(models: object, tests: object = TESTS, **options: object) -> dict[str, object]:
    """What a multiverse finds, without its record."""
    multiverse = wg.multiverse(models, tests, CHOICES, **options)  # type: ignore[arg-type]
    return {"topics": multiverse.topics, "agreement": multiverse.agreement, "failures": multiverse.failures}


def names(seen: list[ListJob]) -> list[str]:
    return [unit.word_list.name for unit in seen]


@pytest.mark.usefixtures("own_similarity")
def test_several_processes_give_the_same_bits() -> None:
    """Of two objects in memory, with a similarity that the other processes have to import."""
    models = {"wide": HashedEncoder(width=30), "narrow": HashedEncoder(width=5, unknown=["Temporary"])}
    options = {"tests": TESTS[:2], "similarities": ("cosine", "chebyshev"), "statistics": ("mean", "nearest")}
    assert found(models, **options, jobs=2) == found(models, **options)


def test_the_order_in_which_lists_come_back_does_not_matter(copied: engines.Copied) -> None:
    model = HashedEncoder(unknown=["science"])
    assert found(model, scheduler=engines.NAME) == found(model)
    assert names(copied.seen) == ["weat10", "weat9", "weat8"]


def test_views_of_different_widths_reach_other_processes(copied: engines.Copied, tmp_path: Path) -> None:
    texts = list(wg.load_test("weat9").texts)
    for seed, width in enumerate((6, 8)):
        rows = np.random.default_rng(seed).normal(size=(len(texts), width)).round(4)
        lines = (f"{text} {' '.join(map(str, row))}" for text, row in zip(texts, rows.tolist(), strict=True))
        (tmp_path / f"run-{seed}.txt").write_text("\n".join(lines) + "\n")
    family = f"vectors:{tmp_path}/run-*.txt"
    several = wg.multiverse(family, "weat9", scheduler=engines.NAME)
    assert several.topics == wg.multiverse(family, "weat9").topics
    assert several.topics[0]["lists"][0]["choices"]["seed"] == ["0", "1"]
    assert len(copied.seen) == 1


class Interrupting:
    """A progress at whose second finished list the user presses Ctrl-C."""

    def __init__(self) -> None:
        self.stages: dict[str, list[int]] = {}
        """By stage: its length and how far it came."""

    def stage(self, name: str, total: int) -> None:
        self.stages[name] = [total, 0]

    def advance(self, steps: int = 1) -> None:
        current = list(self.stages.values())[-1]
        current[1] += steps
        if self.stages.get("testing hashed", [0, 0])[1] == 2:
            raise KeyboardInterrupt


def test_an_interrupt_keeps_finished_lists_and_the_same_call_computes_the_others(
    copied: engines.Copied, tmp_path: Path
) -> None:
    shown = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        found(Stable(), scheduler=engines.NAME, folder=tmp_path, progress=shown)
    assert shown.stages["testing hashed"] == [3, 2]
    assert len((tmp_path / "multiverse.jsonl").read_text().splitlines()) == 2
    assert names(copied.seen) == ["weat10", "weat9"]
    again = Stable()  # in one process: the number of processes is no part of a key
    assert found(again, folder=tmp_path) == found(Stable())
    assert set(again.encoded) == set(wg.load_test("weat8").texts)


def test_lists_whose_worker_dies_fail_alone_and_in_their_order(copied: engines.Copied) -> None:
    copied.dies_with = lambda unit: unit.word_list.name in ("weat8", "weat9")
    multiverse = wg.multiverse(HashedEncoder(), TESTS, CHOICES, scheduler=engines.NAME)
    assert [failure["list"] for failure in multiverse.failures] == ["weat8", "weat9"]
    assert {failure["reason"] for failure in multiverse.failures} == {engines.DIED}
    assert [entry["topic"] for entry in multiverse.topics] == [wg.load_test("weat10").topic]


def test_a_lost_cluster_ends_the_work_and_is_no_failure_of_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object) -> Iterator[object]:
        raise ClusterError("lost the connection to the scheduler")

    monkeypatch.setattr("weatherglass.multiverses.choices.encode_texts", lost)
    with pytest.raises(ClusterError, match="lost the connection"):
        wg.multiverse([HashedEncoder(), HashedEncoder(name="other")], "weat8")


def test_a_lambda_is_refused_before_anything_is_written(
    own_similarity: None, copied: engines.Copied, tmp_path: Path
) -> None:
    del own_similarity
    SIMILARITIES._registered["chebyshev"] = Similarity(lambda w, a: chebyshev(w, a), orientation=-1)
    folder, model = tmp_path / "out", HashedEncoder()
    for where in ({"jobs": 2}, {"scheduler": engines.NAME}):
        with pytest.raises(
            WeatherglassError, match=r"similarity 'chebyshev' cannot be sent .* or use jobs=1"
        ):
            found(model, similarities=("chebyshev",), folder=folder, **where)
    assert not [*copied.seen, *model.encoded]
    assert not folder.exists()
    assert found(model, "weat8", similarities=("chebyshev",))["topics"]

"""`python -m benchmarks.metrics` fails where a goal is missed or a value differs from WEFE's."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import metrics
from benchmarks._rows import Row
from benchmarks._wefe import cases_of
from benchmarks.metrics import WITHOUT_P
from tests.messages import mentions, naming

from weatherglass.catalogue import load_test
from weatherglass.metrics import select_metrics


def run(monkeypatch: pytest.MonkeyPatch, *rows: Row) -> None:
    """The command with these rows measured."""
    monkeypatch.setattr(metrics, "rows", lambda *_: rows)
    monkeypatch.setattr("sys.argv", ["metrics"])
    metrics.main()


def test_without_wefe_nothing_is_run_and_nothing_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["metrics"])
    metrics.main()
    assert mentions(capsys.readouterr().out, "not run", "--wefe-python")


def test_a_missed_goal_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, Row(WITHOUT_P, 1.0, "WEFE", 20.0, True), Row("rnd", 1.0, "WEFE", 2.0, True))
    with pytest.raises(SystemExit, match=naming(19.9, "goal", 20)):
        run(monkeypatch, Row(WITHOUT_P, 1.0, "WEFE", 19.9, True))


def test_a_different_value_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match=naming("rnd", "1e-06")):
        run(monkeypatch, Row("rnd", 1.0, "WEFE", 2.0, False))


def test_pairs_lose_both_words_where_one_is_unknown() -> None:
    test = load_test("weat7")
    known = {text: np.full(2, n) for n, text in enumerate(test.texts) if text != test.targets[0].texts[2]}
    (pairs, _), (sets, _) = (
        list(cases_of(select_metrics([name])[0], [test], known)) for name in ("ripa", "rnd")
    )
    assert [len(words) for words in pairs.words] == [7, 7, 8]
    assert test.targets[1].texts[2] not in pairs.words[1]
    assert [len(words) for words in sets.words] == [7, 8, 8]

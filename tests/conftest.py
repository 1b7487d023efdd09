"""What several tests share: the reference data beside the checkout, where it is present."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data; tests that need it are skipped where it is absent."""
    if not (SHARED / "reference").is_dir():
        pytest.skip("the reference data (../shared) is not here")
    return SHARED

"""What several tests share: the reference data beside the checkout, where it is present."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: the first example may compile. The same examples every time where a failure would block a landing.
settings.register_profile("weatherglass", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("weatherglass")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data; tests that need it are skipped where it is absent."""
    if not (SHARED / "reference").is_dir():
        pytest.skip("the reference data (../shared) is not here")
    return SHARED

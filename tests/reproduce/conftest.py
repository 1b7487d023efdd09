"""The made corpus of the reliability tests."""

from __future__ import annotations

from tests.reliability.conftest import text as text

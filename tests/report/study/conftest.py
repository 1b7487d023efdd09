"""The small study of the reliability tests, to be shown."""

from __future__ import annotations

from tests.reliability.conftest import study_file as study_file
from tests.reliability.conftest import text as text
from tests.reliability.conftest import undisturbed as undisturbed

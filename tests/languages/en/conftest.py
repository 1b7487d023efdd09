"""Test files as a user would write them, shared with the catalogue's tests."""

from __future__ import annotations

from tests.catalogue.conftest import write_jsonl as write_jsonl
from tests.catalogue.conftest import write_toml as write_toml

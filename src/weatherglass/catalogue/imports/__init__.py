"""Tests that others published, from their files to ours: the format is detected, nothing in a file is executed."""

from __future__ import annotations

from weatherglass.catalogue.imports.importing import Import, ImportedTest, import_tests, write_import

__all__ = ["Import", "ImportedTest", "import_tests", "write_import"]

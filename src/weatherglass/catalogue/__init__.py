"""Provide tests as data: published tests, readers and writers for the user's own tests, and importers for other
projects' files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.catalogue.imports import import_tests, write_import
    from weatherglass.catalogue.jsonl import export_test, read_jsonl
    from weatherglass.catalogue.published import list_sets, reference
    from weatherglass.catalogue.select import (
        list_tests,
        list_topics,
        load_test,
        load_tests,
        sentence_test,
        write_test,
    )
    from weatherglass.catalogue.toml_format import read_toml, to_toml

__all__ = [
    "Element",
    "ElementSet",
    "Test",
    "export_test",
    "import_tests",
    "list_sets",
    "list_tests",
    "list_topics",
    "load_test",
    "load_tests",
    "read_jsonl",
    "read_toml",
    "reference",
    "sentence_test",
    "to_toml",
    "write_import",
    "write_test",
]

_PLACES = {
    "export_test": "jsonl",
    "read_jsonl": "jsonl",
    "sentence_test": "select",
    "list_sets": "published",
    "reference": "published",
    "import_tests": "imports",
    "write_import": "imports",
    "list_tests": "select",
    "list_topics": "select",
    "load_test": "select",
    "load_tests": "select",
    "to_toml": "toml_format",
    "write_test": "select",
    "read_toml": "toml_format",
}
__getattr__, __dir__ = lazy_names(__name__, _PLACES)

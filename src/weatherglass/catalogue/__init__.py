"""The catalogue: the 46 published tests as data, and readers and writers of your own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from weatherglass.catalogue.association_test import AssociationTest, Context, Element, ElementSet

if TYPE_CHECKING:
    from weatherglass.catalogue.jsonl import export_test, read_jsonl
    from weatherglass.catalogue.published import list_sets, reference
    from weatherglass.catalogue.select import list_tests, load_test, load_tests, write_test
    from weatherglass.catalogue.sentence_level import sentence_test
    from weatherglass.catalogue.toml_format import read_toml, to_toml

__all__ = [
    "AssociationTest",
    "Context",
    "Element",
    "ElementSet",
    "export_test",
    "list_sets",
    "list_tests",
    "load_test",
    "load_tests",
    "read_jsonl",
    "read_toml",
    "reference",
    "sentence_test",
    "to_toml",
    "write_test",
]

_MODULES = {
    "export_test": "jsonl",
    "read_jsonl": "jsonl",
    "sentence_test": "sentence_level",
    "list_sets": "published",
    "reference": "published",
    "list_tests": "select",
    "load_test": "select",
    "load_tests": "select",
    "to_toml": "toml_format",
    "write_test": "select",
    "read_toml": "toml_format",
}


def __getattr__(name: str) -> Any:
    """Import a function at its first use, so that the classes alone import fast."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

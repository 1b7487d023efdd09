"""The catalogue: the 46 published tests as data, and the reading and writing of one's own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from weatherglass.catalogue.association_test import AssociationTest, Context, Element, ElementSet

if TYPE_CHECKING:
    from weatherglass.catalogue.jsonl import export_test, read_jsonl
    from weatherglass.catalogue.own_sentences import sentence_test
    from weatherglass.catalogue.published import list_sets, reference
    from weatherglass.catalogue.select import list_tests, load_test, load_tests, write_test
    from weatherglass.catalogue.toml_form import read_toml, to_toml

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

_PLACES = {
    "export_test": "jsonl",
    "read_jsonl": "jsonl",
    "sentence_test": "own_sentences",
    "list_sets": "published",
    "reference": "published",
    "list_tests": "select",
    "load_test": "select",
    "load_tests": "select",
    "to_toml": "toml_form",
    "write_test": "select",
    "read_toml": "toml_form",
}


def __getattr__(name: str) -> Any:
    """Import a function when it is first asked for, so that the nouns alone stay light."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)

"""Tests in other fields and languages: published lists beside the 46, taken by name, glob, topic or group only."""

from __future__ import annotations

from functools import cache

from weatherglass.catalogue.checks import overlaps
from weatherglass.catalogue.data import table
from weatherglass.catalogue.test import Element, ElementSet, Test

GROUP = "fields"
"""The name of the whole group: -t fields."""


@cache
def field_names() -> tuple[str, ...]:
    """Their names, in the order of fields.toml."""
    return tuple(table("fields"))


@cache
def field_test(name: str) -> Test:
    """The test of that name; it must be one of `field_names`."""
    entry = table("fields")[name]
    targets, attributes = (
        tuple(
            ElementSet(each["category"], tuple(Element(word, word) for word in each["words"]))
            for each in entry[kind]
        )
        for kind in ("targets", "attributes")
    )
    return Test(
        name,
        targets=targets,
        attributes=attributes,
        source=entry["source"],
        citation=entry["cite"],
        warnings=tuple(overlaps(targets, attributes)),
        language=entry["language"],
        topic=entry["topic"],
    )


def licence(name: str) -> str:
    """Under which the words of a test of this group may be passed on; empty for another test."""
    return str(table("fields").get(name, {}).get("licence", ""))

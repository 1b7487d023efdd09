"""Check a value against the JSON Schema of the package, strictly: a key that the schema does not list is a problem."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
KEYWORDS = {
    *("$ref", "type", "items", "properties", "patternProperties", "additionalProperties", "required"),
    "description",
}


def problems(
    value: Any, schema: Mapping[str, Any], defs: Mapping[str, Any], place: str = ""
) -> Iterator[str]:
    """Yield each place where a value is not as the schema says."""
    assert set(schema) <= KEYWORDS, f"keywords that this function does not know: {set(schema) - KEYWORDS}"
    if "$ref" in schema:
        yield from problems(value, defs[schema["$ref"].removeprefix("#/$defs/")], defs, place)
        return
    types = schema.get("type", list(TYPES))
    types = [types] if isinstance(types, str) else types
    if not any(_is(value, name) for name in types):
        yield f"{place}: {value!r:.60} is not of type {types}"
        return
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), defs, f"{place}[{number}]")
    if not isinstance(value, dict) or not {"properties", "patternProperties", "additionalProperties"} & set(
        schema
    ):
        return
    for key in schema.get("required", []):
        if key not in value:
            yield f"{place}: '{key}' is missing"
    for key, item in value.items():
        own = schema.get("properties", {}).get(key)
        patterns = schema.get("patternProperties", {})
        own = next((sub for pattern, sub in patterns.items() if re.search(pattern, key)), own)
        own = schema.get("additionalProperties") if own is None else own
        if own is None:
            yield f"{place}: '{key}' is not in the schema"
        else:
            yield from problems(item, own, defs, f"{place}.{key}")


def _is(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean") == isinstance(value, bool)

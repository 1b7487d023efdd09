"""Markdown from tables and templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from weatherglass.errors import WeatherglassError


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    """Return a table; with `numbers`, all columns but the first are aligned to the right."""
    ruler = "|---|" + ("---:|" if numbers else "---|") * (len(header) - 1)
    lines = ["| " + " | ".join(header) + " |", ruler]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with every {{name}} replaced.

    Raises:
        WeatherglassError: if a name has no value, or a value no place.
    """
    names = set(re.findall(r"\{\{(\w+)\}\}", template))
    if names != set(values):
        raise WeatherglassError(f"template and values differ in {', '.join(sorted(names ^ set(values)))}")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], template)

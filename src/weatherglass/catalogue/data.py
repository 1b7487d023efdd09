"""The catalogue's own data: the TOML files of this folder."""

from __future__ import annotations

from typing import Any

from weatherglass.storage.resources import shipped_toml


def table(name: str) -> dict[str, Any]:
    """The content of `name`.toml in this folder."""
    return shipped_toml(__package__, name)

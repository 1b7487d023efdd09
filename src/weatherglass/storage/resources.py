"""TOML files that are shipped inside the package, each read once, at its first use."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def shipped_toml(package: str, name: str) -> dict[str, Any]:
    """The content of `name`.toml in the folder of `package`."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))

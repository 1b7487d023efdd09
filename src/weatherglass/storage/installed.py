"""Find out how this copy of weatherglass was installed, and which command adds an extra from the same source."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

from weatherglass.errors import MissingExtraError


def installed_version(package: str) -> str | None:
    """Return the version of a package, or None, without parsing all metadata as `importlib.metadata.version` does."""
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return None
    metadata = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    line = re.search(r"^Version: *(\S+)", metadata, re.MULTILINE)
    return line[1] if line else None


def missing_packages(packages: Sequence[str]) -> list[str]:
    """Return the packages that are not installed, without importing the others."""
    return [package for package in packages if find_spec(package) is None]


def require(what: str, packages: Sequence[str], extra: str) -> None:
    """Check that all `packages` are installed.

    Raises:
        MissingExtraError: if packages are missing; the message names them and the command that installs them.
    """
    if missing := missing_packages(packages):
        raise MissingExtraError(f"'{what}' needs {' and '.join(missing)}; run: {install_command(extra)}")


def install_command(extra: str) -> str:
    """Return the command that installs an extra, or the base install if `extra` is empty.

    For a copy from a folder, a wheel or a repository, the command names that source, since a package index may have
    another version.
    """
    brackets = f"[{extra}]" if extra else ""
    origin = installed_from()
    if origin is None:
        return f"pip install 'weatherglass{brackets}'" if extra else "pip install weatherglass"
    url = str(origin["url"])
    if "dir_info" in origin and url.startswith("file://"):
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f"pip install {editable}'{unquote(urlsplit(url).path)}{brackets}'"
    if "vcs_info" in origin:
        revision = origin["vcs_info"].get("commit_id")
        url = f"{origin['vcs_info']['vcs']}+{url}" + (f"@{revision}" if revision else "")
    return f"pip install 'weatherglass{brackets} @ {url}'"


def installed_from() -> dict[str, Any] | None:
    """Return the record of a direct install (PEP 610); None for a copy from an index, or if nothing is installed."""
    try:
        text = distribution("weatherglass").read_text("direct_url.json")
        origin = json.loads(text) if text else None
    except (PackageNotFoundError, ValueError):
        return None
    return origin if isinstance(origin, dict) and "url" in origin else None

"""Shared by all pages: the template environment, the head with its security policy, logo, colours, theme."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def template_environment(package: str, folder: str) -> Environment:
    """Jinja with the templates of a folder and the shared ones; text is escaped, an undefined name is an error."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package, folder), PackageLoader("weatherglass.report", "shell")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def shared_asset(name: str) -> str:
    """The text of a shared file."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def script_hash(script: str) -> str:
    """The source that a content security policy allows: this script, to the letter, and no other.

    >>> script_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

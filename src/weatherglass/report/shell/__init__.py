"""Shared by all pages: the template environment, the head with its security policy, the logo, the base style."""

from __future__ import annotations

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

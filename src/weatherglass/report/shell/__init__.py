"""What all pages share: how their templates are filled in, the head with its security policy, the mark, the type."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def template_environment(package: str, folder: str) -> Environment:
    """The templates of a folder, and those here; every text is escaped, and a name that is not given is an error."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package, folder), PackageLoader("weatherglass.report", "shell")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

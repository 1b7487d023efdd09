"""Render every page from one kit, which provides the head with its security policy, marks, colours, script and
downloads.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from weatherglass import __version__
from weatherglass.catalogue.names import capitalised, model_name, shortened_name, topic_name
from weatherglass.report import numbers

if TYPE_CHECKING:
    from jinja2 import Environment


JSON: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
"""An encoder for compact JSON, in which NaN is an error."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def render(
    package: str,
    template: str,
    values: Mapping[str, Any],
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    filters: Mapping[str, Callable[..., Any]] | None = None,
) -> str:
    """Return a page as one file that opens from the disk and fetches nothing.

    Args:
        package: the package whose folder `templates` has the template, styles and scripts of the page.
        template: the name of a template that extends kit.html.
        values: the values that the template shows; every text is escaped.
        styles: further styles of the page.
        scripts: further scripts of the page, in one function with kit.js, so that no other script sees their names.
        filters: further filters of the page.
    """
    kit, own = files(__package__), files(package).joinpath("templates")
    parts = [kit.joinpath("kit.js"), *map(own.joinpath, scripts)]
    body = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    script = f'\n(async () => {{\n"use strict";\n{body}\nreveal();\nstops();\n}})();\n'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    sheets = [kit.joinpath("kit.css"), *map(own.joinpath, styles)]
    jinja = environment(package)
    jinja.filters |= filters or {}
    html: str = jinja.get_template(template).render(
        values,
        version=__version__,
        styles="\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets),
        script=script,
        script_hash=f"sha256-{digest}",  # the security policy allows this script and no other
    )
    return html


@cache
def environment(package: str) -> Environment:
    """Return the Jinja environment of a package and the kit, which escapes text and treats an undefined name as an
    error.

    The environment is cached, since compiling templates takes ten times as long as filling them.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("weatherglass.report", "kit")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=without_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "effect": numbers.effect,
        "p": numbers.p_value,
        "capitalised": capitalised,
        "shortened": shortened_name,
        "topic": topic_name,
        "model": model_name,
        "breakable": breakable,
    }
    made.globals |= {"interval": numbers.interval}
    made.policies["json.dumps_kwargs"] = JSON
    return made


def in_json(value: object) -> str:
    """Return a value as compact JSON; NaN is an error."""
    return json.dumps(value, **JSON)


def compress(text: str) -> str:
    """Return a text as gzip in base64, which kit.js unpacks; the same text gives the same bytes."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=5, mtime=0)).decode()


def breakable(name: str) -> Any:
    """Return an escaped name that may be wrapped after _ / ? & and :."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in re.split(r"(?<=[_/?&:])", name))


def without_controls(value: object) -> object:
    """Return a template value with control characters escaped, since names may come from any file.

    >>> without_controls("a\\x1b[2J")
    'a\\\\x1b[2J'
    """
    if not isinstance(value, str) or not _CONTROL.search(value):
        return value
    return type(value)(_CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), value))

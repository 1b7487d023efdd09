"""The fields of Settings as options of a command, so that an option is written once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from weatherglass.audit.settings import Settings
from weatherglass.errors import WeatherglassError

if TYPE_CHECKING:
    from weatherglass.inference.significance.base import Budget

DEFAULT_BUDGET = "2s,1GB"
NUMBER = r"(\d{0,12}\.?\d{1,12})"
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
TYPES = {"int": int, "float": float, "int | None": int | None, "float | None": float | None}
"""Of the fields that hold numbers; the others are text."""

HOW_P, MARKS, BESIDE, COVARIANCE = (
    "How p is computed",
    "Marks and correction",
    "What stands beside d",
    "Covariance of mahalanobis",
)
GROUPS = {
    **dict.fromkeys(("significance", "alternative", "permute", "ddof", "seed", "precision", "budget"), HOW_P),
    **dict.fromkeys(("alpha", "smallest", "correction", "family"), MARKS),
    **dict.fromkeys(("ci", "trust", "profile"), BESIDE),
    **dict.fromkeys(("covariance", "synonyms"), COVARIANCE),
}
"""In which group of the help a setting stands."""


def takes_settings(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for every setting; it is called with `settings`, built and checked."""
    names = [f.name for f in fields(Settings)]

    @wraps(command)
    def called(context: typer.Context, **given: Any) -> None:
        chosen = {name: given.pop(name) for name in names}
        chosen["budget"] = parse_budget(chosen["budget"])
        from weatherglass.audit.profile import chosen_settings

        # A profile brings defaults of its own, so it has to be known which options were given.
        stated = {name: value for name, value in chosen.items() if _is_stated(context, name)}
        command(context=context, settings=chosen_settings(None, stated), **given)

    own = [p for p in signature(command, eval_str=True).parameters.values() if p.name != "settings"]
    parameters = [*(p.replace(kind=Parameter.KEYWORD_ONLY) for p in own), *map(_option, fields(Settings))]
    changed = cast(Any, called)
    changed.__signature__ = Signature(parameters)
    changed.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _is_stated(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _option(field: Field[Any]) -> Parameter:
    shown = dict(field.metadata)
    text = shown.pop("help")
    kind: Any = TYPES.get(str(field.type)) or (str | None if field.default is None else str)
    default = DEFAULT_BUDGET if field.default is MISSING else field.default
    group = GROUPS.get(field.name)
    annotation = Annotated[kind, typer.Option(help=text, rich_help_panel=group, **shown)]
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def parse_budget(text: str) -> Budget:
    """`2s,1GB` as seconds and bytes.

    >>> parse_budget("0.5s,300MB")
    Budget(seconds=0.5, bytes=300000000)

    Raises:
        WeatherglassError: for any other text.
    """
    from weatherglass.inference.significance.base import Budget

    match = re.fullmatch(rf"\s*{NUMBER}\s*s?\s*,\s*{NUMBER}\s*([KMG]?)B?\s*", text, re.IGNORECASE)
    if match is None:
        raise WeatherglassError(f"budget '{text}' should be seconds,memory, such as 2s,1GB")
    return Budget(float(match[1]), int(float(match[2]) * UNITS[match[3].upper()]))

"""Reproduce published papers; each paper has a folder or a file with its procedure and its published numbers."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from weatherglass.errors import WeatherglassError


def specs_by_name(entries: Iterable[str], example: str) -> dict[str, str]:
    """Return specs by name from entries such as `glove=vectors:glove.txt`; `example` is shown in the error if an entry
    is wrong.

    Raises:
        WeatherglassError: if an entry has no name or no spec, or two entries have the same name.
    """
    specs: dict[str, str] = {}
    for entry in entries:
        name, _, spec = entry.partition("=")
        if not name or not spec:
            raise WeatherglassError(f"model '{entry}' should have the form NAME=SPEC, such as {example}")
        if name in specs:
            raise WeatherglassError(f"model '{name}' is given twice")
        specs[name] = spec
    return specs


def model_options(specs: Mapping[str, str]) -> list[str]:
    """Return the command-line option for each model, quoted for a shell.

    >>> model_options({"gpt": "gpt", "elmo": "elmo:FOLDER?pooling=max&layers=concat"})
    ['--model gpt=gpt', "--model 'elmo=elmo:FOLDER?pooling=max&layers=concat'"]
    """
    return [f"--model {shlex.quote(f'{name}={spec}')}" for name, spec in specs.items()]

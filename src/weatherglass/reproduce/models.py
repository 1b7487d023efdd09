"""The models of a paper as the command line names them."""

from __future__ import annotations

from collections.abc import Iterable

from weatherglass.errors import WeatherglassError


def specs_by_name(entries: Iterable[str], example: str) -> dict[str, str]:
    """Entries such as `glove=vectors:glove.txt` as specs by name; `example` is one that is right.

    Raises:
        WeatherglassError: for an entry without a name or a spec, or a name twice.
    """
    specs: dict[str, str] = {}
    for entry in entries:
        name, _, spec = entry.partition("=")
        if not name or not spec:
            raise WeatherglassError(f"model '{entry}' should read NAME=SPEC, such as {example}")
        if name in specs:
            raise WeatherglassError(f"model '{name}' is given twice")
        specs[name] = spec
    return specs

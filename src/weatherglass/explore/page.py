"""Make the page of `weatherglass explore`, and what it copies: a test file, Python, a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from weatherglass.catalogue import list_tests
from weatherglass.catalogue.toml_format import to_toml
from weatherglass.errors import WeatherglassError
from weatherglass.explore.engine import ROLES, Engine, State, start_state
from weatherglass.report.kit import render

SCRIPTS = ("explore.js", "strip.js", "start.js")
FILE = "my-test.toml"
"""The name of the test file in the copied command."""


def page(engine: Engine, start: Mapping[str, Any]) -> str:
    """Return the page, which shows a state first and asks the server for every other."""
    values = {"about": engine.about(), "start": dict(start), "connect": "'self'"}
    return render(__package__, "explore.html", values, styles=["explore.css"], scripts=SCRIPTS)


def catalogue_state(name: str) -> dict[str, Any]:
    """Return the state of a test of the catalogue; a name from the page never names a file.

    Raises:
        WeatherglassError: if the catalogue has no test of this name.
    """
    if name not in list_tests():
        raise WeatherglassError("the catalogue has no test of this name")
    return start_state(name)


def copies_of(engine: Engine, given: Mapping[str, Any]) -> dict[str, str]:
    """Return a state as a test file, as Python and as a command."""
    state = State.from_json(given)
    specs = [engine.models[place].planned.name for place in state.models if place < len(engine.models)]
    sets = ",\n".join(
        f"    {role}={{{state.sets[role][0]!r}: {list(state.sets[role][1])!r}}}" for role in ROLES
    )
    models = repr(specs[0] if len(specs) == 1 else specs)
    python = (
        "import weatherglass as wg\n\n"
        f"test = wg.test(\n{sets},\n    name='explored',\n    topic={state.topic!r},\n)\n"
        f"run = wg.run({models}, [test], {state.metric!r})\nprint(run)\n"
    )
    metric = [] if state.metric == "cosine/mean" else ["--metric", state.metric]
    command = shlex.join(["weatherglass", "run", *specs, "-t", FILE, *metric])
    return {"file": to_toml(state.test()), "python": python, "command": command, "name": FILE}

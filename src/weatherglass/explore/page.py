"""Make the page of `weatherglass explore`, and the texts that it copies: a test file, Python code and a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from weatherglass.catalogue.toml_format import to_toml
from weatherglass.explore.engine import Engine
from weatherglass.explore.state import ROLES, SENTENCES, State
from weatherglass.ranking.texts import group_names
from weatherglass.report.kit import compress, in_json, render

SCRIPTS = tuple(
    f"{name}.js" for name in ("ask", "state", "boxes", "strip", "result", "single", "panels", "keep", "start")
)
FILE = "my-test.toml"
"""The name of the test file in the copied command."""


def page(
    engine: Engine,
    start: Mapping[str, Any],
    transport: str = "server",
    stored: Mapping[str, Any] | None = None,
) -> str:
    """Return the page, which shows a first state and requests all others.

    Args:
        engine: the models.
        start: the first state.
        transport: who answers: a server, a widget of a notebook, or the states that are stored in the page.
        stored: these states by test.
    """
    about = {**engine.about(), "groups": group_names(), "transport": transport}
    if stored is not None:
        about["tests"] = [test for test in about["tests"] if test["name"] in stored]
    values = {
        "about": about,
        "start": dict(start),
        "stored": compress(in_json(stored)) if stored is not None else "",
    }
    if transport == "server":
        values["connect"] = "'self'"
    return render(__package__, "explore.html", values, styles=["explore.css"], scripts=SCRIPTS)


def copies_of(engine: Engine, given: Mapping[str, Any]) -> dict[str, str]:
    """Return a state as a test file, as Python and as a command."""
    state = State.from_json(given)
    chosen = [engine.model(place).planned for place in state.models]
    specs = [model.spelling or model.name for model in chosen]
    sets = ",\n".join(
        f"    {role}={{{state.sets[role][0]!r}: {list(state.sets[role][1])!r}}}" for role in ROLES
    )
    sentences = "test = test.sentences()\n" if state.context == SENTENCES else ""
    models = repr(specs[0] if len(specs) == 1 else specs)
    python = (
        "import weatherglass as wg\n\n"
        f"test = wg.test(\n{sets},\n    name='explored',\n    topic={state.topic!r},\n)\n"
        f"{sentences}run = wg.run({models}, [test], {state.metric!r})\nprint(run)\n"
    )
    metric = [] if state.metric == "cosine/mean" else ["--metric", state.metric]
    command = shlex.join(["weatherglass", "run", *specs, "-t", FILE, *metric])
    return {"file": to_toml(state.test()), "python": python, "command": command, "name": FILE}

"""List the questions that a page may ask, whether a server, a notebook or the export of a page answers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weatherglass.explore.engine import Engine
from weatherglass.explore.page import copies_of
from weatherglass.explore.panels import multiverse_of, ranking_of, state_of_file
from weatherglass.explore.state import LONGEST_TEXT, catalogue_state, checked_text

Answer = Callable[[Mapping[str, Any]], Any]


def answers(engine: Engine) -> dict[str, Answer]:
    """Return the function that answers each question, by its name."""

    def suggest(given: Mapping[str, Any]) -> Any:
        prefix = checked_text(given.get("prefix"), "prefix", LONGEST_TEXT)
        return {"words": engine.suggest(prefix, given.get("model", 0))}

    def neighbours(given: Mapping[str, Any]) -> Any:
        return engine.neighbours(checked_text(given.get("word"), "word"), given.get("model", 0))

    return {
        "state": engine.answer,
        "suggest": suggest,
        "neighbours": neighbours,
        "progress": lambda _: engine.progress(),
        "test": lambda given: catalogue_state(checked_text(given.get("name"), "name")),
        "file": state_of_file,
        "copies": lambda given: copies_of(engine, given),
        "ranking": lambda given: ranking_of(engine, given),
        "multiverse": lambda given: multiverse_of(engine, given),
    }

"""Write the page as one file with precomputed states: tests, each with all words and without each word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weatherglass.catalogue import list_tests, load_test
from weatherglass.errors import output_error
from weatherglass.explore.engine import Engine
from weatherglass.explore.page import page
from weatherglass.explore.state import ROLES, catalogue_state, start_state
from weatherglass.progress import Progress, Silent
from weatherglass.report.kit import in_json
from weatherglass.storage.atomic import write_whole


def exported_tests() -> list[str]:
    """Return the catalogue tests that the page shows: those with four word sets."""
    tests = (load_test(name) for name in list_tests())
    return [test.name for test in tests if test.context == "word" and test.shape == (2, 2)]


def export(
    engine: Engine, path: Path, tests: Sequence[str] = (), progress: Progress | None = None
) -> dict[str, Any]:
    """Write a page that needs no program, and return its states.

    The numbers are those of the page that `weatherglass explore` serves; p without a word may be certified bounds.

    Args:
        engine: the models.
        path: the file to write.
        tests: catalogue tests or test files; by default, all catalogue tests with four word sets.
        progress: an object notified of each state.

    Raises:
        WeatherglassError: if a test cannot be explored, or the file cannot be written.
    """
    shown = progress or Silent()
    catalogue = list_tests()
    states = {
        name: catalogue_state(name) if name in catalogue else start_state(name)
        for name in tests or exported_tests()
    }
    shown.stage("computing states", sum(1 + len(_words(state)) for state in states.values()))
    stored = {name: _states(engine, state, shown) for name, state in states.items()}
    first = next(iter(states))
    start = {**states[first], "models": list(range(len(engine.models))), "test": first}
    try:
        write_whole(path, page(engine, start, "stored", stored))
    except OSError as error:
        raise output_error(path, error) from error
    return stored


def _states(engine: Engine, state: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return the answers for all words of a test, and without each of them."""
    asked = {**state, "models": list(range(len(engine.models)))}
    whole = engine.answer(asked)["answers"]
    progress.advance()
    without = {}
    for role, word in _words(state):
        sets = {**state["sets"]}
        sets[role] = {
            **sets[role],
            "words": [each for each in sets[role]["words"] if each != word],
        }
        place = [word] if role in "XY" else []
        # The page finds an answer by role and word, as its script writes them.
        without[in_json([role, word])] = engine.answer(
            {**asked, "sets": sets, "place": place, "quick": True}
        )["answers"]
        progress.advance()
    return {"sets": state["sets"], "whole": whole, "without": without}


def _words(state: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(role, word) for role in ROLES for word in state["sets"][role]["words"]]

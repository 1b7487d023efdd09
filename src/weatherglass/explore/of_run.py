"""Find the models and the test that a run used, so that they can be explored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass.catalogue import list_tests, load_test
from weatherglass.explore.state import MOST_MODELS, ROLES
from weatherglass.mitigation import read_model


def specs_of(record: Mapping[str, Any], others: Sequence[str] = ()) -> list[str]:
    """Return the models of a run as specs, with their names.

    A record has the name of a model that was named (NAME=SPEC), and the command or the arguments have its spec.

    Args:
        record: the record of the run.
        others: models that the user gives; NAME=SPEC replaces the model of that name, and others follow.
    """
    known = {name: text for text in _texts(record) if (name := read_model(text).name)}
    given = {read_model(text).name or text: text for text in others}
    names = list(dict.fromkeys(each["model"] for each in record["models"]))
    specs = [given.pop(name, known.get(name, name)) for name in names]
    return [*specs, *given.values()][: MOST_MODELS + 1]


def test_of(record: Mapping[str, Any]) -> str:
    """Return the name of the first test of a run that the page can show; weat6 if there is none."""
    catalogue = list_tests()
    for name in record.get("tests", ()):
        if name in catalogue and (test := load_test(name)).context == "word" and len(test.sets) == len(ROLES):
            return str(name)
    return "weat6"


def _texts(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts that name models in the command or the arguments of a run."""
    given = record.get("command") or (record.get("arguments") or {}).get("models") or ()
    if isinstance(given, Mapping):
        yield from (f"{name}={spec}" for name, spec in given.items())
    elif isinstance(given, str):
        yield given
    else:
        yield from (each for each in given if isinstance(each, str))

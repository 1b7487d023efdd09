"""Describe and check a request of the page: words of four sets, a metric, models and further words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weatherglass.catalogue import list_tests, load_tests
from weatherglass.catalogue.from_words import make_test
from weatherglass.catalogue.names import set_name
from weatherglass.catalogue.test import Test
from weatherglass.errors import WeatherglassError
from weatherglass.metrics import DEFAULT_METRIC
from weatherglass.registry import one_of

ROLES = ("X", "Y", "A", "B")
WORD, SENTENCES = CONTEXTS = ("word", "sentences")
MOST_WORDS = 200
"""Largest number of words in one set."""
LONGEST_TEXT = 400
MOST_MODELS = 4
MOST_PLACED = 40


@dataclass(frozen=True, slots=True)
class State:
    """What the page asks for."""

    sets: Mapping[str, tuple[str, tuple[str, ...]]]
    """By role, the name of the set and its words."""
    metric: str = DEFAULT_METRIC
    models: tuple[int, ...] = (0,)
    place: tuple[str, ...] = ()
    """Further words to place on the axis."""
    context: str = WORD
    """Whether the words are encoded alone or in the sentences of their language."""
    quick: bool = False
    """Whether certified bounds of p are enough if counting takes long."""

    @classmethod
    def from_json(cls, given: Any) -> State:
        """Return the state of a request.

        Raises:
            WeatherglassError: if the request is not a state.
        """
        if not isinstance(given, dict) or not isinstance(given.get("sets"), dict):
            raise WeatherglassError("a state has sets: X, Y, A and B, each with a name and words")
        sets = {}
        for role in ROLES:
            one = given["sets"].get(role)
            if not isinstance(one, dict):
                raise WeatherglassError(f"set {role} is missing")
            sets[role] = (
                checked_text(one.get("name") or role, f"the name of {role}"),
                checked_words(one.get("words"), role),
            )
        models = given.get("models", [0])
        if not isinstance(models, list) or not all(type(place) is int and place >= 0 for place in models):
            raise WeatherglassError("models should be a list of places in the list of models")
        if not 1 <= len(models) <= MOST_MODELS:
            raise WeatherglassError(f"choose 1 to {MOST_MODELS} models")
        return cls(
            sets,
            checked_text(given.get("metric") or DEFAULT_METRIC, "metric"),
            tuple(dict.fromkeys(models)),
            checked_words(given.get("place", []), "place")[:MOST_PLACED],
            one_of("context", checked_text(given.get("context", WORD), "context"), CONTEXTS),
            given.get("quick") is True,
        )

    def test(self) -> Test:
        """Return the test of these words, in sentences if these are asked for.

        Raises:
            CatalogueError: if a set is empty.
        """
        named: dict[str, Any] = {role: {name: list(words)} for role, (name, words) in self.sets.items()}
        return self.in_context(make_test(**named, name="explored", topic=self.topic))

    def in_context(self, test: Test) -> Test:
        """Return a test of single words, or its sentences."""
        return test.sentences() if self.context == SENTENCES else test

    @property
    def topic(self) -> str:
        """Return the subject of the words, which the sentence names."""
        return " and ".join(set_name(self.sets[role][0]) for role in "XY")


def checked_text(given: object, what: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text without spaces around it.

    Raises:
        WeatherglassError: if it is empty, too long, or contains half a character.
    """
    if not isinstance(given, str) or not given.strip() or len(given) > longest:
        raise WeatherglassError(f"{what} should be text of 1 to {longest} characters")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise WeatherglassError(f"{what} contains half a character") from None
    return given.strip()


def checked_words(given: object, what: str) -> tuple[str, ...]:
    """Return the words of a list, each once.

    Raises:
        WeatherglassError: if it is not a list of words.
    """
    if not isinstance(given, list) or len(given) > MOST_WORDS:
        raise WeatherglassError(f"{what} should be a list of at most {MOST_WORDS} words")
    return tuple(dict.fromkeys(checked_text(word, f"a word of {what}") for word in given))


def start_state(test: str | Test) -> dict[str, Any]:
    """Return the state of a test: a name of the catalogue, a file, or a test.

    Raises:
        WeatherglassError: if the test does not have four word sets.
    """
    if isinstance(test, str):
        found = load_tests([test])
        if len(found) != 1:
            raise WeatherglassError(f"'{test}' matches {len(found)} tests; name one of them")
        test = found[0]
    if test.shape != (2, 2):
        raise WeatherglassError(
            f"{test.name} has {test.shape[0]} target and {test.shape[1]} attribute sets; "
            "explore needs 2 and 2"
        )
    if test.context != "word":
        raise WeatherglassError(f"{test.name} is a test of sentences; explore takes tests of words")
    sets = {
        role: {"name": set_name(one.category), "words": list(dict.fromkeys(one.texts))}
        for role, one in zip(ROLES, test.sets, strict=True)
    }
    return {"sets": sets, "metric": DEFAULT_METRIC, "models": [0], "place": [], "context": WORD}


def catalogue_state(name: str) -> dict[str, Any]:
    """Return the state of a test of the catalogue; a name from the page never names a file.

    Raises:
        WeatherglassError: if the catalogue has no test of this name.
    """
    if name not in list_tests():
        raise WeatherglassError("the catalogue has no test of this name")
    return start_state(name)

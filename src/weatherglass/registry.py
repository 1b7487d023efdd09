"""Define registries, which map names to "module:attribute" and import at first use, and check arguments."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from weatherglass.errors import UnknownNameError, WeatherglassError

PLAIN_NAMES = {"NoneType": "None", "str": "text", "bytes": "bytes", "ndarray": "an array"}
"""Names of types in messages."""
LONGEST_SHOWN = 100
"""The number of characters of a value that a message shows."""

T = TypeVar("T")
C = TypeVar("C", bound=str)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'hf'?" if a known name is similar, else an empty string."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(str(name).casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean '{by_folded[near[0]]}'?" if near else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of the message for an unknown name: the nearest known name and a list of all names."""
    known = list(known)
    return f"{did_you_mean(name, known)} (known: {', '.join(known)})"


def one_of(noun: str, name: str, known: Sequence[C]) -> C:
    """Return `name` if it is known.

    Raises:
        UnknownNameError: if the name is unknown; the message suggests the nearest known name.
    """
    for candidate in known:
        if isinstance(name, str) and candidate == name:
            return candidate
    raise unknown(noun, name, known)


def unknown(noun: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Return the error for an unknown name, which suggests the nearest known name."""
    return UnknownNameError(f"unknown {noun} '{shown(name)}'{suggestion(name, known)}")


def shown(value: object) -> str:
    """Return a value for a message: on one line, printable and short."""
    text = " ".join(str(value).split())
    text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def checked_text(name: str, value: Any) -> str:
    """Return the text given as the argument `name`.

    Raises:
        WeatherglassError: if it is not text.
    """
    if not isinstance(value, str):
        raise wrong_type(name, "text", value)
    return value


def checked_texts(name: str, value: Any) -> list[str]:
    """Return the list of texts given as the argument `name`.

    Raises:
        WeatherglassError: if it is not a list of texts.
    """
    if not isinstance(value, list | tuple):
        raise wrong_type(name, "a list of texts", value)
    for place, text in enumerate(value):
        if not isinstance(text, str):
            raise wrong_type(f"{name}[{place}]", "text", text)
    return list(value)


def checked_path(name: str, value: Any) -> Path:
    """Return the path given as the argument `name`.

    Raises:
        WeatherglassError: if it is not a valid path.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise wrong_type(name, "a path", value)
    if "\0" in path:
        raise WeatherglassError(f"{name} is {path!r}, but a path cannot contain a NUL character")
    return Path(path)


def checked_whole_number(name: str, value: Any, least: int) -> int:
    """Return the whole number (a Python or numpy integer) given as the argument `name`.

    Raises:
        WeatherglassError: if it is not a whole number, or too small.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise WeatherglassError(f"{name} is {shown(repr(value))}, but should be a whole number")
    try:
        number = int(value.__index__())
    except TypeError:  # an array has the method, but it raises
        raise WeatherglassError(f"{name} is an array, but should be a whole number") from None
    if number < least:
        raise WeatherglassError(f"{name} is {number}, but should be at least {least}")
    return number


def check_number(
    name: str,
    value: Any,
    *,
    between: tuple[float, float] | None = None,
    least: float | None = None,
    whole: bool = False,
) -> None:
    """Refuse an argument that is not a number, or is a single-precision numpy number, which could not be stored.

    Args:
        name: the argument.
        value: its value.
        between: the number must be larger than the first and smaller than the second.
        least: the smallest number that is allowed.
        whole: whether it must be a whole number.

    Raises:
        WeatherglassError: if the value does not meet these conditions.
    """
    if not isinstance(value, int if whole else float | int) or isinstance(value, bool):
        kind = "a whole number" if whole else "a number"
        raise WeatherglassError(f"{name} is {shown(repr(value))}, but should be {kind}")
    if between and not between[0] < value < between[1]:
        raise WeatherglassError(f"{name} is {value}, but should be between {between[0]} and {between[1]}")
    if least is not None and value < least:
        raise WeatherglassError(f"{name} is {value}, but should be at least {least}")


def wrong_type(name: str, expected: str, value: object) -> WeatherglassError:
    """Return the error for an argument of the wrong type."""
    return WeatherglassError(f"{name} should be {expected}, but is {described(value)}")


def described(value: object) -> str:
    """Return a short description of a value, for messages.

    >>> described("weat7"), described(7), described(None)
    ('text', 'an int', 'None')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    if name in PLAIN_NAMES:
        return PLAIN_NAMES[name]
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


class Registry(Generic[T]):
    """A table of values by name, which imports a value at its first use, so that importing the table is fast.

    Other installed packages can add values through the entry-point group; spawned processes and cluster workers then
    know them, too. `register` adds a value only to this process.
    """

    def __init__(self, noun: str, table: Mapping[str, str | T], entry_points: str | None = None) -> None:
        """Create a registry.

        Args:
            noun: what the values are, for messages.
            table: name to "module:attribute", or to the value itself.
            entry_points: the group under which other packages add names.
        """
        self.noun = noun
        self.group = entry_points
        self._table: dict[str, str | T] = dict(table)
        self._registered: dict[str, T] = {}

    @cached_property
    def _locations(self) -> dict[str, str | T]:
        """Return the locations by name, including those from other packages, which cannot replace a name of the
        table.
        """
        from importlib.metadata import entry_points

        added = entry_points(group=self.group) if self.group else ()
        return {**{point.name: point.value for point in added}, **self._table}

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return name in self._table or name in self._registered or name in self._locations

    def names(self) -> list[str]:
        """Return every known name: first those of the table, then those from other packages, then later
        registrations.
        """
        return list(dict.fromkeys([*self._table, *self._locations, *self._registered]))

    def register(self, name: str, value: T) -> None:
        """Add or replace a value in this process."""
        self._registered[name] = value

    def registered(self, names: Iterable[str]) -> dict[str, T]:
        """Return the values among `names` that were registered in this process; other processes do not have them."""
        return {name: self._registered[name] for name in names if name in self._registered}

    def get(self, name: str) -> T:
        """Return the value called `name`.

        Raises:
            UnknownNameError: if the name is unknown; the message suggests the nearest known name.
        """
        if not isinstance(name, str):
            raise unknown(self.noun, name, self.names())
        if name in self._registered:
            return self._registered[name]
        location = self._table.get(name) or self._locations.get(name)
        if location is None:
            raise unknown(self.noun, name, self.names())
        if not isinstance(location, str):
            return location
        module, _, attributes = location.partition(":")
        try:
            return cast(T, reduce(getattr, attributes.split("."), import_module(module)))
        except Exception as error:  # Importing another package's module may raise anything.
            if name in self._table:  # The caller knows which extra is missing.
                raise
            raise WeatherglassError(
                f"{self.noun} '{name}', from another package, cannot be loaded from {location} "
                f"({type(error).__name__}: {error}); update or remove that package"
            ) from error

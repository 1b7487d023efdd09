"""Registries: names that stand for "module:attribute", imported at their first use."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from importlib import import_module
from typing import Generic, TypeVar, cast

from weatherglass.errors import UnknownNameError, WeatherglassError

T = TypeVar("T")
C = TypeVar("C", bound=str)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean 'hf'?" if a known name is similar, else an empty text."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(str(name).casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean '{by_folded[near[0]]}'?" if near else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: the nearest known one, and all of them."""
    known = list(known)
    return f"{did_you_mean(name, known)} (known: {', '.join(known)})"


def one_of(noun: str, name: str, known: Sequence[C]) -> C:
    """`name`, if it is known.

    Raises:
        UnknownNameError: naming the nearest known name.
    """
    for candidate in known:
        if candidate == name:
            return candidate
    raise unknown(noun, name, known)


def unknown(noun: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for an unknown name, with the nearest known one."""
    return UnknownNameError(f"unknown {noun} '{name}'{suggestion(name, known)}")


class Registry(Generic[T]):
    """Values by name, imported lazily so that a table of heavy things stays light.

    A package that is installed beside ours adds values through the entry-point group; spawned processes and the
    workers of a cluster then know them, too. `register` adds one to this process alone.
    """

    def __init__(self, noun: str, table: Mapping[str, str], entry_points: str | None = None) -> None:
        """A table of names.

        Args:
            noun: what the values are, for messages.
            table: name to "module:attribute".
            entry_points: the group under which other packages add names.
        """
        self.noun = noun
        self.group = entry_points
        self._table: dict[str, str] = dict(table)
        self._registered: dict[str, T] = {}

    @cached_property
    def _locations(self) -> dict[str, str]:
        """Ours and those of other packages; a name of ours cannot be taken."""
        from importlib.metadata import entry_points

        added = entry_points(group=self.group) if self.group else ()
        return {**{point.name: point.value for point in added}, **self._table}

    def __contains__(self, name: object) -> bool:
        return name in self._table or name in self._registered or name in self._locations

    def names(self) -> list[str]:
        """Every known name, in the order of the table, then those of other packages and later registrations."""
        return list(dict.fromkeys([*self._table, *self._locations, *self._registered]))

    def register(self, name: str, value: T) -> None:
        """Add a value of the user's own, or replace one."""
        self._registered[name] = value

    def registered(self, names: Iterable[str]) -> dict[str, T]:
        """The values among `names` that were registered in this process; other processes do not have them."""
        return {name: self._registered[name] for name in names if name in self._registered}

    def get(self, name: str) -> T:
        """The value called `name`.

        Raises:
            UnknownNameError: naming the nearest known name.
        """
        if name in self._registered:
            return self._registered[name]
        location = self._table.get(name) or self._locations.get(name)
        if location is None:
            raise unknown(self.noun, name, self.names())
        module, _, attributes = location.partition(":")
        try:
            return cast(T, reduce(getattr, attributes.split("."), import_module(module)))
        except Exception as error:  # Importing a module of someone else's may raise anything.
            if name in self._table:  # Ours: the caller knows which extra is missing.
                raise
            raise WeatherglassError(
                f"{self.noun} '{name}' of another package cannot be loaded from {location} "
                f"({type(error).__name__}: {error})"
            ) from error

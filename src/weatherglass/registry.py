"""Registries: names that stand for "module:attribute", imported at their first use."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Generic, TypeVar, cast

from weatherglass.errors import UnknownNameError

T = TypeVar("T")
C = TypeVar("C", bound=str)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean 'hf'?" if a known name is similar, else an empty text."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
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
    """Values by name, imported lazily so that a table of heavy things stays light."""

    def __init__(self, noun: str, table: Mapping[str, str]) -> None:
        self.noun = noun
        self._locations: dict[str, str] = dict(table)
        self._registered: dict[str, T] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._locations or name in self._registered

    def names(self) -> list[str]:
        """Every known name, in the order of the table, later registrations last."""
        return list(dict.fromkeys([*self._locations, *self._registered]))

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
        if name not in self._locations:
            raise unknown(self.noun, name, self.names())
        module, _, attribute = self._locations[name].partition(":")
        return cast(T, getattr(import_module(module), attribute))

"""Tables of names: a name stands for "module:attribute" and is imported when it is first asked for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Generic, TypeVar, cast

from weatherglass.errors import UnknownNameError

T = TypeVar("T")
C = TypeVar("C", bound=str)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ "; did you mean 'hf'?" where something known is near, else nothing."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean '{by_folded[near[0]]}'?" if near else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to write after a name that is unknown: the nearest one, and all there are."""
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
    """The error for a name that nobody knows."""
    return UnknownNameError(f"unknown {noun} '{name}'{suggestion(name, known)}")


class Registry(Generic[T]):
    """Values by name, imported lazily so that a table of heavy things stays light."""

    def __init__(self, noun: str, table: Mapping[str, str]) -> None:
        self._noun = noun
        self._places: dict[str, str] = dict(table)
        self._values: dict[str, T] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._values

    def names(self) -> list[str]:
        """Every known name, in the order of the table, later registrations last."""
        return list(dict.fromkeys([*self._places, *self._values]))

    def register(self, name: str, value: T) -> None:
        """Add a value of the user's own, or replace one."""
        self._values[name] = value

    def get(self, name: str) -> T:
        """The value called `name`.

        Raises:
            UnknownNameError: naming the nearest known name.
        """
        if name not in self._values:
            if name not in self._places:
                raise unknown(self._noun, name, self.names())
            module, _, attribute = self._places[name].partition(":")
            self._values[name] = cast(T, getattr(import_module(module), attribute))
        return self._values[name]

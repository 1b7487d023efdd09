"""Examples register measures of their own; what they add must not reach tests that run in the same process later."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weatherglass.registry import Registry


@contextmanager
def registries_restored() -> Iterator[None]:
    """Whatever is registered within is forgotten afterwards, also by registries that are first imported within."""
    before = {id(registry): dict(registry._registered) for registry in _registries()}
    try:
        yield
    finally:
        for registry in _registries():
            registry._registered = before.get(id(registry), {})


def _registries() -> list[Registry[Any]]:
    # By type: isinstance asks a proxy for the class of what it stands for, which may be gone.
    return [found for found in gc.get_objects() if issubclass(type(found), Registry)]

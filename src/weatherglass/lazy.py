"""Import the public names of a package when they are first used, so that importing the package itself is fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Getattr = Callable[[str], Any]
    Dir = Callable[[], list[str]]


def lazy_names(package: str, places: Mapping[str, str]) -> tuple[Getattr, Dir]:
    """Return `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: its `__name__`.
        places: the module that defines each public name, or "module:name" if the name is different there.
    """

    def getattr_of_package(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, defined_as = places[name].partition(":")
        return getattr(import_module(f"{package}.{module}"), defined_as or name)

    def dir_of_package() -> list[str]:
        return sorted({*vars(import_module(package)), *places})

    return getattr_of_package, dir_of_package

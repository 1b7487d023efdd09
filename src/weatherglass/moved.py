"""Import paths that the documentation of version 0.1 showed and that have moved: they work for one more version.

`from weatherglass.association.measure import SIMILARITIES` imports from the new place, with a DeprecationWarning that
names it. To be deleted with version 0.3.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

MOVED = {
    "weatherglass.association.covariance": "weatherglass.metrics.weat",
    "weatherglass.association.measure": "weatherglass.metrics.weat",
    "weatherglass.association.score": "weatherglass.metrics.weat",
    "weatherglass.association.similarity": "weatherglass.metrics.weat",
    "weatherglass.association.statistic": "weatherglass.metrics.weat",
    "weatherglass.compare": "weatherglass.runs",
    "weatherglass.reliability.conduct": "weatherglass",
    "weatherglass.reliability.explain": "weatherglass.reliability.regression",
    "weatherglass.reliability.explain_tables": "weatherglass.reliability.regression",
    "weatherglass.reliability.features": "weatherglass.reliability.regression",
    "weatherglass.reliability.lexicon": "weatherglass.languages.lexicon",
}
"""Old module -> where its public names are now."""

RENAMED = {"weatherglass.reliability.conduct": {"conduct": "study"}}
"""Old module -> names that are called otherwise now."""

PACKAGES = ("weatherglass.association",)
"""Folders that are gone altogether; they have to be importable for the modules below them to be."""


class MovedModules:
    """Finds the old modules; asked last, so that it costs nothing where a module exists."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG004
        if name not in MOVED and name not in PACKAGES:
            return None
        # Not a subclass of importlib.abc.Loader: that module is slower to import than all of this.
        return ModuleSpec(name, _Loader(), is_package=name in PACKAGES)  # type: ignore[arg-type]


class _Loader:
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002 - the import system gives it
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Warn, and let the names be looked up in the new place."""
        old = module.__name__
        if old in PACKAGES:
            return
        new, renamed = MOVED[old], RENAMED.get(old, {})
        as_now = "".join(f" ({before} is called {now})" for before, now in renamed.items())
        import warnings

        # Frames of the import system do not count: level 2 is the line that imports.
        warnings.warn(
            f"{old} has moved: import its names from {new}{as_now}; the old path goes with version 0.3",
            DeprecationWarning,
            stacklevel=2,
        )

        def getattr_of_module(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(f"module {old!r} has no attribute {name!r}")
            return getattr(import_module(new), renamed.get(name, name))

        module.__getattr__ = getattr_of_module  # type: ignore[method-assign]


def install() -> None:
    """Make the old paths importable in this process."""
    if MovedModules not in sys.meta_path:
        sys.meta_path.append(MovedModules)

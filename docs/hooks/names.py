"""The public names of a package as directives of mkdocstrings: what is public is what `__all__` lists."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

VALUES = {
    "weatherglass.reliability.RULES": "The scoring rules by name; `register(name, rule)` adds one.",
    "weatherglass.reliability.READERS": "The corpus readers by suffix; `register(suffix, reader)` adds one.",
    "weatherglass.metrics.weat.SIMILARITIES": "The similarities by name; `register(name, similarity)` adds one.",
    "weatherglass.metrics.weat.STATISTICS": "The statistics by name; `register(name, statistic)` adds one.",
    "weatherglass.metrics.weat.ESTIMATORS": "The covariance estimators by name; `register(name, function)` adds one.",
    "weatherglass.stats.permutation.ALTERNATIVES": "The names of the alternatives.",
    "weatherglass.stats.permutation.Alternative": "The type of an alternative's name.",
    "weatherglass.stats.permutation.METHODS": "The names of the ways to a p-value.",
    "weatherglass.encoders.ENCODERS": "The kinds of models by name; `register(name, class)` adds one.",
    "weatherglass.parallel.ENGINES": "Where work can be computed, by name; `register(name, function)` adds one.",
    "weatherglass.mitigation.TRANSFORMS": "The transforms by name; `register(name, class)` adds one.",
    "weatherglass.metrics.METRICS": "The families of metrics by name; `register(name, function)` adds one.",
    "weatherglass.metrics.DEFAULT_METRIC": "The metric that a run uses unless others are named.",
}
"""Values and types, which have no docstring of their own."""


def public_names(module: ModuleType) -> list[str]:
    """What `__all__` lists; of a module without it, the classes that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    defined = inspect.getmembers_static(module, inspect.isclass)
    return [
        name for name, value in defined if value.__module__ == module.__name__ and not name.startswith("_")
    ]


def reference(package: str) -> str:
    """A section for each public name of a package; one that is the same in `weatherglass` is described there."""
    return "\n\n".join(_section(package, name) for name in public_names(import_module(package)))


def _section(package: str, name: str) -> str:
    value = getattr(import_module(package), name)
    full_name = f"{package}.{name}"
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return f"### `{name}` {{: #{full_name} .doc }}\n\n{VALUES[full_name]}"
    top = import_module("weatherglass")
    if package != "weatherglass" and value in [getattr(top, one) for one in top.__all__]:
        return f"### `{name}` {{: #{full_name} }}\n\nThe same as [`weatherglass.{value.__name__}`][{_defined(value)}]."
    return f"::: {_defined(value)}\n    options:\n      heading: {name}\n      toc_label: {name}"


def _defined(value: Any) -> str:
    """Where the name is written down, which is what a static reader of the source finds."""
    return f"{value.__module__}.{value.__qualname__}"

"""Write docs/api/README.md from template.md and the code: every public name, its signature, its first sentence.

python docs/api/write.py
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
WIDTH = 110
PLACE = re.compile(r"\{\{([\w.]+)\}\}")
"""Where the names of a package go: {{weatherglass.gate}}."""

WITHOUT_DOCSTRING = {
    "weatherglass.reliability.RULES": "The scoring rules by name; `register(name, rule)` adds one.",
    "weatherglass.reliability.READERS": "The corpus readers by suffix; `register(suffix, reader)` adds one.",
    "weatherglass.metrics.weat.SIMILARITIES": "The similarities by name; `register(name, similarity)` adds one.",
    "weatherglass.metrics.weat.STATISTICS": "The statistics by name; `register(name, statistic)` adds one.",
    "weatherglass.metrics.weat.ESTIMATORS": "The covariance estimators by name; `register(name, function)` adds one.",
    "weatherglass.inference.significance.ALTERNATIVES": "The names of the alternatives.",
    "weatherglass.inference.significance.Alternative": "The type of an alternative's name.",
    "weatherglass.inference.significance.CORRECTIONS": "The names of the corrections for multiple testing.",
    "weatherglass.inference.significance.Correction": "The type of a correction's name.",
    "weatherglass.inference.significance.METHODS": "The names of the ways to a p-value.",
    "weatherglass.catalogue.Context": "The type of a test's context: word, sent, sent-unbleached or paragraph.",
    "weatherglass.encoders.ENCODERS": "The kinds of models by name; `register(name, class)` adds one.",
    "weatherglass.parallel.ENGINES": "Where work can be computed, by name; `register(name, function)` adds one.",
    "weatherglass.mitigation.TRANSFORMS": "The transforms by name; `register(name, class)` adds one.",
    "weatherglass.metrics.METRICS": "The families of metrics by name; `register(name, function)` adds one.",
    "weatherglass.metrics.DEFAULT_METRIC": "The metric that a run uses unless others are named.",
    "weatherglass.parallel.ATTEMPTS": "How often a unit is tried whose process dies.",
    "weatherglass.parallel.THREAD_VARIABLES": "The environment variables that set how many threads a library uses.",
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


def entries(package: str, described: dict[Any, str]) -> str:
    """One entry for each public name of a package.

    Args:
        package: its name.
        described: class or function that stands on the page already -> its full name; is added to.
    """
    module, written = import_module(package), []
    for name in public_names(module):
        value, full_name = getattr(module, name), f"{package}.{name}"
        first = described.setdefault(value, full_name) if is_documented(value) else full_name
        written.append(
            "\n".join(entry(package, name, value)) if first == full_name else f"`{name}` is `{first}`."
        )
    return "\n\n".join(written)


def is_documented(value: object) -> bool:
    return inspect.isclass(value) or inspect.isfunction(value)


def entry(package: str, name: str, value: Any) -> Iterator[str]:
    """A signature and a sentence, and for a class the names of its methods."""
    yield f"```python\n{declaration(name, value)}\n```\n"
    text = (
        inspect.cleandoc(value.__doc__ or "")
        if is_documented(value)
        else WITHOUT_DOCSTRING[f"{package}.{name}"]
    )
    yield " ".join(text.partition("\n\n")[0].split())
    if inspect.isclass(value) and (methods := public_methods(value)):
        yield f"Has {', '.join(f'`{method}`' for method in methods)}."


def public_methods(value: type) -> list[str]:
    """Functions and properties that the class itself defines."""
    kinds = (staticmethod, classmethod, property)
    return [
        f"{name}()" if not isinstance(method, property) else name
        for name, method in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(method) or isinstance(method, kinds))
    ]


def declaration(name: str, value: Any) -> str:
    """As it would be written in the source, without the body."""
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        return f"{call(name, signature)} -> {annotation(signature.return_annotation)}"
    if not inspect.isclass(value):
        return name if type(value).__module__ == "typing" else f"{name}: {type(value).__name__}"
    if getattr(value, "_is_protocol", False):
        return f"class {name}(Protocol)"
    if issubclass(value, Exception):
        return f"class {name}({value.__bases__[0].__name__})"
    return f"class {call(name, inspect.signature(value))}"


def call(name: str, signature: inspect.Signature) -> str:
    """The name with its parameters, one a line where they do not fit on one."""
    written, keyword_only = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            written.append("*")
        default = (
            "" if parameter.default is inspect.Parameter.empty else f" = {default_text(parameter.default)}"
        )
        written.append(f"{parameter.name}: {annotation(parameter.annotation)}{default}")
    line = f"{name}({', '.join(written)})"
    return line if len(line) <= WIDTH else "\n".join([f"{name}(", *(f"    {each}," for each in written), ")"])


def default_text(value: object) -> str:
    """A default that a dataclass makes anew for each object has no text of its own."""
    return "…" if repr(value) == "<factory>" else repr(value)


def annotation(value: Any) -> str:
    return value if isinstance(value, str) else inspect.formatannotation(value)


def page() -> str:
    """The template with the names of each package in their places."""
    template = (HERE / "template.md").read_text(encoding="utf-8")
    described: dict[int, str] = {}
    return PLACE.sub(lambda place: entries(place[1], described), template)


if __name__ == "__main__":
    (HERE / "README.md").write_text(page(), encoding="utf-8")

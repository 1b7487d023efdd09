"""Parse the spelling of a model, `NAME=SPEC | transform?option=value | …`, in which only SPEC is required."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weatherglass.encoders.spec import Spec
from weatherglass.errors import SpecError
from weatherglass.mitigation.base import Transform
from weatherglass.registry import Registry
from weatherglass.storage.reading import exists

TRANSFORMS: Registry[type[Transform]] = Registry(
    "transform",
    {
        "hard-debias": "weatherglass.mitigation.debiasing:HardDebias",
        "double-hard": "weatherglass.mitigation.debiasing:DoubleHard",
        "mean-difference": "weatherglass.mitigation.erasure:MeanDifference",
        "inlp": "weatherglass.mitigation.erasure:Inlp",
        "leace": "weatherglass.mitigation.erasure:Leace",
        "sentence-debias": "weatherglass.mitigation.debiasing:SentenceDebias",
        "centre": "weatherglass.mitigation.centring:Centre",
        "all-but-the-top": "weatherglass.mitigation.centring:AllButTheTop",
        "saved": "weatherglass.mitigation.saved:Saved",
    },
    entry_points="weatherglass.transforms",
)

_NAMED = re.compile(r"(?P<name>[^\s:/?=|\\][^:/?=|\\]*)=(?P<rest>.+)", re.DOTALL)
_BAR = re.compile(r"\s+\|\s*")


@dataclass(frozen=True, slots=True)
class ModelSpelling:
    """The parts of a model's spelling."""

    name: str
    """The name; empty if the user gave none."""
    spec: str
    transforms: tuple[Transform, ...] = ()


def read_model(text: str) -> ModelSpelling:
    """Parse the spelling of a model.

    >>> read_model("glove=vectors:glove.txt?case=lower").name
    'glove'
    >>> [transform.name for transform in read_model("wordllama | centre").transforms]
    ['centre?on=catalogue']

    Raises:
        UnknownNameError: if a transform is unknown; the nearest name is suggested.
        SpecError: if nothing follows a bar, or an option is unknown.
    """
    if exists(Path(text)):  # a file whose own name has a bar or an equals sign
        return ModelSpelling("", text)
    named = _NAMED.fullmatch(text)
    name, rest = (named["name"].strip(), named["rest"].strip()) if named else ("", text)
    spec, *steps = _BAR.split(rest)
    if not spec:
        raise SpecError(f"'{text}': there is no model before the first transform; write MODEL | TRANSFORM")
    return ModelSpelling(name, spec, tuple(_transforms(steps, text)))


def split_transforms(text: str) -> tuple[str, tuple[Transform, ...]]:
    """Return the text before the first bar, and the transforms after it; the name of an existing file is not split."""
    if exists(Path(text)):
        return text, ()
    first, *steps = _BAR.split(text)
    return first, tuple(_transforms(steps, text))


def read_transforms(text: str) -> tuple[Transform, ...]:
    """Parse one or more transforms separated by bars: `centre | hard-debias?pairs=gender`.

    Raises:
        UnknownNameError: if a transform is unknown; the nearest name is suggested.
        SpecError: if one side of a bar is empty, or an option is unknown.
    """
    return tuple(_transforms(_BAR.split(text.strip()), text))


def _transforms(steps: list[str], whole: str) -> Iterator[Transform]:
    for step in steps:
        kind, mark, rest = step.strip().partition("?")
        if not kind:
            raise SpecError(f"'{whole}': nothing follows '|'; remove it, or name a transform")
        yield TRANSFORMS.get(kind).from_spec(Spec.of_kind(kind, mark + rest))

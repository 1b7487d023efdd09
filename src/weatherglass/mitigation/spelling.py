"""A model as the user spells it: `NAME=SPEC | transform?option=value | …`, of which only SPEC must be there."""

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
        "hard-debias": "weatherglass.mitigation.hard_debias:HardDebias",
        "double-hard": "weatherglass.mitigation.double_hard:DoubleHard",
        "mean-difference": "weatherglass.mitigation.mean_difference:MeanDifference",
        "inlp": "weatherglass.mitigation.inlp:Inlp",
        "leace": "weatherglass.mitigation.leace:Leace",
        "sentence-debias": "weatherglass.mitigation.sentence_debias:SentenceDebias",
        "centre": "weatherglass.mitigation.centre:Centre",
        "all-but-the-top": "weatherglass.mitigation.all_but_the_top:AllButTheTop",
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
    """What to call the model; empty where the user gave no name."""
    spec: str
    transforms: tuple[Transform, ...] = ()


def read_model(text: str) -> ModelSpelling:
    """The parts of what the user typed.

    >>> read_model("glove=vectors:glove.txt?case=lower").name
    'glove'
    >>> [transform.name for transform in read_model("wordllama | centre").transforms]
    ['centre?on=catalogue']

    Raises:
        UnknownNameError: for an unknown transform, naming the nearest.
        SpecError: for a bar with nothing behind it, or an option that the transform does not know.
    """
    if exists(Path(text)):  # a file whose own name has a bar or an equals sign
        return ModelSpelling("", text)
    named = _NAMED.fullmatch(text)
    name, rest = (named["name"].strip(), named["rest"].strip()) if named else ("", text)
    spec, *steps = _BAR.split(rest)
    if not spec:
        raise SpecError(f"'{text}': no model stands before the first transform")
    return ModelSpelling(name, spec, tuple(_transforms(steps, text)))


def split_transforms(text: str) -> tuple[str, tuple[Transform, ...]]:
    """What stands before the first bar, and the transforms behind it; a file whose own name has a bar is whole."""
    if exists(Path(text)):
        return text, ()
    first, *steps = _BAR.split(text)
    return first, tuple(_transforms(steps, text))


def read_transforms(text: str) -> tuple[Transform, ...]:
    """One transform or several with bars between: `centre | hard-debias?pairs=gender`.

    Raises:
        UnknownNameError: for an unknown transform, naming the nearest.
        SpecError: for a bar with nothing on one side, or an option that the transform does not know.
    """
    return tuple(_transforms(_BAR.split(text.strip()), text))


def _transforms(steps: list[str], whole: str) -> Iterator[Transform]:
    for step in steps:
        kind, mark, rest = step.strip().partition("?")
        if not kind:
            raise SpecError(f"'{whole}': nothing stands behind '|'; leave it out, or name a transform")
        yield TRANSFORMS.get(kind).from_spec(Spec.of_kind(kind, mark + rest))

"""A family of models: one spelling with * for files or folders that differ by a seed, a checkpoint or a fine-tuning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from glob import glob
from pathlib import Path
from typing import TypeVar

from weatherglass.errors import SpecError
from weatherglass.storage.reading import exists

_FAMILY = re.compile(
    r"(?:(?P<name>[^\s:/?=|\\*][^:/?=|\\*]*)=)?(?P<kind>[a-z0-9_-]+:)?(?P<pattern>[^?|]*\*[^?|]*?)(?P<rest>\s*[?|].*)?",
    re.DOTALL,
)
_BREAK = re.compile(r"[^A-Za-z0-9]+")

T = TypeVar("T")


def expand_families(given: Iterable[str | T]) -> tuple[list[str | T], Mapping[str, tuple[str, ...]]]:
    """Every member of `NAME=kind:folder/*.safetensors` as a model of its own, `NAME[member]=kind:folder/…`.

    Returns:
        The models, families taken apart; and the names of each family's members.

    Raises:
        SpecError: if nothing matches, or two families have one name.
    """
    models: list[str | T] = []
    families: dict[str, tuple[str, ...]] = {}
    for model in given:
        family = _FAMILY.fullmatch(model) if isinstance(model, str) and not exists(Path(model)) else None
        if family is None:
            models.append(model)
            continue
        kind, rest = family["kind"] or "", family["rest"] or ""
        paths = sorted(glob(family["pattern"]))  # noqa: PTH207 - the pattern may be absolute
        if not paths:
            raise SpecError(f"'{model}': no file or folder matches {family['pattern']}")
        name = family["name"] or Path(family["pattern"]).name
        if name in families:
            raise SpecError(f"two families of models are called '{name}'; name them: NAME={model}")
        members = [f"{name}[{part}]" for part in distinct_parts(paths)]
        families[name] = tuple(members)
        models += [f"{member}={kind}{path}{rest}" for member, path in zip(members, paths, strict=True)]
    return models, families


def distinct_parts(paths: list[str]) -> list[str]:
    """What tells paths apart, in whole words.

    >>> distinct_parts(["run/sgns-seed001.npz", "run/sgns-seed002.npz"])
    ['seed001', 'seed002']
    >>> distinct_parts(["out/checkpoint-500", "out/checkpoint-1000"])
    ['500', '1000']
    """
    words = [_BREAK.split(path) for path in paths]
    if len(words) == 1:
        return [Path(paths[0]).stem]
    for end in (0, -1):
        while all(own and own[end] == words[0][end] for own in words):
            for own in words:
                own.pop(end)
    return ["-".join(own) for own in words]

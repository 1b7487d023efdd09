"""A model as the views of it that another auditor might have taken: seeds, poolings, layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import product
from pathlib import Path

import numpy as np

from weatherglass.audit.encode import Encodings, encode_texts, encode_texts_in_views
from weatherglass.audit.plan import Model, combined_hash
from weatherglass.encoders.base import Encoder
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.truncated import TruncatedEncoder
from weatherglass.encoders.views import View, layered
from weatherglass.errors import SpecError
from weatherglass.mitigation import read_model
from weatherglass.multiverses.knobs import Knobs
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.storage.reading import exists


@dataclass(frozen=True, slots=True)
class ModelViews:
    """One model of the multiverse, or a family of models that differ in their seed."""

    name: str
    members: dict[str, Model]
    """By seed; a single model has one, with an empty name."""
    poolings: tuple[str, ...]
    """Empty where the model has no such choice."""
    layers: tuple[str, ...]

    @property
    def identity(self) -> str:
        """Of all members."""
        return combined_hash([self.name, *(model.identity for model in self.members.values())])

    def encodings(
        self, texts: Sequence[str], workers: Backend, progress: Progress
    ) -> Iterator[tuple[dict[str, str], Encodings]]:
        """Every view with the vectors of the texts; each text goes through each member once."""
        for seed, model in self.members.items():
            for choices, encodings in _views(model, self.poolings, self.layers, texts, workers, progress):
                level = {"seed": seed} if len(self.members) > 1 else {}
                yield {**level, **choices}, encodings.transformed(model.transforms)


def _views(
    model: Model,
    poolings: Sequence[str],
    layers: Sequence[str],
    texts: Sequence[str],
    workers: Backend,
    progress: Progress,
) -> Iterator[tuple[dict[str, str], Encodings]]:
    encoder = layered(model.encoder)
    distinct = list(dict.fromkeys([*texts, *model.texts()]))
    if encoder is None or not poolings:
        yield {}, encode_texts(model.encoder, distinct, workers, progress)
        return
    from weatherglass.encoders.layers import Layers

    levels = list(product(poolings, layers))
    views = [View(pooling, Layers.parse(layer)) for pooling, layer in levels]
    progress.stage(f"encoding with {model.name}, {len(views)} views", len(distinct))
    matrices, coverage = encode_texts_in_views(encoder, distinct, views, workers, progress)
    rows = {text: row for row, text in enumerate(distinct)}
    for (pooling, layer), matrix in zip(levels, matrices, strict=True):
        vectors = matrix.astype(np.float64)
        if isinstance(model.encoder, TruncatedEncoder):
            vectors = model.encoder.truncate(vectors)
        choices = {"pooling": pooling} if len(poolings) > 1 else {}
        choices |= {"layers": layer} if len(layers) > 1 else {}
        yield choices, Encodings(rows, vectors, coverage)


def model_views(given: str | Encoder, knobs: Knobs) -> ModelViews:
    """The views of a model or, for a pattern such as `vectors:study/forum-sgns-*.safetensors`, of a family."""
    members = _members(given)
    first = next(iter(members.values()))
    if not knobs.turns("seed"):
        members = {next(iter(members)): first}
    name = str(given) if isinstance(given, str) and len(members) > 1 else first.name
    if isinstance(given, str) and (label := read_model(given).name):
        name = label
    poolings, layers = _choices(first.encoder, knobs)
    return ModelViews(name, members, poolings, layers)


def _choices(encoder: Encoder, knobs: Knobs) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The poolings and layers of a model, its own first; none where it has no hidden states to choose from."""
    model = layered(encoder)
    if model is None:
        return (), ()
    own = model.view
    poolings, layers = model.other_views()
    return (
        knobs.levels("pooling", list(dict.fromkeys([own.pooling, *poolings]))),
        knobs.levels("layers", list(dict.fromkeys([str(own.layers), *map(str, layers)]))),
    )


def _members(given: str | Encoder) -> dict[str, Model]:
    if not isinstance(given, str) or not has_magic(given):
        return {"": Model.of(given)}
    spelling = read_model(given)
    kind, _, rest = spelling.spec.partition(":")
    target = Spec.of_kind(kind, rest).target
    if not has_magic(target) or exists(Path(target)):
        return {"": Model.of(given)}
    paths = sorted(glob(target))  # noqa: PTH207 - Path.glob refuses absolute patterns
    if len(paths) < 2:
        raise SpecError(f"'{given}': {len(paths)} files match; a family of seeds needs at least two")
    start, end = _shared_letters(paths), _shared_letters([path[::-1] for path in paths])
    return {path[start : len(path) - end]: Model.of(given.replace(target, path)) for path in paths}


def _shared_letters(paths: Sequence[str]) -> int:
    """How many letters all paths begin with."""
    return next(
        (place for place, letters in enumerate(zip(*paths, strict=False)) if len(set(letters)) > 1),
        min(map(len, paths)),
    )

"""Vary the choices of words in contexts: half of the sentences, their length, pooling of the word's pieces, and layer.

Each combination is a view of the model, in which a word has the mean vector over its sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.audit.contexts import Contexts, averaged, inputs_of
from weatherglass.audit.encode import Encodings, encode_in_views, observe
from weatherglass.audit.plan import PlannedModel, combined_hash
from weatherglass.encoders.base import Coverage, Input
from weatherglass.encoders.pooling import Layers
from weatherglass.encoders.views import TruncatedEncoder, View, WordReader, inner_model, layered
from weatherglass.multiverses.choices import Choices, ModelViews, WordList
from weatherglass.parallel import Backend
from weatherglass.progress import Progress

HALVES = ("first half", "second half")
WORDS_AROUND = 5
LENGTHS = ("sentence", f"{WORDS_AROUND} words around")
CONTEXT_CHOICES = ("contexts", "length", "pieces", "layers")
"""The choices of words in contexts; a model may lack some of them."""


@dataclass(frozen=True, slots=True)
class ContextViews(ModelViews):
    """The views of words in contexts, of one model or of a group of models that differ only in their seed."""

    contexts: Contexts
    halved: bool
    lengths: tuple[str, ...]

    @classmethod
    def of(cls, views: ModelViews, contexts: Contexts, choices: Choices) -> ContextViews:
        """Return the views that vary these choices; `poolings` are those of the pieces of a word."""
        pieces, layers = _word_choices(next(iter(views.members.values())))
        return cls(
            views.name,
            views.members,
            choices.levels("pieces", pieces),
            choices.levels("layers", layers),
            contexts,
            choices.varies("contexts"),
            choices.levels("length", LENGTHS),
        )

    def content_of(self, word_list: WordList) -> str:
        """Return a hash of the sentences that the numbers of a list depend on."""
        texts = [text for test in word_list.tests for text in test.texts]
        texts += [text for model in self.members.values() for text in model.texts()]
        return combined_hash([self.contexts.fingerprint(texts), *HALVES, *LENGTHS])

    def of_lists(
        self, lists: Sequence[WordList], workers: Backend, progress: Progress
    ) -> Iterator[tuple[dict[str, str], Encodings]]:
        own = [text for one in lists for test in one.tests for text in test.texts]
        for seed, model in self.members.items():
            texts = list(dict.fromkeys([*own, *model.texts()]))
            for length in self.lengths:
                whole = self.contexts if length == LENGTHS[0] else self.contexts.cut_around(WORDS_AROUND)
                inputs = inputs_of(whole, texts)
                parts = dict(zip(HALVES, whole.halves(), strict=True)) if self.halved else {"": whole}
                for levels, matrix, coverage in self._read(model, inputs, workers, progress):
                    for half, part in parts.items():
                        means = averaged(part, texts, inputs, matrix, coverage).encodings
                        chosen = {
                            **({"seed": seed} if len(self.members) > 1 else {}),
                            **({"contexts": half} if half else {}),
                            **({"length": length} if len(self.lengths) > 1 else {}),
                            **levels,
                        }
                        yield chosen, means.transformed(model.transforms)

    def _read(
        self, model: PlannedModel, inputs: Sequence[Input], workers: Backend, progress: Progress
    ) -> Iterator[tuple[dict[str, str], AnyMatrix, list[Coverage]]]:
        """Yield the vectors of words in their sentences under each pooling and layer; each sentence is
        encoded once.
        """
        reader = layered(model.encoder, "token-vectors") if self.poolings else None
        if reader is None:
            observed = observe(model.encoder, inputs, "token-vectors", workers, progress)
            yield {}, observed.matrix, observed.coverage
            return
        levels = list(product(self.poolings, self.layers))
        views = [View(pooling, Layers.parse(layer)) for pooling, layer in levels]
        progress.stage(f"encoding with {model.name}, {len(views)} views", len(inputs))
        matrices, coverage = encode_in_views(reader, inputs, views, workers, progress, "token-vectors")
        for (pooling, layer), matrix in zip(levels, matrices, strict=True):
            chosen = {"pieces": pooling} if len(self.poolings) > 1 else {}
            chosen |= {"layers": layer} if len(self.layers) > 1 else {}
            whole = model.encoder
            cut = whole.truncate(matrix) if isinstance(whole, TruncatedEncoder) else matrix
            yield chosen, cut, coverage


def _word_choices(model: PlannedModel) -> tuple[list[str], list[str]]:
    """Return the pooling and layer choices for the vector of a word span, the model's default first; empty if the
    model offers none.
    """
    reader = inner_model(model.encoder)
    if not isinstance(reader, WordReader):
        return [], []
    pieces, layers = reader.word_views()
    return pieces, list(map(str, layers))


def without_idle_choices(
    views: Sequence[tuple[dict[str, str], Encodings]],
) -> list[tuple[dict[str, str], Encodings]]:
    """Return the views without those choices of contexts whose levels all give the same vectors."""
    left = list(views)
    for choice in CONTEXT_CHOICES:
        groups: dict[tuple[tuple[str, str], ...], list[Encodings]] = {}
        for levels, encodings in left:
            others = tuple((name, level) for name, level in levels.items() if name != choice)
            groups.setdefault(others, []).append(encodings)
        if all(_same_vectors(group) for group in groups.values()):
            left = [(dict(others), group[0]) for others, group in groups.items()]
    return left


def _same_vectors(group: Sequence[Encodings]) -> bool:
    first = group[0].vectors
    return all(np.array_equal(first, other.vectors, equal_nan=True) for other in group[1:])

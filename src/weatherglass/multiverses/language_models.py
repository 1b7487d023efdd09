"""Vary the choices of `log-probability`: template, casing, pieces, and whether the prior is subtracted.

Each combination is a view of the language model. A target word's vector has one number per attribute word:
how much that word raises the target's probability. Attribute words are unit vectors. Their dot products are these
numbers, so that statistics, p and the other choices are those of word vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.audit.encode import Encodings, observe
from weatherglass.audit.plan import PlannedModel
from weatherglass.catalogue.test import ElementSet
from weatherglass.encoders.base import Coverage, Input, plain
from weatherglass.errors import EncoderError, UnitError
from weatherglass.metrics.log_probability import TEMPLATES, fill
from weatherglass.multiverses.choices import Choices, ModelViews, WordList
from weatherglass.parallel import Backend
from weatherglass.progress import Progress

CASINGS = ("as written", "lower case")
PIECES = ("sum", "mean")
"""How the log-probabilities of the pieces of a word are combined."""
SCORES = ("minus the prior", "without the prior")


@dataclass(frozen=True, slots=True)
class LanguageModelViews(ModelViews):
    """The views of one masked language model, or of a group of models that differ only in their seed."""

    levels: tuple[tuple[str, ...], ...] = ()
    """The templates, casings, combinations of pieces, and scores."""

    @classmethod
    def of(cls, views: ModelViews, choices: Choices) -> LanguageModelViews:
        """Return the views that vary these choices.

        Raises:
            EncoderError: if a model has transforms, which change vectors.
        """
        if wrong := next((model for model in views.members.values() if model.transforms), None):
            raise EncoderError(f"{wrong.name}: transforms change vectors, but log-probability needs none")
        named = zip(
            ("template", "casing", "pieces", "score"), (TEMPLATES, CASINGS, PIECES, SCORES), strict=True
        )
        levels = tuple(choices.levels(choice, levels) for choice, levels in named)
        return cls(views.name, views.members, (), (), levels)

    def of_lists(
        self, lists: Sequence[WordList], workers: Backend, progress: Progress
    ) -> Iterator[tuple[dict[str, str], Encodings]]:
        tests = [test for one in lists for test in one.tests]
        targets = _words(element_set for test in tests for element_set in test.targets)
        attributes = _words(element_set for test in tests for element_set in test.attributes)
        if both := set(targets) & set(attributes):
            raise UnitError(
                f"'{min(both)}' is a target word and an attribute word, so it would predict itself"
            )
        for seed, model in self.members.items():
            level = {"seed": seed} if len(self.members) > 1 else {}
            for levels, table, coverage in self._tables(model, targets, attributes, workers, progress):
                rows = {text: row for row, text in enumerate([*targets, *attributes])}
                vectors = np.concatenate([table, np.eye(len(attributes))])
                yield {**level, **levels}, Encodings(rows, vectors, coverage)

    def _tables(
        self,
        model: PlannedModel,
        targets: Sequence[str],
        attributes: Sequence[str],
        workers: Backend,
        progress: Progress,
    ) -> Iterator[tuple[dict[str, str], Matrix, list[Coverage]]]:
        """Yield the levels, a row per target word with a column per attribute word, and the coverage of all words."""
        templates, casings, pieces, scores = self.levels

        def asked(template: str, casing: str, target: str, attribute: str) -> tuple[Input, Input]:
            words = (template, target, attribute)
            filled = fill(*(words if casing == CASINGS[0] else map(str.lower, words)))
            with_attribute = Input(filled.text, filled.target)
            return with_attribute, replace(with_attribute, hidden=filled.attribute)

        cells = list(product(targets, attributes))
        frames = list(product(templates, casings))
        pairs = {frame: [asked(*frame, *cell) for cell in cells] for frame in frames}
        inputs = [each for some in pairs.values() for both in some for each in both]
        observed = observe(model.encoder, inputs, "log-probabilities", workers, progress)
        found = {
            plain(each): (np.asarray(values, dtype=np.float64), covered)
            for each, values, covered in zip(observed.inputs, observed.values, observed.coverage, strict=True)
        }
        for frame in frames:
            read = [tuple(found[plain(each)] for each in both) for both in pairs[frame]]
            first = [with_attribute[1] for with_attribute, _ in read][:: len(attributes)]
            coverage = [*first, *(Coverage((text,)) for text in attributes)]
            for combination, score in product(pieces, scores):
                values = [
                    _combined(one, combination)
                    - (_combined(prior, combination) if score == SCORES[0] else 0.0)
                    for (one, _), (prior, _) in read
                ]
                table = np.array(values).reshape(len(targets), len(attributes))
                table[np.isnan(table).any(axis=1)] = np.nan
                levels = (*frame, combination, score)
                yield (
                    dict(zip(("template", "casing", "pieces", "score"), levels, strict=True)),
                    table,
                    coverage,
                )


def _words(sets: Iterable[ElementSet]) -> list[str]:
    return list(dict.fromkeys(element.text for element_set in sets for element in element_set.elements))


def _combined(values: Vector, combination: str) -> float:
    if not len(values):
        return np.nan
    return float(values.sum() if combination == PIECES[0] else values.mean())

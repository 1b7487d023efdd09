"""Apply SentenceDebias (Liang et al. 2020): remove the span of the differences between sentences about paired words.

Each template is filled with each word of each pair. The first principal directions of the sentences' deviations from
the mean of their pair are removed from every vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.mitigation.base import Steps, projection
from weatherglass.mitigation.fitting import known_vectors, nothing_left, partly_known, span
from weatherglass.mitigation.lists import Pair, Sides, content_hash, pair_list, sides_of, word_list

SLOT = "{}"
PLAIN = "plain"
TEMPLATES = (
    "This is about {}.",
    "The word is {}.",
    "They were talking about {} all day.",
    "I read the word {} in the newspaper.",
    "The first thing that comes to mind is {}.",
    "Somebody wrote {} on the board.",
    "The story mentions {} twice.",
    "We heard {} on the radio this morning.",
)
"""Sentences that fit a word of any kind and say nothing about it."""


@dataclass(frozen=True, slots=True)
class SentenceDebias:
    """A transform that removes the directions in which sentences about the two words of a pair differ."""

    name: str
    pairs: tuple[Pair, ...]
    templates: tuple[str, ...] = TEMPLATES
    components: int = 3
    topics: tuple[str, ...] = ()

    @classmethod
    def from_spec(cls, spec: Spec) -> SentenceDebias:
        """Read `sentence-debias?pairs=gender|FILE&templates=plain|FILE&components=3`; each template has one slot {}."""
        options = spec.reader()
        pairs, source = options.text("pairs", "gender"), options.text("templates", PLAIN)
        components = options.integer("components", 3)
        options.done()
        templates = TEMPLATES if source == PLAIN else word_list(source)
        for template in templates:
            if template.count(SLOT) != 1:
                raise SpecError(f"{source}: '{template}' needs exactly one slot {SLOT} for the word")
        listed = pair_list(pairs)
        name = f"sentence-debias?pairs={pairs}&templates={source}&components={components}"
        return cls(name, listed.pairs, templates, components, listed.topics)

    @property
    def sides(self) -> Sides:
        return sides_of(self.pairs)

    def texts(self) -> tuple[str, ...]:
        words = dict.fromkeys(word for pair in self.pairs for word in pair)
        return tuple(template.replace(SLOT, word) for template in self.templates for word in words)

    def words_seen(self) -> frozenset[str]:
        return frozenset(word for pair in self.pairs for word in pair)

    def identity(self) -> str:
        return content_hash("sentence-debias", self.pairs, self.templates, self.components)

    def fit(self, vectors: Matrix) -> Steps:
        nothing_left(self.name, vectors.shape[1], self.components)
        known = known_vectors(self.texts(), vectors)
        sentences = [
            (template.replace(SLOT, first), template.replace(SLOT, second))
            for template in self.templates
            for first, second in self.pairs
        ]
        whole = [pair for pair in sentences if pair[0] in known and pair[1] in known]
        if not whole:
            raise EncoderError(
                f"{self.name}: the model cannot encode any of the {len(sentences)} pairs of sentences"
            )
        differences = np.array([known[first] - known[second] for first, second in whole])
        basis = span(self.name, differences, self.components, f"the {len(whole)} pairs of sentences")
        return Steps((projection(basis),), partly_known(len(whole), len(sentences), "pairs of sentences"))

"""SentenceDebias (Liang et al. 2020): put the words of pairs into sentences, and remove the span of their differences.

For encoders of sentences: each template with a slot becomes a sentence for each word of each pair. The first principal
directions of the sentences' distances from the middle of their pair are removed from every vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.mitigation.change import Steps, projection
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
"""Sentences into which a word of any kind fits, and that say nothing about it."""


@dataclass(frozen=True, slots=True)
class SentenceDebias:
    """Removes the directions in which sentences with the first and the second word of a pair differ."""

    spelt: str
    pairs: tuple[Pair, ...]
    templates: tuple[str, ...] = TEMPLATES
    components: int = 3
    topics: tuple[str, ...] = ()

    @classmethod
    def from_spec(cls, spec: Spec) -> SentenceDebias:
        """`sentence-debias?pairs=gender|FILE&templates=plain|FILE&components=3`; templates have a slot {}, one a line.

        Raises:
            SpecError: if a file cannot be read or used, a template has no slot, or an option is wrong.
        """
        options = spec.reader()
        pairs, source = options.text("pairs", "gender"), options.text("templates", PLAIN)
        components = options.integer("components", 3)
        options.done()
        templates = TEMPLATES if source == PLAIN else word_list(source)
        for template in templates:
            if template.count(SLOT) != 1:
                raise SpecError(f"{source}: '{template}' should have one slot {SLOT} for the word")
        listed = pair_list(pairs)
        spelt = f"sentence-debias?pairs={pairs}&templates={source}&components={components}"
        return cls(spelt, listed.pairs, templates, components, listed.topics)

    @property
    def name(self) -> str:
        """With every option."""
        return self.spelt

    @property
    def sides(self) -> Sides:
        """The words of both ends of the attribute."""
        return sides_of(self.pairs)

    def texts(self) -> tuple[str, ...]:
        """Every template with every word of the pairs."""
        words = dict.fromkeys(word for pair in self.pairs for word in pair)
        return tuple(template.replace(SLOT, word) for template in self.templates for word in words)

    def words_seen(self) -> frozenset[str]:
        """The words of the pairs."""
        return frozenset(word for pair in self.pairs for word in pair)

    def identity(self) -> str:
        """A hash of pairs, templates and the number of directions."""
        return content_hash("sentence-debias", self.pairs, self.templates, self.components)

    def fit(self, vectors: Matrix) -> Steps:
        """From the differences within the pairs, template by template."""
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
                f"{self.name}: the model reads none of the {len(sentences)} pairs of sentences"
            )
        differences = np.array([known[first] - known[second] for first, second in whole])
        basis = span(self.name, differences, self.components, f"the {len(whole)} pairs of sentences")
        return Steps((projection(basis),), partly_known(len(whole), len(sentences), "pairs of sentences"))

"""All-but-the-top: centre, and remove the first principal directions (Mu & Viswanath 2018, algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.mitigation.change import Steps, projection
from weatherglass.mitigation.fitting import known_rows, nothing_left, partly_known, span
from weatherglass.mitigation.lists import NEUTRAL, content_hash, word_list

PER_COMPONENT = 100
"""The paper's rule: a direction for every hundred dimensions."""


@dataclass(frozen=True, slots=True)
class AllButTheTop:
    """v − mean − Σ (uᵢ·v) uᵢ, with the mean and the principal directions of a list of frequent words."""

    source: str
    words: tuple[str, ...]
    components: int | None
    """None for the width divided by 100, at least 1."""

    @classmethod
    def from_spec(cls, spec: Spec) -> AllButTheTop:
        """`all-but-the-top?on=neutral|catalogue|FILE&components=auto|N`.

        Raises:
            SpecError: if the file cannot be read, or an option is wrong.
        """
        options = spec.reader()
        source = options.text("on", NEUTRAL)
        automatic = dict(spec.options).get("components", "auto") == "auto"
        components = None if automatic else options.integer("components", 1)
        if automatic:
            options.text("components", "auto")
        options.done()
        return cls(source, word_list(source), components)

    @property
    def name(self) -> str:
        """With its list and the number of directions."""
        return f"all-but-the-top?on={self.source}&components={self.components or 'auto'}"

    def texts(self) -> tuple[str, ...]:
        """The words of the list."""
        return self.words

    def identity(self) -> str:
        """A hash of the words and the number of directions."""
        return content_hash("all-but-the-top", self.components, *self.words)

    def fit(self, vectors: Matrix) -> Steps:
        """From the mean and the principal directions of these vectors."""
        width = vectors.shape[1]
        components = self.components or max(1, width // PER_COMPONENT)
        nothing_left(self.name, width, components)
        rows = known_rows(self.name, self.words, vectors, least=components + 1)
        mean = rows.mean(axis=0)
        basis = span(self.name, rows - mean, components, f"the {len(rows)} words")
        return Steps((projection(basis, mean),), partly_known(len(rows), len(self.words), "words"))

"""Centre vectors and remove their first principal directions with all-but-the-top (Mu & Viswanath 2018, algorithm
1).
"""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.mitigation.base import Steps, projection
from weatherglass.mitigation.fitting import known_rows, nothing_left, partly_known, span
from weatherglass.mitigation.lists import NEUTRAL, content_hash, word_list

PER_COMPONENT = 100
"""The number of dimensions per removed direction, which is the paper's rule."""


@dataclass(frozen=True, slots=True)
class AllButTheTop:
    """Map v to v − mean − Σ (uᵢ·v) uᵢ, with the mean and the principal directions of a list of frequent words."""

    source: str
    words: tuple[str, ...]
    components: int | None
    """The number of removed directions; None for the width divided by 100, but at least 1."""

    @classmethod
    def from_spec(cls, spec: Spec) -> AllButTheTop:
        """Read `all-but-the-top?on=neutral|catalogue|FILE&components=auto|N`."""
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
        return f"all-but-the-top?on={self.source}&components={self.components or 'auto'}"

    def texts(self) -> tuple[str, ...]:
        return self.words

    def identity(self) -> str:
        return content_hash("all-but-the-top", self.components, *self.words)

    def fit(self, vectors: Matrix) -> Steps:
        width = vectors.shape[1]
        components = self.components or max(1, width // PER_COMPONENT)
        nothing_left(self.name, width, components)
        rows = known_rows(self.name, self.words, vectors, least=components + 1)
        mean = rows.mean(axis=0)
        basis = span(self.name, rows - mean, components, f"the {len(rows)} words")
        return Steps((projection(basis, mean),), partly_known(len(rows), len(self.words), "words"))

"""Centre vectors, and remove their first principal directions (Mu & Viswanath 2018)."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.mitigation.base import Steps, projection, subtraction
from weatherglass.mitigation.fitting import known_rows, nothing_left, partly_known, span
from weatherglass.mitigation.lists import CATALOGUE, NEUTRAL, content_hash, word_list


@dataclass(frozen=True, slots=True)
class Centre:
    """Subtract the mean of a list's vectors, which is step 1 of the paper and the simplest baseline."""

    source: str
    words: tuple[str, ...]

    @classmethod
    def from_spec(cls, spec: Spec) -> Centre:
        """Read `centre?on=catalogue|neutral|FILE`; a file has one word per line."""
        options = spec.reader()
        source = options.text("on", CATALOGUE)
        options.done()
        return cls(source, word_list(source))

    @property
    def name(self) -> str:
        return f"centre?on={self.source}"

    def texts(self) -> tuple[str, ...]:
        return self.words

    def identity(self) -> str:
        """Return a hash of the words; their source does not matter."""
        return content_hash("centre", *self.words)

    def fit(self, vectors: Matrix) -> Steps:
        rows = known_rows(self.name, self.words, vectors, least=1)
        return Steps((subtraction(rows.mean(axis=0)),), partly_known(len(rows), len(self.words), "words"))


PER_COMPONENT = 100
"""The number of dimensions per removed direction, which is the paper's rule."""


@dataclass(frozen=True, slots=True)
class AllButTheTop:
    """Map v to v − mean − Σ (uᵢ·v) uᵢ, with the mean and principal directions of frequent words (algorithm 1)."""

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

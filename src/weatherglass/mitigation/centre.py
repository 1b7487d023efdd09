"""Centring: subtract the mean vector of a list of words, the plainest baseline (Mu & Viswanath 2018, step 1)."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.mitigation.change import Steps, subtraction
from weatherglass.mitigation.fitting import known_rows, partly_known
from weatherglass.mitigation.lists import CATALOGUE, content_hash, word_list


@dataclass(frozen=True, slots=True)
class Centre:
    """Subtracts the mean of the vectors of a list, so that the words of the list have mean 0."""

    source: str
    words: tuple[str, ...]

    @classmethod
    def from_spec(cls, spec: Spec) -> Centre:
        """`centre?on=catalogue`, the words of the catalogue's sets, `on=neutral`, or `on=FILE`, a word a line.

        Raises:
            SpecError: if the file cannot be read or holds no word.
        """
        options = spec.reader()
        source = options.text("on", CATALOGUE)
        options.done()
        return cls(source, word_list(source))

    @property
    def name(self) -> str:
        """With the list that it was fitted on."""
        return f"centre?on={self.source}"

    def texts(self) -> tuple[str, ...]:
        """The words of the list."""
        return self.words

    def identity(self) -> str:
        """A hash of the words; where they came from does not matter."""
        return content_hash("centre", *self.words)

    def fit(self, vectors: Matrix) -> Steps:
        """The change that subtracts the mean of these vectors."""
        rows = known_rows(self.name, self.words, vectors, least=1)
        return Steps((subtraction(rows.mean(axis=0)),), partly_known(len(rows), len(self.words), "words"))

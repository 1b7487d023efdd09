"""Subtract the mean vector of a list of words, which is the simplest baseline (Mu & Viswanath 2018, step 1)."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.mitigation.base import Steps, subtraction
from weatherglass.mitigation.fitting import known_rows, partly_known
from weatherglass.mitigation.lists import CATALOGUE, content_hash, word_list


@dataclass(frozen=True, slots=True)
class Centre:
    """Subtract the mean of a list's vectors, so that the words of the list have mean 0."""

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

"""Centring: subtract the mean vector of a list of words, the plainest baseline (Mu & Viswanath 2018, step 1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError, unreadable

CATALOGUE = "catalogue"


@dataclass(frozen=True, slots=True)
class Centre:
    """Subtracts the mean of the vectors of a list, so that the words of the list have mean 0."""

    source: str
    words: tuple[str, ...]

    @classmethod
    def from_spec(cls, spec: Spec) -> Centre:
        """`centre?on=catalogue`, the words of the catalogue's sets, or `on=FILE`, a word a line.

        Raises:
            SpecError: if the file cannot be read or holds no word.
        """
        options = spec.reader()
        source = options.text("on", CATALOGUE)
        options.done()
        return cls(source, _catalogue_words() if source == CATALOGUE else _words_of_file(Path(source)))

    @property
    def name(self) -> str:
        """With the list that it was fitted on."""
        return f"centre?on={self.source}"

    def texts(self) -> tuple[str, ...]:
        """The words of the list."""
        return self.words

    def identity(self) -> str:
        """A hash of the words; where they came from does not matter."""
        return hashlib.sha256(json.dumps(["centre", *self.words]).encode()).hexdigest()

    def fit(self, vectors: Matrix) -> Callable[[Matrix], Matrix]:
        """The map that subtracts the mean of these vectors."""
        if not len(vectors):
            raise EncoderError(
                f"{self.name}: the model knows none of the {len(self.words)} words of the list"
            )
        mean = vectors.mean(axis=0)

        def centred(rows: Matrix) -> Matrix:
            moved: Matrix = rows - mean
            return moved

        return centred


def _catalogue_words() -> tuple[str, ...]:
    from weatherglass.catalogue.data import table

    return tuple(dict.fromkeys(word for entry in table("sets").values() for word in entry["words"]))


def _words_of_file(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(unreadable(path, error)) from None
    words = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not words:
        raise SpecError(f"{path}: no word here; write one a line")
    return words

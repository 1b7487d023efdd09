"""Word vectors loaded on demand: each word is looked up in the file once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from weatherglass.encoders.spec import Spec
from weatherglass.errors import SpecError
from weatherglass.storage.reading import is_regular_file
from weatherglass.vectors import read_vectors


@dataclass(slots=True)
class WordLookup:
    """The vectors of a file that have been loaded so far.

    Only words of the file's vocabulary: a fastText .bin counts as its .vec file would, as in the papers, so its
    subwords give no out-of-vocabulary word a vector.
    """

    path: Path
    width: int = 0
    """Dimensions; 0 until the file is read."""
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    _out_of_vocabulary: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def at(cls, path: str, spec: Spec) -> Self:
        """The vectors in `path`, which an option of `spec` names."""
        file = Path(path).expanduser()
        if not is_regular_file(file):
            raise SpecError(f"'{spec}': no file '{path}'")
        return cls(file)

    def load(self, words: Collection[str]) -> None:
        """Load the vectors of words that were not looked up before: one pass over the file, or none."""
        new = {word for word in words if not self.looked_up(word)}
        if not new:
            return
        loaded = read_vectors(self.path, new, subwords=False)
        self.width = loaded.width
        for word in new:
            if word in loaded:
                self._vectors[word] = loaded[word]
            else:
                self._out_of_vocabulary.add(word)

    def looked_up(self, word: str) -> bool:
        """Whether the file was searched for this word."""
        return word in self._vectors or word in self._out_of_vocabulary

    def __contains__(self, word: str) -> bool:
        return word in self._vectors

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """One row per word; all of them must be in the file."""
        return np.stack([self._vectors[word] for word in words])

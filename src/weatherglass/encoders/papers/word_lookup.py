"""Word vectors asked for as texts come along: each word is looked for in the file once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from weatherglass.encoders.spec import Spec
from weatherglass.errors import SpecError
from weatherglass.vectors import read_vectors


@dataclass(slots=True)
class WordLookup:
    """The vectors of a file, as far as they have been asked for."""

    path: Path
    width: int = 0
    """Dimensions; 0 until the file was opened."""
    _known: dict[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    _unknown: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def at(cls, path: str, spec: Spec) -> Self:
        """The vectors in `path`, which an option of `spec` names."""
        file = Path(path).expanduser()
        if not file.is_file():
            raise SpecError(f"'{spec}': no file '{path}'")
        return cls(file)

    def ask(self, words: Collection[str]) -> None:
        """Look the words up that were not looked for before: one pass over the file, or none."""
        new = {word for word in words if not self.asked(word)}
        if not new:
            return
        found = read_vectors(self.path, new)
        self.width = found.width
        for word in new:
            if word in found:
                self._known[word] = found[word]
            else:
                self._unknown.add(word)

    def asked(self, word: str) -> bool:
        """Whether the file was searched for this word."""
        return word in self._known or word in self._unknown

    def __contains__(self, word: str) -> bool:
        return word in self._known

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """One row per word; all of them must be known."""
        return np.stack([self._known[word] for word in words])

"""`MODEL | flat?of=she,he`: a transform of another package, which removes the direction between two words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, unit_length
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.mitigation import Change


@dataclass(frozen=True, slots=True)
class Flat:
    """Projects vectors onto the plane across the difference of two words."""

    words: tuple[str, ...]

    @classmethod
    def from_spec(cls, spec: Spec) -> Flat:
        """The two words are an option, with a comma between them."""
        options = spec.reader()
        words = tuple(options.text("of", "she,he").split(","))
        options.done()
        if len(words) != 2:
            raise SpecError(f"flat: of={','.join(words)} should be two words, such as of=she,he")
        return cls(words)

    @property
    def name(self) -> str:
        """With its words."""
        return f"flat?of={','.join(self.words)}"

    def texts(self) -> tuple[str, ...]:
        """The two words."""
        return self.words

    def identity(self) -> str:
        """Nothing but the words matters."""
        return self.name

    def fit(self, vectors: Matrix) -> Change:
        """The projection, from the vectors of both words."""
        if np.isnan(vectors).any():
            raise EncoderError(f"{self.name}: the model has to know both words")
        direction = unit_length(vectors[:1] - vectors[1:])

        def flattened(rows: Matrix, texts: Sequence[str]) -> Matrix:
            del texts
            projected: Matrix = rows - (rows @ direction.T) * direction
            return projected

        return flattened

"""A loaded ELMo: lists of tokens of equal length in, the states of all layers out, as numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from weatherglass.encoders.papers.elmo.characters import boundary_ids, character_ids
from weatherglass.encoders.papers.elmo.files import ElmoOptions, read_weights
from weatherglass.encoders.papers.elmo.network import BidirectionalLanguageModel, CharacterCnn, States

WORDS_AT_ONCE: Final = 256
"""Words that go through the character CNN together; its widest layer takes 0.2 MB a word."""


@dataclass(slots=True)
class ElmoModel:
    """The two networks, and the vectors of words that were spelt before."""

    options: ElmoOptions
    cnn: CharacterCnn
    language_model: BidirectionalLanguageModel
    _words: dict[str, Tensor] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, options: ElmoOptions, weights_file: Path) -> Self:
        """Read the weights and build the networks."""
        weights = {
            name: torch.from_numpy(array) for name, array in read_weights(weights_file, options).items()
        }
        return cls(
            options,
            CharacterCnn.from_weights(options, weights),
            BidirectionalLanguageModel.from_weights(options, weights),
        )

    @property
    def width(self) -> int:
        """Dimensions of one layer: both directions side by side."""
        return 2 * int(self.language_model.stacks[0][0].projection.shape[1])

    def states(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """States of all layers (layers + 1, sentences, tokens, width), each sentence from zero state.

        The sentences must have equally many tokens. Boundaries are added before and taken off after.
        """
        states, _ = self.states_from(sentences, None)
        return states

    def states_from(
        self, sentences: Sequence[Sequence[str]], before: States | None
    ) -> tuple[NDArray[np.float32], States]:
        """Like `states`, but starting where `before` left off; also returns where it ends."""
        with torch.inference_mode():
            self._spell({word for sentence in sentences for word in sentence})
            begin, end = self.cnn(torch.from_numpy(boundary_ids(self.options.word_width)))
            tokens = torch.stack(
                [
                    torch.stack([begin, *(self._words[word] for word in sentence), end])
                    for sentence in sentences
                ]
            )
            layers, after = self.language_model(tokens, before)
        return layers[:, :, 1:-1].numpy(), after

    def _spell(self, words: set[str]) -> None:
        new = sorted(words - self._words.keys())
        for start in range(0, len(new), WORDS_AT_ONCE):
            part = new[start : start + WORDS_AT_ONCE]
            vectors = self.cnn(torch.from_numpy(character_ids(part, self.options.word_width)))
            self._words.update(zip(part, vectors, strict=True))

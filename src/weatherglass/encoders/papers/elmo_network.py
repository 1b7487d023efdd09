"""Compute ELMo's network in torch: a character CNN and a bidirectional language model (Peters et al. 2018).

The weights have the names and layouts of the original HDF5 file, so that the code can be compared with the paper.
Texts in a batch have equal length, so that nothing is padded and a vector does not depend on other texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from weatherglass.encoders.papers.elmo import ElmoOptions, boundary_ids, character_ids, read_weights

CellState = tuple[Tensor, Tensor]
"""The memory c (batch, dim) and the projected output h (batch, projection)."""

States = dict[tuple[int, int], CellState]
"""The state of each direction (0 forward, 1 backward) and layer."""


@dataclass(frozen=True, slots=True)
class CharacterCnn:
    """A network that computes word vectors from characters: convolutions, max over positions, highway layers,
    projection.
    """

    embedding: Tensor
    filters: list[tuple[Tensor, Tensor]]
    """The weight (filters, embedding, width) and bias of each convolution."""
    highways: list[tuple[Tensor, Tensor, Tensor, Tensor]]
    """The weight and bias of the gate, followed by the weight and bias of the transformation."""
    projection: tuple[Tensor, Tensor] | None
    """The projection; None if the convolutions already have the width of the language model."""
    activation: Callable[[Tensor], Tensor]

    @classmethod
    def from_weights(cls, options: ElmoOptions, weights: Mapping[str, Tensor]) -> CharacterCnn:
        filters = [
            # stored as (1, width, embedding, filters)
            (weights[f"CNN/W_cnn_{i}"][0].permute(2, 1, 0).contiguous(), weights[f"CNN/b_cnn_{i}"])
            for i in range(options.convolutions)
        ]
        highways = [
            (
                weights[f"CNN_high_{i}/W_carry"],
                weights[f"CNN_high_{i}/b_carry"],
                weights[f"CNN_high_{i}/W_transform"],
                weights[f"CNN_high_{i}/b_transform"],
            )
            for i in range(options.highways)
        ]
        projected = "CNN_proj/W_proj" in weights
        projection = (weights["CNN_proj/W_proj"], weights["CNN_proj/b_proj"]) if projected else None
        activation = torch.relu if options.activation == "relu" else torch.tanh
        return cls(weights["char_embed"], filters, highways, projection, activation)

    def __call__(self, characters: Tensor) -> Tensor:
        """Return vectors (words, projection) from character numbers (words, width)."""
        embedded = self.embedding[characters].transpose(1, 2)
        pooled = [
            torch.nn.functional.conv1d(embedded, weight, bias).amax(dim=2) for weight, bias in self.filters
        ]
        vectors = self.activation(torch.cat(pooled, dim=1))
        for gate_weight, gate_bias, weight, bias in self.highways:
            gate = torch.sigmoid(vectors @ gate_weight + gate_bias)
            vectors = gate * torch.relu(vectors @ weight + bias) + (1 - gate) * vectors
        if self.projection is not None:
            weight, bias = self.projection
            vectors = vectors @ weight + bias
        return vectors


@dataclass(frozen=True, slots=True)
class ProjectedLstm:
    """An LSTM layer with a projected output and a clipped memory and projection (Sak et al. 2014)."""

    weight: Tensor
    """The weight (input + projection, 4 · dim), with the gates in the order input, candidate, forget, output."""
    bias: Tensor
    projection: Tensor
    cell_clip: float
    projection_clip: float

    def __call__(self, inputs: Tensor, state: CellState | None) -> tuple[Tensor, CellState]:
        """Return the outputs (batch, time, projection) for inputs (batch, time, input), and the last state."""
        width = inputs.shape[2]
        dim, projection = self.projection.shape
        batch = inputs.shape[0]
        memory, output = state or (inputs.new_zeros(batch, dim), inputs.new_zeros(batch, projection))
        from_input = inputs @ self.weight[:width] + self.bias
        outputs = []
        for at_step in from_input.unbind(dim=1):
            gates = at_step + output @ self.weight[width:]
            write, candidate, forget, read = gates.chunk(4, dim=1)
            # The forget gate was trained with 1 added to its bias, which is not in the stored weights.
            memory = torch.sigmoid(forget + 1) * memory + torch.sigmoid(write) * torch.tanh(candidate)
            memory = memory.clamp(-self.cell_clip, self.cell_clip)
            output = (torch.sigmoid(read) * torch.tanh(memory)) @ self.projection
            output = output.clamp(-self.projection_clip, self.projection_clip)
            outputs.append(output)
        return torch.stack(outputs, dim=1), (memory, output)


@dataclass(frozen=True, slots=True)
class BidirectionalLanguageModel:
    """Two independent stacks of LSTM layers, one forward and one backward."""

    stacks: tuple[list[ProjectedLstm], list[ProjectedLstm]]
    skip_connections: bool

    @classmethod
    def from_weights(cls, options: ElmoOptions, weights: Mapping[str, Tensor]) -> BidirectionalLanguageModel:
        def layer(direction: int, number: int) -> ProjectedLstm:
            prefix = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            return ProjectedLstm(
                weights[f"{prefix}/W_0"],
                weights[f"{prefix}/B"],
                weights[f"{prefix}/W_P_0"],
                options.cell_clip,
                options.projection_clip,
            )

        forward, backward = ([layer(direction, i) for i in range(options.layers)] for direction in (0, 1))
        return cls((forward, backward), options.skip_connections)

    def __call__(self, tokens: Tensor, states: States | None = None) -> tuple[Tensor, States]:
        """Return the states of all layers for token vectors (batch, time, projection), and the last states.

        Args:
            tokens: vectors of the tokens, including sentence boundaries.
            states: the initial states of the LSTMs; zero if None.

        Returns:
            An array (layers + 1, batch, time, 2 · projection), in which layer 0 contains the token vectors twice, and
            the states after the last step of each direction.
        """
        states = states or {}
        after: States = {}
        sides: list[list[Tensor]] = []
        for direction, stack in enumerate(self.stacks):
            inputs = tokens.flip(1) if direction == 1 else tokens
            layers = [tokens]
            for number, lstm in enumerate(stack):
                outputs, after[direction, number] = lstm(inputs, states.get((direction, number)))
                if self.skip_connections and number > 0:
                    outputs = outputs + inputs
                inputs = outputs
                layers.append(outputs.flip(1) if direction == 1 else outputs)
            sides.append(layers)
        return torch.stack([torch.cat(pair, dim=2) for pair in zip(*sides, strict=True)]), after


WORDS_AT_ONCE: Final = 256
"""The number of words per batch of the character CNN, whose widest layer needs 0.2 MB per word."""


@dataclass(slots=True)
class ElmoModel:
    """The two networks, and a cache of word vectors from the character CNN."""

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
        """Return the number of dimensions of a layer, for both directions."""
        return 2 * int(self.language_model.stacks[0][0].projection.shape[1])

    def states(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Return the states of all layers (layers + 1, sentences, tokens, width), starting each sentence from zero.

        The sentences must have equal numbers of tokens. Sentence boundaries are added first and removed afterwards.
        """
        states, _ = self.states_from(sentences, None)
        return states

    def states_from(
        self, sentences: Sequence[Sequence[str]], before: States | None
    ) -> tuple[NDArray[np.float32], States]:
        """Return the same states as `states`, but start from `before`, and also return the states at the end."""
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

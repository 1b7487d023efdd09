"""Provide the parts that InferSent and GenSen share: bidirectional LSTM and GRU layers in numpy, and word vectors.

Weights have the layout of torch. Both models work with the base install. Sequences in a batch have equal length, so
that nothing is padded and a vector does not depend on other texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.reading import is_regular_file
from weatherglass.vectors import read_vectors

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Direction:
    """The weights of one layer in one direction."""

    input_weight: Array
    """The weights of the input, of shape (gates · hidden, input)."""
    hidden_weight: Array
    """The weights of the state, of shape (gates · hidden, hidden)."""
    input_bias: Array
    hidden_bias: Array

    @property
    def hidden(self) -> int:
        """Return the width of the state."""
        return int(self.hidden_weight.shape[1])


Cell = Callable[[Array, Direction], Array]
"""A function that returns the states after every step (batch, time, hidden) for inputs (batch, time, input)."""


def lstm(inputs: Array, weights: Direction) -> Array:
    """Compute an LSTM from the zero state (Hochreiter & Schmidhuber 1997).

    The gates are in the order input, forget, candidate, output.
    """
    from scipy.special import expit

    hidden = weights.hidden
    from_input = _from_input(inputs, weights) + weights.hidden_bias
    state = memory = np.zeros((len(inputs), hidden), dtype=np.float32)
    states = np.empty((*inputs.shape[:2], hidden), dtype=np.float32)
    for step in range(inputs.shape[1]):
        gates = from_input[step] + state @ weights.hidden_weight.T
        write, forget, candidate, read = np.split(gates, 4, axis=1)
        memory = expit(forget) * memory + expit(write) * np.tanh(candidate)
        state = expit(read) * np.tanh(memory)
        states[:, step] = state
    return states


def gru(inputs: Array, weights: Direction) -> Array:
    """Compute a GRU from the zero state (Cho et al. 2014).

    The gates are in the order reset, update, candidate. As in torch, the reset gate is applied after the matrix and the
    bias of the hidden state.
    """
    from scipy.special import expit

    hidden = weights.hidden
    from_input = _from_input(inputs, weights)
    state = np.zeros((len(inputs), hidden), dtype=np.float32)
    states = np.empty((*inputs.shape[:2], hidden), dtype=np.float32)
    for step in range(inputs.shape[1]):
        reset_in, update_in, candidate_in = np.split(from_input[step], 3, axis=1)
        from_state = state @ weights.hidden_weight.T + weights.hidden_bias
        reset_state, update_state, candidate_state = np.split(from_state, 3, axis=1)
        update = expit(update_in + update_state)
        candidate = np.tanh(candidate_in + expit(reset_in + reset_state) * candidate_state)
        state = (1 - update) * candidate + update * state
        states[:, step] = state
    return states


def _from_input(inputs: Array, weights: Direction) -> Array:
    """Return the contribution of the inputs to the gates (time, batch, gates · hidden), from one matrix product."""
    batch, time, width = inputs.shape
    flat = inputs.transpose(1, 0, 2).reshape(time * batch, width)
    return (flat @ weights.input_weight.T + weights.input_bias).reshape(time, batch, -1)


GATES: dict[Cell, int] = {lstm: 4, gru: 3}


@dataclass(frozen=True, slots=True)
class BidirectionalNetwork:
    """A network of one or more layers of LSTM or GRU cells in both directions."""

    cell: Cell
    layers: tuple[tuple[Direction, Direction], ...]
    """Forward and backward weights, the lowest layer first."""

    @classmethod
    def from_state_dict(cls, cell: Cell, weights: Mapping[str, Array], prefix: str, source: str) -> Self:
        """Return the network whose weights are named `prefix`weight_ih_l0, `prefix`weight_ih_l0_reverse, ……

        Raises:
            EncoderError: if an array is missing or does not fit; the message names `source` and the array.
        """
        layers: list[tuple[Direction, Direction]] = []
        while f"{prefix}weight_ih_l{len(layers)}" in weights or not layers:
            below = None if not layers else 2 * layers[-1][0].hidden
            forward, backward = (
                _direction(weights, prefix, f"l{len(layers)}{suffix}", below, GATES[cell], source)
                for suffix in ("", "_reverse")
            )
            layers.append((forward, backward))
        return cls(cell, tuple(layers))

    @property
    def width(self) -> int:
        """Return the width of the inputs."""
        return int(self.layers[0][0].input_weight.shape[1])

    @property
    def hidden(self) -> int:
        """Return the width of the state of one direction in the top layer."""
        return self.layers[-1][0].hidden

    def __call__(self, inputs: Array) -> Array:
        """Return the states of the top layer (batch, time, 2 · hidden), forward then backward."""
        for forward, backward in self.layers:
            ahead = self.cell(inputs, forward)
            back = self.cell(inputs[:, ::-1], backward)[:, ::-1]
            inputs = np.concatenate([ahead, back], axis=2)
        return inputs


def _direction(
    weights: Mapping[str, Array], prefix: str, suffix: str, below: int | None, gates: int, source: str
) -> Direction:
    def get(kind: str) -> Array:
        return weight_array(weights, f"{prefix}{kind}_{suffix}", source)

    direction = Direction(get("weight_ih"), get("weight_hh"), get("bias_ih"), get("bias_hh"))
    if direction.input_weight.ndim != 2 or direction.hidden_weight.ndim != 2:
        raise EncoderError(f"{source}: the weights '{prefix}…_{suffix}' are not matrices")
    rows = gates * direction.hidden
    expected = [(rows, below or direction.input_weight.shape[-1]), (rows, direction.hidden), (rows,), (rows,)]
    shapes = [
        direction.input_weight.shape,
        direction.hidden_weight.shape,
        direction.input_bias.shape,
        direction.hidden_bias.shape,
    ]
    if shapes != expected:
        raise EncoderError(
            f"{source}: the arrays '{prefix}…_{suffix}' have the shapes {shapes}; expected {expected}"
        )
    return direction


def weight_array(weights: Mapping[str, Array], name: str, source: str) -> Array:
    """Return an array of a checkpoint in float32.

    Raises:
        EncoderError: if it is missing or empty, or has entries that are not finite.
    """
    if name not in weights:
        names = ", ".join(sorted(weights)[:5])
        raise EncoderError(f"{source}: no array '{name}'; the file contains {names[:100]}, …")
    with np.errstate(over="ignore"):
        array = np.asarray(weights[name], dtype=np.float32)
    if not array.size or not np.isfinite(array).all():
        raise EncoderError(
            f"{source}: '{name}' is empty or has entries that are not finite; get the file again"
        )
    return array


@dataclass(slots=True)
class WordLookup:
    """A lookup of word vectors in a file, which caches them.

    As in the papers, out-of-vocabulary words have no vector, even if the file is a fastText .bin with subwords.
    """

    path: Path
    width: int = 0
    """The number of dimensions; 0 until the file is read."""
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    _out_of_vocabulary: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def at(cls, path: str, spec: Spec) -> Self:
        """Return the lookup for a file that an option of `spec` names."""
        file = Path(path).expanduser()
        if not is_regular_file(file):
            raise SpecError(f"'{spec}': there is no file '{path}'")
        return cls(file)

    def load(self, words: Collection[str]) -> None:
        """Load the vectors of new words in one pass over the file."""
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
        """Return whether the file was searched for this word."""
        return word in self._vectors or word in self._out_of_vocabulary

    def __contains__(self, word: str) -> bool:
        return word in self._vectors

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per word; all words must be in the file."""
        return np.stack([self._vectors[word] for word in words])

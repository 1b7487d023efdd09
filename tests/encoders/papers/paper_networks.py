"""LSTM and GRU written out from their papers, one text and one step at a time, in float64: the oracle of the tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = Mapping[str, NDArray[Any]]


def sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(1 / (1 + np.exp(-x)))


def lstm_states(words: NDArray[Any], weights: Weights, place: str) -> list[NDArray[Any]]:
    """Hochreiter & Schmidhuber (1997) with forget gates (Gers et al. 2000)."""
    W, U, b, c = (
        weights[f"{kind}_{place}"].astype(float) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    size = U.shape[1]
    h, cell, states = np.zeros(size), np.zeros(size), []
    for x in words.astype(float):
        i, f, g, o = (W @ x + b + U @ h + c).reshape(4, size)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(cell)
        states.append(h)
    return states


def gru_states(words: NDArray[Any], weights: Weights, place: str) -> list[NDArray[Any]]:
    """Cho et al. (2014), with the reset gate after the recurrent matrix, as in the published checkpoints."""
    W, U, b, c = (
        weights[f"{kind}_{place}"].astype(float) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    size = U.shape[1]
    (Wr, Wz, Wn), (Ur, Uz, Un) = W.reshape(3, size, -1), U.reshape(3, size, size)
    (br, bz, bn), (cr, cz, cn) = b.reshape(3, size), c.reshape(3, size)
    h, states = np.zeros(size), []
    for x in words.astype(float):
        r = sigmoid(Wr @ x + br + Ur @ h + cr)
        z = sigmoid(Wz @ x + bz + Uz @ h + cz)
        n = np.tanh(Wn @ x + bn + r * (Un @ h + cn))
        h = (1 - z) * n + z * h
        states.append(h)
    return states


def random_recurrent(
    generator: np.random.Generator, gates: int, width: int, hidden: int, layers: int, prefix: str
) -> dict[str, NDArray[np.float32]]:
    """Weights under torch's names and in its shapes."""
    weights = {}
    for layer in range(layers):
        below = width if layer == 0 else 2 * hidden
        for suffix in ("", "_reverse"):
            place, rows = f"l{layer}{suffix}", gates * hidden
            weights[f"{prefix}weight_ih_{place}"] = generator.normal(size=(rows, below))
            weights[f"{prefix}weight_hh_{place}"] = generator.normal(size=(rows, hidden))
            weights[f"{prefix}bias_ih_{place}"] = generator.normal(size=rows)
            weights[f"{prefix}bias_hh_{place}"] = generator.normal(size=rows)
    return {name: weight.astype(np.float32) for name, weight in weights.items()}

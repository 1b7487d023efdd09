"""The numpy LSTM and GRU against torch's own, and against the equations written out one text at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.encoders.papers.recurrent import Array, BidirectionalNetwork, Cell, gru, lstm
from weatherglass.errors import EncoderError


def random_weights(
    cell: Cell, layers: int, width: int = 5, hidden: int = 4, seed: int = 0
) -> dict[str, Array]:
    """Weights named and laid out as torch does, under the prefix `net.`."""
    generator = np.random.default_rng(seed)
    rows = (4 if cell is lstm else 3) * hidden
    weights = {}
    for layer in range(layers):
        for suffix in ("", "_reverse"):
            place = f"l{layer}{suffix}"
            below = width if layer == 0 else 2 * hidden
            shapes = {
                "weight_ih": (rows, below),
                "weight_hh": (rows, hidden),
                "bias_ih": (rows,),
                "bias_hh": (rows,),
            }
            for kind, shape in shapes.items():
                weights[f"net.{kind}_{place}"] = generator.normal(size=shape).astype(np.float32)
    return weights


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", [lstm, gru])
def test_a_bidirectional_network_equals_torchs(cell: Cell, layers: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle here")
    weights = random_weights(cell, layers)
    module: Any = (torch.nn.LSTM if cell is lstm else torch.nn.GRU)(
        5, 4, layers, batch_first=True, bidirectional=True
    )
    module.load_state_dict({name.removeprefix("net."): torch.from_numpy(w) for name, w in weights.items()})
    inputs = np.random.default_rng(1).normal(size=(3, 7, 5)).astype(np.float32)
    with torch.no_grad():
        expected = module(torch.from_numpy(inputs))[0].numpy()
    network = BidirectionalNetwork.from_state_dict(cell, weights, "net.", "a test")
    np.testing.assert_allclose(network(inputs), expected, atol=2e-6)


def test_the_number_of_layers_is_told_from_the_names() -> None:
    for layers in (1, 2, 3):
        network = BidirectionalNetwork.from_state_dict(gru, random_weights(gru, layers), "net.", "a test")
        assert len(network.layers) == layers


def test_a_missing_array_is_named() -> None:
    weights = random_weights(lstm, 1)
    del weights["net.bias_hh_l0_reverse"]
    with pytest.raises(EncoderError, match=naming("weights.pkl", "'net.bias_hh_l0_reverse'")):
        BidirectionalNetwork.from_state_dict(lstm, weights, "net.", "weights.pkl")


def test_gru_weights_are_not_taken_for_an_lstm() -> None:
    with pytest.raises(EncoderError, match=r"weights\.pkl: .*\[\(.*\[\("):  # the shapes, and those that fit
        BidirectionalNetwork.from_state_dict(lstm, random_weights(gru, 1), "net.", "weights.pkl")

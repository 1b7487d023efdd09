"""A tiny ELMo with random weights in the original files, and its states written out from the papers in plain numpy.

Peters et al. (2018) over the characters of Kim et al. (2016) and the projected LSTM of Sak et al. (2014), one word and
one step at a time in float64; nothing of it is the library's. `make test-shared` holds it, too, against the outputs of
the original implementation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPTIONS: dict[str, Any] = {
    # Clips so tight that they are felt.
    "lstm": {
        "cell_clip": 1.5,
        "proj_clip": 0.8,
        "use_skip_connections": True,
        "n_layers": 2,
        "projection_dim": 5,
        "dim": 7,
    },
    "char_cnn": {
        "embedding": {"dim": 3},
        "filters": [[1, 2], [2, 3], [3, 4]],
        "n_highway": 2,
        "n_characters": 262,
        "max_characters_per_token": 50,
        "activation": "relu",
    },
}

Weights = dict[str, NDArray[Any]]
Memory = dict[tuple[int, int], tuple[NDArray[Any], NDArray[Any]]]
"""By direction and layer: cell and output after the last step."""


@dataclass
class PlainElmo:
    """The network of an options.json and its weights."""

    folder: Path
    options: dict[str, Any]
    weights: Weights
    clipped: set[str] = field(default_factory=set)
    """Which of the two clips changed a number so far."""

    @classmethod
    def read(cls, folder: Path) -> PlainElmo:
        import h5py

        weights: Weights = {}

        def keep(name: str, entry: Any) -> None:
            if isinstance(entry, h5py.Dataset):
                weights[name] = entry[...].astype(float)

        with h5py.File(folder / "lm_weights.hdf5", "r") as file:
            file.visititems(keep)
        return cls(folder, json.loads((folder / "options.json").read_text(encoding="utf-8")), weights)

    def word_vector(self, codes: Sequence[int]) -> NDArray[Any]:
        """From bytes, or one mark: begin-word and end-word around them, padding behind."""
        width = self.options["char_cnn"]["max_characters_per_token"]
        spelt = [258, *codes[: width - 2], 259]
        letters = self.weights["char_embed"][spelt + [260] * (width - len(spelt))]
        features = []
        for number, (span, filters) in enumerate(self.options["char_cnn"]["filters"]):
            kernel, bias = self.weights[f"CNN/W_cnn_{number}"][0], self.weights[f"CNN/b_cnn_{number}"]
            for one in range(filters):
                at_places = [
                    (letters[start : start + span] * kernel[:, :, one]).sum() + bias[one]
                    for start in range(width - span + 1)
                ]
                features.append(max(0.0, *at_places))
        x = np.array(features)
        for number in range(self.options["char_cnn"]["n_highway"]):
            place = f"CNN_high_{number}"
            gate = _sigmoid(x @ self.weights[f"{place}/W_carry"] + self.weights[f"{place}/b_carry"])
            new = np.maximum(
                0, x @ self.weights[f"{place}/W_transform"] + self.weights[f"{place}/b_transform"]
            )
            x = gate * new + (1 - gate) * x
        return np.asarray(x @ self.weights["CNN_proj/W_proj"] + self.weights["CNN_proj/b_proj"])

    def states(self, words: Sequence[str], memory: Memory | None = None) -> NDArray[Any]:
        """(layers + 1, tokens, both directions side by side); a `memory` is started from and carried on in place."""
        memory = {} if memory is None else memory
        marks = [self.word_vector([256]), *(self.word_vector(word.encode()) for word in words)]
        tokens = np.stack([*marks, self.word_vector([257])])
        sides = []
        for direction in (0, 1):
            inputs = tokens[::-1] if direction else tokens
            layers = [inputs]
            for layer in range(self.options["lstm"]["n_layers"]):
                outputs = self._lstm(inputs, (direction, layer), memory)
                inputs = outputs + inputs if layer > 0 else outputs
                layers.append(inputs)
            sides.append([states[::-1] if direction else states for states in layers])
        return np.stack([np.concatenate(pair, axis=1)[1:-1] for pair in zip(*sides, strict=True)])

    def _lstm(self, inputs: NDArray[Any], key: tuple[int, int], memory: Memory) -> NDArray[Any]:
        place = "RNN_{}/RNN/MultiRNNCell/Cell{}/LSTMCell".format(*key)
        W, b, P = (self.weights[f"{place}/{name}"] for name in ("W_0", "B", "W_P_0"))
        cell, output = memory.get(key, (np.zeros(P.shape[0]), np.zeros(P.shape[1])))
        outputs = []
        for x in inputs:
            # TensorFlow's LSTMCell: input, candidate, forget and output gate; 1 is added to the forget gate.
            i, j, f, o = np.split(np.concatenate([x, output]) @ W + b, 4)
            cell = self._clip("cell_clip", _sigmoid(f + 1) * cell + _sigmoid(i) * np.tanh(j))
            output = self._clip("proj_clip", (_sigmoid(o) * np.tanh(cell)) @ P)
            outputs.append(output)
        memory[key] = (cell, output)
        return np.stack(outputs)

    def _clip(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        most = self.options["lstm"][name]
        if (np.abs(values) > most).any():
            self.clipped.add(name)
        return np.asarray(np.clip(values, -most, most))


def write_elmo(folder: Path, seed: int = 0) -> PlainElmo:
    """Write options.json and lm_weights.hdf5 to a new `folder`."""
    import h5py

    rng = np.random.default_rng(seed)
    lstm, cnn = OPTIONS["lstm"], OPTIONS["char_cnn"]
    dim, projection, letter = lstm["dim"], lstm["projection_dim"], cnn["embedding"]["dim"]
    filters = cnn["filters"]
    features = sum(number for _, number in filters)
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, letter)}
    for place, (span, number) in enumerate(filters):
        shapes |= {f"CNN/W_cnn_{place}": (1, span, letter, number), f"CNN/b_cnn_{place}": (number,)}
    for place in range(2):
        for gate in ("carry", "transform"):
            shapes |= {f"CNN_high_{place}/W_{gate}": (features, features)}
            shapes |= {f"CNN_high_{place}/b_{gate}": (features,)}
    shapes |= {"CNN_proj/W_proj": (features, projection), "CNN_proj/b_proj": (projection,)}
    for direction in (0, 1):
        for layer in range(2):
            place_of = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {f"{place_of}/W_0": (2 * projection, 4 * dim), f"{place_of}/B": (4 * dim,)}
            shapes |= {f"{place_of}/W_P_0": (dim, projection)}
    folder.mkdir()
    (folder / "options.json").write_text(json.dumps(OPTIONS), encoding="utf-8")
    with h5py.File(folder / "lm_weights.hdf5", "w") as file:
        for name, shape in shapes.items():
            file[name] = (0.5 * rng.normal(size=shape)).astype(np.float32)
    return PlainElmo.read(folder)


def _sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(1 / (1 + np.exp(-x)))

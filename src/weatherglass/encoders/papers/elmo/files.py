"""ELMo's original files: options.json, which says how the network is built, and the weights in HDF5."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weatherglass.encoders.papers.elmo.characters import CHARACTERS
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.hdf5_file import read_hdf5
from weatherglass.storage.reading import is_folder, reading

MOST_LAYERS: Final = 64
MOST_CHARACTERS: Final = 1000


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """What options.json states and the shapes of the weights do not."""

    layers: int
    convolutions: int
    highways: int
    activation: str
    word_width: int
    """Characters a word is cut or padded to, the marks of its beginning and end included."""
    cell_clip: float
    projection_clip: float
    skip_connections: bool


def find_files(folder: Path) -> tuple[Path, Path]:
    """The options and the weights in `folder`; the original downloads have longer names, with the same endings."""
    if not is_folder(folder):
        raise SpecError(
            f"no folder '{folder}'; elmo: takes the folder that holds options.json and the weights"
        )
    return _single_file(folder, "*options.json"), _single_file(folder, "*weights.hdf5", "*.hdf5", "*.h5")


def _single_file(folder: Path, *patterns: str) -> Path:
    """The one file that matches; a later pattern counts where the earlier ones match nothing."""
    for pattern in patterns:
        matches = sorted(folder.glob(pattern))
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(path.name for path in matches)
            raise SpecError(
                f"{folder}: {len(matches)} files match {pattern} ({names}); keep one ELMo per folder"
            )
    raise SpecError(f"{folder}: no file matches {' or '.join(patterns)}; is this the folder of an ELMo?")


def read_options(path: Path) -> ElmoOptions:
    """Read options.json.

    Raises:
        EncoderError: if it is no JSON or lacks what the network needs.
    """
    with reading(path, EncoderError, "these are not the options of an ELMo: the file"):
        whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        lstm, cnn = whole["lstm"], whole["char_cnn"]
        options = ElmoOptions(
            layers=_count(lstm.get("n_layers", 1), "n_layers", 1, MOST_LAYERS),
            convolutions=_count(len(cnn["filters"]), "filters", 1, MOST_LAYERS),
            highways=_count(cnn.get("n_highway") or 0, "n_highway", 0, MOST_LAYERS),
            activation=str(cnn["activation"])[:40],
            word_width=_count(
                cnn["max_characters_per_token"], "max_characters_per_token", 3, MOST_CHARACTERS
            ),
            cell_clip=_clip(lstm.get("cell_clip")),
            projection_clip=_clip(lstm.get("proj_clip")),
            skip_connections=bool(lstm["use_skip_connections"]),
        )
    if options.activation not in ("relu", "tanh"):
        raise EncoderError(f"{path}: activation '{options.activation}' is neither relu nor tanh")
    return options


def _count(value: object, name: str, least: int, most: int) -> int:
    """A whole number that a network can have; arrays are made as large as it says."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} should be a whole number from {least} to {most}")
    return value


def _clip(value: float | None) -> float:
    limit = float("inf") if value is None else float(value)
    if not limit > 0:
        raise ValueError(f"a clip of {limit}")
    return limit


def read_weights(path: Path, options: ElmoOptions) -> dict[str, NDArray[np.float32]]:
    """Every array of the weight file by its full name, checked against one another.

    Raises:
        EncoderError: if an array is missing or of the wrong shape.
    """
    with reading(path, EncoderError):
        arrays = read_hdf5(path, EncoderError).arrays
        has_projection = any(name.startswith("CNN_proj/") for name in arrays)
        weights = {name: _array(arrays, name, path) for name in _names(options, has_projection)}
        _check_shapes(weights, options, path)
    return weights


def _names(options: ElmoOptions, has_projection: bool) -> list[str]:
    names = ["char_embed"]
    names += [f"CNN/{kind}_cnn_{i}" for i in range(options.convolutions) for kind in "Wb"]
    names += [
        f"CNN_high_{i}/{kind}_{gate}"
        for i in range(options.highways)
        for gate in ("carry", "transform")
        for kind in "Wb"
    ]
    names += ["CNN_proj/W_proj", "CNN_proj/b_proj"] if has_projection else []
    names += [
        f"RNN_{direction}/RNN/MultiRNNCell/Cell{i}/LSTMCell/{kind}"
        for direction in (0, 1)
        for i in range(options.layers)
        for kind in ("W_0", "B", "W_P_0")
    ]
    return names


def _array(arrays: Mapping[str, NDArray[Any]], name: str, path: Path) -> NDArray[np.float32]:
    if name not in arrays:
        raise EncoderError(f"{path}: no array '{name}'; the file does not belong to the options beside it")
    array = arrays[name].astype(np.float32)
    if not np.isfinite(array).all():
        raise EncoderError(f"{path}: '{name}' has entries that are not finite; get the file again")
    return array


def _check_shapes(weights: dict[str, NDArray[np.float32]], options: ElmoOptions, path: Path) -> None:
    characters = weights["char_embed"].shape[0]
    if characters != CHARACTERS:
        raise EncoderError(
            f"{path}: char_embed has {characters} rows, but ELMo knows {CHARACTERS} characters"
        )
    for direction in (0, 1):
        for i in range(options.layers):
            prefix = f"RNN_{direction}/RNN/MultiRNNCell/Cell{i}/LSTMCell"
            dim, projection = weights[f"{prefix}/W_P_0"].shape
            shape = weights[f"{prefix}/W_0"].shape
            if shape != (2 * projection, 4 * dim):
                raise EncoderError(
                    f"{path}: {prefix}/W_0 is {shape}, but W_P_0 requires {(2 * projection, 4 * dim)}"
                )

"""ELMo's original files: options.json, which says how the network is built, and the weights in HDF5."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.encoders.papers.elmo.characters import CHARACTERS
from weatherglass.errors import EncoderError, SpecError

if TYPE_CHECKING:
    import h5py


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
    if not folder.is_dir():
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
    try:
        whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        lstm, cnn = whole["lstm"], whole["char_cnn"]
        options = ElmoOptions(
            layers=int(lstm.get("n_layers", 1)),
            convolutions=len(cnn["filters"]),
            highways=int(cnn.get("n_highway") or 0),
            activation=str(cnn["activation"]),
            word_width=int(cnn["max_characters_per_token"]),
            cell_clip=_clip(lstm.get("cell_clip")),
            projection_clip=_clip(lstm.get("proj_clip")),
            skip_connections=bool(lstm["use_skip_connections"]),
        )
    except KeyError as error:
        raise EncoderError(f"{path}: no entry {error}; these are not the options of an ELMo") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise EncoderError(f"{path}: not the options of an ELMo ({error})") from None
    if options.activation not in ("relu", "tanh"):
        raise EncoderError(f"{path}: activation '{options.activation}' is neither relu nor tanh")
    return options


def _clip(value: float | None) -> float:
    return float("inf") if value is None else float(value)


def read_weights(path: Path, options: ElmoOptions) -> dict[str, NDArray[np.float32]]:
    """Every array of the weight file by its full name, checked against one another.

    Raises:
        EncoderError: if an array is missing or of the wrong shape.
    """
    import h5py

    try:
        with h5py.File(path, "r") as file:
            names = _names(options, has_projection="CNN_proj" in file)
            weights = {name: _read(file, name, path) for name in names}
    except OSError as error:
        raise EncoderError(f"{path}: not readable as HDF5 ({error})") from None
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


def _read(file: h5py.File, name: str, path: Path) -> NDArray[np.float32]:
    if name not in file:
        raise EncoderError(f"{path}: no array '{name}'; the file does not belong to the options beside it")
    return np.asarray(file[name][...], dtype=np.float32)


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

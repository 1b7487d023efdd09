"""Writing .safetensors: the same content gives the same bytes, with a checksum over all of them in the metadata.

The library writes metadata in random order; the format is simple enough to write it here, in a fixed one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import VectorFileError
from weatherglass.storage.checksum import LENGTH, MISMATCH, State, is_whole, seal

START = b'{"__metadata__": {"sha256": "'
PLACE = 8 + len(START)
"""Where the checksum is: behind the length of the header and its start."""
TYPES = {"F32": 4, "I64": 8}
"""Bytes of a number."""


def write_safetensors(
    path: Path,
    metadata: Mapping[str, str],
    tensors: Mapping[str, tuple[str, tuple[int, ...]]],
    blocks: Iterable[NDArray[np.generic]],
) -> None:
    """Write tensors and their metadata.

    Args:
        path: an unfinished file, which takes the place of the real one afterwards.
        metadata: by name.
        tensors: type and shape by name.
        blocks: their numbers, little-endian, in the same order; a tensor may come in several blocks.
    """
    header: dict[str, object] = {"__metadata__": {"sha256": " " * LENGTH, **metadata}}
    end = 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + TYPES[dtype] * int(np.prod(shape))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    content = json.dumps(header, ensure_ascii=False).encode()
    content += b" " * (-len(content) % 8)
    with path.open("wb") as file:
        file.write(len(content).to_bytes(8, "little") + content)
        for block in blocks:
            file.write(np.ascontiguousarray(block).data)
    seal(path, PLACE)


def safetensors_state(path: Path) -> State:
    """Whether a file is as `write_safetensors` left it; UNKNOWN for one that is not ours."""
    with path.open("rb") as file:
        start = file.read(PLACE)
    if start[8:] != START:
        return State.UNKNOWN
    return State.WHOLE if is_whole(path, PLACE) else State.DAMAGED


def require_whole(path: Path) -> None:
    """Refuse a file whose checksum does not match; one without a checksum is let through.

    Raises:
        VectorFileError: naming the file and how it is repaired.
    """
    if safetensors_state(path) is State.DAMAGED:
        raise VectorFileError(
            f"{path}: {MISMATCH}; have it written anew; for an embedding of a study run: "
            "weatherglass reliability run STUDY.toml"
        )

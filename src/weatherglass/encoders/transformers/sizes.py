"""What a configuration has the libraries build, compared with the size of the model's files before memory is taken.

config.json says how large a network is, and transformers builds it before it looks at the weights: whatever these lack
is then allocated and filled with random numbers. It builds on torch's meta device, where a tensor has a shape and no
memory, so modules and tensors can be counted there, and the first that is too many ends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from weatherglass.encoders.transformers.hub import ModelFiles
from weatherglass.encoders.transformers.modules import module_types
from weatherglass.errors import EncoderError
from weatherglass.storage.reading import exists, shown_size
from weatherglass.storage.torch_file import check_torch

NUMBERS = 2**26
NUMBERS_PER_BYTE = 8
"""Numbers of a network: 256 MB of them as float32, or as many as its files can hold at one bit each."""

PARTS = 10_000
BYTES_PER_PART = 32
"""Modules and tensors. A tensor has a name, a type and a shape in the file of weights, which takes more than that."""

ADAPTER = "adapter_config.json"

MOST_OF_A_KIND = 2**20
LONGEST_WINDOW = 2**16
_LIMITS = (
    (re.compile(r"(layers?|labels|groups|experts|blocks|stages)$"), MOST_OF_A_KIND),
    (re.compile(r"(attention_window|block_size|chunk_length)$"), LONGEST_WINDOW),
)
"""By the end of a key: what is counted through while a configuration is read, and what texts are padded to."""


def check_counts(name: str, config: Mapping[str, Any]) -> None:
    """Refuse counts that keep a library busy before a network is built, or that pad every text.

    Raises:
        EncoderError: naming the first.
    """
    tables: list[Mapping[str, Any]] = [config]
    while tables:
        for key, value in tables.pop().items():
            if isinstance(value, dict):
                tables.append(value)
            largest = max(
                (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, int)),
                default=0,
            )
            for end, most in _LIMITS:
                if largest > most and end.search(key):
                    raise EncoderError(
                        f"'{name}': its configuration says {key} = {largest}, and {most} is the most that is read;"
                        " is it damaged?"
                    )


def check_module_sizes(name: str, files: ModelFiles) -> None:
    """Refuse a module of sentence-transformers that is far larger than the model's files.

    Those but the first are built in memory at once; the largest of their arrays has two of their numbers as its shape.

    Raises:
        EncoderError: naming its configuration.
    """
    for kind, path in module_types(files):
        if kind == "Transformer":
            continue
        file = str(Path(path) / "config.json")
        config = files.table(file)
        check_counts(f"{name}, {file}", config)
        sizes = sorted(value for value in config.values() if isinstance(value, int))
        if len(sizes) > 1 and sizes[-1] * sizes[-2] > NUMBERS + NUMBERS_PER_BYTE * files.size():
            raise EncoderError(_too_large(name, file, sizes[-1] * sizes[-2], "numbers", files.size()))


@contextmanager
def limited_by_files(name: str, files: ModelFiles) -> Iterator[None]:
    """Within, a network that is built has no more parts and numbers than the model's files can hold.

    Not so for an adapter: the model that it changes has its own files, elsewhere. Weights that torch.save wrote are
    looked over before torch reads them.

    Raises:
        EncoderError: at the first part that is too many, before it has memory.
        VectorFileError: for a file of weights that asks for more than it has.
    """
    with _checked_weights(), _counted_network(name, files):
        yield


@contextmanager
def _checked_weights() -> Iterator[None]:
    """Within, torch.load looks over a file first: only the library knows which ones it reads, or fetches."""
    import torch

    load = torch.load

    def checked(file: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(file, str | PathLike):
            check_torch(Path(file))
        return load(file, *arguments, **options)

    torch.load = checked
    try:
        yield
    finally:
        torch.load = load


@contextmanager
def _counted_network(name: str, files: ModelFiles) -> Iterator[None]:
    if exists(files.folder / ADAPTER):
        yield
        return
    from torch.nn.modules import module as torch_modules

    numbers: dict[tuple[int, str], int] = {}
    total = 0

    def count(owner: Any, part: str, value: Any) -> None:
        nonlocal total
        place = (id(owner), part)  # weights take the place of what was built
        added = value.numel() if hasattr(value, "numel") else 0
        total += added - numbers.get(place, 0)
        numbers[place] = added
        if total > NUMBERS and total > NUMBERS + NUMBERS_PER_BYTE * files.size():
            raise EncoderError(_too_large(name, "config.json", total, "numbers", files.size()))
        if len(numbers) > PARTS and len(numbers) > PARTS + files.size() // BYTES_PER_PART:
            raise EncoderError(_too_large(name, "config.json", len(numbers), "parts", files.size()))

    hooks = [
        torch_modules.register_module_module_registration_hook(count),
        torch_modules.register_module_parameter_registration_hook(count),
        torch_modules.register_module_buffer_registration_hook(count),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _too_large(name: str, file: str, count: int, noun: str, size: int) -> str:
    return (
        f"'{name}': {file} asks for a network of {count} {noun} or more, but all files of the model together have"
        f" {shown_size(size)}; get the configuration and the weights again"
    )

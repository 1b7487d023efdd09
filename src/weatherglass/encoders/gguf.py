"""Encode with `gguf:FILE`, a model of llama.cpp whose weights transformers unpacks.

The header is read without a library, so that a spec is checked before weights are loaded. The layout (docs/gguf.md of
ggml) is a magic number, the version, the number of tensors, the number of entries, and then the entries; each entry is
a key, a type and a value. Arrays, which contain the vocabulary, are skipped.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import os
import struct
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from weatherglass.encoders.model_files import ModelFiles
from weatherglass.encoders.prompts import Prompt
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.transformers import TransformerEncoder, TransformerOptions
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.installed import require
from weatherglass.storage.reading import is_folder, is_regular_file, reading

MAGIC = b"GGUF"
VERSIONS = (2, 3)

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The struct code of each type of number."""
STRING, ARRAY = 8, 9

SMALLEST_TENSOR = 8 + 4 + 4 + 8
"""The smallest number of bytes that describe a tensor: the length of its name, its dimensions, type and position."""

LONGEST = 2**26
"""The largest plausible number of bytes of a text, or of entries of a table."""


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the entries of the header by key, except arrays.

    Raises:
        EncoderError: if the file cannot be read, is not a GGUF file, or is damaged.
    """
    with reading(path, EncoderError, "the GGUF file"):
        if path.stat().st_size == 0:
            raise EncoderError(f"{path}: the file is empty")
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[:4] != MAGIC:
                raise EncoderError(f"{path}: not a GGUF file (it does not begin with 'GGUF')")
            return _Reader(content).metadata()


class _Reader:
    """A reader of successive values."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content = content
        self.at = len(MAGIC)

    def metadata(self) -> dict[str, Any]:
        if (version := self.number("I")) not in VERSIONS:
            raise ValueError(f"version {version}; supported: {', '.join(map(str, VERSIONS))}")
        tensors = self.number("Q")
        if tensors * SMALLEST_TENSOR > len(self.content):
            raise ValueError(f"{tensors} tensors in {len(self.content)} bytes")
        entries = self.size()
        found = {}
        for _ in range(entries):
            key = self.text()
            value = self.value(self.number("I"))
            if value is not None:
                found[key] = value
        return found

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self.content, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def size(self) -> int:
        size = int(self.number("Q"))
        if size > LONGEST:
            raise ValueError(f"a length of {size} at byte {self.at}")
        return size

    def text(self) -> str:
        size = self.size()
        if self.at + size > len(self.content):
            raise ValueError(f"a text at byte {self.at} runs past the end")
        self.at += size
        return self.content[self.at - size : self.at].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        """Return a number or a text, or None for an array."""
        if kind == STRING:
            return self.text()
        if kind != ARRAY:
            if kind not in NUMBERS:
                raise ValueError(f"type {kind} at byte {self.at}")
            return self.number(NUMBERS[kind])
        inner, count = self.number("I"), self.size()
        if inner in NUMBERS:
            self.at += count * struct.calcsize(f"<{NUMBERS[inner]}")
        elif inner == STRING:
            for _ in range(count):
                size = self.size()
                self.at += size
        else:
            raise ValueError(f"an array of type {inner} at byte {self.at}")
        if self.at > len(self.content):
            raise ValueError("an array runs past the end")
        return None


T = TypeVar("T")

PACKAGES = ("torch", "transformers", "gguf", "accelerate")

POOLING_TYPES = {1: "mean", 2: "cls", 3: "last"}
"""The numbers that `ARCHITECTURE.pooling_type` can have in llama.cpp; 0 means no pooling."""

FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
}
FILE_TYPES |= {12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K"}
FILE_TYPES |= {32: "BF16"}
"""The names of `general.file_type` in llama.cpp, for the record."""


@dataclass(frozen=True)
class GgufFile(ModelFiles):
    """A model in a single file; no other file in its folder is read."""

    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / self.target

    def identity(self) -> str:
        return file_hash(self.path)

    def size(self) -> int:
        return self.path.stat().st_size

    def json(self, name: str) -> Any:  # noqa: ARG002
        return None

    def about(self, key: str) -> Any:
        """Return an entry whose key begins with the name of the architecture."""
        return self.metadata.get(f"{self.metadata.get('general.architecture')}.{key}")

    @cached_property
    def config(self) -> dict[str, Any]:
        """Return the part of a config.json that is needed to check options."""
        return {
            "model_type": self.metadata.get("general.architecture"),
            "num_hidden_layers": self.about("block_count"),
            "max_position_embeddings": self.about("context_length"),
        }

    def load(self, loader: Callable[..., T], **options: Any) -> T:
        """Load this file alone with `loader(…)`, so that a config.json in its folder cannot name code to run.

        The progress bar that unpacking shows at any log level is hidden.
        """
        with tempfile.TemporaryDirectory() as alone, contextlib.redirect_stderr(io.StringIO()):
            link = Path(alone) / "model.gguf"
            try:
                link.symlink_to(self.path.resolve())
            except OSError:  # few users may create links on Windows
                os.link(self.path, link)
            return loader(alone, gguf_file=link.name, local_files_only=True, **options)


def find_gguf(spec: Spec) -> GgufFile:
    """Return the file that a spec names.

    Raises:
        SpecError: if there is no such file.
        EncoderError: if it is not a complete GGUF model.
    """
    path = Path(spec.target).expanduser()
    if is_folder(path):
        files = sorted(path.glob("*.gguf"))
        if len(files) != 1:
            names = f" ({', '.join(file.name for file in files)})" if files else ""
            raise SpecError(f"{path}: this folder has {len(files)} GGUF files{names}; name one of them")
        (path,) = files
    if not is_regular_file(path):
        raise SpecError(f"there is no file '{spec.target}'; gguf: reads a local file")
    metadata = read_metadata(path)
    if not isinstance(metadata.get("general.architecture"), str):
        raise EncoderError(f"{path}: not a model, because this GGUF file has no general.architecture")
    if isinstance(parts := metadata.get("split.count"), int) and parts > 1:
        raise EncoderError(f"{path}: this is one of {parts} parts; join them with: llama-gguf-split --merge")
    return GgufFile(path.name, path.parent, metadata=metadata)


class GgufEncoder(TransformerEncoder):
    """An encoder for a GGUF file with transformers; pooling and layers work as for `hf:`, and the file contains no
    code.
    """

    _files: GgufFile

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Check the spec against the header of the file; weights are loaded at the first `encode`."""
        require(str(spec), PACKAGES, "gguf")
        options = spec.reader()
        files = find_gguf(spec)
        if "trust_remote_code" in options.unread:
            raise SpecError(f"'{spec}': a GGUF file contains no code; remove trust_remote_code")
        pooling = POOLING_TYPES.get(files.about("pooling_type"), "last")
        settings = TransformerOptions.from_options(options, files, pooling)
        prompt = Prompt.from_options(options, files)
        batch_size = options.integer("batch_size", 128)
        options.done()
        return cls(spec, files, settings, prompt, batch_size)

    @property
    def head(self) -> str | None:
        """Return "causal", or None if the file states a pooling, since it was then trained to embed texts."""
        return None if self._files.about("pooling_type") else "causal"

    @property
    def options(self) -> Mapping[str, str]:
        of_file = {
            "architecture": str(self._files.metadata["general.architecture"]),
            "weights": FILE_TYPES.get(self._files.metadata.get("general.file_type", -1), "unknown"),
        }
        choices = {name: value for name, value in super().options.items() if name != "trust_remote_code"}
        return {**of_file, **choices}

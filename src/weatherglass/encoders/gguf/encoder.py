"""`gguf:FILE`: a model of llama.cpp as an encoder, its weights unpacked by transformers' GGUF reader."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from weatherglass.encoders.gguf.header import read_metadata
from weatherglass.encoders.kinds import require
from weatherglass.encoders.prompts import Prompt
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.transformers.encoder import Settings, TransformerEncoder
from weatherglass.encoders.transformers.hub import ModelFiles
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.fingerprint import file_hash
from weatherglass.storage.reading import is_folder, is_regular_file

T = TypeVar("T")

PACKAGES = ("torch", "transformers", "gguf", "accelerate")

POOLING_TYPES = {1: "mean", 2: "cls", 3: "last"}
"""llama.cpp's numbers in `ARCHITECTURE.pooling_type`; 0 is none."""

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
"""llama.cpp's names of `general.file_type`, for the record."""


@dataclass(frozen=True)
class GgufFile(ModelFiles):
    """One file that holds everything: no other file of its folder is read."""

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
        """An entry that is kept under the architecture's name."""
        return self.metadata.get(f"{self.metadata.get('general.architecture')}.{key}")

    @cached_property
    def config(self) -> dict[str, Any]:
        """What config.json would say, as far as options are checked against it."""
        return {
            "model_type": self.metadata.get("general.architecture"),
            "num_hidden_layers": self.about("block_count"),
            "max_position_embeddings": self.about("context_length"),
        }

    def load(self, loader: Callable[..., T], **options: Any) -> T:
        """`loader(…)` on this file alone: what lies beside it, such as a config.json that names code, is not seen.

        The progress bar, which unpacking shows whatever the log level, is not shown either.
        """
        with tempfile.TemporaryDirectory() as alone, contextlib.redirect_stderr(io.StringIO()):
            link = Path(alone) / "model.gguf"
            try:
                link.symlink_to(self.path.resolve())
            except OSError:  # Windows allows it to few users
                os.link(self.path, link)
            return loader(alone, gguf_file=link.name, local_files_only=True, **options)


def find_gguf(spec: Spec) -> GgufFile:
    """The file that a spec names.

    Raises:
        SpecError: if there is no such file.
        EncoderError: if it is no whole GGUF model.
    """
    path = Path(spec.target).expanduser()
    if is_folder(path):
        files = sorted(path.glob("*.gguf"))
        if len(files) != 1:
            names = f" ({', '.join(file.name for file in files)})" if files else ""
            raise SpecError(f"{path}: a folder with {len(files)} GGUF files{names}; name one")
        (path,) = files
    if not is_regular_file(path):
        raise SpecError(f"no file '{spec.target}' (gguf: reads a local file)")
    metadata = read_metadata(path)
    if not isinstance(metadata.get("general.architecture"), str):
        raise EncoderError(f"{path}: a GGUF file without general.architecture, so it is no model")
    if isinstance(parts := metadata.get("split.count"), int) and parts > 1:
        raise EncoderError(f"{path}: one of {parts} parts; join them with: llama-gguf-split --merge")
    return GgufFile(path.name, path.parent, metadata=metadata)


class GgufEncoder(TransformerEncoder):
    """A GGUF file through transformers, with pooling and layers as for `hf:`; no code comes with such a file."""

    _files: GgufFile

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Check the spec against the file's header; weights are loaded at the first `encode`."""
        require(str(spec), PACKAGES, "gguf")
        options = spec.reader()
        files = find_gguf(spec)
        if "trust_remote_code" in options.unread:
            raise SpecError(f"'{spec}': a GGUF file holds no code, so there is none to trust")
        pooling = POOLING_TYPES.get(files.about("pooling_type"), "last")
        settings = Settings.from_options(options, files, pooling)
        prompt = Prompt.from_options(options, files)
        batch_size = options.integer("batch_size", 128)
        options.done()
        return cls(spec, files, settings, prompt, batch_size)

    @property
    def options(self) -> Mapping[str, str]:
        of_file = {
            "architecture": str(self._files.metadata["general.architecture"]),
            "weights": FILE_TYPES.get(self._files.metadata.get("general.file_type", -1), "unknown"),
        }
        choices = {name: value for name, value in super().options.items() if name != "trust_remote_code"}
        return {**of_file, **choices}

"""Encode with `wordllama`, whose vectors are in the PyPI package of that name.

The files are read from the folder of the package, which is not imported, since it may use the network and is slow to
import. The vectors are token embeddings of LLaMA 2 models, compressed to 256 dimensions; the vector of a text is the
mean over its tokens.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyMatrix, Matrix
from weatherglass.encoders.base import STATIC, Coverage, Encoder
from weatherglass.encoders.spec import Spec
from weatherglass.errors import MissingExtraError, SpecError
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.installed import install_command, installed_version

MODEL = "l2_supercat"
WEIGHTS = f"weights/{MODEL}_256.safetensors"
TOKENIZER = f"tokenizers/{MODEL}_tokenizer_config.json"
DIMENSIONS = ("256", "128", "64")
"""The supported numbers of dimensions; the vectors were trained to be truncated."""
TOKENS_AT_ONCE = 4096
"""The number of tokens whose vectors are averaged at once, which need 2 MB."""


class WordLlamaEncoder(Encoder):
    """An encoder that averages the token vectors of a text in float64."""

    gives = STATIC
    reads_dim: ClassVar[bool] = True

    def __init__(self, dim: int = 256) -> None:
        self.name = str(Spec("wordllama"))
        self.options: Mapping[str, str] = {"dim": str(dim), "pooling": "mean"}
        self._dim = dim
        self._folder = package_folder()
        self._last: dict[str, Any] = {}

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `wordllama?dim=256|128|64`.

        Raises:
            SpecError: if the spec has a target or a wrong option.
            MissingExtraError: if the package is not installed.
        """
        if spec.target:
            raise SpecError(f"'{spec}': 'wordllama' is a single model; write it without a file or name")
        options = spec.reader()
        dim = int(options.choice("dim", DIMENSIONS, "256"))
        options.done()
        encoder = cls(dim)
        encoder.name = str(spec)
        return encoder

    def identity(self) -> str:
        """Return a hash of the weights, the tokeniser, the version of the package and the options."""
        parts = [
            _version(),
            file_hash(self._folder / WEIGHTS),
            file_hash(self._folder / TOKENIZER),
            *map("=".join, self.options.items()),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one mean vector per text; NaN for a text without tokens."""
        embedding = self._embedding
        means = np.full((len(texts), self._dim), np.nan)
        rows_of_length: dict[int, list[int]] = defaultdict(list)
        ids = [tokenised.ids for tokenised in self._tokenised(texts)]
        for row, of_text in enumerate(ids):
            rows_of_length[len(of_text)].append(row)
        rows_of_length.pop(0, None)
        for length, rows in rows_of_length.items():
            # Texts of equal length are averaged at once, which adds the same numbers in the same order.
            at_once = max(1, TOKENS_AT_ONCE // length)
            for start in range(0, len(rows), at_once):
                some = rows[start : start + at_once]
                means[some] = embedding[[ids[row] for row in some]].mean(axis=1, dtype=np.float64)
        return means

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return the tokens of each text; none is missing, since unknown characters are read as bytes."""
        return [Coverage(tuple(tokenised.tokens)) for tokenised in self._tokenised(texts)]

    def notes(self) -> list[str]:
        """Return the version of the vectors."""
        return [f"wordllama {_version()}, {MODEL}"]

    def _tokenised(self, texts: Sequence[str]) -> list[Any]:
        """Return the tokens of each text; the last result is cached, since `coverage` and `encode` get the same
        texts.
        """
        tokenise, last = self._tokenizer.encode, self._last
        self._last = {
            text: last[text] if text in last else tokenise(text, add_special_tokens=False) for text in texts
        }
        return [self._last[text] for text in texts]

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _embedding(self) -> AnyMatrix:
        """Return a row for each token, in half precision."""
        from safetensors import safe_open

        with safe_open(self._folder / WEIGHTS, framework="np") as file:
            embedding: AnyMatrix = file.get_tensor("embedding.weight")
        return embedding[:, : self._dim]


def _version() -> str:
    return installed_version("wordllama") or "of an unknown version"


def package_folder() -> Path:
    """Return the folder of the installed package, without importing it.

    Raises:
        MissingExtraError: if it is not installed.
    """
    package = find_spec("wordllama")
    if package is None or package.origin is None:
        raise MissingExtraError(f"'wordllama' needs its package; run: {install_command('wordllama')}")
    return Path(package.origin).parent

"""Encode with `model2vec:FOLDER-OR-NAME`, a static model, where the vector of a text is the mean of its token vectors.

model.safetensors, tokenizer.json and config.json are read with libraries of the base install; the package model2vec is
not needed. The computation and the precision are the same as in `StaticModel.encode`, so that the vectors are equal.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix, Integers
from weatherglass.encoders.base import STATIC, Coverage, Encoder
from weatherglass.encoders.model_files import TOKENIZER, ModelFiles, find_model, read_tokenizer
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.reading import errors_in_one_line, reading

WEIGHTS, CONFIG = "model.safetensors", "config.json"
SENTENCE_TRANSFORMERS = "0_StaticEmbedding"
"""The subfolder in which sentence-transformers stores a static model."""

DEFAULT_MAX_LENGTH = 512
"""The default of model2vec for models whose configuration does not state a value."""

BATCH = 1024
"""The number of texts per batch; the token vectors of a larger batch do not fit into the processor's cache."""

METHOD = "model2vec, 1"

SHOWN = 20
"""The number of names in an error message."""


@dataclass(frozen=True, slots=True)
class StaticTensors:
    """The content of model.safetensors."""

    embeddings: NDArray[Any]
    weights: NDArray[Any] | None
    """One factor per token; only in models with a quantised vocabulary."""
    mapping: Integers | None
    """The row of each token; only in models with a quantised vocabulary."""


class Model2VecEncoder(Encoder):
    """An encoder that averages token vectors; unknown tokens are left out."""

    gives = STATIC

    def __init__(self, spec: Spec, folder: Path, files: ModelFiles, max_length: int, normalise: str) -> None:
        self.name = str(spec)
        self._folder = folder
        self._files = files
        self._normalise = normalise == "yes"
        self._max_length = max_length
        self.options: Mapping[str, str] = {
            "pooling": "mean",
            "normalise": normalise,
            "max_length": str(max_length),
            **({"revision": files.commit} if files.commit else {}),
        }

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `model2vec:FOLDER-OR-NAME?normalise=yes|no&max_length=512&revision=…`; the model's configuration
        contains the defaults.

        Raises:
            SpecError: if an option is wrong, or the target is not a folder or hub name.
            EncoderError: if a file of the model is missing or damaged.
        """
        if not spec.target:
            raise SpecError(
                f"'{spec}': give the folder or hub name of a model, as in model2vec:minishlab/potion-base-8M"
            )
        options = spec.reader()
        files = find_model(
            spec.target, options.text("revision", ""), (CONFIG, f"{SENTENCE_TRANSFORMERS}/{TOKENIZER}")
        )
        nested = files.folder / SENTENCE_TRANSFORMERS
        folder = nested if nested.is_dir() else files.folder
        config = files.config
        default_length = config.get("max_length", DEFAULT_MAX_LENGTH)
        normalise = options.flag("normalise", bool(config.get("normalize", False)))
        max_length = options.integer("max_length", default_length or 0, least=0)
        options.done()
        for name in (TOKENIZER, *(() if files.commit else (WEIGHTS,))):
            if not (folder / name).is_file():
                raise EncoderError(f"'{spec}': {folder} has no {name}, so it is not a model2vec model")
        return cls(spec, folder, files, max_length, "yes" if normalise else "no")

    def identity(self) -> str:
        """Return a hash of weights, tokenizer, options and the tokenizers library."""
        hashes = [file_hash(self._weights_file), file_hash(self._folder / TOKENIZER)]
        options = {name: value for name, value in self.options.items() if name != "revision"}
        content = [METHOD, *hashes, options, version("tokenizers")]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        """Return one mean vector per text; NaN for a text without known tokens."""
        batches = [self._encode(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        return np.concatenate([self._encode(()), *batches])

    def _encode(self, texts: Sequence[str]) -> AnyMatrix:
        tensors = self._tensors
        ids = self._token_ids(texts)
        kind = np.dtype(np.float32) if tensors.embeddings.dtype == np.int8 else tensors.embeddings.dtype
        vectors = np.full((len(texts), tensors.embeddings.shape[1]), np.nan, dtype=kind)
        by_length: dict[int, list[int]] = defaultdict(list)
        for row, tokens in enumerate(ids):
            by_length[len(tokens)].append(row)
        for length, rows in by_length.items():
            if length:
                vectors[rows] = _token_vectors(tensors, np.array([ids[row] for row in rows])).mean(axis=1)
        return _unit_length(vectors) if self._normalise else vectors

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return the tokens of each text; unknown tokens are left out of the mean."""
        encoded = self._tokenizer.encode_batch([self._cut(text) for text in texts], add_special_tokens=False)
        return [self._coverage(text, tokens) for text, tokens in zip(texts, encoded, strict=True)]

    def _coverage(self, text: str, encoded: Any) -> Coverage:
        unknown = [
            text[start:end]
            for number, (start, end) in zip(encoded.ids, encoded.offsets, strict=True)
            if number == self._unknown
        ]
        cut = encoded.overflowing or len(self._cut(text)) < len(text)
        return Coverage(
            tuple(encoded.tokens), tuple(unknown), f"cut to {len(encoded.ids)} tokens" if cut else ""
        )

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        with errors_in_one_line(
            str(self._folder / TOKENIZER), "cannot tokenise", "get it again", EncoderError
        ):
            encoded = self._tokenizer.encode_batch_fast(
                [self._cut(text) for text in texts], add_special_tokens=False
            )
        if self._unknown is None:
            return [text.ids for text in encoded]
        return [[number for number in text.ids if number != self._unknown] for text in encoded]

    def _cut(self, text: str) -> str:
        """Return a text cut to the length of `length` median tokens, as in model2vec."""
        return text[: self._max_length * self._usual_token_length] if self._max_length else text

    @cached_property
    def _usual_token_length(self) -> int:
        return int(np.median([len(token) for token in self._tokenizer.get_vocab()]))

    @cached_property
    def _tokenizer(self) -> Any:
        path, noun = self._folder / TOKENIZER, "this tokenizer"
        tokenizer = read_tokenizer(path, noun)
        with reading(path, EncoderError, noun):
            tokenizer.no_padding()
            if self._max_length:
                tokenizer.enable_truncation(self._max_length)
            else:
                tokenizer.no_truncation()
            return tokenizer

    @cached_property
    def _unknown(self) -> int | None:
        """Return the number of the unknown token."""
        model = json.loads(self._tokenizer.to_str())["model"]
        if "unk_token" in model:
            token = model["unk_token"]
            return None if token is None else self._tokenizer.token_to_id(token)
        number = model.get("unk_id")
        return None if number is None else int(number)

    @cached_property
    def _weights_file(self) -> Path:
        if not self._files.commit:
            return self._folder / WEIGHTS
        inside = self._folder.relative_to(self._files.folder) / WEIGHTS
        return self._files.load(lambda name, **place: _from_hub(name, inside.as_posix(), **place))

    @cached_property
    def _tensors(self) -> StaticTensors:
        tensors = _read_tensors(self._weights_file)
        tokens = self._tokenizer.get_vocab_size()
        rows = len(tensors.embeddings) if tensors.mapping is None else len(tensors.mapping)
        if rows != tokens:
            raise EncoderError(
                f"{self._weights_file}: {rows} rows, but the tokenizer has {tokens} tokens; use files of one model"
            )
        return tensors


def _from_hub(name: str, file: str, revision: str, local_files_only: bool) -> Path:
    from huggingface_hub import hf_hub_download

    return Path(hf_hub_download(name, file, revision=revision, local_files_only=local_files_only))


def _read_tensors(path: Path) -> StaticTensors:
    from safetensors import safe_open

    noun = "this .safetensors file"
    with reading(path, EncoderError, noun), safe_open(path, framework="numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - this is not a mapping
    embeddings = tensors.get("embeddings", tensors.get("embedding.weight"))
    if embeddings is None:
        names = ", ".join(sorted(tensors)[:SHOWN])
        raise EncoderError(f"{path}: no tensor called 'embeddings' (it has: {names})")
    if embeddings.ndim != 2 or embeddings.dtype.kind not in "fi" or 0 in embeddings.shape:
        raise EncoderError(f"{path}: 'embeddings' has shape {embeddings.shape} and type {embeddings.dtype}")
    weights, mapping = tensors.get("weights"), tensors.get("mapping")
    for name, tensor, kinds in (("weights", weights, "f"), ("mapping", mapping, "iu")):
        if tensor is not None and (tensor.ndim != 1 or tensor.dtype.kind not in kinds):
            raise EncoderError(
                f"{path}: '{name}' has shape {tensor.shape} and type {tensor.dtype}; 'weights' should be a "
                "one-dimensional array of floats, and 'mapping' one of integers"
            )
    if not np.isfinite(embeddings).all() or not (weights is None or np.isfinite(weights).all()):
        raise EncoderError(f"{path}: contains entries that are not finite; get the file again")
    if mapping is not None and (
        mapping.size == 0 or not 0 <= mapping.min() <= mapping.max() < len(embeddings)
    ):
        raise EncoderError(
            f"{path}: 'mapping' names rows that 'embeddings' ({len(embeddings)} rows) does not have"
        )
    tokens = len(embeddings) if mapping is None else len(mapping)
    if weights is not None and len(weights) != tokens:
        raise EncoderError(f"{path}: {len(weights)} weights for {tokens} tokens")
    return StaticTensors(embeddings, weights, mapping)


def _token_vectors(tensors: StaticTensors, ids: Integers) -> NDArray[Any]:
    """Return an array of texts × tokens × dimensions, weighted if the model has weights."""
    rows = ids if tensors.mapping is None else tensors.mapping[ids]
    vectors: NDArray[Any] = tensors.embeddings[rows]
    return vectors if tensors.weights is None else vectors * tensors.weights[ids][..., None]


def _unit_length(vectors: AnyMatrix) -> AnyMatrix:
    """Return vectors of length 1, computed in float32 as in model2vec; a zero vector is unchanged."""
    wide = vectors.astype(np.float32)
    norms = np.linalg.norm(wide, axis=1, keepdims=True) + 1e-32
    units: AnyMatrix = (wide / norms).astype(vectors.dtype)
    return units

"""`hf:NAME-OR-FOLDER`: any transformers encoder or decoder, with pooling and layers as the spec says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyMatrix, Integers, unit_length
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.batches import by_length
from weatherglass.encoders.kinds import require
from weatherglass.encoders.layers import Layers
from weatherglass.encoders.pooling import POOLINGS, pool
from weatherglass.encoders.prompts import Prompt
from weatherglass.encoders.spec import OptionReader, Spec
from weatherglass.encoders.transformers.hub import ModelFiles, find_model
from weatherglass.encoders.transformers.sizes import check_counts
from weatherglass.encoders.transformers.tokens import Pieces, Tokenizer, has_cls_token, max_tokens
from weatherglass.encoders.transformers.torch_model import (
    DEVICES,
    DTYPES,
    TorchModel,
    encoding,
    load_tokenizer,
)
from weatherglass.encoders.views import View
from weatherglass.errors import EncoderError, SpecError

MOST_LAYERS = 10_000

LAYER_COUNT_KEYS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
"""The names that config.json uses for the number of layers above the token layer."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options that determine a text's vector: with the weights, they are the encoder's identity."""

    pooling: str
    layers: Layers
    special_tokens: bool
    lowercase: bool
    normalise: bool
    max_length: int
    """0 where the model itself sets no limit."""
    dtype: str
    device: str
    trust_remote_code: bool

    @classmethod
    def from_options(
        cls, options: OptionReader, files: ModelFiles, default_pooling: str | None = None
    ) -> Settings:
        """The options of a spec, checked against the model's config."""
        spec = options.spec
        special_tokens = options.flag("special_tokens", True)
        papers_pooling = "cls" if special_tokens and has_cls_token(files) else "last"
        pooling = options.choice("pooling", POOLINGS, default_pooling or papers_pooling)
        if pooling == "cls" and not special_tokens:
            raise SpecError(
                f"'{spec}': pooling=cls needs special_tokens=yes; for the first piece use pooling=first"
            )
        check_counts(str(spec), files.config)
        layers = Layers.parse(options.text("layers", "-1"))
        count = next(
            (files.config[key] for key in LAYER_COUNT_KEYS if isinstance(files.config.get(key), int)), None
        )
        if count is not None:
            if not 0 <= count <= MOST_LAYERS:
                raise EncoderError(f"'{spec}': its configuration promises {count} layers; is it damaged?")
            layers.numbers(count + 1)
        limit = max_tokens(files.config) or 0
        max_length = options.integer("max_length", limit, least=1 if limit else 0)
        if limit and max_length > limit:
            raise SpecError(f"'{spec}': max_length={max_length}, but the model reads {limit} tokens at most")
        return cls(
            pooling,
            layers,
            special_tokens,
            options.flag("lowercase", False),
            options.flag("normalise", False),
            max_length,
            options.choice("dtype", DTYPES, "float32"),
            options.choice("device", DEVICES, "auto"),
            options.flag("trust_remote_code", False),
        )

    def as_options(self) -> dict[str, str]:
        """In the spelling of a spec."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: {True: "yes", False: "no"}[v] if isinstance(v, bool) else str(v)
            for name, v in values.items()
        }


class TransformerEncoder:
    """A transformers model: tokens are pooled within each layer, then layers are joined (docs/methods 6)."""

    costly: ClassVar[bool] = True
    """Its encodings are worth caching."""

    def __init__(
        self, spec: Spec, files: ModelFiles, settings: Settings, prompt: Prompt, batch_size: int
    ) -> None:
        self._spec = spec
        self._files = files
        self._settings = settings
        self._prompt = prompt
        self._batch_size = batch_size

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Check the spec against the model's small files; weights are loaded at the first `encode`."""
        require(str(spec), ("torch", "transformers"), "transformers")
        options = spec.reader()
        files = find_model(spec.target, options.text("revision", ""))
        settings = Settings.from_options(options, files)
        prompt = Prompt.from_options(options, files)
        batch_size = options.integer("batch_size", 128)
        options.done()
        return cls(spec, files, settings, prompt, batch_size)

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def options(self) -> Mapping[str, str]:
        revision = {"revision": self._files.commit} if self._files.commit else {}
        choices = {**self._settings.as_options(), **self._prompt.as_options()}
        return {**choices, "batch_size": str(self._batch_size), **revision}

    def identity(self) -> str:
        """Weights, choices and library versions; not the batch size, which changes no more than the last digit."""
        libraries = {library: version(library) for library in ("torch", "transformers", "tokenizers")}
        choices = {**self._settings.as_options(), **self._prompt.as_options()}
        content = ["hf", self._files.identity(), choices, libraries]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def notes(self) -> list[str]:
        notes = self._prompt.notes(self.name)
        if self._settings.trust_remote_code:
            notes.append(
                f"'{self.name}': trust_remote_code=yes, so code that came with the model was allowed to run"
            )
        return notes

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        settings = self._settings
        inner = load_tokenizer(self.name, self._files, settings.trust_remote_code)
        longest = inner.model_max_length
        if not isinstance(longest, int):
            raise EncoderError(
                f"'{self.name}': model_max_length in tokenizer_config.json is not a whole number; is it damaged?"
            )
        limit = min(settings.max_length or longest, longest)
        return Tokenizer(inner, settings.special_tokens, settings.lowercase, limit)

    @cached_property
    def _model(self) -> TorchModel:
        settings = self._settings
        return TorchModel.load(
            self.name, self._files, settings.device, settings.dtype, settings.trust_remote_code
        )

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        with encoding(self.name):
            return self._tokenizer.coverage(self._prompt.before(texts))

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        (vectors,) = self.encode_views(texts, [self.view])
        return vectors

    @property
    def view(self) -> View:
        return View(self._settings.pooling, self._settings.layers)

    def with_view(self, view: View) -> Self:
        spec = self._spec.with_options(pooling=view.pooling, layers=str(view.layers))
        settings = replace(self._settings, pooling=view.pooling, layers=view.layers)
        return type(self)(spec, self._files, settings, self._prompt, self._batch_size)

    def other_views(self) -> tuple[list[str], list[Layers]]:
        whole = "cls" if self._settings.special_tokens and has_cls_token(self._files) else "last"
        return [whole, "mean", "max"], [Layers.parse(text) for text in ("-1", "-2", "mean:-4..")]

    def encode_views(self, texts: Sequence[str], views: Sequence[View]) -> list[AnyMatrix]:
        with encoding(self.name):
            return self._encode_views(texts, views)

    def _encode_views(self, texts: Sequence[str], views: Sequence[View]) -> list[AnyMatrix]:
        pieces = self._tokenizer(self._prompt.before(texts))
        lengths = [len(text.ids) for text in pieces]
        rows: list[list[AnyMatrix]] = []
        positions = []
        for batch in by_length(lengths, self._batch_size, self._model.tokens_per_batch):
            rows.append(self._encode_batch([pieces[position] for position in batch], views))
            positions.append(batch)
        if not rows:
            return [np.empty((0, 0), dtype=np.float32) for _ in views]
        order = np.concatenate(positions)
        return [_in_order(np.concatenate(parts), order) for parts in zip(*rows, strict=True)]

    def _encode_batch(self, pieces: Sequence[Pieces], views: Sequence[View]) -> list[AnyMatrix]:
        with_cls = any(view.pooling == "cls" for view in views)
        cls_positions = self._tokenizer.cls_positions(pieces) if with_cls else None
        lengths = np.array([len(text.ids) for text in pieces], dtype=np.int64)
        selections = list(dict.fromkeys(view.layers for view in views))
        states = dict(
            zip(
                selections,
                self._model.hidden_states(pieces, self._tokenizer.padding(), selections),
                strict=True,
            )
        )
        vectors = [
            view.layers.combine(
                [pool(layer, lengths, view.pooling, cls_positions) for layer in states[view.layers]]
            )
            for view in views
        ]
        return [unit_length(some) for some in vectors] if self._settings.normalise else vectors


def _in_order(rows: AnyMatrix, order: Integers) -> AnyMatrix:
    """The rows of sorted batches, back in the order of the texts."""
    vectors = np.empty_like(rows)
    vectors[order] = rows
    return vectors

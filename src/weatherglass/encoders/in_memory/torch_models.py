"""Encode with models of sentence-transformers and transformers that the caller has loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from typing import Any, ClassVar, Self

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import (
    STATIC,
    VECTORS,
    Asked,
    Coverage,
    Encoder,
    Observations,
    What,
    check_asked,
)
from weatherglass.encoders.in_memory import as_matrix
from weatherglass.encoders.pooling import OTHER_LAYERS, SPAN_POOLINGS, Layers, views_of_words
from weatherglass.encoders.prompts import Prompt, given_by_kind
from weatherglass.encoders.sentence_transformers import coverage_of, words_of
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.tokens import Tokenizer, max_tokens
from weatherglass.encoders.torch_model import TorchModel, head_of
from weatherglass.encoders.transformers import (
    LAYER_COUNT_KEYS,
    TransformerEncoder,
    TransformerOptions,
)
from weatherglass.encoders.views import View
from weatherglass.errors import EncoderError

LIBRARIES = ("torch", "transformers", "tokenizers", "sentence-transformers")
"""Libraries whose versions are included in an identity."""
KNOWN_CODE = ("torch", "transformers", "sentence_transformers")
"""Packages whose modules are determined by weights and configuration; the code of other packages cannot be hashed."""
PER_CALL = ("truncation", "padding")
"""Settings of a tokenizer that its last call may have changed."""


class InMemorySentenceTransformer(Encoder):
    """An encoder from a SentenceTransformer, with its own prompts, pooling and normalisation."""

    in_parts: ClassVar[bool] = True

    def __init__(self, name: str, model: Any, batch_size: int = 32) -> None:
        self.name = name
        self._model = model
        self._batch_size = batch_size

    @property
    def options(self) -> Mapping[str, str]:
        prompt = getattr(self._model, "default_prompt_name", None)
        limit = self._model.max_seq_length
        return {
            "modules": "+".join(type(module).__name__ for module in self._model),
            **({"prompt_name": str(prompt)} if prompt else {}),
            **({"max_length": str(limit)} if limit else {}),
            "batch_size": str(self._batch_size),
        }

    @cached_property
    def _identity(self) -> str | None:
        weights, tokenizer = content_of_module(self._model), content_of_tokenizer(self._model.tokenizer)
        if weights is None or tokenizer is None:
            return None
        names = ("prompts", "default_prompt_name", "truncate_dim", "max_seq_length")
        settings = {name: getattr(self._model, name, None) for name in names}
        return _hashed(["sentence-transformers", weights, tokenizer, settings, repr(self._model)])

    def identity(self) -> str | None:
        """Return a hash of weights, configuration, tokenizer, prompts and library versions."""
        return self._identity

    @property
    def gives(self) -> frozenset[What]:
        return STATIC if hasattr(self._model[0], "auto_model") else VECTORS

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        if what == "vectors":
            return super().observe(inputs, what)
        check_asked(self, inputs, what)
        return self.word_reader().observe(inputs, what)

    def word_views(self) -> tuple[list[str], list[Layers]]:
        return views_of_words(SPAN_POOLINGS[0], Layers())

    def word_reader(self) -> InMemoryTransformer:
        prompts, default = self._model.prompts, self._model.default_prompt_name
        prompt = Prompt(prompts.get(default, "") if default else "")
        return words_of(self.name, self._model, prompt, self._batch_size)

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        with evaluating(self._model):
            vectors = self._model.encode(
                list(texts), batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
            )
        return as_matrix(vectors, self.name, texts)

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return [coverage_of(self._model, text) for text in texts]


class InMemoryTransformer(TransformerEncoder):
    """An encoder from a transformers model and its tokenizer; pooling and layers work as for `hf:`."""

    costly: ClassVar[bool] = False  # another process cannot load it from a spec
    in_parts: ClassVar[bool] = True

    def __init__(
        self, spec: Spec, pair: tuple[Any, Any], settings: TransformerOptions, prompt: Prompt, batch_size: int
    ) -> None:
        self._spec = spec
        self._pair = pair
        self._settings = settings
        self._prompt = prompt
        self._batch_size = batch_size

    @classmethod
    def of(cls, name: str, model: Any, tokenizer: Any, **options: str) -> Self:
        """Return the encoder of a pair; `options` are the options of `hf:` that determine vectors.

        Raises:
            SpecError: for an unknown option, or a layer that the model does not have.
        """
        spec = Spec(name, "", tuple(options.items()))
        reader = spec.reader()
        special_tokens = reader.flag("special_tokens", True)
        default = "cls" if special_tokens and tokenizer.cls_token is not None else "last"
        config = model.config.to_dict()
        layers = Layers.parse(reader.text("layers", "-1"))
        count = next((config[key] for key in LAYER_COUNT_KEYS if isinstance(config.get(key), int)), None)
        if count is not None:
            layers.numbers(count + 1)
        parameter = next(model.parameters())
        settings = TransformerOptions(
            pooling=reader.choice("pooling", ("cls", "first", "mean", "max", "last"), default),
            layers=layers,
            special_tokens=special_tokens,
            lowercase=reader.flag("lowercase", False),
            normalise=reader.flag("normalise", False),
            max_length=reader.integer("max_length", max_tokens(config) or 0, least=0),
            dtype=str(parameter.dtype).removeprefix("torch."),
            device=parameter.device.type,
            trust_remote_code=False,
            span_pooling=reader.choice("span_pooling", SPAN_POOLINGS, SPAN_POOLINGS[0]),
        )
        prompt = Prompt(reader.text("prompt", ""), given=given_by_kind(reader))
        batch_size = reader.integer("batch_size", 128)
        reader.done()
        return cls(spec, (model, tokenizer), settings, prompt, batch_size)

    def with_prompt(self, prompt: Prompt) -> Self:
        """Return the same model with other prompts."""
        return type(self)(self._spec, self._pair, self._settings, prompt, self._batch_size)

    @property
    def name(self) -> str:
        return self._spec.kind

    @property
    def options(self) -> Mapping[str, str]:
        choices = {**self._settings.as_options(), **self._prompt.as_options()}
        del choices["trust_remote_code"]  # its owner has already run its code
        return {**choices, "batch_size": str(self._batch_size)}

    @cached_property
    def _content(self) -> str | None:
        weights, tokenizer = content_of_module(self._pair[0]), content_of_tokenizer(self._pair[1])
        return None if weights is None or tokenizer is None else _hashed(["transformers", weights, tokenizer])

    def identity(self) -> str | None:  # type: ignore[override]
        """Return a hash of weights, configuration, tokenizer, choices and versions; None if code cannot be hashed."""
        if self._content is None:
            return None
        return _hashed([self._content, self._settings.as_options(), self._prompt.as_options()])

    def notes(self) -> list[str]:
        return []

    def with_view(self, view: View, what: What = "vectors") -> Self:
        settings = self._settings.with_view(view, what)
        other = type(self)(self._spec, self._pair, settings, self._prompt, self._batch_size)
        other.__dict__["_content"] = self._content  # hashed once
        return other

    def other_views(self) -> tuple[list[str], list[Layers]]:
        whole = "cls" if self._settings.special_tokens and self._pair[1].cls_token is not None else "last"
        return [whole, "mean", "max"], list(map(Layers.parse, OTHER_LAYERS))

    def encode(self, texts: Sequence[Asked]) -> AnyMatrix:
        with evaluating(self._pair[0]):
            return super().encode(texts)

    def observe_views(
        self, inputs: Sequence[Asked], views: Sequence[View], what: What = "vectors"
    ) -> list[Observations]:
        with evaluating(self._pair[0]):
            return super().observe_views(inputs, views, what)

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        with evaluating(self._pair[0]):
            return super().observe(inputs, what)

    @property
    def head(self) -> str | None:
        return head_of([type(self._pair[0]).__name__])

    @cached_property
    def _language_model(self) -> TorchModel:
        return self._model

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        settings, inner = self._settings, self._pair[1]
        limit = min(settings.max_length or inner.model_max_length, inner.model_max_length)
        return Tokenizer(inner, settings.special_tokens, settings.lowercase, limit)

    @cached_property
    def _model(self) -> TorchModel:
        model = self._pair[0]
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        return TorchModel(model, str(next(model.parameters()).device))


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Put a model into evaluation mode inside the block, since dropout would change the vectors in every call."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


def content_of_module(module: Any) -> str | None:
    """Return a hash of weights, structure and configurations; None if a module belongs to another package."""
    import torch

    parts = list(module.modules())
    if any(type(part).__module__.partition(".")[0] not in KNOWN_CODE for part in parts):
        return None
    whole = hashlib.sha256("\n".join(type(part).__qualname__ for part in parts).encode())
    configs = [part.config for part in parts if hasattr(getattr(part, "config", None), "to_json_string")]
    whole.update("\n".join(config.to_json_string(use_diff=False) for config in configs).encode())
    for name, tensor in module.state_dict().items():
        if not isinstance(tensor, torch.Tensor):
            return None
        whole.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        bytes_of = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
        whole.update(memoryview(bytes_of))
    return whole.hexdigest()


def content_of_tokenizer(tokenizer: Any) -> str | None:
    """Return a hash of the rules and vocabulary of a fast tokenizer, or None for a tokenizer written in Python."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str"):
        return None
    content = json.loads(backend.to_str())
    return _hashed([{key: value for key, value in content.items() if key not in PER_CALL}])


def check_pair(model: Any, tokenizer: Any) -> None:
    """Refuse a pair in the wrong order, or a pair of two models."""
    if not hasattr(tokenizer, "convert_ids_to_tokens") or not hasattr(model, "config"):
        raise EncoderError(
            f"a pair should be (model, tokenizer) of transformers, but is "
            f"({type(model).__name__}, {type(tokenizer).__name__})"
        )


def _hashed(content: list[Any]) -> str:
    versions = {library: _version(library) for library in LIBRARIES}
    return hashlib.sha256(json.dumps([*content, versions], sort_keys=True, default=str).encode()).hexdigest()


def _version(library: str) -> str:
    from importlib.metadata import PackageNotFoundError

    try:
        return version(library)
    except PackageNotFoundError:
        return ""

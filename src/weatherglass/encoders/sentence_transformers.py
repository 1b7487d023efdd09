"""Encode with `st:NAME-OR-FOLDER`, a sentence-transformers model with the pooling and normalisation that its files
state.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyMatrix, unit_length
from weatherglass.encoders.base import (
    CUT,
    STATIC,
    VECTORS,
    Asked,
    Coverage,
    Encoder,
    Observations,
    What,
    check_asked,
    text_of,
)
from weatherglass.encoders.model_files import (
    TOKENIZER,
    ModelFiles,
    check_counts,
    check_module_sizes,
    find_model,
    limited_by_files,
    module_types,
    prove_tokenizer,
    refuse_foreign_modules,
)
from weatherglass.encoders.pooling import SPAN_POOLINGS, Layers, views_of_words
from weatherglass.encoders.prompts import Prompt
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.torch_model import (
    DEVICES,
    encoding,
    loading,
    no_random_weights,
    pick_device,
    quiet,
)
from weatherglass.storage.installed import require
from weatherglass.storage.reading import exists

if TYPE_CHECKING:
    from weatherglass.encoders.in_memory.torch_models import InMemoryTransformer

HUB_OWNER = "sentence-transformers/"
WITHOUT_MODULES = ["Transformer", "Pooling"]
"""The modules that sentence-transformers uses for a model without modules.json, with mean pooling."""


class SentenceTransformerEncoder(Encoder):
    """An encoder from a sentence-transformers model, whose first module encodes tokens and whose other modules
    pool.
    """

    costly: ClassVar[bool] = True
    by_kind: ClassVar[bool] = True

    def __init__(
        self, spec: Spec, files: ModelFiles, choices: Mapping[str, str], prompt: Prompt, batch_size: int
    ) -> None:
        self._spec = spec
        self._files = files
        self._choices = dict(choices)
        self._prompt = prompt
        self._batch_size = batch_size

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Check the spec and the modules of the model; weights are loaded at the first `encode`."""
        require(str(spec), ("torch", "transformers", "sentence_transformers"), "transformers")
        options = spec.reader()
        # As in sentence-transformers, a name without an owner is one of its own models.
        is_complete = "/" in spec.target or exists(Path(spec.target).expanduser())
        target = spec.target if is_complete else HUB_OWNER + spec.target
        files = find_model(target, options.text("revision", ""), ("modules.json", "config.json"))
        choices = {
            "normalise": _yes_no(options.flag("normalise", False)),
            "max_length": str(options.integer("max_length", 0, least=0)),
            "device": options.choice("device", DEVICES, "auto"),
            "trust_remote_code": _yes_no(options.flag("trust_remote_code", False)),
        }
        if (pooling := options.choice("span_pooling", SPAN_POOLINGS, SPAN_POOLINGS[0])) != SPAN_POOLINGS[0]:
            choices["span_pooling"] = pooling
        check_counts(str(spec), files.config)
        prompt = Prompt.from_options(options, files)
        batch_size = options.integer("batch_size", 32)
        options.done()
        if choices["trust_remote_code"] == "no":
            refuse_foreign_modules(spec, files, "; if you trust it, add trust_remote_code=yes")
        return cls(spec, files, choices, prompt, batch_size)

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def options(self) -> Mapping[str, str]:
        modules = [kind for kind, _ in module_types(self._files)] or WITHOUT_MODULES
        chosen = {name: value for name, value in self._choices.items() if value != "0"}
        revision = {"revision": self._files.commit} if self._files.commit else {}
        return {
            "modules": "+".join(modules),
            **chosen,
            **self._prompt.as_options(),
            "batch_size": str(self._batch_size),
            **revision,
        }

    def identity(self) -> str:
        """Return a hash of weights, options and library versions, without the batch size, which changes at most the
        last digit.
        """
        names = ("torch", "transformers", "tokenizers", "sentence-transformers")
        # An empty prompt is included, so that encodings that were cached before prompts had names stay valid.
        choices = {"prompt": "", **self._choices, **self._prompt.as_options()}
        content = ["st", self._files.identity(), choices, {name: version(name) for name in names}]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def notes(self) -> list[str]:
        notes = self._prompt.notes(self.name)
        if self._choices["trust_remote_code"] == "yes":
            notes.append(
                f"'{self.name}': trust_remote_code=yes, so code that came with the model was allowed to run"
            )
        return notes

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer

        check_module_sizes(self.name, self._files)
        for path in self._files.folder.rglob(TOKENIZER):
            prove_tokenizer(path)
        limits = limited_by_files(self.name, self._files)
        with loading(self.name, self._files), quiet(), limits, no_random_weights(self.name):
            model = self._files.load(
                SentenceTransformer,
                device=pick_device(self._choices["device"]),
                trust_remote_code=self._choices["trust_remote_code"] == "yes",
            )
        if (limit := int(self._choices["max_length"])) > 0:
            model.max_seq_length = limit
        return model.float().eval()

    @property
    def gives(self) -> frozenset[What]:
        modules = [kind for kind, _ in module_types(self._files)] or WITHOUT_MODULES
        return STATIC if modules[0] == WITHOUT_MODULES[0] else VECTORS

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        if what == "vectors":
            return super().observe(inputs, what)
        check_asked(self, inputs, what)
        return self._words.observe(inputs, what)

    @property
    def _span_pooling(self) -> str:
        return self._choices.get("span_pooling", SPAN_POOLINGS[0])

    @cached_property
    def _words(self) -> InMemoryTransformer:
        return words_of(self.name, self._model, self._prompt, self._batch_size, self._span_pooling)

    def word_views(self) -> tuple[list[str], list[Layers]]:
        return views_of_words(self._span_pooling, Layers())

    def word_reader(self) -> InMemoryTransformer:
        return self._words

    def encode(self, texts: Sequence[Asked]) -> AnyMatrix:
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        rows_of: dict[str, list[int]] = {}
        for row, asked in enumerate(texts):
            rows_of.setdefault(self._prompt.of(asked), []).append(row)
        parts = [
            self._encode([text_of(texts[row]) for row in rows], prompt) for prompt, rows in rows_of.items()
        ]
        vectors = np.empty((len(texts), parts[0].shape[1]), dtype=parts[0].dtype)
        vectors[[row for rows in rows_of.values() for row in rows]] = np.concatenate(parts)
        return unit_length(vectors) if self._choices["normalise"] == "yes" else vectors

    def _encode(self, texts: list[str], prompt: str) -> AnyMatrix:
        model = self._model
        with encoding(self.name):
            vectors: AnyMatrix = model.encode(
                texts,
                prompt=prompt,  # not None, which would mean the model's default
                batch_size=self._batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return vectors

    def coverage(self, texts: Sequence[Asked]) -> list[Coverage]:
        with encoding(self.name):
            return [coverage_of(self._model, text) for text in self._prompt.before(texts)]


def coverage_of(model: Any, text: str) -> Coverage:
    """Return the tokens of a text in a SentenceTransformer, with a note if the text was cut."""
    tokenizer = model.tokenizer
    if not hasattr(tokenizer, "convert_ids_to_tokens"):  # a static model, with a plain tokenizers.Tokenizer
        return Coverage(tuple(tokenizer.encode(text, add_special_tokens=False).tokens))
    tokens = tokenizer.convert_ids_to_tokens(tokenizer(text, verbose=False)["input_ids"])
    limit = model.max_seq_length
    if limit is None or len(tokens) <= limit:
        return Coverage(tuple(tokens))
    return Coverage(tuple(tokens[:limit]), note=f"{CUT} {limit} of {len(tokens)} tokens")


def words_of(
    name: str, model: Any, prompt: Prompt, batch_size: int, span_pooling: str = SPAN_POOLINGS[0]
) -> InMemoryTransformer:
    """Return an encoder of words at a span with the top layer of a SentenceTransformer, before its pooling."""
    from weatherglass.encoders.in_memory.torch_models import InMemoryTransformer

    options = {"span_pooling": span_pooling, "batch_size": str(batch_size)}
    if model.max_seq_length:
        options["max_length"] = str(model.max_seq_length)
    if getattr(model[0], "do_lower_case", False):
        options["lowercase"] = "yes"
    made = InMemoryTransformer.of(name, model[0].auto_model, model.tokenizer, **options)
    return made.with_prompt(prompt)


def _yes_no(flag: bool) -> str:
    return "yes" if flag else "no"

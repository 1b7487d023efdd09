"""Encode with `hf:NAME-OR-FOLDER`, which is any transformers encoder or decoder, with the pooling and layers of the
spec.

The model gives vectors of texts, vectors of a word at a span of a text and, if it is a language model,
log-probabilities.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyMatrix, AnyVector, Integers, unit_length
from weatherglass.encoders.base import (
    PER_TOKEN,
    STATIC,
    Asked,
    Coverage,
    Encoder,
    Input,
    Observations,
    What,
    check_asked,
    text_of,
)
from weatherglass.encoders.model_files import ModelFiles, check_counts, find_model
from weatherglass.encoders.pooling import (
    OTHER_LAYERS,
    POOLINGS,
    SPAN_POOLINGS,
    Layers,
    States,
    by_equal_length,
    by_length,
    in_order,
    pool,
    views_of_words,
)
from weatherglass.encoders.prefix_tree import prefix_trees
from weatherglass.encoders.prompts import Prompt
from weatherglass.encoders.spec import OptionReader, Spec
from weatherglass.encoders.tokens import Pieces, Place, Tokenizer, has_cls_token, max_tokens
from weatherglass.encoders.torch_model import DEVICES, DTYPES, TorchModel, encoding, head_of, load_tokenizer
from weatherglass.encoders.views import View
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.installed import require

MOST_LAYERS = 10_000

LAYER_COUNT_KEYS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
"""Keys in config.json that state the number of layers above the token layer."""

Job = tuple[int, list[int]]
"""The place of an input, and the tokens of its span that one pass of the model predicts."""

NO_CONTEXT = "the first token has no context, so it has no probability"

LANGUAGE_MODEL: dict[str, frozenset[What]] = {
    "causal": frozenset({"log-probabilities"}),
    "masked": frozenset({"log-probabilities", "unmasked-log-probabilities", "attended-log-probabilities"}),
}
"""The observations that a model with each kind of head gives besides vectors."""


@dataclass(frozen=True, slots=True)
class TransformerOptions:
    """The options that determine the vector of a text; together with the weights, they identify the encoder."""

    pooling: str
    layers: Layers
    special_tokens: bool
    lowercase: bool
    normalise: bool
    max_length: int
    """The maximum number of tokens; 0 for no limit."""
    dtype: str
    device: str
    trust_remote_code: bool
    span_pooling: str = SPAN_POOLINGS[0]

    @classmethod
    def from_options(
        cls, options: OptionReader, files: ModelFiles, default_pooling: str | None = None
    ) -> TransformerOptions:
        """Return the options of a spec, checked against the model's config."""
        spec = options.spec
        special_tokens = options.flag("special_tokens", True)
        papers_pooling = "cls" if special_tokens and has_cls_token(files) else "last"
        pooling = options.choice("pooling", POOLINGS, default_pooling or papers_pooling)
        if pooling == "cls" and not special_tokens:
            raise SpecError(
                f"'{spec}': pooling=cls needs special_tokens=yes; use pooling=first for the first piece"
            )
        check_counts(str(spec), files.config)
        layers = Layers.parse(options.text("layers", "-1"))
        count = next(
            (files.config[key] for key in LAYER_COUNT_KEYS if isinstance(files.config.get(key), int)), None
        )
        if count is not None:
            if not 0 <= count <= MOST_LAYERS:
                raise EncoderError(
                    f"'{spec}': its configuration states {count} layers, so it is damaged; get it again"
                )
            layers.numbers(count + 1)
        limit = max_tokens(files.config) or 0
        max_length = options.integer("max_length", limit, least=1 if limit else 0)
        if limit and max_length > limit:
            raise SpecError(f"'{spec}': max_length={max_length}, but the model reads at most {limit} tokens")
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
            options.choice("span_pooling", SPAN_POOLINGS, SPAN_POOLINGS[0]),
        )

    def with_view(self, view: View, what: What) -> TransformerOptions:
        """Return the options with another pooling, of texts or of words at a span, and other layers."""
        if what == "vectors":
            return replace(self, pooling=view.pooling, layers=view.layers)
        return replace(self, span_pooling=view.pooling, layers=view.layers)

    def as_options(self) -> dict[str, str]:
        """Return the options in the format of a model spec, without `span_pooling` if it is the default."""
        values = {name: getattr(self, name) for name in self.__slots__}
        if self.span_pooling == SPAN_POOLINGS[0]:
            del values["span_pooling"]
        return {
            name: {True: "yes", False: "no"}[v] if isinstance(v, bool) else str(v)
            for name, v in values.items()
        }


class TransformerEncoder(Encoder):
    """An encoder from a transformers model, which pools tokens within each layer and then combines layers
    (docs/methods 6).
    """

    costly: ClassVar[bool] = True
    """Encodings of this model are cached."""
    by_kind: ClassVar[bool] = True

    def __init__(
        self, spec: Spec, files: ModelFiles, settings: TransformerOptions, prompt: Prompt, batch_size: int
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
        settings = TransformerOptions.from_options(options, files)
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
        """Return a hash of weights, options and library versions, without the batch size, which changes at most the
        last digit.
        """
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
                f"'{self.name}': model_max_length in tokenizer_config.json is not a whole number; get it again"
            )
        limit = min(settings.max_length or longest, longest)
        return Tokenizer(inner, settings.special_tokens, settings.lowercase, limit)

    @cached_property
    def _model(self) -> TorchModel:
        settings = self._settings
        return TorchModel.load(
            self.name, self._files, settings.device, settings.dtype, settings.trust_remote_code
        )

    @property
    def head(self) -> str | None:
        """Return the kind of language model, masked or causal; None if the model has no head."""
        return head_of(self._files.config.get("architectures"))

    @cached_property
    def _language_model(self) -> TorchModel:
        settings = self._settings
        return TorchModel.load(
            self.name, self._files, settings.device, settings.dtype, settings.trust_remote_code, self.head
        )

    @property
    def gives(self) -> frozenset[What]:
        if self.head is None:
            return STATIC
        return STATIC | LANGUAGE_MODEL[self.head]

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        check_asked(self, inputs, what)
        if what in PER_TOKEN:
            with encoding(self.name):
                return self._log_probabilities(inputs, self._pieces(inputs, what), what)
        view = self.view if what == "vectors" else View(self._settings.span_pooling, self._settings.layers)
        (observed,) = self.observe_views(inputs, [view], what)
        return observed

    def _pieces(self, inputs: Sequence[Asked], what: What = "vectors") -> list[Pieces]:
        """Return the pieces of each text with its prompt and, except for vectors, the pieces of its word or of the
        text.
        """
        texts = self._prompt.before(inputs)
        if what == "vectors":
            return self._tokenizer(texts)
        # A causal model may need one more token at the beginning.
        spare = int(what == "log-probabilities" and self.head == "causal")
        return self._tokenizer(texts, list(map(_place, inputs, texts)), spare)

    def _coverage(self, inputs: Sequence[Asked], pieces: Sequence[Pieces]) -> list[Coverage]:
        rows = zip(inputs, pieces, strict=True)
        return [
            self._tokenizer.coverage_of(some, "" if some.at is None else _word(asked)) for asked, some in rows
        ]

    def coverage(self, texts: Sequence[Asked]) -> list[Coverage]:
        with encoding(self.name):
            return self._coverage(texts, self._pieces(texts))

    def encode(self, texts: Sequence[Asked]) -> AnyMatrix:
        with encoding(self.name):
            (vectors,) = self._pooled(self._pieces(texts), [self.view])
        return vectors

    @property
    def view(self) -> View:
        return View(self._settings.pooling, self._settings.layers)

    def with_view(self, view: View, what: What = "vectors") -> Self:
        option = "pooling" if what == "vectors" else "span_pooling"
        spec = self._spec.with_options(**{option: view.pooling, "layers": str(view.layers)})
        return type(self)(
            spec, self._files, self._settings.with_view(view, what), self._prompt, self._batch_size
        )

    def other_views(self) -> tuple[list[str], list[Layers]]:
        whole = "cls" if self._settings.special_tokens and has_cls_token(self._files) else "last"
        return [whole, "mean", "max"], list(map(Layers.parse, OTHER_LAYERS))

    def observe_views(
        self, inputs: Sequence[Asked], views: Sequence[View], what: What = "vectors"
    ) -> list[Observations]:
        with encoding(self.name):
            pieces = self._pieces(inputs, what)
            matrices, coverage = self._pooled(pieces, views), self._coverage(inputs, pieces)
        return [Observations(inputs, what, vectors, coverage) for vectors in matrices]

    def word_views(self) -> tuple[list[str], list[Layers]]:
        return views_of_words(self._settings.span_pooling, self._settings.layers)

    def word_reader(self) -> Self:
        return self

    def _pooled(self, pieces: Sequence[Pieces], views: Sequence[View]) -> list[AnyMatrix]:
        """Return one matrix of vectors per combination of pooling and layers, pooled over all tokens or the
        requested span.
        """
        rows_of: dict[
            tuple[int, ...], list[int]
        ] = {}  # a text that is asked about at several places is read once
        for row, text in enumerate(pieces):
            rows_of.setdefault(tuple(text.ids), []).append(row)
        texts = list(rows_of.values())
        lengths = [len(ids) for ids in rows_of]
        rows: list[list[AnyMatrix]] = []
        positions = []
        for batch in by_length(lengths, self._batch_size, self._model.tokens_per_batch):
            asked = [[pieces[row] for row in texts[position]] for position in batch]
            rows.append(self._encode_batch(asked, views))
            positions.append(np.array([row for position in batch for row in texts[position]]))
        if not rows:
            return [np.empty((0, 0), dtype=np.float32) for _ in views]
        return [in_order(batches, positions) for batches in zip(*rows, strict=True)]

    def _encode_batch(self, asked: Sequence[Sequence[Pieces]], views: Sequence[View]) -> list[AnyMatrix]:
        """Return one matrix of vectors per view; `asked` has the pieces of each text once per requested place."""
        texts = [some[0] for some in asked]
        pieces = [each for some in asked for each in some]
        copies = np.repeat(np.arange(len(texts)), [len(some) for some in asked])
        with_cls = any(view.pooling == "cls" for view in views)
        cls_positions = self._tokenizer.cls_positions(pieces) if with_cls else None
        lengths = np.array([len(text.ids) for text in pieces], dtype=np.int64)
        selections = list(dict.fromkeys(view.layers for view in views))
        states = dict(
            zip(
                selections,
                self._model.hidden_states(texts, self._tokenizer.padding(), selections),
                strict=True,
            )
        )
        if pieces[0].at is not None:
            states = {
                some: [_at_place(layer, copies, pieces) for layer in states[some]] for some in selections
            }
            lengths = np.array([len(text.at or ()) for text in pieces], dtype=np.int64)
        elif len(texts) < len(pieces):
            states = {some: [layer[copies] for layer in states[some]] for some in selections}
        vectors = [
            view.layers.combine(
                [pool(layer, lengths, view.pooling, cls_positions) for layer in states[view.layers]]
            )
            for view in views
        ]
        return [unit_length(some) for some in vectors] if self._settings.normalise else vectors

    def _hidden(self, inputs: Sequence[Asked]) -> dict[int, list[int]]:
        """Return the tokens of the masked word, by input, for inputs that have a masked word."""
        rows = [row for row, asked in enumerate(inputs) if isinstance(asked, Input) and asked.hidden]
        if rows and self.head == "causal":
            raise EncoderError(
                f"'{self.name}' is a causal model, which sees all words before the predicted one, so no "
                "word can be masked"
            )
        others = [
            replace(asked, span=asked.hidden) for asked in inputs if isinstance(asked, Input) and asked.hidden
        ]
        return {
            row: text.at or []
            for row, text in zip(rows, self._pieces(others, "log-probabilities"), strict=True)
        }

    def _log_probabilities(
        self, inputs: Sequence[Asked], pieces: Sequence[Pieces], what: What
    ) -> Observations:
        """Return the log-probability of each token of the text, or of the word at the span.

        A causal model predicts a token from those before it. A masked model predicts it from all others, with the
        token masked; for a word at a span, all pieces of the word and of a masked word are masked. Without a mask, the
        model reads all tokens of the text and predicts each of them. An attended log-probability is such a
        log-probability multiplied by the attention that the token receives.
        """
        is_causal = self.head == "causal"
        if is_causal:
            pieces = [self._tokenizer.begun(text) for text in pieces]
        mask = self._tokenizer.mask() if what == "log-probabilities" and not is_causal else None
        at = [text.at or [] for text in pieces]
        hidden = self._hidden(inputs)
        values: list[AnyVector] = [np.full(len(places), np.nan) for places in at]
        jobs: list[Job] = []
        for row, asked in enumerate(inputs):
            tokens = [token for token, place in enumerate(at[row]) if place or not is_causal]
            at_once = [tokens] if mask is None or _word(asked) else [[token] for token in tokens]
            jobs += [(row, some) for some in at_once if some]
        model, padding = self._language_model, self._tokenizer.padding()
        if is_causal:
            jobs = self._in_trees(jobs, pieces, at, values)
        lengths = [len(pieces[row].ids) for row, _ in jobs]
        for batch in by_equal_length(lengths, self._batch_size, model.logits_per_batch):
            some = [jobs[job] for job in batch]
            cells = [(copy, row, token) for copy, (row, tokens) in enumerate(some) for token in tokens]
            given = [
                _masked(pieces[row], [*(at[row][token] for token in tokens), *hidden.get(row, [])], mask)
                for row, tokens in some
            ]
            copies, places = [copy for copy, _, _ in cells], [at[row][token] for _, row, token in cells]
            found = model.log_probabilities(
                given,
                padding,
                copies,
                [place - is_causal for place in places],
                [pieces[row].ids[at[row][token]] for _, row, token in cells],
            )
            if what == "attended-log-probabilities":
                found = found * model.attention_received(given, padding)[copies, places]
            for (_, row, token), value in zip(cells, found, strict=True):
                values[row][token] = value
        coverage = [
            replace(covered, note="; ".join(filter(None, [covered.note, NO_CONTEXT])))
            if is_causal and 0 in (text.at or ())
            else covered
            for covered, text in zip(self._coverage(inputs, pieces), pieces, strict=True)
        ]
        return Observations(inputs, what, values, coverage)

    @cached_property
    def _reads_trees(self) -> bool:
        return self._language_model.reads_trees()

    def _in_trees(
        self, jobs: list[Job], pieces: Sequence[Pieces], at: Sequence[list[int]], values: Sequence[AnyVector]
    ) -> list[Job]:
        """Fill in log-probabilities that a causal model computes from trees of texts; return the other jobs."""
        model = self._language_model
        most = model.tokens_per_tree
        # What follows the last token but one predicts nothing.
        read = [pieces[row].ids[: at[row][tokens[-1]]] for row, tokens in jobs]
        fit = [
            job for job, ids in enumerate(read) if len(ids) <= most and not pieces[jobs[job][0]].other_inputs
        ]
        if len(fit) < 2 or not self._reads_trees:
            return jobs
        for tree in prefix_trees([read[job] for job in fit], most):
            cells = [
                (row, token, path[at[row][token] - 1])
                for place, path in tree.paths.items()
                for row, tokens in [jobs[fit[place]]]
                for token in tokens
            ]
            ids = [pieces[row].ids[at[row][token]] for row, token, _ in cells]
            found = model.log_probabilities_in_tree(tree, [index for *_, index in cells], ids)
            for (row, token, _), value in zip(cells, found, strict=True):
                values[row][token] = value
        return [jobs[job] for job in sorted(set(range(len(jobs))) - set(fit))]


def _word(asked: Asked) -> str:
    """Return the word at the span; empty if there is no span."""
    return asked.word if isinstance(asked, Input) and asked.span else ""


def _place(asked: Asked, text: str) -> Place:
    """Return the span of the word, or of the whole text, in the text with its prompt."""
    start = len(text) - len(text_of(asked))
    if not isinstance(asked, Input) or asked.span is None:
        return start, None
    first = start + asked.span[0] + len(asked.word) - len(asked.word.lstrip())
    return first, first + len(asked.word.strip())


def _at_place(layer: States, copies: Integers, pieces: Sequence[Pieces]) -> States:
    """Return the states of the pieces in each span, padded at the end; `copies` are the rows of their texts."""
    width = max([1, *(len(text.at or ()) for text in pieces)])
    places = np.array([[*(text.at or ()), *[0] * (width - len(text.at or ()))] for text in pieces])
    at_place: States = layer[copies[:, None], places]
    return at_place


def _masked(pieces: Pieces, places: Sequence[int], mask: int | None) -> Pieces:
    if mask is None:
        return pieces
    hidden = set(places)
    return replace(pieces, ids=[mask if n in hidden else number for n, number in enumerate(pieces.ids)])

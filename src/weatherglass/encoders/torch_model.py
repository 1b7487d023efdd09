"""Run a transformers model: tokenise texts, and compute hidden states and log-probabilities of batches.

torch is imported at first use.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from weatherglass.arrays import AnyMatrix, Integers, Vector
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.model_files import (
    TOKENIZER,
    ModelFiles,
    first_line,
    limited_by_files,
    prove_tokenizer,
)
from weatherglass.encoders.pooling import Layers, States
from weatherglass.errors import EncoderError, UnsafeFileError, WeatherglassError
from weatherglass.storage.reading import errors_in_one_line, exists, is_failure

POSITIONS_AFTER_PADDING = {
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "camembert",
    "mpnet",
    "longformer",
    "luke",
}
"""Model types whose positions start after the padding token's number, so that fewer positions are available."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokens of a text, as the input of a model."""

    ids: list[int]
    full_length: int
    """The number of pieces of the whole text, which exceeds the number of ids if the text was cut."""
    other_inputs: dict[str, list[int]] = field(default_factory=dict)
    """Further model inputs from the tokenizer, such as segment numbers, one per id."""
    at: list[int] | None = None
    """Indices of the pieces in the requested span; None without a span."""
    place_is_cut: bool = False
    """Whether the pieces of the span were cut off, so that none is left."""


Place = tuple[int, int | None]
"""The start and end of a part of a text, in characters; an end of None means all tokens from the start onward."""

NOT_FOR_TOKENS = ("input_ids", "offset_mapping", "special_tokens_mask")
"""Outputs of a tokenizer that are not model inputs."""


def max_tokens(config: dict[str, Any]) -> int | None:
    """Return the largest number of tokens from a model's configuration; None if there is no limit."""
    for key in ("max_position_embeddings", "n_positions"):
        if isinstance(limit := config.get(key), int) and limit > 0:
            unused = (
                (config.get("pad_token_id") or 0) + 1
                if config.get("model_type") in POSITIONS_AFTER_PADDING
                else 0
            )
            return limit - unused
    return None


def has_cls_token(files: ModelFiles) -> bool:
    """Return whether the tokenizer of a model adds a classification token, according to its small files."""
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        if files.table(name).get("cls_token"):
            return True
    post_processor = files.table("tokenizer.json").get("post_processor") or {}
    if "cls" in post_processor or "[CLS]" in (post_processor.get("special_tokens") or {}):
        return True
    return (files.folder / "vocab.txt").is_file() or "bert" in str(files.config.get("model_type", ""))


@dataclass(slots=True)
class Tokenizer:
    """A transformers tokenizer with the options of a spec: special tokens, case and length."""

    inner: Any
    special_tokens: bool
    lowercase: bool
    limit: int | None
    """The largest number of pieces of a text."""

    def __call__(
        self, texts: Sequence[str], places: Sequence[Place] | None = None, spare: int = 0
    ) -> list[Pieces]:
        """Return the pieces of each text, cut to the limit minus `spare`, and mark the pieces of its span."""
        if not texts:
            return []
        prepared = [text.lower() if self.lowercase else text for text in texts]
        if places and self.lowercase:  # lower case may make a text longer
            places = [_in_lower_case(text, place) for text, place in zip(texts, places, strict=True)]
        all_pieces = self._pieces(prepared, places)
        limit = None if self.limit is None else self.limit - spare
        if limit is None or all(len(pieces.ids) <= limit for pieces in all_pieces):
            return all_pieces
        long = [index for index, pieces in enumerate(all_pieces) if len(pieces.ids) > limit]
        cut_places = [places[index] for index in long] if places else None
        cut = self._pieces([prepared[index] for index in long], cut_places, truncation=True, max_length=limit)
        for index, pieces in zip(long, cut, strict=True):
            whole = all_pieces[index]
            all_pieces[index] = replace(pieces, full_length=whole.full_length)
            if places and places[index][1] is not None and pieces.at != whole.at:
                # A word that is cut has no pieces.
                all_pieces[index] = replace(all_pieces[index], at=[], place_is_cut=True)
        return all_pieces

    def _pieces(self, texts: list[str], places: Sequence[Place] | None, **options: Any) -> list[Pieces]:
        if places is not None:
            if not getattr(self.inner, "is_fast", False):
                raise EncoderError(
                    "this model's tokenizer does not report the positions of its pieces; a tokenizer.json is needed"
                )
            options |= {"return_offsets_mapping": True, "return_special_tokens_mask": True}
        encoded = self.inner(
            texts,
            add_special_tokens=self.special_tokens,
            return_attention_mask=False,
            verbose=False,
            **options,
        )
        other_inputs = [name for name in encoded if name not in NOT_FOR_TOKENS]
        at = [_pieces_at(encoded, row, place) for row, place in enumerate(places)] if places else None
        return [
            Pieces(
                list(ids),
                len(ids),
                {name: list(encoded[name][row]) for name in other_inputs},
                at[row] if at else None,
            )
            for row, ids in enumerate(encoded["input_ids"])
        ]

    def begun(self, pieces: Pieces) -> Pieces:
        """Return the pieces after a begin-of-text token, so that in a causal model the first token has a context.

        If the tokenizer has no such token, its end-of-text token is used, as in GPT-2; without special tokens, none is
        added.
        """
        begins = (self.inner.bos_token_id, self.inner.eos_token_id)
        first = next((number for number in begins if number is not None), None)
        if not self.special_tokens or first is None or pieces.ids[:1] == [first]:
            return pieces
        return Pieces(
            [first, *pieces.ids],
            pieces.full_length + 1,
            {name: [*values[:1], *values] for name, values in pieces.other_inputs.items()},
            [place + 1 for place in pieces.at or ()],
            pieces.place_is_cut,
        )

    def cls_positions(self, pieces: Sequence[Pieces]) -> Integers:
        """Return the position of the classification token in each text (first in BERT, last in XLNet).

        Raises:
            EncoderError: if the tokenizer has no such token or does not add it.
        """
        cls_id = self.inner.cls_token_id
        if cls_id is None or any(cls_id not in text.ids for text in pieces):
            raise EncoderError(
                "pooling=cls: this model's tokenizer adds no cls token; use pooling=first, mean or last"
            )
        return np.array([text.ids.index(cls_id) for text in pieces], dtype=np.int64)

    def mask(self) -> int:
        """Return the number of the mask token.

        Raises:
            EncoderError: if the tokenizer has no mask token.
        """
        if self.inner.mask_token_id is None:
            raise EncoderError("log-probabilities: this model's tokenizer has no mask token")
        return int(self.inner.mask_token_id)

    def padding(self) -> int:
        """Return the number of the padding token, or any token if there is none, since padding is masked."""
        candidates = (self.inner.pad_token_id, self.inner.eos_token_id, self.inner.unk_token_id, 0)
        return int(next(candidate for candidate in candidates if candidate is not None))

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return the pieces of each text as strings, with notes on cut and unknown pieces."""
        return [self.coverage_of(pieces) for pieces in self(texts)]

    def coverage_of(self, pieces: Pieces, word: str = "") -> Coverage:
        """Return the coverage of a text or, if a span was requested, of the `word` in that span."""
        ids = pieces.ids if pieces.at is None else [pieces.ids[place] for place in pieces.at]
        notes = []
        if len(pieces.ids) < pieces.full_length:
            notes.append(f"cut to {len(pieces.ids)} of {pieces.full_length} tokens")
        if word and pieces.place_is_cut:
            notes.append("the word was cut off")
        if unknown := ids.count(self.inner.unk_token_id) if self.inner.unk_token_id is not None else 0:
            notes.append(f"{unknown} unknown, read as {self.inner.unk_token}")
        if not ids and not pieces.place_is_cut:
            notes.append("no tokens")
        missing = (word,) if word and not ids else ()
        return Coverage(tuple(self.inner.convert_ids_to_tokens(ids)), missing, "; ".join(notes))


def _in_lower_case(text: str, place: Place) -> Place:
    start, end = (None if each is None else len(text[:each].lower()) for each in place)
    return start or 0, end


def _pieces_at(encoded: Any, row: int, place: Place) -> list[int]:
    """Return the indices of the tokens that overlap a span of a text; special tokens overlap nothing."""
    start, end = place
    pieces = zip(encoded["offset_mapping"][row], encoded["special_tokens_mask"][row], strict=True)
    return [
        number
        for number, ((first, last), is_special) in enumerate(pieces)
        if not is_special and (last > start or (end is None and not start)) and (end is None or first < end)
    ]


DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("float32", "float16", "bfloat16", "float64")

TOKENS_PER_BATCH = {"cpu": 512, "cuda": 16384}
"""The number of tokens in a batch. On a CPU, larger batches do not fit into the cache (MiniLM: 5.8 times the speed of
single texts at 512 tokens, 4.6 times at 2048); a GPU needs larger batches.
"""

STATES_PER_BATCH = 2**18
"""The number of hidden-state values in a batch (tokens × dimensions) that fit into the processor's cache."""

LOGITS_PER_BATCH = 2**26
"""The largest number of logits, which is tokens of a batch × tokens of the vocabulary: 256 MB in float32."""

HEADS = {"masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}
"""The transformers class that loads each kind of language model with its head, for log-probabilities."""

ARCHITECTURES = {
    "masked": ("ForMaskedLM", "BertForPreTraining"),
    "causal": ("ForCausalLM", "GPT2LMHeadModel", "OpenAIGPTLMHeadModel"),
}
"""Suffixes of the names of architectures whose weights include a head, by kind."""


def head_of(architectures: object) -> str | None:
    """Return the kind of language model from `architectures` in a configuration; None if the model has no head."""
    names = [str(name) for name in architectures] if isinstance(architectures, list) else []
    return next((kind for kind, ends in ARCHITECTURES.items() if any(n.endswith(ends) for n in names)), None)


@contextlib.contextmanager
def loading(name: str, files: ModelFiles) -> Iterator[None]:
    """Report any exception while the model `name` is loaded in one line, and refuse code that comes with the model."""
    try:
        yield
    except WeatherglassError:
        raise
    except pickle.UnpicklingError as error:
        raise UnsafeFileError(
            f"'{name}': its weights file contains code or objects other than tensors, so it was not loaded "
            f"({first_line(error)}); get the model as safetensors"
        ) from None
    except BaseException as error:  # three libraries raise many types of errors for a damaged file
        if not is_failure(error):
            raise
        if "trust_remote_code" in str(error):
            code = ", ".join(files.own_code()) or "named in its configuration"
            raise UnsafeFileError(
                f"'{name}' comes with its own code ({code}), which is not run; if you trust it, add"
                " trust_remote_code=yes"
            ) from None
        if "ignore_mismatched_sizes" in str(error):  # it refers to a report that is not shown
            raise EncoderError(
                f"'{name}': its weights do not have the shapes in config.json; get both again"
            ) from None
        raise EncoderError(f"'{name}' cannot be loaded: {first_line(error)}") from None


def encoding(name: str) -> contextlib.AbstractContextManager[None]:
    """Report any exception while texts are encoded in one line; some wrong options cause errors only at this point."""
    remedy = "get all its files again"
    return errors_in_one_line(f"'{name}'", "the model cannot encode", remedy, EncoderError)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide the progress bars and advice of transformers while a model is loaded."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _refuse_missing(name: str, report: Mapping[str, Any]) -> None:
    # A missing pooler does not matter, since it is not used.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise EncoderError(
            f"'{name}': the file of weights lacks {len(missing)} weights of the model, such as {missing[0]};"
            " its vectors would be random, so get the weights again"
        )


@contextlib.contextmanager
def no_random_weights(name: str) -> Iterator[None]:
    """Refuse transformers models with missing weights, even if another library loads them.

    transformers replaces missing weights by random numbers, and reports this only in a log or on request.

    Raises:
        EncoderError: if weights are missing; the message names the first one.
    """
    from transformers import PreTrainedModel

    inner = PreTrainedModel.__dict__["from_pretrained"]

    def from_pretrained(
        cls: type, /, *arguments: Any, output_loading_info: bool = False, **options: Any
    ) -> Any:
        model, report = inner.__func__(cls, *arguments, output_loading_info=True, **options)
        _refuse_missing(name, report)
        return (model, report) if output_loading_info else model

    PreTrainedModel.from_pretrained = classmethod(from_pretrained)
    try:
        yield
    finally:
        PreTrainedModel.from_pretrained = inner


def load_tokenizer(name: str, files: ModelFiles, trust_remote_code: bool) -> Any:
    """Load the tokenizer of a model."""
    from transformers import AutoTokenizer

    if exists(files.folder / TOKENIZER):
        prove_tokenizer(files.folder / TOKENIZER)
    with loading(name, files), quiet():
        return files.load(AutoTokenizer.from_pretrained, trust_remote_code=trust_remote_code)


def pick_device(device: str) -> str:
    """Return the device; `auto` means CUDA if it is available.

    Raises:
        EncoderError: if CUDA is requested but not available.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise EncoderError("device=cuda: torch finds no CUDA device; use device=cpu or omit device=")
    return device


@dataclass(frozen=True, slots=True)
class TorchModel:
    """A model in evaluation mode on its device."""

    inner: Any
    device: str

    @property
    def tokens_per_batch(self) -> int:
        """Return the number of tokens in a batch for the device."""
        return TOKENS_PER_BATCH["cpu" if self.device == "cpu" else "cuda"]

    @classmethod
    def load(
        cls,
        name: str,
        files: ModelFiles,
        device: str,
        dtype: str,
        trust_remote_code: bool,
        head: str | None = None,
    ) -> TorchModel:
        """Load the weights from safetensors, or else from a pickle that contains only tensors.

        With a `head`, the model also gives log-probabilities.

        Raises:
            UnsafeFileError: if the weights are a pickle that contains anything else.
            EncoderError: if the weights do not fit the model, or cannot be read.
        """
        import torch
        import transformers

        resolved = pick_device(device)
        with loading(name, files), quiet(), limited_by_files(name, files):
            model, report = files.load(
                getattr(transformers, HEADS[head] if head else "AutoModel").from_pretrained,
                trust_remote_code=trust_remote_code,
                output_loading_info=True,
                weights_only=True,
            )
        _refuse_missing(name, report)
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        return cls(model.to(device=resolved, dtype=getattr(torch, dtype)).eval(), resolved)

    def hidden_states(
        self, pieces: Sequence[Pieces], padding: int, selections: Sequence[Layers]
    ) -> list[list[States]]:
        """Return the hidden states (texts × tokens × dimensions) of each selection's layers from one forward pass.

        Texts are padded on the right, so that tokens have the same positions, and therefore vectors, as in a single
        text.
        """
        states = self._forward(pieces, padding, output_hidden_states=True).hidden_states
        if states is None:
            raise EncoderError(
                "the model returns no hidden states; pass a function from texts to an array instead"
            )
        numbers = [layers.numbers(len(states)) for layers in selections]
        used = {number for some in numbers for number in some}
        arrays = {number: _as_array(states[number]) for number in used}
        return [[arrays[number] for number in some] for some in numbers]

    @property
    def logits_per_batch(self) -> int:
        """Return the number of tokens per batch for which log-probabilities fit into memory."""
        config = self.inner.config
        fit = STATES_PER_BATCH // (getattr(config, "hidden_size", None) or STATES_PER_BATCH)
        tokens = max(self.tokens_per_batch, fit)
        return max(1, min(tokens, LOGITS_PER_BATCH // (getattr(config, "vocab_size", None) or 1)))

    def log_probabilities(
        self, pieces: Sequence[Pieces], padding: int, rows: list[int], places: list[int], ids: list[int]
    ) -> Vector:
        """Return the log-probability of each of `ids` at its row and position in the batch."""
        import torch

        with self._head_at(rows, places) as selected:
            logits = self._forward(pieces, padding).logits
        if selected and logits.shape[:2] != (1, len(rows)):
            logits, selected = self._forward(pieces, padding).logits, []
        with torch.inference_mode():
            at_places = logits[0] if selected else logits[rows, places]
            predicted = torch.log_softmax(at_places.double(), dim=-1)
            return cast(Vector, predicted[torch.arange(len(ids)), ids].cpu().numpy())

    @contextlib.contextmanager
    def _head_at(self, rows: list[int], places: list[int]) -> Iterator[list[Any]]:
        """Make the head read only the states of these tokens; all others would cost a product with the vocabulary each.

        The list that is yielded is empty after a forward pass whose head is not a part that reads the last states.
        """
        selected: list[Any] = []

        def select(head: Any, states: tuple[Any, ...]) -> Any:
            if selected or not states or getattr(states[0], "ndim", 0) != 3:
                return None
            selected.append(head)
            return (states[0][rows, places][None], *states[1:])

        body = getattr(self.inner, "base_model", self.inner)
        parts = [] if body is self.inner else [part for part in self.inner.children() if part is not body]
        hooks = [part.register_forward_pre_hook(select) for part in parts]
        try:
            yield selected
        finally:
            for hook in hooks:
                hook.remove()

    def attention_received(self, pieces: Sequence[Pieces], padding: int) -> AnyMatrix:
        """Return the attention that each token receives in texts of one length, as a mean over layers, heads and
        tokens.

        Raises:
            EncoderError: if the model does not report its attention.
        """
        config = getattr(self.inner, "config", None)
        before = getattr(config, "_attn_implementation", None)
        # The faster implementations do not report their weights.
        self.inner.set_attn_implementation("eager")
        try:
            attentions = self._forward(pieces, padding, output_attentions=True).attentions
        finally:
            if before:
                self.inner.set_attn_implementation(before)
        if not attentions:
            raise EncoderError("the model does not report its attention")
        received = sum(layer.double().mean(dim=(1, 2)) for layer in attentions) / len(attentions)
        return cast(AnyMatrix, received.cpu().numpy())

    def _forward(self, pieces: Sequence[Pieces], padding: int, **options: bool) -> Any:
        """Return the output of the model for a batch."""
        import torch

        width = max(1, max(len(text.ids) for text in pieces))
        inputs = {
            "input_ids": _padded([text.ids for text in pieces], width, padding),
            "attention_mask": _padded([[1] * len(text.ids) for text in pieces], width, 0),
        }
        for name in pieces[0].other_inputs:
            inputs[name] = _padded([text.other_inputs[name] for text in pieces], width, 0)
        # A text without tokens gets one, and pooling makes its row NaN.
        inputs["attention_mask"][:, 0] = 1
        with torch.inference_mode():
            try:
                return self.inner(
                    **{key: torch.from_numpy(value).to(self.device) for key, value in inputs.items()},
                    **options,
                    return_dict=True,
                )
            except torch.cuda.OutOfMemoryError:
                raise EncoderError(
                    f"out of memory on the GPU; use batch_size={max(1, len(pieces) // 2)}"
                ) from None
            except (RuntimeError, IndexError, TypeError, ValueError) as error:
                raise EncoderError(
                    f"the model cannot read the tokens of its tokenizer ({first_line(error)}); use files "
                    "that belong to one model"
                ) from None


def _padded(rows: Sequence[Sequence[int]], width: int, padding: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    table = np.full((len(rows), width), padding, dtype=np.int64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table


def _as_array(states: Any) -> States:
    # numpy has no bfloat16, and sums over tokens need more digits than float16 has.
    wide = states if states.element_size() >= 4 else states.float()
    return cast(States, wide.cpu().numpy())

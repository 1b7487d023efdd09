"""A transformers model in memory: its tokenizer, and the hidden states and log-probabilities of batches.

torch is imported at first use.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.model_files import (
    TOKENIZER,
    ModelFiles,
    check_tokenizer,
    first_line,
    limited_by_files,
)
from weatherglass.encoders.pooling import Layers, States
from weatherglass.errors import EncoderError, UnsafeFileError, WeatherglassError
from weatherglass.storage.reading import exists, is_failure, one_line

POSITIONS_AFTER_PADDING = {
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "camembert",
    "mpnet",
    "longformer",
    "luke",
}
"""Model types whose first position number is one above the padding token's, so that the last ones are never used."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """One text as the model's input."""

    ids: list[int]
    full_length: int
    """How many pieces the text has; more than there are ids if it was cut."""
    other_inputs: dict[str, list[int]] = field(default_factory=dict)
    """Further inputs that the tokenizer makes for the model, such as segment numbers, one per id."""
    at: list[int] | None = None
    """Where among the ids the pieces at the place are that was asked for; None if none was."""
    place_is_cut: bool = False
    """Whether pieces of that place were cut off, so that none is left."""


Place = tuple[int, int | None]
"""First and last character of a part of a text; without a last one, all the tokens of the text from there on."""

NOT_FOR_TOKENS = ("input_ids", "offset_mapping", "special_tokens_mask")
"""What a tokenizer gives that is no further input of a model."""


def max_tokens(config: dict[str, Any]) -> int | None:
    """Return how many tokens a model has positions for, from its config; None where there is no such limit."""
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
    """Return whether the model's tokenizer marks texts with a classification token, judged from its small files
    alone.
    """
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        if files.table(name).get("cls_token"):
            return True
    post_processor = files.table("tokenizer.json").get("post_processor") or {}
    if "cls" in post_processor or "[CLS]" in (post_processor.get("special_tokens") or {}):
        return True
    return (files.folder / "vocab.txt").is_file() or "bert" in str(files.config.get("model_type", ""))


@dataclass(slots=True)
class Tokenizer:
    """A transformers tokenizer with the spec's choices about special tokens, case and length."""

    inner: Any
    special_tokens: bool
    lowercase: bool
    limit: int | None
    """No text is longer than this many pieces."""

    def __call__(
        self, texts: Sequence[str], places: Sequence[Place] | None = None, spare: int = 0
    ) -> list[Pieces]:
        """Return the pieces of each text, cut to the limit less `spare`; with a place in each, also which pieces are
        there.
        """
        if not texts:
            return []
        prepared = [text.lower() if self.lowercase else text for text in texts]
        if places and self.lowercase:  # which may make a text longer
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
                # A part of a word is not the word.
                all_pieces[index] = replace(all_pieces[index], at=[], place_is_cut=True)
        return all_pieces

    def _pieces(self, texts: list[str], places: Sequence[Place] | None, **options: Any) -> list[Pieces]:
        if places is not None:
            if not getattr(self.inner, "is_fast", False):
                raise EncoderError(
                    "this model's tokenizer does not say where in a text its pieces are; a tokenizer.json is needed"
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
        """Return a text of a causal model with the token that begins texts before it, so that its first token has a
        context.

        Where the tokenizer has none, the one that ends texts serves, as in GPT-2; without special tokens, nothing does.
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
        """Return where the classification token stands in each text (first in BERT, last in XLNet).

        Raises:
            EncoderError: if the tokenizer has none or does not add it.
        """
        cls_id = self.inner.cls_token_id
        if cls_id is None or any(cls_id not in text.ids for text in pieces):
            raise EncoderError(
                "pooling=cls: this model's tokenizer adds no cls token; use pooling=first, mean or last"
            )
        return np.array([text.ids.index(cls_id) for text in pieces], dtype=np.int64)

    def mask(self) -> int:
        """Return the token that hides another.

        Raises:
            EncoderError: if the tokenizer has none.
        """
        if self.inner.mask_token_id is None:
            raise EncoderError("log-probabilities: this model's tokenizer has no mask token")
        return int(self.inner.mask_token_id)

    def padding(self) -> int:
        """Return what stands after a shorter text in a batch; it is masked, so any token serves where none is named."""
        candidates = (self.inner.pad_token_id, self.inner.eos_token_id, self.inner.unk_token_id, 0)
        return int(next(candidate for candidate in candidates if candidate is not None))

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return the pieces of each text by name, with a note of what was cut or is unknown to the model."""
        return [self.coverage_of(pieces) for pieces in self(texts)]

    def coverage_of(self, pieces: Pieces, word: str = "") -> Coverage:
        """Return how a text was read or, if a place in it was asked for, how the `word` there was."""
        ids = pieces.ids if pieces.at is None else [pieces.ids[place] for place in pieces.at]
        notes = []
        if len(pieces.ids) < pieces.full_length:
            notes.append(f"cut to {len(pieces.ids)} of {pieces.full_length} tokens")
        if word and pieces.place_is_cut:
            notes.append("the word is in what was cut off")
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
    """Return which pieces of a text overlap a place in it; special tokens, which the text does not have, are
    nowhere.
    """
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
"""Tokens in a batch. On a processor more of them no longer fit in its cache (MiniLM: 5.8 times the speed of one by
one at 512, 4.6 times at 2048); a GPU wants more work at a time."""

LOGITS_PER_BATCH = 2**26
"""A number for every token of a batch and every token of the vocabulary: 256 MB in float32."""

HEADS = {"masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}
"""By kind of language model: the class of transformers that loads it with its head, which gives log-probabilities."""

ARCHITECTURES = {
    "masked": ("ForMaskedLM", "BertForPreTraining"),
    "causal": ("ForCausalLM", "GPT2LMHeadModel", "OpenAIGPTLMHeadModel"),
}
"""By kind: how the names of architectures end whose weights include such a head."""


def head_of(architectures: object) -> str | None:
    """Return which kind of language model the entry `architectures` of a configuration names; None for one without a
    head.
    """
    names = [str(name) for name in architectures] if isinstance(architectures, list) else []
    return next((kind for kind, ends in ARCHITECTURES.items() if any(n.endswith(ends) for n in names)), None)


@contextlib.contextmanager
def one_line_errors(name: str, files: ModelFiles) -> Iterator[None]:
    """Whatever loading raises, as one line about the model called `name`; code of its own is refused by its name."""
    try:
        yield
    except WeatherglassError:
        raise
    except pickle.UnpicklingError as error:
        raise UnsafeFileError(
            f"'{name}': its weights would run code or hold more than tensors, so they were not loaded"
            f" ({first_line(error)}); get the model as safetensors"
        ) from None
    except BaseException as error:  # three libraries raise many types of errors for a bad file
        if not is_failure(error):
            raise
        if "trust_remote_code" in str(error):
            code = ", ".join(files.own_code()) or "named in its configuration"
            raise UnsafeFileError(
                f"'{name}' comes with its own code ({code}), which is not run; if you trust it, add"
                " trust_remote_code=yes"
            ) from None
        if "ignore_mismatched_sizes" in str(error):  # which points to a report that is not shown
            raise EncoderError(
                f"'{name}': its weights have other shapes than config.json asks for; get both again"
            ) from None
        raise EncoderError(f"'{name}' cannot be loaded: {first_line(error)}") from None


def encoding(name: str) -> contextlib.AbstractContextManager[None]:
    """Whatever a model that could be loaded raises for a text, as one line; a wrong option may show only then."""
    remedy = "do its files belong together? get them again"
    return one_line(f"'{name}'", "the model cannot encode", remedy, EncoderError)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No progress bars or advice from transformers while a model loads."""
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
    # A missing pooler does not matter, since nothing here is read from it.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise EncoderError(
            f"'{name}': the file of weights lacks {len(missing)} of the model's, such as {missing[0]};"
            " its vectors would be random"
        )


@contextlib.contextmanager
def no_random_weights(name: str) -> Iterator[None]:
    """Within, a transformers model that a library loads has all its weights from files.

    transformers fills in random numbers for those that are missing, and says so in a log or to whoever asks; a library
    between it and us does not ask.

    Raises:
        EncoderError: naming the first that is missing.
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
    """Return the model's own tokenizer."""
    from transformers import AutoTokenizer

    if exists(files.folder / TOKENIZER):
        check_tokenizer(files.folder / TOKENIZER)
    with one_line_errors(name, files), quiet():
        return files.load(AutoTokenizer.from_pretrained, trust_remote_code=trust_remote_code)


def pick_device(device: str) -> str:
    """`auto` is CUDA where there is one.

    Raises:
        EncoderError: if CUDA is asked for and there is none.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise EncoderError("device=cuda: torch finds no CUDA device here; use device=cpu or leave it out")
    return device


@dataclass(frozen=True, slots=True)
class TorchModel:
    """The weights, in evaluation mode, on their device."""

    inner: Any
    device: str

    @property
    def tokens_per_batch(self) -> int:
        """Return the size of a batch that suits the device."""
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
        """Load the weights: safetensors where there are any, else a pickle of tensors and nothing but tensors.

        With a `head` it also gives log-probabilities.

        Raises:
            UnsafeFileError: if the weights are a pickle that holds anything else.
            EncoderError: if they do not fit the model, or cannot be read.
        """
        import torch
        import transformers

        resolved = pick_device(device)
        with one_line_errors(name, files), quiet(), limited_by_files(name, files):
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
        """For every selection its layers' hidden states, all of one forward pass: arrays (texts, tokens, dimensions).

        Texts are padded on the right, whatever the tokenizer's default: under the mask the real tokens then keep the
        positions, and so the vectors, that they have alone.
        """
        states = self._forward(pieces, padding, output_hidden_states=True).hidden_states
        if states is None:
            raise EncoderError("the model gives no hidden states; give a function texts → array instead")
        numbers = [layers.numbers(len(states)) for layers in selections]
        used = {number for some in numbers for number in some}
        arrays = {number: _as_array(states[number]) for number in used}
        return [[arrays[number] for number in some] for some in numbers]

    @property
    def logits_per_batch(self) -> int:
        """Return tokens in a batch whose log-probabilities fit in memory."""
        vocabulary = getattr(self.inner.config, "vocab_size", None) or 1
        return max(1, min(self.tokens_per_batch, LOGITS_PER_BATCH // vocabulary))

    def log_probabilities(
        self, pieces: Sequence[Pieces], padding: int, rows: list[int], places: list[int], ids: list[int]
    ) -> Vector:
        """Return the log-probability of each of `ids` in what the model predicts at a place of a row of the batch."""
        import torch

        logits = self._forward(pieces, padding).logits
        with torch.inference_mode():
            predicted = torch.log_softmax(logits[rows, places].double(), dim=-1)
            return cast(Vector, predicted[torch.arange(len(ids)), ids].cpu().numpy())

    def _forward(self, pieces: Sequence[Pieces], padding: int, **options: bool) -> Any:
        """Return what the model gives for a batch."""
        import torch

        width = max(1, max(len(text.ids) for text in pieces))
        inputs = {
            "input_ids": _padded([text.ids for text in pieces], width, padding),
            "attention_mask": _padded([[1] * len(text.ids) for text in pieces], width, 0),
        }
        for name in pieces[0].other_inputs:
            inputs[name] = _padded([text.other_inputs[name] for text in pieces], width, 0)
        # A text without tokens is given one to look at; pooling makes its row NaN.
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
                    f"the model cannot read what its tokenizer makes ({first_line(error)}); do the two belong together?"
                ) from None


def _padded(rows: Sequence[Sequence[int]], width: int, padding: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    table = np.full((len(rows), width), padding, dtype=np.int64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table


def _as_array(states: Any) -> States:
    # numpy has no bfloat16, and sums over tokens want more digits than float16 has.
    wide = states if states.element_size() >= 4 else states.float()
    return cast(States, wide.cpu().numpy())

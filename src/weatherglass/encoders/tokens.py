"""Split texts into the tokens of a transformers model, and find the tokens of a word in its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.encoders.base import CUT, Coverage
from weatherglass.encoders.model_files import ModelFiles
from weatherglass.errors import EncoderError

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
    """Return the maximum number of tokens from a model's configuration; None if there is no limit."""
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
    """The maximum number of pieces of a text."""

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
            notes.append(f"{CUT} {len(pieces.ids)} of {pieces.full_length} tokens")
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

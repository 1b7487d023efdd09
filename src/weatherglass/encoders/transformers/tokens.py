"""The tokenizer of a transformers model: the word pieces of each text, and what was cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.transformers.hub import ModelFiles
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
"""Model types whose first position number is one above the padding token's, so that the last ones are never used."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """One text as the model's input."""

    ids: list[int]
    full_length: int
    """How many pieces the text has; more than there are ids if it was cut."""
    other_inputs: dict[str, list[int]] = field(default_factory=dict)
    """Further inputs that the tokenizer makes for the model, such as segment numbers, one per id."""


def max_tokens(config: dict[str, Any]) -> int | None:
    """How many tokens a model has positions for, from its config; None where there is no such limit."""
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
    """Whether the model's tokenizer marks texts with a classification token, judged from its small files alone."""
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

    def __call__(self, texts: Sequence[str]) -> list[Pieces]:
        """The pieces of each text, cut to the limit."""
        if not texts:
            return []
        prepared = [text.lower() if self.lowercase else text for text in texts]
        all_pieces = self._pieces(prepared)
        if self.limit is None or all(len(pieces.ids) <= self.limit for pieces in all_pieces):
            return all_pieces
        long = [index for index, pieces in enumerate(all_pieces) if len(pieces.ids) > self.limit]
        cut = self._pieces([prepared[index] for index in long], truncation=True, max_length=self.limit)
        for index, pieces in zip(long, cut, strict=True):
            all_pieces[index] = Pieces(pieces.ids, all_pieces[index].full_length, pieces.other_inputs)
        return all_pieces

    def _pieces(self, texts: list[str], **options: Any) -> list[Pieces]:
        encoded = self.inner(
            texts,
            add_special_tokens=self.special_tokens,
            return_attention_mask=False,
            verbose=False,
            **options,
        )
        other_inputs = [name for name in encoded if name != "input_ids"]
        return [
            Pieces(list(ids), len(ids), {name: list(encoded[name][row]) for name in other_inputs})
            for row, ids in enumerate(encoded["input_ids"])
        ]

    def cls_positions(self, pieces: Sequence[Pieces]) -> Integers:
        """Where the classification token stands in each text (first in BERT, last in XLNet).

        Raises:
            EncoderError: if the tokenizer has none or does not add it.
        """
        cls_id = self.inner.cls_token_id
        if cls_id is None or any(cls_id not in text.ids for text in pieces):
            raise EncoderError(
                "pooling=cls: this model's tokenizer adds no cls token; use pooling=first, mean or last"
            )
        return np.array([text.ids.index(cls_id) for text in pieces], dtype=np.int64)

    def padding(self) -> int:
        """What stands after a shorter text in a batch; it is masked, so any token serves where none is named."""
        candidates = (self.inner.pad_token_id, self.inner.eos_token_id, self.inner.unk_token_id, 0)
        return int(next(candidate for candidate in candidates if candidate is not None))

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """The pieces of each text by name, with a note of what was cut or is unknown to the model."""
        return [self._coverage(pieces) for pieces in self(texts)]

    def _coverage(self, pieces: Pieces) -> Coverage:
        notes = []
        if len(pieces.ids) < pieces.full_length:
            notes.append(f"cut to {len(pieces.ids)} of {pieces.full_length} tokens")
        if unknown := pieces.ids.count(self.inner.unk_token_id) if self.inner.unk_token_id is not None else 0:
            notes.append(f"{unknown} unknown, read as {self.inner.unk_token}")
        if not pieces.ids:
            notes.append("no tokens")
        return Coverage(tuple(self.inner.convert_ids_to_tokens(pieces.ids)), note="; ".join(notes))

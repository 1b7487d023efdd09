"""One published GenSen model: NAME.model with the weights and NAME_vocab.pkl with the words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from weatherglass.encoders.papers.recurrent import Array, BidirectionalNetwork, gru, weight_array
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.reading import is_regular_file, reading
from weatherglass.storage.torch_file import read_torch, state_dict
from weatherglass.storage.unpickle import read_pickle, shown

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The files of one model."""

    weights: Path
    vocabulary: Path

    @classmethod
    def named(cls, folder: Path, name: str) -> Self:
        """NAME.model and NAME_vocab.pkl in `folder`.

        Raises:
            SpecError: if one of them is missing.
        """
        checkpoint = cls(folder / f"{name}.model", folder / f"{name}_vocab.pkl")
        for path in (checkpoint.weights, checkpoint.vocabulary):
            if not is_regular_file(path):
                names = ", ".join(sorted(path.stem for path in folder.glob("*.model"))) or "no model at all"
                raise SpecError(f"no file '{path}'; the folder holds {names}")
        return checkpoint


@dataclass(frozen=True, slots=True)
class GenSenModel:
    """One model with its own words; words beyond them come from a `Vocabulary`."""

    network: BidirectionalNetwork
    embedding: Array
    """One row per word of its own."""
    rows: Mapping[str, int]

    @classmethod
    def load(cls, checkpoint: Checkpoint) -> Self:
        """Read weights and words, and check that they belong together.

        Raises:
            EncoderError: if they do not.
        """
        source = str(checkpoint.weights)
        with reading(checkpoint.weights, EncoderError):
            weights = state_dict(read_torch(checkpoint.weights), source)
            network = BidirectionalNetwork.from_state_dict(gru, weights, "encoder.", source)
            embedding = weight_array(weights, "src_embedding.weight", source)
            if embedding.ndim != 2 or embedding.shape[1] != network.width:
                raise EncoderError(
                    f"{source}: words have {embedding.shape[1:]} dimensions, but the network reads {network.width}"
                )
        with reading(checkpoint.vocabulary, EncoderError):
            return cls(network, embedding, _read_rows(checkpoint.vocabulary, len(embedding)))

    def last_states(self, inputs: Array) -> Array:
        """Embedded words (texts, words, width) to (texts, 2 · hidden): the backward last state, then the forward."""
        states = self.network(inputs)
        hidden = self.network.hidden
        return np.concatenate([states[:, 0, hidden:], states[:, -1, :hidden]], axis=1)

    def largest_states(self, inputs: Array) -> Array:
        """Embedded words to the maximum over time of the states, forward then backward."""
        largest: Array = self.network(inputs).max(axis=1)
        return largest


def _read_rows(path: Path, count: int) -> dict[str, int]:
    vocabulary = read_pickle(path)
    words = vocabulary.get("word2id") if isinstance(vocabulary, dict) else None
    if not isinstance(words, dict):
        raise EncoderError(f"{path}: no 'word2id'; is this the vocabulary of a GenSen model?")
    if not all(isinstance(row, int) for row in words.values()):
        raise EncoderError(f"{path}: a word has no whole number for its row")
    rows = {_text(word): row for word, row in words.items()}
    for mark in (BEGIN, END, UNKNOWN):
        if mark not in rows:
            raise EncoderError(f"{path}: the vocabulary has no '{mark}'")
    if min(rows.values()) < 0 or max(rows.values()) >= count:
        raise EncoderError(f"{path}: a word has row {max(rows.values())}, but the model has {count} rows")
    return rows


def _text(word: object) -> str:
    """Python 2 wrote words as UTF-8 bytes, which the reader takes for latin-1."""
    if not isinstance(word, str):
        raise EncoderError(f"the vocabulary of a GenSen model has {shown(word)} for a word")
    try:
        return word.encode("latin1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return word

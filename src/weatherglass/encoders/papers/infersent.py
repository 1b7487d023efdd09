"""Encode with InferSent (Conneau et al. 2017), using the maximum over time of a BiLSTM over word vectors.

A vector has 4096 dimensions. Version 1 reads GloVe vectors and puts <s> and </s> around a text; version 2 reads
fastText vectors and puts <p> and </p> around it. The vectors in the spec determine the version. In the released code
of version 1, the zeros of padding count in the maximum, so that a vector depends on its batch. This module pads
nothing, as in the paper and in the released code with one text per batch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Self

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage, Encoder
from weatherglass.encoders.papers.recurrent import Array, BidirectionalNetwork, WordLookup, lstm
from weatherglass.encoders.pooling import by_equal_length
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.languages.tokenise import TOKENISERS
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.reading import is_regular_file, reading
from weatherglass.storage.torch_file import read_torch, state_dict

BATCH: Final = 64

BOUNDARIES: Final = {1: ("<s>", "</s>"), 2: ("<p>", "</p>")}

PICKLED_MODEL: Final = (
    "models.BLSTMEncoder",
    "models.InferSent",
    "encoder.models.BLSTMEncoder",
    "encoder.models.InferSent",
    "torch.nn.modules.rnn.LSTM",
)
"""Classes of models published as pickled objects; only their weights are used."""


@dataclass(slots=True, eq=False)
class InferSentEncoder(Encoder):
    """An encoder whose vectors are the maximum over time of a BiLSTM's states."""

    costly: ClassVar[bool] = True

    spec: Spec
    checkpoint: Path
    version: int
    tokens: str
    words: WordLookup
    _network: BidirectionalNetwork | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `infersent:FILE?glove=PATH` (version 1) or `infersent:FILE?fasttext=PATH` (version 2)."""
        options = spec.reader()
        glove, fasttext = options.text("glove", ""), options.text("fasttext", "")
        tokens = options.choice("tokens", ("words", "whitespace"), "words")
        options.done()
        checkpoint = Path(spec.target).expanduser()
        if not is_regular_file(checkpoint):
            raise SpecError(
                f"'{spec}': there is no file '{spec.target}'; give infersent: the file of the checkpoint"
            )
        if bool(glove) == bool(fasttext):
            raise SpecError(
                f"'{spec}': InferSent needs word vectors; add glove=PATH for version 1 or fasttext=PATH for version 2"
            )
        return cls(spec, checkpoint, 1 if glove else 2, tokens, WordLookup.at(glove or fasttext, spec))

    @property
    def name(self) -> str:
        return str(self.spec)

    @property
    def options(self) -> Mapping[str, str]:
        return {"version": str(self.version), "tokens": self.tokens, "pooling": "max"}

    def identity(self) -> str:
        files = [file_hash(self.checkpoint), file_hash(self.words.path)]
        return hashlib.sha256(json.dumps(["infersent", files, dict(self.options)]).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        network = self._load()
        known = [[word for word in split if word in self.words] for split in self._look_up(texts)]
        sequences = [self._between_boundaries(words) if words else [] for words in known]
        vectors = np.full((len(texts), 2 * network.hidden), np.nan, dtype=np.float32)
        for rows in by_equal_length([len(sequence) for sequence in sequences], BATCH):
            inputs = np.stack([self.words.vectors(sequences[row]) for row in rows])
            vectors[rows] = network(inputs).max(axis=1)
        return vectors

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return [
            Coverage(tuple(split), tuple(word for word in split if word not in self.words))
            for split in self._look_up(texts)
        ]

    def notes(self) -> list[str]:
        """Return notes on boundary marks without a vector, which are skipped, as in the released code."""
        return [
            f"'{mark}' has no vector in {self.words.path.name}, so texts are encoded without it"
            for mark in BOUNDARIES[self.version]
            if self.words.looked_up(mark) and mark not in self.words
        ]

    def _split(self, text: str) -> list[str]:
        words = TOKENISERS[self.tokens](text)
        return moses_negation(words) if self.version == 2 and self.tokens == "words" else words

    def _look_up(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, after loading their vectors."""
        splits = [self._split(text) for text in texts]
        self.words.load({*BOUNDARIES[self.version], *(word for split in splits for word in split)})
        return splits

    def _between_boundaries(self, words: list[str]) -> list[str]:
        begin, end = BOUNDARIES[self.version]
        return [word for word in (begin, *words, end) if word in self.words]

    def _load(self) -> BidirectionalNetwork:
        if self._network is None:
            source = str(self.checkpoint)
            with reading(self.checkpoint, EncoderError):
                weights: dict[str, Array] = state_dict(read_torch(self.checkpoint, PICKLED_MODEL), source)
                network = BidirectionalNetwork.from_state_dict(lstm, weights, "enc_lstm.", source)
            self.words.load(set(BOUNDARIES[self.version]))
            if self.words.width != network.width:
                raise EncoderError(
                    f"'{self.spec}': the vectors have {self.words.width} dimensions, "
                    f"but the checkpoint reads {network.width}"
                )
            self._network = network
        return self._network


def moses_negation(words: list[str]) -> list[str]:
    """Return `do n't know` as `don 't know`, the form that version 2 was trained on (a final n't is unchanged)."""
    joined = words.copy()
    for index in range(1, len(words) - 1):
        if words[index] == "n't":
            joined[index - 1] += "n"
            joined[index] = "'t"
    return joined

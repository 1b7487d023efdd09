"""Encode with GenSen (Subramanian et al. 2018), using the last states of bidirectional GRUs trained on many tasks.

The paper describes BiLSTMs, but the published checkpoints are GRUs of one or two layers, as in this module.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Self

import numpy as np

from weatherglass.arrays import AnyMatrix, Matrix, Vector
from weatherglass.encoders.base import Coverage, Encoder
from weatherglass.encoders.papers.recurrent import Array, BidirectionalNetwork, WordLookup, gru, weight_array
from weatherglass.encoders.pooling import by_equal_length
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.languages.tokenise import TOKENISERS
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.reading import is_folder, is_regular_file, reading
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
        """Return NAME.model and NAME_vocab.pkl in `folder`.

        Raises:
            SpecError: if one of the two files is missing.
        """
        checkpoint = cls(folder / f"{name}.model", folder / f"{name}_vocab.pkl")
        for path in (checkpoint.weights, checkpoint.vocabulary):
            if not is_regular_file(path):
                names = ", ".join(sorted(path.stem for path in folder.glob("*.model"))) or "no model"
                raise SpecError(f"there is no file '{path}'; the folder contains {names}")
        return checkpoint


@dataclass(frozen=True, slots=True)
class GenSenModel:
    """A model with the words that it was trained on."""

    network: BidirectionalNetwork
    embedding: Array
    """One row per word."""
    rows: Mapping[str, int]

    @classmethod
    def load(cls, checkpoint: Checkpoint) -> Self:
        """Read weights and words, and check that they belong together.

        Raises:
            EncoderError: if they do not belong together.
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
        """Return the final hidden states (texts, 2 · hidden), backward then forward, for sequences of word vectors
        (texts, words, width).
        """
        states = self.network(inputs)
        hidden = self.network.hidden
        return np.concatenate([states[:, 0, hidden:], states[:, -1, :hidden]], axis=1)

    def largest_states(self, inputs: Array) -> Array:
        """Return the maximum over time of the states, forward then backward."""
        largest: Array = self.network(inputs).max(axis=1)
        return largest


def _read_rows(path: Path, count: int) -> dict[str, int]:
    vocabulary = read_pickle(path)
    words = vocabulary.get("word2id") if isinstance(vocabulary, dict) else None
    if not isinstance(words, dict):
        raise EncoderError(f"{path}: no 'word2id', so this is not the vocabulary of a GenSen model")
    if not all(isinstance(row, int) for row in words.values()):
        raise EncoderError(f"{path}: the row of a word is not a whole number")
    rows = {_text(word): row for word, row in words.items()}
    for mark in (BEGIN, END, UNKNOWN):
        if mark not in rows:
            raise EncoderError(f"{path}: the vocabulary has no '{mark}'")
    if min(rows.values()) < 0 or max(rows.values()) >= count:
        raise EncoderError(f"{path}: a word has row {max(rows.values())}, but the model has {count} rows")
    return rows


def _text(word: object) -> str:
    """Return a word as text; Python 2 wrote UTF-8 bytes, which the reader decodes as latin-1."""
    if not isinstance(word, str):
        raise EncoderError(f"the vocabulary of a GenSen model contains {shown(word)}, which is not a text")
    try:
        return word.encode("latin1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return word


@dataclass(frozen=True, slots=True)
class Expansion:
    """A linear map with an intercept from GloVe's space to a model's space."""

    weight: Matrix
    """The matrix of GloVe dimensions × model dimensions."""
    intercept: Vector

    @classmethod
    def fit(cls, glove: Array, own: Array) -> Self:
        """Fit the map by least squares over the words that both vocabularies contain, one row each."""
        from_glove, to_own = glove.astype(np.float64), own.astype(np.float64)
        glove_mean, own_mean = from_glove.mean(axis=0), to_own.mean(axis=0)
        centred = from_glove - glove_mean
        # The normal equations are used; 300 unknowns and tens of thousands of words are well conditioned in float64.
        weight = np.linalg.lstsq(centred.T @ centred, centred.T @ (to_own - own_mean), rcond=None)[0]
        return cls(weight, own_mean - glove_mean @ weight)

    def __call__(self, glove: Array) -> Array:
        """Return GloVe vectors, one row per word, in the space of the model."""
        return (glove.astype(np.float64) @ self.weight + self.intercept).astype(np.float32)


BATCH: Final = 64

DEFAULT_MODELS: Final = ("nli_large_bothskip_parse", "nli_large_bothskip")
"""The pair of models that the authors and May et al. concatenate."""


@dataclass(slots=True)
class ExpandedModel:
    """A model and the map from GloVe into its space."""

    model: GenSenModel
    expansion: Expansion | None

    def embed(self, word: str, glove: WordLookup | None) -> Array:
        """Return the model's vector of a word, or the vector mapped from GloVe, or that of <unk>."""
        rows = self.model.rows
        if word not in rows and self.expansion is not None and glove is not None and word in glove:
            return np.asarray(self.expansion(glove.vectors([word]))[0])
        return np.asarray(self.model.embedding[rows.get(word, rows[UNKNOWN])])


@dataclass(slots=True, eq=False)
class GenSenEncoder(Encoder):
    """An encoder whose vectors are the final hidden states of one GenSen model, or those of several, concatenated."""

    costly: ClassVar[bool] = True

    spec: Spec
    checkpoints: list[Checkpoint]
    glove: WordLookup | None
    tokens: str
    lowercase: bool
    pooling: str
    _models: list[ExpandedModel] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `gensen:FOLDER?models=NAME,NAME&glove=PATH`."""
        options = spec.reader()
        names = options.text("models", "")
        glove = options.text("glove", "")
        tokens = options.choice("tokens", ("words", "whitespace"), "words")
        lowercase = options.flag("lowercase", False)
        pooling = options.choice("pooling", ("last", "max"), "last")
        options.done()
        folder = Path(spec.target).expanduser()
        if not is_folder(folder):
            raise SpecError(
                f"'{spec}': there is no folder '{spec.target}'; give gensen: the folder of the checkpoints"
            )
        chosen = [name for name in names.split(",") if name] or _default_models(folder)
        checkpoints = [Checkpoint.named(folder, name) for name in chosen]
        return cls(
            spec, checkpoints, WordLookup.at(glove, spec) if glove else None, tokens, lowercase, pooling
        )

    @property
    def name(self) -> str:
        return str(self.spec)

    @property
    def options(self) -> Mapping[str, str]:
        return {
            "models": ",".join(checkpoint.weights.stem for checkpoint in self.checkpoints),
            "glove": self.glove.path.name if self.glove else "none",
            "tokens": self.tokens,
            "lowercase": "yes" if self.lowercase else "no",
            "pooling": self.pooling,
        }

    def identity(self) -> str:
        paths = [
            path for checkpoint in self.checkpoints for path in (checkpoint.weights, checkpoint.vocabulary)
        ]
        files = [file_hash(path) for path in (*paths, *([self.glove.path] if self.glove else []))]
        return hashlib.sha256(json.dumps(["gensen", files, dict(self.options)]).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        models = self._load()
        splits = self._look_up(texts)
        sequences = [
            [BEGIN, *words, END] if any(self._knows(word) for word in words) else [] for words in splits
        ]
        width = sum(2 * expanded.model.network.hidden for expanded in models)
        vectors = np.full((len(texts), width), np.nan, dtype=np.float32)
        for rows in by_equal_length([len(sequence) for sequence in sequences], BATCH):
            batch = [sequences[row] for row in rows]
            vectors[rows] = np.concatenate([self._run(expanded, batch) for expanded in models], axis=1)
        return vectors

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return the words of each text; words that neither a model nor GloVe knows are read as <unk>."""
        self._load()
        return [
            Coverage(tuple(words), tuple(word for word in words if not self._knows(word)))
            for words in self._look_up(texts)
        ]

    def notes(self) -> list[str]:
        if self.glove is None:
            return ["without glove=, a word that GenSen was not trained on is read as <unk>"]
        return []

    def _look_up(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, after loading the GloVe vectors of words that a model lacks."""
        splits = [TOKENISERS[self.tokens](text.lower() if self.lowercase else text) for text in texts]
        if self.glove is not None:
            own = [expanded.model.rows for expanded in self._models]
            words = {word for split in splits for word in split}
            self.glove.load({word for word in words if any(word not in rows for rows in own)})
        return splits

    def _knows(self, word: str) -> bool:
        """Return whether every model has a vector for the word, either its own or one mapped from GloVe."""
        carried_over = self.glove is not None and word in self.glove
        return carried_over or all(word in expanded.model.rows for expanded in self._models)

    def _run(self, expanded: ExpandedModel, batch: list[list[str]]) -> Array:
        embedded = {
            word: expanded.embed(word, self.glove)
            for word in dict.fromkeys(word for text in batch for word in text)
        }
        inputs = np.stack([np.stack([embedded[word] for word in text]) for text in batch])
        model = expanded.model
        return model.last_states(inputs) if self.pooling == "last" else model.largest_states(inputs)

    def _load(self) -> list[ExpandedModel]:
        if not self._models:
            loaded = [GenSenModel.load(checkpoint) for checkpoint in self.checkpoints]
            if self.glove is not None:
                self.glove.load({word for model in loaded for word in model.rows})
            self._models = [ExpandedModel(model, self._fit(model)) for model in loaded]
        return self._models

    def _fit(self, model: GenSenModel) -> Expansion | None:
        glove = self.glove
        if glove is None:
            return None
        shared = [word for word in model.rows if word in glove]
        if not shared:
            raise EncoderError(
                f"'{self.spec}': {glove.path} shares no word with the model, so its vectors cannot be mapped"
            )
        own = model.embedding[[model.rows[word] for word in shared]]
        return Expansion.fit(glove.vectors(shared), own)


def _default_models(folder: Path) -> list[str]:
    """Return the two models that the authors use if the folder has them, or the only model."""
    names = sorted(path.stem for path in folder.glob("*.model"))
    if set(DEFAULT_MODELS) <= set(names):
        return list(DEFAULT_MODELS)
    if len(names) == 1:
        return names
    if not names:
        raise SpecError(f"{folder}: contains no file NAME.model; name the folder of the GenSen checkpoints")
    raise SpecError(
        f"{folder}: contains several models ({', '.join(names)}); choose with models=NAME or models=NAME,NAME"
    )

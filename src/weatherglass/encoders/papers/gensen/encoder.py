"""The GenSen encoder: words, boundaries, one or two models side by side."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Self

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.batches import by_equal_length
from weatherglass.encoders.papers.gensen.checkpoint import BEGIN, END, UNKNOWN, Checkpoint, GenSenModel
from weatherglass.encoders.papers.gensen.expansion import Expansion
from weatherglass.encoders.papers.recurrent import Array
from weatherglass.encoders.papers.word_lookup import WordLookup
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.languages.en.tokenise import TOKENISERS
from weatherglass.storage.fingerprint import file_hash
from weatherglass.storage.reading import is_folder

BATCH: Final = 64

DEFAULT_MODELS: Final = ("nli_large_bothskip_parse", "nli_large_bothskip")
"""What the authors concatenate for their best results; May et al. report the same pair."""


@dataclass(slots=True)
class ExpandedModel:
    """A model and the map into its space, which is fitted when first needed."""

    model: GenSenModel
    expansion: Expansion | None

    def embed(self, word: str, glove: WordLookup | None) -> Array:
        """The model's own vector, else the one carried over from GloVe, else that of <unk>."""
        rows = self.model.rows
        if word not in rows and self.expansion is not None and glove is not None and word in glove:
            return np.asarray(self.expansion(glove.vectors([word]))[0])
        return np.asarray(self.model.embedding[rows.get(word, rows[UNKNOWN])])


@dataclass(slots=True, eq=False)
class GenSenEncoder:
    """Texts as the last states of one GenSen model, or of several side by side."""

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
        """`gensen:FOLDER?models=NAME,NAME&glove=PATH`."""
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
                f"'{spec}': no folder '{spec.target}'; gensen: takes the folder of the checkpoints"
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
        """A word that neither a model nor GloVe knows stands in the text as <unk>, and is listed as missing."""
        self._load()
        return [
            Coverage(tuple(words), tuple(word for word in words if not self._knows(word)))
            for words in self._look_up(texts)
        ]

    def notes(self) -> list[str]:
        if self.glove is None:
            return ["without glove= a word that GenSen was not trained on is read as <unk>"]
        return []

    def _look_up(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each text; after the call the GloVe vectors of those that some model lacks are loaded."""
        splits = [TOKENISERS[self.tokens](text.lower() if self.lowercase else text) for text in texts]
        if self.glove is not None:
            own = [expanded.model.rows for expanded in self._models]
            words = {word for split in splits for word in split}
            self.glove.load({word for word in words if any(word not in rows for rows in own)})
        return splits

    def _knows(self, word: str) -> bool:
        """Whether every model has a vector for the word, its own or one carried over."""
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
                f"'{self.spec}': {glove.path} shares no word with the model, so none can be carried over"
            )
        own = model.embedding[[model.rows[word] for word in shared]]
        return Expansion.fit(glove.vectors(shared), own)


def _default_models(folder: Path) -> list[str]:
    """The authors' pair if the folder has it, else the only model."""
    names = sorted(path.stem for path in folder.glob("*.model"))
    if set(DEFAULT_MODELS) <= set(names):
        return list(DEFAULT_MODELS)
    if len(names) == 1:
        return names
    if not names:
        raise SpecError(f"{folder}: no file NAME.model; is this the folder of the GenSen checkpoints?")
    raise SpecError(
        f"{folder}: several models ({', '.join(names)}); choose with models=NAME or models=NAME,NAME"
    )

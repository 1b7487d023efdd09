"""The ELMo encoder: texts into tokens, tokens into layers of states, states into one vector."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Self

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.batches import by_equal_length
from weatherglass.encoders.kinds import require
from weatherglass.encoders.layers import Layers
from weatherglass.encoders.papers.elmo.files import ElmoOptions, find_files, read_options
from weatherglass.encoders.pooling import pool
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.views import View
from weatherglass.errors import EncoderError
from weatherglass.languages.en.tokenise import TOKENISERS
from weatherglass.storage.fingerprint import file_hash
from weatherglass.storage.reading import reading

if TYPE_CHECKING:
    from weatherglass.encoders.papers.elmo.model import ElmoModel

BATCH: Final = 64


@dataclass(slots=True, eq=False)
class ElmoEncoder:
    """Texts as ELMo sees them: 1024 dimensions, or three times that with layers=concat."""

    costly: ClassVar[bool] = True

    spec: Spec
    options_file: Path
    weights_file: Path
    network: ElmoOptions
    pooling: str
    layers: Layers
    tokens: str
    _model: ElmoModel | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """`elmo:FOLDER?pooling=mean&layers=sum&tokens=words`."""
        require(str(spec), ("torch", "h5py"), "elmo")
        options = spec.reader()
        pooling = options.choice("pooling", ("mean", "max", "last"), "mean")
        layers = Layers.parse(options.text("layers", "sum"))
        tokens = options.choice("tokens", ("words", "whitespace", "characters"), "words")
        options.done()
        options_file, weights_file = find_files(Path(spec.target).expanduser())
        network = read_options(options_file)
        layers.numbers(network.layers + 1)
        return cls(spec, options_file, weights_file, network, pooling, layers, tokens)

    @property
    def name(self) -> str:
        return str(self.spec)

    @property
    def options(self) -> Mapping[str, str]:
        return {"pooling": self.pooling, "layers": str(self.layers), "tokens": self.tokens}

    def identity(self) -> str:
        files = [file_hash(self.options_file), file_hash(self.weights_file)]
        return hashlib.sha256(json.dumps(["elmo", files, dict(self.options)]).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        (vectors,) = self.encode_views(texts, [self.view])
        return vectors

    @property
    def view(self) -> View:
        return View(self.pooling, self.layers)

    def with_view(self, view: View) -> Self:
        spec = self.spec.with_options(pooling=view.pooling, layers=str(view.layers))
        return replace(self, spec=spec, pooling=view.pooling, layers=view.layers)

    def other_views(self) -> tuple[list[str], list[Layers]]:
        return ["mean", "max", "last"], [Layers.parse(text) for text in ("sum", "1", "-1")]

    def encode_views(self, texts: Sequence[str], views: Sequence[View]) -> list[AnyMatrix]:
        model = self._load()
        splits = [TOKENISERS[self.tokens](text) for text in texts]
        chosen = [view.layers.numbers(self.network.layers + 1) for view in views]
        widths = [
            model.width * (len(numbers) if view.layers.join == "concat" else 1)
            for view, numbers in zip(views, chosen, strict=True)
        ]
        vectors = [np.full((len(texts), width), np.nan, dtype=np.float32) for width in widths]
        for rows in by_equal_length([len(split) for split in splits], BATCH):
            states = model.states([splits[row] for row in rows])
            lengths = np.full(len(rows), states.shape[2], dtype=np.int64)
            for view, numbers, matrix in zip(views, chosen, vectors, strict=True):
                matrix[rows] = view.layers.combine(
                    [pool(states[layer], lengths, view.pooling) for layer in numbers]
                )
        return vectors

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Every token can be read, since ELMo spells; one that is too long is cut."""
        longest = self.network.word_width - 2
        covered = []
        for text in texts:
            tokens = tuple(TOKENISERS[self.tokens](text))
            cut = any(len(token.encode("utf-8", "ignore")) > longest for token in tokens)
            covered.append(Coverage(tokens, note=f"a token cut to {longest} bytes" if cut else ""))
        return covered

    def notes(self) -> list[str]:
        if self.tokens == "characters":
            return ["tokens=characters: every character is a token, as in the released code of May et al."]
        return []

    def _load(self) -> ElmoModel:
        if self._model is None:
            from weatherglass.encoders.papers.elmo.model import ElmoModel

            with reading(self.weights_file, EncoderError):
                model = ElmoModel.load(self.network, self.weights_file)
                model.states([["a"]])  # arrays that do not fit one another are noticed here
            self._model = model
        return self._model

"""Encode with ELMo (Peters et al. 2018), a bidirectional language model over characters, using its original files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix, Integers
from weatherglass.encoders.base import (
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
from weatherglass.encoders.pooling import Layers, by_equal_length, pool, views_of_words
from weatherglass.encoders.spec import Spec
from weatherglass.encoders.views import View
from weatherglass.errors import EncoderError, SpecError
from weatherglass.languages.tokenise import TOKENISERS
from weatherglass.storage.array_file import read_hdf5
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.installed import require
from weatherglass.storage.reading import is_folder, reading

if TYPE_CHECKING:
    from weatherglass.encoders.papers.elmo_network import ElmoModel

BEGIN_SENTENCE: Final = 256
END_SENTENCE: Final = 257
BEGIN_WORD: Final = 258
END_WORD: Final = 259
PADDING: Final = 260
CHARACTERS: Final = 261
"""The number of characters: 256 bytes and five marks. Implementations that pad sentences add a character that no word
uses.
"""


def character_ids(words: Sequence[str], width: int) -> Integers:
    """Return a row of `width` numbers per word; bytes beyond width - 2 are cut off, as in training."""
    rows = np.full((len(words), width), PADDING, dtype=np.int64)
    for row, word in zip(rows, words, strict=True):
        _write(row, word.encode("utf-8", "ignore")[: width - 2])
    return rows


def boundary_ids(width: int) -> Integers:
    """Return the marks before and after every sentence, in the same form as the rows of `character_ids`."""
    rows = np.full((2, width), PADDING, dtype=np.int64)
    _write(rows[0], [BEGIN_SENTENCE])
    _write(rows[1], [END_SENTENCE])
    return rows


def _write(row: Integers, codes: Sequence[int]) -> None:
    row[0] = BEGIN_WORD
    row[1 : 1 + len(codes)] = list(codes)
    row[1 + len(codes)] = END_WORD


MOST_LAYERS: Final = 64
MOST_CHARACTERS: Final = 1000


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """The options of the network that cannot be inferred from the shapes of the weights."""

    layers: int
    convolutions: int
    highways: int
    activation: str
    word_width: int
    """The number of characters of a word, including padding and the marks of its beginning and end."""
    cell_clip: float
    projection_clip: float
    skip_connections: bool


def find_files(folder: Path) -> tuple[Path, Path]:
    """Return the options file and the weights file in `folder`; as in the originals, their names may have prefixes."""
    if not is_folder(folder):
        raise SpecError(
            f"there is no folder '{folder}'; give elmo: the folder that contains options.json and the weights"
        )
    return _single_file(folder, "*options.json"), _single_file(folder, "*weights.hdf5", "*.hdf5", "*.h5")


def _single_file(folder: Path, *patterns: str) -> Path:
    """Return the only file that matches the first pattern that has a match."""
    for pattern in patterns:
        matches = sorted(folder.glob(pattern))
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(path.name for path in matches)
            raise SpecError(
                f"{folder}: {len(matches)} files match {pattern} ({names}); keep one ELMo per folder"
            )
    raise SpecError(f"{folder}: no file matches {' or '.join(patterns)}; name the folder of an ELMo model")


def read_options(path: Path) -> ElmoOptions:
    """Read options.json.

    Raises:
        EncoderError: if it is not JSON or lacks an option.
    """
    with reading(path, EncoderError, "these are not the options of an ELMo model, or the file"):
        whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        lstm, cnn = whole["lstm"], whole["char_cnn"]
        options = ElmoOptions(
            layers=_count(lstm.get("n_layers", 1), "n_layers", 1, MOST_LAYERS),
            convolutions=_count(len(cnn["filters"]), "filters", 1, MOST_LAYERS),
            highways=_count(cnn.get("n_highway") or 0, "n_highway", 0, MOST_LAYERS),
            activation=str(cnn["activation"])[:40],
            word_width=_count(
                cnn["max_characters_per_token"], "max_characters_per_token", 3, MOST_CHARACTERS
            ),
            cell_clip=_clip(lstm.get("cell_clip")),
            projection_clip=_clip(lstm.get("proj_clip")),
            skip_connections=bool(lstm["use_skip_connections"]),
        )
    if options.activation not in ("relu", "tanh"):
        raise EncoderError(f"{path}: activation '{options.activation}' is neither relu nor tanh")
    return options


def _count(value: object, name: str, least: int, most: int) -> int:
    """Return a number of layers or characters after checking its range, since it determines how much is allocated."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} should be a whole number from {least} to {most}")
    return value


def _clip(value: float | None) -> float:
    limit = float("inf") if value is None else float(value)
    if not limit > 0:
        raise ValueError(f"a clip of {limit}")
    return limit


def read_weights(path: Path, options: ElmoOptions) -> dict[str, NDArray[np.float32]]:
    """Return every array of the file of weights by its full name.

    Raises:
        EncoderError: if an array is missing or has a wrong shape.
    """
    with reading(path, EncoderError):
        arrays = read_hdf5(path, EncoderError).arrays
        has_projection = any(name.startswith("CNN_proj/") for name in arrays)
        weights = {name: _array(arrays, name, path) for name in _names(options, has_projection)}
        _check_shapes(weights, options, path)
    return weights


def _names(options: ElmoOptions, has_projection: bool) -> list[str]:
    names = ["char_embed"]
    names += [f"CNN/{kind}_cnn_{i}" for i in range(options.convolutions) for kind in "Wb"]
    names += [
        f"CNN_high_{i}/{kind}_{gate}"
        for i in range(options.highways)
        for gate in ("carry", "transform")
        for kind in "Wb"
    ]
    names += ["CNN_proj/W_proj", "CNN_proj/b_proj"] if has_projection else []
    names += [
        f"RNN_{direction}/RNN/MultiRNNCell/Cell{i}/LSTMCell/{kind}"
        for direction in (0, 1)
        for i in range(options.layers)
        for kind in ("W_0", "B", "W_P_0")
    ]
    return names


def _array(arrays: Mapping[str, NDArray[Any]], name: str, path: Path) -> NDArray[np.float32]:
    if name not in arrays:
        raise EncoderError(
            f"{path}: no array '{name}'; the file does not belong to the options in its folder"
        )
    array = arrays[name].astype(np.float32)
    if not np.isfinite(array).all():
        raise EncoderError(f"{path}: '{name}' has entries that are not finite; get the file again")
    return array


def _check_shapes(weights: dict[str, NDArray[np.float32]], options: ElmoOptions, path: Path) -> None:
    characters = weights["char_embed"].shape[0]
    if characters != CHARACTERS:
        raise EncoderError(f"{path}: char_embed has {characters} rows, but ELMo has {CHARACTERS} characters")
    for direction in (0, 1):
        for i in range(options.layers):
            prefix = f"RNN_{direction}/RNN/MultiRNNCell/Cell{i}/LSTMCell"
            dim, projection = weights[f"{prefix}/W_P_0"].shape
            shape = weights[f"{prefix}/W_0"].shape
            if shape != (2 * projection, 4 * dim):
                raise EncoderError(
                    f"{path}: {prefix}/W_0 is {shape}, but W_P_0 requires {(2 * projection, 4 * dim)}"
                )


BATCH: Final = 64
OTHER_LAYERS: Final = ("sum", "1", "-1")
"""The layers that a multiverse compares with those of the spec."""


def _tokens_at(asked: Input, tokens: Sequence[str]) -> list[int]:
    """Return the numbers of the tokens that overlap the span of a text."""
    start, end = asked.span or (0, 0)
    found, place = [], 0
    for number, token in enumerate(tokens):
        first = asked.text.find(token, place)
        if first < 0:
            continue
        place = first + len(token)
        if first < end and place > start:
            found.append(number)
    return found


@dataclass(slots=True, eq=False)
class ElmoEncoder(Encoder):
    """An encoder that uses ELMo, with 1024 dimensions, or three times as many with layers=concat."""

    costly: ClassVar[bool] = True

    spec: Spec
    options_file: Path
    weights_file: Path
    network: ElmoOptions
    pooling: str
    layers: Layers
    tokens: str
    span_pooling: str = "mean"
    _model: ElmoModel | None = field(default=None, init=False, repr=False)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `elmo:FOLDER?pooling=mean&layers=sum&tokens=words`."""
        require(str(spec), ("torch", "h5py"), "elmo")
        options = spec.reader()
        pooling = options.choice("pooling", ("mean", "max", "last"), "mean")
        layers = Layers.parse(options.text("layers", "sum"))
        tokens = options.choice("tokens", ("words", "whitespace", "characters"), "words")
        span_pooling = options.choice("span_pooling", ("mean", "first", "last"), "mean")
        options.done()
        options_file, weights_file = find_files(Path(spec.target).expanduser())
        network = read_options(options_file)
        layers.numbers(network.layers + 1)
        return cls(spec, options_file, weights_file, network, pooling, layers, tokens, span_pooling)

    @property
    def name(self) -> str:
        return str(self.spec)

    @property
    def options(self) -> Mapping[str, str]:
        own = {"pooling": self.pooling, "layers": str(self.layers), "tokens": self.tokens}
        return own if self.span_pooling == "mean" else {**own, "span_pooling": self.span_pooling}

    def identity(self) -> str:
        files = [file_hash(self.options_file), file_hash(self.weights_file)]
        return hashlib.sha256(json.dumps(["elmo", files, dict(self.options)]).encode()).hexdigest()

    @property
    def gives(self) -> frozenset[What]:
        """Return what the model gives; the vector of a word at a span is that of its tokens in the sentence."""
        return STATIC

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        if what == "vectors":
            return Encoder.observe(self, inputs, what)
        check_asked(self, inputs, what)
        (observed,) = self.observe_views(inputs, [View(self.span_pooling, self.layers)], what)
        return observed

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        (vectors,) = self._pooled(texts, [self.view])
        return vectors

    @property
    def view(self) -> View:
        return View(self.pooling, self.layers)

    def with_view(self, view: View, what: What = "vectors") -> Self:
        option = "pooling" if what == "vectors" else "span_pooling"
        spec = self.spec.with_options(**{option: view.pooling, "layers": str(view.layers)})
        other = replace(self, spec=spec, layers=view.layers)
        setattr(other, option, view.pooling)
        return other

    def other_views(self) -> tuple[list[str], list[Layers]]:
        return ["mean", "max", "last"], list(map(Layers.parse, OTHER_LAYERS))

    def word_views(self) -> tuple[list[str], list[Layers]]:
        return views_of_words(self.span_pooling, self.layers, OTHER_LAYERS)

    def word_reader(self) -> Self:
        return self

    def observe_views(
        self, inputs: Sequence[Asked], views: Sequence[View], what: What = "vectors"
    ) -> list[Observations]:
        texts = list(map(text_of, inputs))
        if what == "vectors":
            covered, at_span = self.coverage(texts), list[list[int]]()
        else:
            covered, at_span = self._words_at(inputs)
        matrices = self._pooled(texts, views, at_span)
        return [Observations(inputs, what, vectors, covered) for vectors in matrices]

    def _words_at(self, inputs: Sequence[Asked]) -> tuple[list[Coverage], list[list[int]]]:
        """Return which tokens the word at each span consists of, as a coverage and as numbers."""
        asked = [each for each in inputs if isinstance(each, Input)]
        splits = [TOKENISERS[self.tokens](each.text) for each in asked]
        at_span = [_tokens_at(each, split) for each, split in zip(asked, splits, strict=True)]
        covered = [
            Coverage(tuple(split[token] for token in own), () if own else (each.word,))
            for each, split, own in zip(asked, splits, at_span, strict=True)
        ]
        return covered, at_span

    def _pooled(
        self, texts: Sequence[str], views: Sequence[View], at_span: Sequence[list[int]] = ()
    ) -> list[AnyMatrix]:
        """Return one matrix of vectors per view, pooled over the tokens at a span if they are given, else over all
        tokens.
        """
        model = self._load()
        splits = [TOKENISERS[self.tokens](text) for text in texts]
        chosen = [view.layers.numbers(self.network.layers + 1) for view in views]
        widths = [
            model.width * (len(numbers) if view.layers.join == "concat" else 1)
            for view, numbers in zip(views, chosen, strict=True)
        ]
        vectors = [np.full((len(texts), width), np.nan, dtype=np.float32) for width in widths]
        rows_of: dict[tuple[str, ...], list[int]] = {}
        for row, split in enumerate(splits):  # a text that is asked about at several places is read once
            rows_of.setdefault(tuple(split), []).append(row)
        distinct = list(rows_of)
        for batch in by_equal_length([len(split) for split in distinct], BATCH):
            asked = [rows_of[distinct[number]] for number in batch]
            rows = [row for some in asked for row in some]
            copies = np.repeat(np.arange(len(asked)), [len(some) for some in asked])
            states = model.states([distinct[number] for number in batch])[:, copies]
            lengths = np.full(len(rows), states.shape[2], dtype=np.int64)
            for view, numbers, matrix in zip(views, chosen, vectors, strict=True):
                if not at_span:
                    matrix[rows] = view.layers.combine(
                        [pool(states[layer], lengths, view.pooling) for layer in numbers]
                    )
                    continue
                for place, row in enumerate(rows):
                    if tokens := at_span[row]:
                        own = {"first": tokens[:1], "last": tokens[-1:]}.get(view.pooling, tokens)
                        means = [states[layer, place][own].mean(axis=0, keepdims=True) for layer in numbers]
                        matrix[row] = view.layers.combine(means)[0]
        return vectors

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return the tokens of each text; all are known, since ELMo reads characters, but long tokens are cut."""
        longest = self.network.word_width - 2
        covered = []
        for text in texts:
            tokens = tuple(TOKENISERS[self.tokens](text))
            cut = any(len(token.encode("utf-8", "ignore")) > longest for token in tokens)
            covered.append(Coverage(tokens, note=f"a token was cut to {longest} bytes" if cut else ""))
        return covered

    def notes(self) -> list[str]:
        if self.tokens == "characters":
            return [
                "with tokens=characters, every character is a token, as in the released code of May et al."
            ]
        return []

    def _load(self) -> ElmoModel:
        if self._model is None:
            from weatherglass.encoders.papers.elmo_network import ElmoModel

            with reading(self.weights_file, EncoderError):
                model = ElmoModel.load(self.network, self.weights_file)
                model.states([["a"]])  # fails for arrays that do not fit together
            self._model = model
        return self._model

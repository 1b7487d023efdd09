"""Encode with `onnx:FOLDER-OR-FILE`, a sentence model exported to ONNX that onnxruntime runs on the processor."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any, ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyMatrix, Integers, unit_length
from weatherglass.encoders.base import CUT, Asked, Coverage, Encoder
from weatherglass.encoders.model_files import (
    first_line,
    read_tokenizer,
)
from weatherglass.encoders.onnx_files import (
    ELEMENT_TYPES,
    Configuration,
    Graph,
    OnnxFiles,
    Port,
    find_onnx,
    open_session,
    read_configuration,
    read_graph,
    run_graph,
    try_graph,
)
from weatherglass.encoders.pooling import by_length, in_order, pool
from weatherglass.encoders.prompts import Prompt
from weatherglass.encoders.spec import OptionReader, Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.child_process import MODEL_RATIO, Limits, prove
from weatherglass.storage.installed import require
from weatherglass.storage.reading import errors_in_one_line

PACKAGES = ("onnxruntime", "tokenizers")

SENTENCE_OUTPUTS = ("sentence_embedding",)
TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
"""Names of outputs in exports of optimum, sentence-transformers and fastembed, in order of preference."""

IN_THE_GRAPH = "graph"
"""The pooling of an output that has one vector per text."""

POOLINGS = ("cls", "mean", "max", "last")
"""The supported poolings; cls is the first token, as in sentence-transformers."""

READABLE_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")

TOKENS_PER_BATCH = 512
"""Tokens per batch, as for torch; a larger batch does not fit into the processor's cache."""


@dataclass(frozen=True, slots=True)
class OnnxOptions:
    """The options that determine the vector of a text; together with the files, they identify the encoder."""

    output: str
    pooling: str
    normalise: bool
    lowercase: bool
    max_length: int
    """The maximum number of tokens; 0 for no limit."""
    prompt: Prompt
    batch_size: int

    @classmethod
    def from_options(
        cls, options: OptionReader, files: OnnxFiles, graph: Graph, configuration: Configuration
    ) -> OnnxOptions:
        """Return the options of a spec; defaults come from the model's configuration."""
        output = _output(options, graph)
        pooling = _pooling(options, output, configuration)
        prompt = Prompt.from_options(options, files.around)
        if prompt.text and pooling != IN_THE_GRAPH and not configuration.pools_prompt:
            raise SpecError(
                f"'{options.spec}': this model leaves the tokens of the prompt out of pooling, which onnx: "
                "does not support; use st: or prompt_name=none"
            )
        return cls(
            output.name,
            pooling,
            options.flag("normalise", configuration.normalise),
            options.flag("lowercase", configuration.lowercase),
            options.integer("max_length", configuration.max_length, least=0),
            prompt,
            options.integer("batch_size", 1 if graph.depends_on_batch else 128),
        )

    def as_options(self) -> dict[str, str]:
        """Return the options in the format of a model spec."""
        flags = {"normalise": self.normalise, "lowercase": self.lowercase}
        return {
            "output": self.output,
            "pooling": self.pooling,
            **{name: "yes" if flag else "no" for name, flag in flags.items()},
            "max_length": str(self.max_length),
            **self.prompt.as_options(),
            "batch_size": str(self.batch_size),
        }


def _output(options: OptionReader, graph: Graph) -> Port:
    """Return the output that the spec names, or one with a known name, or the only output."""
    by_name = {port.name: port for port in graph.outputs}
    wanted = options.text("output", "")
    if not wanted:
        known = [name for name in (*SENTENCE_OUTPUTS, *TOKEN_OUTPUTS) if name in by_name]
        if not known and len(by_name) > 1:
            raise SpecError(
                f"'{options.spec}': the graph has several outputs; add output=NAME (there are: {', '.join(by_name)})"
            )
        wanted = known[0] if known else graph.outputs[0].name
    if wanted not in by_name:
        raise SpecError(
            f"'{options.spec}': the graph has no output '{wanted}' (it has: {', '.join(by_name)})"
        )
    port = by_name[wanted]
    if port.dimensions is None and port.name in (*SENTENCE_OUTPUTS, *TOKEN_OUTPUTS):
        return Port(port.name, port.element, 2 if port.name in SENTENCE_OUTPUTS else 3)
    if port.dimensions not in (2, 3):
        raise SpecError(
            f"'{options.spec}': output '{wanted}' has {port.dimensions or 'unknown'} dimensions; 2 (texts) or 3"
            " (tokens) are needed"
        )
    return port


def _pooling(options: OptionReader, output: Port, configuration: Configuration) -> str:
    asked = "pooling" in options.unread
    if output.dimensions == 2:
        pooling = options.text("pooling", IN_THE_GRAPH)
        if pooling != IN_THE_GRAPH:
            raise SpecError(
                f"'{options.spec}': pooling={pooling}, but output '{output.name}' has one vector per text; "
                "remove pooling="
            )
        return pooling
    if configuration.other_modules and not asked:
        raise SpecError(
            f"'{options.spec}': modules.json has {'+'.join(configuration.other_modules)} after pooling, which is not in"
            f" output '{output.name}'; export the model with sentence_embedding, or add pooling=mean to omit it"
        )
    if configuration.pooling is None and not asked:
        raise SpecError(
            f"'{options.spec}': the model's files do not state how to pool tokens; add pooling=mean, or another of"
            f" {', '.join(POOLINGS)}"
        )
    return options.choice("pooling", POOLINGS, configuration.pooling or "")


class OnnxEncoder(Encoder):
    """An encoder that consists of a tokenizer, a graph that onnxruntime runs, and pooling."""

    costly: ClassVar[bool] = True
    by_kind: ClassVar[bool] = True

    def __init__(
        self, spec: Spec, files: OnnxFiles, graph: Graph, settings: OnnxOptions, from_files: Sequence[str]
    ) -> None:
        self._spec = spec
        self._files = files
        self._graph = graph
        self._settings = settings
        self._from_files = list(from_files)
        self._is_proven = False

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Check the spec, the graph and the files of its folder; weights are loaded at the first `encode`.

        Raises:
            SpecError: if an option does not fit the model, or the pooling is unknown.
            EncoderError: if a file is damaged or missing.
            UnsafeFileError: if the model needs code that comes with it.
        """
        require(str(spec), PACKAGES, "onnx")
        options = spec.reader()
        given = set(options.unread)
        files = find_onnx(options)
        graph = read_graph(files.graph)
        foreign = [port.name for port in graph.inputs if port.name not in READABLE_INPUTS]
        if foreign or "input_ids" not in {port.name for port in graph.inputs}:
            names = ", ".join(foreign or (port.name for port in graph.inputs))
            raise EncoderError(
                f"{files.graph}: not a supported text encoder, because its inputs include {names}; "
                f"supported inputs are {', '.join(READABLE_INPUTS)}"
            )
        if unknown := [port.name for port in graph.inputs if port.element not in ELEMENT_TYPES.values()]:
            raise EncoderError(
                f"{files.graph}: its input {unknown[0]} has a type that tokenizers do not produce"
            )
        settings = OnnxOptions.from_options(options, files, graph, read_configuration(options, files.around))
        options.done()
        from_files = {"pooling", "normalise", "max_length", "lowercase"} - given
        return cls(spec, files, graph, settings, sorted(from_files))

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def options(self) -> Mapping[str, str]:
        return {"file": self._files.name, **self._settings.as_options()}

    def identity(self) -> str:
        """Return a hash of graph, external tensors, tokenizer, options and versions.

        The batch size is included only if vectors depend on it.
        """
        folder = self._files.graph.parent
        options = self._settings.as_options()
        if not self._graph.depends_on_batch:
            options.pop("batch_size")
        content = [
            "onnx",
            file_hash(self._files.graph),
            {name: file_hash(folder / name) for name in sorted(self._graph.external_files)},
            file_hash(self._files.tokenizer),
            options,
            {name: version(name) for name in PACKAGES},
        ]
        if configured := dict(self._settings.prompt.configured):  # from a file that is not hashed
            content.append(configured)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def notes(self) -> list[str]:
        """Return notes on options that come from the model's files, and on whether vectors depend on the batch."""
        values = self._settings.as_options()
        taken = [f"{name}={values[name]}" for name in self._from_files if values[name] not in ("no", "0")]
        notes = [f"'{self.name}': {', '.join(taken)}, from the model's own files"] if taken else []
        if self._graph.depends_on_batch:
            notes.append(
                f"'{self.name}': quantised by the numbers of each batch, so the result depends on"
                f" batch_size={self._settings.batch_size}"
            )
        return [*notes, *self._settings.prompt.notes(self.name)]

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = read_tokenizer(self._files.tokenizer, "this tokenizer")
        # The file may state a length to pad to, as in MiniLM; here each batch is padded and cut.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if self._settings.max_length:
            try:
                tokenizer.enable_truncation(self._settings.max_length)
            except Exception as error:
                raise SpecError(
                    f"'{self.name}': max_length={self._settings.max_length}: {first_line(error)}"
                ) from None
        return tokenizer

    @cached_property
    def _padding(self) -> int:
        """Return the number of the padding token; 0 if the model does not state it, since padding is masked."""
        number = self._files.around.config.get("pad_token_id")
        return number if isinstance(number, int) and 0 <= number < 2**31 else 0

    @cached_property
    def _session(self) -> Any:
        return open_session(self._files.graph)

    def _prove(self, inputs: dict[str, Any]) -> None:
        """Run the graph on its first batch in a child process with limits, once per content; a graph is a program,
        which may loop for ever or fill memory.
        """
        graph = self._files.graph
        parts = [graph, *(graph.parent / name for name in sorted(self._graph.external_files))]
        identity = [*map(file_hash, parts), self._settings.output, version("onnxruntime")]
        limits = Limits(sum(part.stat().st_size for part in parts), MODEL_RATIO)
        given = (self._settings.output, inputs)
        prove(f"{try_graph.__module__}:try_graph", graph, EncoderError, identity, limits, given)

    def _tokenised(self, texts: Sequence[Asked]) -> list[Any]:
        prepared = self._settings.prompt.before(texts)
        if self._settings.lowercase:
            prepared = [text.lower() for text in prepared]
        encodings: list[Any] = self._tokenizer.encode_batch(prepared)
        return encodings

    def coverage(self, texts: Sequence[Asked]) -> list[Coverage]:
        return [self._coverage(encoding) for encoding in self._tokenised(texts)]

    def _coverage(self, encoding: Any) -> Coverage:
        unknown = self._unknown_token
        notes = []
        if encoding.overflowing:
            notes.append(f"{CUT} {len(encoding.ids)} tokens")
        if unknown and (count := encoding.tokens.count(unknown)):
            notes.append(f"{count} unknown, read as {unknown}")
        if not encoding.ids:
            notes.append("no tokens")
        return Coverage(tuple(encoding.tokens), note="; ".join(notes))

    @cached_property
    def _unknown_token(self) -> str:
        model = self._files.around.table("tokenizer.json").get("model")
        unknown = model.get("unk_token") if isinstance(model, dict) else None
        return unknown if isinstance(unknown, str) else ""

    def encode(self, texts: Sequence[Asked]) -> AnyMatrix:
        encodings = self._tokenised(texts)
        lengths = [len(encoding.ids) for encoding in encodings]
        rows, positions = [], []
        for batch in by_length(lengths, self._settings.batch_size, TOKENS_PER_BATCH):
            rows.append(self._encode_batch([encodings[position] for position in batch]))
            positions.append(batch)
        if not rows:
            return np.empty((0, 0), dtype=np.float32)
        return in_order(rows, positions)

    def _encode_batch(self, encodings: Sequence[Any]) -> AnyMatrix:
        lengths = np.array([len(encoding.ids) for encoding in encodings], dtype=np.int64)
        inputs = self._inputs(encodings, lengths)
        if not self._is_proven:
            self._prove(inputs)
            self._is_proven = True
        with errors_in_one_line(f"'{self.name}'", "the model cannot encode", "get it again", EncoderError):
            output = run_graph(self._session, f"'{self.name}'", self._settings.output, inputs)
        self._check_shape(output.shape, len(lengths), max(1, int(lengths.max())))
        states = output if output.dtype.itemsize >= 4 else output.astype(np.float32)
        if self._settings.pooling == IN_THE_GRAPH:
            vectors: AnyMatrix = np.where((lengths > 0)[:, None], states, states.dtype.type(np.nan))
        else:
            pooling = "first" if self._settings.pooling == "cls" else self._settings.pooling
            vectors = pool(states, lengths, pooling)
        return unit_length(vectors) if self._settings.normalise else vectors

    def _check_shape(self, shape: tuple[int, ...], texts: int, width: int) -> None:
        """Refuse an output without a row per text, or without a vector per token; a single row would be repeated."""
        expected = (texts,) if self._settings.pooling == IN_THE_GRAPH else (texts, width)
        if len(shape) != len(expected) + 1 or shape[:-1] != expected:
            raise EncoderError(
                f"{self._files.graph}: output '{self._settings.output}' has the shape {shape} for {texts} texts of"
                f" {width} tokens; export the model with a batch dimension, or choose another output="
            )

    def _inputs(self, encodings: Sequence[Any], lengths: Integers) -> dict[str, Any]:
        """Return each input of the graph, padded on the right, with the type that the graph needs."""
        width = max(1, int(lengths.max()))
        is_token = np.arange(width) < lengths[:, None]
        columns = {
            "input_ids": np.full(is_token.shape, self._padding, dtype=np.int64),
            "token_type_ids": np.zeros(is_token.shape, dtype=np.int64),
        }
        columns["input_ids"][is_token] = [number for encoding in encodings for number in encoding.ids]
        columns["token_type_ids"][is_token] = [kind for encoding in encodings for kind in encoding.type_ids]
        # A text without tokens gets one, and its row becomes NaN.
        columns["attention_mask"] = is_token.astype(np.int64)
        columns["attention_mask"][:, 0] = 1
        columns["position_ids"] = np.broadcast_to(np.arange(width), is_token.shape)
        return {
            port.name: np.ascontiguousarray(columns[port.name], dtype=port.element)
            for port in self._graph.inputs
        }

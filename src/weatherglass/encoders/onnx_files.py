"""Find the files of an ONNX model and read its configuration and graph, without loading or running it.

An ONNX file is one protobuf message. Only the needed fields are read, and tensors are skipped, so that a file of 1 GB
takes milliseconds. The field numbers come from onnx.proto and never change.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.encoders.model_files import (
    ModelFiles,
    first_line,
    module_types,
    refuse_foreign_modules,
)
from weatherglass.encoders.spec import OptionReader
from weatherglass.encoders.tokens import max_tokens
from weatherglass.errors import EncoderError, SpecError, UnsafeFileError
from weatherglass.storage.child_process import Content
from weatherglass.storage.reading import LIMIT_VARIABLE, is_folder, is_regular_file, reading, shown_size

SUBFOLDER = "onnx"
"""The subfolder of the graph if the folder also contains weights in another format."""

POOLING_NAMES = {"cls": "cls", "mean": "mean", "max": "max", "lasttoken": "last"}
"""The option for each pooling of sentence-transformers that needs one output of the graph."""

LEGACY_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
}

NO_LIMIT = 1_000_000
"""The smallest number that means no limit; tokenizers without a limit state 1e30."""


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """A graph, and the folder with its tokenizer and configuration."""

    graph: Path
    around: ModelFiles

    @property
    def name(self) -> str:
        """Return the path of the graph in its folder."""
        return self.graph.relative_to(self.around.folder).as_posix()

    @property
    def tokenizer(self) -> Path:
        return self.around.folder / "tokenizer.json"


def find_onnx(options: OptionReader) -> OnnxFiles:
    """Return the files that the target of a spec and its option `file` name.

    Raises:
        SpecError: if there is no graph, or there are several and none is chosen.
        EncoderError: if there is no tokenizer.json.
    """
    target, wanted = options.spec.target, options.text("file", "")
    path = Path(target).expanduser()
    if is_regular_file(path):
        if wanted:
            raise SpecError(
                f"'{options.spec}': file={wanted} needs a folder, but the target is a file; remove file="
            )
        graph = path
        folder = path.parent
        if folder.name == SUBFOLDER and not (folder / "tokenizer.json").is_file():
            folder = folder.parent
    elif is_folder(path):
        folder = path
        graph = _graph_in(path, wanted)
    else:
        raise SpecError(
            f"there is no file or folder '{target}'; onnx: reads only local files; for a hub model, first "
            "run: hf download NAME --local-dir FOLDER"
        )
    files = OnnxFiles(graph, ModelFiles(str(folder), folder))
    if not is_regular_file(files.tokenizer):
        raise EncoderError(
            f"{folder}: has no tokenizer.json for the ONNX file; save it with:"
            " AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER)"
        )
    return files


def _graph_in(folder: Path, wanted: str) -> Path:
    places = (folder, folder / SUBFOLDER)
    if wanted:
        for place in places:
            if (place / wanted).is_file():
                return place / wanted
        raise SpecError(f"{folder}: no file '{wanted}'{_listing(folder)}")
    for place in places:
        if (place / "model.onnx").is_file():
            return place / "model.onnx"
    graphs = _graphs(folder)
    if len(graphs) != 1:
        problem = (
            "there are several ONNX files; choose one with file=NAME"
            if graphs
            else ("there is no ONNX file in this folder")
        )
        raise SpecError(f"{folder}: {problem}{_listing(folder)}")
    return graphs[0]


def _graphs(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.onnx"), *(folder / SUBFOLDER).glob("*.onnx")])


def _listing(folder: Path) -> str:
    names = [graph.relative_to(folder).as_posix() for graph in _graphs(folder)]
    return f" (there are: {', '.join(names)})" if names else ""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration in the files of a graph's folder; a value is None if they do not state it."""

    pooling: str | None = None
    normalise: bool = False
    max_length: int = 0
    lowercase: bool = False
    pools_prompt: bool = True
    """Whether the tokens of a prompt are included in the pooling."""
    other_modules: tuple[str, ...] = ()
    """Modules after pooling that the graph may not contain, such as Dense."""


def read_configuration(options: OptionReader, files: ModelFiles) -> Configuration:
    """Read modules.json, the configurations of Pooling and the tokenizer, and sentence_bert_config.json.

    Raises:
        UnsafeFileError: if a module is code that comes with the model.
        EncoderError: if a file is damaged, or names an unsupported pooling.
    """
    refuse_foreign_modules(options.spec, files)
    types = module_types(files)
    pooling_folder = next((folder for kind, folder in types if kind == "Pooling"), "1_Pooling")
    pooling = files.table(f"{pooling_folder}/config.json")
    transformer = files.table("sentence_bert_config.json")
    return Configuration(
        _configured_pooling(files, pooling),
        any(kind == "Normalize" for kind, _ in types),
        _limit(files, transformer),
        bool(transformer.get("do_lower_case")),
        bool(pooling.get("include_prompt", True)),
        tuple(kind for kind, _ in types if kind not in ("Transformer", "Pooling", "Normalize")),
    )


def _configured_pooling(files: ModelFiles, table: dict[str, Any]) -> str | None:
    if not table:
        return None
    named = table.get("pooling_mode") or [
        mode for key, mode in LEGACY_POOLINGS.items() if table.get(key) is True
    ]
    modes = [named] if isinstance(named, str) else list(named)
    if len(modes) != 1 or modes[0] not in POOLING_NAMES:
        raise EncoderError(
            f"{files.folder}: its Pooling configuration names {'+'.join(map(str, modes)) or 'nothing'}; "
            f"use one of {', '.join(POOLING_NAMES)}"
        )
    return POOLING_NAMES[modes[0]]


def _limit(files: ModelFiles, transformer: dict[str, Any]) -> int:
    """Return the maximum number of tokens, as in sentence-transformers; 0 for no limit."""
    if isinstance(own := transformer.get("max_seq_length"), int) and own > 0:
        return own
    of_tokenizer = files.table("tokenizer_config.json").get("model_max_length")
    limits = [
        int(limit)
        for limit in (of_tokenizer, max_tokens(files.config))
        if isinstance(limit, int | float) and 0 < limit < NO_LIMIT
    ]
    return min(limits, default=0)


BUILT_IN_DOMAINS = {
    "",
    "ai.onnx",
    "ai.onnx.ml",
    "ai.onnx.preview",
    "com.microsoft",
    "com.microsoft.nchwc",
    "com.ms.internal.nhwc",
}
"""Domains of operators that onnxruntime contains; any other domain needs a library of machine code."""

BATCH_DEPENDENT = {"DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}
"""Operators that scale by the largest number of a batch before rounding, so that a vector depends on the other
texts.
"""

DEEPEST = 64
"""The largest depth of nested graphs; exported models are not nested deeper."""

ELEMENT_TYPES = {1: "float32", 6: "int32", 7: "int64", 10: "float16", 11: "float64"}


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of a graph."""

    name: str
    element: str
    """The numpy type, or the number of an ONNX type that no text model uses."""
    dimensions: int | None
    """The number of dimensions; None if the file does not state it."""


@dataclass(slots=True)
class Graph:
    """The facts that weatherglass reads from one ONNX file."""

    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    operators: set[tuple[str, str]] = field(default_factory=set)
    """The domain and name of every operator, including those in subgraphs and functions."""
    own_domains: set[str] = field(default_factory=set)
    """Domains whose operators are defined as functions in this file."""
    external_files: set[str] = field(default_factory=set)
    """Files that contain tensors, relative to the folder of the ONNX file."""

    @property
    def depends_on_batch(self) -> bool:
        """Return whether the vector of a text depends on the other texts of its batch."""
        return any(name in BATCH_DEPENDENT for _, name in self.operators)


def read_graph(path: Path) -> Graph:
    """Return the graph of an ONNX file, which must not need foreign code or files.

    Raises:
        EncoderError: if the file cannot be read or is not an ONNX model.
        UnsafeFileError: if it needs a library of custom operators, or reads files outside its folder.
    """
    with reading(path, EncoderError, "it is not an ONNX model, or the file"):
        if path.stat().st_size == 0:
            raise EncoderError(f"{path}: the file is empty")
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            graph = _model(content)
        if not graph.outputs:
            raise EncoderError(
                f"{path}: it is not an ONNX model, or is damaged (it has no graph with outputs)"
            )
        _check_operators(path, graph)
        _check_external_files(path, graph)
    return graph


def _check_operators(path: Path, graph: Graph) -> None:
    foreign = sorted(op for op in graph.operators if op[0] not in BUILT_IN_DOMAINS | graph.own_domains)
    if foreign:
        domain, name = foreign[0]
        raise UnsafeFileError(
            f"{path}: its operator '{domain}.{name}' needs a library of custom operators, which is code and is not"
            " loaded; export the model without it"
        )


def _check_external_files(path: Path, graph: Graph) -> None:
    for name in sorted(graph.external_files):
        parts = PurePosixPath(name.replace("\\", "/"))
        if not parts.parts or parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0]:
            raise UnsafeFileError(
                f"{path}: refused, because it would read tensors from '{name}', which is outside its folder"
            )
        if not is_regular_file(path.parent / parts):
            raise EncoderError(f"{path}: its tensors are in '{name}', which is not in its folder")


class _Fields:
    """An iterator over the fields of a protobuf message, which skips fixed-width fields."""

    def __init__(self, content: mmap.mmap, start: int, end: int) -> None:
        self.content = content
        self.start = start
        self.end = end

    def __iter__(self) -> Iterator[tuple[int, int | _Fields]]:
        at = self.start
        while at < self.end:
            tag, at = self._varint(at)
            number, wire_type = tag >> 3, tag & 7
            if number == 0:
                raise ValueError(f"field 0 at byte {at}")
            if wire_type == 0:
                value, at = self._varint(at)
                yield number, value
            elif wire_type == 2:
                length, at = self._varint(at)
                if at + length > self.end:
                    raise ValueError(f"a field at byte {at} runs past the end")
                yield number, _Fields(self.content, at, at + length)
                at += length
            elif wire_type in (1, 5):
                at += 8 if wire_type == 1 else 4
            else:
                raise ValueError(f"wire type {wire_type} at byte {at}")

    def _varint(self, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            if at >= self.end or shift > 63:
                raise ValueError(f"a number at byte {at} does not end")
            byte = self.content[at]
            value |= (byte & 127) << shift
            at += 1
            if byte < 128:
                return value, at
            shift += 7

    def messages(self, number: int) -> Iterator[_Fields]:
        """Yield the fields with the given number that are messages or texts."""
        for found, value in self:
            if found == number and isinstance(value, _Fields):
                yield value

    def text(self, number: int) -> str:
        """Return the last text with the given field number; empty if there is none."""
        texts = [self.content[span.start : span.end].decode() for span in self.messages(number)]
        return texts[-1] if texts else ""

    def number(self, number: int) -> int:
        """Return the last whole number with the given field number; 0 if there is none."""
        return next((v for found, v in reversed(list(self)) if found == number and isinstance(v, int)), 0)


def _model(content: mmap.mmap) -> Graph:
    graph = Graph()
    for number, value in _Fields(content, 0, len(content)):
        if isinstance(value, int):
            continue
        if number == 7:  # ModelProto.graph
            weights = {tensor.text(8) for tensor in value.messages(5)}  # older files also list them as inputs
            graph.inputs = [port for port in map(_port, value.messages(11)) if port.name not in weights]
            graph.outputs = [_port(port) for port in value.messages(12)]
            _read_graph_fields(value, graph, 0)
        elif number == 25:  # ModelProto.functions
            graph.own_domains.add(value.text(10))
            for node in value.messages(7):
                _read_node(node, graph, 0)
    return graph


def _port(value: _Fields) -> Port:
    """Read a ValueInfoProto: a name, and a type that is a tensor of elements with a shape."""
    element, dimensions = "0", None
    for kind in value.messages(2):
        for tensor in kind.messages(1):
            code = tensor.number(1)
            element = ELEMENT_TYPES.get(code, str(code))
            for shape in tensor.messages(2):
                dimensions = len(list(shape.messages(1)))
    return Port(value.text(1), element, dimensions)


def _read_graph_fields(value: _Fields, graph: Graph, depth: int) -> None:
    if depth > DEEPEST:
        raise ValueError(f"graphs are nested more than {DEEPEST} deep")
    for number, child in value:
        if isinstance(child, int):
            continue
        if number == 1:
            _read_node(child, graph, depth)
        elif number == 5:
            _read_tensor(child, graph)
        elif number == 15:  # sparse: values and indices, each a tensor
            for tensor in (*child.messages(1), *child.messages(2)):
                _read_tensor(tensor, graph)


def _read_node(node: _Fields, graph: Graph, depth: int) -> None:
    graph.operators.add((node.text(7), node.text(4)))
    for attribute in node.messages(5):
        for number, value in attribute:
            if isinstance(value, int):
                continue
            if number in (5, 10):
                _read_tensor(value, graph)
            elif number in (6, 11):
                _read_graph_fields(value, graph, depth + 1)


def _read_tensor(tensor: _Fields, graph: Graph) -> None:
    for entry in tensor.messages(13):
        if entry.text(1) == "location":
            graph.external_files.add(entry.text(2))


def open_session(path: Path, threads: int = 0) -> Any:
    """Return a session of onnxruntime on the processor; 0 threads means one per core.

    Raises:
        EncoderError: if onnxruntime cannot load the graph.
    """
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # errors of onnxruntime have no common type
        raise EncoderError(f"{path}: onnxruntime cannot load it ({first_line(error)})") from None


def run_graph(session: Any, name: str, output: str, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return one output of a graph; `name` is that of the model in the error message.

    Raises:
        EncoderError: if the graph cannot be run with these inputs.
        MemoryError: if an array of the graph does not fit into memory.
    """
    try:
        (result,) = session.run([output], dict(inputs))
    except Exception as error:
        if "alloc" in str(error):  # onnxruntime has no type for this
            raise MemoryError(first_line(error)) from None
        raise EncoderError(
            f"{name}: the model cannot read the tokens of its tokenizer ({first_line(error)}); "
            "use files that belong to one model"
        ) from None
    found: NDArray[Any] = np.asarray(result)
    return found


def try_graph(path: Path, output: str, inputs: Mapping[str, NDArray[Any]]) -> Content:
    """Load a graph and run it once; its numbers are not used, only the limits of the process matter."""
    try:
        run_graph(open_session(path, threads=1), str(path), output, inputs)
    except MemoryError as error:
        size = path.stat().st_size
        raise EncoderError(
            f"{path}: this graph of {shown_size(size)} needs more memory than a model of its size ({error}), so it"
            f" is damaged or malicious. If you trust it, set {LIMIT_VARIABLE} to a larger size, such as 8G"
        ) from None
    return None, {}

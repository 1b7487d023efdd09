"""Load models: one file per family of models, and the table of kinds that a spec can name."""

from __future__ import annotations

import json
import os
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
from weatherglass.errors import EncoderError, UnknownNameError
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

DEFAULT_MODEL = "wordllama"

LONGEST_NAME = 100
"""Characters of a spec that an error shows."""

ENCODERS = Registry[type[ModelEncoder]](
    "kind of model",
    {
        "wordllama": "weatherglass.encoders.wordllama:WordLlamaEncoder",
        "vectors": "weatherglass.encoders.vectors:VectorEncoder",
        "spacy": "weatherglass.encoders.vectors:SpacyEncoder",
        "model2vec": "weatherglass.encoders.model2vec:Model2VecEncoder",
        "hf": "weatherglass.encoders.transformers:TransformerEncoder",
        "st": "weatherglass.encoders.sentence_transformers:SentenceTransformerEncoder",
        "onnx": "weatherglass.encoders.onnx:OnnxEncoder",
        "gguf": "weatherglass.encoders.gguf:GgufEncoder",
        "elmo": "weatherglass.encoders.papers.elmo:ElmoEncoder",
        "infersent": "weatherglass.encoders.papers.infersent:InferSentEncoder",
        "gensen": "weatherglass.encoders.papers.gensen:GenSenEncoder",
        "use": "weatherglass.encoders.papers.use:UseEncoder",
        "encodings": "weatherglass.encoders.encodings:EncodingsEncoder",
        "openai": "weatherglass.encoders.openai:OpenAIEncoder",
    },
    entry_points="weatherglass.encoders",
)


def resolve_spec(text: str) -> Spec:
    """Return the spec that a user's text means: `kind:…`, the name of a kind, a path, or a preset such as `gpt2`.

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
    if "/" in text or "." in Path(text).suffix:
        raise UnknownNameError(
            f"no file or folder '{str(path)[:LONGEST_NAME]}' (a model is a path or kind:target;"
            " see: weatherglass models)"
        )
    hint = did_you_mean(name, [*ENCODERS.names(), *PRESETS])
    raise UnknownNameError(
        f"unknown model '{text[:LONGEST_NAME]}'{hint} (a model is a path or kind:target; see: weatherglass models)"
    )


def _kind_of_path(path: Path) -> str:
    """Return the kind of a file from its ending, and of a folder from its files; word vectors if nothing else fits."""
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
        spec: as the user types it.
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
    where, problem = f"'{str(whole)[:LONGEST_NAME]}'", "its files are damaged, or belong to something else"
    with errors_in_one_line(where, problem, "get them again", EncoderError):
        encoder: ModelEncoder = adapted(kind.from_spec(whole))
    if cache and encoder.costly:
        from weatherglass.encoders.cache import CachedEncoder

        encoder = CachedEncoder(encoder)
    if dim is None:
        return encoder
    from weatherglass.encoders.views import TruncatedEncoder

    return TruncatedEncoder(encoder, dim, str(parsed))

"""Encoders: one file per family, and the table of kinds that a spec can name."""

from __future__ import annotations

from pathlib import Path

from weatherglass.encoders.base import Coverage, Encoder, ModelEncoder
from weatherglass.encoders.spec import Spec
from weatherglass.errors import UnknownNameError
from weatherglass.registry import Registry, did_you_mean

__all__ = ["ENCODERS", "Coverage", "Encoder", "ModelEncoder", "Spec", "load_encoder", "resolve_spec"]

DEFAULT_MODEL = "wordllama"

ENCODERS = Registry[type[ModelEncoder]](
    "kind of model",
    {
        "wordllama": "weatherglass.encoders.wordllama:WordLlamaEncoder",
        "vectors": "weatherglass.encoders.vectors:VectorEncoder",
        "elmo": "weatherglass.encoders.elmo:ElmoEncoder",
        "infersent": "weatherglass.encoders.infersent:InferSentEncoder",
        "gensen": "weatherglass.encoders.gensen:GenSenEncoder",
        "use": "weatherglass.encoders.use:UseEncoder",
    },
)


def resolve_spec(text: str) -> Spec:
    """What the user typed as a spec: `kind:…`, the bare name of a kind, or a path to a file of vectors."""
    kind, colon, rest = text.partition(":")
    if colon and kind in ENCODERS:
        return Spec.of_kind(kind, rest)
    name = text.partition("?")[0]
    if name in ENCODERS and not Path(text).exists():
        return Spec.of_kind(name, text[len(name) :])
    path = text if Path(text).exists() else name
    if Path(path).exists():
        return Spec.of_kind("vectors", text)
    if "/" in text or "." in Path(text).suffix:
        raise UnknownNameError(
            f"no file or folder '{path}' (a model is a path or kind:target; see: weatherglass models)"
        )
    hint = did_you_mean(name, ENCODERS.names())
    raise UnknownNameError(
        f"unknown model '{text}'{hint} (a model is a path or kind:target; see: weatherglass models)"
    )


def load_encoder(spec: str | Spec) -> ModelEncoder:
    """The encoder that a spec such as `vectors:glove.txt?case=lower` describes.

    Raises:
        UnknownNameError: if neither a kind, a preset nor a path is meant.
        SpecError: if an option is unknown or out of range.
    """
    parsed = resolve_spec(spec) if isinstance(spec, str) else spec
    return ENCODERS.get(parsed.kind).from_spec(parsed)

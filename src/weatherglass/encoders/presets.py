"""Presets: the papers' models under short names, each with the paper's pooling and layers (docs/methods 6)."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.encoders.spec import Spec


@dataclass(frozen=True, slots=True)
class Preset:
    """A name for a spec."""

    spec: Spec
    source: str
    """Whose setting it is."""


def _hf(target: str, **options: str) -> Spec:
    return Spec("hf", target, tuple(options.items()))


MAY = "May et al. 2019: top hidden state of [CLS]"
MAY_GPT = "May et al. 2019, Azarpanah & Farhadloo 2021: top hidden state of the last piece"

PRESETS: dict[str, Preset] = {
    "bert-base-cased": Preset(_hf("google-bert/bert-base-cased", pooling="cls", layers="-1"), MAY),
    "bert-base-uncased": Preset(_hf("google-bert/bert-base-uncased", pooling="cls", layers="-1"), MAY),
    "bert-large-cased": Preset(_hf("google-bert/bert-large-cased", pooling="cls", layers="-1"), MAY),
    "bert-large-uncased": Preset(_hf("google-bert/bert-large-uncased", pooling="cls", layers="-1"), MAY),
    "gpt": Preset(_hf("openai-community/openai-gpt", pooling="last", layers="-1"), MAY_GPT),
    "gpt2": Preset(
        _hf("openai-community/gpt2", pooling="last", layers="-1"),
        "Azarpanah & Farhadloo 2021: last hidden layer; of a word in several pieces, the last",
    ),
    "azarpanah-bert": Preset(
        _hf("google-bert/bert-base-cased", pooling="cls", layers="sum:-4.."),
        "Azarpanah & Farhadloo 2021: sum of the last 4 hidden layers at [CLS]",
    ),
}

FAMILIES: dict[str, Preset] = {
    "bias-bench": Preset(
        _hf("", pooling="mean", layers="-1", special_tokens="yes", normalise="yes"),
        "bias-bench: mean over all tokens with the special ones, then unit length",
    ),
    "sent-bias": Preset(
        _hf("", pooling="first", layers="-1", special_tokens="no", lowercase="yes"),
        "the released code of May et al. 2019: first piece of the lower-cased text, no [CLS] or [SEP]",
    ),
}
"""Settings for any model, written before its name or folder: `bias-bench:bert-base-uncased`."""


def find_preset(text: str) -> Spec | None:
    """The spec that a preset stands for, with the user's options over the preset's; None if it is no preset.

    >>> str(find_preset("bert-large-cased?layers=-2"))
    'hf:google-bert/bert-large-cased?pooling=cls&layers=-2'
    >>> str(find_preset("bias-bench:bert-base-uncased"))
    'hf:bert-base-uncased?pooling=mean&layers=-1&special_tokens=yes&normalise=yes'
    """
    family, colon, rest = text.partition(":")
    if colon and family in FAMILIES:
        requested = Spec.of_kind("hf", rest)
        return _merged(FAMILIES[family].spec, requested.target, requested)
    requested = Spec.of_kind("hf", text)
    if requested.target in PRESETS:
        spec = PRESETS[requested.target].spec
        return _merged(spec, spec.target, requested)
    return None


def _merged(preset: Spec, target: str, requested: Spec) -> Spec:
    options = {**dict(preset.options), **dict(requested.options)}
    return Spec(preset.kind, target, tuple(options.items()))

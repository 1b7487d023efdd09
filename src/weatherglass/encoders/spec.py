"""Parse model specs, `kind:target?option=value&…`, and presets for the models and settings of papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from weatherglass.errors import SpecError
from weatherglass.registry import did_you_mean, suggestion
from weatherglass.storage.reading import exists


@dataclass(frozen=True, slots=True)
class Spec:
    """A model as the user names it; its text is the name of the model in results."""

    kind: str
    target: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        target = f":{self.target}" if self.target else ""
        options = "&".join(
            f"{name}={quote(value, safe='/:.,*-+@ ', errors='surrogatepass')}" for name, value in self.options
        )
        return f"{self.kind}{target}{'?' if options else ''}{options}"

    @classmethod
    def of_kind(cls, kind: str, rest: str) -> Spec:
        """Parse `target?option=value&…`; the name of an existing file may contain a question mark."""
        if "?" not in rest or exists(Path(rest)):
            return cls(kind, rest)
        target, _, query = rest.rpartition("?")
        return cls(kind, target, parse_options(query, whole=f"{kind}:{rest}"))

    def with_options(self, **changes: str) -> Spec:
        """Return the same model with changed options."""
        return Spec(self.kind, self.target, tuple({**dict(self.options), **changes}.items()))

    def reader(self) -> OptionReader:
        """Return a reader of the options, which refuses unknown options at the end."""
        return OptionReader(self, dict(self.options))


def parse_options(query: str, whole: str) -> tuple[tuple[str, str], ...]:
    """Parse `a=1&b=2` into pairs.

    Raises:
        SpecError: if an option is malformed or given twice.
    """
    pairs: list[tuple[str, str]] = []
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        if not name or not equals:
            raise SpecError(f"'{whole}': option '{part}' should be name=value")
        if name in (known for known, _ in pairs):
            raise SpecError(f"'{whole}': option '{name}' is given twice")
        pairs.append((name, unquote(value)))
    return tuple(pairs)


@dataclass(slots=True)
class OptionReader:
    """A reader that returns the options of a spec one by one, after checking their values."""

    spec: Spec
    unread: dict[str, str]
    read: list[str] = field(default_factory=list)

    def text(self, name: str, default: str) -> str:
        self.read.append(name)
        return self.unread.pop(name, default)

    def choice(self, name: str, choices: Sequence[str], default: str) -> str:
        value = self.text(name, default)
        if value not in choices:
            hint = did_you_mean(value, choices)
            raise SpecError(f"'{self.spec}': {name}={value} should be one of {', '.join(choices)}{hint}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name, "yes" if default else "no").lower()
        if value not in ("yes", "no", "true", "false", "1", "0", "on", "off"):
            raise SpecError(f"'{self.spec}': {name}={value} should be yes or no")
        return value in ("yes", "true", "1", "on")

    def integer(self, name: str, default: int, least: int = 1) -> int:
        value = self.text(name, str(default))
        try:
            number = int(value)
        except ValueError:
            raise SpecError(f"'{self.spec}': {name}={value} is not a whole number") from None
        if number < least:
            raise SpecError(f"'{self.spec}': {name}={value} is below {least}")
        return number

    def done(self) -> None:
        """Refuse options that were not read, which means that the model does not have them."""
        for name in self.unread:
            known = suggestion(name, self.read) if self.read else f" ('{self.spec.kind}' takes no options)"
            raise SpecError(f"'{self.spec}': unknown option '{name}'{known}")


@dataclass(frozen=True, slots=True)
class Preset:
    """A short name for a spec."""

    spec: Spec
    source: str
    """The paper or program that the settings come from."""


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
        "Azarpanah & Farhadloo 2021: last hidden layer, last piece of a word",
    ),
    "azarpanah-bert": Preset(
        _hf("google-bert/bert-base-cased", pooling="cls", layers="sum:-4.."),
        "Azarpanah & Farhadloo 2021: sum of the last 4 hidden layers at [CLS]",
    ),
}

FAMILIES: dict[str, Preset] = {
    "bias-bench": Preset(
        _hf("", pooling="mean", layers="-1", special_tokens="yes", normalise="yes"),
        "bias-bench: mean over all tokens, including special ones, scaled to length 1",
    ),
    "sent-bias": Preset(
        _hf("", pooling="first", layers="-1", special_tokens="no", lowercase="yes"),
        "the released code of May et al. 2019: first piece of the lower-case text, without [CLS] and [SEP]",
    ),
}
"""Presets for any model, written before the model's name or folder: `bias-bench:bert-base-uncased`."""


def find_preset(text: str) -> Spec | None:
    """Return the spec of a preset with the user's options, which take precedence; None if the text is not a preset.

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

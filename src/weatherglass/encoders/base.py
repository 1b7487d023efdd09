"""The Model protocol: inputs in, observations out, with a report of what could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self, get_args, runtime_checkable

import numpy as np

from weatherglass.arrays import AnyMatrix, AnyVector
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.warnings import Warning

Kind = Literal["text", "query", "passage"]
What = Literal["vectors", "token-vectors", "log-probabilities"]

VECTORS: frozenset[What] = frozenset({"vectors"})
STATIC: frozenset[What] = frozenset({"vectors", "token-vectors"})
"""What word vectors give: the vector of a word does not depend on the text around it."""


@dataclass(frozen=True, slots=True)
class Input:
    """What a model is asked about; wherever one is taken, a plain `str` means `Input(text)`.

    >>> Input("The nurse is here.", span=(4, 9)).word
    'nurse'
    """

    text: str
    span: tuple[int, int] | None = None
    """First and last place, in characters, of the word that is meant; the last is not included."""
    kind: Kind = "text"
    """Which prompt is put before it, where the model has one for queries or for passages."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise EncoderError(f"kind of an input: {self.kind!r} is none of {', '.join(get_args(Kind))}")
        if self.span is None:
            return
        start, end = self.span
        if not (0 <= start < end <= len(self.text) and self.text[start:end].strip()):
            raise EncoderError(
                f"span {start} to {end}: there is no word in a text of {len(self.text)} characters ({self.text!r})"
            )

    @property
    def word(self) -> str:
        """Return what stands at the span; the whole text where there is none."""
        return self.text if self.span is None else self.text[slice(*self.span)]


Asked = str | Input


def text_of(asked: Asked) -> str:
    """Return the text of an input."""
    return asked if isinstance(asked, str) else asked.text


def plain(asked: Asked) -> Asked:
    """Return an input in its shortest form, by which it is stored and found: a mere text as `str`."""
    return asked.text if isinstance(asked, Input) and asked == Input(asked.text) else asked


@dataclass(frozen=True, slots=True)
class Coverage:
    """How one input was read."""

    tokens: tuple[str, ...]
    """What the text was split into; of a span, its own pieces; of log-probabilities, a token per number."""
    missing: tuple[str, ...] = ()
    """The tokens that the model does not know and that were left out of the vector."""
    note: str = ""
    """Anything else done to the text, such as "cut to 512 tokens"."""


@dataclass(frozen=True, slots=True)
class Observations:
    """What a model gives for its inputs, and what is missing and why."""

    inputs: Sequence[Asked]
    what: What
    values: AnyMatrix | list[AnyVector]
    """Vectors: a row per input, of NaN where the model could not read it. Log-probabilities: an array per input with
    a number per token, empty where there is none."""
    coverage: list[Coverage]

    @property
    def matrix(self) -> AnyMatrix:
        """Return the vectors as one matrix, with a row per input."""
        if isinstance(self.values, list):
            raise EncoderError(f"{self.what} are an array per input and no matrix")
        return self.values

    def known(self, row: int) -> bool:
        """Return whether the model could read any of an input."""
        return not bool(np.isnan(self.values[row]).all())


@runtime_checkable
class Model(Protocol):
    """Anything that can be asked about texts. `adapted` makes one of any object with `name`, `options` and `encode`."""

    @property
    def name(self) -> str:
        """Return what to call it; for a model loaded from a spec, the spec, so that a row can be run again."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """Return every choice that was made for the user, defaults included."""
        ...

    @property
    def gives(self) -> frozenset[What]:
        """Return what it can be asked for."""
        ...

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        """Ask about inputs; EncoderError for what it does not give."""
        ...

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        """Return the vectors of plain texts: a row each, of NaN for a text that cannot be encoded."""
        ...

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return how each text is read; may be called before or after `encode`."""
        ...

    def identity(self) -> str | None:
        """Return a hash of weights and options; None where the content cannot be hashed, so that no run can be
        resumed.
        """
        ...

    def notes(self) -> list[str]:
        """Return what the record of the run should say, such as "3 duplicate words in the file; the first one
        counts".
        """
        ...

    def warnings(self) -> Sequence[Warning | str]:
        """Return warnings of the run, known after the model was asked; a plain text is one of the kind "other"."""
        ...


@runtime_checkable
class ModelEncoder(Model, Protocol):
    """A model that a spec describes.

    Building one checks the spec and the files but loads no weights: that happens when it is first asked, so that a
    run whose observations are all cached never loads the model.

    `?dim=` is not its concern: `load_encoder` cuts the vectors of any kind. A class that has shorter ones of its own
    says so with `reads_dim = True` and reads the option itself.
    """

    costly: ClassVar[bool]
    """Whether encoding is slow enough to cache the vectors and to split the texts among processes."""

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Build the model that `spec` describes; a mistake in the spec is raised here, not when it is asked."""
        ...

    def identity(self) -> str:
        """Return a hash of weights and options: equal identities give equal observations."""
        ...


class _ReadsTexts(Protocol):
    """What `Encoder` builds on."""

    by_kind: ClassVar[bool]

    @property
    def name(self) -> str: ...
    @property
    def gives(self) -> frozenset[What]: ...
    def encode(self, texts: Sequence[Any]) -> AnyMatrix: ...
    def coverage(self, texts: Sequence[Any]) -> list[Coverage]: ...


class Encoder:
    """A base class that makes a Model of a class with `name`, `options`, `encode(texts)` and `coverage(texts)`."""

    costly: ClassVar[bool] = False
    by_kind: ClassVar[bool] = False
    """Whether `encode` and `coverage` also take an Input, whose kind says which prompt is put before it."""

    @property
    def gives(self) -> frozenset[What]:
        return VECTORS

    def observe(self: _ReadsTexts, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        check_asked(self, inputs, what)
        texts: Sequence[Asked] = inputs
        if what == "token-vectors":
            texts = [asked.word for asked in inputs if isinstance(asked, Input)]
        elif not self.by_kind:
            texts = [asked if isinstance(asked, str) else asked.text for asked in inputs]
        # Coverage first: an encoder that looks words up in a file does so in one pass over it.
        coverage = self.coverage(texts)
        return Observations(inputs, what, self.encode(texts), coverage)

    def identity(self) -> str | None:
        return None

    def notes(self) -> list[str]:
        return []

    def warnings(self) -> Sequence[Warning | str]:
        return []


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def gives(self) -> frozenset[What]: ...


def check_asked(model: _Named, inputs: Sequence[Asked], what: str) -> None:
    """Refuse to ask a model for what it does not give, and for the vector at a span where none is given.

    Raises:
        EncoderError: in one line.
    """
    if what not in model.gives:
        given = ", ".join(each for each in get_args(What) if each in model.gives)
        raise EncoderError(f"'{model.name}' does not give {what} (it gives: {given})")
    if what == "token-vectors":
        for asked in inputs:
            if isinstance(asked, str) or asked.span is None:
                raise EncoderError(f"token-vectors need a span, but {text_of(asked)!r} has none")


class Adapted(Encoder):
    """An object of someone else's as a Model: what it lacks of the protocol is filled in."""

    OPTIONAL = ("observe", "identity", "notes", "warnings", "costly", "in_parts", "from_spec")

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.__dict__.update({name: getattr(inner, name) for name in self.OPTIONAL if hasattr(inner, name)})

    @property
    def name(self) -> str:
        return str(self.inner.name)

    @property
    def options(self) -> Mapping[str, str]:
        options: Mapping[str, str] = self.inner.options
        return options

    @property
    def gives(self) -> frozenset[What]:
        return frozenset(getattr(self.inner, "gives", VECTORS))

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        if hasattr(self.inner, "encode"):
            vectors: AnyMatrix = self.inner.encode(texts)
            return vectors
        return self.observe(texts).matrix

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        if hasattr(self.inner, "coverage"):
            covered: list[Coverage] = self.inner.coverage(texts)
            return covered
        return (
            self.observe(texts).coverage
            if hasattr(self.inner, "observe")
            else [Coverage((t,)) for t in texts]
        )


def adapted(given: Any) -> Any:
    """Return a Model: the object itself if it follows the protocol, else wrapped in what it lacks."""
    return given if isinstance(given, Model) else Adapted(given)

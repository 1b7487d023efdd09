"""Define the Model protocol: a model takes inputs and returns observations with their coverage."""

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
What = Literal[
    "vectors",
    "token-vectors",
    "log-probabilities",
    "unmasked-log-probabilities",
    "attended-log-probabilities",
    "scores",
]

VECTORS: frozenset[What] = frozenset({"vectors"})
PER_TOKEN: frozenset[What] = frozenset(
    {"log-probabilities", "unmasked-log-probabilities", "attended-log-probabilities", "scores"}
)
"""Observations that are an array per input with a number per token; a score is one number for the whole text."""
STATIC: frozenset[What] = frozenset({"vectors", "token-vectors"})
"""The observations of static word vectors; the vector of a word does not depend on its text."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a model; a plain `str` always means `Input(text)`.

    >>> Input("The nurse is here.", span=(4, 9)).word
    'nurse'
    """

    text: str
    span: tuple[int, int] | None = None
    """The start and end of a word in the text, in characters; the end is excluded."""
    kind: Kind = "text"
    """The kind of prompt before the text, if the model has prompts for queries or passages."""
    hidden: tuple[int, int] | None = None
    """The start and end of a second word, which is masked when a masked model predicts the word at the span."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise EncoderError(
                f"the kind of an input should be one of {', '.join(get_args(Kind))}, but is {self.kind!r}"
            )
        for start, end in filter(None, (self.span, self.hidden)):
            if not (0 <= start < end <= len(self.text) and self.text[start:end].strip()):
                raise EncoderError(
                    f"span {start} to {end}: there is no word in a text of {len(self.text)} characters ({self.text!r})"
                )

    @property
    def word(self) -> str:
        """Return the text at the span, or the whole text if there is no span."""
        return self.text if self.span is None else self.text[slice(*self.span)]


Asked = str | Input


def text_of(asked: Asked) -> str:
    """Return the text of an input."""
    return asked if isinstance(asked, str) else asked.text


def plain(asked: Asked) -> Asked:
    """Return an input in its shortest form, which is the cache key; the shortest form of a plain text is a `str`."""
    return asked.text if isinstance(asked, Input) and asked == Input(asked.text) else asked


CUT = "cut to"
"""The beginning of a note on a text that is longer than a model reads."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """A report on how a model read an input."""

    tokens: tuple[str, ...]
    """The tokens of the text or of its span; log-probabilities have one number per token."""
    missing: tuple[str, ...] = ()
    """Unknown tokens, which are left out of the vector."""
    note: str = ""
    """Any other change to the text, such as "cut to 512 tokens"."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """The observation of one input: a vector, or a log-probability per token."""

    values: AnyVector
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Observations:
    """The results of a model for its inputs, with their coverage."""

    inputs: Sequence[Asked]
    what: What
    values: AnyMatrix | list[AnyVector]
    """The results: for vectors, a matrix with a row per input, which is NaN if the model could not read the input; for
    log-probabilities, an array per input with a number per token, which may be empty.
    """
    coverage: list[Coverage]

    @property
    def matrix(self) -> AnyMatrix:
        """Return the vectors as a matrix with a row per input."""
        if isinstance(self.values, list):
            raise EncoderError(f"{self.what} are an array per input, not a matrix")
        return self.values

    def by_input(self) -> dict[Asked, Encoding]:
        """Return the observation of each input, by its shortest form."""
        rows = zip(self.inputs, self.values, self.coverage, strict=True)
        return {plain(asked): Encoding(values, covered) for asked, values, covered in rows}

    def known(self, row: int) -> bool:
        """Return whether the model could read an input, at least in part."""
        return not bool(np.isnan(self.values[row]).all())


@runtime_checkable
class Model(Protocol):
    """A model that reads texts. `adapted` makes a Model from any object with `name`, `options` and `encode`."""

    @property
    def name(self) -> str:
        """Return the model's name; for a model from a spec, the name is the spec, so that a result can be
        reproduced.
        """
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """Return all options, including defaults."""
        ...

    @property
    def gives(self) -> frozenset[What]:
        """Return the kinds of observations that the model can give."""
        ...

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        """Return observations of inputs; raise EncoderError for a kind that the model does not give."""
        ...

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        """Return the vectors of plain texts, one row each; the row of a text that cannot be encoded is NaN."""
        ...

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return how each text is read; this method may be called before or after `encode`."""
        ...

    def identity(self) -> str | None:
        """Return a hash of weights and options; None if it cannot be computed, in which case runs cannot be
        resumed.
        """
        ...

    def notes(self) -> list[str]:
        """Return notes for the record of the run, such as "3 duplicate words in the file; the first one counts"."""
        ...

    def warnings(self) -> Sequence[Warning | str]:
        """Return warnings after the model was used; a plain text is a warning of the kind "other"."""
        ...


@runtime_checkable
class ModelEncoder(Model, Protocol):
    """A model that a spec describes.

    Creating the object checks the spec and the files, but does not load the weights. They are loaded at the first use,
    so that a run with cached observations never loads the model.

    `load_encoder` handles `?dim=` for every kind. A class that handles the option itself sets `reads_dim = True`.
    """

    costly: ClassVar[bool]
    """Whether encoding is slow, so that vectors are cached and texts are divided among processes."""

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Return the model of a spec; mistakes in the spec are reported now, not at the first use."""
        ...

    def identity(self) -> str:
        """Return a hash of weights and options; models with equal identities give equal observations."""
        ...


class _ReadsTexts(Protocol):
    """The methods that `Encoder` needs."""

    by_kind: ClassVar[bool]

    @property
    def name(self) -> str: ...
    @property
    def gives(self) -> frozenset[What]: ...
    def encode(self, texts: Sequence[Any]) -> AnyMatrix: ...
    def coverage(self, texts: Sequence[Any]) -> list[Coverage]: ...


class Encoder:
    """Base class that makes a Model from `name`, `options`, `encode(texts)` and `coverage(texts)`."""

    costly: ClassVar[bool] = False
    by_kind: ClassVar[bool] = False
    """Whether `encode` and `coverage` also accept an Input, whose kind determines the prompt."""

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
        # Coverage comes first, so that an encoder can look up all words in one pass over its file.
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


def is_causal(model: object) -> bool:
    """Return whether a model predicts a token from the tokens before it; for a wrapper, the inner model decides."""
    while hasattr(model, "inner") and not hasattr(model, "head"):
        model = model.inner
    return getattr(model, "head", None) == "causal"


def check_asked(model: _Named, inputs: Sequence[Asked], what: str) -> None:
    """Check that a model gives the requested observations, and that inputs have spans where needed.

    Raises:
        EncoderError: if the model does not give them, or a span is missing.
    """
    if what not in model.gives:
        given = ", ".join(each for each in get_args(What) if each in model.gives)
        raise EncoderError(f"'{model.name}' does not give {what} (it gives: {given})")
    if what == "token-vectors":
        for asked in inputs:
            if isinstance(asked, str) or asked.span is None:
                raise EncoderError(f"token-vectors need a span, but {text_of(asked)!r} has none")


class Adapted(Encoder):
    """A wrapper that makes an object a Model by adding the missing parts of the protocol."""

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
    """Return the object if it is a Model, or else a wrapper that makes it one."""
    return given if isinstance(given, Model) else Adapted(given)

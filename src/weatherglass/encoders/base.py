"""The Encoder protocol: texts in, one vector per text out, and a report of what could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.spec import Spec


@dataclass(frozen=True, slots=True)
class Coverage:
    """How one text was read."""

    tokens: tuple[str, ...]
    """What the text was split into."""
    missing: tuple[str, ...] = ()
    """The tokens that the model does not know and that were left out of the vector."""
    note: str = ""
    """Anything else done to the text, such as "cut to 512 tokens"."""


class Encoder(Protocol):
    """Anything that turns texts into vectors; an object of the user's own needs no more than this."""

    @property
    def name(self) -> str:
        """What to call it; for a model loaded from a spec, the spec, so that a row can be run again."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """Every choice that was made for the user, defaults included."""
        ...

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        """One row per text; a text that cannot be encoded is a row of NaN."""
        ...

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """How each text was read; may be called before or after `encode`."""
        ...


@runtime_checkable
class ModelEncoder(Encoder, Protocol):
    """An encoder that a spec describes.

    Building one checks the spec and the files but loads no weights: that happens at the first `encode`, so that a
    run whose encodings are all cached never loads the model.

    `?dim=` is not its concern: `load_encoder` cuts the vectors of any kind. A class that has shorter ones of its own
    says so with `reads_dim = True` and reads the option itself.
    """

    costly: ClassVar[bool]
    """Whether encoding is slow enough to cache the vectors and to split the texts among processes."""

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """The encoder that `spec` describes; a mistake in the spec is raised here, not at `encode`."""
        ...

    def identity(self) -> str:
        """A hash of weights and options: equal identities give equal vectors."""
        ...

    def notes(self) -> list[str]:
        """What the record of the run should say, such as "3 duplicate words in the file; the first one counts"."""
        ...


@runtime_checkable
class IdentifiedEncoder(Protocol):
    """An encoder that says what it is and how it read texts, as an object in memory may do without a spec."""

    def identity(self) -> str | None:
        """A hash of weights and options; None where the content cannot be hashed, so that no run can be resumed."""
        ...

    def notes(self) -> list[str]:
        """What the record of the run should say."""
        ...


@runtime_checkable
class WarningEncoder(Protocol):
    """An encoder that may have something to warn of, such as a file that seems to be cut off."""

    def warnings(self) -> list[str]:
        """Lines for the warnings of the run, known after `encode`."""
        ...

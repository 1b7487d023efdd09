"""An encoder over a function texts → array, or over `.encode` or `.transform` of an unknown object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from weatherglass.arrays import AnyMatrix, ArrayError, real_array
from weatherglass.encoders.base import Coverage
from weatherglass.errors import EncoderError, WeatherglassError


class InMemoryFunction:
    """Calls a function with lists of texts; what it knows of a text it does not say, so coverage is the text itself."""

    in_parts: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        function: Callable[[list[str]], Any],
        options: Mapping[str, str] | None = None,
        identity: str | None = None,
    ) -> None:
        self.name = name
        self.options: Mapping[str, str] = options or {}
        self._function = function
        self._identity = identity

    def identity(self) -> str | None:
        """What the caller vouches for; code and weights of a function cannot be hashed."""
        return self._identity

    def notes(self) -> list[str]:
        return []

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        try:
            given = self._function(list(texts))
        except WeatherglassError:
            raise
        except Exception as error:  # code of the user's own may raise anything
            raise EncoderError(
                f"{self.name}: failed on a list of {len(texts)} texts ({type(error).__name__}: {error})"
            ) from error
        return as_matrix(given, self.name, texts)

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return [Coverage((text,)) for text in texts]


def as_matrix(given: Any, name: str, texts: Sequence[str]) -> AnyMatrix:
    """Arrays, lists, sparse matrices and tensors as an array with one row per text.

    Raises:
        EncoderError: for anything else, with what is expected.
    """
    expected = f"{name}: {_expected(len(texts))}"
    try:
        matrix = real_array(given)
    except ArrayError as error:
        if error.row is not None and error.row < len(texts):
            raise EncoderError(f"{name}: the vector of {texts[error.row]!r} {error}") from None
        raise EncoderError(f"{expected}, but gave {type(given).__name__}, which {error}") from None
    if matrix.ndim != 2 or len(matrix) != len(texts):
        raise EncoderError(f"{expected}, but gave an array of shape {matrix.shape}")
    return matrix


def _expected(texts: int) -> str:
    return f"a list of {texts} texts should give an array with {texts} rows, one vector for each"

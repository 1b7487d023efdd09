"""Combine token vectors into one vector per text (`pooling=`, `layers=`), and batch texts of similar length.

Tokens are pooled before layers are combined: `pooling=max&layers=sum` is the sum of each layer's maxima, as in May et
al. (2019) for ELMo. The option `layers=` takes

-1, 2                   one layer; 0 is the token layer, -1 the top one
sum, mean, concat       all layers, including the token layer
sum:-4..                the last four layers
mean:1..3               layers 1, 2 and 3
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix, Integers
from weatherglass.errors import EncoderError, SpecError

POOLINGS = ("cls", "first", "mean", "max", "last")
"""The supported poolings: cls is the classification token, first and last are single tokens, mean and max use all
tokens.
"""

SPAN_POOLINGS = ("mean", "first", "last")
"""Poolings over the pieces of a word at a span."""

States = NDArray[np.floating[Any]]
"""An array of texts × tokens × dimensions, with padding after the tokens of each text."""


def pool(states: States, lengths: Integers, pooling: str, cls_positions: Integers | None = None) -> AnyMatrix:
    """Return one vector per text; the row of a text without tokens is NaN.

    Args:
        states: the vectors of the tokens in one layer, padded at the end.
        lengths: the number of tokens of each text.
        pooling: one of `POOLINGS`.
        cls_positions: the position of the classification token in each text; only for `cls`.
    """
    rows = np.arange(len(states))
    pooled: AnyMatrix
    if pooling == "cls":
        if cls_positions is None:
            raise EncoderError("pooling=cls: the text has no cls token; use pooling=first, mean or last")
        pooled = states[rows, cls_positions]
    elif pooling == "first":
        pooled = states[:, 0]
    elif pooling == "last":
        pooled = states[rows, np.maximum(lengths, 1) - 1]
    else:
        pooled = _over_tokens(states, lengths, pooling)
    return cast(AnyMatrix, np.where((lengths > 0)[:, None], pooled, pooled.dtype.type(np.nan)))


def _over_tokens(states: States, lengths: Integers, pooling: str) -> AnyMatrix:
    is_token = (np.arange(states.shape[1]) < lengths[:, None])[..., None]
    if pooling == "max":
        return cast(AnyMatrix, np.where(is_token, states, states.dtype.type(-np.inf)).max(axis=1))
    total = np.where(is_token, states, states.dtype.type(0)).sum(axis=1)
    return cast(AnyMatrix, total / np.maximum(lengths, 1)[:, None].astype(states.dtype))


Join = Literal["sum", "mean", "concat"]

_ONE = re.compile(r"-?\d+")
_SEVERAL = re.compile(r"(?P<join>sum|mean|concat)(?::(?P<first>-?\d+)?\.\.(?P<last>-?\d+)?)?")


@dataclass(frozen=True, slots=True)
class Layers:
    """One layer, or consecutive layers that are combined into one vector."""

    first: int | None = -1
    """The number of the lowest layer, negative if counted from the top; None for layer 0."""
    last: int | None = -1
    """The number of the highest layer, which is included; None for the top layer."""
    join: Join | None = None
    """The way in which layers are combined; None for a single layer."""

    @classmethod
    def parse(cls, text: str) -> Layers:
        """Return the layers that `text` names.

        >>> Layers.parse("sum:-4..").numbers(count=13)
        [9, 10, 11, 12]

        Raises:
            SpecError: if the text is not a layer expression.
        """
        if _ONE.fullmatch(text):
            return cls(int(text), int(text))
        match = _SEVERAL.fullmatch(text)
        if match is None:
            raise SpecError(
                f"layers={text} should be a layer (-1, 2), or sum, mean or concat with or without a range (sum:-4..)"
            )
        first, last = (int(end) if end else None for end in match.group("first", "last"))
        return cls(first, last, cast(Join, match["join"]))

    def __str__(self) -> str:
        if self.join is None:
            return str(self.first)
        if self.first is None and self.last is None:
            return self.join
        first, last = ("" if end is None else end for end in (self.first, self.last))
        return f"{self.join}:{first}..{last}"

    def numbers(self, count: int) -> list[int]:
        """Return the numbers of the layers in a model with `count` layers, from the lowest to the highest.

        Raises:
            SpecError: if the model lacks one of the layers, or the range is empty.
        """
        first = 0 if self.first is None else self.first + (count if self.first < 0 else 0)
        last = count - 1 if self.last is None else self.last + (count if self.last < 0 else 0)
        if not (0 <= first < count and 0 <= last < count):
            raise SpecError(f"layers={self}: the model has the layers 0 (tokens) to {count - 1}")
        if last < first:
            raise SpecError(f"layers={self}: the range from {first} to {last} is empty")
        return list(range(first, last + 1))

    def combine(self, vectors: Sequence[AnyMatrix]) -> AnyMatrix:
        """Combine one matrix per layer, lowest first, into a matrix of texts × dimensions."""
        if self.join == "concat":
            return np.concatenate(vectors, axis=-1)
        if self.join is None:
            (only,) = vectors
            return only
        total = np.sum(vectors, axis=0, dtype=vectors[0].dtype)
        return cast(AnyMatrix, total / len(vectors) if self.join == "mean" else total)


OTHER_LAYERS = ("-1", "-2", "mean:-4..")
"""The layers of a transformer that a multiverse compares with those of its spec."""


def views_of_words(
    pooling: str, layers: Layers, others: Sequence[str] = OTHER_LAYERS
) -> tuple[list[str], list[Layers]]:
    """Return the poolings over the pieces of a word, and the layers, those of the spec first and each once."""
    named = dict.fromkeys([str(layers), *others])
    return list(dict.fromkeys([pooling, *SPAN_POOLINGS])), list(map(Layers.parse, named))


def by_length(lengths: Sequence[int], max_texts: int, max_tokens: int) -> Iterator[Integers]:
    """Yield the positions of the texts of each batch, longest first, so that a lack of memory shows at once.

    Args:
        lengths: the number of tokens of each text.
        max_texts: the maximum number of texts in a batch.
        max_tokens: the maximum number of tokens in a batch, including padding; a longer text is a batch of its own.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    while start < len(order):
        width = max(1, lengths[order[start]])
        count = max(1, min(max_texts, max_tokens // width))
        yield order[start : start + count]
        start += count


def in_order(batches: Sequence[AnyMatrix], positions: Sequence[Integers]) -> AnyMatrix:
    """Return the rows of all batches in the order of the texts; `positions` are those of `by_length`."""
    rows = np.concatenate(batches)
    vectors = np.empty_like(rows)
    vectors[np.concatenate(positions)] = rows
    return vectors


def by_equal_length(
    lengths: Sequence[int], max_texts: int, max_tokens: int | None = None
) -> Iterator[Integers]:
    """Yield the positions of texts of equal length, so that nothing is padded; empty texts are skipped."""
    sizes = np.asarray(lengths, dtype=np.int64)
    for length in np.unique(sizes[sizes > 0])[::-1]:
        positions = np.flatnonzero(sizes == length)
        count = max_texts if max_tokens is None else max(1, min(max_texts, max_tokens // int(length)))
        for start in range(0, len(positions), count):
            yield positions[start : start + count]

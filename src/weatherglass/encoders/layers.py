"""The `layers=` option: which layers of a model make the vector, and how several are joined.

-1, 2                   one layer; 0 is the token layer, -1 the top one
sum, mean, concat       all layers, the token layer included
sum:-4..                the last four
mean:1..3               layers 1, 2 and 3: both ends count
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.errors import SpecError

Join = Literal["sum", "mean", "concat"]

_ONE = re.compile(r"-?\d+")
_SEVERAL = re.compile(r"(?P<join>sum|mean|concat)(?::(?P<first>-?\d+)?\.\.(?P<last>-?\d+)?)?")


@dataclass(frozen=True, slots=True)
class Layers:
    """One layer, or a run of layers joined into one vector."""

    first: int | None = -1
    """Number of the lowest layer, negative from the top; None is layer 0."""
    last: int | None = -1
    """Number of the highest layer, itself included; None is the top one."""
    join: Join | None = None
    """None where one layer is meant."""

    @classmethod
    def parse(cls, text: str) -> Layers:
        """The layers that `text` names.

        >>> Layers.parse("sum:-4..").numbers(count=13)
        [9, 10, 11, 12]

        Raises:
            SpecError: if the text is no layer expression.
        """
        if _ONE.fullmatch(text):
            return cls(int(text), int(text))
        match = _SEVERAL.fullmatch(text)
        if match is None:
            raise SpecError(
                f"layers={text} is not a layer (-1, 2), nor sum, mean or concat with or without a range (sum:-4..)"
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
        """The layers meant in a model that has `count` of them, from the lowest to the highest.

        Raises:
            SpecError: if the model has no such layer or the range is empty.
        """
        first = 0 if self.first is None else self.first + (count if self.first < 0 else 0)
        last = count - 1 if self.last is None else self.last + (count if self.last < 0 else 0)
        if not (0 <= first < count and 0 <= last < count):
            raise SpecError(f"layers={self}: the model has layers 0 (its tokens) to {count - 1}")
        if last < first:
            raise SpecError(f"layers={self}: an empty range, {first} to {last}")
        return list(range(first, last + 1))

    def combine(self, vectors: Sequence[AnyMatrix]) -> AnyMatrix:
        """Join one matrix per layer, lowest first, into one: (texts, dimensions)."""
        if self.join == "concat":
            return np.concatenate(vectors, axis=-1)
        if self.join is None:
            (only,) = vectors
            return only
        total = np.sum(vectors, axis=0, dtype=vectors[0].dtype)
        return cast(AnyMatrix, total / len(vectors) if self.join == "mean" else total)

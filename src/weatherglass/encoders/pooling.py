"""The `pooling=` option: one vector from the vectors of a text's tokens, within one layer.

Pooling comes before layers are joined: `pooling=max&layers=sum` is the sum of each layer's maxima, as May et al.
(2019) do with ELMo.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix, Integers
from weatherglass.errors import EncoderError

POOLINGS = ("cls", "first", "mean", "max", "last")
"""cls: the model's own classification token; first, last: that token, whatever it is; mean, max: over all tokens."""

States = NDArray[np.floating[Any]]
"""(texts, tokens, dimensions), each text's tokens first and padding after them."""


def pool(states: States, lengths: Integers, pooling: str, cls_positions: Integers | None = None) -> AnyMatrix:
    """One vector per text; a text without tokens is a row of NaN.

    Args:
        states: the tokens' vectors in one layer, padded at the end.
        lengths: how many tokens each text has.
        pooling: one of `POOLINGS`.
        cls_positions: position of the classification token in each text; needed for `cls` only.
    """
    rows = np.arange(len(states))
    pooled: AnyMatrix
    if pooling == "cls":
        if cls_positions is None:
            raise EncoderError(
                "pooling=cls: there is no cls token in the text (use pooling=first, mean or last)"
            )
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

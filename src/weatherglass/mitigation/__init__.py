"""Change vectors after encoding with transforms, which are fitted on named words and never on the tests of a run.

A transform is written after the model, as in `vectors:glove.txt | centre?on=catalogue`, and may be followed by others.
"""

from __future__ import annotations

from weatherglass.mitigation.base import Change, Transform
from weatherglass.mitigation.spelling import (
    TRANSFORMS,
    ModelSpelling,
    read_model,
    read_transforms,
    split_transforms,
)

__all__ = [
    "TRANSFORMS",
    "Change",
    "ModelSpelling",
    "Transform",
    "read_model",
    "read_transforms",
    "split_transforms",
]

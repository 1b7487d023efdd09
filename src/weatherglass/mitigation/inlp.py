"""Apply iterative nullspace projection (Ravfogel et al. 2020): remove what a linear classifier uses, and train
another.

The weights of each classifier are orthonormalised against the earlier ones. All of them are projected out together,
which is the projection onto the intersection of the nullspaces (algorithm 1 of the paper).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.mitigation.base import Steps, projection
from weatherglass.mitigation.fitting import (
    ROUNDING,
    OfClasses,
    labelled_rows,
    logistic_weights,
    nothing_left,
    partly_known,
)
from weatherglass.mitigation.lists import class_list, content_hash

PENALTY = 1e-3
"""The penalty of the classifier, for vectors scaled to a mean length of 1."""


@dataclass(frozen=True, slots=True)
class Inlp(OfClasses):
    """A transform that removes the directions of successive linear classifiers of the classes."""

    iterations: int = 10

    @classmethod
    def from_spec(cls, spec: Spec) -> Inlp:
        """Read `inlp?classes=gender|SET,SET|FILE&iterations=10`."""
        options = spec.reader()
        source, iterations = options.text("classes", "gender"), options.integer("iterations", 10)
        options.done()
        return cls(class_list(source), iterations)

    @property
    def name(self) -> str:
        return f"inlp?classes={self.classes.source}&iterations={self.iterations}"

    def identity(self) -> str:
        return content_hash("inlp", PENALTY, self.iterations, self.classes.words)

    def fit(self, vectors: Matrix) -> Steps:
        """Train classifiers until one does not beat predicting the largest class."""
        rows, labels = labelled_rows(self.name, self.classes, vectors)
        basis = classifier_directions(rows, labels, self.iterations)
        if not len(basis):
            raise EncoderError(
                f"{self.name}: no linear classifier separates the classes, so there is nothing to remove"
            )
        nothing_left(self.name, rows.shape[1], len(basis))
        notes = partly_known(len(rows), len(self.texts()), "words")
        if len(basis) < self.iterations * (len(self.classes.names) - 1):
            stop = (
                f"stopped after {len(basis)} directions: a further linear classifier does not beat "
                "predicting the largest class"
            )
            notes = (*notes, stop)
        return Steps((projection(basis),), notes)


def classifier_directions(rows: Matrix, labels: Integers, iterations: int) -> Matrix:
    """Return orthonormal directions of up to `iterations` classifiers, each trained after removing the earlier
    ones.
    """
    scaled = (rows - rows.mean(axis=0)) / np.linalg.norm(rows, axis=1).mean()
    basis = np.zeros((0, rows.shape[1]))
    largest = np.bincount(labels).max() / len(labels)
    for _ in range(iterations):
        left = scaled - (scaled @ basis.T) @ basis
        weights, intercepts = logistic_weights(left, labels, PENALTY)
        if ((left @ weights.T + intercepts).argmax(axis=1) == labels).mean() <= largest:
            break
        weights = weights - (weights @ basis.T) @ basis
        _, singular, directions = np.linalg.svd(weights, full_matrices=False)
        new = directions[singular > max(ROUNDING * singular[0], ROUNDING)]
        if not len(new) or len(basis) + len(new) >= rows.shape[1]:
            break
        basis = np.linalg.qr(np.concatenate([basis, new]).T)[0].T
    return basis

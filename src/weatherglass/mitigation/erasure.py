"""Remove what separates classes of words: the difference of their means, INLP and LEACE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.mitigation.base import Step, Steps, projection
from weatherglass.mitigation.fitting import (
    ROUNDING,
    OfClasses,
    labelled_rows,
    logistic_weights,
    nothing_left,
    partly_known,
    span,
)
from weatherglass.mitigation.lists import class_list, content_hash


@dataclass(frozen=True, slots=True)
class MeanDifference(OfClasses):
    """Remove the directions between the class means, after which all classes have the same mean."""

    @classmethod
    def from_spec(cls, spec: Spec) -> MeanDifference:
        """Read `mean-difference?classes=gender|SET,SET|FILE`."""
        options = spec.reader()
        source = options.text("classes", "gender")
        options.done()
        return cls(class_list(source))

    @property
    def name(self) -> str:
        return f"mean-difference?classes={self.classes.source}"

    def identity(self) -> str:
        return content_hash("mean-difference", self.classes.words)

    def fit(self, vectors: Matrix) -> Steps:
        rows, labels = labelled_rows(self.name, self.classes, vectors)
        means = np.array([rows[labels == number].mean(axis=0) for number in range(len(self.classes.names))])
        nothing_left(self.name, rows.shape[1], len(means) - 1)
        basis = span(self.name, means[1:] - means[0], len(means) - 1, "the means of the classes")
        return Steps((projection(basis),), partly_known(len(rows), len(self.texts()), "words"))


PENALTY = 1e-3
"""The penalty of the classifier, for vectors scaled to a mean length of 1."""


@dataclass(frozen=True, slots=True)
class Inlp(OfClasses):
    """A transform that removes the directions of successive linear classifiers of the classes (Ravfogel et al. 2020).

    The weights of each classifier are orthonormalised against the earlier ones. All of them are projected out
    together, which is the projection onto the intersection of the nullspaces (algorithm 1 of the paper).
    """

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


SMALLEST = 0.01
"""The singular value of W Σ_xz below which it counts as 0; `svd_tol` in the package concept-erasure."""


@dataclass(frozen=True, slots=True)
class Leace(OfClasses):
    """The smallest change after which no linear classifier can predict the classes (Belrose et al. 2023).

    Theorem 4.3: r(x) = x − W⁺ P W (x − μ), where W is the inverse square root of Σ_xx and P is the orthogonal
    projection onto the columns of W Σ_xz. Σ_xx may be shrunk towards a multiple of the identity (Bodnar et al. 2014),
    as the package concept-erasure does.
    """

    shrinkage: bool = True

    @classmethod
    def from_spec(cls, spec: Spec) -> Leace:
        """Read `leace?classes=gender|SET,SET|FILE&shrinkage=yes|no`."""
        options = spec.reader()
        source, shrinkage = options.text("classes", "gender"), options.flag("shrinkage", True)
        options.done()
        return cls(class_list(source), shrinkage)

    @property
    def name(self) -> str:
        return f"leace?classes={self.classes.source}&shrinkage={'yes' if self.shrinkage else 'no'}"

    def identity(self) -> str:
        return content_hash("leace", self.shrinkage, self.classes.words)

    def fit(self, vectors: Matrix) -> Steps:
        rows, labels = labelled_rows(self.name, self.classes, vectors)
        one_hot = np.eye(len(self.classes.names))[labels]
        step = erasure(rows, one_hot, self.shrinkage)
        if not step.rank:
            raise EncoderError(
                f"{self.name}: the classes have the same mean vector, so there is nothing to erase"
            )
        nothing_left(self.name, rows.shape[1], step.rank)
        return Steps((step,), partly_known(len(rows), len(self.texts()), "words"))


def erasure(rows: Matrix, labels: Matrix, shrinkage: bool) -> Step:
    """Return the eraser for rows and their labels, one column per class."""
    n, width = rows.shape
    mean = rows.mean(axis=0)
    centred, label_part = rows - mean, labels - labels.mean(axis=0)
    covariance = shrunk(centred.T @ centred / n, n) if shrinkage else centred.T @ centred / (n - 1)
    values, axes = np.linalg.eigh(covariance)
    positive = values > values[-1] * width * np.finfo(np.float64).eps
    root = np.sqrt(np.where(positive, values, 1.0))
    whiten = (axes * np.where(positive, 1 / root, 0.0)) @ axes.T
    colour = (axes * np.where(positive, root, 0.0)) @ axes.T
    directions, singular, _ = np.linalg.svd(whiten @ (centred.T @ label_part / (n - 1)), full_matrices=False)
    kept = directions[:, singular > SMALLEST]
    return Step(np.zeros(width), mean, whiten @ kept, (colour @ kept).T)


def shrunk(covariance: Matrix, n: int) -> Matrix:
    """Return α Σ + β I·tr(Σ)/width with the optimal α and β of Bodnar, Gupta & Parolya (2014) for n rows."""
    width = len(covariance)
    target = np.trace(covariance) / width * np.eye(width)
    size, target_size = (float((matrix**2).sum()) for matrix in (covariance, target))
    product = float((covariance * target).sum())
    spread = float(np.trace(covariance)) ** 2 / n
    determinant = size * target_size - product**2
    if determinant <= 0:  # already a multiple of the identity
        return covariance
    alpha = 1 - spread * target_size / determinant
    beta = product / target_size * (1 - alpha)
    return np.asarray(alpha * covariance + beta * target)

"""Apply LEACE, the smallest change after which no linear classifier separates the classes (Belrose et al. 2023).

Theorem 4.3: r(x) = x − W⁺ P W (x − μ), where W is the inverse square root of Σ_xx and P is the orthogonal projection
onto the columns of W Σ_xz. Σ_xx may be shrunk towards a multiple of the identity (Bodnar et al. 2014), as the package
concept-erasure does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.mitigation.base import Step, Steps
from weatherglass.mitigation.fitting import OfClasses, labelled_rows, nothing_left, partly_known
from weatherglass.mitigation.lists import class_list, content_hash

SMALLEST = 0.01
"""The singular value of W Σ_xz below which it counts as 0; `svd_tol` in the package concept-erasure."""


@dataclass(frozen=True, slots=True)
class Leace(OfClasses):
    """A transform that erases all information from which a linear classifier could predict the classes."""

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

"""LEACE: the least change after which no linear classifier tells the classes apart (Belrose et al. 2023, theorem 4.3).

r(x) = x − W⁺ P W (x − μ), W the inverse square root of Σ_xx and P the orthogonal projection on the columns of W Σ_xz.
Closed form; Σ_xx may be shrunk towards a multiple of the identity (Bodnar et al. 2014), as concept-erasure does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.mitigation.change import Step, Steps
from weatherglass.mitigation.fitting import labelled_rows, nothing_left, partly_known
from weatherglass.mitigation.lists import class_list, content_hash
from weatherglass.mitigation.of_classes import OfClasses

SMALLEST = 0.01
"""Singular values of W Σ_xz below this are no signal; the package's `svd_tol`."""


@dataclass(frozen=True, slots=True)
class Leace(OfClasses):
    """Erases what a linear classifier could read of the classes of its list."""

    shrinkage: bool = True

    @classmethod
    def from_spec(cls, spec: Spec) -> Leace:
        """`leace?classes=gender|SET,SET|FILE&shrinkage=yes|no`.

        Raises:
            SpecError: if a file cannot be read or used, or an option is wrong.
        """
        options = spec.reader()
        source, shrinkage = options.text("classes", "gender"), options.flag("shrinkage", True)
        options.done()
        return cls(class_list(source), shrinkage)

    @property
    def name(self) -> str:
        """With its list."""
        return f"leace?classes={self.classes.source}&shrinkage={'yes' if self.shrinkage else 'no'}"

    def identity(self) -> str:
        """A hash of the words by class, and of the shrinkage."""
        return content_hash("leace", self.shrinkage, self.classes.words)

    def fit(self, vectors: Matrix) -> Steps:
        """From the covariances of vectors and classes."""
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
    """The eraser for rows and their labels, one column a class."""
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
    """α Σ + β I·tr(Σ)/width with the optimal α, β of Bodnar, Gupta & Parolya (2014), for n rows."""
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

"""Remove the direction between the mean vectors of classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec
from weatherglass.mitigation.base import Steps, projection
from weatherglass.mitigation.fitting import OfClasses, labelled_rows, nothing_left, partly_known, span
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

"""The raw measures m(w, a) of one test, in an order that depends on content alone, and the samples made of them.

By words, the sentences of an attribute word are averaged first, so that every attribute word counts once; then each
target sentence is scored, and a target word's score is the mean over its sentences (docs/methods 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.catalogue.test import Element
from weatherglass.inference.bootstrap import Sample
from weatherglass.metrics.sets import VectorSet, order_by_content
from weatherglass.metrics.units import mean_by_unit, unit_numbers
from weatherglass.metrics.weat.covariance import Covariance
from weatherglass.metrics.weat.measure import SIMILARITIES, STATISTICS, Measure
from weatherglass.metrics.weat.score import raw_measures


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """m(w, a) and m(w, b) of every element of X and Y (rows) with every element of A and B (columns)."""

    to_a: Matrix
    to_b: Matrix
    elements: tuple[tuple[Element, ...], ...]
    """Of X, Y, A and B, in the order of rows and columns."""
    orders: tuple[Integers, ...]
    """The place of each of these elements in the set as it was given."""

    def without_template(self, template: str) -> Tables | None:
        """What is left of all sets without the sentences of one template; None where a set would be empty."""
        keep = [np.array([e.template != template for e in elements]) for elements in self.elements]
        if not all(kept.any() for kept in keep):
            return None
        rows = np.concatenate(keep[:2])
        return Tables(
            self.to_a[rows][:, keep[2]],
            self.to_b[rows][:, keep[3]],
            tuple(
                tuple(compress(elements, mask.tolist()))
                for elements, mask in zip(self.elements, keep, strict=True)
            ),
            (),
        )

    def templates(self) -> list[str]:
        """The sentence templates that occur, in the order of the elements."""
        templates = (e.template for elements in self.elements for e in elements if e.template is not None)
        return list(dict.fromkeys(templates))


@dataclass(frozen=True, slots=True, eq=False)
class NamedSample:
    """A sample with the names of its units."""

    sample: Sample
    statistic: str
    units: tuple[tuple[str, ...], ...]
    """The units of X, Y, A and B: words, or the texts of elements."""
    templates: Matrix | None
    """s(w, t), words down and templates across, where all words of X and Y stand in the same templates once each."""

    @property
    def n_x(self) -> int:
        """Units of X."""
        return len(self.units[0])


def tables_of(
    sets: Sequence[VectorSet], similarity: str, covariances: tuple[Covariance, Covariance] | None
) -> Tables:
    """The raw measures of the four sets."""
    orders = tuple(order_by_content(element_set.vectors) for element_set in sets)
    x, y, a, b = (s.vectors[order] for s, order in zip(sets, orders, strict=True))
    to_a, to_b = raw_measures(np.concatenate([x, y]), a, b, SIMILARITIES.get(similarity), covariances)
    elements = tuple(tuple(s.elements[i] for i in order) for s, order in zip(sets, orders, strict=True))
    return Tables(to_a, to_b, elements, orders)


def named_sample(
    tables: Tables, measure: Measure, permute: str, ddof: int, *, by_template: bool = True
) -> NamedSample:
    """What is resampled and left out: by elements each sentence is a unit, by words all sentences of a word.

    With by_template=False the scores of each word in each template are left out, which a single effect does not need.
    """
    similarity, statistic = SIMILARITIES.get(measure.similarity), STATISTICS.get(measure.statistic)
    names = [
        [e.word for e in elements] if permute == "words" else _distinct_texts(elements)
        for elements in tables.elements
    ]
    units = [unit_numbers(set_names) for set_names in names]
    to_a, to_b = (
        mean_by_unit(table.T, numbers).T
        for table, numbers in zip((tables.to_a, tables.to_b), units[2:], strict=True)
    )
    attribute_units = (np.arange(to_a.shape[1]), np.arange(to_b.shape[1]))
    sample = Sample(
        to_a, to_b, similarity.orientation, statistic, (units[0], units[1], *attribute_units), ddof
    )
    return NamedSample(
        sample,
        measure.statistic,
        tuple(tuple(dict.fromkeys(set_names)) for set_names in names),
        _template_scores(sample, tables) if by_template and permute == "words" else None,
    )


def element_scores(sample: Sample) -> Vector:
    """s(w, A, B) of every element of X and then of Y."""
    to_a, to_b = (np.sort(table, axis=1) for table in (sample.to_a, sample.to_b))
    return sample.statistic.association(to_a, to_b, sample.orientation)


def unit_scores(sample: Sample) -> Vector:
    """The score of every unit of X and then of Y: the mean over its elements."""
    x, y = sample.units[:2]
    return mean_by_unit(element_scores(sample), np.concatenate([x, x.max() + 1 + y]))


def _template_scores(sample: Sample, tables: Tables) -> Matrix | None:
    targets = (*tables.elements[0], *tables.elements[1])
    templates = list(dict.fromkeys(e.template for e in targets))
    x, y = sample.units[:2]
    words = np.concatenate([x, x.max() + 1 + y])
    number = int(words.max()) + 1
    if None in templates or len(targets) != number * len(templates):
        return None
    place = {template: column for column, template in enumerate(templates)}
    scores = np.full((number, len(templates)), np.nan)
    for word, element, score in zip(words, targets, element_scores(sample), strict=True):
        scores[word, place[element.template]] = score
    return None if np.isnan(scores).any() else scores


def _distinct_texts(elements: Sequence[Element]) -> list[str]:
    """Names that tell elements apart, also where a text stands twice in a set."""
    seen: dict[str, int] = {}
    names = []
    for element in elements:
        seen[element.text] = seen.get(element.text, 0) + 1
        again = seen[element.text]
        names.append(element.text if again == 1 else f"{element.text} ({again})")
    return names

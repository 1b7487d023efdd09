"""Tabulate the raw measures m(w, a) of one test, in an order that depends only on content, and resample them.

If words are exchanged, the sentences of an attribute word are averaged first, so that every attribute word counts once.
Then each target sentence is scored, and the score of a target word is the mean over its sentences (docs/methods 10).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.catalogue.test import Element
from weatherglass.metrics.sets import (
    VectorSet,
    mean_by_unit,
    order_by_content,
    row_keys,
    unit_names,
    unit_numbers,
)
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS, Association
from weatherglass.metrics.weat.covariance import Covariance
from weatherglass.metrics.weat.scores import views
from weatherglass.stats.bootstrap import Sample
from weatherglass.stats.topic import AttributeTables


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """m(w, a) and m(w, b) of every element of X and Y (rows) with every element of A and B (columns)."""

    to_a: Matrix
    to_b: Matrix
    elements: tuple[tuple[Element, ...], ...]
    """The elements of X, Y, A and B, in the order of rows and columns."""
    given: Integers
    """The row of each element of X and then of Y, in the order in which the sets were given."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedSample:
    """A sample with the names of its units."""

    sample: Sample
    statistic: str
    units: tuple[tuple[str, ...], ...]
    """The units of X, Y, A and B: words, or the texts of elements."""
    templates: Matrix | None
    """s(w, t), word × template, if all target words occur once in each of the same templates; else None."""
    rows: Integers
    """The unit of each element of X, then of each element of Y."""
    n_x: int
    """The number of units of X."""
    columns: tuple[Integers, Integers]
    """The unit of each element of A, and of each element of B."""
    of_contexts: Vector | None = None
    """The variance of each target unit's score due to the sample of its contexts; None if contexts are fixed."""


def tables_of(
    sets: Sequence[VectorSet], similarity: str, covariances: tuple[Covariance, Covariance] | None
) -> Tables:
    """Return the raw measures of the four sets.

    Each distinct target is measured once, and targets, A and B are sorted by content. In a matrix product, the last bit
    of a row may depend on its position; because of the sorting, neither the order of words nor a swap of X and Y
    matters.
    """
    orders = tuple(order_by_content(element_set.vectors) for element_set in sets)
    x, y, a, b = (s.vectors[order] for s, order in zip(sets, orders, strict=True))
    targets = np.concatenate([x, y])
    _, first, place = np.unique(row_keys(targets), return_index=True, return_inverse=True)
    measure = SIMILARITIES.get(similarity)
    seen_from_a, seen_from_b = views(targets[first], a, b, measure, covariances)
    to_a, to_b = measure.between(*seen_from_a)[place], measure.between(*seen_from_b)[place]
    elements = tuple(tuple(s.elements[i] for i in order) for s, order in zip(sets, orders, strict=True))
    given = np.concatenate([np.argsort(orders[0]), len(x) + np.argsort(orders[1])])
    return Tables(to_a, to_b, elements, given)


def named_sample(tables: Tables, association: Association, permute: str, ddof: int) -> NamedSample:
    """Return the units to resample and leave out: single sentences or, if words are exchanged, words."""
    names = [unit_names(elements, permute) for elements in tables.elements]
    units = [unit_numbers(set_names) for set_names in names]
    n_x = int(units[0].max()) + 1
    rows = np.concatenate([units[0], n_x + units[1]])
    similarity, statistic = SIMILARITIES.get(association.similarity), STATISTICS.get(association.statistic)
    to_a, to_b = mean_by_unit(tables.to_a.T, units[2]).T, mean_by_unit(tables.to_b.T, units[3]).T
    attribute_units = (np.arange(to_a.shape[1]), np.arange(to_b.shape[1]))
    sample = Sample(
        to_a, to_b, similarity.orientation, statistic, (units[0], units[1], *attribute_units), ddof
    )
    return NamedSample(
        sample,
        association.statistic,
        tuple(tuple(dict.fromkeys(set_names)) for set_names in names),
        # A word that appears once has no scores to compare between templates.
        _template_scores(sample, rows, tables) if permute == "words" and rows.max() + 1 < len(rows) else None,
        rows,
        n_x,
        (units[2], units[3]),
    )


def attribute_tables(
    named: NamedSample, x_words: Sequence[str], y_words: Sequence[str]
) -> AttributeTables | None:
    """Return the mean measures between target words and attribute words; larger means closer.

    Return None for statistics other than the mean, whose scores cannot be computed from mean measures.

    Args:
        named: a sample by words.
        x_words: the words of X in the order of the rows.
        y_words: the words of Y in the order of the rows.
    """
    if named.statistic != "mean":
        return None
    sample = named.sample
    place = {("X", word): row for row, word in enumerate(named.units[0])}
    place |= {("Y", word): named.n_x + row for row, word in enumerate(named.units[1])}
    order = [place["X", word] for word in x_words] + [place["Y", word] for word in y_words]
    to_a, to_b = (
        sample.orientation * mean_by_unit(table, named.rows)[order] for table in (sample.to_a, sample.to_b)
    )
    return AttributeTables(to_a, to_b, named.units[2], named.units[3])


def scores_without_templates(tables: Tables, named: NamedSample) -> Iterator[tuple[str, Vector, Vector]]:
    """Yield the scores of the units of X and of Y without the sentences of each template in turn.

    A template is skipped if it is the only one, or a set would be empty without its sentences.

    Args:
        tables: the measures of all sentences.
        named: the result of `named_sample`.
    """
    names = list(dict.fromkeys(e.template for elements in tables.elements for e in elements))
    in_templates = [name for name in names if name is not None]
    if len(in_templates) < 2:
        return
    number = {template: place for place, template in enumerate(names)}
    templates = [np.array([number[e.template] for e in elements]) for elements in tables.elements]
    sample, (a_units, b_units) = named.sample, named.columns
    x_units, y_units = sample.units[:2]
    for template in in_templates:
        gone = [of_set == number[template] for of_set in templates]
        if any(of_set.all() for of_set in gone):
            continue
        x, y, rows = x_units[~gone[0]], y_units[~gone[1]], ~np.concatenate(gone[:2])
        without = replace(
            sample,
            to_a=_means_without(sample.to_a[rows], tables.to_a[rows], a_units, gone[2]),
            to_b=_means_without(sample.to_b[rows], tables.to_b[rows], b_units, gone[3]),
            units=(_without_gaps(x), _without_gaps(y), *sample.units[2:]),
        )
        scores = unit_scores(without)
        n_x = int(without.units[0].max()) + 1
        yield template, scores[:n_x], scores[n_x:]


def _means_without(means: Matrix, table: Matrix, units: Integers, gone: NDArray[np.bool_]) -> Matrix:
    """Return the means over units of columns without some columns v, as m − Σ(v − m)/(number of remaining columns).

    Args:
        means: the means of each row over the columns of each unit.
        table: all columns.
        units: the unit of each column.
        gone: which columns are left out; a unit without remaining columns is left out.
    """
    without = units[gone]
    left = np.bincount(units) - np.bincount(without, minlength=means.shape[1])
    deviations = np.zeros_like(means.T)
    np.add.at(deviations, without, table[:, gone].T - means.T[without])
    stay = left > 0
    return np.asarray(means[:, stay] - deviations.T[:, stay] / left[stay])


def _without_gaps(units: Integers) -> Integers:
    """Return the numbers of the units, renumbered from 0 without gaps."""
    there = np.bincount(units) > 0
    return np.asarray((np.cumsum(there) - 1)[units])


def element_scores(sample: Sample) -> Vector:
    """Return s(w, A, B) of every element of X and then of Y."""
    to_a, to_b = (np.sort(table, axis=1) for table in (sample.to_a, sample.to_b))
    return sample.statistic.association(to_a, to_b, sample.orientation)


def unit_scores(sample: Sample) -> Vector:
    """Return the score of every unit of X and then of Y, which is the mean over its elements."""
    x, y = sample.units[:2]
    return mean_by_unit(element_scores(sample), np.concatenate([x, x.max() + 1 + y]))


def _template_scores(sample: Sample, words: Integers, tables: Tables) -> Matrix | None:
    targets = (*tables.elements[0], *tables.elements[1])
    templates = list(dict.fromkeys(e.template for e in targets))
    number = int(words.max()) + 1
    if None in templates or len(targets) != number * len(templates):
        return None
    place = {template: column for column, template in enumerate(templates)}
    scores = np.full((number, len(templates)), np.nan)
    for word, element, score in zip(words, targets, element_scores(sample), strict=True):
        scores[word, place[element.template]] = score
    return None if np.isnan(scores).any() else scores

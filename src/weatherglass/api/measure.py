"""`weatherglass.measure`: one metric on given sets, of vectors or of words that a model encodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from weatherglass.audit.encode import encode_texts
from weatherglass.audit.evaluate import evaluate_sets
from weatherglass.audit.plan import PlannedModel
from weatherglass.audit.profile import chosen_settings
from weatherglass.audit.results import Result
from weatherglass.audit.settings import Settings
from weatherglass.catalogue.test import Element, set_roles
from weatherglass.encoders.in_memory import one_model_in
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.metrics import select_metrics
from weatherglass.metrics.base import Metric
from weatherglass.metrics.sets import VectorSet, matrix
from weatherglass.metrics.weat.measure import Measure
from weatherglass.parallel import backend
from weatherglass.progress import Silent
from weatherglass.registry import wrong_type


def measure(
    metric: str | Measure | Metric,
    targets: Sequence[ArrayLike | Sequence[str]],
    attributes: Sequence[ArrayLike | Sequence[str]],
    model: Any = None,
    settings: Settings | None = None,
    **changes: Any,
) -> Result:
    """Measure given sets with one metric.

    Unlike `run`, which takes a test apart for a metric that takes fewer sets, this is strict: what is given is what is
    measured.

    Args:
        metric: its spelling, such as "mac" or "rnd(normalise=yes)"; see `weatherglass metrics`.
        targets: the target sets, each a matrix with one row per word, or, with a model, a list of words.
        attributes: the attribute sets, likewise.
        model: what encodes the words: a spec, or an object in memory (see `weatherglass.model`).
        settings: how to test; see `Settings`.
        changes: fields of the settings by name, such as alternative="greater".

    Returns:
        A Result: the Estimate (`value`, `unbiased`, `scores`) with p, interval and leave-one-out.

    Raises:
        WeatherglassError: for a wrong number of sets, naming the shape that the metric takes, or a word that the model
            does not know.

    Example:
        >>> east, north = [[1.0, 0.0], [0.9, 0.1]], [[0.0, 1.0], [0.1, 0.9]]
        >>> round(measure("mac", targets=[east], attributes=[north]).value, 3)
        0.89
    """
    metrics = select_metrics([metric])
    if len(metrics) != 1:
        raise WeatherglassError(f"'{metric}' stands for {len(metrics)} metrics; name one of them")
    chosen = chosen_settings(settings, changes, measure)
    for name, sets in (("targets", targets), ("attributes", attributes)):
        if isinstance(sets, str | bytes | Mapping) or not hasattr(sets, "__len__"):
            raise wrong_type(name, "a list of sets", sets)
    roles = set_roles(len(targets), len(attributes))
    if not metrics[0].info.shape.fits(len(targets), len(attributes)):
        raise UnitError(
            f"{metrics[0].name} takes {metrics[0].info.shape}; {len(targets)} and {len(attributes)} are given"
        )
    given = (*targets, *attributes)
    measured = _encoded(roles, given, model) if model is not None else _as_given(roles, given)
    result = evaluate_sets(measured, metrics[0], chosen)
    return replace(result, sets=" ".join(roles), categories=roles)


def _as_given(roles: Sequence[str], given: Sequence[Any]) -> list[VectorSet]:
    if any(map(_has_words, given)):
        raise WeatherglassError("words are given, but no model that encodes them; add model=SPEC")
    matrices = [matrix(role, rows) for role, rows in zip(roles, given, strict=True)]
    return [
        VectorSet(
            role, rows, tuple(Element(name, name) for name in (f"{role}[{n}]" for n in range(len(rows))))
        )
        for role, rows in zip(roles, matrices, strict=True)
    ]


def _has_words(given: object) -> bool:
    return isinstance(given, str) or (
        isinstance(given, list | tuple) and any(isinstance(each, str) for each in given)
    )


def _encoded(roles: Sequence[str], given: Sequence[Any], model: Any) -> list[VectorSet]:
    for role, words in zip(roles, given, strict=True):
        listed = isinstance(words, Collection) and not isinstance(words, str)
        if not listed or not all(isinstance(word, str) for word in words):
            raise WeatherglassError(f"{role} should be a list of words, since a model is given")
    found = PlannedModel.of(one_model_in(model))
    texts = [word for words in given for word in words]
    encodings = encode_texts(found.encoder, [*texts, *found.texts()], backend(1, None, None), Silent())
    unknown = list(dict.fromkeys(text for text in texts if not encodings.known(text)))
    if unknown:
        raise UnitError(f"{found.name} does not know {', '.join(map(repr, unknown[:5]))}; leave them out")
    vectors = encodings.transformed(found.transforms)
    return [
        VectorSet(role, vectors.vectors[[vectors.row[w] for w in words]], tuple(Element(w, w) for w in words))
        for role, words in zip(roles, given, strict=True)
    ]

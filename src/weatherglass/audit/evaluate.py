"""Evaluate metrics on vectors: the value, p, intervals and leave-one-out, as a Result (docs/methods 1 to 3)."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from weatherglass.arrays import Matrix
from weatherglass.audit.covariances import Pair
from weatherglass.audit.encode import encode_texts
from weatherglass.audit.judge import is_small, power_fields
from weatherglass.audit.known_sets import KnownSet, MissingWords, TargetTexts
from weatherglass.audit.plan import PartOfTest, PlannedModel
from weatherglass.audit.registrations import Registration
from weatherglass.audit.results import NO_P, Result, finite, plain_value
from weatherglass.audit.settings import Settings, check_profile, chosen_settings
from weatherglass.catalogue.test import Element, Test, set_roles
from weatherglass.encoders.base import Input
from weatherglass.encoders.in_memory import one_model_in
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.metrics import DEFAULT_METRIC, select_metrics
from weatherglass.metrics.base import ByElements, Context, Estimate, Metric
from weatherglass.metrics.exchange import PValueOptions, Tested
from weatherglass.metrics.sets import VectorSet, check, matrix
from weatherglass.metrics.weat.metric import under_profile
from weatherglass.metrics.weat.profiles import profile_of
from weatherglass.parallel import backend
from weatherglass.progress import Silent
from weatherglass.registry import wrong_type
from weatherglass.stats import Significance
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    from weatherglass.metrics.weat.association import Association
    from weatherglass.metrics.weat.covariance import Covariance


def associate(
    X: ArrayLike,
    Y: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    measure: str | Association | Metric = DEFAULT_METRIC,
    settings: Settings | None = None,
    **changes: Any,
) -> Result:
    """Test whether X is closer to A, and Y to B, than under random relabelling.

    Args:
        X: target vectors, one row each; Y, A and B likewise. Equal rows are allowed, and X and Y may differ in size.
        measure: `similarity/statistic`, such as "cosine/mean", or a metric that takes four sets.
        settings: the settings of the test; see `Settings`.
        changes: fields of the settings by name, such as alternative="two-sided" or trust="all".

    Returns:
        A Result without model or test name, with the scores of every row.

    Example:
        >>> import numpy as np
        >>> X, Y = np.array([[1.0, 0.1], [1.0, 0.2]]), np.array([[0.1, 1.0], [0.3, 1.0]])
        >>> result = associate(X, Y, A=[[1.0, 0.0]], B=[[0.0, 1.0]])
        >>> round(result.effect_size, 3), round(result.p_value, 3), result.p_method
        (1.722, 0.333, 'enumerate')
    """
    chosen = chosen_settings(settings, changes, associate)
    metrics = select_metrics([measure])
    if chosen.profile:
        metrics = under_profile(metrics, chosen.profile)
    if len(metrics) != 1:
        raise UnitError(f"measure '{measure}' matches {len(metrics)} metrics; choose one of them")
    if not metrics[0].info.shape.fits(2, 2):
        raise UnitError(f"{metrics[0].name} takes {metrics[0].info.shape}; but associate takes 2 of each")
    if profile := getattr(metrics[0], "profile", ""):
        check_profile(profile_of(profile), chosen)
    rows = [(role, matrix(role, given)) for role, given in zip("XYAB", (X, Y, A, B), strict=True)]
    sets = [VectorSet(role, vectors, _row_names(role, len(vectors))) for role, vectors in rows]
    return evaluate_sets(sets, metrics[0], chosen)


def evaluate_sets(sets: Sequence[VectorSet], metric: Metric, settings: Settings) -> Result:
    """Evaluate one metric on given sets, without a model or a test."""
    check(sets)
    covariances = _covariances(sets, settings.covariance) if metric.info.covariances else None
    result = next(evaluate(sets, [metric], settings, covariances))
    return replace(result, small=is_small(result, settings.smallest))


def _row_names(role: str, number: int) -> tuple[Element, ...]:
    """Return an element per row, named X[0], X[1], …"""
    return tuple(Element(name, name) for name in (f"{role}[{row}]" for row in range(number)))


def _covariances(sets: Sequence[VectorSet], estimator: str) -> tuple[Covariance, Covariance]:
    """Return the covariances of A and B."""
    from weatherglass.metrics.weat.covariance import estimate_covariance

    _, _, a, b = sets
    return estimate_covariance(a.vectors, estimator), estimate_covariance(b.vectors, estimator)


def evaluate(
    sets: Sequence[VectorSet],
    metrics: Sequence[Metric],
    settings: Settings,
    covariances: tuple[Covariance, Covariance] | None = None,
    targets: TargetTexts | None = None,
) -> Iterator[Result]:
    """Yield one Result per metric; common parts of the metrics are computed once.

    Args:
        sets: the vectors.
        metrics: the metrics to compute. settings: the settings of the tests.
        covariances: the covariances of A and B, for metrics that need them.
        targets: how the model splits the texts of X and Y; None if this is unknown.
    """
    check(sets)
    started = time.perf_counter()
    context = Context(metrics, settings.permute, settings.ddof, covariances)
    for metric in metrics:
        estimate = metric.evaluate(sets, context)
        result = _result(metric, estimate, settings, targets)
        if covariances and metric.info.covariances:
            a, b = covariances
            result = replace(result, notes={**result.notes, "covariance": {"A": a.record(), "B": b.record()}})
        now = time.perf_counter()
        yield replace(result, seconds=round(now - started, 6))
        started = now


def _result(
    metric: Metric, estimate: Estimate, settings: Settings, targets: TargetTexts | None = None
) -> Result:
    """Return the estimate with p, intervals and leave-one-out, as far as its Null and Resample support them."""
    by_words = settings.permute == "words"
    fields: dict[str, Any] = {
        "metric": metric.name,
        "permute": settings.permute,
        "alternative": settings.alternative,
        "notes": {"details": plain_value(estimate.details)} if estimate.details else {},
        **{name: getattr(estimate, name) for name in ESTIMATED},
    }
    null = estimate.null
    if math.isnan(estimate.value) and math.isnan(estimate.test_statistic):
        return Result(**fields, **asdict(_no_test("the value is not defined")))
    options = PValueOptions(
        *(settings.significance, settings.budget, settings.precision, settings.seed),
        decisive_only=settings.trust == "decisive",
    )
    if null is None:
        result = Result(**fields, **asdict(_no_test("no exchange leaves its value as it is without bias")))
    else:
        units_x, units_y = null.units
        elements = estimate.by_elements
        info = metric.info
        contrasts_targets = info.exchanges == "targets" and info.contrasts in ("targets", "both")
        confounding = targets.confounding if targets and by_words and contrasts_targets else None
        fields |= {
            "alternative": null.tail(settings.alternative),
            "units_x": units_x,
            "units_y": units_y,
            "pieces": targets.pieces if targets and by_words and metric.info.from_scores else None,
        }
        if confounding and targets:
            if elements is None and units_x + units_y == sum(estimate.target_sizes):
                elements = ByElements(estimate.value, null)  # every word is one text
            return Result(
                **fields,
                **asdict(_no_test(MEASURED_ONLY)),
                p_elements=elements.null.test(settings.alternative, options).p_value if elements else None,
                effect_size_elements=finite(elements.value) if elements else None,
                not_tested=targets.why_not_tested,
                expected_level=confounding.level,
            )
        result = Result(
            **fields,
            **asdict(null.test(settings.alternative, options)),
            p_elements=elements.null.test(settings.alternative, options).p_value if elements else None,
            effect_size_elements=finite(elements.value) if elements else None,
        )
    resampled = settings.trust in ("all", "decisive") or (
        settings.trust == "mean" and metric.info.cheap_to_resample
    )
    if estimate.resample is None or not resampled:
        return result
    found = estimate.resample.assess(
        Tested(
            *(estimate.value, estimate.unbiased, null, result.p_value, settings.alternative),
            *(options, settings.alpha, settings.ci),
        )
    )
    low, high = found.interval or (None, None)
    random_low, random_high = found.interval_random or (None, None)
    return replace(
        result,
        ci_low=low,
        ci_high=high,
        tables=found.tables.stored() if found.tables and by_words else None,
        p_random=found.p_random,
        effect_size_random=found.value_random,
        ci_random_low=random_low,
        ci_random_high=random_high,
        score_reliability=found.score_reliability,
        robustness=found.robustness,
        warnings=(*result.warnings, *found.warnings),
        **power_fields(result, settings.alpha),
    )


ESTIMATED = (
    *("info", "value", "signed_value", "test_statistic", "ddof"),
    *("target_sizes", "attribute_sizes", "scores"),
)
"""Fields that a result copies from its estimate."""


MEASURED_ONLY = "measured, not tested"


def _no_test(reason: str) -> Significance:
    return Significance(math.nan, None, None, f"{NO_P}{reason}", math.nan, False, math.nan)


@dataclass(frozen=True, slots=True)
class Job:
    """One test on one model; its vectors are rows of the array that all jobs share."""

    model: str
    options: str
    test: Test
    part: PartOfTest
    """The measured sets of the test."""
    sets: list[KnownSet]
    missing: MissingWords
    warnings: tuple[Warning, ...]
    metrics: list[Metric]
    settings: Settings
    covariances: Pair | None = None
    registrations: tuple[Registration, ...] = ()
    """Values that the process must register before it computes the job."""
    seen: tuple[str, ...] = ()
    """Words of the test that the model's transforms were fitted on."""
    targets: TargetTexts | None = None
    """Facts about how the model splits the texts of X and Y; None unless both are measured."""
    contexts: Mapping[str, WordRows] = field(default_factory=dict)
    """By text, the rows of its contexts among the vectors, and the contexts; empty without contexts."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Further notes of the results."""


@dataclass(frozen=True, slots=True)
class WordRows:
    """The contexts of one word that the model has read."""

    rows: list[int]
    read: list[Input]


def with_lines(notes: Mapping[str, Any], job: Job) -> Mapping[str, Any]:
    """Return notes with the contexts that change d most as concordance lines, in place of their numbers."""
    described = notes.get("details", {}).get("contexts")
    if not described:
        return notes
    lines = []
    for known in job.sets:
        for element, pulls in zip(known.elements, described["pulls"].get(known.role, []), strict=False):
            for place, change in pulls:
                asked = job.contexts[element.text].read[place]
                start, end = asked.span or (0, 0)
                text = asked.text
                line = [text[max(0, start - WIDTH) : start], text[start:end], text[end : end + WIDTH]]
                lines.append({"role": known.role, "word": element.word, "change": change, "line": line})
    lines.sort(key=lambda line: -abs(line["change"]))
    used = {element.word: len(job.contexts[element.text].rows) for k in job.sets for element in k.elements}
    details = {name: value for name, value in notes["details"].items() if name != "contexts"}
    kept = {name: value for name, value in described.items() if name != "pulls"}
    return {
        **{name: value for name, value in notes.items() if name != "details"},
        **({"details": details} if details else {}),
        "contexts": {**kept, "used": used, "lines": lines},
    }


WIDTH = 60
"""Characters on each side of a word in a concordance line."""


def evaluate_job(job: Job, vectors: Matrix) -> list[Result]:
    """Return the results of one test on one model, one per metric.

    One BLAS thread is used, so that results do not depend on the number of threads.
    """
    from threadpoolctl import threadpool_limits

    for registration in job.registrations:
        registration.register()
    notes: dict[str, Any] = {}
    if job.missing.missing or job.missing.dropped or job.missing.notes:
        notes["oov"] = asdict(job.missing)
    if not job.part.whole:
        notes["part_of"] = list(job.test.shape)
    sets = [
        VectorSet(
            *(known.role, vectors[known.rows], known.elements, known.category, known.unknown),
            tuple(vectors[job.contexts[e.text].rows] for e in known.elements) if job.contexts else (),
        )
        for known in job.sets
    ]
    with threadpool_limits(1):
        return [
            replace(
                result,
                model=job.model,
                options=job.options,
                test=job.test.name,
                context=job.test.context,
                sets=job.part.sets,
                categories=tuple(known.category for known in job.sets),
                oov=", ".join(job.missing.words()) if notes else "",
                fitted_words=", ".join(job.seen),
                warnings=(*job.warnings, *result.warnings),
                notes={**notes, **job.notes, **with_lines(result.notes, job)},
            )
            for result in evaluate(sets, job.metrics, job.settings, job.covariances, job.targets)
        ]


def measure(
    metric: str | Association | Metric,
    targets: Sequence[ArrayLike | Sequence[str]],
    attributes: Sequence[ArrayLike | Sequence[str]],
    model: Any = None,
    settings: Settings | None = None,
    **changes: Any,
) -> Result:
    """Measure given sets with one metric.

    Unlike `run`, which splits a test for a metric that takes fewer sets, this function measures exactly the given
    sets.

    Args:
        metric: its spelling, such as "mac" or "rnd(normalise=yes)"; see `weatherglass metrics`.
        targets: the target sets, each a matrix with one row per word, or, with a model, a list of words.
        attributes: the attribute sets, likewise.
        model: what encodes the words: a spec, or an object in memory (see `weatherglass.model`).
        settings: the settings of the test; see `Settings`.
        changes: fields of the settings by name, such as alternative="greater".

    Returns:
        A Result: the Estimate (`value`, `unbiased`, `scores`) with p, interval and leave-one-out.

    Raises:
        WeatherglassError: if the number of sets does not fit the metric, or the model does not know a word; the
            message names the shape or the word.

    Example:
        >>> east, north = [[1.0, 0.0], [0.9, 0.1]], [[0.0, 1.0], [0.1, 0.9]]
        >>> round(measure("mac", targets=[east], attributes=[north]).value, 3)
        0.89
    """
    metrics = select_metrics([metric])
    if len(metrics) != 1:
        raise WeatherglassError(f"'{metric}' matches {len(metrics)} metrics; choose one of them")
    chosen = chosen_settings(settings, changes, measure)
    for name, sets in (("targets", targets), ("attributes", attributes)):
        if isinstance(sets, str | bytes | Mapping) or not hasattr(sets, "__len__"):
            raise wrong_type(name, "a list of sets", sets)
    roles = set_roles(len(targets), len(attributes))
    if not metrics[0].info.shape.fits(len(targets), len(attributes)):
        raise UnitError(
            f"{metrics[0].name} takes {metrics[0].info.shape}, but {len(targets)} and {len(attributes)} "
            "were given"
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
        raise UnitError(f"{found.name} does not know {', '.join(map(repr, unknown[:5]))}; remove them")
    vectors = encodings.transformed(found.transforms)
    return [
        VectorSet(role, vectors.vectors[[vectors.row[w] for w in words]], tuple(Element(w, w) for w in words))
        for role, words in zip(roles, given, strict=True)
    ]

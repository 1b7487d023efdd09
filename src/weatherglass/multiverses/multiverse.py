"""Compute a multiverse of models and word lists, store each finished part at once, and draw its conclusions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.audit.encode import Encodings
from weatherglass.audit.registrations import Registration
from weatherglass.catalogue.test import CORPUS
from weatherglass.errors import ClusterError, OutputError, WeatherglassError, reason
from weatherglass.metrics.sets import mean_by_unit, unit_numbers
from weatherglass.metrics.weat.scores import cosine
from weatherglass.multiverses.choices import Choices, ModelViews, Setting, WordList
from weatherglass.multiverses.contexts import CONTEXT_CHOICES, without_idle_choices
from weatherglass.multiverses.specifications import (
    Known,
    ListJob,
    Scored,
    assess,
    conclusion,
    known_words,
    list_jobs,
    same_sign,
    scored_specifications,
)
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.stats.multiplicity import adjust, adjust_groups
from weatherglass.stats.multiverse import Decomposition, combine, halves
from weatherglass.stats.ranking import generalisability
from weatherglass.storage.journal import Journal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KEY_VERSION = 3
"""The version of the computation; it is increased when a change of the code changes numbers or names."""
SHARED_CHOICES = ("similarity", "statistic", "template", "list")
"""The choices that every model has; models are compared over these, and d is averaged over the others."""


@dataclass(slots=True, repr=False)
class Multiverse:
    """The results of a multiverse as plain values, with methods to show them.

    As in `Run`, the methods that show results import `report/show.py` when they are called.
    """

    topics: list[dict[str, Any]]
    """The entries, one per topic and model."""
    agreement: list[dict[str, Any]]
    """The agreement of specifications about the models, by word list."""
    failures: list[dict[str, str]]
    record: dict[str, Any] = field(default_factory=dict)
    """The record: choices, versions, command."""

    @property
    def alpha(self) -> float:
        """Return the significance level; if there is no record, the default of `Choices`."""
        return float(self.record.get("settings", {}).get("alpha", Choices().alpha))

    def to_json(self) -> dict[str, Any]:
        """Return the content of multiverse.json."""
        return {**self.record, "topics": self.topics, "agreement": self.agreement, "failures": self.failures}

    def __repr__(self) -> str:
        return f"<Multiverse: {self._title()}>"

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows, with one row per topic and model, below 50 kB."""
        from weatherglass.report import show

        return show.multiverse_html(self, self._title())

    def to_frame(self, library: str | None = None) -> Any:
        """Return a frame with one row per specification: its choices, d, interval and p.

        Args:
            library: "polars" or "pandas"; by default, the first of the two that is installed.
        """
        from weatherglass.report import show

        return show.multiverse_frame(self, library)

    def plot(self, topic: str | None = None, model: str | None = None) -> Axes:
        """Draw the specification curve of the first word list of a topic and model.

        Returns:
            The axes of the curve; `axes.figure.axes[1]` shows the choices.
        """
        from weatherglass.report import show

        return show.multiverse_plot(self, topic, model)

    def _title(self) -> str:
        number = sum(len(entry["specifications"]) for entry in self.topics)
        failed = f"; {len(self.failures)} failed" if self.failures else ""
        pairs = "pair" if len(self.topics) == 1 else "pairs"
        return f"{number} specifications of {len(self.topics)} {pairs} of topic and model{failed}"


def run_multiverse(
    models: Sequence[ModelViews],
    lists: Sequence[WordList],
    choices: Choices,
    workers: Backend,
    progress: Progress,
    journal: Journal[dict[str, Any]] | None = None,
    registrations: tuple[Registration, ...] = (),
) -> Multiverse:
    """Compute the lists that the journal lacks; a list that fails on one model does not stop the others.

    Only this process writes to the journal, as soon as a list is finished in any process.
    """
    chosen = _first_lists(lists) if not choices.varies("list") else list(lists)
    finished = journal.finished if journal else {}
    blocks: list[dict[str, Any]] = []
    failures: list[dict[str, str]] = []
    for model in models:
        keys = {some.name: _key(model, some, choices) for some in chosen}
        missing = [some for some in chosen if keys[some.name] not in finished]
        fresh: dict[str, dict[str, Any]] = {}
        failed: dict[str, dict[str, str]] = {}
        # In a language model, the vector of a word depends on the attribute words of its list.
        for part in [[some] for some in missing] if choices.of_language_models else [missing]:
            try:
                views = _views(model, part, workers, progress)
            except (OutputError, ClusterError):
                raise
            except WeatherglassError as error:
                failed |= {some.name: _failure(model, some, error) for some in part}
                continue
            for some, outcome in _tested(model, part, views, choices, workers, progress, registrations):
                if isinstance(outcome, dict):
                    fresh[some.name] = outcome
                    if journal:
                        journal.add(keys[some.name], outcome)
                else:
                    failed[some.name] = _failure(model, some, outcome)
                progress.advance()
        failures += [failed[some.name] for some in missing if some.name in failed]
        blocks += [
            block for some in chosen if (block := fresh.get(some.name) or finished.get(keys[some.name]))
        ]
    if failures and not blocks:
        raise WeatherglassError(failures[0]["reason"])
    return Multiverse(_topics(blocks, choices.alpha), _agreement(blocks), failures)


def _views(
    model: ModelViews, lists: Sequence[WordList], workers: Backend, progress: Progress
) -> list[tuple[dict[str, str], Encodings]]:
    return list(model.of_lists(lists, workers, progress)) if lists else []


def _tested(
    model: ModelViews,
    lists: Sequence[WordList],
    views: list[tuple[dict[str, str], Encodings]],
    choices: Choices,
    workers: Backend,
    progress: Progress,
    registrations: tuple[Registration, ...],
) -> Iterator[tuple[WordList, dict[str, Any] | Exception]]:
    """Yield each list with its record, or with its error, as they finish."""
    from weatherglass.stats.permutation.kernels import prepare

    if not lists:
        return
    # Compile the kernels before other processes need them.
    prepare(lambda message: progress.stage(message, 1))
    progress.stage(f"testing {model.name}", len(lists))
    jobs, vectors = list_jobs(model.name, lists, views, choices, registrations)
    views.clear()  # the vectors are in one array now
    for outcome in workers.map(assess_list, jobs, vectors):
        error = outcome.error or WeatherglassError("the worker returned no result")
        yield outcome.unit.word_list, error if outcome.value is None else outcome.value


def _first_lists(lists: Sequence[WordList]) -> list[WordList]:
    first: dict[str, WordList] = {}
    for some in lists:
        first.setdefault(some.topic, some)
    return list(first.values())


def _failure(model: ModelViews, some: WordList, error: Exception) -> dict[str, str]:
    return {"model": model.name, "topic": some.topic, "list": some.name, "reason": reason(error)}


def _key(model: ModelViews, some: WordList, choices: Choices) -> str:
    """Return a hash of everything that the result of a list depends on."""
    views = [model.poolings, model.layers]
    tests = [test.fingerprint() for test in some.tests]
    parts = [KEY_VERSION, model.name, model.identity, views, some.topic, tests, asdict(choices)]
    if content := model.content_of(some):
        parts.append(content)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def assess_list(job: ListJob, vectors: Vector) -> dict[str, Any]:
    """Return the record of one word list on one model, in any process.

    BLAS uses one thread, so that results do not depend on the number of threads.
    """
    from threadpoolctl import threadpool_limits

    for registration in job.registrations:
        registration.register()
    some, choices, views = job.word_list, job.choices, job.encodings(vectors)
    in_contexts = any(test.context == CORPUS for test in some.tests)
    if in_contexts:
        views = without_idle_choices(views)
    known = known_words(some, [encodings for _, encodings in views])
    with threadpool_limits(1):
        scored = [
            Scored({**one.levels, **levels}, one.scores, one.attribute_variance, one.counted)
            for levels, encodings in views
            for one in scored_specifications(some, known, encodings, choices)
        ]
        record = assess(scored, known, choices)
        # Halves use the cosine, which log-probabilities do not have.
        halves_too = choices.varies("words") and not choices.of_language_models
        halved = _halves(some, known, views[0][1], choices) if halves_too else {}
    return {
        "model": job.model,
        "topic": some.topic,
        "list": some.name,
        "targets": some.targets,
        "tests": [test.name for test in some.tests],
        "left_out": [
            choice
            for choice in (CONTEXT_CHOICES if in_contexts else ())
            if choices.varies(choice) and choice not in record["choices"]
        ],
        **record,
        "halves": halved,
    }


def _halves(some: WordList, known: Known, encodings: Encodings, choices: Choices) -> dict[str, Any]:
    """Return d for random halves of the lists, with cosine and mean, in the first setting and view."""
    name, settings = next(iter(some.settings().items()))
    to_a, to_b = _cosines(next(iter(settings.values())), known, known.attributes[name], encodings)
    asked = {"targets": (True, False), "attributes": (False, True), "both": (True, True)}
    return {
        which: None
        if (found := halves(to_a, to_b, len(known.x), *pair, seed=choices.seed)) is None
        else asdict(found)
        for which, pair in asked.items()
    }


def _cosines(
    setting: Setting,
    known: Known,
    attribute_words: tuple[frozenset[str], frozenset[str]],
    encodings: Encodings,
) -> tuple[Any, Any]:
    """Return the cosines of target words with attribute words, averaged over sentences, in the order of the lists."""
    test = setting.test

    def rows(element_set: Any, wanted: Any, all_of: bool) -> tuple[Any, list[str]]:
        elements = [e for e in element_set.elements if e.word in wanted and (all_of or setting.has(e))]
        return encodings.vectors[[encodings.row[e.text] for e in elements]], [e.word for e in elements]

    parts = [rows(s, words, False) for s, words in zip(test.targets, (known.x, known.y), strict=True)]
    vectors = np.concatenate([part for part, _ in parts])
    words = [f"{side}{word}" for side, (_, some) in zip("XY", parts, strict=True) for word in some]
    tables = []
    for attributes, wanted in zip(test.attributes, attribute_words, strict=True):
        attribute_vectors, names = rows(attributes, wanted, True)
        by_word = mean_by_unit(cosine(vectors, attribute_vectors), unit_numbers(words))
        tables.append(mean_by_unit(by_word.T, unit_numbers(names)).T)
    return tables[0], tables[1]


def _topics(blocks: Sequence[dict[str, Any]], alpha: float) -> list[dict[str, Any]]:
    """Return one entry per model and topic; p is corrected over all topics of a model."""
    grouped: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for block in blocks:
        grouped.setdefault(block["model"], {}).setdefault(block["topic"], []).append(block)
    return [
        _topic(model, topic, lists)
        for model, topics in grouped.items()
        for topic, lists in zip(topics, _corrected(list(topics.values()), alpha), strict=True)
    ]


def _corrected(topics: Sequence[Sequence[dict[str, Any]]], alpha: float) -> list[list[dict[str, Any]]]:
    """Return the lists of every topic of one model with corrected p, and the conclusions drawn from them.

    Holm's method is applied within a topic over its lists, and between the topics, so that the probability of a false
    finding in any list is at most alpha.
    """
    n_tests = sum(map(len, topics))
    corrected = {
        name: adjust_groups([adjust([block[name] for block in lists], "holm") for lists in topics])
        for name in ("multiverse_p", "max_t_p")
    }
    found: list[list[dict[str, Any]]] = []
    for number, lists in enumerate(topics):
        found.append([])
        for place, block in enumerate(lists):
            p = {f"{name}_holm": float(each[number][place]) for name, each in corrected.items()}
            record = {**block, **p, "family": n_tests}
            found[-1].append({**record, "conclusion": conclusion(record, alpha)})
    return found


def _topic(model: str, topic: str, blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    adjusted = adjust([block["multiverse_p"] for block in blocks], "holm")
    smallest = adjust([block["max_t_p"] for block in blocks], "holm")
    specifications = [
        {"target_list": block["list"], **one} for block in blocks for one in block["specifications"]
    ]
    d = np.array([one["d"] or 0.0 for one in specifications if one["counted"]])
    parts = [Decomposition(**block["decomposition"]) for block in blocks]
    sizes = [block["specification_count"] for block in blocks]
    means = [
        float(np.mean([one["d"] or 0.0 for one in block["specifications"] if one["counted"]]))
        for block in blocks
    ]
    moved = parts[0] if len(parts) == 1 else combine(parts, sizes, means, "target list")
    significant = [block["share_significant"] * size for block, size in zip(blocks, sizes, strict=True)]
    return {
        "topic": topic,
        "model": model,
        "specification_count": len(d),
        "median_d": float(np.median(d)),
        "multiverse_p": float(adjusted.min()),
        "multiverse_p_holm": min(block["multiverse_p_holm"] for block in blocks),
        "max_t_p": float(smallest.min()),
        "max_t_p_holm": min(block["max_t_p_holm"] for block in blocks),
        "share_same_sign": same_sign(d),
        "share_significant": float(sum(significant) / len(d)),
        "decomposition": {**moved.to_json(), "shares": moved.shares()},
        "lists": [
            {key: value for key, value in block.items() if key != "specifications"} for block in blocks
        ],
        "specifications": specifications,
    }


def _agreement(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each word list with several models, whether other specifications would rank the models in the same
    order.
    """
    by_list: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for block in blocks:
        by_list.setdefault((block["topic"], block["list"]), []).append(block)
    found = []
    for (topic, name), some in by_list.items():
        tables = [_averaged(block) for block in some]
        shared = [key for key in tables[0] if all(key in table for table in tables)]
        coefficients = generalisability(np.array([[table[key] for key in shared] for table in tables]))
        if coefficients:
            models = [block["model"] for block in some]
            found.append(
                {"topic": topic, "list": name, "models": models, "coefficients": asdict(coefficients)}
            )
    return found


def _averaged(block: dict[str, Any]) -> dict[tuple[str, ...], float]:
    """Return d by the choices that all models have, averaged over the others."""
    cells: dict[tuple[str, ...], list[float]] = {}
    for one in block["specifications"]:
        if one["counted"]:
            cells.setdefault(tuple(one[choice] for choice in SHARED_CHOICES), []).append(one["d"] or 0.0)
    return {key: float(np.mean(values)) for key, values in cells.items()}

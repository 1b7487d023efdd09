"""A multiverse being carried out: models × word lists, each finished one kept at once, and what they say together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.audit.encode import Encodings
from weatherglass.audit.registrations import Registration
from weatherglass.errors import ClusterError, OutputError, WeatherglassError, reason
from weatherglass.inference.correction import adjust
from weatherglass.inference.decomposition import Decomposition, combine
from weatherglass.inference.generalisability import generalisability
from weatherglass.inference.halves import halves
from weatherglass.metrics.units import mean_by_unit, unit_numbers
from weatherglass.metrics.weat.similarity import cosine
from weatherglass.multiverses.assess import assess, halves_record, same_sign
from weatherglass.multiverses.knobs import Knobs
from weatherglass.multiverses.lists import Setting, WordList
from weatherglass.multiverses.models import ModelViews
from weatherglass.multiverses.scores import Known, Scored, known_words, scored_specifications
from weatherglass.multiverses.unit import ListUnit, list_units
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.storage.journal import Journal

KEY_VERSION = 1
"""Raised when a change of ours gives other numbers for the same input."""
SHARED_KNOBS = ("similarity", "statistic", "template", "list")
"""Knobs that every model has: models are compared over them, the others averaged."""


@dataclass(slots=True)
class Multiverse:
    """What a multiverse found: plain values, as they are stored and printed."""

    topics: list[dict[str, Any]]
    """One entry per topic and model."""
    agreement: list[dict[str, Any]]
    """Per word list: how far specifications agree about the models."""
    failures: list[dict[str, str]]
    record: dict[str, Any] = field(default_factory=dict)
    """Knobs, versions, command."""

    def to_json(self) -> dict[str, Any]:
        """For multiverse.json and --json."""
        return {**self.record, "topics": self.topics, "agreement": self.agreement, "failures": self.failures}


def carry_out(
    models: Sequence[ModelViews],
    lists: Sequence[WordList],
    knobs: Knobs,
    workers: Backend,
    progress: Progress,
    journal: Journal | None = None,
    registrations: tuple[Registration, ...] = (),
) -> Multiverse:
    """Compute what the journal lacks; one list that fails on one model stops no other.

    Only this process writes the journal, as soon as a list is finished, wherever it was computed.
    """
    chosen = _first_lists(lists) if not knobs.turns("list") else list(lists)
    finished = journal.finished if journal else {}
    blocks: list[dict[str, Any]] = []
    failures: list[dict[str, str]] = []
    for model in models:
        keys = {some.name: _key(model, some, knobs) for some in chosen}
        missing = [some for some in chosen if keys[some.name] not in finished]
        fresh: dict[str, dict[str, Any]] = {}
        try:
            views = _views(model, missing, workers, progress)
        except (OutputError, ClusterError):
            raise
        except WeatherglassError as error:
            failures += [_failure(model, some, error) for some in missing]
            continue
        failed: dict[str, dict[str, str]] = {}
        for some, outcome in _tested(model, missing, views, knobs, workers, progress, registrations):
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
    return Multiverse(_topics(blocks, knobs.alpha), _agreement(blocks), failures)


def _views(
    model: ModelViews, lists: Sequence[WordList], workers: Backend, progress: Progress
) -> list[tuple[dict[str, str], Encodings]]:
    if not lists:
        return []
    texts = [text for some in lists for test in some.tests for text in test.texts]
    return list(model.encodings(texts, workers, progress))


def _tested(
    model: ModelViews,
    lists: Sequence[WordList],
    views: list[tuple[dict[str, str], Encodings]],
    knobs: Knobs,
    workers: Backend,
    progress: Progress,
    registrations: tuple[Registration, ...],
) -> Iterator[tuple[WordList, dict[str, Any] | Exception]]:
    """Yield each list with its record, or with the error that ended it, as they come."""
    from weatherglass.inference.significance.prepare import prepare

    if not lists:
        return
    prepare(lambda message: progress.stage(message, 1))  # before other processes need the compiled kernels
    progress.stage(f"testing {model.name}", len(lists))
    units, vectors = list_units(model.name, lists, views, knobs, registrations)
    views.clear()  # the vectors are in one array now
    for outcome in workers.map(assess_list, units, vectors):
        error = outcome.error or WeatherglassError("no result came back")
        yield outcome.unit.word_list, error if outcome.value is None else outcome.value


def _first_lists(lists: Sequence[WordList]) -> list[WordList]:
    """The first list of each topic."""
    first: dict[str, WordList] = {}
    for some in lists:
        first.setdefault(some.topic, some)
    return list(first.values())


def _failure(model: ModelViews, some: WordList, error: Exception) -> dict[str, str]:
    return {"model": model.name, "topic": some.topic, "list": some.name, "reason": reason(error)}


def _key(model: ModelViews, some: WordList, knobs: Knobs) -> str:
    """A hash of all that a block depends on."""
    views = [model.poolings, model.layers]
    tests = [test.fingerprint() for test in some.tests]
    parts = [KEY_VERSION, model.name, model.identity, views, some.topic, tests, knobs.to_json()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def assess_list(unit: ListUnit, vectors: Vector) -> dict[str, Any]:
    """Return the record of one word list on one model, in whichever process.

    BLAS has one thread, so that bits do not depend on how many there are.
    """
    from threadpoolctl import threadpool_limits

    for registration in unit.registrations:
        registration.register()
    some, knobs, views = unit.word_list, unit.knobs, unit.encodings(vectors)
    known = known_words(some, [encodings for _, encodings in views])
    with threadpool_limits(1):
        scored = [
            Scored({**one.choices, **choices}, one.scores, one.attribute_variance, one.counted)
            for choices, encodings in views
            for one in scored_specifications(some, known, encodings, knobs)
        ]
        record = assess(scored, known, knobs)
        halved = _halves(some, known, views[0][1], knobs) if knobs.turns("words") else {}
    return {
        "model": unit.model,
        "topic": some.topic,
        "list": some.name,
        "targets": some.targets,
        "tests": [test.name for test in some.tests],
        **record,
        "halves": halved,
    }


def _halves(some: WordList, known: Known, encodings: Encodings, knobs: Knobs) -> dict[str, Any]:
    """Halves of the lists with cosine and mean, in the first setting, on the first view."""
    name, settings = next(iter(some.settings().items()))
    to_a, to_b = _cosines(next(iter(settings.values())), known, known.attributes[name], encodings)
    asked = {"targets": (True, False), "attributes": (False, True), "both": (True, True)}
    return {
        which: halves_record(halves(to_a, to_b, len(known.x), *pair, seed=knobs.seed))
        for which, pair in asked.items()
    }


def _cosines(
    setting: Setting,
    known: Known,
    attribute_words: tuple[frozenset[str], frozenset[str]],
    encodings: Encodings,
) -> tuple[Any, Any]:
    """Cosines of target words to attribute words, the sentences of either averaged, in the order of the lists."""
    test = setting.test

    def averaged(table: Any, words: Sequence[str]) -> Any:
        return mean_by_unit(table, unit_numbers(words))

    def rows(element_set: Any, wanted: Any, all_of: bool) -> tuple[Any, list[str]]:
        elements = [e for e in element_set.elements if e.word in wanted and (all_of or setting.has(e))]
        return encodings.vectors[[encodings.row[e.text] for e in elements]], [e.word for e in elements]

    parts = [rows(s, words, False) for s, words in zip(test.targets, (known.x, known.y), strict=True)]
    vectors = np.concatenate([part for part, _ in parts])
    words = [f"{side}{word}" for side, (_, some) in zip("XY", parts, strict=True) for word in some]
    tables = []
    for attributes, wanted in zip(test.attributes, attribute_words, strict=True):
        attribute_vectors, names = rows(attributes, wanted, True)
        tables.append(averaged(averaged(cosine(vectors, attribute_vectors), words).T, names).T)
    return tables[0], tables[1]


def _topics(blocks: Sequence[dict[str, Any]], alpha: float) -> list[dict[str, Any]]:
    """One entry per model and topic, from its lists."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for block in blocks:
        grouped.setdefault((block["model"], block["topic"]), []).append(block)
    return [_topic(model, topic, some, alpha) for (model, topic), some in grouped.items()]


def _after_holm(block: dict[str, Any], adjusted: float, lists: int, alpha: float) -> dict[str, Any]:
    """The record of a list with its corrected p; the sentence about it says where only the correction undoes it."""
    corrected = {**block, "joint_p_holm": adjusted}
    if block["joint_p"] <= alpha < adjusted:
        found = block["conclusion"]
        sentence = f"{found['sentence']}; not after Holm over {lists} lists"
        corrected["conclusion"] = {**found, "sentence": sentence}
    return corrected


def _topic(model: str, topic: str, blocks: Sequence[dict[str, Any]], alpha: float) -> dict[str, Any]:
    adjusted = adjust([block["joint_p"] for block in blocks], "holm")
    smallest = adjust([block["max_t_p"] for block in blocks], "holm")
    lists = [
        _after_holm(block, float(p), len(blocks), alpha) for block, p in zip(blocks, adjusted, strict=True)
    ]
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
        "joint_p": float(adjusted.min()),
        "max_t_p": float(smallest.min()),
        "share_same_sign": same_sign(d),
        "share_significant": float(sum(significant) / len(d)),
        "decomposition": {**moved.to_json(), "shares": moved.shares()},
        "lists": [{key: value for key, value in block.items() if key != "specifications"} for block in lists],
        "specifications": specifications,
    }


def _agreement(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per word list with several models: would another specification rank them alike?"""
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
    """d by the knobs that all models have, averaged over the others."""
    cells: dict[tuple[str, ...], list[float]] = {}
    for one in block["specifications"]:
        if one["counted"]:
            cells.setdefault(tuple(one[knob] for knob in SHARED_KNOBS), []).append(one["d"] or 0.0)
    return {key: float(np.mean(values)) for key, values in cells.items()}

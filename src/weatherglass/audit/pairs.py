"""Score sentence pairs, and words in templates, with a language model (docs/methods 16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.audit.encode import observe
from weatherglass.audit.known_sets import KnownSet, MissingWords
from weatherglass.audit.plan import PlannedModel, PlannedResult
from weatherglass.catalogue.pairs import word_span
from weatherglass.catalogue.test import PAIR, Element, Test
from weatherglass.encoders.base import CUT, Asked, Coverage, Input, What, is_causal, plain
from weatherglass.errors import EncoderError, UnitError
from weatherglass.metrics.log_probability import TEMPLATES, LogProbability, fill
from weatherglass.metrics.pairs import MASKED, PairMetric, Sentence
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.warnings import Warning

SCORES: What = "scores"
TOKENS = "tokens"
"""The note of a result with the tokens of each pair, which `explain` reads."""
Notes = dict[str, Any]


@dataclass(slots=True)
class ScoredPairs:
    """The scores of all sentences of some results, and the position of each result's scores."""

    rows: list[tuple[PlannedResult, list[KnownSet], MissingWords, list[Warning], Notes]] = field(
        default_factory=list
    )
    scores: list[float] = field(default_factory=list)

    @property
    def array(self) -> Matrix:
        """Return the scores as an array with one column."""
        return np.array(self.scores, dtype=np.float64).reshape(-1, 1)


def score_pairs(
    model: PlannedModel, rows: Sequence[PlannedResult], backend: Backend, progress: Progress
) -> ScoredPairs:
    """Score each sentence of some results once with a model.

    Raises:
        EncoderError: if the model does not give the log-probabilities that a metric needs, or has transforms, which
            can only change vectors.
    """
    if model.transforms:
        raise EncoderError(
            f"{model.name}: transforms change vectors, but sentence pairs need log-probabilities"
        )
    causal, has_scores = is_causal(model.encoder), SCORES in model.encoder.gives
    asked: dict[What, dict[Asked, None]] = {}
    for row in rows:
        what = SCORES if has_scores else cast(What, row.metric.info.needs)
        inputs = asked.setdefault(what, {})
        inputs.update(
            dict.fromkeys(
                _input(element, row, causal) for one in row.test.targets for element in one.elements
            )
        )
    found: dict[tuple[What, Asked], tuple[Vector, Coverage]] = {}
    for what, inputs in asked.items():
        observed = observe(model.encoder, list(inputs), what, backend, progress)
        for each, values, covered in zip(observed.inputs, observed.values, observed.coverage, strict=True):
            found[what, plain(each)] = np.asarray(values, dtype=np.float64), covered
    scored = ScoredPairs()
    for row in rows:
        what = SCORES if has_scores else cast(What, row.metric.info.needs)
        sentences = [
            [found[what, plain(_input(element, row, causal))] for element in one.elements]
            for one in row.test.targets[: len(row.part.roles)]
        ]
        _add(scored, row, sentences, has_scores, causal)
    return scored


def _input(element: Element, row: PlannedResult, causal: bool) -> Asked:
    """Return the input for a model: the text or, if the metric needs it, the word that fills the template."""
    return _at_word(element) if getattr(row.metric, "at_word", False) and not causal else element.text


def _at_word(element: Element) -> Asked:
    span = word_span(element.text, element.template)
    return Input(element.text, span) if span else element.text


def inputs_of(test: Test, what: What, causal: bool) -> list[Asked]:
    """Return everything that the metrics of this package ask a model about a test, for example to store the answers.

    Raises:
        UnitError: if the words of the test are in sentences already, or it has no words that a template can combine.
    """
    targets = [element for one in test.targets for element in one.elements]
    if test.context == PAIR:
        masked = what == MASKED and not causal
        asked = [each for e in targets for each in ((e.text, _at_word(e)) if masked else (e.text,))]
    elif what != MASKED or causal or test.context != "word" or not test.attributes:
        raise UnitError(
            f"{test.name}: {what} need a test of sentence pairs, such as 'pairs', or a masked model and a test of words"
        )
    else:
        asked = [each for e in targets for each in _filled(e, test, TEMPLATES)]
    return list(dict.fromkeys(asked))


def _filled(element: Element, test: Test, templates: Sequence[str]) -> list[Input]:
    """Return the sentences of a target word with each attribute word, and with that word masked as well."""
    attributes = [each.text for one in test.attributes for each in one.elements]
    filled = [fill(template, element.text, attribute) for attribute in attributes for template in templates]
    return [
        Input(each.text, each.target, hidden=hidden) for each in filled for hidden in (None, each.attribute)
    ]


def _add(
    scored: ScoredPairs,
    row: PlannedResult,
    sentences: Sequence[Sequence[tuple[Vector, Coverage]]],
    has_scores: bool,
    causal: bool,
) -> None:
    """Append the scores of one result; pairs with an unscored sentence are dropped and listed."""
    test, missing = row.test, MissingWords()
    metric = cast(PairMetric, row.metric)
    kept: list[int] = []
    columns: list[list[float]] = [[] for _ in sentences]
    tokens: list[list[list[tuple[str, float | None, float]]]] = []
    cut = 0
    for place, pair in enumerate(zip(*sentences, strict=True)):
        notes = {covered.note for _, covered in pair if covered.note}
        cut += any(CUT in note for note in notes)
        for note in notes:
            missing.notes[note] = missing.notes.get(note, 0) + 1
        if has_scores:
            scores = [float(values[0]) if len(values) else np.nan for values, _ in pair]
        else:
            read = [Sentence(covered.tokens, values) for values, covered in pair]
            scores = metric.sentence_scores(read, causal)
        if np.isfinite(scores).all():
            kept.append(place)
            if not has_scores:
                tokens.append(list(map(_tokens, read[:2], metric.weights(read[:2], causal))))
            for column, score in zip(columns, scores, strict=True):
                column.append(score)
    warnings = []
    if lost := len(test.targets[0]) - len(kept):
        warnings.append(Warning.of("broken-pairs", count=lost))
    if cut:
        warnings.append(Warning.of("cut-sentences", count=cut))
    sets = []
    for role, target, column in zip(row.part.roles, test.targets, columns, strict=False):
        lacking = tuple(e.text for place, e in enumerate(target.elements) if place not in set(kept))
        if lacking:
            missing.dropped[role] = list(lacking)
        numbers = list(range(len(scored.scores), len(scored.scores) + len(column)))
        scored.scores += column
        elements = tuple(target.elements[place] for place in kept)
        sets.append(KnownSet(role, numbers, elements, target.category, lacking))
    scored.rows.append((row, sets, missing, warnings, {TOKENS: tokens} if tokens else {}))


def _tokens(sentence: Sentence, weights: Vector) -> list[tuple[str, float | None, float]]:
    """Return each token with its log-probability and the factor that it has in the score of the sentence."""
    values = (None if np.isnan(value) else float(f"{value:.9g}") for value in sentence.values)
    return list(zip(sentence.tokens, values, map(float, weights), strict=True))


@dataclass(frozen=True, slots=True)
class ScoredWords:
    """The amount that each attribute word adds to the log-probability of each target word."""

    sets: list[KnownSet]
    missing: MissingWords
    pieces: tuple[float, ...]
    """The mean number of tokens of each target word, X first."""
    table: Matrix
    """The amounts, with a row per target word and a column per attribute word, followed by rows of zeros for the
    attribute words.
    """


def score_words(model: PlannedModel, row: PlannedResult, backend: Backend, progress: Progress) -> ScoredWords:
    """Score every target word with every attribute word in every template with a masked model.

    Raises:
        EncoderError: if the model gives no log-probabilities, is causal or has transforms.
        UnitError: if the words of the test are in sentences already.
    """
    test, metric = row.test, cast(LogProbability, row.metric)
    if model.transforms:
        raise EncoderError(
            f"{model.name}: transforms change vectors, but {metric.name} needs log-probabilities"
        )
    if test.context != "word":
        raise UnitError(f"{metric.name} makes its own sentences; use a test of single words")
    attributes = [element.text for one in test.attributes for element in one.elements]
    asked = {
        (number, element.text): _filled(element, test, metric.templates)
        for number, one in enumerate(test.targets)
        for element in one.elements
    }
    inputs = [each for own in asked.values() for each in own]
    observed = observe(model.encoder, inputs, "log-probabilities", backend, progress)
    found = {
        plain(each): (float(np.sum(values)) if len(values) else np.nan, covered)
        for each, values, covered in zip(observed.inputs, observed.values, observed.coverage, strict=True)
    }
    missing, sets, rows, pieces = MissingWords(), [], [], []
    for number, (role, one) in enumerate(zip(test.roles, test.targets, strict=False)):
        kept = []
        for element in one.elements:
            own = [found[plain(each)] for each in asked[number, element.text]]
            values = np.array([value for value, _ in own]).reshape(len(attributes), -1, 2)
            added = (values[..., 0] - values[..., 1]).mean(axis=1)
            if np.isfinite(added).all():
                kept.append(element)
                rows.append(added)
                pieces.append(float(np.mean([len(covered.tokens) for _, covered in own])))
            for note in {covered.note for _, covered in own if covered.note}:
                missing.notes[note] = missing.notes.get(note, 0) + 1
        dropped = tuple(element.text for element in one.elements if element not in kept)
        if dropped:
            missing.dropped[role] = list(dropped)
        numbers = list(range(len(rows) - len(kept), len(rows)))
        sets.append(KnownSet(role, numbers, tuple(kept), one.category, dropped))
    for role, one in zip(test.roles[2:], test.attributes, strict=True):
        numbers = list(range(len(rows), len(rows) + len(one)))
        rows += [np.zeros(len(attributes))] * len(one)
        sets.append(KnownSet(role, numbers, one.elements, one.category, ()))
    return ScoredWords(sets, missing, tuple(pieces), np.array(rows))

"""Answer the requests of the page: take the words of four sets, and return the evidence of each model.

Every number is computed by the code of `weatherglass.run`, so it equals that of a run on the same words.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from weatherglass.audit.audit import Audit
from weatherglass.audit.encode import encode_texts
from weatherglass.audit.plan import Plan, PlannedModel, choose_models
from weatherglass.audit.results import Result, plain_value
from weatherglass.audit.run import Run
from weatherglass.audit.settings import Settings
from weatherglass.audit.word_map import BUDGET
from weatherglass.catalogue import list_tests, load_test
from weatherglass.catalogue.from_words import make_test
from weatherglass.catalogue.names import human_name, model_names, topic_name
from weatherglass.catalogue.test import Test
from weatherglass.encoders.in_memory import models_in
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.explore.state import (
    CONTEXTS,
    LONGEST_TEXT,
    MOST_MODELS,
    ROLES,
    State,
    checked_text,
    start_state,
)
from weatherglass.explore.words import RememberingModel, StaleError, Vocabulary
from weatherglass.metrics import select_metrics
from weatherglass.metrics.base import Context, ElementScore, Metric
from weatherglass.metrics.sets import VectorSet
from weatherglass.parallel import backend
from weatherglass.progress import Silent
from weatherglass.registry import shown
from weatherglass.report.statements import sentence
from weatherglass.stats import Budget
from weatherglass.stats.power import power

CHANCE = 0.8
"""The power for which the number of words is stated."""
MOST_NEEDED = 1000
SIMILARITY_NAMES = ("cosine", "dot", "euclidean", "manhattan")
STATISTIC_NAMES = ("mean", "median", "max", "min")
SET_METRICS = ("mac", "rnsb", "same")
"""Metrics that the page offers; a request may name any metric of two target and two attribute sets."""
QUICK = Budget(seconds=0.03)
"""The budget of p while a user types: counts up to about 18 + 18 words, certified bounds within 1 % beyond."""
FEW_TARGETS = 22
"""Number of target words up to which p without each word is computed while a user types; beyond, only without the word
that probably raises p most, so that flags and sentence are known at once, and the others when typing rests.
"""
MOST_CLIENTS = 400
REMEMBERED = 2000
"""Number of single words whose evidence is kept for each model."""
SHOWN = (
    *("value", "unbiased", "effect_size", "p_value", "p_low", "p_high", "p_method", "p_floor", "p_pieces"),
    "certified",
    *("ci_low", "ci_high", "p_random", "effect_size_random", "ci_random_low", "ci_random_high"),
    *(
        "score_reliability",
        "units_x",
        "units_y",
        "minimum_detectable",
        "power",
        "outcome",
        "limit",
        "not_tested",
    ),
    *("why_no_p", "direction", "metric", "alternative"),
)
"""Fields of a result that the page gets."""


class Explored:
    """One model that is explored: its vectors in memory, and its vocabulary."""

    def __init__(self, model: PlannedModel, label: str) -> None:
        self.label = label
        self.kept = RememberingModel(model.encoder)
        self.planned = replace(model, encoder=self.kept)
        self.lock = threading.Lock()
        self.single: dict[tuple[Any, ...], dict[str, Any]] = {}
        """The evidence of single words by word, attribute sets and context."""
        self._vocabulary: Vocabulary | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary, which is read when it is first needed."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.kept, bool(self.planned.transforms))
        return self._vocabulary

    def run(self, tests: Sequence[Test], metric: Metric, settings: Settings) -> Run:
        """Run tests with one metric, as `weatherglass.run` does."""
        plan = Plan([self.planned], list(tests), [metric], settings)
        return Audit(plan, {}, backend(1, None, None), Silent()).run()

    def reason(self, error: Exception) -> str:
        """Return the message of an error with the label of the model in place of its spec, which may be a path."""
        text = str(error)
        spec = f"{self.planned.name}: "
        return f"{self.label}: {text.removeprefix(spec)}" if text.startswith(spec) else text


class Engine:
    """The models that are explored."""

    def __init__(self, models: Any, settings: Settings | None = None) -> None:
        """Load models; they are specs, or objects in memory as `weatherglass.run` takes them.

        Raises:
            WeatherglassError: if a model cannot be loaded, or there are more than four.
        """
        planned = choose_models(models_in(models))
        if len(planned) > MOST_MODELS:
            raise WeatherglassError(f"{len(planned)} models are given; explore takes at most {MOST_MODELS}")
        labels = model_names([model.name for model in planned])
        self.models = [Explored(model, label) for model, label in zip(planned, labels, strict=True)]
        self.settings = settings or Settings()
        self._latest: dict[str, int] = {}
        self.closed = False

    def prepare(self) -> None:
        """Read the vocabularies, so that the first keystroke is answered as fast as the others."""
        for model in self.models:
            _ = model.vocabulary
        self.answer(start_state("weat6"))

    def answer(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the evidence for a state, as JSON-compatible values.

        Args:
            given: a state; `client` and `sequence`, if given, mark a later question, which cancels earlier ones.

        Raises:
            StaleError: if a later question has come.
            WeatherglassError: if the state is wrong.
        """
        state = State.from_json(given)
        metric = _metric(state.metric)
        answers = []
        for place, model in self.asked(given, state.models):
            started = time.perf_counter()
            answer = self._of_model(model, state, metric)
            spent = round(1000 * (time.perf_counter() - started), 2)
            answers.append({"model": place, **answer, "milliseconds": spent})
        return {"sequence": given.get("sequence"), "answers": answers, "alpha": self.settings.alpha}

    def asked(
        self, given: Mapping[str, Any], places: Sequence[int], panel: str = ""
    ) -> Iterator[tuple[int, Explored]]:
        """Yield each model with its place while no one else uses it.

        Args:
            given: a question; `client` and `sequence`, if given, mark a later question, which cancels earlier ones.
            places: the places of the models.
            panel: the part of the page that asks; questions of other parts are not cancelled.

        Raises:
            StaleError: if a later question has come.
            WeatherglassError: if there is no such model.
        """
        models = [self.model(place) for place in places]
        number = given.get("sequence")
        sequence = number if type(number) is int else 0
        client = f"{panel}:{given['client']}"[:80] if given.get("client") and sequence else ""
        if client:
            if len(self._latest) > MOST_CLIENTS:
                self._latest.clear()
            self._latest[client] = max(sequence, self._latest.get(client, sequence))

        def wanted() -> bool:
            return not self.closed and self._latest.get(client, sequence) <= sequence

        for place, model in zip(places, models, strict=True):
            with model.lock:
                if not wanted():
                    raise StaleError("a later question has replaced this one")
                model.kept.wanted = wanted
                yield place, model

    def progress(self) -> list[dict[str, Any]]:
        """Return how many texts each model that is encoding has encoded for the question that it answers."""
        return [
            {"model": place, "done": model.kept.done, "total": model.kept.total}
            for place, model in enumerate(self.models)
            if model.kept.total
        ]

    def _of_model(self, model: Explored, state: State, metric: Metric) -> dict[str, Any]:
        unknown = self._unknown(model, state)
        placed = self._placed(model, state, metric, unknown)
        found: dict[str, Any] = {"unknown": unknown, "placed": placed}
        try:
            run = model.run([state.test()], metric, self._settings(state))
        except StaleError:
            raise
        except WeatherglassError as error:
            return {**found, "error": model.reason(error)}
        if not run.results:
            return {**found, "error": run.failures[0].reason if run.failures else "no result"}
        result = run.results[0]
        evidence = self._evidence(result, run, model.label)
        settings = self._settings(state)
        # p without words is computed only if p is at most alpha.
        whole = settings.trust == self.settings.trust or not result.p_value <= settings.alpha
        return {**found, **evidence, "final": not state.quick or (whole and result.p_method != "bounds")}

    def _settings(self, state: State) -> Settings:
        if not state.quick:
            return self.settings
        many = sum(len(state.sets[role][1]) for role in "XY") > FEW_TARGETS
        trust = "decisive" if many and self.settings.trust == "all" else self.settings.trust
        return self.settings.changed(budget=QUICK, trust=trust)

    def _evidence(self, result: Result, run: Run, label: str) -> dict[str, Any]:
        alpha = self.settings.alpha
        robustness = result.robustness
        said = [sentence(verdict, alpha, label) for verdict in run.judged or ()]
        return {
            **{name: plain_value(getattr(result, name)) for name in SHOWN},
            "scores": _by_word(result.scores),
            "left_out": [
                [one.role, one.name, one.effect_size, one.p_value]
                for one in (robustness.left_out if robustness else ())
                if one.kind == "word"
            ],
            "decisive": self._decisive(result),
            "needed": words_needed(result.effect_size, alpha) if result.info.from_scores else None,
            "sentence": said[0] if said else "",
            "warnings": [{"kind": w.kind, "text": str(w)} for w in result.warnings],
            "reasons": {
                "fixed": robustness.fixed_reason if robustness else None,
                "random": robustness.random_reason if robustness else None,
            },
        }

    def _decisive(self, result: Result) -> list[Any] | None:
        """Return the word that moves d most towards 0 when it is left out: role, word, d and p without it."""
        if result.robustness is None or math.isnan(result.effect_size):
            return None
        sign = math.copysign(1, result.effect_size)
        words = [
            one for one in result.robustness.left_out if one.kind == "word" and one.effect_size is not None
        ]
        if not words:
            return None
        least = min(words, key=lambda one: sign * (one.effect_size or 0.0))
        return [least.role, least.name, least.effect_size, least.p_value]

    def _unknown(self, model: Explored, state: State) -> dict[str, list[str]]:
        """Return the words of each set that the model does not know."""
        lists = {role: words for role, (_, words) in state.sets.items()} | {"place": state.place}
        texts = list(dict.fromkeys(word for words in lists.values() for word in words))
        if not texts:
            return {}
        seen = model.kept.observe(texts)
        known = {text for row, text in enumerate(texts) if seen.known(row)}
        return {role: lost for role, words in lists.items() if (lost := [w for w in words if w not in known])}

    def _placed(
        self, model: Explored, state: State, metric: Metric, unknown: Mapping[str, Sequence[str]]
    ) -> list[dict[str, Any]]:
        """Return the score of each further word, and its own effect size with p and interval (SC-WEAT)."""
        words = [word for word in state.place if word not in unknown.get("place", ())]
        a, b = ([w for w in state.sets[role][1] if w not in unknown.get(role, ())] for role in "AB")
        if not words or not a or not b:
            return []
        scores = self._scores(model, words, a, b, state, metric) if metric.info.from_scores else {}
        single = self._single(model, words, a, b, state)
        return [{"word": word, "score": scores.get(word), **single[word]} for word in words]

    def _scores(
        self,
        model: Explored,
        words: Sequence[str],
        a: Sequence[str],
        b: Sequence[str],
        state: State,
        metric: Metric,
    ) -> dict[str, float | None]:
        """Return s(w, A, B) of further words."""
        # A metric of the type of WEAT needs two words in X and Y; the score of a word does not depend on the others.
        targets = list(dict.fromkeys([*words, *a, *b]))
        test = state.in_context(make_test(X=targets, Y=targets, A=list(a), B=list(b), name="placed"))
        planned = model.planned
        encodings = encode_texts(
            planned.encoder, [*test.texts, *planned.texts()], backend(1, None, None), Silent()
        )
        vectors = encodings.transformed(planned.transforms)
        sets = [
            VectorSet(role, vectors.vectors[[vectors.row[text] for text in one.texts]], one.elements)
            for role, one in zip(ROLES, test.sets, strict=True)
        ]
        context = Context([metric], self.settings.permute, self.settings.ddof)
        try:
            scored = metric.evaluate(sets, context).scores
        except UnitError:
            return {}
        return {word: score for role, word, score in _by_word(scored) if role == "X"}

    def _single(
        self, model: Explored, words: Sequence[str], a: Sequence[str], b: Sequence[str], state: State
    ) -> dict[str, dict[str, Any]]:
        """Return the effect size of each word, its p and its interval; what is known is not computed again."""
        sides = (tuple(a), tuple(b), state.context)
        if len(model.single) > REMEMBERED:
            model.single.clear()
        new = [word for word in words if (word, *sides) not in model.single]
        if new:
            tests = [
                state.in_context(make_test(X=[word], A=list(a), B=list(b), name=f"placed {n}"))
                for n, word in enumerate(new)
            ]
            run = model.run(tests, select_metrics(["sc-weat"])[0], self.settings.changed(budget=BUDGET))
            results = {result.test: result for result in run.results}
            failures = {failure.test: failure.reason for failure in run.failures}
            fields = ("value", "p_value", "ci_low", "ci_high")
            for word, test in zip(new, tests, strict=True):
                result = results.get(test.name)
                model.single[word, *sides] = (
                    {name: plain_value(getattr(result, name)) for name in fields}
                    if result
                    else {"error": failures.get(test.name, "no result")}
                )
        return {word: model.single[word, *sides] for word in words}

    def suggest(self, prefix: str, place: int = 0) -> list[str]:
        """Return words of a model's vocabulary that start with a prefix."""
        return self.model(place).vocabulary.starting_with(prefix[:LONGEST_TEXT])

    def neighbours(self, word: str, place: int = 0) -> dict[str, Any]:
        """Return the nearest words of a word, and which words were searched."""
        model = self.model(place)
        with model.lock:
            model.kept.wanted = lambda: not self.closed
            nearest, searched = model.vocabulary.nearest(checked_text(word, "word"))
        return {"word": word, "nearest": nearest, "searched": searched}

    def model(self, place: int) -> Explored:
        """Return a loaded model by its place.

        Raises:
            WeatherglassError: if there is no such model.
        """
        if type(place) is not int or not 0 <= place < len(self.models):
            raise WeatherglassError(f"there is no such model; {len(self.models)} are loaded")
        return self.models[place]

    def about(self) -> dict[str, Any]:
        """Return what the page shows before anything is asked: models, metrics and tests."""
        return {
            "models": [{"label": one.label} for one in self.models],
            "similarities": [f"{one}/{how}" for one in SIMILARITY_NAMES for how in STATISTIC_NAMES],
            "metrics": list(SET_METRICS),
            "contexts": list(CONTEXTS),
            "tests": [
                {
                    "name": name,
                    "label": human_name(load_test(name).categories),
                    "topic": topic_name(load_test(name).topic),
                }
                for name in list_tests()
                if load_test(name).context == "word" and load_test(name).shape == (2, 2)
            ],
        }


def _metric(name: str) -> Metric:
    """Return the metric of this spelling, which takes two target and two attribute sets."""
    metrics = select_metrics([name])
    if len(metrics) != 1:
        raise WeatherglassError(f"'{shown(name)}' matches {len(metrics)} metrics; name one of them")
    metric = metrics[0]
    if not metric.info.shape.fits(2, 2) or metric.info.needs != "vectors" or metric.info.covariances:
        raise WeatherglassError(f"{metric.name} does not compare two target sets of words on two attributes")
    return metric


def _by_word(given: Iterable[ElementScore]) -> list[list[Any]]:
    """Return role, word and score of each word; the score of a word in several sentences is their mean."""
    scores: dict[tuple[str, str], list[float]] = {}
    for one in given:
        scores.setdefault((one.role, one.word), []).append(one.score)
    return [
        [role, word, plain_value(some[0] if len(some) == 1 else math.fsum(some) / len(some))]
        for (role, word), some in scores.items()
    ]


def words_needed(d: float, alpha: float) -> int | None:
    """Return the smallest number of words per set that detects an effect of size d with 80 % power; None above 1000.

    >>> words_needed(0.8, 0.05) > words_needed(1.2, 0.05)
    True
    """
    if math.isnan(d) or abs(d) < 1e-9:
        return None

    def enough(size: int) -> bool:
        chance = power(abs(d), size, size, alpha)
        return math.isnan(chance) or chance >= CHANCE  # NaN: so large a d is possible only with fewer words

    low, high = 2, 4
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_NEEDED:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

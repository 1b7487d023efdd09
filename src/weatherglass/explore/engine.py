"""Answer what the page asks: words of four sets in, the evidence of each model out.

Every number is computed by the code of `weatherglass.run`, so it equals that of a run on the same words.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weatherglass.audit.audit import Audit
from weatherglass.audit.encode import encode_texts
from weatherglass.audit.plan import Plan, PlannedModel, choose_models
from weatherglass.audit.results import Result, plain_value
from weatherglass.audit.run import Run
from weatherglass.audit.settings import Settings
from weatherglass.audit.word_map import BUDGET
from weatherglass.catalogue import list_tests, load_test, load_tests
from weatherglass.catalogue.from_words import make_test
from weatherglass.catalogue.names import human_name, model_names, set_name
from weatherglass.catalogue.test import Element, Test
from weatherglass.encoders.in_memory import models_in
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.explore.words import RememberingModel, StaleError, Vocabulary
from weatherglass.metrics import DEFAULT_METRIC, select_metrics
from weatherglass.metrics.base import Context, Metric
from weatherglass.metrics.sets import VectorSet
from weatherglass.parallel import backend
from weatherglass.progress import Silent
from weatherglass.report.statements import sentence
from weatherglass.stats.power import power

ROLES = ("X", "Y", "A", "B")
MOST_WORDS = 200
"""Largest number of words in one set."""
LONGEST_WORD = 400
MOST_MODELS = 4
MOST_PLACED = 40
CHANCE = 0.8
"""The power for which the number of words is stated."""
MOST_NEEDED = 1000
METRICS = ("cosine/mean", "cosine/median", "dot/mean", "euclidean/mean", "manhattan/mean")
"""Metrics that the page offers; a request may name any metric of two target and two attribute sets."""
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


@dataclass(frozen=True, slots=True)
class State:
    """What the page asks for."""

    sets: Mapping[str, tuple[str, tuple[str, ...]]]
    """By role, the name of the set and its words."""
    metric: str = DEFAULT_METRIC
    models: tuple[int, ...] = (0,)
    place: tuple[str, ...] = ()
    """Further words to place on the axis."""

    @classmethod
    def from_json(cls, given: Any) -> State:
        """Return the state of a request.

        Raises:
            WeatherglassError: if the request is not a state.
        """
        if not isinstance(given, dict) or not isinstance(given.get("sets"), dict):
            raise WeatherglassError("a state has sets: X, Y, A and B, each with a name and words")
        sets = {}
        for role in ROLES:
            one = given["sets"].get(role)
            if not isinstance(one, dict):
                raise WeatherglassError(f"set {role} is missing")
            sets[role] = (
                _text(one.get("name") or role, f"the name of {role}"),
                _words(one.get("words"), role),
            )
        models = given.get("models", [0])
        if not isinstance(models, list) or not all(type(place) is int and place >= 0 for place in models):
            raise WeatherglassError("models should be a list of places in the list of models")
        if not 1 <= len(models) <= MOST_MODELS:
            raise WeatherglassError(f"choose 1 to {MOST_MODELS} models")
        return cls(
            sets,
            _text(given.get("metric") or DEFAULT_METRIC, "metric"),
            tuple(dict.fromkeys(models)),
            _words(given.get("place", []), "place")[:MOST_PLACED],
        )

    def test(self) -> Test:
        """Return the test of these words.

        Raises:
            CatalogueError: if a set is empty.
        """
        named: dict[str, Any] = {role: {name: list(words)} for role, (name, words) in self.sets.items()}
        return make_test(**named, name="explored", topic=self.topic)

    @property
    def topic(self) -> str:
        """Return the subject of the words, which the sentence names."""
        return " and ".join(set_name(self.sets[role][0]) for role in "XY")


def _text(given: object, what: str) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_WORD:
        raise WeatherglassError(f"{what} should be text of 1 to {LONGEST_WORD} characters")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise WeatherglassError(f"{what} contains half a character") from None
    return given.strip()


def _words(given: object, what: str) -> tuple[str, ...]:
    if not isinstance(given, list) or len(given) > MOST_WORDS:
        raise WeatherglassError(f"{what} should be a list of at most {MOST_WORDS} words")
    return tuple(dict.fromkeys(_text(word, f"a word of {what}") for word in given))


class Explored:
    """One model that is explored: its vectors in memory, and its vocabulary."""

    def __init__(self, model: PlannedModel, label: str) -> None:
        self.label = label
        self.kept = RememberingModel(model.encoder)
        self.planned = replace(model, encoder=self.kept)
        self.lock = threading.Lock()
        self._vocabulary: Vocabulary | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary, which is read when it is first needed."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.kept, bool(self.planned.transforms))
        return self._vocabulary

    def run(self, test: Test, metric: Metric, settings: Settings) -> Run:
        """Run one test with one metric, as `weatherglass.run` does."""
        plan = Plan([self.planned], [test], [metric], settings)
        return Audit(plan, {}, backend(1, None, None), Silent()).run()


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
        client, sequence = str(given.get("client", ""))[:64], given.get("sequence")
        if client and type(sequence) is int:
            if len(self._latest) > 100:
                self._latest.clear()
            self._latest[client] = max(sequence, self._latest.get(client, sequence))

        def wanted() -> bool:
            stale = client and type(sequence) is int and self._latest.get(client, sequence) > sequence
            return not (self.closed or stale)

        metrics = select_metrics([state.metric])
        if len(metrics) != 1:
            raise WeatherglassError(f"'{state.metric}' matches {len(metrics)} metrics; name one of them")
        metric = metrics[0]
        if not metric.info.shape.fits(2, 2) or metric.info.needs != "vectors" or metric.info.covariances:
            raise WeatherglassError(
                f"{metric.name} does not compare two target sets of words on two attributes"
            )
        for place in state.models:
            if place >= len(self.models):
                raise WeatherglassError(f"there is no model {place}; {len(self.models)} are loaded")
        answers = []
        for place in state.models:
            model = self.models[place]
            with model.lock:
                if not wanted():
                    raise StaleError("a later question has replaced this one")
                model.kept.wanted = wanted
                started = time.perf_counter()
                answer = self._of_model(model, state, metric)
                answers.append(
                    {
                        "model": place,
                        **answer,
                        "milliseconds": round(1000 * (time.perf_counter() - started), 2),
                    }
                )
        return {"sequence": sequence, "answers": answers, "alpha": self.settings.alpha}

    def _of_model(self, model: Explored, state: State, metric: Metric) -> dict[str, Any]:
        unknown = self._unknown(model, state)
        placed = self._placed(model, state, metric, unknown)
        found: dict[str, Any] = {"unknown": unknown, "placed": placed}
        try:
            run = model.run(state.test(), metric, self.settings)
        except StaleError:
            raise
        except WeatherglassError as error:
            return {**found, "error": str(error)}
        if not run.results:
            return {**found, "error": run.failures[0].reason if run.failures else "no result"}
        result = run.results[0]
        return {**found, **self._evidence(result, run, model.label)}

    def _evidence(self, result: Result, run: Run, label: str) -> dict[str, Any]:
        alpha = self.settings.alpha
        robustness = result.robustness
        said = [sentence(verdict, alpha, label) for verdict in run.judged or ()]
        return {
            **{name: plain_value(getattr(result, name)) for name in SHOWN},
            "scores": [[s.role, s.word, plain_value(s.score)] for s in result.scores],
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
        planned = model.planned
        texts = [*words, *a, *b, *planned.texts()]
        encodings = encode_texts(planned.encoder, texts, backend(1, None, None), Silent())
        vectors = encodings.transformed(planned.transforms)

        def of(role: str, chosen: Sequence[str]) -> VectorSet:
            rows = [vectors.row[word] for word in chosen]
            return VectorSet(role, vectors.vectors[rows], tuple(Element(word, word) for word in chosen))

        targets = list(dict.fromkeys([*words, *a, *b]))  # a metric needs at least two words in X and Y
        sets = [of("X", targets), of("Y", targets), of("A", a), of("B", b)]
        context = Context([metric], self.settings.permute, self.settings.ddof)
        try:
            scored = metric.evaluate(sets, context).scores
        except UnitError as error:
            return [{"word": word, "error": str(error)} for word in words]
        scores = {one.word: one.score for one in scored if one.role == "X"}
        return [
            {"word": word, "score": plain_value(scores.get(word)), **self._single(model, word, a, b)}
            for word in words
        ]

    def _single(self, model: Explored, word: str, a: Sequence[str], b: Sequence[str]) -> dict[str, Any]:
        """Return the effect size of one word, its p and its interval."""
        test = make_test(X=[word], A=list(a), B=list(b), name="placed")
        try:
            run = model.run(test, select_metrics(["sc-weat"])[0], self.settings.changed(budget=BUDGET))
        except StaleError:
            raise
        except WeatherglassError as error:
            return {"error": str(error)}
        if not run.results:
            return {"error": run.failures[0].reason}
        fields = ("value", "p_value", "ci_low", "ci_high")
        return {name: plain_value(getattr(run.results[0], name)) for name in fields}

    def suggest(self, prefix: str, place: int = 0) -> list[str]:
        """Return words of a model's vocabulary that start with a prefix."""
        return self._model(place).vocabulary.starting_with(prefix[:LONGEST_WORD])

    def neighbours(self, word: str, place: int = 0) -> dict[str, Any]:
        """Return the nearest words of a word, and which words were searched."""
        model = self._model(place)
        with model.lock:
            model.kept.wanted = lambda: not self.closed
            nearest, searched = model.vocabulary.nearest(_text(word, "word"))
        return {"word": word, "nearest": nearest, "searched": searched}

    def _model(self, place: int) -> Explored:
        if not 0 <= place < len(self.models):
            raise WeatherglassError(f"there is no model {place}; {len(self.models)} are loaded")
        return self.models[place]

    def about(self) -> dict[str, Any]:
        """Return what the page shows before anything is asked: models, metrics and tests."""
        return {
            "models": [
                {"label": one.label, "spec": one.planned.name, "costly": one.kept.costly}
                for one in self.models
            ],
            "metrics": list(METRICS),
            "tests": [
                {"name": name, "label": human_name(load_test(name).categories)}
                for name in list_tests()
                if load_test(name).context == "word" and load_test(name).shape == (2, 2)
            ],
        }


def words_needed(d: float, alpha: float) -> int | None:
    """Return the least number of words a side that finds an effect of size d with 80 % power; None above 1000.

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


def start_state(test: str | Test) -> dict[str, Any]:
    """Return the state of a test: a name of the catalogue, a file, or a test.

    Raises:
        WeatherglassError: if the test does not have four sets of words.
    """
    if isinstance(test, str):
        found = load_tests([test])
        if len(found) != 1:
            raise WeatherglassError(f"'{test}' matches {len(found)} tests; name one of them")
        test = found[0]
    if test.shape != (2, 2):
        raise WeatherglassError(
            f"{test.name} has {test.shape[0]} target and {test.shape[1]} attribute sets; "
            "explore needs 2 and 2"
        )
    if test.context != "word":
        raise WeatherglassError(f"{test.name} is a test of sentences; explore takes tests of words")
    sets = {
        role: {"name": set_name(one.category), "words": list(dict.fromkeys(one.texts))}
        for role, one in zip(ROLES, test.sets, strict=True)
    }
    return {"sets": sets, "metric": DEFAULT_METRIC, "models": [0], "place": []}

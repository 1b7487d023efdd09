"""Simulate how often the decision tree gives each outcome, with and without an effect, against docs/methods 12.

Run with `python -m benchmarks.verdicts [WORLD…] [--runs N] [--quick] [--write FILE]`; all worlds take about half an
hour on one core. `--coverage`, `--clusters` and `--confounded` print other tables: the coverage of a topic's interval,
the level of p where words of a set belong together, and that of tests that are measured, not tested.

A run judges the tests of the catalogue, without controls, by the functions that judge a model. The tests that are
confounded by words are left out of all worlds; those that only the pieces of the embedded model confound take part, so
that worlds of pieces are harder than a run on that model:

- noise: every word of a text is an independent random vector with a common mean, and a text is the mean of its words;
- pieces: the same for the pieces of the embedded model's tokenizer;
- shuffled: the rows of the embedded model are dealt at random over its pieces;
- relabelled: the embedded model, with the attribute words of each topic dealt at random to A and B;
- planted-0.75, planted-1.20: noise with an effect in all topics, so strong that D of each has this mean.

Exit code 1 where a rate is on the wrong side of its bound by more than 3 Monte Carlo errors. The rule of version 0.2,
which this one replaced, is printed beside it.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from benchmarks._rows import write_between
from benchmarks.coverage import generator, shift
from safetensors import safe_open
from scipy import sparse
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.catalogue import list_tests, load_tests
from weatherglass.catalogue.test import ElementSet
from weatherglass.encoders.wordllama import WEIGHTS, WordLlamaEncoder, package_folder
from weatherglass.stats import Outcome
from weatherglass.stats.attributes import LEAST_TEMPLATES, random_attributes
from weatherglass.stats.confounding import LARGEST_LEVEL, confounding, expected_level, tokens_of
from weatherglass.stats.interval import Flags
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.permutation import Budget, permutation_test
from weatherglass.stats.scale import Scale
from weatherglass.stats.topic import AttributeTables, TopicTest, topic_of
from weatherglass.stats.topic_effect import beside_pieces, lifting_words
from weatherglass.stats.verdict import TopicDecision, judge_topics, measure_topic

ALPHA = 0.05
CONTROL = "control"
DIMENSION = 128
"""Of the random vectors."""
COMMON_MEAN = 1.0
"""The length of the vector that all random vectors have in common, in units of their own."""
ROW_BUDGET = Budget(seconds=0.01)
ROW_PRECISION = 0.05
PILOT_RUNS = 60
"""With 6 the mean of D was 0.06 too large, which flatters the power."""
BISECTIONS = 8
QUICK_RUNS = 12
RUNS = {
    "noise": 700,
    "pieces": 400,
    "shuffled": 400,
    "relabelled": 300,
    "planted-0.75": 200,
    "planted-1.20": 200,
}
WITHOUT_EFFECT = ("noise", "pieces", "shuffled", "relabelled")
NOTHING_DIFFERS = ("noise", "pieces", "shuffled")
"""Worlds in which neither A and B nor X and Y differ."""
STRONG = "planted-1.20"


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A test of the catalogue as places of its words among all units, and of its texts."""

    name: str
    topic: str
    words: tuple[tuple[str, ...], ...]
    """Of X, Y, A and B."""
    units: tuple[Integers, ...]
    texts: tuple[Integers, ...]
    templates: Integers | None
    """The text of each target word in each template, where all appear in the same templates."""
    template_names: tuple[str, ...]
    confounded: bool


class Catalogue:
    """The texts of all tests, each once, and which of them make up each word of each test."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self._units: dict[tuple[int, ...], int] = {}
        self.tests = [self._layout(test) for test in load_tests(list_tests()) if test.topic != CONTROL]
        self.topics = list(dict.fromkeys(test.topic for test in self.tests))
        rows = [(place, texts) for texts, place in self._units.items()]
        self.mean_of_texts = sparse.csr_matrix(
            (
                np.concatenate([np.full(len(texts), 1 / len(texts)) for _, texts in rows]),
                (
                    np.concatenate([np.full(len(texts), place) for place, texts in rows]),
                    np.concatenate([texts for _, texts in rows]),
                ),
            ),
            shape=(len(rows), len(self.texts)),
        )

    def _layout(self, test: object) -> Layout:
        sets: Sequence[ElementSet] = [*test.targets, *test.attributes]  # type: ignore[attr-defined]
        words, units, texts, tokens = [], [], [], []
        for elements in sets:
            by_word: dict[str, list[str]] = {}
            for element in elements.elements:
                by_word.setdefault(element.word, []).append(element.text)
            places = [[self.texts.setdefault(t, len(self.texts)) for t in own] for own in by_word.values()]
            words.append(tuple(by_word))
            units.append(np.array([self._units.setdefault(tuple(p), len(self._units)) for p in places]))
            texts.append(np.concatenate(places))
            tokens.append([[tokens_of(text) for text in own] for own in by_word.values()])
        in_templates = [{e.template for e in elements.elements if e.template} for elements in sets[:2]]
        templates, names = self._templates(sets[:2])
        return Layout(
            test.name,  # type: ignore[attr-defined]
            test.topic,  # type: ignore[attr-defined]
            tuple(words),
            tuple(units),
            tuple(texts),
            templates,
            names,
            confounding(tokens[0], tokens[1], *in_templates) is not None,
        )

    def tokens(self, test: Layout, side: int, by_text: Mapping[int, Sequence[str]]) -> list[list[list[str]]]:
        """Return the tokens of each text of each word of X (side 0) or Y, in lower case."""
        texts = list(self._units)
        return [
            [[token.lower() for token in by_text[text]] for text in texts[unit]] for unit in test.units[side]
        ]

    def _templates(self, targets: Sequence[ElementSet]) -> tuple[Integers | None, tuple[str, ...]]:
        found: dict[tuple[int, str], dict[str, int]] = {}
        for side, elements in enumerate(targets):
            for element in elements.elements:
                own = found.setdefault((side, element.word), {})
                own[element.template or ""] = self.texts.setdefault(element.text, len(self.texts))
        names = sorted(next(iter(found.values())))
        complete = all(sorted(own) == names for own in found.values())
        counts = len(names) * len(found) == sum(len(elements.elements) for elements in targets)
        if not complete or not counts or "" in names or len(names) < LEAST_TEMPLATES:
            return None, ()
        return np.array([[own[name] for name in names] for own in found.values()]), tuple(names)


@dataclass(frozen=True, eq=False)
class Tokens:
    """The texts as means of tokens."""

    tokens: tuple[tuple[str, ...], ...]
    """Of each text."""

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the number of each token."""
        return {t: place for place, t in enumerate(dict.fromkeys(t for text in self.tokens for t in text))}

    @cached_property
    def means(self) -> sparse.csr_matrix:
        """Return the counts of tokens (across) in texts (down)."""
        rows = np.repeat(np.arange(len(self.tokens)), [len(text) for text in self.tokens])
        columns = [self.places[token] for text in self.tokens for token in text]
        weights = np.concatenate([np.full(len(text), 1 / len(text)) for text in self.tokens])
        return sparse.csr_matrix((weights, (rows, columns)), shape=(len(self.tokens), len(self.places)))


class World:
    """Draws the tests of one model after another."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.catalogue = Catalogue()
        texts = list(self.catalogue.texts)
        encoder = WordLlamaEncoder()
        by_pieces = name in ("pieces", "shuffled", "relabelled")
        pieces = [coverage.tokens for coverage in encoder.coverage(texts)]
        self.tokens = Tokens(tuple(pieces) if by_pieces else tuple(tuple(tokens_of(text)) for text in texts))
        counts = np.array([len(text) for text in pieces], dtype=np.float64)
        self.pieces: Vector | None = self.catalogue.mean_of_texts @ counts if by_pieces else None
        self.vectors: Matrix | None = encoder.encode(texts) if name == "relabelled" else None
        self.rows: Matrix | None = None
        if name == "shuffled":
            with safe_open(package_folder() / WEIGHTS, framework="np") as file:
                self.rows = file.get_tensor("embedding.weight").astype(np.float64)
        self.strengths: Vector | None = None
        """Of the effect planted in each topic."""
        if name.startswith("planted-"):
            self._calibrate(float(name.removeprefix("planted-")))

    def model(self, rng: np.random.Generator) -> Matrix:
        """Return a vector of length 1 for every text."""
        vectors = self._text_vectors(rng)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def topics(self, vectors: Matrix, rng: np.random.Generator) -> list[list[TopicTest]]:
        """Return the tests of one model, by topic."""
        units = self.catalogue.mean_of_texts @ vectors
        found: dict[str, list[TopicTest]] = {topic: [] for topic in self.catalogue.topics}
        order = {topic: self._order(topic, rng) for topic in self.catalogue.topics}
        for test in self.catalogue.tests:
            found[test.topic].append(self._test(test, units, vectors, order[test.topic]))
        return list(found.values())

    def _order(self, topic: str, rng: np.random.Generator) -> dict[str, float] | None:
        """Return a random number for each attribute word of a topic; those with the smallest are in A."""
        if self.name != "relabelled":
            return None
        words = {w for t in self.catalogue.tests if t.topic == topic for some in t.words[2:] for w in some}
        return {word: float(rng.random()) for word in sorted(words)}

    def _text_vectors(self, rng: np.random.Generator) -> Matrix:
        if self.vectors is not None:
            return self.vectors
        number = len(self.tokens.places)
        if self.rows is not None:
            return np.asarray(self.tokens.means @ self.rows[rng.permutation(len(self.rows))[:number]])
        tokens = rng.normal(size=(number, DIMENSION)) / math.sqrt(DIMENSION)
        common = rng.normal(size=DIMENSION)
        tokens += COMMON_MEAN * common / np.linalg.norm(common)
        if self.strengths is not None:
            self._plant(tokens, self.strengths, rng)
        return np.asarray(self.tokens.means @ tokens)

    def _plant(self, tokens: Matrix, strengths: Vector, rng: np.random.Generator) -> None:
        """Move X with A, and Y with B, along a direction of each topic."""
        for topic, strength in zip(self.catalogue.topics, strengths, strict=True):
            direction = rng.normal(size=DIMENSION)
            direction /= np.linalg.norm(direction)
            sides: dict[str, set[int]] = {}
            for test in self.catalogue.tests:
                if test.topic == topic:
                    for sign, words in zip((1, -1, 1, -1), test.words, strict=True):
                        for word in words:
                            for token in tokens_of(word):
                                sides.setdefault(token, set()).add(sign)
            for token, signs in sides.items():
                if len(signs) == 1 and token in self.tokens.places:
                    tokens[self.tokens.places[token]] += strength * next(iter(signs)) * direction

    def _calibrate(self, mean: float) -> None:
        """Find the strengths at which D of each topic has this mean."""
        low, high = np.zeros(len(self.catalogue.topics)), np.ones(len(self.catalogue.topics))
        for _ in range(BISECTIONS):
            self.strengths = (low + high) / 2
            found = np.zeros(len(low))
            for run in range(PILOT_RUNS):
                rng = generator(f"pilot, {run}")
                for place, tests in enumerate(self.topics(self.model(rng), rng)):
                    taking_part = [test for test in tests if not test.confounded]
                    found[place] += topic_of(taking_part).layout.effect_size / PILOT_RUNS
            weak = found < mean
            low, high = np.where(weak, self.strengths, low), np.where(weak, high, self.strengths)

    def _test(
        self, test: Layout, units: Matrix, vectors: Matrix, order: dict[str, float] | None
    ) -> TopicTest:
        x, y, a, b = test.units
        names = (*test.words[2], *test.words[3])
        attributes = np.concatenate([a, b])
        n_a = len(a)
        if order is not None:
            dealt = sorted(range(len(names)), key=lambda place: order[names[place]])
            names, attributes = tuple(names[place] for place in dealt), attributes[dealt]
        targets = np.concatenate([x, y])
        table = units[targets] @ units[attributes].T
        to_a, to_b = table[:, :n_a], table[:, n_a:]
        scores = to_a.mean(axis=1) - to_b.mean(axis=1)
        pole = units[attributes[:n_a]].mean(axis=0) - units[attributes[n_a:]].mean(axis=0)
        templates = None if test.templates is None else vectors[test.templates] @ pole
        n_x = len(x)
        p = permutation_test(
            *(scores[:n_x], scores[n_x:]), alternative="two-sided", budget=ROW_BUDGET, precision=ROW_PRECISION
        ).p_value
        random = random_attributes(to_a, to_b, n_x, ALPHA, templates=templates)
        return TopicTest(
            words=(*test.words[0], *test.words[1]),
            n_x=n_x,
            scores=scores,
            p_value=p,
            tables=AttributeTables(to_a, to_b, names[:n_a], names[n_a:], templates, test.template_names),
            pieces=None if self.pieces is None else self.pieces[targets],
            p_random=random.p,
            bound=None if random.interval_90 is None else random.interval_90.largest,
            confounded=test.confounded,
        )

    def small(self, test: Layout, units: Matrix) -> tuple[bool, bool]:
        """Return whether p of a test is at most 0.05, and whether p with a fixed number of pieces is, too."""
        x, y, a, b = test.units
        targets = np.concatenate([x, y])
        scores = units[targets] @ (units[a].mean(axis=0) - units[b].mean(axis=0))
        p = _two_sided_p(scores, len(x))
        pieces = None if self.pieces is None else self.pieces[targets]
        words = (*test.words[0], *test.words[1])
        found = beside_pieces(topic_of([TopicTest(words, len(x), scores, p, pieces=pieces)]), ALPHA)
        return p <= ALPHA, max(p, found.p if found else 0.0) <= ALPHA

    def p_of_sentences(self, test: Layout, vectors: Matrix) -> float | None:
        """Return the published two-sided p of a sentence test, by its normal approximation; the old rule uses it."""
        x, y, a, b = test.texts
        if len(x) == len(test.units[0]) and len(y) == len(test.units[1]):
            return None
        pole = vectors[a].mean(axis=0) - vectors[b].mean(axis=0)
        return permutation_test(
            vectors[x] @ pole, vectors[y] @ pole, alternative="two-sided", method="normal"
        ).p_value


def old_rule(topics: Sequence[Sequence[TopicTest]], sentences: Sequence[Sequence[float | None]]) -> list[str]:
    """Return what the rule of version 0.2 said: J times the smallest p of a topic's J tests, Holm over the topics."""
    both = [[1.0 if t.p_random is None else max(t.p_value, t.p_random) for t in tests] for tests in topics]
    these = adjust([min(1.0, len(tests) * min(t.p_value for t in tests)) for tests in topics], "holm")
    shown = adjust([min(1.0, len(p) * min(p)) for p in both], "holm")
    said = []
    for place, tests in enumerate(topics):
        firmest = tests[int(np.argmin(both[place]))]
        found = [t for t in tests if len(tests) * t.p_value <= ALPHA]
        signs = {bool(t.scores[: t.n_x].mean() > t.scores[t.n_x :].mean()) for t in found}
        by_sentences = any(p is not None and p <= ALPHA for p in sentences[place])
        if len(signs) == 2:
            said.append("mixed")
        elif shown[place] <= ALPHA and not lifting_words(topic_of([firmest]), ALPHA, first_only=True):
            said.append("shown")
        elif these[place] <= ALPHA:
            said.append("shown for these words")
        elif min(t.p_value for t in tests) <= ALPHA or by_sentences:
            said.append("suggested")
        else:
            said.append("cannot tell")
    return said


@dataclass(slots=True)
class Rates:
    """Counts over the runs of one world."""

    topics: list[str]
    runs: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    runs_with: Counter[str] = field(default_factory=Counter)
    p_small: Counter[str] = field(default_factory=Counter)
    p_exchange_small: Counter[str] = field(default_factory=Counter)
    p_random_small: Counter[str] = field(default_factory=Counter)
    old: Counter[str] = field(default_factory=Counter)
    effect: list[float] = field(default_factory=list)

    def add(self, decisions: Sequence[TopicDecision], old: Sequence[str]) -> None:
        """Count one run."""
        self.runs += 1
        found = [decision.outcome for decision in decisions if decision.outcome is not None]
        self.outcomes.update(found)
        self.old.update(old)
        self.runs_with["robust"] += Outcome.ROBUST in found
        self.runs_with["robust or limited"] += bool({Outcome.ROBUST, Outcome.LIMITED} & set(found))
        self.runs_with["marked row"] += any(row.marked for d in decisions for row in d.rows)
        self.runs_with["p(D)"] += any(d.evidence.p <= ALPHA for d in decisions)
        self.runs_with["old"] += any(word != "cannot tell" for word in old)
        self.runs_with["old, shown"] += "shown" in old
        for topic, decision in zip(self.topics, decisions, strict=True):
            evidence = decision.evidence
            self.p_small[topic] += evidence.p <= ALPHA
            self.p_exchange_small[topic] += evidence.p_exchange <= ALPHA
            self.p_random_small[topic] += evidence.p_random is not None and evidence.p_random <= ALPHA
            if evidence.effect_size is not None:
                self.effect.append(evidence.effect_size)

    def of_runs(self, what: str) -> float:
        """Return the share of runs."""
        return self.runs_with[what] / self.runs

    def of_topics(self, *outcomes: Outcome) -> float:
        """Return the share of topics with one of these outcomes."""
        return sum(self.outcomes[outcome] for outcome in outcomes) / (self.runs * len(self.topics))

    def old_of_topics(self, *words: str) -> float:
        """Return the share of topics with one of these outcomes by the old rule."""
        return sum(self.old[word] for word in words) / (self.runs * len(self.topics))


def measured(world: World, runs: int) -> Rates:
    """Judge this many runs of a world."""
    rates = Rates(world.catalogue.topics)
    layouts = [[t for t in world.catalogue.tests if t.topic == topic] for topic in rates.topics]
    for run in range(runs):
        rng = generator(f"{world.name}, {run}")
        vectors = world.model(rng)
        topics = world.topics(vectors, rng)
        sentences = [[world.p_of_sentences(test, vectors) for test in own] for own in layouts]
        rates.add(judge_topics(topics, ALPHA), old_rule(topics, sentences))
    return rates


@dataclass(frozen=True, slots=True)
class Bound:
    """A rate that must not be passed by more than 3 Monte Carlo errors."""

    what: str
    rate: float
    bound: float
    draws: int
    at_least: bool = False

    @property
    def broken(self) -> bool:
        """Return whether the rate is beyond its bound by more than three standard errors."""
        error = math.sqrt(self.bound * (1 - self.bound) / self.draws)
        beyond = self.bound - self.rate if self.at_least else self.rate - self.bound
        return beyond > 3 * error


def bounds_of(world: str, rates: Rates) -> Iterator[Bound]:
    """Yield the bounds that docs/methods 12 states for a world."""
    runs, topics = rates.runs, rates.runs * len(rates.topics)
    if world in WITHOUT_EFFECT:
        yield Bound("robust, of runs", rates.of_runs("robust"), 0.05, runs)
    if world in NOTHING_DIFFERS:
        yield Bound("robust or limited, of runs", rates.of_runs("robust or limited"), 0.06, runs)
        yield Bound("a marked row, of runs", rates.of_runs("marked row"), 0.06, runs)
        yield Bound("p(D) at most 0.05, of topics", rates.p_small.total() / topics, 0.07, topics)
        for topic in rates.topics:
            yield Bound(f"p(D) at most 0.05, {topic}", rates.p_small[topic] / runs, 0.08, runs)
    if world == STRONG:
        found = rates.of_topics(Outcome.ROBUST, Outcome.LIMITED)
        yield Bound("robust or limited, of topics", found, 0.80, topics, at_least=True)
        yield Bound("robust, of topics", rates.of_topics(Outcome.ROBUST), 0.60, topics, at_least=True)


def table(measurements: dict[str, Rates]) -> Iterator[str]:
    """Yield per cent of runs, and of topics in brackets."""
    yield f"| per cent of runs (topics) | {' | '.join(measurements)} |"
    yield "|---|" + "---|" * len(measurements)

    def row(name: str, cell: Callable[[Rates], str]) -> str:
        return f"| {name} | {' | '.join(cell(rates) for rates in measurements.values())} |"

    def percent(of_runs: float, of_topics: float) -> str:
        return f"{100 * of_runs:.1f} ({100 * of_topics:.1f})"

    both = (Outcome.ROBUST, Outcome.LIMITED)
    yield row("robust", lambda r: percent(r.of_runs("robust"), r.of_topics(Outcome.ROBUST)))
    yield row("robust or limited", lambda r: percent(r.of_runs("robust or limited"), r.of_topics(*both)))
    yield row(
        "p(D) ≤ 0.05 before correction",
        lambda r: percent(r.of_runs("p(D)"), r.p_small.total() / r.runs / len(r.topics)),
    )
    for outcome in (Outcome.CONFLICTING, Outcome.ISOLATED):
        yield row(outcome.value, partial(_percent_of_topics, outcome))
    yield row("a marked row", lambda r: f"{100 * r.of_runs('marked row'):.1f}")
    yield row(
        "without p_pieces: race and valence",
        lambda r: f"({100 * r.p_exchange_small['race and valence'] / r.runs:.1f})",
    )
    said = ("mixed", "shown", "shown for these words", "suggested")
    yield row(
        "old rule: anything but “cannot tell”", lambda r: percent(r.of_runs("old"), r.old_of_topics(*said))
    )
    yield row("old rule: shown", lambda r: percent(r.of_runs("old, shown"), r.old_of_topics("shown")))
    yield row("mean D", lambda r: f"{np.mean(r.effect):.2f}")
    yield row("runs", lambda r: str(r.runs))
    yield ""
    yield f"| p(D) ≤ 0.05; p_random ≤ 0.05, per cent of runs | {' | '.join(measurements)} |"
    yield "|---|" + "---|" * len(measurements)
    for topic in next(iter(measurements.values())).topics:
        yield row(topic, partial(_levels, topic))


def _percent_of_topics(outcome: Outcome, rates: Rates) -> str:
    return f"({100 * rates.of_topics(outcome):.1f})"


def _levels(topic: str, rates: Rates) -> str:
    return "; ".join(
        f"{100 * counts[topic] / rates.runs:.1f}" for counts in (rates.p_small, rates.p_random_small)
    )


def covered(cell: str, tests: int, sizes: tuple[int, int], step: int, d: float, count: int) -> Flags:
    """Return which 95 % intervals of D contain the truth, where each test starts `step` words after the one before.

    Half of the variance of a word's scores is common to all tests.

    Args:
        cell: the seed.
        tests: of the topic.
        sizes: |X| and |Y| of each.
        step: 0 where all tests have the same words.
        d: the true effect, for sets of equal size.
        count: of topics.
    """
    rng = generator(cell)
    n_x, n_y = sizes
    truth = float(Scale(n_x, n_y).effect_size(np.asarray(shift(d))))
    hits = np.zeros(count, dtype=bool)
    for run in range(count):
        pools = [rng.normal(size=n + step * (tests - 1)) for n in sizes]
        made = []
        for start in range(0, step * tests, step) if step else [0] * tests:
            common = [pool[start : start + n] for pool, n in zip(pools, sizes, strict=True)]
            scores = math.sqrt(0.5) * (np.concatenate(common) + rng.normal(size=n_x + n_y))
            scores[:n_x] += shift(d)
            words = [(side, start + place) for side, n in zip("XY", sizes, strict=True) for place in range(n)]
            made.append(TopicTest(words, n_x, scores, _two_sided_p(scores, n_x)))
        interval = measure_topic(made, ALPHA).interval
        hits[run] = interval is not None and interval.low <= truth <= interval.high
    return hits


def _two_sided_p(scores: Vector, n_x: int) -> float:
    return permutation_test(
        scores[:n_x], scores[n_x:], alternative="two-sided", budget=ROW_BUDGET, precision=ROW_PRECISION
    ).p_value


COVERAGE_MARK = "coverage of topics"
COVERAGE_RUNS = 200
COVERAGE_SIZES = ((8, 8), (5, 20), (8, 24))
EFFECTS = (0.0, 0.7, 1.4)


def coverage_table(runs: int) -> Iterator[str]:
    """Yield the coverage of the interval of D by sizes, tests, shared words and true effect, in per cent."""
    yield f"| words | tests | words in common | {' | '.join(f'd = {d:g}' for d in EFFECTS)} |"
    yield "|---|---|---|" + "---|" * len(EFFECTS)
    for sizes in COVERAGE_SIZES:
        for tests in (1, 3):
            for common, step in (("all", 0), ("half", min(sizes) // 2), ("none", max(sizes))):
                if tests == 1 and step:
                    continue
                cells = (
                    covered(f"{sizes}, {tests}, {common}, {d}", tests, sizes, step, d, runs).mean()
                    for d in EFFECTS
                )
                shown = " | ".join(f"{100 * share:.1f}" for share in cells)
                yield f"| {sizes[0]} + {sizes[1]} | {tests} | {common if tests > 1 else '–'} | {shown} |"


CONFOUNDED_RUNS = 1000
CONFOUNDED_MARK = "level of confounded tests"


def confounded_table(runs: int) -> Iterator[str]:
    """Yield the level that p by words should have in tests that are measured, not tested, and the level found."""
    yield "| test | tokens are | level by the formula, % | p ≤ 0.05, % of noise models | the larger of p and p_pieces |"
    yield "|---|---|---|---|---|"
    for name, tokens in (("noise", "words"), ("pieces", "pieces")):
        world = World(name)
        by_text = dict(enumerate(world.tokens.tokens))
        chosen = [
            (test, level)
            for test in world.catalogue.tests
            if (level := expected_level(*(world.catalogue.tokens(test, side, by_text) for side in (0, 1))))
            > LARGEST_LEVEL
        ]
        hits = np.zeros((len(chosen), 2))
        for run in range(runs):
            rng = generator(f"{name}, confounded, {run}")
            vectors = world.model(rng)
            units = world.catalogue.mean_of_texts @ vectors
            for row, (test, _) in zip(hits, chosen, strict=True):
                row += world.small(test, units)
        for (test, level), (p, larger) in zip(chosen, hits / runs, strict=True):
            beside = f"{100 * larger:.1f}" if world.pieces is not None else ""
            yield f"| {test.name} | {tokens} | {100 * level:.0f} | {100 * p:.1f} | {beside} |"


CLUSTER_RUNS = 4000
CLUSTER_MARK = "words that belong together"
SET_SIZE = 8
APART = 4.0
"""How far the means of X and Y lie apart where attribute words belong together, in units of a word's vector."""


def grouped(rng: np.random.Generator, number: int, group: int, correlation: float) -> Matrix:
    """Return random vectors, those of one group after the other; within a group they have this correlation."""
    own = rng.normal(size=(number, DIMENSION))
    common = np.repeat(rng.normal(size=(-(-number // group), DIMENSION)), group, axis=0)[:number]
    return np.asarray(math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own)


def level_of_p(group: int, correlation: float, runs: int) -> float:
    """Return how often p of 8 + 8 words is at most 0.05 without an effect, if target words belong together."""
    rng = generator(f"targets, {group}, {correlation}")
    hits = 0
    for _ in range(runs):
        targets = grouped(rng, 2 * SET_SIZE, group, correlation)
        scores = targets @ rng.normal(size=DIMENSION)
        hits += _two_sided_p(scores, SET_SIZE) <= ALPHA
    return hits / runs


def level_of_p_random(size: int, group: int, correlation: float, runs: int) -> float:
    """Return how often p for random attributes is at most 0.05 if X and Y differ, but not on A against B.

    Args:
        size: of A and of B, whose words belong together in groups.
        group: words of a group.
        correlation: within a group.
        runs: to count.
    """
    rng = generator(f"attributes, {size}, {group}, {correlation}")
    hits = 0
    for _ in range(runs):
        targets = rng.normal(size=(2 * SET_SIZE, DIMENSION))
        targets[:SET_SIZE] += APART * rng.normal(size=DIMENSION) / math.sqrt(2)
        to_a, to_b = (targets @ grouped(rng, size, group, correlation).T for _ in range(2))
        p = random_attributes(to_a, to_b, SET_SIZE, ALPHA).p
        hits += p is not None and p <= ALPHA
    return hits / runs


def clusters_table(runs: int) -> Iterator[str]:
    """Yield the level of p and of p for random attributes where words of a set belong together, in per cent."""
    yield "| words | belong together | correlation | p ≤ 0.05 | p_random ≤ 0.05 |"
    yield "|---|---|---|---|---|"
    for group, correlation in ((1, 0.0), (2, 0.4), (2, 0.7), (4, 0.7)):
        name = {1: "none", 2: "target words in pairs", 4: "target words in fours"}[group]
        level = 100 * level_of_p(group, correlation, runs)
        yield f"| {SET_SIZE} + {SET_SIZE} target words | {name} | {correlation:g} | {level:.1f} | |"
    for size in (SET_SIZE, 4):
        for group, correlation in ((1, 0.0), (2, 0.4), (2, 0.7)):
            name = "none" if group == 1 else "attribute words in pairs"
            level = 100 * level_of_p_random(size, group, correlation, runs)
            yield f"| {size} + {size} attribute words | {name} | {correlation:g} | | {level:.1f} |"


def main() -> None:
    """Print the table of the worlds that were asked for, then which bounds are broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", nargs="*", choices=[*RUNS, []], default=[])
    parser.add_argument(
        "--runs", type=int, help="of every world; by default 700 of noise, 200 to 400 of others"
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs of every world")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the tables to a file, too")
    parser.add_argument(
        "--coverage", action="store_true", help="print the coverage of the interval of D instead"
    )
    parser.add_argument(
        "--confounded",
        action="store_true",
        help="print the level of p of tests that are measured, not tested",
    )
    parser.add_argument(
        "--clusters", action="store_true", help="print the level of p where words of a set belong together"
    )
    arguments = parser.parse_args()
    for asked, mark, table_of, runs in (
        (arguments.clusters, CLUSTER_MARK, clusters_table, CLUSTER_RUNS),
        (arguments.confounded, CONFOUNDED_MARK, confounded_table, CONFOUNDED_RUNS),
        (arguments.coverage, COVERAGE_MARK, coverage_table, COVERAGE_RUNS),
    ):
        if asked:
            lines = []
            with threadpool_limits(1):
                for line in table_of(arguments.runs or runs):
                    print(line, flush=True)
                    lines.append(line)
            if arguments.write:
                write_between(arguments.write, mark, lines)
            return
    measurements, broken = {}, []
    with threadpool_limits(1):
        for name in arguments.worlds or RUNS:
            started = time.perf_counter()
            runs = arguments.runs or (QUICK_RUNS if arguments.quick else RUNS[name])
            measurements[name] = measured(World(name), runs)
            seconds = time.perf_counter() - started
            print(f"{name}: {runs} runs in {seconds:.0f} s", file=sys.stderr, flush=True)
            broken += [(name, bound) for bound in bounds_of(name, measurements[name]) if bound.broken]
    lines = list(table(measurements))
    print("\n".join(lines))
    if arguments.write:
        arguments.write.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"\n{len(broken)} bounds are broken")
    for name, bound in broken:
        side = "below" if bound.at_least else "above"
        print(f"{name}: {bound.what}: {100 * bound.rate:.1f} % is {side} {100 * bound.bound:.0f} %")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()

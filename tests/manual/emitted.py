"""Warnings that the code emits: for a kind, a small run or test that calls for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import weatherglass as wg
from weatherglass.catalogue.test import Test
from weatherglass.metrics import DEFAULT_METRIC
from weatherglass.warnings import Warning

Vectors = dict[str, list[float]]
ENDS: Vectors = {"good": [1.0, 0.0], "bad": [0.0, 1.0]}
"""The two attribute words: a word's score is its first number less its second, at unit length."""


def at(score: float) -> list[float]:
    """Return the vector of unit length whose score between `ENDS` is this."""
    angle = math.acos(score / math.sqrt(2)) - math.pi / 4
    return [math.cos(angle), math.sin(angle)]


def on_scores(x: Sequence[float], y: Sequence[float]) -> list[Warning]:
    """Return the warnings of a run on words with these scores."""
    vectors = {f"x{place}": at(score) for place, score in enumerate(x)}
    vectors |= {f"y{place}": at(score) for place, score in enumerate(y)}
    first, second = ([word for word in vectors if word.startswith(role)] for role in "xy")
    return of_run(vectors | ENDS, wg.test(first, second, ["good"], ["bad"]))


def of_run(vectors: Mapping[str, object], *tests: Test, metrics: str = DEFAULT_METRIC) -> list[Warning]:
    """Return the warnings of a run on vectors in memory."""
    return wg.run(vectors, list(tests), metrics).warnings


def on_wordllama(test: str) -> list[Warning]:
    """Return the warnings of a run of one published test on wordllama."""
    return wg.run("wordllama", test).warnings


def without(words: Iterable[str], missing: Iterable[str]) -> Vectors:
    """Return vectors of words, some of which are missing."""
    return {word: at(math.sin(place)) for place, word in enumerate(words) if word not in set(missing)}


def small_among_topics() -> list[Warning]:
    """Four words a set: p is at least 2/70, which two topics double."""
    small = wg.test(
        ["oak", "elm", "ash", "yew"], ["tin", "zinc", "lead", "gold"], ["good", "kind"], ["bad", "mean"]
    )
    return wg.run("wordllama", [small, "weat6"]).warnings


def unknown_words() -> list[Warning]:
    weat1 = wg.load_test("weat1")
    return of_run(without(weat1.texts, weat1.targets[0].words[:6]), weat1)


def broken_pairs() -> list[Warning]:
    test = wg.test(["he", "man", "king"], ["she", "woman", "queen"], ["a", "b"])
    return of_run(without(test.texts, ["queen"]), test, metrics="ripa")


def in_german() -> list[Warning]:
    test = wg.test(["Rose", "Nelke"], ["Wespe", "Fliege"], ["gut"], ["böse"], language="de").sentences(
        ["Das ist {word}."]
    )
    words = {word for text in test.texts for word in text.rstrip(".").split()}
    return of_run(without(sorted(words), []), test)


def in_japanese() -> list[Warning]:
    sets = (["数学", "物理"], ["芸術", "舞踏"], ["男"], ["女"])
    return wg.run("wordllama", wg.test(*sets, language="ja")).warnings


EMITTED: dict[str, Callable[[], Sequence[Warning]]] = {
    "fragile": lambda: on_wordllama("sent-weat6"),
    "pseudoreplication": lambda: on_wordllama("sent-weat7"),
    "fixed-attributes": lambda: on_wordllama("weat9"),
    "unreliable": lambda: on_wordllama("weat9"),
    "skewed": lambda: on_scores([0.5] * 11 + [1.3], [-0.5 + 0.01 * place for place in range(12)]),
    "spreads": lambda: on_scores([1.2, -0.4, 1.0, -0.2, 0.9], [0.01 * place for place in range(20)]),
    "too-small": lambda: on_scores([0.1, 0.2, 0.3], [-0.1, -0.2, -0.3]),
    "cannot-survive": small_among_topics,
    "pieces": lambda: on_wordllama("weat5b"),
    "unknown-words": unknown_words,
    "broken-pairs": broken_pairs,
    "other-language": in_german,
    "unfamiliar-language": in_japanese,
    "shared-words": lambda: wg.test(["sun", "fog"], ["sun", "fog", "rain"], ["good"], ["bad"]).warnings,
    "related-words": lambda: on_wordllama("weat8"),
    "duplicates": lambda: wg.test(["rose", "rose", "lily"], ["wasp", "fly"], ["good"], ["bad"]).warnings,
    "not-in-lexicon": lambda: (
        wg.test(
            ["Schmetterling", "Nachtigall"], ["Wespenstich", "Kakerlake"], ["großartig"], ["schrecklich"]
        ).warnings
    ),
    "unknown-forms": lambda: (
        wg.test(["Rose", "Hebamme"], ["Wespe", "Fliege"], ["gut"], ["böse"], language="de")
        .sentences()
        .warnings
    ),
    "profile": lambda: wg.run(tests="weat6", profile="wefe").warnings,
    "metric": lambda: wg.run(tests="weat6", metrics="mac").warnings,
    "fitted-on-test": lambda: wg.run("wordllama | hard-debias?pairs=gender", "weat6", trust="none").warnings,
    "same-sets": lambda: wg.test(["sun", "fog"], ["sun", "fog"], ["good"], ["bad"]).warnings,
    "lookalikes": lambda: wg.test(["caf\u00e9"], ["cafe\u0301"], ["good"], ["bad"]).warnings,
    "mixed-script": lambda: wg.test(["m\u0430n"], ["woman"], ["good"], ["bad"]).warnings,
    "other-script": lambda: wg.test(["врач"], ["woman"], ["good"], ["bad"]).warnings,
}
"""Kind -> what emits a warning of it, among others."""

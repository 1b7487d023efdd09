"""Words of an intersectional group: a planted truth, the level of Holm's correction, and the AUC with its interval."""

from __future__ import annotations

import itertools
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.messages import mentions, naming

import weatherglass as wg
from weatherglass.arrays import Matrix, Vector
from weatherglass.audit.intersection import Intersection, intersection
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.cli import app
from weatherglass.cli.errors import exit_code_of
from weatherglass.errors import WeatherglassError
from weatherglass.report.intersection import lines_of
from weatherglass.stats.auc import auc

GROUPS = ("black_women", "black_men", "white_women")
NAMES = 10
WIDTH = 30


def element_set(category: str, words: list[str]) -> ElementSet:
    return ElementSet(category, tuple(Element(word, word) for word in words))


def names_of(group: str, number: int = NAMES) -> list[str]:
    return [f"{group}_{place}" for place in range(number)]


def asked(*lists: list[str], names: int = NAMES) -> Test:
    """A test of words in lists X, Y, X3, …, with the names of the three groups."""
    targets = [element_set(f"list {place}", words) for place, words in enumerate(lists)]
    return Test(
        "planted", tuple(targets), tuple(element_set(group, names_of(group, names)) for group in GROUPS)
    )


def printed(found: Intersection) -> str:
    return "\n".join(map(str, lines_of(found, 0.05, 100)))


def vectors(
    random: np.random.Generator,
    places: dict[str, Vector],
    words: dict[str, Vector],
    noise: float = 0.15,
    names: int = NAMES,
) -> dict[str, Vector]:
    """The vectors of words, and of names at random around the place of their group."""
    rows = {name: places[group] for group in GROUPS for name in names_of(group, names)}
    return words | {text: place + noise * random.normal(size=WIDTH) for text, place in rows.items()}


def race_and_gender() -> tuple[dict[str, Vector], Matrix]:
    axes = np.eye(WIDTH)
    race, gender, both = axes[:3]
    return {"black_women": race + gender + both, "black_men": race, "white_women": gender}, axes


def test_planted_words_are_found_and_those_of_one_constituent_are_not() -> None:
    """A word of black people is nearer to black women than to white women, but not than to black men."""
    places, axes = race_and_gender()
    race, gender, both = axes[:3]
    known, of_race = [f"known_{n}" for n in range(6)], [f"race_{n}" for n in range(3)]
    of_gender, other = [f"gender_{n}" for n in range(3)], [f"other_{n}" for n in range(6)]
    shared = known[0]  # also an attribute of black people
    words = dict.fromkeys(known, 2 * both) | dict.fromkeys(of_race, 2 * race)
    words |= dict.fromkeys(of_gender, 2 * gender) | dict.fromkeys(other, axes[5])
    model = vectors(np.random.default_rng(0), places, words)
    found = wg.intersection(asked(known, other, [*of_race, *of_gender, shared]), {"planted": model})
    assert found.group == GROUPS[0]
    assert set(found.detected()) == set(known)
    assert set(found.emergent()) == set(known) - {shared}
    assert found.auc is not None
    assert (found.auc.value, found.auc.positives, found.auc.negatives) == (1.0, 6, 12)
    assert found.auc_emergent is not None
    assert (found.auc_emergent.positives, found.auc_emergent.negatives) == (5, 6)
    by_word = {word.word: word for word in found.words}
    assert {by_word[word].against for word in of_race} == {"black_men"}
    assert {by_word[word].against for word in of_gender} == {"white_women"}
    assert mentions(printed(found), "AUC", "6", "12")


def plain(model: dict[str, Vector], word: str, group: str, other: str, names: int) -> tuple[float, float]:
    """d and its one-sided exact p, by definition: every way to choose the names of the group."""
    rows = np.stack([model[name] for each in (group, other) for name in names_of(each, names)])
    cosines = rows @ model[word] / np.linalg.norm(rows, axis=1) / np.linalg.norm(model[word])
    differences = [
        cosines[list(chosen)].mean() - np.delete(cosines, chosen).mean()
        for chosen in itertools.combinations(range(2 * names), names)
    ]
    d = differences[0] / cosines.std(ddof=1)
    return float(d), float(np.mean(np.array(differences) >= differences[0] - 1e-12))


def test_each_word_has_the_smallest_d_and_the_largest_p_over_the_groups() -> None:
    places, _ = race_and_gender()
    words = ["one", "two", "three"]
    random = np.random.default_rng(4)
    model = vectors(random, places, {word: random.normal(size=WIDTH) for word in words}, names=4)
    found = intersection(asked(words, names=4), {"random": model})
    assert found.least_p == pytest.approx(1 / math.comb(8, 4))
    assert found.auc is None
    for word in found.words:
        expected = [plain(model, word.word, GROUPS[0], other, 4) for other in GROUPS[1:]]
        assert word.effect_size == pytest.approx(min(d for d, _ in expected))
        assert word.p_value == pytest.approx(max(p for _, p in expected))


def family_wise_errors(worlds: int) -> tuple[float, float]:
    """Return how often Holm's correction detects any of 10 words: if names do not differ, and if one group lies far
    away, so that only the comparison with the other one can prevent a detection.
    """
    random = np.random.default_rng(1)
    words = [f"word_{number}" for number in range(10)]
    found: dict[bool, list[bool]] = {False: [], True: []}
    for _ in range(worlds):
        for apart in found:
            far = -6 * np.eye(WIDTH)[0]
            places = {group: np.zeros(WIDTH) for group in GROUPS}
            if apart:
                places["white_women"] = far
            drawn = {word: 3 * np.eye(WIDTH)[0] + random.normal(size=WIDTH) for word in words}
            model = vectors(random, places, drawn, noise=1.0)
            found[apart].append(bool(intersection(asked(words), {"null": model}).detected()))
    return float(np.mean(found[False])), float(np.mean(found[True]))


@pytest.mark.large
def test_holm_keeps_its_level_where_nothing_is_planted() -> None:
    """300 worlds: at most 5 % false detections, with four standard errors of 5 %."""
    same, apart = family_wise_errors(300)
    assert same <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)
    assert apart <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)
    assert apart > 0  # the second world is the least favourable one


def test_an_interval_of_the_auc_ends_where_newcombe_says() -> None:
    """Method 5 of Newcombe (2006), written out: the ends are 1.96 standard errors away from the estimate."""
    random = np.random.default_rng(2)
    x, y = random.normal(1, 1, 9), random.normal(0, 1, 14)
    found = auc(x, y)
    assert found.value == pytest.approx(np.mean([[a > b for b in y] for a in x]))
    for end in (found.low, found.high):
        shared = (1 - end) / (2 - end) + end / (1 + end)
        variance = end * (1 - end) * (1 + ((9 + 14) / 2 - 1) * shared) / (9 * 14)
        assert abs(found.value - end) == pytest.approx(1.959964 * math.sqrt(variance), abs=1e-6)
    mirrored = auc(y, x)
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-9)
    assert mirrored.high == pytest.approx(1 - found.low, abs=1e-9)
    perfect = auc(np.arange(5.0, 10), np.arange(5.0))
    assert (perfect.value, perfect.high) == (1.0, 1.0)
    assert 0.5 < perfect.low < 0.95
    assert auc(np.arange(5.0), np.arange(5.0, 10)).low == 0.0


@pytest.mark.parametrize(
    ("sizes", "true"),
    [
        pytest.param(sizes, true, marks=[] if (sizes, true) == ((9, 9), 0.8) else [pytest.mark.large])
        for sizes in ((9, 9), (18, 18), (8, 30))
        for true in (0.5, 0.65, 0.8, 0.95)
    ],
)
def test_intervals_of_the_auc_cover(sizes: tuple[int, int], true: float) -> None:
    """Two normal distributions with one spread, whose AUC is Φ(δ/√2)."""
    from scipy.stats import norm

    random = np.random.default_rng(3)
    shift = math.sqrt(2) * float(norm.ppf(true))
    repetitions = 1000
    hits = 0
    for _ in range(repetitions):
        found = auc(random.normal(shift, 1, sizes[0]), random.normal(0, 1, sizes[1]))
        hits += found.low <= true <= found.high
    assert 0.93 <= hits / repetitions <= 0.995


def test_groups_that_are_too_small_are_reported() -> None:
    places, axes = race_and_gender()
    words = [f"word_{number}" for number in range(5)]
    model = vectors(np.random.default_rng(5), places, dict.fromkeys(words, axes[2]), names=3)
    found = intersection(asked(words, names=3), {"small": model})
    assert found.least_p == 1 / 20
    assert found.detected() == []
    assert mentions(printed(found), "0.05", "5")


@pytest.mark.parametrize(
    ("test", "options", "expected"),
    [
        ('[X]\ncategory = "W"\nwords = ["one"]\n[A]\nset = "male_names"\n', [], ("test", 1, "A", "B")),
        ("", ["-t", "weat6", "-w", "nurse"], ("--intersection", "--words")),
        (
            '[X]\nset = "flowers"\n[A]\ncategory = "Unreal"\nwords = ["xqzq", "zqxz"]\n[B]\nset = "male_names"\n',
            ["glove"],
            (0, 2, "Unreal"),
        ),
    ],
)
def test_bad_input_is_one_line(
    test: str,
    options: list[str],
    expected: tuple[object, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = tmp_path / "test.toml"
    place.write_text(test, encoding="utf-8")
    given = ["words", *options, "--intersection", *([] if "-t" in options else ["-t", str(place)])]
    monkeypatch.setattr(sys, "argv", ["weatherglass", *given])
    # As in 'weatherglass words', 3 means that the model lacks what the test needs.
    assert exit_code_of(app) == (3 if "glove" in options else 2)
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert re.search(naming(*expected), said), said


def test_names_of_every_group_are_refused() -> None:
    same = Test(
        "same",
        (element_set("words", ["one"]),),
        tuple(element_set(group, ["Amy", group]) for group in GROUPS),
    )
    with pytest.raises(WeatherglassError, match=naming("Amy")):
        intersection(same)

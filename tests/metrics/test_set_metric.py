"""The metrics beside WEAT: plain loops, independent tools, laws, p by brute force, and what a run makes of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cosine, euclidean
from scipy.stats import rankdata, spearmanr
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.results import NO_DIRECTION, Result
from weatherglass.catalogue.names import set_name
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.metrics import METRICS, select_metrics
from weatherglass.metrics.ect import ranks

Sets = list[np.ndarray]
NAMES = ("sc-weat", "rnd", "rnd(normalise=yes)", "rnsb", "mac", "ect", "ripa", "same", "direct-bias")
WITH_P = tuple(name for name in NAMES if name != "mac")
SHAPES = {"sc-weat": (1, 2), "rnsb": (2, 2), "mac": (2, 2), "same": (2, 2)}
PLAIN = {"trust": "none"}


def drawn(seed: int, width: int = 6, size: int = 4) -> tuple[Sets, Sets]:
    """Two target and two attribute sets of normal vectors."""
    rng = np.random.default_rng(seed)
    sets = [rng.standard_normal((size, width)) + rng.standard_normal(width) / 2 for _ in range(4)]
    return sets[:2], sets[2:]


def measured(name: str, targets: Sets, attributes: Sets, **changes: object) -> Result:
    """The metric on as many of the sets as it takes."""
    n_targets, n_attributes = SHAPES.get(name, (2, 1))
    return wg.measure(name, targets[:n_targets], attributes[:n_attributes], **changes)  # type: ignore[arg-type]


def cos(v: np.ndarray, w: np.ndarray) -> float:
    return 1 - float(cosine(v, w))


def plain_value(name: str, targets: Sets, attributes: Sets) -> float:
    """Each metric as its paper writes it, word by word (docs/methods 13)."""
    x, y = targets
    a, b = attributes
    if name == "sc-weat":
        effects = []
        for w in x:
            near = [cos(w, v) for v in (*a, *b)]
            effects.append((np.mean(near[: len(a)]) - np.mean(near[len(a) :])) / np.std(near, ddof=1))
        return float(np.mean(effects))
    if name.startswith("rnd"):
        if "yes" in name:
            x, y, a = (np.array([v / math.hypot(*v) for v in s]) for s in (x, y, a))
        return float(np.mean([euclidean(w, x.mean(0)) - euclidean(w, y.mean(0)) for w in a]))
    if name == "mac":
        return float(np.mean([np.mean([cosine(t, v) for v in s]) for t in (*x, *y) for s in (a, b)]))
    if name == "ect":
        to_x, to_y = ([cos(s.mean(0), v) for v in a] for s in (x, y))
        return float(spearmanr(to_x, to_y).statistic)
    if name == "ripa":
        return float(
            np.mean([w @ (p - q) / math.hypot(*(p - q)) for w in a for p, q in zip(x, y, strict=True)])
        )
    if name == "same":
        direction = np.mean([v / math.hypot(*v) for v in a], axis=0) - np.mean(
            [v / math.hypot(*v) for v in b], axis=0
        )
        return float(np.mean([abs(cos(w, direction)) for w in (*x, *y)]))
    if name == "direct-bias":
        squares, vectors = np.linalg.eigh(sum(np.outer(p - q, p - q) for p, q in zip(x, y, strict=True)))
        return float(np.mean([abs(cos(w, vectors[:, np.argmax(squares)])) for w in a]))
    assert name == "rnsb"
    from sklearn.linear_model import LogisticRegression

    labels = [0] * len(a) + [1] * len(b)
    fitted = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(np.concatenate([a, b]), labels)
    shares = fitted.predict_proba(np.concatenate([x, y]))[:, 1]
    shares = shares / shares.sum()
    return float(np.sum(shares * np.log(shares * len(shares))))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_a_value_is_what_the_paper_writes(name: str, seed: int) -> None:
    targets, attributes = drawn(seed)
    tolerance = 1e-6 if name == "rnsb" else 1e-12  # scikit-learn's solver stops earlier than ours
    assert measured(name, targets, attributes, **PLAIN).value == pytest.approx(
        plain_value(name, targets, attributes), rel=tolerance, abs=tolerance
    )


def test_same_with_three_sets_adds_what_lies_along_the_second_direction() -> None:
    (x, _), (a, b) = drawn(7)
    c = drawn(8)[1][0]
    unit = [np.mean([v / math.hypot(*v) for v in s], axis=0) for s in (a, b, c)]
    first = unit[0] - unit[1]
    first = first / math.hypot(*first)
    second = (unit[0] - unit[2]) - ((unit[0] - unit[2]) @ first) * first
    second = second / math.hypot(*second)
    expected = np.mean([abs(cos(w, first)) + abs(cos(w, second)) for w in x])
    assert wg.measure("same", [x], [a, b, c], trust="none").value == pytest.approx(expected, rel=1e-12)


def test_the_interval_of_sc_weat_holds_a_value_beyond_2() -> None:
    """With 2 and 18 attributes d reaches √(20 · 19 / (2 · 18)) = 3.25, where all cosines with a set are equal."""
    rng = np.random.default_rng(0)
    x, a, b = (
        np.eye(4)[[axis] * n] + 0.02 * rng.normal(size=(n, 4)) for axis, n in ((0, 4), (0, 2), (1, 18))
    )
    result = wg.measure("sc-weat", [x], [a, b])
    assert 3.2 < result.value < math.sqrt(20 * 19 / (2 * 18))
    for low, high in ((result.ci_low, result.ci_high), (result.ci_random_low, result.ci_random_high)):
        assert low is not None
        assert high is not None
        assert low < result.value < high <= math.sqrt(20 * 19 / (2 * 18))


@given(
    st.lists(st.lists(st.integers(-3, 3) | st.floats(-1, 1), min_size=5, max_size=5), min_size=1, max_size=4)
)
def test_ranks_are_those_of_scipy_with_and_without_ties(rows: list[list[float]]) -> None:
    numbers = np.array(rows, dtype=np.float64)
    assert np.array_equal(ranks(numbers), rankdata(numbers, axis=1))


def labellings(name: str, targets: Sets, attributes: Sets) -> list[float]:
    """The value under every exchange that the null allows, the observed one first, each from plain loops."""
    x, y = targets
    a, b = attributes
    if name == "ripa":
        signs = itertools.product([1, -1], repeat=len(x))
        swapped = (
            [(p, q) if s == 1 else (q, p) for p, q, s in zip(x, y, sign, strict=True)] for sign in signs
        )
        return [
            plain_value(name, [np.array([p for p, _ in pairs]), np.array([q for _, q in pairs])], attributes)
            for pairs in swapped
        ]
    exchanged = (a, b) if name in ("sc-weat", "rnsb", "same") else (x, y)
    pool = np.concatenate(exchanged)
    values = []
    for first in itertools.combinations(range(len(pool)), len(exchanged[0])):
        rest = [unit for unit in range(len(pool)) if unit not in first]
        new = [pool[list(first)], pool[rest]]
        values.append(
            plain_value(name, targets, new) if exchanged[0] is a else plain_value(name, new, attributes)
        )
    return values


@pytest.mark.parametrize("name", [name for name in WITH_P if name != "direct-bias"])
@pytest.mark.parametrize("seed", [1, 2])
def test_p_is_the_share_of_all_exchanges(name: str, seed: int) -> None:
    targets, attributes = drawn(seed, size=3)
    result = measured(name, targets, attributes, **PLAIN)
    values = np.array(labellings(name, targets, attributes))
    slack = 1e-7
    if name in ("rnsb", "same"):
        hits = values >= values[0] - slack
    elif name == "ect":
        hits = values <= values[0] + slack
    else:
        hits = np.abs(values - values.mean()) >= abs(values[0] - values.mean()) - slack
    assert result.p_value == pytest.approx(hits.mean(), abs=1e-12)
    assert result.p_low == result.p_high == result.p_value
    assert result.alternative == {"rnsb": "greater", "same": "greater", "ect": "less"}.get(name, "two-sided")


def test_mac_has_an_interval_but_no_p_and_no_verdict() -> None:
    """In a model whose vectors share a direction the mean cosine of any words differs from 0 (docs/methods 10.6)."""
    targets, attributes = drawn(1, size=8)
    result = measured("mac", [t + 5 for t in targets], [a + 5 for a in attributes])
    assert math.isnan(result.p_value)
    assert result.why_no_p
    assert result.ci_low is not None
    assert result.ci_high is not None
    assert result.ci_low < result.value < result.ci_high < 1
    run = wg.run(HashedEncoder(), "weat7", ["mac", "rnd"])
    assert {v.metric: v.outcome for v in run.verdicts()}["mac"] is None
    assert not any(row.marked or row.outcome for row in run.results if row.metric == "mac")


def test_p_of_direct_bias_exchanges_the_words_of_all_pairs() -> None:
    (x, y), (a, _) = drawn(3, size=3)
    pool = np.concatenate([x, y])
    values = np.array(
        [
            plain_value("direct-bias", [pool[list(order[:3])], pool[list(order[3:])]], [a, a])
            for order in itertools.permutations(range(6))
        ]
    )
    result = wg.measure("direct-bias", [x, y], [a], trust="none")
    assert result.p_value == pytest.approx((values >= values[0] - 1e-9).mean(), abs=1e-12)


@pytest.mark.parametrize("name", WITH_P)
def test_a_sampled_p_has_an_interval_that_holds_the_exact_one(name: str) -> None:
    """With 12 words a set the labellings are too many to compute; 40 000 others, drawn here, stand for all."""
    targets, attributes = drawn(11, width=8, size=12)
    result = measured(name, targets, attributes, **PLAIN)
    assert result.p_low is not None
    assert result.p_high is not None
    assert result.p_low <= result.p_value <= result.p_high + 1e-12
    if name == "rnd":
        rng = np.random.default_rng(99)
        pool = np.concatenate(targets)
        orders = np.array([rng.permutation(24) for _ in range(40_000)])
        x, y = pool[orders[:, :12]].mean(axis=1), pool[orders[:, 12:]].mean(axis=1)
        apart = [np.linalg.norm(attributes[0] - c[:, np.newaxis], axis=2) for c in (x, y)]
        values = (apart[0] - apart[1]).mean(axis=1)
        share = np.mean(np.abs(values - values.mean()) >= abs(result.value - values.mean()))
        assert result.p_low - 0.01 <= share <= result.p_high + 0.01


SEEDS = st.integers(0, 10_000)
few = settings(max_examples=25, deadline=None)


@given(seed=SEEDS, name=st.sampled_from(NAMES))
@few
def test_swapping_the_target_sets_turns_the_sign_or_nothing(seed: int, name: str) -> None:
    targets, attributes = drawn(seed)
    if name == "sc-weat":  # it has one target set; its attributes are swapped instead
        first, second = (measured(name, targets, some, **PLAIN) for some in (attributes, attributes[::-1]))
    else:
        first, second = (measured(name, some, attributes, **PLAIN) for some in (targets, targets[::-1]))
    sign = -1 if name in ("sc-weat", "rnd", "rnd(normalise=yes)", "ripa") else 1
    assert second.value == pytest.approx(sign * first.value, rel=1e-9, abs=1e-9)
    if name not in ("direct-bias", "mac"):
        assert second.p_value == pytest.approx(first.p_value, abs=1e-12)


@given(seed=SEEDS, name=st.sampled_from(NAMES))
@few
def test_rotating_changes_nothing_and_scaling_only_lengths(seed: int, name: str) -> None:
    targets, attributes = drawn(seed)
    rotation = np.linalg.qr(np.random.default_rng(seed + 1).standard_normal((6, 6)))[0]
    whole = measured(name, targets, attributes, **PLAIN).value
    turned = measured(
        name, [t @ rotation for t in targets], [a @ rotation for a in attributes], **PLAIN
    ).value
    assert turned == pytest.approx(whole, rel=1e-8, abs=1e-8)
    scaled = measured(name, [3 * t for t in targets], [3 * a for a in attributes], **PLAIN).value
    if name in ("rnd", "ripa"):
        assert scaled == pytest.approx(3 * whole, rel=1e-9)
    elif name != "rnsb":  # whose penalty depends on lengths
        assert scaled == pytest.approx(whole, rel=1e-9, abs=1e-9)


@given(seed=SEEDS, name=st.sampled_from(NAMES))
@few
def test_the_order_of_the_words_does_not_matter_to_the_last_bit(seed: int, name: str) -> None:
    targets, attributes = drawn(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(4)
    shuffled = [t[order] for t in targets], [a[rng.permutation(4)] for a in attributes]
    first, second = measured(name, targets, attributes), measured(name, *shuffled)
    numbers = [
        (r.value, r.p_value, r.ci_low, r.ci_high, r.ci_random_low, r.ci_random_high) for r in (first, second)
    ]
    assert numbers[0] == numbers[1]


def test_values_without_bias() -> None:
    east, north, up = np.eye(3)
    x = np.array([east, 2 * east])
    for name in NAMES:
        unbiased = measured(name, *drawn(0)).unbiased
        assert unbiased == (1.0 if name in ("mac", "ect") else 0.0)
    assert wg.measure("mac", [x], [np.array([north, up])]).value == 1
    assert wg.measure("rnd", [x, x], [drawn(0)[1][0][:, :3]]).value == 0
    assert wg.measure("ect", [x, x], [drawn(0)[1][0][:, :3]]).value == 1
    assert wg.measure("ripa", [x, np.array([-east, -2 * east])], [np.array([north, up])]).value == 0
    assert wg.measure("direct-bias", [x, -x], [np.array([north, up])]).value == 0
    mirrored = [np.array([north, east]), np.array([-north, east])]
    assert wg.measure("same", [x], mirrored).value == pytest.approx(0, abs=1e-12)
    assert (
        wg.measure(
            "sc-weat", [np.array([east, 3 * east])], [np.array([north, east]), np.array([-north, east])]
        ).value
        == 0
    )
    assert wg.measure(
        "rnsb", [x, x[::-1]], [np.array([north, up]), np.array([-north, -up])]
    ).value == pytest.approx(0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(6))
def test_the_interval_holds_the_value_and_agrees_with_a_two_sided_p(name: str, seed: int) -> None:
    targets, attributes = drawn(seed, size=8)
    if seed % 2:
        targets = [targets[0] + 2 * attributes[0].mean(axis=0), targets[1] - attributes[0].mean(axis=0)]
    result = measured(name, targets, attributes)
    assert result.ci_low is not None
    assert result.ci_high is not None
    assert result.ci_low <= result.value <= result.ci_high
    if name in WITH_P and result.alternative == "two-sided":
        excluded = not result.ci_low < result.unbiased < result.ci_high
        assert excluded == (result.p_value <= 0.05)


@pytest.mark.parametrize("name", NAMES)
def test_leave_one_out_is_the_value_of_what_is_left(name: str) -> None:
    targets, attributes = drawn(4)
    result = measured(name, targets, attributes)
    assert result.robustness is not None
    paired = name in ("ripa", "direct-bias")
    for left in result.robustness.left_out:
        place = int(left.name.partition("[")[2].partition("]")[0])
        kept = [
            np.delete(t, place, 0) if role in left.role else t for role, t in zip("XY", targets, strict=True)
        ]
        kept_attributes = [
            np.delete(a, place, 0) if role == left.role else a
            for role, a in zip("AB", attributes, strict=True)
        ]
        assert left.effect_size == pytest.approx(plain_value(name, kept, kept_attributes), rel=1e-6, abs=1e-7)
    n_targets, n_attributes = SHAPES.get(name, (2, 1))
    units = 4 * n_attributes + (4 if paired else 4 * n_targets)
    assert len(result.robustness.left_out) == units


def test_measure_is_strict_about_the_number_of_sets() -> None:
    x = np.eye(3)
    (rnsb,) = select_metrics(["rnsb"])
    with pytest.raises(UnitError, match=naming("rnsb", str(rnsb.info.shape), "1 and 2")):
        wg.measure("rnsb", [x], [x, x])
    with pytest.raises(UnitError, match=naming("ripa", "X", "Y", "3 and 2")):
        wg.measure("ripa", [x, x[:2]], [x])
    with pytest.raises(WeatherglassError, match=naming("*/*", 25)):
        wg.measure("*/*", [x, x], [x, x])
    with pytest.raises(WeatherglassError, match=naming("model=SPEC")):
        wg.measure("mac", [["rose"]], [["love"]])
    with pytest.raises(UnitError, match=naming("set X", "zero")):
        wg.measure("mac", [np.zeros((1, 3))], [x])
    with pytest.raises(UnitError, match=naming("pair", "same vector")):
        wg.measure("ripa", [x, x], [x])


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("mac(fast)", naming("mac", "fast", "no parameters")),
        ("rnd(normalize=yes)", naming("rnd", "normalize", "normalise")),
        ("rnd(normalise=maybe)", naming("rnd", "normalise", "maybe", "yes", "no")),
        ("direct-bias(c=-1)", naming("direct-bias", "c", "'-1'", 0)),
    ],
)
def test_a_wrong_parameter_is_one_line(spelling: str, message: str) -> None:
    with pytest.raises(WeatherglassError, match=message) as wrong:
        wg.measure(spelling, [np.eye(2)], [np.eye(2)])
    assert "\n" not in str(wrong.value)


def test_words_are_encoded_by_a_model() -> None:
    encoder = HashedEncoder()
    words = [["John", "Paul"], ["Amy", "Joan"]], [["career", "salary"], ["home", "family"]]
    by_words = wg.measure("rnsb", *words, model=encoder)
    vectors = [[encoder.encode(some) for some in kind] for kind in words]
    assert by_words.value == wg.measure("rnsb", vectors[0], vectors[1]).value
    assert [score.word for score in by_words.scores] == ["John", "Paul", "Amy", "Joan"]


def test_a_run_takes_a_test_apart_for_a_metric_of_fewer_sets(tmp_path: Path) -> None:
    names = ["weat", "sc-weat", "rnd", "mac"]
    run = wg.run(HashedEncoder(), ["weat7", "sent-weat7"], names, folder=tmp_path)
    assert not run.failures
    rows = [(r.test, r.metric, r.sets, r.row) for r in run.results][:6]
    assert rows == [
        ("weat7", "cosine/mean", "X Y A B", "weat7"),
        ("weat7", "sc-weat", "X A B", "weat7 (X A B)"),
        ("weat7", "sc-weat", "Y A B", "weat7 (Y A B)"),
        ("weat7", "rnd", "X Y A", "weat7 (X Y A)"),
        ("weat7", "rnd", "X Y B", "weat7 (X Y B)"),
        ("weat7", "mac", "X Y A B", "weat7"),
    ]
    effect_sizes = {r.metric: math.isnan(r.effect_size) for r in run.results}
    assert effect_sizes == {"cosine/mean": False, "sc-weat": True, "rnd": True, "mac": True}
    test = wg.load_test("weat7")
    encoder = HashedEncoder()
    sets = [encoder.encode(list(element_set.texts)) for element_set in test.sets]
    assert run.results[2].value == wg.measure("sc-weat", [sets[1]], sets[2:]).value
    _, arts, male, female = (set_name(element_set.category) for element_set in test.sets)
    nearer, farther = (male, female) if run.results[2].value > 0 else (female, male)
    assert run.results[2].direction == NO_DIRECTION  # its interval contains 0
    beyond = replace(run.results[2], ci_low=run.results[2].value - 1e-9, ci_high=run.results[2].value + 1e-9)
    assert mentions(beyond.direction, arts, nearer)
    assert not mentions(beyond.direction, farther)
    again = wg.run(HashedEncoder(), ["weat7", "sent-weat7"], names, folder=tmp_path)
    assert [r.value for r in again.results] == [r.value for r in run.results]


def test_words_of_sentences_are_one_unit() -> None:
    """By words a word is the mean of the vectors of its sentences."""
    encoder = HashedEncoder()
    test = wg.load_test("sent-weat7")
    means = []
    for element_set in test.sets:
        by_word: dict[str, list[np.ndarray]] = {}
        for element, vector in zip(
            element_set.elements, encoder.encode(list(element_set.texts)), strict=True
        ):
            by_word.setdefault(element.word, []).append(vector)
        means.append(np.array([np.mean(vectors, axis=0) for vectors in by_word.values()]))
    result = wg.run(encoder, "sent-weat7", "mac", trust="none").results[0]
    assert result.value == pytest.approx(plain_value("mac", means[:2], means[2:]), rel=1e-9)


def test_a_metric_that_fits_no_test_names_its_shape_and_the_tests_that_have_it() -> None:
    def words(*texts: str) -> ElementSet:
        return ElementSet(texts[0], tuple(Element(text, text) for text in texts))

    uneven = Test("uneven", (words("he", "him", "his"), words("she", "her")), (words("work", "home"),))
    ripa, rnsb = (str(metric.info.shape) for metric in select_metrics(["ripa", "rnsb"]))
    assert mentions(ripa, "paired")
    with pytest.raises(WeatherglassError, match=naming("ripa", ripa, "3 and 2", "weat1")):
        wg.run(HashedEncoder(), uneven, "ripa")
    with pytest.raises(WeatherglassError, match=naming("rnsb", rnsb, "2 and 1")):
        wg.run(HashedEncoder(), uneven, "rnsb")
    run = wg.run(HashedEncoder(), [uneven, "weat7"], ["ripa", "mac"], trust="none")
    (failure,) = run.failures
    assert failure.test == "uneven"
    assert mentions(failure.reason, "ripa", ripa, "3 and 2")
    everything = wg.run(
        HashedEncoder(), uneven, "*", trust="none"
    )  # what was not asked for by name is no failure
    assert not everything.failures
    assert {r.metric for r in everything.results} == {"rnd", "mac", "ect"}


def test_a_pair_of_which_one_word_is_unknown_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    test = wg.load_test("weat7")
    rng = np.random.default_rng(0)
    words = [w for w in test.texts if w != test.targets[0].texts[2]]
    path.write_text(
        "".join(f"{w} {' '.join(map(str, rng.standard_normal(5)))}\n" for w in words), encoding="utf-8"
    )
    (first, _) = wg.run(f"vectors:{path}", "weat7", "ripa").results
    assert first.units() == (7, 0)
    (warning,) = (each for each in first.warnings if each.kind == "broken-pairs")
    assert warning.values == {"count": 1}
    assert first.robustness is not None
    pairs = {left.name for left in first.robustness.left_out if left.role == "XY"}
    expected = zip(test.targets[0].texts, test.targets[1].texts, strict=True)
    assert pairs == {f"{x} – {y}" for x, y in expected if x != test.targets[0].texts[2]}


def test_every_metric_of_the_registry_is_tried_here() -> None:
    elsewhere = {"weat", "crows-pairs", "aul", "aula", "stereoset", "log-probability"}
    assert {name.partition("(")[0] for name in NAMES} | elsewhere == set(METRICS.names())

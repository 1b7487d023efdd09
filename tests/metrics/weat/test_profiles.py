"""Profiles against docs/methods 9 written anew in a few lines, and against the wefe package."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats
from tests.messages import naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import Matrix, Vector
from weatherglass.catalogue import load_test
from weatherglass.encoders import load_encoder
from weatherglass.errors import UnknownNameError, WeatherglassError
from weatherglass.metrics.weat.profiles import OF_SCORES, PROFILES, profile_of
from weatherglass.stats import Alternative

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "wefe_weat.json").read_text())


@pytest.fixture
def small() -> tuple[Vector, Vector]:
    """Scores with ties: multiples of 1/8, which add up without rounding."""
    rng = np.random.default_rng(3)
    return rng.integers(0, 12, 6) / 8 + 0.25, rng.integers(0, 12, 6) / 8


@pytest.fixture
def large() -> tuple[Vector, Vector]:
    """More than 100 000 partitions, one-sided p about 0.02."""
    rng = np.random.default_rng(5)
    return rng.normal(0.55, 1, 20), rng.normal(0, 1, 24)


def p_of(name: str, x: Vector, y: Vector, alternative: Alternative = "greater", seed: int = 0) -> float:
    return profile_of(name).significance(x, y, alternative, np.random.default_rng(seed)).p_value


def partition_sums(x: Vector, y: Vector) -> Vector:
    return np.array([sum(subset) for subset in combinations([*x, *y], len(x))])


def drawn_sums(x: Vector, y: Vector, draws: int) -> Vector:
    rng = np.random.default_rng(99)
    pool = np.concatenate([x, y])
    return np.array([rng.permutation(pool)[: len(x)].sum() for _ in range(draws)])


@pytest.mark.parametrize(
    ("name", "ddof"), [(name, 0 if name in ("wefe", "responsibly") else 1) for name in PROFILES]
)
def test_d_has_the_profiles_standard_deviation(name: str, ddof: int, small: tuple[Vector, Vector]) -> None:
    x, y = small
    expected = (x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=ddof)
    assert profile_of(name).effect_size(x, y) == pytest.approx(expected)
    swapped = profile_of(name).effect_size(y, x)
    assert swapped == pytest.approx(expected if name == "azarpanah2021" else -expected)


def test_may2019_and_bias_bench_count_all_partitions_with_ties(small: tuple[Vector, Vector]) -> None:
    x, y = small
    expected = (partition_sums(x, y) >= x.sum()).mean()
    assert p_of("may2019", x, y) == expected
    assert p_of("bias-bench", x, y) == pytest.approx(expected)


def test_may2019_can_miss_a_tie_that_bias_bench_sees() -> None:
    """0.1 + 0.2 and 0.3 are equal on paper and not in binary: {0.1, 0.2} ties with {0.3, 0} (docs/methods 3)."""
    x, y = np.array([0.1, 0.2]), np.array([0.3, 0.0])
    assert 0.1 + 0.2 > 0.3
    # {.1,.2}, {.3,.0}, {.1,.3}, {.2,.3} reach 0.3, {.1,.0} and {.2,.0} do not; bit equality misses {.3,.0}.
    assert p_of("bias-bench", x, y) == pytest.approx(4 / 6)
    assert p_of("may2019", x, y) == pytest.approx(3 / 6)


def test_azarpanah2021_counts_strictly_beyond_on_the_side_of_the_data(small: tuple[Vector, Vector]) -> None:
    x, y = small
    expected = (partition_sums(x, y) > x.sum()).mean()
    assert p_of("azarpanah2021", x, y, "observed") == expected
    assert p_of("azarpanah2021", y, x, "observed") == expected


def test_responsibly_counts_strictly_beyond_so_p_can_be_0(small: tuple[Vector, Vector]) -> None:
    x, y = small
    assert p_of("responsibly", x, y) == (partition_sums(x, y) > x.sum()).mean()
    assert p_of("responsibly", np.arange(6, 12.0), np.arange(6.0)) == 0
    assert p_of("responsibly", np.arange(30, 60.0), np.arange(30.0)) == 0
    assert p_of("azarpanah2021", np.arange(6, 12.0), np.arange(6.0), "observed") == 0


@pytest.mark.parametrize(
    ("name", "alternative", "draws", "added"),
    [
        ("may2019", "greater", 99_999, 1),
        ("bias-bench", "greater", 99_999, 1),
        ("azarpanah2021", "observed", 99_999, 1),
        ("responsibly", "greater", 1_000, 0),
    ],
)
def test_large_sets_are_drawn(
    name: str, alternative: Alternative, draws: int, added: int, large: tuple[Vector, Vector]
) -> None:
    x, y = large
    p = p_of(name, x, y, alternative)
    assert (p * (draws + added)) == pytest.approx(round(p * (draws + added)), abs=1e-6)
    expected = (drawn_sums(x, y, 20_000) >= x.sum()).mean()
    error = math.sqrt(expected * (1 - expected) * (1 / 20_000 + 1 / draws))
    assert p == pytest.approx(expected, abs=4.5 * error)
    floor = profile_of(name).significance(
        np.arange(30, 60.0), np.arange(30.0), alternative, np.random.default_rng(0)
    )
    assert floor.p_value == pytest.approx(added / (draws + added))


def test_caliskan2017_is_a_normal_tail_fitted_to_draws(large: tuple[Vector, Vector]) -> None:
    x, y = large
    drawn = drawn_sums(x, y, 20_000)
    z = (x.sum() - drawn.mean()) / drawn.std(ddof=1)
    assert p_of("caliskan2017", x, y) == pytest.approx(1 - NormalDist().cdf(z), rel=0.08)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_wefe_draws_with_replacement(alternative: Alternative, small: tuple[Vector, Vector]) -> None:
    x, y = small
    rng = np.random.default_rng(1)
    pool = np.concatenate([x, y])
    observed = x.sum() - y.sum()
    hits = 0
    for _ in range(20_000):
        words = rng.choice(pool, size=12)
        drawn = words[:6].sum() - words[6:].sum()
        hits += {"greater": drawn > observed, "less": drawn < observed, "two-sided": abs(drawn) > observed}[
            alternative
        ]
    p = p_of("wefe", x, y, alternative)
    assert p == pytest.approx(hits / 20_000, abs=0.025)
    assert p * 10_001 == pytest.approx(round(p * 10_001))


def wefe_sets() -> list[Matrix]:
    vectors, ends = np.array(ORACLE["vectors"]), np.cumsum(ORACLE["sizes"])
    return [vectors[end - size : end] for size, end in zip(ORACLE["sizes"], ends, strict=True)]


def test_the_wefe_profile_has_the_numbers_of_the_wefe_package() -> None:
    """wefe 1.0.1 itself on the same vectors (tests/oracles/wefe_weat.py), which it keeps in float32."""
    X, Y, A, B = wefe_sets()
    result = wg.associate(X, Y, A, B)
    x, y = result.x_scores, result.y_scores
    assert profile_of("wefe").effect_size(x, y) == pytest.approx(ORACLE["effect_size"], abs=1e-6)
    assert result.test_statistic == pytest.approx(ORACLE["statistic"], abs=1e-6)
    # Its p is drawn without a seed, so it agrees up to the error of both.
    for alternative, expected in ORACLE["p_values"].items():
        assert p_of("wefe", x, y, alternative) == pytest.approx(expected, abs=0.012)
    assert p_of("wefe", y, x, "two-sided") == pytest.approx(ORACLE["p_two_sided_swapped"], abs=0.02)
    assert ORACLE["statistic"] < 0
    assert ORACLE["p_values"]["two-sided"] == 1, "wefe's two-sided p of a negative statistic"


def test_the_wefe_profile_has_wefes_effect_sizes_of_word2vec(news_vectors: Path) -> None:
    expected = ORACLE["google_news_effect_sizes"]
    run = wg.run(str(news_vectors), tests=list(expected), profile="wefe", trust="none")
    assert {r.test: r.effect_size for r in run.results} == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", [profile.name for profile in OF_SCORES])
def test_equal_scores_are_never_significant(name: str) -> None:
    profile = profile_of(name)
    found = profile.significance(np.ones(5), np.ones(5), profile.alternatives[0], np.random.default_rng(0))
    assert found.p_value == 1


@pytest.mark.parametrize("name", [profile.name for profile in OF_SCORES])
def test_a_run_says_whose_numbers_these_are(name: str) -> None:
    run = wg.run(HashedEncoder(), tests="weat7", profile=name)
    (result,) = run.results
    profile = profile_of(name)
    assert result.p_method.startswith(f"{name}: ")
    assert result.ddof == profile.ddof
    assert result.alternative == profile.alternatives[0]
    assert result.effect_size == profile.effect_size(result.x_scores, result.y_scores)
    assert result.p_value == p_of(name, result.x_scores, result.y_scores, profile.alternatives[0])
    (warning,) = (warning for warning in run.warnings if warning.kind == "profile")
    assert warning.values == {"profile": name, "caution": profile.caution, "habits": profile.habits}
    assert run.record["settings"]["profile"] == name


def test_where_a_profile_drops_the_sign_the_direction_is_kept() -> None:
    found = wg.run(HashedEncoder(), tests="weat*").results
    plain = min(found, key=lambda result: result.effect_size)
    assert plain.effect_size < 0
    (result,) = wg.run(HashedEncoder(), tests=plain.test, profile="azarpanah2021", alpha=0.05).results
    assert result.effect_size == -plain.effect_size
    assert result.direction == plain.direction
    assert plain.ci_low is not None
    assert plain.ci_high is not None
    assert (result.ci_low, result.ci_high) == (-plain.ci_high, -plain.ci_low)


def test_the_headline_of_bias_bench_is_the_mean_size() -> None:
    run = wg.run(HashedEncoder(), tests="weat[678]", profile="bias-bench", trust="none")
    expected = np.mean([abs(result.effect_size) for result in run.results])
    assert run.record["headline"]["value"] == pytest.approx(expected)
    assert wg.run(HashedEncoder(), tests="weat6", trust="none").record["headline"] is None


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"profile": "weef"}, naming("profile", "weef", suggesting="wefe")),
        ({"profile": "may2019", "significance": "exact"}, naming("may2019", "significance", "exact")),
        ({"profile": "may2019", "ddof": 0}, naming("may2019", "n - 1", "ddof")),
        ({"profile": "may2019", "alternative": "two-sided"}, naming("may2019", "alternative", "two-sided")),
        ({"trust": "some"}, naming("trust", "some")),
        ({"resamples": 10}, naming("setting", "resamples")),
    ],
)
def test_what_a_profile_does_otherwise_is_refused(request_: dict[str, object], message: str) -> None:
    with pytest.raises(WeatherglassError, match=message):
        wg.run(HashedEncoder(), tests="weat6", **request_)  # type: ignore[arg-type]


def test_an_unknown_profile_is_an_unknown_name() -> None:
    with pytest.raises(UnknownNameError):
        profile_of("caliskan2018")


def published_scores(test: str) -> tuple[Vector, Vector]:
    """s(w, A, B) of the vectors of the embedded model, in plain numpy."""
    encoder = load_encoder("wordllama")
    x, y, a, b = (np.asarray(encoder.encode(s.texts), dtype=np.float64) for s in load_test(test).sets)
    x, y, a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y, a, b))
    axis = a.mean(axis=0) - b.mean(axis=0)
    return x @ axis, y @ axis


@pytest.mark.parametrize("test", ["weat6", "weat7", "weat4", "sent-weat6"])
@pytest.mark.parametrize("name", ["may2019", "caliskan2017", "azarpanah2021", "bias-bench"])
def test_a_profile_is_its_published_procedure(name: str, test: str) -> None:
    """All partitions where there are at most 100 000, else draws: p agrees within four standard errors of both."""
    (result,) = wg.run("wordllama", tests=test, profile=name, trust="none").results
    x, y = published_scores(test)
    both = np.concatenate([x, y])
    d = (x.mean() - y.mean()) / both.std(ddof=1)
    if name == "azarpanah2021":  # |d|, and the side on which the data lie
        d, both, x = abs(d), both * np.sign(d), x * np.sign(d)
    all_of_them = math.comb(len(both), len(x)) <= 100_000 and name != "caliskan2017"
    rng = np.random.default_rng(99)
    chosen = (
        np.array(list(combinations(range(len(both)), len(x))))
        if all_of_them
        else np.array([rng.permutation(len(both))[: len(x)] for _ in range(40_000)])
    )
    sums = both[chosen].sum(axis=1)
    if name == "caliskan2017":  # the normal tail fitted to the draws
        expected = float(stats.norm.sf(x.sum(), sums.mean(), sums.std(ddof=1)))
    elif name == "azarpanah2021":  # equal sums do not count
        expected = float((sums > x.sum() + 1e-9).mean())
    else:
        expected = float((sums >= x.sum() - 1e-9).mean())
    assert result.effect_size == pytest.approx(d, rel=1e-5)
    assert result.units() == (len(x), len(both) - len(x))
    if all_of_them:
        # Sums compared bit by bit miss the tie of the observed partition with itself, at most (docs/profiles).
        assert result.p_value == pytest.approx(expected, abs=1.5 / len(sums) if name == "may2019" else 1e-12)
    elif name == "caliskan2017":
        z = stats.norm.isf(result.p_value), stats.norm.isf(expected)
        assert z[0] == pytest.approx(z[1], abs=0.1)
    else:
        error = math.sqrt(expected * (1 - expected) * (1 / 40_000 + 1 / 100_000))
        assert result.p_value == pytest.approx(expected, abs=4 * error + 1e-4)
    tail = "observed" if name == "azarpanah2021" else "greater"
    assert (result.alternative, result.permute, result.ddof) == (tail, "elements", 1)

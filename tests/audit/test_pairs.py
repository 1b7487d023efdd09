"""Runs on sentence pairs: a tiny masked and a tiny causal model against plain loops, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.messages import mentions, naming

import weatherglass as wg
from weatherglass.audit.explain import explain
from weatherglass.audit.stored import load_run
from weatherglass.catalogue.pairs import Pair, pair_test, pairs_of
from weatherglass.encoders.base import Asked, Coverage, Encoder, Input, Observations, What
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.pairs import Sentence, StereoSet

TinyModel = Callable[[str], Path]
PAIRS = [
    Pair("The nurse is here .", "The engineer is here .", "job", "The peace is here .", "The {} is here ."),
    Pair("That is an insect .", "That is a flower .", "animal", "That is a crash ."),
    Pair("people like science .", "people like art .", "taste", "people like filth .", "people like {} ."),
    Pair("The wasp was unbelievable .", "The wasp was wonderful .", "animal", "The wasp was there ."),
]


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    from tests.encoders.transformers.tiny_models import build

    folder = tmp_path_factory.mktemp("models")
    return cache(lambda family: build(family, folder / family))  # `loaded` keeps the weights of a folder


@cache
def loaded(folder: Path) -> tuple[Any, Any]:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()


def masked_scores(folder: Path, text: str) -> tuple[list[str], list[float], float]:
    """The tokens of a text, their log-probabilities one masked at a time, and their unmasked mean."""
    import torch

    tokenizer, model = loaded(folder)
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    found = []
    with torch.no_grad():
        for place in range(1, ids.shape[1] - 1):
            hidden = ids.clone()
            hidden[0, place] = tokenizer.mask_token_id
            found.append(float(model(input_ids=hidden).logits[0, place].log_softmax(-1)[ids[0, place]]))
        whole = model(input_ids=ids).logits[0].log_softmax(-1)
    unmasked = whole[torch.arange(ids.shape[1]), ids[0]][1:-1].mean()
    return tokenizer.convert_ids_to_tokens(ids[0, 1:-1]), found, float(unmasked)


def test_a_masked_model_is_scored_as_by_a_loop(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert-masked")
    run = wg.run(f"hf:{folder}", pair_test("mine", PAIRS), ["crows-pairs", "aul", "aula", "stereoset"])
    assert not run.failures
    by_metric = {result.metric: result for result in run.results}
    for number, pair in enumerate(PAIRS):
        (more, first, all_more), (less, second, all_less) = (
            masked_scores(folder, text) for text in (pair.more, pair.less)
        )
        blocks = SequenceMatcher(None, more, less, autojunk=False).get_matching_blocks()
        shared = sum(sum(first[b.a : b.a + b.size]) - sum(second[b.b : b.b + b.size]) for b in blocks)
        assert by_metric["crows-pairs"].scores[number].score == pytest.approx(shared, abs=1e-4)
        assert by_metric["aul"].scores[number].score == pytest.approx(all_more - all_less, abs=1e-5)
    stereoset = by_metric["stereoset"]
    assert stereoset.units_x == 3  # two pairs have one term
    assert {"lms", "ss", "icat"} <= set(stereoset.notes["details"])


def test_the_stereotype_score_of_a_later_published_version_mixes_the_pieces(tiny_model: TinyModel) -> None:
    """evaluate.py of Kaneko & Bollegala, since it has AULA, averages P(piece u) over the places of all pieces."""
    import torch

    folder = tiny_model("bert-masked")
    tokenizer, model = loaded(folder)
    asked = Input("The rosewasp is here .", (4, 12))
    observed = wg.load_encoder(f"hf:{folder}", cache=False).observe([asked], "log-probabilities")
    sentence = Sentence(observed.coverage[0].tokens, np.asarray(observed.values[0]))
    (ours,) = StereoSet().sentence_scores([sentence], causal=False)
    encoded = tokenizer(asked.text, return_tensors="pt")
    ids = encoded["input_ids"]
    places = sorted({encoded.char_to_token(n) for n in range(4, 12)})
    given = ids.clone()
    given[0, places] = tokenizer.mask_token_id
    with torch.no_grad():
        matrix = model(input_ids=given).logits[0].log_softmax(-1)[places][:, ids[0, places]]
    assert len(sentence.tokens) == len(places) > 1
    assert ours == pytest.approx(float(matrix.diagonal().mean()), abs=1e-5)
    assert abs(ours - float(matrix.mean())) > 1e-4


def test_a_causal_model_is_scored_by_all_its_tokens(tiny_model: TinyModel) -> None:
    import torch
    import transformers

    folder = tiny_model("gpt2-causal")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    run = wg.run((model, tokenizer), pair_test("mine", PAIRS), "crows-pairs")
    (result,) = run.results

    def total(text: str) -> float:
        first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        ids = torch.tensor([[*([first] if first is not None else []), *tokenizer(text)["input_ids"]]])
        with torch.no_grad():
            predicted = model(input_ids=ids).logits[0].log_softmax(-1)
        return float(predicted[torch.arange(ids.shape[1] - 1), ids[0, 1:]].sum())

    for number, pair in enumerate(PAIRS):
        expected = total(pair.more) - total(pair.less)
        assert result.scores[number].score == pytest.approx(expected, abs=1e-4)


def test_a_sentence_longer_than_the_model_reads_is_cut_with_a_warning(tiny_model: TinyModel) -> None:
    long = Pair(*(f"{text} {'people ' * 10_000}" for text in PAIRS[0].sentences[:2]))
    for family in ("bert-masked", "gpt2-causal"):
        run = wg.run(
            f"hf:{tiny_model(family)}",
            pair_test("mine", [long, Pair(PAIRS[1].more, PAIRS[1].less)]),
            "crows-pairs",
        )
        (warning,) = (each for each in run.results[0].warnings if each.kind == "cut-sentences")
        assert warning.values == {"count": 1}


class Liking(Encoder):
    """A made-up masked model that finds every sentence with "she" less probable, and cannot read "x"."""

    name = "liking"
    options: ClassVar[dict[str, str]] = {}

    @property
    def gives(self) -> frozenset[What]:
        return frozenset({"log-probabilities"})

    def identity(self) -> str:
        return "liking"

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        texts = [asked if isinstance(asked, str) else asked.text for asked in inputs]
        coverage = [Coverage(tuple(text.split())) for text in texts]
        values = [
            np.full(len(text.split()), np.nan if text == "x" else -1.0 - ("she" in text.split()))
            for text in texts
        ]
        return Observations(inputs, what, values, coverage)

    def encode(self, texts: Sequence[Any]) -> Any:
        raise AssertionError(f"no vectors of {texts} are needed")

    def coverage(self, texts: Sequence[Any]) -> list[Coverage]:
        return self.observe(texts).coverage


def test_a_clear_preference_is_found_and_stored(tmp_path: Path) -> None:
    pairs = [Pair(f"he is number {n}", f"she is number {n}") for n in range(12)]
    run = wg.run(Liking(), pair_test("mine", pairs, topic="numbers"), "crows-pairs", folder=tmp_path / "run")
    (result,) = run.results
    assert result.value == 100
    assert result.p_value == 2 * 2**-12
    (verdict,) = run.verdicts()
    assert verdict.outcome == "robust"
    assert mentions(run.sentences()[0], "numbers")
    assert verdict.topic == "numbers"
    again = load_run(tmp_path / "run")
    assert again.results[0].value == 100
    assert (tmp_path / "run" / "report.html").exists()
    other = wg.run(Liking(), pair_test("mine", [Pair(p.less, p.more) for p in pairs]), "crows-pairs")
    assert other.results[0].value == 0


@pytest.mark.parametrize("family", ["bert-masked", "gpt2-causal"])
def test_explain_shows_tokens_that_add_up_to_the_scores(
    tiny_model: TinyModel, tmp_path: Path, family: str
) -> None:
    metrics = ["crows-pairs", *(["aul", "aula", "stereoset"] if family == "bert-masked" else [])]
    test = pair_test("mine", PAIRS)
    wg.run(f"hf:{tiny_model(family)}", test, metrics, folder=tmp_path / "run")
    run = load_run(tmp_path / "run")
    assert [result.metric for result in run.results] == metrics
    for result in run.results:
        for score, pair in zip(result.scores, result.notes["tokens"], strict=True):
            added = [sum((value or 0.0) * weight for _, value, weight in sentence) for sentence in pair]
            assert added[0] - added[1] == pytest.approx(score.score, abs=1e-6)
        steps = explain(tmp_path / "run", "mine", metric=result.metric, about="INSECT").steps
        (head,) = (n for n, line in enumerate(steps) if line.split() == ["X", "Y", "X", "-", "Y"])
        rows = [line.split() for line in steps[head + 1 : steps.index("", head)]]
        shown = sum(float(row[-1]) for row in rows if len(row) > 1)
        assert shown == pytest.approx(result.scores[1].score, abs=1e-6)
    with pytest.raises(WeatherglassError, match=naming("mine", "unicorn")):
        explain(tmp_path / "run", "mine", metric="crows-pairs", about="unicorn")


def test_pairs_that_the_model_cannot_read_are_dropped_and_listed() -> None:
    pairs = [Pair("he is", "she is"), Pair("x", "she was"), Pair("he was", "she was not")]
    (result,) = wg.run(Liking(), pair_test("mine", pairs), "crows-pairs").results
    assert result.target_sizes == (2, 2)
    assert any(warning.kind == "broken-pairs" for warning in result.warnings)
    assert result.notes["oov"]["dropped"]["X"] == ["x"]


def test_what_does_not_fit_is_one_line(tiny_model: TinyModel) -> None:
    test = pair_test("mine", PAIRS)
    without_a_head = f"hf:{tiny_model('bert')}"
    for model, tests, metric in (
        (without_a_head, test, "crows-pairs"),
        (f"hf:{tiny_model('gpt2-causal')}", test, "aul"),
        (Liking(), "weat6", "crows-pairs"),
        (Liking(), test, "cosine/mean"),
        (Liking(), "pairs-gender", "stereoset"),
    ):
        with pytest.raises(WeatherglassError) as raised:
            wg.run(model, tests, metric)
        assert "\n" not in str(raised.value)


def test_an_error_names_pair_tests_for_a_metric_of_pairs() -> None:
    with pytest.raises(WeatherglassError, match=naming("crows-pairs", "pairs-gender")):
        wg.run(Liking(), "weat6", "crows-pairs")


def test_a_sentence_of_10_000_tokens_is_cut_with_a_note(tiny_model: TinyModel) -> None:
    long = "is " * 10_000
    pairs = [Pair(f"The nurse {long}", f"The engineer {long}"), *PAIRS[1:2]]
    pairs = [Pair(pair.more, pair.less) for pair in pairs]
    (result,) = wg.run(f"hf:{tiny_model('bert-masked')}", pair_test("mine", pairs), "crows-pairs").results
    assert any(mentions(note, 40) for note in result.notes["oov"]["notes"])


def test_pairs_are_the_default_of_their_metrics() -> None:
    run = wg.run(Liking(), metrics="crows-pairs")
    assert len(run.results) == 6
    assert {result.context for result in run.results} == {"pair"}
    assert {pair.more for pair in pairs_of(wg.load_test("pairs-gender"))} <= {
        s.text for s in run.results[0].scores
    }

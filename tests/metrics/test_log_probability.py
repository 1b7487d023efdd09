"""WEAT on log-probabilities: the table by a loop over a tiny masked model, d in closed form, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import naming

import weatherglass as wg
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.encoders import Input
from weatherglass.errors import WeatherglassError
from weatherglass.metrics import select_metrics
from weatherglass.metrics.log_probability import TEMPLATES, fill

TinyModel = Callable[[str], Path]
SETS = (
    ("flowers", ("roses", "flower", "wonderful")),
    ("insects", ("wasp", "spiders", "insect")),
    ("pleasant", ("love", "peace", "freedom")),
    ("unpleasant", ("filth", "agony", "unbelievable")),
)


def word_test(sets: tuple[tuple[str, tuple[str, ...]], ...] = SETS) -> Test:
    x, y, a, b = (ElementSet(name, tuple(Element(word, word) for word in words)) for name, words in sets)
    return Test("tiny", (x, y), (a, b), topic="tiny")


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    from tests.encoders.transformers.tiny_models import build

    folder = tmp_path_factory.mktemp("models")
    return lambda family: build(family, folder / family)


def added_by_loop(tokenizer: Any, model: Any, template: str, target: str, attribute: str) -> float:
    """log P(target) with its pieces masked, minus that with the pieces of both words masked."""
    import torch

    text, at, other = fill(template, target, attribute)
    encoded = tokenizer(text, return_tensors="pt")
    ids = encoded["input_ids"]
    places, hidden = (
        sorted({encoded.char_to_token(n) for n in range(*span) if not text[n].isspace()})
        for span in (at, other)
    )
    totals = []
    for masked in (places, [*places, *hidden]):
        given = ids.clone()
        given[0, masked] = tokenizer.mask_token_id
        with torch.no_grad():
            predicted = model(input_ids=given).logits[0].log_softmax(-1)
        totals.append(sum(float(predicted[place, ids[0, place]]) for place in places))
    return totals[0] - totals[1]


def test_scores_are_those_of_a_loop_and_d_is_that_of_weat(tiny_model: TinyModel) -> None:
    import transformers

    folder = tiny_model("bert-masked")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    run = wg.run(f"hf:{folder}", word_test(), "log-probability")
    assert not run.failures
    (result,) = run.results
    scores = []
    for _, words in SETS[:2]:
        for word in words:
            means = [
                np.mean([added_by_loop(tokenizer, model, t, word, a) for a in attributes for t in TEMPLATES])
                for _, attributes in SETS[2:]
            ]
            scores.append(means[0] - means[1])
    assert [score.score for score in result.scores] == pytest.approx(scores, abs=1e-4)
    x, y = scores[:3], scores[3:]
    assert result.value == pytest.approx((np.mean(x) - np.mean(y)) / np.std(scores, ddof=1), abs=1e-3)
    assert result.p_value in {n / 20 for n in range(1, 21)}
    assert result.pieces is not None
    assert max(result.pieces) > 1  # words of several pieces are scored whole
    assert run.verdicts()[0].outcome is not None


def test_the_prior_that_the_published_code_reads_is_that_of_another_token(tiny_model: TinyModel) -> None:
    """bias_calculator.py of Kurita et al. reads the prior of the target at the mask of the attribute."""
    import torch
    import transformers

    folder = tiny_model("bert-masked")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    words = ("peace", "love", "was", "here", "are", "and", "there", "The")
    target_word, attribute_word, *_ = (word for word in words if len(tokenizer.tokenize(word)) == 1)
    text, at, other = fill("{target} is {attribute} .", target_word, attribute_word)
    encoded = tokenizer(text, return_tensors="pt")
    place, elsewhere = (encoded.char_to_token(span[0]) for span in (at, other))
    target = encoded["input_ids"][0, place]

    def read(masked: list[int], where: int) -> float:
        given = encoded["input_ids"].clone()
        given[0, masked] = tokenizer.mask_token_id
        with torch.no_grad():
            return float(model(input_ids=given).logits[0, where].log_softmax(-1)[target])

    likelihood, both = read([place], place), [place, elsewhere]
    inputs = [Input(text, at), Input(text, at, hidden=other)]
    found = wg.load_encoder(f"hf:{folder}", cache=False).observe(inputs, "log-probabilities").values
    ours = float(found[0][0] - found[1][0])
    assert ours == pytest.approx(likelihood - read(both, place), abs=1e-5)
    assert abs(ours - (likelihood - read(both, elsewhere))) > 1e-2


def test_words_that_the_model_reads_as_unknown_are_noted(tiny_model: TinyModel) -> None:
    (flowers, words), *others = SETS
    test = word_test(((flowers, (*words, "☃")), *others))
    (result,) = wg.run(f"hf:{tiny_model('bert-masked')}", test, "log-probability").results
    assert sum(result.notes["oov"]["notes"].values()) == 1


def test_swapped_sets_mirror_d(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert-masked")
    x, y, a, b = SETS
    values = [
        wg.run(f"hf:{folder}", word_test(sets), "log-probability({target} is {attribute}.)").results[0].value
        for sets in ((x, y, a, b), (y, x, a, b), (x, y, b, a), (y, x, b, a))
    ]
    assert values == pytest.approx([values[0], -values[0], -values[0], values[0]], abs=1e-6)


def test_templates_are_a_part_of_the_name() -> None:
    (metric,) = select_metrics(["log-probability({target} likes {attribute}., {attribute}: {target})"])
    assert metric.name == "log-probability({target} likes {attribute}., {attribute}: {target})"
    assert fill("{attribute}: {target}", "Amy", "work") == ("work: Amy", (6, 9), (0, 4))
    assert select_metrics(["log-probability"])[0].name == "log-probability"


def test_what_does_not_fit_is_one_line(tiny_model: TinyModel) -> None:
    with pytest.raises(WeatherglassError, match=naming("{target}")):
        select_metrics(["log-probability(no slot)"])
    with pytest.raises(WeatherglassError):
        select_metrics(["log-probability(templates=x)"])
    for family in ("gpt2-causal", "bert"):
        with pytest.raises(WeatherglassError) as raised:
            wg.run(f"hf:{tiny_model(family)}", word_test(), "log-probability")
        assert "\n" not in str(raised.value)
    (failure,) = wg.run(f"hf:{tiny_model('bert-masked')}", "sent-weat7", "log-probability").failures
    assert failure.test == "sent-weat7"
    with pytest.raises(WeatherglassError):
        wg.measure("log-probability", [np.ones((3, 5)), np.ones((3, 5))], [np.ones((2, 2)), np.ones((2, 2))])


def test_a_glob_leaves_out_models_without_log_probabilities() -> None:
    run = wg.run(tests="weat6", metrics=["cosine/mean", "log*"])
    assert [result.metric for result in run.results] == ["cosine/mean"]
    assert not run.failures

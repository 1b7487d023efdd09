"""A multiverse of log-probabilities: d of its specifications against runs and a plain loop, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import naming
from tests.metrics.test_log_probability import SETS, word_test

import weatherglass as wg
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.log_probability import TEMPLATES, fill

CHOICES = ("template", "casing", "pieces", "score")
ALONE: dict[str, Any] = {"similarities": ("log-probability",), "statistics": ("mean",)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.encoders.transformers.tiny_models import build

    return build("bert-masked", tmp_path_factory.mktemp("models") / "bert-masked")


def likelihood(tokenizer: Any, model: Any, template: str, target: str, attribute: str) -> float:
    """The mean log-probability of the target's pieces, all masked, in lower case."""
    import torch

    text, at, _ = fill(template.lower(), target.lower(), attribute.lower())
    encoded = tokenizer(text, return_tensors="pt")
    ids = encoded["input_ids"]
    places = sorted({encoded.char_to_token(n) for n in range(*at)})
    given = ids.clone()
    given[0, places] = tokenizer.mask_token_id
    with torch.no_grad():
        predicted = model(input_ids=given).logits[0].log_softmax(-1)
    return float(np.mean([float(predicted[place, ids[0, place]]) for place in places]))


def test_specifications_are_those_of_runs_and_of_a_loop(folder: Path) -> None:
    import transformers

    found = wg.multiverse(f"hf:{folder}", word_test(), CHOICES, **ALONE)
    assert not found.failures
    (topic,) = found.topics
    specifications = topic["specifications"]
    assert len(specifications) == len(TEMPLATES) * 2 * 2 * 2

    def d(*levels: str) -> float:
        (one,) = (each for each in specifications if [each[choice] for choice in CHOICES] == list(levels))
        return float(one["d"])

    (result,) = wg.run(f"hf:{folder}", word_test(), f"log-probability({TEMPLATES[1]})").results
    assert d(TEMPLATES[1], "as written", "sum", "minus the prior") == pytest.approx(result.value, abs=1e-4)

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    scores = []
    for _, words in SETS[:2]:
        for word in words:
            means = [
                np.mean([likelihood(tokenizer, model, TEMPLATES[0], word, a) for a in attributes])
                for _, attributes in SETS[2:]
            ]
            scores.append(means[0] - means[1])
    expected = (np.mean(scores[:3]) - np.mean(scores[3:])) / np.std(scores, ddof=1)
    assert d(TEMPLATES[0], "lower case", "mean", "without the prior") == pytest.approx(expected, abs=1e-3)
    assert set(topic["lists"][0]["by_level"]) == set(CHOICES)


def test_what_does_not_fit_is_one_line(folder: Path) -> None:
    with pytest.raises(WeatherglassError, match=naming("log-probability")):
        wg.multiverse(f"hf:{folder}", word_test(), similarities=("cosine", "log-probability"))
    with pytest.raises(WeatherglassError, match=naming("log-probability")):
        wg.multiverse(f"hf:{folder}", "sent-weat6", **ALONE)
    with pytest.raises(WeatherglassError, match=naming("log-probabilities")):
        wg.multiverse(tests=word_test(), **ALONE)
    x, y, a, b = SETS
    overlapping = word_test((x, y, a, (b[0], (*b[1], "roses"))))
    with pytest.raises(WeatherglassError, match=naming("roses")):
        wg.multiverse(f"hf:{folder}", overlapping, **ALONE)

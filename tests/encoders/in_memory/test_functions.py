"""Functions and unknown objects as models: what they give is used, and what cannot be known of them is said."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming

import weatherglass
from weatherglass.errors import EncoderError, WeatherglassError


def embed(texts: list[str]) -> Any:
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=16) for seed in seeds])


class Encodes:
    def encode(self, texts: list[str]) -> Any:
        return embed(texts).tolist()


class Transforms:
    def transform(self, texts: list[str]) -> Any:
        from scipy.sparse import csr_matrix

        return csr_matrix(embed(texts))


@pytest.fixture(scope="module")
def expected() -> float:
    """d by the numbers alone, without any model."""
    sets = [embed(list(each.texts)) for each in weatherglass.load_test("weat6").sets]
    return weatherglass.measure("cosine/mean", sets[:2], sets[2:]).effect_size


@pytest.mark.parametrize(
    ("thing", "name"), [(embed, "embed"), (Encodes(), "Encodes"), (Transforms(), "Transforms")]
)
def test_it_is_run_as_a_model_under_its_own_name(thing: Any, name: str, expected: float) -> None:
    run = weatherglass.run(thing, "weat6")
    assert run.results[0].model == name
    assert run.results[0].effect_size == pytest.approx(expected, rel=1e-12)


def test_the_record_says_that_it_is_not_resumable(tmp_path: Path) -> None:
    first = weatherglass.run(embed, "weat6", folder=tmp_path)
    (entry,) = first.record["models"]
    assert entry["resumable"] is False
    assert mentions(entry["notes"][-1], "resumable")
    weatherglass.run(embed, "weat6", folder=tmp_path)
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 2, (
        "another function may stand behind it"
    )


def test_a_caller_who_vouches_for_it_can_resume(tmp_path: Path) -> None:
    for _ in range(2):
        ours = weatherglass.model(embed, name="ours", identity="version 3")
        run = weatherglass.run(ours, "weat6", folder=tmp_path)
    assert run.record["models"][0]["resumable"] is True
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 1


def test_names_come_from_the_caller(expected: float) -> None:
    run = weatherglass.run({"old": embed, "new": Encodes(), "default": "wordllama"}, "weat6")
    assert [result.model for result in run.results] == ["old", "new", "default"]
    assert run.results[1].effect_size == pytest.approx(expected)
    assert weatherglass.run(weatherglass.model(embed, name="mine"), "weat6").results[0].model == "mine"


def test_two_objects_of_one_name_are_told_apart_by_the_user() -> None:
    with pytest.raises(WeatherglassError, match=r"weatherglass\.model\(object, name=NAME\)"):
        weatherglass.run([Encodes(), Encodes()], "weat6")


def test_measure_and_multiverse_take_objects_too(expected: float) -> None:
    test = weatherglass.load_test("weat6")
    words = [list(each.words) for each in test.sets]
    result = weatherglass.measure("cosine/mean", words[:2], words[2:], model=embed)
    assert result.effect_size == pytest.approx(expected)
    multiverse = weatherglass.multiverse(embed, "weat6", choices=["similarity"])
    assert multiverse.topics[0]["model"] == "embed"


@pytest.mark.parametrize(
    ("thing", "facts"),
    [
        (3, ["int", "KeyedVectors", "SentenceTransformer"]),
        (np.zeros((2, 2)), ["array", "words", "KeyedVectors"]),
        (Encodes, ["Encodes", "class", "Encodes(…)"]),
        ({}, ["empty", "dict"]),
        (None, ["None", "KeyedVectors"]),
        ({3: embed}, ["names", "int"]),
        (lambda _: 3, ["32 texts", "32 rows", "shape ()"]),
        (lambda texts: embed(texts)[0], ["32 rows", "shape (16,)"]),
        (lambda texts: embed(texts[:3]), ["32 rows", "shape (3, 16)"]),
        (lambda _: "text", ["32 rows", "str"]),
        (lambda _: 1 / 0, ["ZeroDivisionError: division by zero"]),
    ],
)
def test_anything_else_is_one_clear_line(thing: Any, facts: list[str]) -> None:
    with pytest.raises(EncoderError, match=naming(*facts)) as caught:
        weatherglass.run(thing, "weat6")
    assert "\n" not in str(caught.value)


def test_a_spec_is_no_object() -> None:
    with pytest.raises(EncoderError, match="NAME=SPEC"):
        weatherglass.model("wordllama", name="x")


def test_a_path_is_a_spec(tmp_path: Path) -> None:
    file = tmp_path / "v.txt"
    words = weatherglass.load_test("weat6").texts
    file.write_text(
        "".join(f"{w} {' '.join(map(str, v))}\n" for w, v in zip(words, embed(list(words)), strict=True))
    )
    assert weatherglass.run(file, "weat6").results[0].model == f"vectors:{file}"


def test_long_lists_come_in_parts_so_that_progress_is_shown() -> None:
    calls = []

    def counted(texts: list[str]) -> Any:
        calls.append(len(texts))
        return embed(texts)

    weatherglass.run(counted, "sent-weat1")
    assert len(calls) > 1
    assert max(calls) <= 512


def test_objects_are_encoded_here_also_with_several_processes(expected: float) -> None:
    run = weatherglass.run(embed, "weat6", jobs=2)
    assert run.results[0].effect_size == pytest.approx(expected)


def test_masked_values_of_a_function_are_refused_with_their_text() -> None:
    def masked(texts: list[str]) -> Any:
        return np.ma.masked_array(np.ones((len(texts), 2)), mask=[[False, text == "b"] for text in texts])

    assert weatherglass.model(masked).encode(["a", "c"]).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    for given in (masked, lambda texts: list(masked(texts))):
        with pytest.raises(EncoderError, match="the vector of 'b' has masked values"):
            weatherglass.model(given).encode(["a", "b", "c"])


def test_sparse_tensors_and_tensors_with_gradients_are_read() -> None:
    torch = pytest.importorskip("torch", reason="the tensors of this test are torch's")
    dense = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    for given in (dense.to_sparse(), dense.requires_grad_(), dense.bfloat16()):
        assert weatherglass.model(lambda _, given=given: given).encode(["a", "b"]).tolist() == [
            [1.0, 0.0],
            [0.0, 2.0],
        ]

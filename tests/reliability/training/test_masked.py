"""The tiny masked language model: its texts and masks, the same weights for a seed, and a folder that `hf:` loads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from weatherglass.encoders import load_encoder
from weatherglass.encoders.base import Input
from weatherglass.errors import CorpusError, MissingExtraError
from weatherglass.parallel import InProcess
from weatherglass.reliability.corpus import Corpus, CorpusSettings, encode_corpus
from weatherglass.reliability.training.embedding import load_embedding
from weatherglass.reliability.training.masked import (
    CLS,
    FILES,
    MASK,
    NOT_PREDICTED,
    PAD,
    SEP,
    SPECIAL,
    UNK,
    MaskedSettings,
    _Texts,
    masked,
    model_folder,
    train_masked,
)
from weatherglass.reliability.training.train import TrainingUnit, embedding_path, train_all

TINY = MaskedSettings(dimensions=16, epochs=2, vocabulary=40, length=8)


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Return a corpus in which "sun" follows "the warm", and "moon" follows "the cold"."""
    folder = tmp_path_factory.mktemp("masked")
    random = np.random.default_rng(3)
    ends = ["in may", "today", "at sea again"]
    pairs = [("warm", "sun"), ("cold", "moon")]
    lines = [
        "the {} {} ".format(*pairs[random.integers(2)])
        + ends[random.integers(3)]
        + " x" * random.integers(0, 9)
        for _ in range(1500)
    ]
    (folder / "text.txt").write_text("\n".join([*lines, "alone"]), encoding="utf-8")
    return encode_corpus("text", folder / "text.txt", folder / "encoded", CorpusSettings(min_count=1))


def unit(corpus: Corpus, folder: Path, seed: int = 1, settings: MaskedSettings = TINY) -> TrainingUnit:
    return TrainingUnit(
        corpus.folder, "masked", settings, seed, embedding_path(folder, corpus, "masked", settings, seed)
    )


def test_every_token_is_in_one_text_and_rare_words_are_unknown(encoded: Corpus) -> None:
    few = replace(TINY, vocabulary=5)
    texts = _Texts(encoded, few)
    batches = list(texts.epoch(np.random.default_rng(1)))
    assert len(batches) == texts.batches
    tokens = np.concatenate([batch.ravel() for batch in batches])
    assert max(batch.shape[1] for batch in batches) == few.length
    found = np.bincount(tokens, minlength=texts.size)
    expected = np.bincount(encoded.tokens)
    lengths = np.diff(encoded.offsets)
    ones = np.concatenate(  # a part of one word has no context
        [encoded.tokens[end - 1 : end] for end in encoded.offsets[1:][lengths % (few.length - 2) == 1]]
    )
    expected -= np.bincount(ones, minlength=len(expected))
    assert found[len(SPECIAL) :].tolist() == expected[:5].tolist()
    assert found[UNK] == expected[5:].sum()
    assert found[CLS] == found[SEP] == sum(len(batch) for batch in batches)
    assert all((batch[:, 0] == CLS).all() for batch in batches)


def test_words_are_masked_at_the_stated_rates_and_special_tokens_never() -> None:
    random = np.random.default_rng(2)
    ids = random.integers(0, 50, (2000, 20))
    read, expected = masked(ids, 50, random)
    chosen = expected != NOT_PREDICTED
    words = ids >= len(SPECIAL)
    assert not (chosen & ~words).any()
    assert (expected[chosen] == ids[chosen]).all()
    assert (read[~chosen] == ids[~chosen]).all()
    assert chosen[words].mean() == pytest.approx(0.3, abs=0.01)
    assert (read[chosen] == MASK).mean() == pytest.approx(0.8, abs=0.02)
    assert (read[chosen] == ids[chosen]).mean() == pytest.approx(0.1 + 0.1 / 45, abs=0.01)
    assert (read[words] != PAD).all()


@pytest.mark.parametrize("wrong", [{"dimensions": 15}, {"length": 3}])
def test_settings_without_a_model_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(CorpusError):
        replace(TINY, **wrong)


def test_a_missing_extra_is_told_before_training(encoded: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weatherglass.storage.installed.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="transformers"):
        train_masked(encoded, 1, TINY)


@pytest.fixture(scope="module")
def trained(encoded: Corpus, tmp_path_factory: pytest.TempPathFactory) -> TrainingUnit:
    pytest.importorskip("transformers")
    made = unit(
        encoded,
        tmp_path_factory.mktemp("trained"),
        settings=replace(TINY, dimensions=32, epochs=24, rate=7e-3),
    )
    assert not train_all([made], InProcess())
    return made


def test_hf_loads_the_model_and_it_has_learned_the_text(trained: TrainingUnit) -> None:
    model = load_encoder(f"hf:{model_folder(trained.target)}", cache=False)

    def log_probability(word: str, before: str) -> float:
        text = f"The {before} {word} today."  # the tokenizer drops the full stop, as the corpus did
        start = text.index(word)
        found = model.observe([Input(text, (start, start + len(word)))], "log-probabilities")
        assert found.coverage[0].tokens == (word,)
        return float(found.values[0][0])

    for word, before, other in (("sun", "warm", "cold"), ("moon", "cold", "warm")):
        assert log_probability(word, before) > log_probability(word, other) + 1
    assert model.coverage(["The Warm Zebra."])[0].tokens == ("[CLS]", "the", "warm", "[UNK]", "[SEP]")


def test_the_word_vectors_are_those_of_the_model(trained: TrainingUnit, encoded: Corpus) -> None:
    from transformers import AutoModelForMaskedLM

    model = AutoModelForMaskedLM.from_pretrained(model_folder(trained.target))
    embedding = load_embedding(trained.target)
    weights = model.get_input_embeddings().weight.detach().numpy()
    assert list(embedding.words) == encoded.words[:40]
    np.testing.assert_array_equal(embedding.vectors, weights[len(SPECIAL) :])


def test_a_seed_gives_the_same_bytes_whatever_came_before(encoded: Corpus, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    small = replace(TINY, epochs=1)
    made = []
    for number, seed in enumerate((1, 1, 2)):
        torch.manual_seed(99 + number)
        before = torch.random.get_rng_state()
        one = unit(encoded, tmp_path / str(number), seed, small)
        assert not train_all([one], InProcess())
        assert (torch.random.get_rng_state() == before).all()
        made.append(
            [one.target.read_bytes(), *((model_folder(one.target) / name).read_bytes() for name in FILES)]
        )
    assert made[0] == made[1]
    assert made[0][0] != made[2][0]


def test_a_damaged_model_is_trained_again(encoded: Corpus, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    one = unit(encoded, tmp_path, settings=replace(TINY, epochs=1))
    assert not train_all([one], InProcess())
    weights = model_folder(one.target) / "model.safetensors"
    before = weights.read_bytes()
    weights.write_bytes(before[:-4] + b"\0\1\2\3")
    with pytest.warns(UserWarning, match="model|masked"):
        train_all([one], InProcess())
    assert weights.read_bytes() == before

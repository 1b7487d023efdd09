"""Real vectors, word2vec GoogleNews: what is read gives the published effect sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.published import NEWS_EFFECT_SIZES

from weatherglass.catalogue import load_test
from weatherglass.encoders.vectors import VectorEncoder
from weatherglass.storage.unpickle import Record, read_pickle
from weatherglass.vectors import read_vectors
from weatherglass.vectors.arrays import RECORDS


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


@pytest.fixture(scope="module")
def encoder(news_vectors: Path) -> VectorEncoder:
    """The words of all these tests, looked up in one reading of the file."""
    encoder = VectorEncoder(news_vectors, case="exact")
    encoder.encode([text for name in NEWS_EFFECT_SIZES for text in load_test(name).texts])
    return encoder


@pytest.mark.parametrize("name", NEWS_EFFECT_SIZES)
def test_effect_sizes_of_word2vec_match_the_published_ones(name: str, encoder: VectorEncoder) -> None:
    sets = [encoder.encode([element.text for element in group.elements]) for group in load_test(name).sets]
    X, Y, A, B = (unit(vectors[~np.isnan(vectors).any(axis=1)]) for vectors in sets)
    # Cosine/mean written out here, apart from the code that weatherglass scores with.
    x, y = ((group @ A.T).mean(axis=1) - (group @ B.T).mean(axis=1) for group in (X, Y))
    effect_size = (x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=1)
    assert effect_size == pytest.approx(NEWS_EFFECT_SIZES[name], abs=0.005)


def test_the_file_has_13013_words_of_300_numbers(news_vectors: Path) -> None:
    record = read_pickle(news_vectors, RECORDS)
    assert isinstance(record, Record)
    words = [str(word) for word in record.state["index2word"]]
    vectors = read_vectors(news_vectors, words)
    assert vectors.matrix.shape == (13_013, 300)
    assert vectors.duplicates == 0


def test_only_the_axe_of_weat2_is_missing(encoder: VectorEncoder) -> None:
    covered = encoder.coverage(load_test("weat2").texts)
    assert [word for text in covered for word in text.missing] == ["axe"]

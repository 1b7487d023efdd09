"""Word vectors for the papers' encoders: the vocabulary of a file and nothing beyond it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from weatherglass.encoders.papers.recurrent import WordLookup


def test_a_fasttext_bin_gives_what_its_vec_file_gives_and_no_subword_vectors(tmp_path: Path) -> None:
    from gensim.models import FastText
    from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

    sentences = [["the", "rose", "is", "red"], ["the", "violet", "is", "blue"]] * 3
    trained = FastText(sentences, vector_size=4, min_count=1, epochs=1, bucket=50, workers=1, seed=1)
    save_facebook_model(trained, str(tmp_path / "model.bin"))
    load_facebook_vectors(str(tmp_path / "model.bin")).save_word2vec_format(tmp_path / "model.vec")
    binary, text = WordLookup(tmp_path / "model.bin"), WordLookup(tmp_path / "model.vec")
    for lookup in (binary, text):
        lookup.load(["rose", "violet", "roses"])
        assert "roses" not in lookup
        assert lookup.looked_up("roses")
    words = ["rose", "violet"]
    np.testing.assert_allclose(binary.vectors(words), text.vectors(words), atol=1e-6)

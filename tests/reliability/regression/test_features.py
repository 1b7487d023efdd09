"""Word features: what WordNet and the lexicon say, and what the vectors say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.messages import in_order, naming

from weatherglass.errors import CorpusError, WeatherglassError
from weatherglass.languages import lexicon as dictionaries
from weatherglass.languages.lexicon import Lexicon, WordNet, find_lexicon, find_wordnet
from weatherglass.reliability.regression import features
from weatherglass.reliability.regression.features import (
    embedding_stability,
    nearest_neighbour_similarity,
    word_features,
)
from weatherglass.reliability.training.embedding import Embedding, Vectors, save_embedding

NONE = np.array([], dtype=np.int64)


def vectors(rng: np.random.Generator, words: int = 300, width: int = 12) -> Vectors:
    return rng.normal(size=(words, width)).astype(np.float32)


def rotation(rng: np.random.Generator, width: int = 12) -> Vectors:
    return np.linalg.qr(rng.normal(size=(width, width)))[0].astype(np.float32)


# --- Embedding stability -----------------------------------------------------------------------------------------


def test_stability_of_rotated_embeddings_is_one() -> None:
    rng = np.random.default_rng(1)
    base = vectors(rng)
    turned = [base, base @ rotation(rng), 3 * base @ rotation(rng)]
    np.testing.assert_allclose(embedding_stability(turned), 1, atol=1e-5)


def test_stability_of_independent_embeddings_is_near_zero() -> None:
    rng = np.random.default_rng(2)
    independent = [vectors(rng, 4000, 10) for _ in range(3)]
    # Procrustes finds a little even in noise: the mean cosine falls as sqrt(width / words).
    assert abs(embedding_stability(independent).mean()) < 0.06


def test_stability_is_the_mean_over_pairs_of_scipys_alignment() -> None:
    from scipy.linalg import orthogonal_procrustes

    rng = np.random.default_rng(3)
    base = vectors(rng)
    seeds = [(base + vectors(rng) / 2) @ rotation(rng) for _ in range(4)]
    cosines = []
    for i in range(4):
        for j in range(i + 1, 4):
            turned = seeds[i] @ orthogonal_procrustes(seeds[i], seeds[j])[0]
            lengths = np.linalg.norm(turned, axis=1) * np.linalg.norm(seeds[j], axis=1)
            cosines.append((turned * seeds[j]).sum(1) / lengths)
    np.testing.assert_allclose(embedding_stability(seeds), np.mean(cosines, axis=0), atol=1e-5)


def test_stability_does_not_depend_on_blocks_or_on_which_words_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    seeds = [vectors(rng) for _ in range(3)]
    every_word = embedding_stability(seeds)
    rows = rng.permutation(300)[:40]
    monkeypatch.setattr(features, "BLOCK", 17)
    np.testing.assert_allclose(embedding_stability(seeds, rows), every_word[rows], atol=1e-5)


def test_one_seed_has_no_stability() -> None:
    assert np.isnan(embedding_stability([vectors(np.random.default_rng(5))])).all()


def test_a_zero_vector_has_no_stability_and_spoils_no_other() -> None:
    rng = np.random.default_rng(6)
    base = vectors(rng)
    base[7] = 0
    stability = embedding_stability([base, base @ rotation(rng)])
    assert np.flatnonzero(np.isnan(stability)).tolist() == [7]


# --- Nearest neighbour -------------------------------------------------------------------------------------------


def test_the_nearest_neighbour_is_never_the_word_itself_nor_a_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    angles = np.deg2rad([0, 10, 25, 100, 101])
    fan = np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32) * [[1], [2], [3], [4], [5]]
    monkeypatch.setattr(features, "BLOCK_BYTES", 40)  # two words at a time
    rows = np.arange(5)
    similarities = nearest_neighbour_similarity(fan.astype(np.float32), rows, np.array([4]))
    np.testing.assert_allclose(similarities, np.cos(np.deg2rad([10, 10, 15, 75, 1])), atol=1e-5)


# --- Tables ------------------------------------------------------------------------------------------------------


def embeddings(rng: np.random.Generator, seeds: int = 3) -> list[Embedding]:
    words = ["<unk>", *(f"w{i}" for i in range(30))]
    counts = np.arange(40, 9, -1)
    return [
        Embedding(words, counts, vectors(rng, 31, 8), "sgns", seed, "forum", corpus_hash="abc")
        for seed in range(1, seeds + 1)
    ]


def test_features_hold_what_is_known_of_each_word() -> None:
    seeds = embeddings(np.random.default_rng(7))
    known = Lexicon({"w0": 5, "w1": 2}, {"w0": "noun", "w2": "verb"})
    table = word_features(seeds, known)
    first = table.row(by_predicate=pl.col("word") == "w0", named=True)
    assert (first["corpus"], first["algorithm"], first["frequency"]) == ("forum", "sgns", 39)
    assert (first["senses"], first["pos"]) == (5, "noun")
    lengths = [float(np.linalg.norm(seed.vectors[1])) for seed in seeds]
    assert first["l2_norm"] == pytest.approx(np.mean(lengths), rel=1e-6)
    everything = word_features(seeds, Lexicon(None, None))
    assert first["nn_similarity"] == pytest.approx(everything["nn_similarity"][1])
    assert first["stability"] == pytest.approx(everything["stability"][1])
    unknown = table.row(by_predicate=pl.col("word") == "w1", named=True)
    assert unknown["pos"] is None
    assert unknown["nn_similarity"] is None  # it leaves the regression, so its neighbours are not sought


def test_stored_embeddings_give_the_features_of_those_in_memory(tmp_path: Path) -> None:
    seeds = embeddings(np.random.default_rng(8))
    paths = [tmp_path / f"{seed.seed}.safetensors" for seed in seeds]
    for path, seed in zip(paths, seeds, strict=True):
        save_embedding(path, seed)
    none = Lexicon(None, None)
    assert word_features(paths, none).equals(word_features(seeds, none))


def test_embeddings_of_different_vocabularies_are_compared_on_the_words_they_share() -> None:
    rng = np.random.default_rng(9)
    matrix = vectors(rng, 40, 6)
    names = [f"w{i}" for i in range(40)]
    turned = matrix @ rotation(rng, 6)
    order = rng.permutation(30)
    counts = np.zeros(40, dtype=np.int64)
    one = Embedding(names, counts, matrix, "imported", 1, "c")
    other = Embedding([names[i] for i in order], counts[:30], turned[order], "imported", 2, "c")
    table = word_features([one, other], Lexicon(None, None))
    assert table["word"].to_list() == names[:30]
    np.testing.assert_allclose(table["stability"].to_numpy(), 1, atol=1e-5)
    assert table["frequency"].null_count() == 30  # imported embeddings may have no counts


def test_embeddings_of_two_algorithms_have_no_common_features() -> None:
    one, other = embeddings(np.random.default_rng(10), 2)
    glove = Embedding(other.words, other.counts, other.vectors, "glove", 1, "forum", corpus_hash="abc")
    with pytest.raises(CorpusError, match=in_order("sgns", "forum", "abc", 8, "glove", "forum", "abc", 8)):
        word_features([one, glove], Lexicon(None, None))


# --- Dictionaries ------------------------------------------------------------------------------------------------

# WordNet 3.0's own program, `wn WORD -over` of Debian's package wordnet, summed over parts of speech and base forms.
SENSES = {
    "bank": 18,
    "run": 57,
    "dog": 8,
    "cats": 10,
    "set": 45,
    "better": 50,
    "fewest": 2,
    "geese": 3,
    "qwx": 0,
}


# Lemma, part and number of synsets in WordNet 3.0's index files: all entries that the words above have a form of.
INDEX = {
    "noun": "bank 10, better 4, cat 8, dog 7, few 1, good 4, goose 3, run 16, set 13, well 5",
    "verb": "bank 8, better 3, cat 2, dog 1, goose 3, run 41, set 25, well 1",
    "adj": "better 4, few 1, fewer 1, fewest 1, good 21, set 7, well 3",
    "adv": "better 2, good 2, well 13",
}
EXCEPTIONS = {"noun": "geese goose\n", "adj": "better good well\n", "adv": "better well\n"}


@pytest.fixture
def excerpt(tmp_path: Path) -> Path:
    """A WordNet of these entries, in the form of its files (wndb(5))."""
    for part, entries in INDEX.items():
        letter = "r" if part == "adv" else part[0]
        counts = [entry.rsplit(maxsplit=1) for entry in entries.split(", ")]
        lines = [f"{lemma} {letter} {n} 1 @ {n} 0" for lemma, n in counts]
        (tmp_path / f"index.{part}").write_text("\n".join(["  1 A licence line.", *lines, ""]), "utf-8")
    for part, lines_of in EXCEPTIONS.items():
        (tmp_path / f"{part}.exc").write_text(lines_of, "utf-8")
    return tmp_path


def test_senses_are_those_of_wordnets_own_program(excerpt: Path) -> None:
    assert {word: WordNet(excerpt).senses(word) for word in SENSES} == SENSES


@pytest.mark.large
def test_senses_in_the_whole_wordnet_are_those_of_its_own_program() -> None:
    folder = find_wordnet()
    if folder is None or not (folder / "noun.exc").is_file():
        pytest.skip("WordNet 3.0 is not installed (Debian: wordnet-base)")
    index = WordNet(folder)
    assert {word: index.senses(word) for word in SENSES} == SENSES


@pytest.fixture
def small_wordnet(tmp_path: Path) -> Path:
    """The form of WordNet's index files: licence lines, then lemma, part and number of synsets."""
    licence = "  1 This is a licence line.  \n"
    lines = {
        "noun": "box n 10 3 @ ~ + 10 1 0 0 0\ncat n 8 2 @ ~ 8 1 0\ngoose n 3 3 @ ~ + 3 1 0 0 0\n",
        "verb": "box v 3 1 @ 3 0 0 0 0\nhike v 2 1 @ 2 1 0 0\n",
        "adj": "large a 7 1 & 7 2 0\n",
        "adv": "",
    }
    for part, text in lines.items():
        (tmp_path / f"index.{part}").write_text(licence + text, "utf-8")
    (tmp_path / "noun.exc").write_text("geese goose\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("word", "senses"), [("box", 13), ("boxes", 13), ("hiking", 2), ("larger", 7), ("geese", 3), ("s", 0)]
)
def test_inflected_forms_have_the_senses_of_their_base_forms(
    small_wordnet: Path, word: str, senses: int
) -> None:
    assert WordNet(small_wordnet).senses(word) == senses


def test_a_folder_that_holds_no_wordnet_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(WeatherglassError, match=naming("index.noun", "apt-get install wordnet-base")):
        WordNet(tmp_path)


def test_lower_case_entries_win_over_names(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.txt"
    path.write_text(";;; Brill\nMarch NNP\nmay MD\nMay NNP\nof IN\nParis NNP\n! .\nrunning VBG\n", "utf-8")
    tags = {"march": "noun", "may": "verb", "of": "adp", "paris": "noun", "!": ".", "running": "verb"}
    assert dictionaries.read_brill(path) == tags


def test_brills_lexicon_gives_the_usual_tags() -> None:
    path = dictionaries.find_pos_lexicon()
    if path is None:
        pytest.skip("textblob is not installed")
    tags = dictionaries.read_brill(path)
    usual = {"the": "det", "of": "adp", "and": "conj", "he": "pron", "three": "num", "doctor": "noun"}
    usual |= {"big": "adj", "very": "adv", "to": "prt", "think": "verb"}
    assert {word: tags[word] for word in usual} == usual


def test_files_of_ones_own_take_the_place_of_what_is_installed(tmp_path: Path) -> None:
    senses, parts = tmp_path / "senses.tsv", tmp_path / "pos.tsv"
    senses.write_text("word\tsenses\nnurse\t2\nunknown\t0\n", "utf-8")
    parts.write_text("# spaCy's tags\nnurse\tNOUN\nParis\tPROPN\n", "utf-8")
    lexicon = find_lexicon({"nurse", "unknown", "Paris"}, senses, parts)
    assert lexicon.senses == {"nurse": 2}
    assert lexicon.parts == {"nurse": "noun", "Paris": "noun"}
    assert not lexicon.missing


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nurse\tnuon\n", naming("line 1", "nuon", suggesting="noun")),
        ("nurse noun\n", naming("line 1", "tab")),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pos.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(WeatherglassError, match=message):
        find_lexicon({"nurse"}, None, path)


def test_absent_dictionaries_are_no_failure_but_an_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionaries, "find_wordnet", lambda: None)
    monkeypatch.setattr(dictionaries, "find_pos_lexicon", lambda: None)
    lexicon = find_lexicon({"nurse"})
    assert lexicon.senses is None
    assert lexicon.parts is None
    assert ["apt-get install wordnet-base" in lexicon.missing[0], "--pos FILE" in lexicon.missing[1]] == [
        True,
        True,
    ]

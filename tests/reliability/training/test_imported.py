"""Embeddings from elsewhere: every format gives the same study, and what cannot be one embedding is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from gensim.models import KeyedVectors, Word2Vec
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tests.messages import in_order, mentions, naming

from weatherglass.cli import app
from weatherglass.errors import CorpusError, VectorFileError
from weatherglass.reliability.lists import base_pairs
from weatherglass.reliability.study import Group, imported_groups, score_study, study_folder
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.training.embedding import (
    UNNAMED,
    Embedding,
    embedding_files,
    import_embeddings,
    load_embedding,
    save_embedding,
)

PEOPLE = list(dict.fromkeys(word for pair in base_pairs("gender").pairs[:8] for word in pair))
WORDS = [*PEOPLE, "naïve", "New_York", *(f"word{number}" for number in range(40))]


def vectors(seed: int, words: list[str] = WORDS, width: int = 6) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((len(words), width)).astype(np.float32)


def keyed(words: list[str], matrix: NDArray[np.float32]) -> KeyedVectors:
    made = KeyedVectors(matrix.shape[1])
    made.add_vectors(words, matrix)
    return made


def write_text(path: Path, seed: int, words: list[str] = WORDS, width: int = 6) -> None:
    keyed(words, vectors(seed, words, width)).save_word2vec_format(str(path), binary=False)


def write(format: str, path: Path, seed: int) -> None:
    matrix = vectors(seed)
    if format in (".txt", ".txt.gz", ".bin", ".bin.gz"):  # gensim packs what ends in .gz
        keyed(WORDS, matrix).save_word2vec_format(str(path), binary=".bin" in format)
    elif format == ".kv":
        keyed(WORDS, matrix).save(str(path), sep_limit=0)
    elif format == ".npz":
        np.savez(path, words=np.array(WORDS), vectors=matrix)
    elif format == ".safetensors":
        save_file({"vectors": matrix}, path, metadata={"words": json.dumps(WORDS)})
    else:  # GloVe: no first line
        path.write_text(
            "".join(
                f"{w} {' '.join(map(str, row))}\n" for w, row in zip(WORDS, matrix.tolist(), strict=True)
            ),
            encoding="utf-8",
        )


FORMATS = [".txt", ".txt.gz", ".glove", ".bin", ".bin.gz", ".kv", ".npz", ".safetensors"]


def test_transforms_behind_the_pattern_change_every_seed(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.txt"
    pairs.write_text(f"{PEOPLE[0]}\t{PEOPLE[1]}\nabsent\tmissing\n", encoding="utf-8")
    for seed in (1, 2):
        write_text(tmp_path / f"seed{seed}.txt", seed)
    (tmp_path / "out").mkdir()
    pattern = f"{tmp_path / 'seed*.txt'} | hard-debias?pairs={pairs}&equalise=none"
    imported = import_embeddings("wiki/debiased", pattern, tmp_path / "out")
    plain = import_embeddings("wiki/debiased", str(tmp_path / "seed*.txt"), tmp_path / "out")
    assert not set(imported.paths) & set(plain.paths)
    for seed, path in enumerate(imported.paths, start=1):
        rows = vectors(seed).astype(np.float64)
        units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        direction = units[0] - units[1]
        stored = load_embedding(path)
        assert np.abs(stored.vectors @ direction).max() < 1e-6
        assert stored.settings["transforms"] == [
            f"hard-debias?pairs={pairs}&equalise=none&keep={pairs}&components=1"
        ]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_stored_as_the_vectors_that_were_written(format: str, tmp_path: Path) -> None:
    for seed in (1, 2):
        write(format, tmp_path / f"seed{seed}{format}", seed)
    (tmp_path / "out").mkdir()
    imported = import_embeddings("wiki/glove", str(tmp_path / "seed*"), tmp_path / "out")
    assert len(imported.paths) == 2  # the array beside .kv is no seed
    for seed, path in enumerate(imported.paths, start=1):
        stored = load_embedding(path)
        assert list(stored.words) == WORDS
        np.testing.assert_array_equal(stored.vectors, vectors(seed))
        assert (stored.corpus, stored.algorithm, stored.seed) == ("wiki", "glove", seed)
    assert not imported.has_counts
    assert imported.warnings == ()


def test_a_file_is_read_once_unless_it_changes(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", 1)
    (tmp_path / "out").mkdir()
    (first,) = import_embeddings("c/a", str(tmp_path / "*.txt"), tmp_path / "out").paths
    stamp = first.stat().st_mtime_ns
    assert import_embeddings("c/a", str(tmp_path / "*.txt"), tmp_path / "out").paths == (first,)
    assert first.stat().st_mtime_ns == stamp
    write_text(tmp_path / "a.txt", 2)
    (second,) = import_embeddings("c/a", str(tmp_path / "*.txt"), tmp_path / "out").paths
    np.testing.assert_array_equal(load_embedding(second).vectors, vectors(2))


def test_counts_order_the_words_and_serve_the_cut(tmp_path: Path) -> None:
    lines = [["rare"] * 2 + ["scarce"] * 2 + ["common"] * 9 for _ in range(3)]
    for seed in (1, 2):
        model = Word2Vec(lines, vector_size=4, min_count=1, epochs=1, seed=seed, sorted_vocab=0)
        assert model.wv.index_to_key[0] == "rare"
        model.wv.save(str(tmp_path / f"{seed}.kv"))
    with study_folder(tmp_path / "out"):
        study = Study("s", embeddings={"c/a": str(tmp_path / "*.kv")}, min_frequency=7)
        (group,) = imported_groups(study, tmp_path / "out")
        ((_, tensor),) = score_study(study, [group], tmp_path / "out")
    stored = load_embedding(group.paths[0])
    assert list(stored.words) == ["common", "rare", "scarce"]
    assert stored.counts.tolist() == [27, 6, 6]
    assert stored.vectors[1].tolist() == KeyedVectors.load(str(tmp_path / "1.kv"))["rare"].tolist()
    assert list(tensor.words) == ["common"]
    assert group.warnings == ()


def scored(tmp_path: Path, **settings: int) -> tuple[Group, list[str]]:
    study = Study("s", embeddings={"c/a": str(tmp_path / "*.txt")}, neighbours=5, **settings)  # type: ignore[arg-type]
    with study_folder(tmp_path / "out"):
        (group,) = imported_groups(study, tmp_path / "out")
        ((_, tensor),) = score_study(study, [group], tmp_path / "out")
    return group, list(tensor.words)


def test_without_counts_the_warnings_state_the_assumptions(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_text(tmp_path / f"{seed}.txt", seed)
    group, words = scored(tmp_path, frequent=20, min_frequency=5)
    assert words == WORDS
    frequent, least = group.warnings
    assert (frequent.kind, frequent.values) == ("no-counts", {"frequent": 20})
    assert (least.kind, least.values) == ("no-minimum", {"minimum": 5})


def test_of_different_vocabularies_the_common_words_are_scored_with_a_warning(tmp_path: Path) -> None:
    write_text(tmp_path / "1.txt", 1)
    write_text(tmp_path / "2.txt", 2, [*reversed(WORDS[3:]), "only", "here"])
    group, words = scored(tmp_path)
    assert words == WORDS[3:]
    sizes = {"least": len(WORDS) - 1, "most": len(WORDS), "common": len(WORDS) - 3}
    assert group.warnings[0].kind == "vocabularies"
    assert {name: group.warnings[0].values[name] for name in sizes} == sizes


def test_vocabularies_of_one_size_can_differ(tmp_path: Path) -> None:
    write_text(tmp_path / "1.txt", 1)
    write_text(tmp_path / "2.txt", 2, [*WORDS[1:], "other"])
    values = scored(tmp_path)[0].warnings[0].values
    assert (values["most"], values["common"]) == (len(WORDS), len(WORDS) - 1)


def test_a_word_without_a_vector_in_one_file_is_no_target(tmp_path: Path) -> None:
    write_text(tmp_path / "1.txt", 1)
    matrix = vectors(2)
    matrix[WORDS.index("word7")] = 0
    keyed(WORDS, matrix).save_word2vec_format(str(tmp_path / "2.txt"), binary=False)
    assert scored(tmp_path)[1] == [word for word in WORDS if word != "word7"]


def test_different_dimensions_are_refused(tmp_path: Path) -> None:
    write_text(tmp_path / "1.txt", 1)
    write_text(tmp_path / "2.txt", 2, width=7)
    with pytest.raises(CorpusError, match=in_order("2.txt", 7, "1.txt", 6)):
        scored(tmp_path)


def test_files_without_a_common_word_are_refused(tmp_path: Path) -> None:
    write_text(tmp_path / "1.txt", 1, ["a", "b"])
    write_text(tmp_path / "2.txt", 2, ["c", "d"])
    with pytest.raises(CorpusError, match=naming("c/a", "2 files")):
        scored(tmp_path)


def test_the_same_seed_twice_is_noticed(tmp_path: Path) -> None:
    for name in ("1.txt", "2.txt"):
        write_text(tmp_path / name, 1)
    warning = scored(tmp_path)[0].warnings[0]
    assert (warning.kind, warning.values) == ("identical-files", {"file": "2.txt", "first": "1.txt"})


def test_doubled_words_are_counted(tmp_path: Path) -> None:
    write_text(tmp_path / "1.txt", 1)
    path = tmp_path / "2.txt"
    path.write_text("he 1 2 3 4 5 6\nshe 6 5 4 3 2 2\nhe 0 0 0 0 0 1\n")
    warning = scored(tmp_path)[0].warnings[0]
    assert (warning.kind, warning.values) == ("repeated-entries", {"file": "2.txt", "count": 1})


def test_a_damaged_file_is_named_before_anything_is_scored(tmp_path: Path) -> None:
    write_text(tmp_path / "1.txt", 1)
    (tmp_path / "2.txt").write_text("he 1 2\nshe 1\n")
    with pytest.raises(VectorFileError, match=naming("2.txt, line 2", 1)):
        scored(tmp_path)
    with pytest.raises(VectorFileError, match=naming(str(tmp_path / "*.bin"))):
        embedding_files(str(tmp_path / "*.bin"))


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """Embeddings of ours: two seeds of sgns, and one of glove."""
    counts = np.arange(len(WORDS), 0, -1)
    for algorithm, seed in (("sgns", 1), ("sgns", 2), ("glove", 1)):
        one = Embedding(WORDS, counts, vectors(seed), algorithm, seed, "essays", corpus_hash="h")
        save_embedding(tmp_path / f"essays-{algorithm}-{seed}.safetensors", one)
    return tmp_path


def test_embeddings_of_ours_keep_their_names_and_their_place(ours: Path) -> None:
    imported = import_embeddings(UNNAMED, str(ours / "*sgns*"), ours / "out")
    assert (imported.corpus, imported.algorithm, imported.has_counts) == ("essays", "sgns", True)
    assert imported.paths == (ours / "essays-sgns-1.safetensors", ours / "essays-sgns-2.safetensors")


def test_a_study_may_name_embeddings_of_ours_anew(ours: Path) -> None:
    (ours / "out").mkdir()
    imported = import_embeddings("mine/other", str(ours / "*sgns*"), ours / "out")
    stored = load_embedding(imported.paths[1])
    assert (stored.corpus, stored.algorithm, stored.corpus_hash) == ("mine", "other", "h")
    np.testing.assert_array_equal(stored.vectors, vectors(2))


def test_algorithms_are_not_mixed_as_if_they_were_seeds(ours: Path) -> None:
    with pytest.raises(CorpusError, match=in_order("glove", "essays h", "sgns", "essays h")):
        import_embeddings(UNNAMED, str(ours / "*.safetensors"), ours / "out")


def test_two_groups_of_one_name_are_refused(ours: Path) -> None:
    group = Group("essays", "sgns", (1,), (ours / "essays-sgns-1.safetensors",))
    with pytest.raises(CorpusError, match=naming("two groups", "essays/sgns")):
        score_study(Study("s"), [group, group], ours)


@pytest.mark.large
def test_the_command_assesses_binary_files_and_prints_what_is_assumed(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        write(".bin", tmp_path / f"{seed}.bin", seed)
    folder = tmp_path / "out"
    options = ["--embeddings", str(tmp_path / "*.bin"), "--pairs", "gender", "-o", str(folder)]
    done = CliRunner().invoke(app, ["reliability", "assess", *options, "--verbose"])
    assert done.exit_code == 0, done.output
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: imported, imported: ")]
    assert any(warning.endswith("[no-counts]") for warning in warnings)
    # his–hers and him–her are among the eight, so that his–her occurs, too.
    assert any(mentions(line, "gender", "9 of 23") for line in done.stdout.splitlines())
    assert mentions((folder / "study.html").read_text(encoding="utf-8"), "no counts")
    table = pl.read_parquet(folder / "tables" / "test_retest_words.parquet")
    assert table.filter(pl.col("rule") == "dbwa")["word"].to_list() == WORDS


def test_a_single_file_is_assessed_as_far_as_one_seed_goes(tmp_path: Path) -> None:
    write(".bin", tmp_path / "1.bin", 1)
    options = ["--embeddings", str(tmp_path / "*.bin"), "--pairs", "gender", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["reliability", "assess", *options])
    assert done.exit_code == 0, done.output
    assert mentions(done.stdout, "not estimable", "one seed", 2)
    assert (tmp_path / "out" / "study.html").is_file()

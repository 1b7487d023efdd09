"""The last step of a study: what it keeps, what it writes, and what it does without."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming

from weatherglass.arrays import Integers, Vector
from weatherglass.cli import app
from weatherglass.errors import DamageWarning
from weatherglass.languages import lexicon as dictionaries
from weatherglass.languages.lexicon import Lexicon
from weatherglass.progress import Silent
from weatherglass.reliability.regression import features
from weatherglass.reliability.regression.explain import explain_study, feature_tables
from weatherglass.reliability.regression.features import REASONS, Rows
from weatherglass.reliability.regression.tables import NOT_INSTALLED, filled_table, to_latex
from weatherglass.reliability.study import Group
from weatherglass.reliability.tables import write_tables
from weatherglass.reliability.training.embedding import Embedding, load_embedding, save_embedding
from weatherglass.storage.checksum import write_sums

WORDS = [f"w{i}" for i in range(60)]
TAGS = ("noun", "verb", "adj")
RULES = ("dbwa", "ripa", "nbm", "ripa-raw")
Tables = dict[str, pl.DataFrame]


@pytest.fixture
def groups(tmp_path: Path) -> list[Group]:
    rng = np.random.default_rng(1)
    counts = np.sort(rng.integers(5, 5000, len(WORDS)))[::-1].copy()
    groups = []
    for corpus in ("essays", "forum"):
        for algorithm in ("sgns", "glove"):
            paths = []
            for seed in (1, 2, 3):
                vectors = rng.normal(size=(len(WORDS), 6)).astype(np.float32)
                embedding = Embedding(WORDS, counts, vectors, algorithm, seed, corpus, corpus_hash=corpus)
                paths.append(tmp_path / f"{corpus}-{algorithm}-{seed}.safetensors")
                save_embedding(paths[-1], embedding)
            groups.append(Group(corpus, algorithm, (1, 2, 3), tuple(paths)))
    return groups


@pytest.fixture
def tables() -> Tables:
    """What a study hands on: of the second set of pairs nothing could be estimated."""
    rng = np.random.default_rng(2)
    parts: dict[str, list[pl.DataFrame]] = {"test_retest_words": [], "inter_rater_words": []}
    for corpus in ("essays", "forum"):
        for algorithm in ("sgns", "glove"):
            for pairs, scale in (("gender", 1.0), ("few", np.nan)):
                head = {"corpus": corpus, "algorithm": algorithm, "pairs": pairs, "word": WORDS}
                for name, column, values in (
                    ("test_retest_words", "rule", RULES),
                    ("inter_rater_words", "scale", ("raw", "standardised")),
                ):
                    for value in values:
                        icc = scale * rng.uniform(0.2, 1, len(WORDS))
                        ends = {"low": icc - 0.2 * (1 - icc), "high": icc + 0.1 * (1 - icc)}
                        parts[name].append(pl.DataFrame({**head, column: value, "icc": icc, **ends}))
    return {name: pl.concat(frames) for name, frames in parts.items()}


@pytest.fixture
def lexicon(tmp_path: Path) -> tuple[Path, Path]:
    """Files of one's own; the last two words have no senses, the last four no tag."""
    senses, parts = tmp_path / "senses.tsv", tmp_path / "pos.tsv"
    senses.write_text("".join(f"{w}\t{1 + i % 7}\n" for i, w in enumerate(WORDS[:-2])), "utf-8")
    parts.write_text("".join(f"{w}\t{TAGS[i % 3]}\n" for i, w in enumerate(WORDS[:-4])), "utf-8")
    return senses, parts


def test_each_set_of_pairs_is_explained_or_has_its_reason(
    groups: list[Group], tables: Tables, lexicon: tuple[Path, Path], tmp_path: Path
) -> None:
    explanations = explain_study(groups, tables, tmp_path, *lexicon)
    assert [part.reliability for part in explanations["gender"].parts] == ["test-retest", "inter-rater"]
    (no_tag,) = (reason for reason, columns in REASONS.items() if columns == ("pos",))
    assert explanations["gender"].parts[0].dropped == {no_tag: 4 * 4 * 3}
    assert explanations["gender"].parts[1].rows == 60 * 4  # the rules as they are, not standardised
    assert explanations["few"].parts == ()
    assert mentions(explanations["few"].missing[0], "0 of 720", 720, "no score")
    written = pl.read_csv(tmp_path / "tables" / "regression.tsv", separator="\t")
    assert set(written["pairs"]) == {"gender"}
    assert "embedding stability &" in (tmp_path / "tables" / "regression-gender.tex").read_text("utf-8")
    features = pl.read_parquet(tmp_path / "tables" / "features.parquet")
    assert features.height == 60 * 4


@pytest.mark.large
def test_features_are_computed_once_unless_something_changes(
    groups: list[Group],
    tables: Tables,
    lexicon: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def counted(seeds: Sequence[Rows], rows: Integers | None = None) -> Vector:
        calls.append(rows)
        return original(seeds, rows)

    original = features.embedding_stability
    monkeypatch.setattr(features, "embedding_stability", counted)
    explain_study(groups, tables, tmp_path, *lexicon)
    explain_study(groups, tables, tmp_path, *lexicon)
    assert len(calls) == 4
    lexicon[0].write_text("w0\t3\nw1\t4\nw2\t1\nw3\t1\nw4\t2\n", "utf-8")
    explain_study(groups, tables, tmp_path, *lexicon)
    assert len(calls) == 8
    for path in groups[0].paths:  # Touched, as by a copy of the study: the content is what counts.
        os.utime(path, ns=(1, 1))
    explain_study(groups, tables, tmp_path, *lexicon)
    assert len(calls) == 8


@pytest.mark.large
def test_other_vectors_under_the_same_name_and_time_have_other_features(
    groups: list[Group], tables: Tables, lexicon: tuple[Path, Path], tmp_path: Path
) -> None:
    def lengths() -> pl.Series:
        explain_study(groups, tables, tmp_path, *lexicon)
        return pl.read_parquet(tmp_path / "tables" / "features.parquet")["l2_norm"]

    before = lengths()
    for path in groups[0].paths:
        stamp = path.stat().st_mtime_ns
        embedding = load_embedding(path)
        save_embedding(path, replace(embedding, vectors=2 * embedding.vectors))
        os.utime(path, ns=(stamp, stamp))
    after = lengths()
    assert after[: len(WORDS)].to_numpy() == pytest.approx(2 * before[: len(WORDS)].to_numpy())
    assert (after[len(WORDS) :] == before[len(WORDS) :]).all()


def test_without_any_dictionary_the_study_goes_on(
    groups: list[Group], tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dictionaries, "find_wordnet", lambda: None)
    monkeypatch.setattr(dictionaries, "find_pos_lexicon", lambda: None)
    explanation = explain_study(groups, tables, tmp_path)["gender"]
    names = {c.name for c in explanation.parts[0].models["with word"].fit.coefficients}
    assert names == {
        "rule:ripa", "rule:nbm", "log freq", "log freq squared", "nn similarity", "l2 norm", "embedding stability",
    }  # fmt: skip
    assert "apt-get install wordnet-base" in explanation.missing[0]
    assert "pip install textblob" in explanation.missing[1]
    assert explanation.absent == ("log senses", "pos")
    _, rows = filled_table(explanation)
    (senses,) = [row for row in rows if row[0] == "log senses"]
    assert [cell for cell in senses if cell == NOT_INSTALLED] == [
        NOT_INSTALLED for part in explanation.parts for _ in part.models
    ]
    assert all(line in "".join(to_latex(explanation)) for line in explanation.missing)


def test_the_command_prints_the_filled_table_and_the_warnings(
    groups: list[Group], tables: Tables, lexicon: tuple[Path, Path], tmp_path: Path
) -> None:
    glob = tmp_path / "essays-sgns-*.safetensors"
    mine = (pl.col("corpus") == "essays") & (pl.col("algorithm") == "sgns")
    write_tables(tmp_path / "tables", {name: table.filter(mine) for name, table in tables.items()})
    options = ["--embeddings", str(glob), "--pos", str(lexicon[1]), "--senses", str(lexicon[0])]
    result = CliRunner().invoke(app, ["reliability", "explain", "-o", str(tmp_path), *options])
    assert result.exit_code == 0, result.output
    assert "gender, test-retest: " in result.stdout
    row = re.compile(r"^ *R² .*\bembedding stability {2,}", re.MULTILINE)
    assert not row.search(result.stdout)
    assert mentions(result.stderr, "--verbose")
    options += ["--table", "--verbose"]
    result = CliRunner().invoke(app, ["reliability", "explain", "-o", str(tmp_path), *options])
    assert row.search(result.stdout)
    warned = result.stderr.splitlines()
    assert any(mentions(line, "12 of 180") for line in warned)
    assert any(mentions(line, "corpus", "one level") for line in warned)
    assert (tmp_path / "figures" / "regression-gender.svg").is_file()
    assert groups


def test_a_feature_table_whose_writer_was_killed_before_its_checksum_is_no_damage(
    groups: list[Group], tmp_path: Path
) -> None:
    folder, lexicon = tmp_path / "features", Lexicon(None, None)
    (first,) = feature_tables(groups[:1], lexicon, folder, Silent())
    (folder / "SHA256SUMS").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DamageWarning)
        (again,) = feature_tables(groups[:1], lexicon, folder, Silent())
    assert again.equals(first, null_equal=True)
    assert not list(folder.glob("*.damaged"))
    (path,) = folder.glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.warns(DamageWarning, match=naming(str(path))):
        (mended,) = feature_tables(groups[:1], lexicon, folder, Silent())
    assert mended.equals(first, null_equal=True)
    assert len(list(folder.glob("*.damaged"))) == 1


def test_feature_tables_of_another_lexicon_are_removed_and_files_of_the_user_are_not(
    groups: list[Group], tmp_path: Path
) -> None:
    folder = tmp_path / "features"
    list(feature_tables(groups, Lexicon(None, None), folder, Silent()))
    earlier = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    assert len(earlier) == 2 * len(groups)
    edited = folder / min(name for name in earlier if name.endswith(".tsv"))
    edited.write_text("edited by the user\n", encoding="utf-8")
    unlisted = folder / "essays-sgns-0123456789ab.parquet"
    unlisted.write_bytes(b"not listed in SHA256SUMS")
    notes = folder / "notes.tsv"
    notes.write_text("of the user", encoding="utf-8")
    write_sums(folder, [notes.name])
    expected = list(feature_tables(groups, Lexicon({"w1": 2}, None), folder, Silent()))
    names = {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    assert names & earlier == {edited.name}
    assert {edited.name, unlisted.name, notes.name} < names
    assert edited.read_text(encoding="utf-8") == "edited by the user\n"
    own = names - {edited.name, unlisted.name, notes.name}
    assert len(own) == 2 * len(groups)
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text("utf-8").splitlines()}
    assert listed == own | {edited.name, notes.name}
    again = list(feature_tables(groups, Lexicon({"w1": 2}, None), folder, Silent()))
    assert all(one.equals(other, null_equal=True) for one, other in zip(again, expected, strict=True))


def test_feature_tables_of_a_corpus_that_left_the_study_are_removed(
    groups: list[Group], tmp_path: Path
) -> None:
    folder = tmp_path / "features"
    list(feature_tables(groups, Lexicon(None, None), folder, Silent()))
    list(feature_tables(groups[:2], Lexicon(None, None), folder, Silent()))
    assert {path.name.rpartition("-")[0] for path in folder.iterdir()} == {"", "essays-sgns", "essays-glove"}

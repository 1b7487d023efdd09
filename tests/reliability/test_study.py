"""A whole study in seconds: its tables, its page, its mistakes, and what a kill leaves."""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.messages import in_order, mentions, naming
from tests.stored import STUDY

from weatherglass.api.studies import StudyResult, run_study
from weatherglass.cli import app
from weatherglass.errors import CorpusError, NoRoomError, OutputError, UnknownNameError, WeatherglassError
from weatherglass.reliability.agreement.claims import (
    CONSISTENCY,
    ENSEMBLE,
    HOLDS,
    RATER,
    RETEST,
    UNDECIDED,
    UNKNOWN,
    concepts,
    verdicts,
)
from weatherglass.reliability.corpus import Corpus, Tokeniser, encode_corpus, prepared
from weatherglass.reliability.scoring import DEFAULT_RULES, RULES, raters
from weatherglass.reliability.scoring.scorers import Scores, ScoringContext, ScoringRule
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.study import score_study, study_folder, trained_groups
from weatherglass.reliability.study_file import TARGETS, Study, new_study, read_study
from weatherglass.reliability.tables import COLUMNS, schema_of
from weatherglass.reliability.training.embedding import load_embedding
from weatherglass.report.study.figures import (
    PLANS,
    consistency_by_query,
    drawings,
    remove_outdated_figures,
)
from weatherglass.report.study.plots import FigureSubject
from weatherglass.storage.atomic import UNFINISHED


def test_every_table_has_its_rows(undisturbed: tuple[Path, StudyResult]) -> None:
    folder, result = undisturbed
    tables = result.tables
    words = 2 * 9 - 2 + 45 + 60  # "his" and "her" are in two pairs each; the queries share words.
    (corpus,) = (folder / "corpora").glob("text-*")
    vocabulary = len((corpus / "vocabulary.tsv").read_text().splitlines())
    assert abs(vocabulary - words) < 10
    assert len(tables["test_retest_words"]) == 2 * len(DEFAULT_RULES) * vocabulary
    assert tables["test_retest_words"].columns == [
        "corpus", "algorithm", "pairs", "rule", "word", "icc", "low", "high", "low_groups", "high_groups", "groups",
    ]  # fmt: skip
    assert len(tables["inter_rater_words"]) == 2 * 2 * vocabulary
    assert len(tables["consistency_queries"]) == 2 * len(DEFAULT_RULES) * 6
    assert set(tables["pairs"].select("pairs", "present", "of").rows()) == {
        ("gender", 10, 23),
        ("sexual_orientation", 0, 12),
    }
    assert tables["claims"].filter(pl.col("pairs") == "sexual_orientation")["verdict"].unique().to_list() == [
        UNKNOWN
    ]
    for name, table in tables.items():
        assert pl.read_parquet(folder / "tables" / f"{name}.parquet").equals(table)
        header = (folder / "tables" / f"{name}.tsv").read_text(encoding="utf-8").split("\n", 1)[0]
        assert header.split("\t") == table.columns


def test_a_word_has_the_reliability_that_its_scores_give(undisturbed: tuple[Path, StudyResult]) -> None:
    """From the stored vectors, by hand, to the table: ICC(2,1) of one word's DB/WA."""
    folder, result = undisturbed
    embeddings = [load_embedding(path) for path in sorted((folder / "embeddings").glob("text-glove-*"))]
    pairs = [("he", "she"), ("son", "daughter"), ("his", "hers"), ("him", "her"), ("father", "mother")]
    pairs += [("man", "woman"), ("boy", "girl"), ("himself", "herself"), ("male", "female"), ("his", "her")]
    table = np.empty((len(pairs), len(embeddings)))
    for seed, embedding in enumerate(embeddings):
        units = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
        word = units[embedding.index["salary"]]
        for row, (first, second) in enumerate(pairs):
            table[row, seed] = word @ units[embedding.index[first]] - word @ units[embedding.index[second]]
    n, k = table.shape
    msr = k * table.mean(1).var(ddof=1)
    msc = n * table.mean(0).var(ddof=1)
    mse = (((table - table.mean()) ** 2).sum() - (n - 1) * msr - (k - 1) * msc) / ((n - 1) * (k - 1))
    expected = (msr - mse) / (msr + (k - 1) * mse + k / n * (msc - mse))
    word_table = result.tables["test_retest_words"].filter(
        (pl.col("word") == "salary") & (pl.col("rule") == "dbwa") & (pl.col("algorithm") == "glove")
    )
    assert word_table["icc"].to_list() == pytest.approx([expected], abs=1e-4)
    average = result.tables["scores"].filter(
        (pl.col("word") == "salary") & (pl.col("algorithm") == "glove") & (pl.col("pairs") == "gender")
    )
    assert average["dbwa"].to_list() == pytest.approx([table.mean()], abs=1e-6)


def test_score_alone_leaves_the_table_of_scores_that_assessing_leaves(
    undisturbed: tuple[Path, StudyResult], study_file: Path
) -> None:
    folder, result = undisturbed
    table = folder / "tables" / "scores.parquet"
    table.unlink()
    done = CliRunner().invoke(app, ["reliability", "score", str(study_file), "-o", str(folder), "-q"])
    assert done.exit_code == 0, done.output
    assert pl.read_parquet(table).equals(result.tables["scores"])


@pytest.mark.large
@pytest.mark.parametrize("train", [pytest.param(True, marks=pytest.mark.large), False])
def test_a_corpus_is_opened_once_a_study(
    undisturbed: tuple[Path, StudyResult],
    study_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    train: bool,
) -> None:
    opened = []

    def encode(name: str, *rest: Any) -> Corpus:
        opened.append(name)
        return encode_corpus(name, *rest)

    monkeypatch.setattr("weatherglass.reliability.study.encode_corpus", encode)
    run_study(read_study(study_file), copy_of(undisturbed, tmp_path), train=train)
    assert opened == ["text"]


def test_init_writes_the_corpus_into_the_file(tmp_path: Path, text: Path) -> None:
    """Also a path that TOML would read otherwise; the command then says what to run, and asks for nothing."""
    odd = tmp_path / 'a "quoted" \\ text.txt'
    odd.write_bytes(text.read_bytes())
    path = tmp_path / "new.toml"
    done = CliRunner().invoke(app, ["reliability", "init", str(path), "--corpus", str(odd)])
    assert done.output.startswith(str(path))
    first, estimate = done.output.splitlines()
    assert first.endswith(f"weatherglass reliability run {path}")
    assert estimate.endswith(f"weatherglass reliability run {path} --estimate")
    assert not mentions(done.output, "corpus")
    ((source, _),) = read_study(path).corpora.values()
    assert source == odd
    without = CliRunner().invoke(app, ["reliability", "init", str(tmp_path / "other.toml")])
    assert mentions(without.output, "corpus")


def test_init_below_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "study.toml"
    done = CliRunner().invoke(app, ["reliability", "init", str(path)])
    assert isinstance(done.exception, OutputError), done.exception
    assert mentions(str(done.exception), path)


def test_two_corpora_of_one_name_are_refused(tmp_path: Path) -> None:
    arguments = ["reliability", "train", "--corpus", "a/text.txt", "--corpus", "b/text.txt.gz"]
    with pytest.raises(CorpusError, match=naming("two corpora", "'text'", "a/text.txt", "b/text.txt.gz")):
        CliRunner().invoke(app, [*arguments, "-o", str(tmp_path)], catch_exceptions=False)


def copy_of(undisturbed: tuple[Path, StudyResult], to: Path) -> Path:
    """The folder of the study, to be changed."""
    return Path(shutil.copytree(undisturbed[0], to / "copy"))


def scored_again(
    study_file: Path, folder: Path, rules: tuple[str, ...] = DEFAULT_RULES
) -> dict[str, ScoreTensor]:
    """By algorithm, what `reliability score` has of the study."""
    study = replace(read_study(study_file), rules=rules)
    scored = score_study(study, trained_groups(study, folder), folder)
    return {group.algorithm: tensor for group, tensor in scored}


def test_stored_scores_are_matched_by_the_name_of_their_rule(
    undisturbed: tuple[Path, StudyResult], study_file: Path, tmp_path: Path
) -> None:
    folder = copy_of(undisturbed, tmp_path)
    before = scored_again(study_file, folder)
    stored = {path: path.stat().st_mtime_ns for path in (folder / "scores").glob("*.npy")}
    assert len(stored) == 2 * 4 * len(DEFAULT_RULES)  # algorithms, seeds, rules
    after = scored_again(study_file, folder, tuple(reversed(DEFAULT_RULES)))
    for algorithm, tensor in before.items():
        for rule in DEFAULT_RULES:
            assert (after[algorithm].mean(rule) == tensor.mean(rule)).all()
    assert {path: path.stat().st_mtime_ns for path in (folder / "scores").glob("*.npy")} == stored


def leaning_away(context: ScoringContext) -> Scores:
    scores: Scores = -RULES.get("dbwa").score(context)
    return scores


def test_only_the_rule_with_a_new_version_is_computed_again_and_its_old_scores_go(
    undisturbed: tuple[Path, StudyResult], study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_of(undisturbed, tmp_path)
    before = scored_again(study_file, folder)["glove"].mean("dbwa")
    stored = {path.name: path.stat().st_mtime_ns for path in (folder / "scores").glob("*.npy")}
    monkeypatch.setattr(RULES, "_registered", {"nbm": ScoringRule("nbm", "NBM", 3, leaning_away)})
    after = scored_again(study_file, folder)["glove"]
    assert (after.mean("nbm") == -before).all()
    files = {path.name: path.stat().st_mtime_ns for path in (folder / "scores").glob("*.npy")}
    kept = {name: stamp for name, stamp in stored.items() if ".nbm-" not in name}
    new = {name.replace("nbm-v2", "nbm-v3") for name in stored if ".nbm-" in name}
    assert kept.items() <= files.items()
    assert set(files) == set(kept) | new


def test_an_unknown_rule_is_refused_before_training(study_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f'rules = ["dbwa", "rippa"]\n{STUDY}', encoding="utf-8")
    with pytest.raises(UnknownNameError, match=naming("rule", "rippa", suggesting="ripa")):
        read_study(path)
    with pytest.raises(UnknownNameError, match=naming("rule", "rippa", suggesting="ripa")):
        run_study(replace(read_study(study_file), rules=("rippa",)), tmp_path / "out")
    assert not list((tmp_path / "out" / "corpora").iterdir())


def test_what_does_not_occur_is_listed(undisturbed: tuple[Path, StudyResult]) -> None:
    missing = undisturbed[1].tables["missing"].filter(pl.col("algorithm") == "glove")
    assert missing.filter(pl.col("kind") == "target")["entry"].n_unique() == 320
    assert missing.filter(pl.col("kind") == "base pair").height == 13 + 12
    assert missing.filter(pl.col("kind") == "query").is_empty()


def test_seed_tables_mark_what_is_extrapolated(undisturbed: tuple[Path, StudyResult]) -> None:
    tables = undisturbed[1].tables
    numbers = tables["seed_numbers"]
    assert numbers.filter(pl.col("seeds") > 4)["extrapolated"].all()
    assert not numbers.filter(pl.col("seeds") <= 4)["extrapolated"].any()
    sizes = (
        tables["seed_batches"].group_by("algorithm", "rule", "seeds").len().select("seeds", "len").unique()
    )
    assert set(sizes.rows()) == {(4, 1), (2, 2)}
    assert set(tables["seed_batches"]["which"]) == {"1 2 3 4", "1 2", "3 4"}


def test_the_page_tells_the_language(undisturbed: tuple[Path, StudyResult]) -> None:
    assert "English (" in undisturbed[1].page.read_text(encoding="utf-8")


def test_the_page_stands_alone_and_escapes_names(undisturbed: tuple[Path, StudyResult]) -> None:
    page = undisturbed[1].page.read_text(encoding="utf-8")
    assert "tiny &lt;b&gt;study&lt;/b&gt;" in page
    assert "<b>study" not in page
    for verdict in verdicts(undisturbed[1].tables):
        assert f"<b>{verdict.name}</b> {verdict.count}." in page
        assert escape(verdict.statement) in page
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")  # a name, which nothing fetches
    assert page.count("<figure id=") == len(list((undisturbed[0] / "figures").glob("*.svg"))) > 0


def test_every_condition_has_its_figures(undisturbed: tuple[Path, StudyResult]) -> None:
    names = {path.stem for path in (undisturbed[0] / "figures").glob("*.svg")}
    kinds = ["test-retest", "inter-rater", "consistency", "test-retest-pairs", "inter-rater-pairs"]
    kinds += ["seed-batches", "seed-numbers", "test-retest-base-pairs", "inter-rater-base-pairs"]
    of_all_algorithms = ("regression", "consistency-boxes", "test-retest-each-pair", "inter-rater-each-pair")
    assert names == {f"{kind}-gender-{algorithm}" for kind in kinds for algorithm in ("sgns", "glove")} | {
        f"{kind}-gender" for kind in of_all_algorithms
    }


def test_the_alpha_of_the_base_pairs_is_judged(undisturbed: tuple[Path, StudyResult]) -> None:
    tables = undisturbed[1].tables
    alphas = tables["consistency_pairs"].filter(
        (pl.col("list") == "frequent") & pl.col("rule").is_in(raters(DEFAULT_RULES))
    )
    claims = tables["claims"].filter((pl.col("claim") == ENSEMBLE) & (pl.col("verdict") != UNKNOWN))
    columns = ["corpus", "algorithm", "pairs"]
    assert claims.select(*columns, "by", "median").rows() == alphas.select(*columns, "rule", "alpha").rows()
    (concept,) = concepts(tables["claims"])
    assert (concept.pairs, concept.estimable) == ("gender", 6)
    assert concept.below == (alphas["alpha"] < 0.7).sum()
    assert (concept.lowest, concept.highest) == (alphas["alpha"].min(), alphas["alpha"].max())
    page = undisturbed[1].page.read_text(encoding="utf-8")
    assert f"{concept}." in page


def test_figures_have_the_numbers_of_the_paper(undisturbed: tuple[Path, StudyResult]) -> None:
    """Of the reproduction's 41 figures, those of gender pairs; sexual-orientation pairs do not occur here."""
    published = {drawing.name: drawing.published for drawing in drawings(undisturbed[1].tables)}
    assert {name: numbers for name, numbers in published.items() if numbers} == {
        "test-retest-gender-sgns": "1a, 4–6",
        "test-retest-gender-glove": "7–9",
        "test-retest-base-pairs-gender-sgns": "1b, 10–12",
        "test-retest-base-pairs-gender-glove": "13–15",
        "inter-rater-gender-sgns": "28",
        "inter-rater-gender-glove": "2a, 30",
        "inter-rater-base-pairs-gender-sgns": "29",
        "inter-rater-base-pairs-gender-glove": "2b, 31",
        "consistency-boxes-gender": "3, 36",
        "test-retest-each-pair-gender": "38",
        "inter-rater-each-pair-gender": "39",
    }
    numbers = ", ".join(text for plan in PLANS for text in plan.published.values())
    covered = [
        figure
        for part in re.findall(r"(\d+)[ab]?(?:–(\d+))?", numbers)
        for figure in range(int(part[0]), int(part[1] or part[0]) + 1)
    ]
    assert sorted(covered) == [1, 1, 2, 2, *range(3, 42)]


def test_boxes_are_over_pairs_and_over_conditions(undisturbed: tuple[Path, StudyResult]) -> None:
    tables = undisturbed[1].tables
    box = tables["summary_pairs"].row(
        by_predicate=(pl.col("measure") == "test–retest")
        & (pl.col("list") == "vocabulary")
        & (pl.col("by") == "nbm")
        & (pl.col("algorithm") == "glove"),
        named=True,
    )
    pairs = tables["test_retest_pairs"].filter(
        (pl.col("list") == "vocabulary") & (pl.col("rule") == "nbm") & (pl.col("algorithm") == "glove")
    )
    assert (box["base_pairs"], box["median"]) == (10, pytest.approx(np.median(pairs["icc"].to_numpy())))
    own = tables["summary_consistency"]
    assert own["query"].to_list()[-1] == "base pairs"
    assert own.filter(pl.col("query").is_in(["math", "base pairs"]))["scores"].to_list() == [6, 6]
    each = tables["summary_each_pair"].filter(pl.col("pair") == "he–she")
    assert dict(each.select("measure", "scores").rows()) == {"test–retest": 6, "inter-rater": 2}


def start(study_file: Path, folder: Path) -> subprocess.Popen[bytes]:
    """The study as a user starts it, in a process that can be killed."""
    command = [
        sys.executable,
        "-m",
        "weatherglass",
        "reliability",
        "run",
        str(study_file),
        "-o",
        str(folder),
        "-q",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


@pytest.mark.large
def test_a_killed_study_goes_on_and_ends_with_the_same_tables(
    undisturbed: tuple[Path, StudyResult], study_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    process = start(study_file, folder)
    while process.poll() is None and len(list(folder.glob("embeddings/*.safetensors"))) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    first = min(folder.glob("embeddings/*.safetensors"))
    stamp = first.stat().st_mtime_ns
    (folder / "embeddings" / f"{UNFINISHED}1-half.safetensors.part").write_bytes(b"half")
    again = run_study(read_study(study_file), folder)
    assert first.stat().st_mtime_ns == stamp  # What was finished was not done again.
    assert not list(folder.glob("*/.*"))
    for name, table in undisturbed[1].tables.items():
        assert (folder / "tables" / f"{name}.tsv").read_bytes() == (
            undisturbed[0] / "tables" / f"{name}.tsv"
        ).read_bytes(), name
        assert again.tables[name].equals(table)


@pytest.mark.large
def test_a_study_killed_at_20_random_moments_ends_with_the_same_tables(
    undisturbed: tuple[Path, StudyResult], study_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    moments = random.Random(20)
    for _ in range(20):
        process = start(study_file, folder)
        time.sleep(moments.uniform(0.5, 6))
        process.send_signal(signal.SIGKILL)
        process.wait()
    run_study(read_study(study_file), folder)
    for name in undisturbed[1].tables:
        ours, theirs = (place / "tables" / f"{name}.tsv" for place in (folder, undisturbed[0]))
        assert ours.read_bytes() == theirs.read_bytes(), name


def test_assessing_before_training_says_what_to_do(study_file: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=naming("weatherglass reliability train")):
        run_study(read_study(study_file), tmp_path / "empty", train=False)


def test_two_studies_do_not_share_a_folder_at_once(tmp_path: Path) -> None:
    with (
        study_folder(tmp_path),
        pytest.raises(OutputError, match=naming(str(tmp_path), "another study")),
        study_folder(tmp_path),
    ):
        pass


@pytest.mark.large
def test_embeddings_from_elsewhere_are_assessed(
    undisturbed: tuple[Path, StudyResult], tmp_path: Path
) -> None:
    for number, path in enumerate(sorted((undisturbed[0] / "embeddings").glob("text-glove-*"))):
        embedding = load_embedding(path)
        lines = [
            " ".join([word, *(f"{value:.9g}" for value in vector)])
            for word, vector in zip(embedding.words, embedding.vectors, strict=True)
        ]
        (tmp_path / f"{number}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    study = Study(
        "elsewhere", embeddings={"text/glove": str(tmp_path / "*.txt")}, neighbours=10, frequent=100
    )
    word_table = run_study(study, tmp_path / "out").tables["test_retest_words"]
    expected = undisturbed[1].tables["test_retest_words"].filter(pl.col("algorithm") == "glove")
    assert word_table["word"].to_list() == expected["word"].to_list()
    assert word_table["icc"].to_numpy() == pytest.approx(expected["icc"].to_numpy(), abs=1e-5, nan_ok=True)


def test_the_written_study_file_is_a_valid_study(tmp_path: Path) -> None:
    runner = CliRunner()
    path = tmp_path / "mine.toml"
    assert runner.invoke(app, ["reliability", "init", str(path)]).exit_code == 0
    study = read_study(path)
    assert study.seeds == tuple(range(1, 9))
    assert [str(source.name) for source, _ in study.corpora.values()] == ["corpus.txt"]
    assert new_study("mine.toml", "mine", {"mine": "corpus.txt"}) == path.read_text(encoding="utf-8")
    assert isinstance(runner.invoke(app, ["reliability", "init", str(path)]).exception, OutputError)


def test_a_new_study_has_every_corpus_and_the_own_words_first(tmp_path: Path) -> None:
    path = tmp_path / "study" / "mine.toml"
    sources = [tmp_path / "1990.txt", tmp_path / 'a "b"é.txt', tmp_path / "2020.txt"]
    given = ["--corpus", str(sources[0]), "--corpus", f"old days={sources[1]}", "--corpus", str(sources[2])]
    own = ["--targets", str(tmp_path / "jobs.txt")]
    assert CliRunner().invoke(app, ["reliability", "init", str(path), *given, *own]).exit_code == 0
    study = read_study(path)
    assert {name: source for name, (source, _) in study.corpora.items()} == {
        "1990": sources[0],
        "old days": sources[1],
        "2020": sources[2],
    }
    (first, *others) = [settings for _, settings in study.corpora.values()]
    assert others == [first, first], "all have the settings that are shown"
    assert [Path(name).name for name in study.targets] == ["jobs.txt", *TARGETS]
    twice = ["--corpus", "a/x.txt", "--corpus", "b/x.txt"]
    refused = CliRunner().invoke(app, ["reliability", "init", str(tmp_path / "other.toml"), *twice])
    assert isinstance(refused.exception, CorpusError)
    assert not (tmp_path / "other.toml").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("seed = 3", naming("seed", suggesting="seeds")),
        ("seeds = 3", naming("no corpus", "[corpora.NAME]")),
        ('seeds = 0\n[corpora.a]\npath = "x"', naming("seeds = 0", 1)),
        ("[corpora.a]\nmin_count = 3", naming("[corpora.a]", "path")),
        ('[corpora.a]\npath = "x"\nmincount = 3', naming("mincount", suggesting="min_count")),
        ('[corpora.a]\npath = "x"\n[training.glove]\nepochs = 3', naming("[training.glove]", "'epochs'")),
        ('[corpora.a]\npath = "x"\nshare = 2.0', naming("share = 2.0", 0, 1)),
        ('[corpora.a]\npath = "x"\n[training]\ndimension = 9', naming("dimension", suggesting="dimensions")),
        ('[corpora.a]\npath = "x"\n[training.glov]\neta = 1', naming("glov", suggesting="glove")),
        ('[corpora.a]\npath = "x"\n[training]\ndimensions = 0', naming("dimensions = 0", "sgns", "whole")),
        ('[corpora.a]\npath = "x"\n[training.glove]\neta = "a"', naming("eta = 'a'", "glove", "number")),
        ('pairs = "gender"\n[corpora.a]\npath = "x"', naming("pairs = 'gender'", "list")),
        ('algorithms = []\n[corpora.a]\npath = "x"', naming("algorithms", "empty")),
        ('neighbours = 0\n[corpora.a]\npath = "x"', naming("neighbours = 0", "whole number", 1)),
        ('rules = []\n[corpora.a]\npath = "x"', naming("rules", "empty", "dbwa")),
        ('rules = "dbwa"\n[corpora.a]\npath = "x"', naming("rules = 'dbwa'", "list")),
        ("seeds = [", naming("TOML")),
        ('[corpora.a]\npath = "x"\nprepare = "redit"', naming("redit", "[corpora.a]", suggesting="reddit")),
        ('[corpora.a]\npath = "x"\nwhere = "askscience"', naming("[corpora.a]", "where", "subreddit")),
        ('[corpora.a]\npath = "x"\nwhere = {subreddit = 3}', naming("[corpora.a]", "where", "subreddit")),
    ],
)
def test_a_mistake_in_a_study_file_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match=message) as refused:
        read_study(path)
    assert "\n" not in str(refused.value)


def test_a_study_file_prepares_and_filters_its_corpora(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        '[corpora.a]\npath = "x"\nprepare = "reddit"\nlowercase = false\nwhere = {subreddit = "askscience"}\n'
        '[corpora.b]\npath = "x"\nprepare = "wikitext"\nwhere = {lang = ["en", "de"]}\n',
        encoding="utf-8",
    )
    (_, a), (_, b) = read_study(path).corpora.values()
    assert a.tokeniser == Tokeniser(sentences=True, lowercase=False)
    assert a.where == {"subreddit": ("askscience",)}
    assert (b.tokeniser, b.where) == (prepared("wikitext"), {"lang": ("en", "de")})


def test_corpora_may_lie_in_another_folder_than_the_study_file(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "study.toml", tmp_path / "elsewhere"
    path.write_text(STUDY.replace("seeds = 4", "seeds = 1"), encoding="utf-8")
    elsewhere.mkdir()
    (elsewhere / "text.txt").write_text("he she man woman work\n" * 30, encoding="utf-8")
    command = ["reliability", "train", str(path), "-o", str(tmp_path / "out"), "-q"]
    with pytest.raises(CorpusError, match=r"text\.txt"):
        CliRunner().invoke(app, command, catch_exceptions=False)
    done = CliRunner().invoke(app, [*command, "--corpora", str(elsewhere)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert len(list((tmp_path / "out" / "embeddings").glob("*.safetensors"))) == 2
    with pytest.raises(CorpusError, match=naming("--corpora", "study file")):
        CliRunner().invoke(
            app, ["reliability", "train", "--corpus", "a.txt", "--corpora", "b"], catch_exceptions=False
        )


def test_claims_are_judged_for_every_rule(undisturbed: tuple[Path, StudyResult]) -> None:
    claims = undisturbed[1].tables["claims"].filter(pl.col("pairs") == "gender")
    by = {claim: set(part["by"]) for (claim,), part in claims.group_by("claim")}
    assert by == {
        RETEST: set(raters(DEFAULT_RULES)),
        CONSISTENCY: set(raters(DEFAULT_RULES)),
        ENSEMBLE: set(raters(DEFAULT_RULES)),
        RATER: {"raw", "standardised"},
    }
    for row in claims.filter(pl.col("median").is_finite()).iter_rows(named=True):
        assert row["low"] <= row["median"] <= row["high"]
        assert (row["verdict"] == UNDECIDED) == (row["low"] < row["threshold"] <= row["high"])
        if row["verdict"] != UNDECIDED:
            below = row["median"] < row["threshold"]
            assert (row["verdict"] == HOLDS) == (below if row["claim"] == RATER else not below)


@pytest.mark.parametrize(
    ("lines", "seeds"),
    [("he she man woman work\n" * 30, 1), ("nobody of them\n" * 30, 2)],
    ids=["one seed", "no pair"],
)
def test_a_study_that_can_estimate_nothing_still_says_so(tmp_path: Path, lines: str, seeds: int) -> None:
    (tmp_path / "text.txt").write_text(lines, encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY.replace("seeds = 4", f"seeds = {seeds}"), encoding="utf-8")
    result = run_study(read_study(tmp_path / "study.toml"), tmp_path / "out")
    assert set(result.tables["claims"]["verdict"]) == {UNKNOWN}
    enough = (
        result.page.read_text(encoding="utf-8").partition('<section id="seeds"')[2].partition("</section>")[0]
    )
    assert "<details" not in enough  # no set of base pairs has a median
    assert mentions(enough.partition("</h2>")[2], "seeds", "base pairs")
    for name in COLUMNS:
        columns = list(schema_of(name, DEFAULT_RULES))
        assert pl.read_parquet(tmp_path / "out" / "tables" / f"{name}.parquet").columns == columns
    assert all(UNKNOWN in str(verdict) for verdict in verdicts(result.tables))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('pairs = ["gendre"]', naming("gendre", suggesting="gender")),
        ('pairs = ["one.txt"]', naming("one.txt", "line 1", "two words")),
        ('pairs = ["same.txt"]', naming("same.txt", "line 1", "one word")),
        ('pairs = ["gender", "gender.txt"]', naming("two sets", "base pairs", "'gender'")),
        ('targets = ["frequent.txt"]', naming("two lists", "target words", "'frequent'")),
        ('targets = ["professions"]', naming("target words", "professions")),
        ('frequent = "absent.txt"', naming("target words", "absent.txt")),
    ],
)
def test_a_mistake_in_a_list_is_found_before_training(tmp_path: Path, entry: str, message: str) -> None:
    (tmp_path / "text.txt").write_text("he she\n" * 30, encoding="utf-8")
    (tmp_path / "one.txt").write_text("he\n", encoding="utf-8")
    (tmp_path / "same.txt").write_text("he he\n", encoding="utf-8")
    for name in ("gender.txt", "frequent.txt"):
        (tmp_path / name).write_text("he she\n", encoding="utf-8")
    name = entry.split(" ")[0]
    lines = [entry if line.startswith(f"{name} =") else line for line in STUDY.splitlines()]
    (tmp_path / "study.toml").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(WeatherglassError, match=message):
        run_study(read_study(tmp_path / "study.toml"), tmp_path / "out")
    assert not list((tmp_path / "out" / "corpora").iterdir())


def test_a_pair_of_rare_words_is_a_pair_still(tmp_path: Path) -> None:
    lines = ["often again he"] * 40 + ["often she again"] * 6
    (tmp_path / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    settings = STUDY.replace("neighbours = 10", "neighbours = 2\nmin_frequency = 20")
    (tmp_path / "study.toml").write_text(settings.replace("seeds = 4", "seeds = 2"), encoding="utf-8")
    tables = run_study(read_study(tmp_path / "study.toml"), tmp_path / "out").tables
    assert tables["pairs"].filter(pl.col("pairs") == "gender")["present"].to_list() == [1, 1]
    assert set(tables["test_retest_words"]["word"]) == {"often", "again", "he"}


def test_what_a_killed_count_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "corpora" / "text-0" / f"{UNFINISHED}x"
    left.mkdir(parents=True)
    (left / "run-0.keys").write_bytes(b"half")
    with study_folder(tmp_path):
        assert not left.exists()


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(NoRoomError, match=naming(str(tmp_path), "same command")), study_folder(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_figures_of_a_study_as_it_was_before_go_away_and_others_stay(tmp_path: Path) -> None:
    for name in ("test-retest-old-sgns.png", "test-retest-new-sgns.png", "mine.png", "test-retest-notes.txt"):
        (tmp_path / name).touch()
    remove_outdated_figures(tmp_path, {"test-retest-new-sgns"})
    assert {path.name for path in tmp_path.iterdir()} == {
        "test-retest-new-sgns.png", "mine.png", "test-retest-notes.txt",
    }  # fmt: skip


def alphas(values: dict[tuple[str, str], float]) -> pl.DataFrame:
    head = {"algorithm": "glove", "pairs": "sexual_orientation", "rule": "dbwa"}
    return pl.DataFrame(
        [
            {"corpus": corpus, **head, "query": query, "alpha": alpha, "low": alpha - 1, "high": alpha + 0.1}
            for (corpus, query), alpha in values.items()
        ]
    )


def test_a_figure_says_what_it_leaves_out_and_its_title_fits() -> None:
    nan = float("nan")
    rows = alphas(
        {("books", "math"): nan, ("books", "arts"): nan, ("forum", "math"): nan, ("forum", "arts"): -3.0}
    )
    subject = FigureSubject("words_that_are_longer_than_a_figure_with_one_panel_is_wide", "glove")
    none = pl.DataFrame(schema=schema_of("claims", ["dbwa"]))
    (drawing,) = consistency_by_query({"consistency_queries": rows, "claims": none}, subject)
    assert drawing.name == "consistency-words_that_are_longer_than_a_figure_with_one_panel_is_wide-glove"
    assert re.search(in_order("GloVe", subject.pairs.replace("_", " "), "pairs"), drawing.title)
    assert mentions(drawing.spoken, "alpha", "forum", "-3.00")
    assert mentions(drawing.caption, "not estimable", "books")
    assert not mentions(drawing.caption, "forum")
    (axes,) = drawing.figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["math", "arts"]
    (point,) = [line for line in axes.lines if line.get_marker() == "v"]  # Below the end of the axis.
    assert np.asarray(point.get_ydata()).tolist() == [-1.0]
    drawing.figure.draw_without_rendering()
    (title,) = drawing.figure.texts
    assert title.get_window_extent().x1 < drawing.figure.bbox.x1

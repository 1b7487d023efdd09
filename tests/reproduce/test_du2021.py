"""`weatherglass reproduce du2021`: what it prints beside the published figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.messages import naming

from weatherglass.cli import app
from weatherglass.cli.study import frequent_option, with_settings
from weatherglass.errors import CorpusError, WeatherglassError
from weatherglass.reliability.corpus import CorpusSettings, prepared


@pytest.mark.large
def test_the_command_prints_the_published_correlations_beside_ours(text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    options = ["--seeds", "2", "--dimensions", "8", "-o", str(folder)]
    done = CliRunner().invoke(app, ["reproduce", "du2021", f"made={text}", *options])
    assert done.exit_code == 0, done.output
    cells = [re.split(" {2,}", line) for line in done.stdout.splitlines()]
    rows = {tuple(line[:3]): line[3:] for line in cells}
    # The reproduction of Du et al., Tables 2 and 4: gender and GloVe have an original figure beside the reproduced one.
    assert rows["gender", "glove", "dbwa-ripa"][1:] == ["0.989", "0.923"]
    assert rows["sexual orientation", "sgns", "dbwa-nbm"] == ["–", "0.654", "–"]
    assert -1 <= float(rows["gender", "glove", "dbwa-ripa"][0]) <= 1
    assert "high test–retest:" in done.stdout
    assert (folder / "study.html").is_file()
    numbers = [line.split("\t") for line in (folder / "figures.tsv").read_text("utf-8").splitlines()[1:]]
    assert all((folder / file).is_file() for _, file in numbers)
    assert ["38", "figures/test-retest-each-pair-gender.png"] in numbers


def test_corpora_are_prepared_and_filtered_one_by_one() -> None:
    corpora = {"wiki": Path("w"), "science": Path("d"), "history": Path("d")}
    where = ["science:subreddit=askscience", "science:subreddit=science", "history:data.sub=h", "lang=en"]
    settings = with_settings(corpora, CorpusSettings(share=0.5), ["reddit", "wiki=wikitext"], where)
    assert {name: own.tokeniser for name, (_, own) in settings.items()} == {
        "wiki": prepared("wikitext"),
        "science": prepared("reddit"),
        "history": prepared("reddit"),
    }
    assert {name: own.where for name, (_, own) in settings.items()} == {
        "wiki": {"lang": ("en",)},
        "science": {"subreddit": ("askscience", "science"), "lang": ("en",)},
        "history": {"data.sub": ("h",), "lang": ("en",)},
    }
    assert {own.share for _, own in settings.values()} == {0.5}


@pytest.mark.parametrize(
    ("prepare", "where", "message"),
    [
        (["wiki=wikitex"], [], naming("wikitex", suggesting="wikitext")),
        (["wikki=wikitext"], [], naming("wikki", suggesting="wiki")),
        ([], ["wikki:a=b"], naming("wikki", suggesting="wiki")),
        ([], ["subreddit"], naming("--where", "FIELD=VALUE")),
        ([], ["=x"], naming("--where", "FIELD=VALUE")),
    ],
)
def test_a_wrong_name_is_one_line(prepare: list[str], where: list[str], message: str) -> None:
    with pytest.raises(WeatherglassError, match=message) as refused:
        with_settings({"wiki": Path("w")}, CorpusSettings(), prepare, where)
    assert "\n" not in str(refused.value)


def test_frequent_words_are_a_number_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a\n", encoding="utf-8")
    assert frequent_option("50") == 50
    assert frequent_option(str(tmp_path / "words.txt")) == str(tmp_path / "words.txt")
    with pytest.raises(CorpusError, match=naming("--frequent", "words")):
        frequent_option(str(tmp_path / "absent.txt"))

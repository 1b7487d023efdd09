"""The tests of Kurita et al. from word scores, and what is left of them by word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.messages import naming

from weatherglass.cli import app
from weatherglass.errors import WeatherglassError
from weatherglass.reproduce.kurita2019 import claims, published, reproduce

TABLE = "# a comment\nset\tscore\nmen\t1.0\nmen\t2.0\nmen\t3.0\nwomen\t-1.0\nwomen\t-2.0\nwomen\t-3.0\n"


def table(folder: Path, content: str = TABLE) -> Path:
    path = folder / "scores.tsv"
    path.write_text(content, encoding="utf-8")
    return path


def test_p_is_exact_over_words(tmp_path: Path) -> None:
    found = reproduce(table(tmp_path))
    assert found.sets == ("men", "women")
    assert found.significance.p_value == pytest.approx(2 / 20)
    assert found.effect_size == pytest.approx(4 / 2.3664319)  # the standard deviation of ±1, ±2, ±3


def test_published_tests_by_word_and_by_cell(tmp_path: Path) -> None:
    judged = dict(
        zip([test["name"] for test in published()], claims(reproduce(table(tmp_path))), strict=True)
    )
    assert judged["math/arts"].holds is False
    assert judged["math/arts"].theirs_hold is True
    assert judged["career/family"].holds is True
    assert judged["flowers/insects"].theirs_hold is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "set\tscore\n",
        TABLE + "men\n",
        TABLE + "men\tx\n",
        TABLE + "men\tnan\n",
        TABLE + "others\t1\n",
        "a\tb\n1\t2\n",
    ],
)
def test_wrong_tables_are_one_line(tmp_path: Path, content: str) -> None:
    with pytest.raises(WeatherglassError, match=naming("scores.tsv")) as raised:
        reproduce(table(tmp_path, content))
    assert "\n" not in str(raised.value)


def test_the_command_prints_tables_and_writes_a_page(tmp_path: Path) -> None:
    command = ["reproduce", "kurita2019", str(table(tmp_path)), "-o", str(tmp_path / "out")]
    assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "out" / "reproduction.html").exists()
    content = json.loads(CliRunner().invoke(app, [*command, "--json"], catch_exceptions=False).stdout)
    assert content["tables"]["given"][1][3] == "0.10000"


@pytest.mark.shared
def test_the_word_scores_of_the_notebook(shared: Path) -> None:
    found = reproduce(shared / "reference" / "kurita2019" / "flowers_insects_word_scores.tsv")
    assert found.effect_size == pytest.approx(1.20372, abs=5e-6)
    assert found.significance.p_value == pytest.approx(0.00720, abs=5e-6)

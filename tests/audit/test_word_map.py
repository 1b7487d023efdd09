"""The map of words: effects word by word, p by counting all labels, facts by Fisher's formula, and bad files."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cosine
from scipy.stats import norm
from tests import engines
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.errors import CatalogueError, UnitError, UnknownNameError, WeatherglassError

A, B = ["he", "man", "boy", "son"], ["she", "woman", "girl", "daughter"]
WORDS = ["nurse", "engineer", "teacher", "plumber", "pilot", "clerk"]


def effect(word: str, labels: tuple[int, ...] = (0, 1, 2, 3)) -> float:
    """The effect of one word with these of the eight attributes as A."""
    encoder = HashedEncoder()
    near = [1 - cosine(encoder.encode([word])[0], v) for v in encoder.encode([*A, *B])]
    in_a = [near[n] for n in labels]
    in_b = [near[n] for n in range(8) if n not in labels]
    return float((np.mean(in_a) - np.mean(in_b)) / np.std(near, ddof=1))


def test_effects_and_p_are_those_of_plain_loops() -> None:
    found = wg.word_map(WORDS, (A, B), HashedEncoder())
    assert [w.effect_size for w in found.words] == sorted((w.effect_size for w in found.words), reverse=True)
    for word in found.words:
        assert word.effect_size == pytest.approx(effect(word.word), rel=1e-9)
        others = [abs(effect(word.word, labels)) for labels in itertools.combinations(range(8), 4)]
        assert word.p_value == np.mean([other >= abs(word.effect_size) - 1e-9 for other in others])


def test_holm_and_benjamini_hochberg_run_over_the_words() -> None:
    holm = wg.word_map(WORDS, (A, B), HashedEncoder())
    ordered = sorted(holm.words, key=lambda w: w.p_value)
    assert ordered[0].p_adjusted == pytest.approx(min(1, len(WORDS) * ordered[0].p_value))
    rate = wg.word_map(WORDS, (A, B), HashedEncoder(), correction="benjamini-hochberg")
    assert max(w.p_adjusted for w in rate.words) == pytest.approx(max(w.p_value for w in rate.words))
    assert all(r.p_adjusted <= h.p_adjusted for r, h in zip(rate.words, holm.words, strict=True))


def test_the_correlation_with_facts_has_fishers_interval() -> None:
    facts: dict[str, float | None] = dict(zip(WORDS, [90.0, 14.0, 70.0, 3.0, 6.0, None], strict=True))
    found = wg.word_map(facts, (A, B), HashedEncoder()).facts
    assert found is not None
    known = [word for word in WORDS if facts[word] is not None]
    x, y = np.array([effect(word) for word in known]), np.array([facts[word] for word in known], dtype=float)
    r = float(np.corrcoef(x, y)[0, 1])
    assert found.r == pytest.approx(r, rel=1e-9)
    half = norm.ppf(0.975) / math.sqrt(len(known) - 3)  # Fisher 1921
    assert (found.low, found.high) == pytest.approx(
        (math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
    )
    assert found.words == 5
    assert (
        wg.word_map(dict.fromkeys(WORDS, 1.0), (A, B), HashedEncoder()).facts is None
    )  # a constant correlates with nothing


def test_several_processes_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 40 words there are three units, which may come back in any order."""
    words = [*WORDS, *(f"word{number}" for number in range(34))]
    model = HashedEncoder(unknown=["pilot", "man"])
    alone = wg.word_map(words, (A, B), model)
    assert wg.word_map(words, (A, B), model, jobs=2) == alone
    engine = engines.register(monkeypatch)
    assert wg.word_map(words, (A, B), model, scheduler=engines.NAME) == alone
    assert [len(unit.table) for unit in engine.seen] == [7, 16, 16]


def test_a_unit_that_fails_ends_the_map_with_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    engines.register(monkeypatch).dies_with = lambda _: True
    with pytest.raises(WeatherglassError, match="its process died 3 times"):
        wg.word_map(WORDS, (A, B), HashedEncoder(), scheduler=engines.NAME)


def run(*arguments: str) -> str:
    from click.testing import CliRunner

    from weatherglass.cli import app

    return CliRunner().invoke(app, ["words", *arguments], catch_exceptions=False).stdout


def test_the_command_reads_a_table_and_writes_map_and_figure(tmp_path: Path) -> None:
    table, output, figure = tmp_path / "words.tsv", tmp_path / "map.tsv", tmp_path / "map.svg"
    table.write_text(
        "word\tshare\nnurse\t90\nengineer\t15\nteacher\t75\nplumber\t3\npilot\t\n", encoding="utf-8"
    )
    printed = run("-w", str(table), "--facts", "share", "-o", str(output), "--figure", str(figure))
    assert mentions(printed, "correlation", "4 words")
    assert re.search(r"\br = [-−]?0\.\d", printed)
    assert all(len(line) <= 80 for line in printed.splitlines()[:7])
    lines = output.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "word\teffect_size\tp_value\tp_adjusted\tfact"
    assert len(lines) == 6
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    record = json.loads(run("--json"))  # the target words of weat7 themselves
    assert {word["word"] for word in record["words"]} == {
        t for s in wg.load_test("weat7").targets for t in s.texts
    }


@pytest.mark.parametrize(
    ("content", "facts", "message"),
    [
        ("nurse\nnurse\n", None, naming("line 2", "nurse")),
        ("word\tshare\nnurse\tmany\n", "share", naming("line 2", "many")),
        ("word\tshare\nnurse\tinf\n", "share", naming("line 2", "inf")),
        ("word\tshare\nnurse\t1\n", "shares", naming("shares", suggesting="share")),
        ("nurse\n", "share", naming("line 1", "word,share")),
        ("# only a remark\n", None, r"^(?!.*\bline\b).*\bwords?\b(?!<)"),
    ],
)
def test_a_bad_table_is_one_line_that_names_the_place(
    tmp_path: Path, content: str, facts: str | None, message: str
) -> None:
    from weatherglass.catalogue.words import read_words

    path = tmp_path / "words.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CatalogueError, match=message) as wrong:
        read_words(path, facts)
    assert str(path) in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_what_cannot_be_mapped_is_said(tmp_path: Path) -> None:
    vectors = tmp_path / "v.txt"
    vectors.write_text("he 1 0\nshe 0 1\nman 1 1\nnurse 0 2\n", encoding="utf-8")
    with pytest.raises(UnitError, match=naming("B", 1, 4, 2)):
        wg.word_map(["nurse"], (A, B), f"vectors:{vectors}")
    with pytest.raises(WeatherglassError, match=naming("no words")):
        wg.word_map([], (A, B), HashedEncoder())
    with pytest.raises(UnknownNameError, match=naming("correction", "none")):
        wg.word_map(["nurse"], (A, B), HashedEncoder(), correction="none")

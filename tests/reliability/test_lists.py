"""The lists of the paper, and the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.messages import naming
from tests.oracles import du2021 as oracle
from tests.oracles.checksum import checksum
from tests.sheets import workbook

from weatherglass.catalogue import load_test
from weatherglass.errors import CorpusError, UnknownNameError
from weatherglass.reliability.lists import base_pairs, frequent_words, is_word, queries, target_list
from weatherglass.reproduce.du2021 import correlations


@pytest.mark.parametrize("name", oracle.WORD_LISTS)
def test_a_word_list_is_that_of_the_paper(name: str) -> None:
    entries = base_pairs(name).pairs if name == "gender" else target_list(name).words
    number, sha256 = oracle.WORD_LISTS[name]
    assert len(entries) == number
    assert checksum(sorted(entries)) == sha256


def test_no_base_pair_is_there_twice() -> None:
    pairs = base_pairs("sexual_orientation").pairs
    assert len(pairs) == len(set(pairs)) == 12


def test_the_queries_are_sets_of_weat_in_lower_case() -> None:
    """Du et al. take them from weat6 to weat8, whose words tests/catalogue holds against the data release."""
    weat6, weat7, weat8 = (load_test(name) for name in ("weat6", "weat7", "weat8"))
    expected = {
        "career": weat6.attributes[0],
        "family": weat6.attributes[1],
        "math": weat7.targets[0],
        "arts": weat7.targets[1],
        "science": weat8.targets[0],
        "arts_2": weat8.targets[1],
    }
    words = {query.name: set(query.words) for query in queries()}
    assert words == {name: {word.lower() for word in query.words} for name, query in expected.items()}
    assert {len(query) for query in words.values()} == {8}


def test_the_published_correlations_are_those_of_the_reproduction() -> None:
    import polars as pl

    nothing = {
        "pearson": pl.DataFrame(
            schema={"corpus": str, "pairs": str, "algorithm": str, "rules": str, "r": float}
        )
    }
    rows = correlations(nothing)
    assert {(row.pairs, row.algorithm, row.rules): row.reproduced for row in rows} == by_rules(oracle.PEARSON)
    original = {
        (row.pairs, row.algorithm, row.rules): row.original for row in rows if row.original is not None
    }
    assert original == by_rules(oracle.PEARSON_ORIGINAL)


def by_rules(
    table: Mapping[tuple[str, str], tuple[float, float, float]],
) -> dict[tuple[str, str, str], float]:
    """By base pairs, algorithm and the two rules that are correlated."""
    return {
        (*row, rules): r for row, cells in table.items() for rules, r in zip(oracle.RULES, cells, strict=True)
    }


def test_pairs_and_targets_come_from_files_too(tmp_path: Path) -> None:
    (tmp_path / "age.txt").write_text("# old first\nold young\n\nolder\tyounger\n", encoding="utf-8")
    pairs = base_pairs(str(tmp_path / "age.txt"))
    assert (pairs.name, pairs.pairs) == ("age", (("old", "young"), ("older", "younger")))
    assert pairs.present({"old", "young", "older"}) == [("old", "young")]
    (tmp_path / "mine.txt").write_text("nurse\ndoctor\nnurse\n", encoding="utf-8")
    assert target_list(str(tmp_path / "mine.txt")).words == ("nurse", "doctor")


def test_pairs_and_targets_come_from_tables(tmp_path: Path) -> None:
    (tmp_path / "age.xlsx").write_bytes(workbook({"A": [["old", "young"], ["older", "younger"]]}))
    (tmp_path / "age.csv").write_text("old;young\nolder;younger\n", encoding="utf-16")
    for name in ("age.xlsx", "age.csv"):
        assert base_pairs(str(tmp_path / name)).pairs == (("old", "young"), ("older", "younger"))
    (tmp_path / "bad.csv").write_text("old,young\nold,\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"bad\.csv, line 2"):
        base_pairs(str(tmp_path / "bad.csv"))
    (tmp_path / "jobs.csv").write_text("word;share\nnurse;90,5\nclerk;60\nnurse;1\n", encoding="utf-8")
    assert target_list(str(tmp_path / "jobs.csv")).words == ("nurse", "clerk")


def test_mistakes_name_the_line_or_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("old young\nold\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"bad\.txt, line 2"):
        base_pairs(str(tmp_path / "bad.txt"))
    with pytest.raises(UnknownNameError, match=naming("gendr", suggesting="gender")):
        base_pairs("gendr")
    with pytest.raises(UnknownNameError, match=naming("adjective", suggesting="adjectives")):
        target_list("adjective")


def test_special_entries_are_no_words() -> None:
    assert [is_word(token) for token in ("<unk>", "</s>", "[PAD]", "unk", "a<b", "[x]")] == [False] * 3 + [
        True
    ] * 3
    assert frequent_words(["<unk>", "the", "of", "and"], 2).words == ("the", "of")

"""The lists of the paper, and the user's own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from weatherglass.errors import CorpusError, UnknownNameError
from weatherglass.reliability.lists import base_pairs, frequent_words, is_word, queries, target_list
from weatherglass.reproduce.du2021 import correlations


def test_the_pairs_are_those_of_the_paper(shared: Path) -> None:
    folder = shared / "reference" / "du2021"
    garg = {tuple(pair) for pair in json.loads((folder / "rnd_gender_base_pairs.json").read_text())}
    bolukbasi = {
        tuple(reversed(pair)) for pair in json.loads((folder / "gender_base_pairs.json").read_text())
    }
    assert set(base_pairs("gender").pairs) == garg | bolukbasi
    assert len(base_pairs("gender").pairs) == 23
    assert len(set(base_pairs("sexual_orientation").pairs)) == 12


def test_the_targets_are_those_of_the_paper(shared: Path) -> None:
    folder = shared / "reference" / "du2021"
    occupations = json.loads((folder / "professions.json").read_text())
    assert set(target_list("occupations").words) == set(occupations)
    for name, file in (("occupations_1950", "occupations1950"), ("adjectives", "adjectives_williamsbest")):
        assert set(target_list(name).words) == set((folder / f"{file}.txt").read_text().split())
    assert [len(target_list(name).words) for name in ("occupations", "occupations_1950", "adjectives")] == [
        320,
        76,
        230,
    ]


def test_the_queries_are_sets_of_weat_in_lower_case(shared: Path) -> None:
    def words(test: str, part: str) -> set[str]:
        content = json.loads((shared / "reference" / "seat" / f"{test}.jsonl").read_text())
        return {word.lower() for word in content[part]["examples"]}

    found = {query.name: set(query.words) for query in queries()}
    assert found == {
        "career": words("weat6", "attr1"),
        "family": words("weat6", "attr2"),
        "math": words("weat7", "targ1"),
        "arts": words("weat7", "targ2"),
        "science": words("weat8", "targ1"),
        "arts_2": words("weat8", "targ2"),
    }
    assert {len(query) for query in found.values()} == {8}


def test_the_published_correlations_are_those_of_the_reproduction(shared: Path) -> None:
    import polars as pl

    with (shared / "reference" / "published" / "re_du2021_pearson.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    expected = {
        (row["base_pairs"], row["algorithm"], row["rules"], float(row["reproduced"]), row["original"])
        for row in rows
    }
    nothing = {
        "pearson": pl.DataFrame(
            schema={"corpus": str, "pairs": str, "algorithm": str, "rules": str, "r": float}
        )
    }
    found = {
        (
            row.pairs,
            row.algorithm,
            row.rules,
            row.reproduced,
            "" if row.original is None else str(row.original),
        )
        for row in correlations(nothing)
    }
    assert found == expected


def test_pairs_and_targets_come_from_files_too(tmp_path: Path) -> None:
    (tmp_path / "age.txt").write_text("# old first\nold young\n\nolder\tyounger\n", encoding="utf-8")
    pairs = base_pairs(str(tmp_path / "age.txt"))
    assert (pairs.name, pairs.pairs) == ("age", (("old", "young"), ("older", "younger")))
    assert pairs.present({"old", "young", "older"}) == [("old", "young")]
    (tmp_path / "mine.txt").write_text("nurse\ndoctor\nnurse\n", encoding="utf-8")
    assert target_list(str(tmp_path / "mine.txt")).words == ("nurse", "doctor")


def test_mistakes_name_the_line_or_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("old young\nold\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"bad\.txt, line 2"):
        base_pairs(str(tmp_path / "bad.txt"))
    with pytest.raises(UnknownNameError, match="did you mean 'gender'"):
        base_pairs("gendr")
    with pytest.raises(UnknownNameError, match="did you mean 'adjectives'"):
        target_list("adjective")


def test_special_entries_are_no_words() -> None:
    assert [is_word(token) for token in ("<unk>", "</s>", "[PAD]", "unk", "a<b", "[x]")] == [False] * 3 + [
        True
    ] * 3
    assert frequent_words(["<unk>", "the", "of", "and"], 2).words == ("the", "of")

"""Files of other projects, in the form in which they are published; the words are ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.messages import mentions, naming

from weatherglass.catalogue import import_tests, load_test, load_tests, read_toml, write_import
from weatherglass.errors import CatalogueError, OutputError

SETS = {
    "targ1": {"category": "Math", "examples": ["calcul", "algèbre", "calcul"]},
    "targ2": {"category": "Arts", "examples": ["poésie", "beaux arts"]},
    "attr1": {"category": "MaleTerms", "examples": ["il", "son"]},
    "attr2": {"category": "FemaleTerms", "examples": ["elle", "son"]},
}
DOTTED = {f"{key}.{part}": value for key, entry in SETS.items() for part, value in entry.items()}


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=2)
    path.write_text(text, encoding="utf-8")
    return path


def notes_of(path: Path, **options: Any) -> str:
    return "\n".join(note for each in import_tests(path, **options).tests for note in each.notes)


# WEATHub


def test_a_folder_of_weathub_gives_language_topic_and_notes(tmp_path: Path) -> None:
    write(tmp_path / "fr_human" / "weat7.json", SETS)
    write(tmp_path / "ja_new" / "weat7.json", SETS)
    (french, japanese) = import_tests(tmp_path).tests
    assert (french.test.name, french.test.language, french.test.topic) == (
        "fr_human-weat7",
        "fr",
        "gender and science",
    )
    assert japanese.test.language == "ja"
    assert french.test.targets[0].texts == ("calcul", "algèbre")
    duplicates, overlap, several = french.notes
    assert mentions(duplicates, "(Math)", "1 duplicate", "(calcul)")
    assert mentions(overlap, "A (MaleTerms)", "B (FemaleTerms)", "1 element", "(son)")
    assert mentions(several, "Arts", "beaux arts")


@pytest.mark.parametrize("wrapped", [False, True])
def test_rows_of_the_hub_are_read(tmp_path: Path, wrapped: bool) -> None:
    rows = [{"language": code, "weat": "WEAT7", **DOTTED} for code in ("fr", "ckb")]
    content: Any = {"rows": [{"row_idx": 0, "row": row} for row in rows]} if wrapped else rows
    imported = import_tests(write(tmp_path / "rows.json", content))
    assert [(each.test.name, each.test.language) for each in imported.tests] == [
        ("fr-weat7", "fr"),
        ("ckb-weat7", "ckb"),
    ]


def test_rows_one_a_line_and_parquet_give_the_same_tests(tmp_path: Path) -> None:
    import polars

    rows = [{"language": code, "weat": "WEAT7", **DOTTED} for code in ("fr", "ru")]
    lines = write(tmp_path / "a.jsonl", "\n".join(json.dumps(row) for row in rows) + "\n")
    polars.DataFrame(rows).write_parquet(tmp_path / "b.parquet")
    from_lines, from_parquet = import_tests(lines), import_tests(tmp_path / "b.parquet")
    assert [each.test.fingerprint() for each in from_lines.tests] == [
        each.test.fingerprint() for each in from_parquet.tests
    ]


# sent-bias, and religion or intersectional tests in its form


def test_the_published_form_is_english_with_a_note(tmp_path: Path) -> None:
    path = write(tmp_path / "religion1.jsonl", SETS)
    assert "language: en" in notes_of(path)
    assert "language" not in notes_of(path, language="fr")
    assert import_tests(path, language="fr").tests[0].test.language == "fr"


# XWEAT


def test_xweat_translates_the_ten_tests_both_forms_one_after_the_other(tmp_path: Path) -> None:
    rows = "love,Liebe,\nfriend,Freund,Freundin\n,,\nBill,Rechnung,\nblue-bell,Glockenblume,\n"
    imported = import_tests(write(tmp_path / "vocab_en_de.csv", rows))
    tests = {each.test.name: each for each in imported.tests}
    assert list(tests) == [f"de-weat{number}" for number in range(1, 11)]
    pleasant = tests["de-weat5"].test.attributes[0].texts
    assert pleasant[:2] == ("joy", "Liebe")
    assert pleasant[5:7] == ("Freund", "Freundin")
    assert "Glockenblume" in tests["de-weat1"].test.targets[0].texts
    assert "Bill" in tests["de-weat6"].test.targets[0].texts  # names are kept, whatever the file says
    assert any(mentions(note, "English", "joy") for note in tests["de-weat5"].notes)
    assert {each.test.language for each in imported.tests} == {"de"}


def test_a_line_of_xweat_without_translation_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "vocab_en_de.csv", "love,Liebe,\npeace,,\n")
    with pytest.raises(CatalogueError, match=naming("vocab_en_de.csv, line 2:", "'peace'", "translation")):
        import_tests(path)


# responsibly and WEFE


def test_responsibly_keeps_words_marked_for_removal_and_says_so(tmp_path: Path) -> None:
    entry = {
        "first_target": {"name": "Flowers", "words": ["aster", "clover"], "remove": ["clover"]},
        "second_target": {"name": "Insects", "words": ["ant", "flea"]},
        "first_attribute": {"name": "Pleasant", "words": ["love", "peace"]},
        "second_attribute": {"name": "Unpleasant", "words": ["filth", "grief"]},
        "original_finding": {"N": "32"},
    }
    (imported,) = import_tests(write(tmp_path / "weat.json", [entry])).tests
    assert imported.test.name == "weat-1"
    assert imported.test.topic == "control"
    assert imported.test.targets[0].texts == ("aster", "clover")
    (note,) = imported.notes
    assert mentions(note, "Flowers", "'clover'", "kept")


def test_a_query_of_wefe_has_any_number_of_sets(tmp_path: Path) -> None:
    query = {
        "target_sets": [["he"], ["she"], ["they"]],
        "attribute_sets": [["science", "physics"]],
        "target_sets_names": ["Male", "Female", "Other"],
        "attribute_sets_names": ["Science"],
    }
    (imported,) = import_tests(write(tmp_path / "query.json", query)).tests
    assert imported.test.shape == (3, 1)
    assert imported.test.categories == ("Male", "Female", "Other", "Science")


def test_a_python_file_is_read_and_never_run(tmp_path: Path) -> None:
    code = """
import os
os.system("touch ran")
open("ran", "w").write("ran")
words = {"male": ["he", "him"], "female": ["she", "her"], "science": ["physics", "chemistry"]}
query = Query([words["male"], words["female"]], [words["science"]], ["Male", "Female"], ["Science"])
"""
    path = write(tmp_path / "queries.py", code)
    (imported,) = import_tests(path).tests
    assert imported.test.name == "query"
    assert imported.test.targets[1].texts == ("she", "her")
    assert not (tmp_path / "ran").exists()
    assert not Path("ran").exists()
    with pytest.raises(CatalogueError, match=naming("queries.py, line 1:", "Query", "literal")):
        import_tests(write(path, "q = Query(load(), [['a']])"))


def test_lists_of_published_code_are_joined_and_cut_without_running_it(tmp_path: Path) -> None:
    code = """
first = ['Ann', 'Eve', 'Joan'][0:2]
second = ['Bob', 'Carl']
shared = ['loud']
traits = shared + ['proud']
others = [word.upper() for word in shared]
"""
    path = write(tmp_path / "code.py", code)
    (imported,) = import_tests(path, "en", ["first", "second"], ["traits"]).tests
    assert [each.texts for each in imported.test.sets] == [("Ann", "Eve"), ("Bob", "Carl"), ("loud", "proud")]
    with pytest.raises(CatalogueError, match=naming(path, "'others'")):  # it would have to be run
        import_tests(path, "en", ["others"], ["traits"])


def test_word_sets_need_to_be_told_what_is_compared(tmp_path: Path) -> None:
    path = write(tmp_path / "sets.json", {"islam": ["imam", "mosque"], "church": ["priest", "bible"]})
    with pytest.raises(CatalogueError, match=naming(path, "--target", "--attribute", "islam, church")):
        import_tests(path)
    (imported,) = import_tests(
        path, targets=["islam", "church"], attributes=["pleasant_short", "unpleasant_short"]
    ).tests
    assert imported.test.categories == ("islam", "church", "Pleasant", "Unpleasant")
    with pytest.raises(CatalogueError, match=naming("'islan'", suggesting="islam")):
        import_tests(path, targets=["islan"], attributes=["church"])


# Plain text


def test_text_files_are_sets_by_their_names(tmp_path: Path) -> None:
    write(tmp_path / "able.txt", "# a comment\nwalking\nrunning\n\n")
    write(tmp_path / "disabled.txt", "wheelchair, white cane\n")
    (imported,) = import_tests(
        tmp_path, "en", ["able", "disabled"], ["pleasant", "unpleasant"], name="disability"
    ).tests
    assert imported.test.name == "disability"
    assert imported.test.targets[1].texts == ("wheelchair", "white cane")
    (note,) = imported.notes
    assert mentions(note, "disabled", "white cane")


def test_files_named_x_y_a_b_are_a_test(tmp_path: Path) -> None:
    for role, words in {"X": "aster\nrose", "Y": "ant\nflea", "A": "love", "B": "filth"}.items():
        write(tmp_path / "own" / f"{role}.txt", words)
    (imported,) = import_tests(tmp_path / "own", "en").tests
    assert imported.test.name == "own"
    assert imported.test.categories == ("X", "Y", "A", "B")


# Wrong files: one line each


@pytest.mark.parametrize(
    ("name", "content", "pattern"),
    [
        ("a.json", '{"targ1": [', r"a\.json, line 1, column 12: malformed JSON"),
        (
            "a.json",
            {**SETS, "targ2": {"category": "Arts", "examples": ["x", 3]}},
            r"line \d+: .*word 2: 3.*a number",
        ),
        (
            "a.json",
            {**SETS, "attr2": {"category": "F", "examples": [" "]}},
            r"line \d+: attr2\.examples .*empty",
        ),
        ("a.json", {"targ1": SETS["targ1"]}, r": targ2 .*missing"),
        ("a.json", {"words": 3}, r"a\.json: .*\bformat\b"),
        ("a.csv", "love,Liebe,", naming("a.csv", "'love'")),
        ("a.txt", "\n\n", r"a\.txt: .*\bwords\b"),
        ("a.txt", "one\ntw\x07o", r"a\.txt, line 2: 'tw\\x07o' "),
        ("a.py", "def (", r"a\.py, line 1: .*Python"),
        ("a.py", "print(1)", r"a\.py: .*literal.*Query"),
        ("a.parquet", "no parquet", r"a\.parquet: .*Parquet"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, name: str, content: Any, pattern: str) -> None:
    with pytest.raises(CatalogueError, match=pattern) as caught:
        import_tests(write(tmp_path / name, content))
    assert "\n" not in str(caught.value)


def test_every_wrong_file_of_a_folder_has_its_line_and_others_are_told(tmp_path: Path) -> None:
    write(tmp_path / "de_new" / "weat1.json", "{")
    write(tmp_path / "fr_new" / "weat1.json", {**SETS, "targ1": "aster"})
    with pytest.raises(CatalogueError) as caught:
        import_tests(tmp_path)
    assert len(str(caught.value).splitlines()) == 2
    write(tmp_path / "de_new" / "weat1.json", SETS)
    write(tmp_path / "fr_new" / "weat1.json", {"other": 1})
    (line,) = import_tests(tmp_path).passed_over
    assert mentions(line, "fr_new/weat1.json", "format")


# What is written


def test_what_is_written_reads_back_as_the_same_test_with_its_notes(tmp_path: Path) -> None:
    imported = import_tests(write(tmp_path / "fr_human" / "weat7.json", SETS))
    (path,) = write_import(imported, tmp_path / "out.toml")
    assert read_toml(path).fingerprint() == imported.tests[0].test.fingerprint()
    text = path.read_text(encoding="utf-8")
    source, note = text.splitlines()[:2]
    assert mentions(source, "# ", "WEATHub: fr_human/weat7.json")
    assert mentions(note, "# ", "(Math)")


def test_a_line_break_in_a_word_cannot_leave_its_comment(tmp_path: Path) -> None:
    sets = {**SETS, "targ1": {"category": "Math", "examples": ["a\nname = 'evil'", "b"]}}
    (path,) = write_import(import_tests(write(tmp_path / "w.json", sets)), tmp_path / "out.toml")
    assert load_test(path).name == "w"


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    for code in ("fr", "de"):
        write(tmp_path / "data" / f"{code}_human" / "weat7.json", SETS)
    imported = import_tests(tmp_path / "data")
    with pytest.raises(CatalogueError, match=naming("2 tests", "-o", tmp_path / "one.toml")):
        write_import(imported, tmp_path / "one.toml")
    write_import(imported, tmp_path / "out")
    assert [test.name for test in load_tests([tmp_path / "out"])] == ["de_human-weat7", "fr_human-weat7"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.toml").write_text("")
    with pytest.raises(OutputError, match=naming(tmp_path / "mine", "exists")):
        write_import(imported, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["precious.toml"]

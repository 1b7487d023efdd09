"""Reading a run's folder: journal and record are enough, what is missing is said, what is there is kept."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.messages import in_order, mentions, naming
from tests.models import HashedEncoder
from tests.report.made_up import made_up_run
from tests.results import change_record

import weatherglass as wg
from weatherglass.audit.folder import JOURNAL, RECORD, TABLE
from weatherglass.audit.stored import labelled, read_run, read_whole_run
from weatherglass.catalogue import load_tests
from weatherglass.errors import DamageWarning, OutputError
from weatherglass.report.page import page
from weatherglass.storage.checksum import write_checked_json
from weatherglass.storage.journal import checked_line


def stored_vectors(path: Path) -> str:
    """A model that a later run knows again, for the tests of gender."""
    texts = dict.fromkeys(text for test in load_tests(["weat7", "weat8"]) for text in test.texts)
    rows = zip(texts, HashedEncoder().encode(list(texts)).tolist(), strict=True)
    path.write_text("".join(f"{text} {' '.join(map(str, row))}\n" for text, row in rows))
    return f"vectors:{path}"


def test_a_run_is_read_as_it_was_returned(tmp_path: Path) -> None:
    """Judgement and all, though the journal holds none: it is judged anew."""
    metrics = ["cosine/mean", "dot/eq2"]
    finished = wg.run(HashedEncoder(), ["weat7", "sent-weat6"], metrics, folder=tmp_path)
    run = read_run(tmp_path)
    assert run.notices == []
    assert run.results == finished.results
    assert {key: run.record[key] for key in ("status", "settings", "failures")} == {
        key: finished.record[key] for key in ("status", "settings", "failures")
    }
    assert [result.signed for result in run.results] == [True, False, True, False]


def test_the_table_is_made_from_the_journal_and_not_read(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    before = read_whole_run(tmp_path).results
    (tmp_path / TABLE).write_text("word\tcount\nthe\t3\n")
    assert read_whole_run(tmp_path).results == before
    (tmp_path / TABLE).unlink()
    assert read_whole_run(tmp_path).results == before


def test_names_with_tabs_and_line_breaks_are_kept(tmp_path: Path) -> None:
    (test,) = load_tests(["weat1"])
    made_up_run(tmp_path, [replace(test, name="my\tweat\n1")], ["a\rmodel"])
    run = read_whole_run(tmp_path)
    assert (run.results[0].test, run.results[0].model) == ("my\tweat\n1", "a\rmodel")
    assert run.results[run.find("my\tweat\n1")].scores[0].text == test.targets[0].texts[0]
    head, row = (tmp_path / TABLE).read_text().splitlines()
    assert (len(row.split("\t")), row.split("\t")[2]) == (len(head.split("\t")), "my weat 1")


def test_a_folder_without_a_run_is_an_error_that_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=naming(f"{tmp_path}:", "run.json", "weatherglass run -o DIR")):
        read_run(tmp_path)


def test_a_damaged_line_is_said_and_the_others_are_kept(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1", "weat2"]))
    journal = tmp_path / JOURNAL
    journal.write_bytes(journal.read_bytes().replace(b'"weat1"', b'"weat9"', 1))
    run = read_run(tmp_path)
    assert [result.test for result in run.results] == ["weat2"]
    (notice,) = run.notices
    assert re.search(in_order("journal.jsonl", "1 of 2", "1 damaged"), notice)
    made = page([run])
    assert "weat2" in made
    assert re.search(r'<p class="notice">[^\n]*\bjournal\.jsonl\b[^\n]*\b1 of 2\b', made)


def test_results_of_other_settings_in_the_same_journal_are_not_taken_for_those_of_the_run(
    tmp_path: Path,
) -> None:
    """A second run in the folder leaves its results beside those of the first; the record names which are its own."""
    for alternative in ("greater", "less"):
        wg.run("wordllama", "weat7", folder=tmp_path, trust="none", alternative=alternative)
    assert len((tmp_path / JOURNAL).read_bytes().splitlines()) == 2
    (result,) = read_whole_run(tmp_path).results
    assert result.alternative == "less"


@pytest.mark.parametrize("content", ["", "[1]", "{", "{}", '{"settings": 3}'])
def test_a_record_that_cannot_be_read_is_said(tmp_path: Path, content: str) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / RECORD).write_text(content)
    with pytest.raises(OutputError, match=naming(str(tmp_path), "run.json")) as refused:
        read_run(tmp_path)
    assert "\n" not in str(refused.value)


def test_an_edited_record_is_refused_and_the_same_command_repairs_it(tmp_path: Path) -> None:
    """Another alpha would be another verdict. The journal holds the results, so nothing is lost."""
    model, folder = stored_vectors(tmp_path / "model.txt"), tmp_path / "run"
    before = wg.run(model, "weat7", folder=folder, trust="none")
    record = folder / RECORD
    edited = record.read_bytes().replace(b'"alpha": 0.05', b'"alpha": 0.5', 1)
    record.write_bytes(edited)
    with pytest.raises(OutputError, match=naming(str(record), "damaged", "same command")):
        read_run(folder)
    with pytest.raises(OutputError, match=naming(str(record), "damaged")):
        wg.run(model, "weat8", folder=folder, trust="none", add=True)
    assert record.read_bytes() == edited
    with pytest.warns(DamageWarning, match=in_order(str(record), "damaged", "run.json.damaged")):
        again = wg.run(model, "weat7", folder=folder, trust="none")
    assert again.results == before.results
    assert read_whole_run(folder).results == before.results
    assert record.with_name("run.json.damaged").read_bytes() == edited


def test_a_record_without_a_checksum_is_refused_and_the_same_command_repairs_it(tmp_path: Path) -> None:
    model, folder = stored_vectors(tmp_path / "model.txt"), tmp_path / "run"
    before = wg.run(model, "weat7", folder=folder, trust="none")
    (folder / RECORD).write_text(json.dumps(before.record))
    with pytest.raises(OutputError, match=naming(str(folder / RECORD), "checksum", "same command")):
        read_run(folder)
    with pytest.warns(DamageWarning, match=in_order(str(folder / RECORD), "damaged", "run.json.damaged")):
        assert wg.run(model, "weat7", folder=folder, trust="none").results == before.results
    assert read_whole_run(folder).results == before.results


def test_a_run_of_an_older_format_is_called_so_not_damaged_and_is_computed_again(tmp_path: Path) -> None:
    model, folder = stored_vectors(tmp_path / "model.txt"), tmp_path / "run"
    before = wg.run(model, ["weat7", "weat8"], folder=folder, trust="none")
    lines = []
    for line in (folder / JOURNAL).read_bytes().splitlines():
        entry = json.loads(line)
        entry["result"]["p_attr"] = entry["result"].pop("p_random")  # its name before
        lines.append(checked_line({"key": entry["key"], "result": entry["result"]}))
    (folder / JOURNAL).write_bytes(b"".join(lines))
    change_record(folder, format=1)
    with pytest.raises(
        OutputError, match=naming(str(folder), "format 1", "format 2", "same command")
    ) as refused:
        read_run(folder)
    assert "damaged" not in str(refused.value)
    again = wg.run(model, ["weat7", "weat8"], folder=folder, trust="none")
    assert [(w.kind, w.values["count"]) for w in again.warnings if w.subject == str(folder / JOURNAL)] == [
        ("old-journal", 2)
    ]
    assert (folder / "journal.jsonl.old").read_bytes() == b"".join(lines)
    assert [result.value for result in again.results] == [result.value for result in before.results]
    assert read_whole_run(folder).record["format"] == 2


def test_a_run_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    wg.run(stored_vectors(tmp_path / "model.txt"), "weat7", folder=tmp_path / "run", trust="none")
    change_record(tmp_path / "run", format=99)
    with pytest.raises(OutputError, match=naming(str(tmp_path / "run"), "format 99", "format 2")):
        read_run(tmp_path / "run")


def test_a_line_lost_from_the_journal_of_a_run_with_failures_is_missed(tmp_path: Path) -> None:
    """Its keys include those that could not be computed, so that only the count of its results tells."""
    run = wg.run(
        HashedEncoder(unknown=["math"]), ["weat6", "weat7"], ["cosine/mean", "cosine/max"], folder=tmp_path
    )
    change_record(tmp_path, status="incomplete", keys=[*run.keys, "never computed"])
    assert len(read_whole_run(tmp_path).results) == 4
    journal = tmp_path / JOURNAL
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(OutputError, match=naming("journal.jsonl", "2 of 5")):
        read_whole_run(tmp_path)


@pytest.mark.parametrize(
    ("part", "content", "lacking"),
    [
        (JOURNAL, None, naming("journal.jsonl", "1 of 1")),
        (JOURNAL, "", naming("journal.jsonl", "1 of 1")),
        (JOURNAL, "not a journal\n", naming("journal.jsonl", "1 of 1", "1 damaged")),
        (JOURNAL, '{"key": "0", "result": {}}\n', naming("1 of 1", "1 damaged")),
        (RECORD, None, naming("run.json", "missing")),
        (RECORD, "{", naming("run.json")),
    ],
)
def test_who_needs_a_whole_run_is_told_what_it_lacks(
    tmp_path: Path, part: str, content: str | None, lacking: str
) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    (tmp_path / part).unlink()
    if content is not None:
        (tmp_path / part).write_text(content)
    with pytest.raises(OutputError, match=lacking):
        read_whole_run(tmp_path)


@pytest.mark.parametrize("status", ["running", "interrupted"])
def test_an_unfinished_run_is_whole_and_called_so(tmp_path: Path, status: str) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]), record={"status": status, "keys": ["0", "not yet computed"]})
    run = read_whole_run(tmp_path)
    assert [result.test for result in run.results] == ["weat1"]
    (notice,) = run.notices
    assert mentions(notice, status)
    assert mentions(notice, "killed") is (status == "running")


def test_a_run_without_results_makes_a_page_that_says_so(tmp_path: Path) -> None:
    made_up_run(tmp_path, [])
    assert re.search(r'<h1 id="title">[^<]*\bno results\b', page([read_run(tmp_path)]))


def test_two_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    folders = [tmp_path / "monday" / "run", tmp_path / "tuesday" / "run"]
    for folder in folders:
        made_up_run(folder, load_tests(["weat1"]))
    assert [run.label for run in labelled(read_run(folder) for folder in folders)] == ["run", "run (2)"]


@pytest.mark.parametrize(
    "judged", [{"smallest": 0.5}, {"correction": "benjamini-hochberg"}, {"family": 1000}]
)
def test_another_way_to_judge_computes_nothing_and_is_judged_anew(
    tmp_path: Path, judged: dict[str, Any]
) -> None:
    wg.run("wordllama", ["weat7", "weat8"], folder=tmp_path, trust="none")
    journal = (tmp_path / JOURNAL).read_bytes()
    again = wg.run("wordllama", ["weat7", "weat8"], folder=tmp_path, trust="none", **judged)
    assert (tmp_path / JOURNAL).read_bytes() == journal
    assert read_run(tmp_path).results == again.results


def test_a_record_without_a_status_is_read_and_judges_nothing(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat6"]))
    record = {name: value for name, value in read_run(tmp_path).record.items() if name != "status"}
    write_checked_json(tmp_path / RECORD, record)
    run = read_run(tmp_path)
    assert len(run.results) == 1
    assert run.verdicts() == []
    assert page([run])

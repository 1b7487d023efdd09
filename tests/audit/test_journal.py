"""The journal: what is written comes back as it was, and whatever is damaged is noticed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.messages import mentions, naming
from tests.models import HashedEncoder
from tests.results import change_record, made_result

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.folder import JOURNAL, RunFolder, read_journal
from weatherglass.audit.results import COLUMNS, ElementScore, Result
from weatherglass.audit.stored import read_run
from weatherglass.errors import OutputError
from weatherglass.storage.journal import checked_line
from weatherglass.warnings import Warning

SMALL = made_result(
    0.012345,
    0.75,
    test="weat7",
    model="m",
    scores=(ElementScore("X", "a 'ß'\t\"", "a", None, 0.25), ElementScore("Y", "b\n", "b", "{}.", -0.5)),
    warnings=(Warning.of("too-small", x=3, y=3, floor=0.1), Warning("other", "file", {"text": "two"})),
    notes={"oov": {"missing": {"c": 2}}},
)


def journal_line(key: str, result: Result) -> bytes:
    return checked_line({"key": key, "result": result.to_json()})


def written(path: Path, *results: Result) -> Path:
    journal = path / JOURNAL
    journal.write_bytes(b"".join(journal_line(f"key {n}", result) for n, result in enumerate(results)))
    return journal


def test_every_field_of_a_computed_result_comes_back(tmp_path: Path) -> None:
    run = wg.run(HashedEncoder(), ["weat7", "sent-weat6"], ["cosine/mean", "cosine/max"])
    entries = list(read_journal(written(tmp_path, *run.results)))
    assert [entry.key for entry in entries] == ["key 0", "key 1", "key 2", "key 3"]
    for entry, result in zip(entries, run.results, strict=True):
        assert entry.value is not None
        for field in fields(Result):
            if field.compare:
                assert getattr(entry.value, field.name) == getattr(result, field.name), field.name
        assert entry.value.columns() == result.columns()
    assert run.results[0].robustness is not None  # the typed block was among what came back
    assert run.results[2].p_elements is not None


def test_what_is_not_defined_comes_back_as_nan(tmp_path: Path) -> None:
    """d of equal scores, and p of a metric that exchanges nothing."""
    bare = replace(SMALL, value=math.nan, test_statistic=math.nan, p_value=math.nan, p_floor=math.nan)
    (entry,) = read_journal(written(tmp_path, replace(bare, p_middle=math.nan, p_low=None)))
    assert entry.value is not None
    for name in ("value", "effect_size", "test_statistic", "p_value", "p_floor", "p_middle"):
        assert math.isnan(getattr(entry.value, name)), name
    assert entry.value.p_low is None


def test_a_line_is_json_with_the_columns_by_name() -> None:
    record = json.loads(journal_line("k", SMALL))
    assert list(record) == ["sha256", "key", "result"]
    assert {name: record["result"][name] for name in COLUMNS} == {
        name: getattr(SMALL, name) for name in COLUMNS
    }
    assert list(record["result"])[: len(COLUMNS)] == list(COLUMNS)


def test_the_checksum_is_that_of_the_bytes_after_it() -> None:
    """As sha256sum would find it: a reader in another language needs no canonical form of JSON."""
    line = journal_line("k", SMALL)
    start = line.index(b'"key"')
    assert line[:start] == b'{"sha256":"' + sha256(line[start:-1]).hexdigest().encode() + b'",'


@pytest.mark.parametrize("flip", [0x01, 0x20, 0xFF])
def test_every_flipped_byte_is_noticed(tmp_path: Path, flip: int) -> None:
    journal = written(tmp_path, SMALL, replace(SMALL, value=-1.0))
    content = journal.read_bytes()
    first = content.index(b"\n") + 1
    for place in range(first):  # the first line with its line break
        journal.write_bytes(content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])
        entries = list(read_journal(journal))
        read = [entry.value for entry in entries if entry.value is not None]
        # Without its line break the first line swallows the second; else the second is untouched.
        assert [result.value for result in read] == ([] if place == first - 1 else [-1.0]), place
        assert any(entry.value is None for entry in entries), place


def test_a_value_of_a_record_with_a_right_checksum_and_a_wrong_form_is_damage(tmp_path: Path) -> None:
    journal = tmp_path / JOURNAL
    for rest in (b'"key":"k"}', b'"key":"k","result":{}}', b'"key":"k","result":[]}', b"]"):
        journal.write_bytes(b'{"sha256":"%s",' % sha256(rest).hexdigest().encode() + rest + b"\n")
        (entry,) = read_journal(journal)
        assert (entry.number, entry.value) == (1, None)


def test_a_line_cut_short_is_passed_over_wherever_it_is_cut(tmp_path: Path) -> None:
    journal = written(tmp_path, SMALL, replace(SMALL, value=-1.0))
    content = journal.read_bytes()
    first = content.index(b"\n") + 1
    for length in range(first, len(content)):
        journal.write_bytes(content[:length])
        (entry,) = read_journal(journal)
        assert entry.value == SMALL


def test_a_folder_computes_again_what_was_cut_short_or_damaged(tmp_path: Path) -> None:
    journal = written(tmp_path, SMALL, SMALL, SMALL)
    content = journal.read_bytes()
    line = len(content) // 3
    journal.write_bytes(content[:line] + content[line:].replace(b"0.75", b"0.85", 1)[:-5])
    with RunFolder(tmp_path) as folder:
        assert folder.finished == {"key 0": SMALL}
        (warning,) = folder.warnings
        assert (warning.kind, warning.subject, warning.values["lines"]) == (
            "damaged-journal",
            str(journal),
            [2],
        )
        folder.add("key 2", SMALL)
    assert [entry.key for entry in read_journal(journal)] == ["key 0", "key 2"]
    aside = journal.with_name("journal.jsonl.damaged")
    assert aside.read_bytes() == content[line : 2 * line].replace(b"0.75", b"0.85", 1)
    with RunFolder(tmp_path) as again:
        assert again.warnings == []


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=naming(str(file), "-o")):
        wg.run(HashedEncoder(), "weat7", folder=file, trust="none")
    assert file.read_text(encoding="utf-8") == "mine"


def test_a_journal_of_another_program_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    journal = tmp_path / JOURNAL
    journal.write_bytes(b'{"event": "started"}\n{"event": "stopped"}\n')
    with pytest.raises(OutputError, match=naming(str(journal), "-o")):
        wg.run(HashedEncoder(), "weat7", folder=tmp_path, trust="none")
    assert journal.read_bytes() == b'{"event": "started"}\n{"event": "stopped"}\n'
    assert not journal.with_name("journal.jsonl.damaged").exists()


def test_a_journal_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).mkdir()
    with pytest.raises(OutputError, match=naming(str(tmp_path / JOURNAL), "folder")):
        list(read_journal(tmp_path / JOURNAL))


def test_a_killed_run_can_be_read(tmp_path: Path) -> None:
    """Killed in its second model: the record says running, the journal has the first and half a line."""

    class Killed(HashedEncoder):
        def encode(self, texts: Sequence[str]) -> AnyMatrix:
            del texts
            raise KeyboardInterrupt

    encoders = [HashedEncoder(), Killed(name="killed")]
    with pytest.raises(KeyboardInterrupt):
        wg.run(encoders, ["weat7", "weat8"], folder=tmp_path, trust="none")
    change_record(tmp_path, status="running")
    with (tmp_path / JOURNAL).open("ab") as journal:
        journal.write(journal_line("k", SMALL)[:-20])
    run = read_run(tmp_path)
    assert [(result.model, result.test) for result in run.results] == [
        ("hashed", "weat7"),
        ("hashed", "weat8"),
    ]
    assert all(result.p_adjusted is None and result.outcome is None for result in run.results)
    (notice,) = run.notices
    assert mentions(notice, "running", "killed")

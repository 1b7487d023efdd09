"""The folder of a run: how often its table is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.messages import naming

from weatherglass.audit.folder import RunFolder
from weatherglass.errors import OutputError


def test_a_table_that_takes_long_is_written_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("weatherglass.audit.folder.time.monotonic", lambda: now)

    def slow(*_: object) -> None:
        nonlocal now
        now += 3.0

    monkeypatch.setattr("weatherglass.audit.folder.write_whole", slow)
    with RunFolder(tmp_path) as folder:
        assert folder.table_is_due()
        folder.write_table([])
        now += 119.0
        assert not folder.table_is_due()
        now += 2.0
        assert folder.table_is_due()


def test_a_record_without_its_journal_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(OutputError, match=naming("run.json", "journal.jsonl")), RunFolder(tmp_path):
        pass
    assert (tmp_path / "run.json").read_text() == "{}"

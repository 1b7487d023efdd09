"""Text for papers and model cards: it says what the run's record says, cites every paper, and breaks no format."""

from __future__ import annotations

import re
from email.message import Message
from pathlib import Path

import pytest
from tests.messages import mentions
from tests.report.conftest import HOSTILE, own_test
from tests.report.made_up import made_up_run

from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_tests
from weatherglass.catalogue.published import bibtex_entries, table
from weatherglass.report import writing
from weatherglass.report.statements import caveats, outcome_text, topics
from weatherglass.report.writing import bibtex, methods_paragraph, model_card


def test_every_reference_has_a_bibtex_entry_of_the_same_author_and_year() -> None:
    entries = bibtex_entries()
    for key, text in table("references").items():
        entry = entries[key]
        assert re.search(r"year = \{(\d+)\}", entry)[1] == re.search(r"\((\d{4})\)", text)[1]  # type: ignore[index]
        assert re.search(r"author = \{([^,]+),", entry)[1] == text.split(",")[0]  # type: ignore[index]


@pytest.mark.parametrize(
    ("stated", "url"),
    [
        ([], None),
        (["Repository, https://example.org/weatherglass"], "https://example.org/weatherglass"),
        (["Repository, file:///home/me", "Home, http://example.org/a}b"], None),
    ],
)
def test_the_entry_of_the_software_has_its_authors_and_the_stated_address(
    stated: list[str], url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = Message()
    for line in stated:
        described["Project-URL"] = line
    monkeypatch.setattr(writing, "metadata", lambda _: described)
    entry = bibtex({}).partition("@software")[2]
    assert "author = {{The weatherglass authors}}" in entry
    assert (f"url = {{{url}}}" in entry) if url else ("url" not in entry)


def test_bibtex_has_the_papers_of_the_tests_the_correction_and_the_software(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1", "sent-weat1"]))
    text = bibtex(read_run(tmp_path).record)
    assert re.findall(r"@\w+\{(\w+),", text) == ["caliskan2017", "may2019", "holm1979", "weatherglass"]
    assert text.count("{") == text.count("}")


def test_a_key_without_an_entry_is_a_comment_of_one_line() -> None:
    text = bibtex({"citations": ["mine\n@evil{x}"]})
    first = text.splitlines()[0]
    assert first.startswith("% ")
    assert first.endswith(" mine @evil{x}")


def test_the_methods_paragraph_says_what_the_settings_say(tmp_path: Path) -> None:
    results = made_up_run(tmp_path, load_tests(["*"]), ["a", "b"])
    text = methods_paragraph(results, read_run(tmp_path).record)
    assert mentions(text, "2 models (a, b)", 46, "May et al. (2019)", "two-sided", "words")
    assert mentions(text, "Holm", 92, 0.01, "99 %", "n − 1")
    assert methods_paragraph([], {}) == ""


def test_a_model_card_has_a_row_for_every_verdict(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat*"]), ["a", "b"])
    run = read_run(tmp_path)
    checks = [one for one in run.verdicts() if one.check]
    verdicts = [*topics(run.verdicts()), *checks]
    card = model_card(run.results, run.record, verdicts)
    rows = [line for line in card.splitlines() if line.startswith("| ")]
    assert all(caveat.replace("|", "\\|") in card for caveat in caveats(verdicts, run.alpha))
    assert len(rows) == 2 + len(verdicts)
    assert {line.count("|") for line in rows} == {
        8
    }  # seven columns: with several models, one names the model
    for verdict, row in zip(verdicts, rows[2:], strict=True):
        assert verdict.check or f"{len(verdict.marked)} of {len(verdict.tests)}" in row
        assert f"| {outcome_text(verdict)} |" in row


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_make_no_markup_in_a_model_card(tmp_path: Path, name: str) -> None:
    made_up_run(tmp_path, [own_test("mine", ("A", "B", "C", "D"), "w")], [name])
    run = read_run(tmp_path)
    card = model_card(run.results, run.record, run.verdicts())
    assert not re.search(r"(?<!\\)<", card)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in card.splitlines() if line.startswith("| ")} == {7}

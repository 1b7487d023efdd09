"""Warnings are values: what follows from their kind, how several become one line, and what counts them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.record import collected_warnings
from weatherglass.audit.stored import read_run
from weatherglass.encoders.base import adapted
from weatherglass.encoders.cache import CachedEncoder, EncodingCache
from weatherglass.report.warning_summary import warning_lines
from weatherglass.warnings import SEVERITIES, Kind, Warning, as_warning, count_line, folded, kind_of
from weatherglass.warnings.kinds import KINDS, WARNINGS


@pytest.mark.parametrize("kind", KINDS)
def test_a_warning_of_every_kind_comes_back_from_json(kind: str) -> None:
    warning = Warning(kind, "weat6", KINDS[kind].example)
    stored = json.loads(json.dumps(warning.to_json(), allow_nan=False))
    assert set(stored) == {"kind", "subject", "values"}
    assert Warning.from_json(stored) == warning
    assert hash(Warning.from_json(stored)) == hash(warning)


@pytest.mark.parametrize("kind", KINDS)
def test_the_template_of_every_kind_takes_the_values_of_its_example(kind: str) -> None:
    rules, warning = KINDS[kind], Warning(kind, "", KINDS[kind].example)
    assert warning.text != str(kind)
    assert not warning.text.startswith(f"{kind} (")  # as for values that do not fit
    assert not set("{}") & set(warning.text)
    assert not rules.words or isinstance(rules.example[rules.words], list)
    assert rules.severity in SEVERITIES


def test_values_are_plain_and_finite() -> None:
    warning = Warning.of(
        "x", n=np.float32(0.5), words=("a", "b"), bad=float("nan"), path=Path("a"), none=None
    )
    assert warning.values == {"n": 0.5, "words": ["a", "b"], "bad": None, "path": "a", "none": None}
    assert type(warning.values["n"]) is float


@pytest.mark.parametrize("record", ["text", {"kind": "x"}, {"kind": 1, "subject": "", "values": {}}, None])
def test_a_record_that_is_not_a_warning_is_refused(record: object) -> None:
    with pytest.raises((TypeError, KeyError)):
        Warning.from_json(record)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [{}, {"unit": 1, "lifting": "x"}, {"unit": "word", "lifting": None}])
def test_stored_values_that_do_not_fit_are_listed(values: dict[str, object]) -> None:
    assert Warning("fragile", "", values).text.startswith("fragile")


def test_braces_in_a_word_are_no_template() -> None:
    values = {**KINDS["fragile"].example, "unit": "template", "name": "This is {word!r:>99}."}
    assert "{word!r:>99}" in Warning("fragile", "", values).text


def test_several_of_a_kind_are_one_line_with_what_they_are_about() -> None:
    one, two = ({**KINDS["fragile"].example, "name": name} for name in ("love", "family"))
    (line,) = folded([Warning("fragile", "weat5", one), Warning("fragile", "weat6", two)])
    assert (line.kind, line.count, line.text) == ("fragile", 2, KINDS["fragile"].summary)
    assert line.examples == ('weat5 "love"', 'weat6 "family"')


def test_word_lists_are_merged_and_shortened() -> None:
    lists = [["a", "b", "c"], ["b", "c", "d"], ["e", "f", "g"]]
    warnings = [
        Warning("fitted-on-test", f"t{n}", {"transforms": "leace", "words": words})
        for n, words in enumerate(lists)
    ]
    (line,) = folded(warnings)
    assert line.text.endswith("(a, b, c, d, e and 2 more)")
    assert line.count == 3


def test_a_text_that_does_not_fit_gives_way_to_the_summary_of_its_kind() -> None:
    values = KINDS["fixed-attributes"].example
    warnings = [Warning("fixed-attributes", "weat9", values), as_warning("slow")]
    for width, text in ((300, warnings[0].text), (90, KINDS["fixed-attributes"].summary)):
        assert f"    1  {text}: weat9" in list(warning_lines(warnings, width))


def test_the_most_severe_are_first_then_the_most_frequent() -> None:
    kinds = ["duplicates", "fragile", "unreliable", "unreliable", "other-language"]
    warnings = [Warning(kind, f"t{n}", KINDS[kind].example) for n, kind in enumerate(kinds)]
    assert [line.kind for line in folded(warnings)] == [
        "other-language",
        "unreliable",
        "fragile",
        "duplicates",
    ]
    assert count_line(folded(warnings)).split()[::3] == ["5", "4"]


def test_texts_without_a_kind_are_one_line_only_where_they_agree() -> None:
    lines = folded(map(as_warning, ["slow", "slow", "late"]))
    assert [(line.kind, line.text, line.count) for line in lines] == [
        ("other", "slow", 2),
        ("other", "late", 1),
    ]


def test_an_encoder_may_warn_in_plain_text() -> None:
    class Talkative(HashedEncoder):
        def warnings(self) -> list[str]:
            return ["{odd} words"]

    run = wg.run(Talkative(), tests="weat7", trust="none")
    (warning,) = (each for each in run.warnings if each.kind == "other")
    assert warning.text == "{odd} words"
    assert warning.subject == run.results[0].model


def test_a_kind_that_is_registered_has_its_template_and_an_unknown_one_lists_its_values() -> None:
    warning = Warning.of("tired", hours=30)
    assert warning.text.startswith("tired (")
    assert "30" in warning.text
    WARNINGS.register("tired", Kind("awake for {hours:hour|hours}", {"hours": 1}, section=False))
    assert warning.text == "awake for 30 hours"
    assert warning.anchor is None


def test_a_warning_counts_once_for_what_it_is_about(tmp_path: Path) -> None:
    """A set with a duplicate is one warning of its test, an unknown word one per model; a fragile row is its own."""
    x, y = ["math", "algebra", "geometry", "math"], ["poetry", "art", "dance"]
    a, b = ["he", "man"], ["she", "woman"]
    test = wg.test(x, y, a, b, name="own")
    models = [HashedEncoder(unknown=["math"]), HashedEncoder(unknown=["math"], name="other")]
    run = wg.run(models, tests=test, metrics=["cosine/mean", "dot/mean"], folder=tmp_path)
    counts = {line.kind: line.count for line in folded(run.warnings)}
    assert len(run.results) == 4
    assert all(
        {"duplicates", "unknown-words", "too-small"} <= {w.kind for w in r.warnings} for r in run.results
    )
    assert (counts["duplicates"], counts["unknown-words"], counts["too-small"]) == (1, 2, 4)
    assert collected_warnings(run.results) == run.warnings
    assert collected_warnings(read_run(tmp_path).results) == run.warnings
    assert all(kind_of(warning.kind).section for warning in run.warnings)


def test_the_page_and_the_terminal_count_alike(tmp_path: Path) -> None:
    run = wg.run("wordllama", tests=["weat6", "weat7", "weat9"], metrics=["*"], folder=tmp_path)
    said = count_line(folded(run.warnings))
    assert said.startswith(f"{len(run.warnings)} ")
    assert f"<summary>{said}</summary>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    first, *lines = warning_lines(run.warnings, 200)
    assert first.startswith(f"{said};")
    assert sum(int(line.split()[0]) for line in lines) == len(run.warnings)
    stored = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["warnings"]
    assert stored == [warning.to_json() for warning in run.warnings]


def test_the_warnings_of_a_cached_encoder_are_those_of_the_encoder_within(tmp_path: Path) -> None:
    class Warned(HashedEncoder):
        def warnings(self) -> list[Warning]:
            return [Warning.of("cut-off-file", **KINDS["cut-off-file"].example)]

    def kinds(inner: HashedEncoder) -> list[str]:
        cached = CachedEncoder(adapted(inner), EncodingCache(tmp_path))
        return [as_warning(warning).kind for warning in cached.warnings()]

    assert kinds(Warned()) == ["cut-off-file"]
    assert kinds(HashedEncoder()) == []


def test_a_notebook_counts_the_warnings() -> None:
    run = wg.run("wordllama", tests="weat9")
    assert count_line(folded(run.warnings)) in run._repr_html_()
    assert {"fixed-attributes", "unreliable"} <= {warning.kind for warning in run.warnings}

"""Every screen of several runs, hostile ones included: no mark, verdict, interval and sentence contradicts another.

The rules are written as code; the runs are a real model, noise, planted effects, names with markup, unknown words, a
single test, tests that are all confounded, and several models and metrics.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue import load_test, load_tests
from weatherglass.catalogue.names import capitalised, topic_name
from weatherglass.gate.junit import junit
from weatherglass.report import statements
from weatherglass.report.figures import write_figures
from weatherglass.report.page import page
from weatherglass.report.page.sensitivity import opposite_metrics
from weatherglass.report.page.topics import chart
from weatherglass.report.rows import results_lines
from weatherglass.report.show import run_html
from weatherglass.report.terminal import reasons, screen_lines
from weatherglass.report.view import lay_out, view
from weatherglass.report.writing import model_card_block, pull_request_summary
from weatherglass.stats import Outcome

HOSTILE = "<b>bold</b> **stars** [link](x) | pipe & \x1b[31m"
WIDTH = 100
MARKED = {f"{mark} " for mark in (*(outcome.mark for outcome in Outcome), "–")}
"""What the line of a topic begins with."""
CAMEL = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+(?:Names|Terms)?\b")
PATH = re.compile(r"(?:^|[\s(])/?(?:[\w.-]+/){2,}[\w.-]+")


class Planted:
    """Vectors of noise in which men and career, maths and science are moved together."""

    def __init__(self, strength: float, name: str) -> None:
        self.name = name
        self.strength = strength
        self.direction = np.random.default_rng(5).normal(size=50)
        self.sign: dict[str, int] = {}
        for test in ("weat6", "weat6b", "weat7", "weat7b", "weat8", "weat8b"):
            sets = load_test(test).sets
            for place, sign in ((0, 1), (1, -1), (2, 1), (3, -1)):
                self.sign |= dict.fromkeys(sets[place].words, sign)

    def encode(self, texts: list[str]) -> AnyMatrix:
        """Return the mean of the vectors of a text's words."""
        return np.array([np.mean([self._vector(word) for word in text.split()], axis=0) for text in texts])

    def _vector(self, word: str) -> AnyMatrix:
        word = word.strip(".")
        noise = np.random.default_rng(list(word.encode())).normal(size=50)
        return noise + self.strength * self.sign.get(word, 0) * self.direction


def _real() -> Run:
    return wg.run("wordllama")


def _several() -> Run:
    return wg.run(
        ["wordllama", HashedEncoder(name="some/long/path/model-a")], "weat*", ["cosine/mean", "mac"]
    )


def _noise() -> Run:
    return wg.run(Planted(0.0, "noise"), "weat*")


def _planted() -> Run:
    return wg.run(
        Planted(0.8, "planted"), ["weat6", "weat6b", "weat7", "weat7b", "weat8", "weat8b", "weat10"]
    )


def _hostile() -> Run:
    tests = [
        replace(test, name=f"{HOSTILE}{place}", topic=HOSTILE)
        for place, test in enumerate(load_tests(["weat6", "weat7"]))
    ]
    return wg.run(HashedEncoder(name=HOSTILE), tests)


def _unknown_words() -> Run:
    known = load_test("weat7").targets[0].texts[1:]
    return wg.run(HashedEncoder(name="lacks words", unknown=known), ["weat6", "weat7", "weat8"])


def _one_test() -> Run:
    return wg.run("wordllama", "weat7b")


def _all_confounded() -> Run:
    return wg.run("wordllama", ["heilman_double_bind_likable_1-", "heilman_double_bind_likable_1+3-"])


def _small() -> Run:
    return wg.run("wordllama", "weat*", smallest=1.9)


def _published_procedure() -> Run:
    return wg.run("wordllama", ["weat6", "weat7"], permute="elements")


RUNS: dict[str, Callable[[], Run]] = {
    function.__name__.strip("_"): function
    for function in (
        *(_real, _several, _noise, _planted, _hostile, _unknown_words, _one_test, _all_confounded),
        *(_small, _published_procedure),
    )
}


@pytest.fixture(scope="module", params=RUNS, ids=str)
def run(request: pytest.FixtureRequest) -> Run:
    return RUNS[request.param]()


class Texts(HTMLParser):
    """Collects the text of a page that a reader sees, and the names of its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("script", "style"):
            self.inside.append(tag)
        self.texts += [value or "" for name, value in attrs if name in ("aria-label", "title")]

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside and data.strip():
            self.texts.append(data.strip())


def first_section(html: str) -> Texts:
    """Return the texts of the first screen of a page."""
    parsed = Texts()
    parsed.feed(html[html.index('<section id="findings"') : html.index('<section id="tests"')])
    return parsed


def screens(run: Run) -> dict[str, str]:
    """Return what every screen says, as text."""
    verdicts = run.verdicts()
    return {
        "terminal": "\n".join([*screen_lines(run, verdicts, WIDTH), *reasons(verdicts, run.alpha)]),
        "page": " ".join(first_section(page([run])).texts),
        "sentences": "\n".join(run.sentences()),
        "card": model_card_block(run.results, run.record, verdicts).partition("```json")[0],
        "notebook": run_html("", run.results, verdicts, run.alpha),
        "summary": pull_request_summary([(None, one) for one in verdicts], [], False, alpha=run.alpha),
    }


def by_metric(run: Run) -> Iterator[list[Verdict]]:
    """Yield the verdicts of each metric."""
    verdicts = run.verdicts()
    for metric in dict.fromkeys(one.metric for one in verdicts):
        yield [one for one in verdicts if one.metric == metric]


def test_no_screen_shows_a_category_or_a_path(run: Run) -> None:
    for name, text in screens(run).items():
        without_citations = re.sub(r"Cite: .*", "", text).replace("weatherglass/", "")
        known = {category for result in run.results for category in result.categories}
        shown = [word for word in CAMEL.findall(without_citations) if word in known]
        assert not shown, (name, shown)
        assert "some/long/path" not in without_citations, name
        assert not PATH.findall(without_citations.replace("cosine/mean", "")), name


def test_a_robust_outcome_is_in_the_headline_and_nothing_else_is_called_robust(run: Run) -> None:
    for verdicts in by_metric(run):
        said = statements.headline_text(verdicts)
        robust = [one for one in verdicts if one.outcome == Outcome.ROBUST]
        judged = [one for one in verdicts if one.outcome and not one.check]
        assert ("robust" in said) == bool(robust)
        assert said.startswith("No association") == (bool(judged) and not robust)
        others = {one.topic for one in judged} - {
            one.topic for one in judged if one.outcome in ("robust", "limited", "conflicting", "isolated")
        }
        if not any(topic in HOSTILE for topic in others):
            assert not [topic for topic in others if topic_name(topic) in said]


def test_every_screen_has_the_headline_of_the_run(run: Run) -> None:
    shown = screens(run)
    for verdicts in by_metric(run):
        parts = [part.text for part in statements.headline(verdicts) if part.marked]
        for name in ("terminal", "page", "card", "notebook", "summary"):
            if run.results[0].model != HOSTILE:  # markup is escaped differently on each
                said = " ".join(shown[name].split()).lower()
                assert all(part.lower() in said for part in parts), name


def test_outcome_interval_p_and_direction_of_a_topic_agree(run: Run) -> None:
    for one in run.verdicts():
        if one.check:
            assert one.outcome is None
            continue
        leaves_out = bool(statements.sign_of(one))
        assert bool(one.direction) <= (leaves_out or one.effect_size is None)
        assert ("nearer" in statements.sentence(one, run.alpha)) <= leaves_out
        if one.outcome in ("robust", "limited"):
            assert one.p_adjusted is not None
            assert one.p_adjusted <= run.alpha
            assert leaves_out or one.effect_size is None
        if one.outcome == "robust":
            assert one.p_both_adjusted is not None
            assert one.p_both_adjusted <= run.alpha
            assert not one.fragile
        if one.outcome in ("conflicting", "isolated"):
            assert one.marked
        if one.outcome in ("unconfirmed", "small", "inconclusive"):
            assert not one.marked
            assert one.p_adjusted is not None
            assert one.p_adjusted > run.alpha
        if one.outcome == "inconclusive" and one.effect_size is not None:
            assert max(one.p or 0.0, one.p_pieces or 0.0) > run.alpha
        assert set(one.marked) <= set(one.tests)
        assert not set(one.tests) & set(one.measured)


def test_rows_and_topics_agree(run: Run) -> None:
    rows = {(r.model, r.options, r.metric, r.row): r for r in run.results}
    for one in run.verdicts():
        own = {test: rows[one.model, one.options, one.metric, test] for test in (*one.tests, *one.measured)}
        assert [test for test in one.tests if own[test].marked] == list(one.marked)
        for test in one.measured:
            assert own[test].not_tested
            assert own[test].outcome is None
            assert own[test].ci_low is None
            assert not own[test].marked
        if len(one.tests) == 1 and not one.check and one.outcome not in (None, "isolated"):
            assert own[one.tests[0]].outcome == one.outcome
        for test in one.tests:
            row = own[test]
            assert (row.outcome in ("robust", "limited")) == row.marked
            if row.outcome in ("robust", "limited", "unconfirmed"):
                assert row.p_value <= run.alpha


def test_the_terminal_draws_what_the_verdicts_say(run: Run) -> None:
    verdicts = run.verdicts()
    if len({(one.model, one.metric) for one in verdicts}) != 1:
        return
    lines = [line for line in screen_lines(run, verdicts, WIDTH) if line[:2] in MARKED]
    for line, one in zip(lines, statements.topics(verdicts), strict=True):
        assert line[0] == (Outcome(one.outcome).mark if one.outcome else "–")
        contains = one.ci_low is not None and one.ci_high is not None and one.ci_low <= 0 <= one.ci_high
        assert ("│" in line) != contains
        assert not one.tests or line.endswith(f"{len(one.marked)} of {len(one.tests)}")


def test_an_inconclusive_interval_without_0_is_explained_by_pieces(run: Run) -> None:
    rows = [one for one in run.results if one.outcome == "inconclusive" and one.has_direction]
    assert all(one.limit == "pieces" for one in rows)
    decided = [one for one in run.results if one.outcome == "inconclusive" and one.limit == "pieces"]
    note = statements.pieces_note(run.results)
    assert bool(note) == bool(decided)
    html = page([run])
    assert (note in html) if note else ("pieces_note" not in html)
    for one in run.verdicts():
        beside = statements.beside_pieces(one)
        assert bool(beside) == (one.limit == "pieces" and one.ci_pieces_low is not None)
        assert beside in statements.sizes(one, run.alpha)


def test_junit_says_what_the_verdicts_say(run: Run) -> None:
    said = {}
    for case in ElementTree.fromstring(junit(run, [])):
        text = case.findtext("system-out")
        if text:
            lines = dict(line.partition(": ")[::2] for line in text.splitlines())
            said[case.get("classname"), case.get("name")] = lines
    for one in run.verdicts():
        expected = one.outcome or "no verdict"
        if one.check:
            words = {True: "found", False: "not found", None: "not tested"}
            expected = f"sanity check {words[one.found]}"
        for test in one.tests:
            found = said.get((one.model, f"{test} {one.metric}"))
            assert found is None or found["verdict"] == expected


def test_rows_of_the_table_have_the_marks_of_the_results(run: Run) -> None:
    lines = list(results_lines(run, 4000))
    for result in run.results:
        if result.model == HOSTILE or not result.outcome:
            continue
        own = [line for line in lines if line[2:].startswith(f"{result.row} ")]
        assert any(line[0] == Outcome(result.outcome).mark for line in own)


def test_the_page_fills_a_dot_exactly_where_a_test_is_marked(run: Run) -> None:
    layout = lay_out([run])
    shown = chart([run], [run.verdicts()], layout, 0)
    for row in [*shown.rows, *(row for rows in shown.checks for row in rows)]:
        verdict = row.verdict
        assert sum(dot.marked for dot in row.dots) <= len(verdict.marked)
        assert {dot.title.rpartition(": d ")[0] for dot in row.dots if dot.marked} <= set(verdict.marked)
        assert all(not dot.marked for dot in row.dots if not dot.tested)
        assert row.strong == bool(statements.sign_of(verdict))
    html = page([run])
    findings = html[html.index('<section id="findings"') : html.index('<section id="tests"')]
    filled = sum(dot.marked for row in shown.rows for dot in row.dots)
    filled += sum(dot.marked for rows in shown.checks for row in rows for dot in row.dots)
    assert findings.count('class="dot marked"') == filled


def test_the_largest_is_the_largest(run: Run) -> None:
    from weatherglass.report.page.topics import largest

    layout = lay_out([run])
    shown = chart([run], [run.verdicts()], layout, 0)
    said = largest(shown, [subject.short for subject in layout.subjects])
    sizes = [abs(v.effect_size or 0) for v in shown.verdicts if v.outcome in ("robust", "limited")]
    assert bool(said) == bool(sizes)
    if sizes:
        assert f"{max(sizes):.2f}" in said


def test_failed_checks_are_told_wherever_the_run_speaks(run: Run) -> None:
    shown = screens(run)
    failed = [one for verdicts in by_metric(run) for one in statements.failed_checks(verdicts)]
    for name in ("terminal", "page", "card", "notebook", "summary"):
        assert ("anity check" in shown[name] and "failed" in shown[name]) == bool(failed), name


def test_numbers_in_brackets_are_those_of_the_verdict(run: Run) -> None:
    for one in run.verdicts():
        said = statements.sentence(one, run.alpha)
        for p in re.findall(r"\bp (0\.\d+)", said):
            given = [one.p_adjusted, one.p_both_adjusted, one.p, one.p_pieces]
            near = [
                value for value in given if value is not None and abs(value - float(p)) <= 0.06 * value + 1e-9
            ]
            assert near, said
            assert all((value <= run.alpha) == (float(p) <= run.alpha) for value in near)


def test_the_view_has_the_outcome_of_every_topic_and_row(run: Run) -> None:
    content = json.loads(json.dumps(view(run), allow_nan=False))
    assert [one["outcome"] for one in content["verdicts"]] == [one.outcome for one in run.verdicts()]
    assert [row["outcome"] for row in content["results"]] == [result.outcome for result in run.results]


def test_markup_of_names_is_text_everywhere(run: Run) -> None:
    if run.results[0].model != HOSTILE:
        return
    html = page([run])
    assert "<b>bold</b>" not in html
    assert "<b>bold" not in run_html("", run.results, run.verdicts(), run.alpha)
    card = model_card_block(run.results, run.record, run.verdicts()).partition("```json")[0]
    assert not re.search(r"(?<!\\)\*\*stars", card)
    assert not re.search(r"(?<!\\)<b", card)


def test_no_screen_has_a_control_character(run: Run) -> None:
    found = {
        name: set(re.findall(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text))
        for name, text in screens(run).items()
    }
    assert not any(found.values()), found


def test_figures_speak_the_same_words(run: Run, tmp_path: Path) -> None:
    for path in write_figures([run], tmp_path, "svg"):
        text = path.read_text(encoding="utf-8")
        known = {
            category for result in run.results for category in result.categories if CAMEL.fullmatch(category)
        }
        assert not [category for category in known if f">{category}<" in text]


def test_rows_of_every_topic_are_named_for_readers(run: Run) -> None:
    parsed = first_section(page([run]))
    for one in run.verdicts():
        if not one.check and run.results[0].model != HOSTILE and one.metric == run.results[0].metric:
            assert capitalised(topic_name(one.topic)) in parsed.texts


def test_metrics_that_differ_in_sign_by_noise_do_not_take_the_headline() -> None:
    run = wg.run("wordllama", "weat*", ["cosine/mean", "euclidean/mean"])
    opposed = opposite_metrics(lay_out([run]), [run.alpha])
    assert opposed
    assert not any(one.strongly for one in opposed)
    html = page([run])
    title = re.sub(r"<[^>]+>", "", html[html.index('<h1 id="title"') : html.index("</h1>")])
    said = statements.headline_text([one for one in run.verdicts() if one.metric == "cosine/mean"])
    assert " ".join(said.split()) in " ".join(title.split())

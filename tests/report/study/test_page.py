"""The page of a study in a real browser: whether to trust it first, nothing hidden, nobody shut out."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from tests.messages import mentions
from tests.report.browser import Browser
from tests.report.conftest import HOSTILE

from weatherglass.api.studies import StudyResult
from weatherglass.reliability.agreement.claims import (
    FAILS,
    HOLDS,
    RATER,
    STATEMENTS,
    UNDECIDED,
    claim_rows,
    verdicts,
)
from weatherglass.reliability.agreement.seeds import seed_sentences
from weatherglass.reliability.regression.explain import Explanation
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.tables import SHOWN, SeedBatch, SeedNumber, read_rows
from weatherglass.report.study.figures import drawings
from weatherglass.report.study.page import coverage_matrix, seed_groups, spanned, write_page
from weatherglass.report.study.plots import FigureSubject
from weatherglass.report.study.terminal import answer_lines
from weatherglass.report.study.words import STABLE, summarise


@pytest.fixture(scope="module")
def page(undisturbed: tuple[Path, StudyResult]) -> Path:
    return undisturbed[1].page


@pytest.fixture(scope="module")
def hostile(undisturbed: tuple[Path, StudyResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a study whose names are as bad as text can be."""
    folder, result = undisturbed
    names = {"gender": HOSTILE[4], "sexual_orientation": HOSTILE[0], "text": HOSTILE[1], "glove": HOSTILE[2]}
    tables = {
        name: table.with_columns(
            pl.col(column).replace({**names, "occupations": HOSTILE[3], "frequent": HOSTILE[3]})
            for column in table.columns
            if table[column].dtype == pl.String
        )
        for name, table in result.tables.items()
    }
    figures = [
        (
            replace(
                drawing,
                kind=HOSTILE[number % 5],
                subject=FigureSubject(HOSTILE[number % 3], HOSTILE[number % 5]),
                name=f"{HOSTILE[number % 5]}{number}",
                title=HOSTILE[number % 5],
                caption=HOSTILE[number % 5],
                spoken=HOSTILE[number % 5],
            ),
            folder / "figures" / f"{drawing.name}.png",
        )
        for number, drawing in enumerate(drawings(result.tables))
    ]
    path = tmp_path_factory.mktemp("hostile") / "study.html"
    facts = [(text, text) for text in HOSTILE]
    explanations = {text: Explanation((), HOSTILE, HOSTILE) for text in HOSTILE}
    write_page(path, Study(HOSTILE[0]), tables, figures, facts, explanations)
    return path


def test_a_claim_holds_in_the_cells_of_its_matrix(undisturbed: tuple[Path, StudyResult]) -> None:
    tables = undisturbed[1].tables
    for verdict in verdicts(tables):
        rows = claim_rows(tables["claims"], verdict.claim)
        assert [(row.pairs, row.corpus, row.algorithm) for row in rows] == [
            (pairs, "text", algorithm)
            for pairs in ("gender", "sexual_orientation")
            for algorithm in ("sgns", "glove")
        ]
        outcomes = [cell["verdict"] for row in rows for cell in row.cells if cell]
        assert outcomes.count(HOLDS) == verdict.holds
        assert outcomes.count(UNDECIDED) == verdict.undecided
        assert len(outcomes) == verdict.estimable > 0
        reasons = [row.reason for row in rows if row.pairs == "sexual_orientation"]
        assert len(reasons) == 2
        assert all(mentions(reason, "base pair") for reason in reasons)


def test_algorithms_of_unlike_vocabularies_have_their_own_coverage() -> None:
    rows = [("a", "sgns", "gender", 9, 23), ("a", "glove", "gender", 4, 23), ("b", "sgns", "gender", 7, 23)]
    table = pl.DataFrame(rows, schema=["corpus", "algorithm", "pairs", "present", "of"], orient="row")
    matrix = coverage_matrix({"pairs": table})
    assert matrix.columns == ["a", "b"]
    assert matrix.groups == {"gender": [(["23"], ["SGNS 9, GloVe 4", "7"])]}


def test_every_sentence_on_the_seeds_is_in_a_group(undisturbed: tuple[Path, StudyResult]) -> None:
    tables = undisturbed[1].tables
    (group,) = seed_groups(tables)
    sentences = seed_sentences(
        read_rows(tables["seed_batches"], SeedBatch), read_rows(tables["seed_numbers"], SeedNumber)
    )
    assert len(sentences) == 6
    assert list(sentences.values()) == [sentence for _, sentence in group.sentences]
    medians = [float(re.findall(r"test–retest\D*(\d\.\d\d)", sentence)[0]) for _, sentence in group.sentences]
    assert (min(medians), max(medians)) == pytest.approx((group.lowest, group.highest), abs=0.005)


def test_the_terminal_answers_for_the_own_lists_first_and_for_the_seeds(
    undisturbed: tuple[Path, StudyResult], tmp_path: Path
) -> None:
    tables = undisturbed[1].tables
    known = tables["words"]["word"].unique(maintain_order=True).to_list()
    own = tmp_path / "mine.txt"
    own.write_text("\n".join(known[:5]) + "\n", encoding="utf-8")
    study = Study("own list", targets=(str(own),))
    lines = list(answer_lines(study, tables, 80))
    summary = summarise(study, tables)
    assert summary is not None
    rows = [line for line in lines if re.search(r"\d of \d", line) and line.startswith("  ")]
    (mine,) = summary.targets
    assert mine.words == 5
    assert rows[0].split()[0] == mine.name
    assert f"{len(mine.shown)} of 5" in rows[0]
    assert len(rows) == len(summary.lists) == 2
    text = " ".join(lines)
    (group,) = seed_groups(tables)
    assert mentions(text, f"{group.lowest:.2f}", f"{group.highest:.2f}", f"{len(group.sentences)} conditions")
    words = "yes" if group.lowest >= STABLE else "in some" if group.highest >= STABLE else "no"
    assert mentions(text, words)


def test_every_dot_is_on_the_axis(undisturbed: tuple[Path, StudyResult]) -> None:
    """Of a study of a thousand words, one far out was drawn outside the picture."""
    words = undisturbed[1].tables["words"].unique("word").head(40)
    copies = [words.with_columns(pl.col("word") + str(number)) for number in range(50)]
    outlier = copies[0].head(1).with_columns(word=pl.lit("far"), score=pl.lit(100.0))
    summary = summarise(Study("one far out"), {"words": pl.concat([outlier, *copies])})
    assert summary is not None
    dots = [dot for one in summary.lists for dot in one.dots]
    places = [float(dot.x.removesuffix("%")) for dot in dots]
    assert "far" in {dot.word for dot in dots}
    assert 90 < max(places) <= 100
    assert min(places) >= 0


def test_columns_stand_under_one_heading() -> None:
    assert spanned(["", "a: x", "a: y", "b: x"]) == [("a", ["x", "y"]), ("b", ["x"])]


def test_it_opens_from_disk_and_asks_for_nothing_else(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert [url for url in browser.requests() if not url.startswith("data:")] == [page.resolve().as_uri()]
    assert browser.console() == []


def test_every_mark_of_a_word_is_drawn(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.wait("document.querySelectorAll('use').length > 0")
    uses = "[...document.querySelectorAll('use')]"
    missing = f"{uses}.filter(u => !document.querySelector(u.getAttribute('href'))).length"
    assert browser.run(missing) == 0


def test_it_says_first_whether_scores_can_be_trusted_list_by_list(
    browser: Browser, undisturbed: tuple[Path, StudyResult]
) -> None:
    words = undisturbed[1].tables["words"]
    first = words.row(0, named=True)
    keys = ("corpus", "algorithm", "pairs", "rule")
    own = words.filter(*(pl.col(key) == first[key] for key in keys))
    frequent = own.head(100)  # the study asks for its 100 most frequent words
    shown = frequent.filter(pl.col("verdict") == SHOWN)["word"].to_list()
    browser.open(undisturbed[1].page)
    assert browser.run("document.querySelector('.lists').getBoundingClientRect().top") < 400
    rows = browser.run(
        "[...document.querySelectorAll('.lists tbody tr')].map(r => [r.querySelector('th').firstChild.textContent,"
        " r.querySelector('td').textContent.replace(/\\s+/g, ' '),"
        " r.lastElementChild.querySelector('small').textContent])"
    )
    by_name = {name: (count, named) for name, count, named in rows}
    count, named = by_name["Frequent"]
    assert count.startswith(f"{len(shown)} of 100")
    assert set(named.removesuffix(" …").split(", ")) <= {*shown, "none"}
    assert browser.run("document.querySelectorAll('.lists .told').length") >= len(shown)


def test_the_table_of_words_is_found_filtered_and_sorted(
    browser: Browser, undisturbed: tuple[Path, StudyResult]
) -> None:
    words = undisturbed[1].tables["words"]
    first = words.row(0, named=True)
    own = words.filter(*(pl.col(key) == first[key] for key in ("corpus", "algorithm", "pairs", "rule")))
    told = own.filter(pl.col("verdict") == SHOWN)
    browser.open(undisturbed[1].page)
    browser.wait("document.querySelector('.wordlist') !== null")
    assert browser.find("#words-shown").text == f"{own.height} of {own.height} words"
    browser.find("#find-words [name=told]").click()
    assert browser.find("#words-shown").text == f"{told.height} of {own.height} words"
    browser.find("#find-words [name=told]").click()
    browser.find("#find-words [name=find]").send_keys(first["word"])
    row = browser.run(
        f"[...document.querySelectorAll('.wordlist tbody tr')].find(r => r.querySelector('th').textContent === "
        f"{first['word']!r}).textContent"
    )
    assert f"{first['rank']} of {first['of']}" in row
    assert f"{first['icc']:.2f}".replace("-", "−") in row
    browser.find("#find-words [name=find]").clear()
    browser.find("#find-words [name=find]").send_keys("\ue009a\ue000\ue003")  # all of it, deleted
    browser.run("document.querySelector('[data-by=rank]').click()")
    browser.run("document.querySelector('[data-by=rank]').click()")
    best = browser.run("document.querySelector('.wordlist tbody th').textContent")
    assert best == own.sort("rank")["word"][0]
    browser.find("#more-words").click()
    assert browser.run("document.querySelectorAll('.wordlist tbody tr').length") == own.height


def test_the_colour_of_a_claim_is_what_is_good_for_the_reader(
    browser: Browser, undisturbed: tuple[Path, StudyResult]
) -> None:
    browser.open(undisturbed[1].page)
    expected = verdicts(undisturbed[1].tables)
    sentences = browser.run("[...document.querySelectorAll('.verdicts .sentence')].map(s => s.textContent)")
    assert sentences == [f"{verdict.name} {verdict.count}." for verdict in expected]
    counts = browser.run(
        "[...document.querySelectorAll('#claims table')].map(t => ['.good', '.open', '.poor'].map(c => "
        "t.querySelectorAll(c).length))"
    )
    for verdict, (good, undecided, poor) in zip(expected, counts, strict=True):
        fails = verdict.estimable - verdict.holds - verdict.undecided
        # Rules that disagree are no good news, although the published claim is then true.
        assert (good, poor) == ((fails, verdict.holds) if verdict.claim == RATER else (verdict.holds, fails))
        assert undecided == verdict.undecided
    cells = browser.run("[...document.querySelectorAll('#claims td .cell')].map(c => c.textContent)")
    assert len(cells) == 4 * (3 + 3 + 3 + 2)
    assert all(any(outcome in text for outcome in (HOLDS, FAILS, UNDECIDED)) or text == "–" for text in cells)
    claims = undisturbed[1].tables["claims"]
    reasons = {row.reason for verdict in expected for row in claim_rows(claims, verdict.claim) if row.reason}
    assert reasons
    assert all(reason in browser.find("#claims").text for reason in reasons)


def test_names_are_written_for_people(browser: Browser, page: Path) -> None:
    browser.open(page)
    spoken = "[...document.querySelectorAll('.drawn')].map(i => i.getAttribute('aria-label'))"
    text = browser.run(f"document.body.textContent + {spoken}")
    assert "sexual_orientation" not in text
    assert "sexual orientation" in text
    assert "GloVe, gender" in text


def test_every_figure_is_in_the_contents_and_says_what_it_shows(browser: Browser, page: Path) -> None:
    browser.open(page)
    places = browser.run("[...document.querySelectorAll('figure')].map(f => f.id)")
    links = browser.run("[...document.querySelectorAll('.contents a')].map(a => a.hash.slice(1))")
    assert len(places) == len(set(places)) == 22
    assert sorted(links) == sorted(places)
    assert "test-retest-gender-glove" in places
    texts = browser.run("[...document.querySelectorAll('.drawn')].map(i => i.getAttribute('aria-label'))")
    assert len(set(texts)) == 22
    assert all(" to " in text or "estimates" in text for text in texts)


def test_a_link_opens_the_section_of_its_figure_by_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.find("#figures summary").send_keys("\n")
    assert not browser.run("document.querySelector('#figures details').open")
    browser.find(".contents a").send_keys("\n")
    browser.wait("document.querySelector('#figures details').open")
    browser.find("#figures summary").send_keys("\n")
    browser.find(".contents a").send_keys("\n")  # The same place once more.
    browser.wait("document.querySelector('#figures details').open")


def test_only_what_scrolls_stops_the_tab_key(browser: Browser, page: Path) -> None:
    stops = "[...document.querySelectorAll('.scroll')].filter(s => s.tabIndex === 0)"
    browser.open(page, width=1280)
    browser.wait(f"{stops}.length === 0")  # the script waits for the words, which are compressed
    browser.open(page, width=375)
    browser.wait(f"{stops}.every(s => s.scrollWidth > s.clientWidth)")
    assert browser.run(f"{stops}.length") > 15


@pytest.mark.parametrize("which", ["page", "hostile"])
@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_is_as_wide_as_its_window(
    browser: Browser, request: pytest.FixtureRequest, which: str, width: int
) -> None:
    browser.open(request.getfixturevalue(which), width=width)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_hostile_text_is_shown_and_does_nothing(browser: Browser, hostile: Path) -> None:
    browser.open(hostile)
    assert HOSTILE[0] in browser.run("document.querySelector('.over').textContent")
    facts = browser.run("[...document.querySelectorAll('#study td')].map(c => c.textContent)")
    assert facts == list(HOSTILE)
    assert browser.run("document.querySelectorAll('body script').length") == 2  # words, script
    assert browser.run("document.querySelectorAll('#claims tr.group').length") == 2 * len(STATEMENTS)
    links = "[...document.querySelectorAll('.contents a')]"
    assert browser.run(f"{links}.length") == 21
    assert browser.run(f"{links}.every(a => document.getElementById(decodeURIComponent(a.hash.slice(1))))")
    assert browser.run("window.hacked") is None
    assert browser.console() == []


def test_figures_follow_the_theme(browser: Browser, page: Path) -> None:
    ink = "getComputedStyle(document.querySelector('.drawn text')).fill"
    browser.open(page)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.run(ink) == "rgb(28, 32, 35)"
    browser.find("#theme").click()
    assert browser.run(ink) == "rgb(232, 229, 222)"
    assert browser.run("document.images.length") == 0


def test_dark_is_dark_and_paper_is_white_with_every_section_open(browser: Browser, page: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    browser.open(page, dark=True)
    assert browser.run(colour) == "rgb(21, 24, 27)"
    browser.emulate("dark", media="print")
    assert browser.run(colour) == "rgb(255, 255, 255)"
    closed = "document.querySelectorAll('details:not([open])').length"
    before = browser.run(closed)
    assert before > 0
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(closed) == 0
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(closed) == before


@pytest.mark.parametrize(
    ("which", "width", "dark"),
    [
        ("page", 1280, False),
        *(
            pytest.param(*case, marks=pytest.mark.large)
            for case in [
                *(("page", 375, True), ("page", 375, False)),
                ("page", 1280, True),
                *product(["hostile"], [375, 1280], [False, True]),
            ]
        ),
    ],
)
def test_axe_finds_no_serious_violation(
    browser: Browser, request: pytest.FixtureRequest, axe: str, which: str, width: int, dark: bool
) -> None:
    browser.open(request.getfixturevalue(which), width=width, dark=dark)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.serious_violations(axe) == []

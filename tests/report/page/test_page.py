"""The page in a real browser: it tells first, shows every test, opens from disk and shuts nobody out."""

from __future__ import annotations

import base64
import math
import re
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.messages import in_order, mentions
from tests.report.browser import Browser
from tests.report.conftest import HOSTILE, own_test
from tests.report.made_up import made_up_run
from tests.results import other_info

import weatherglass as wg
from weatherglass.audit.folder import JOURNAL, RunFolder
from weatherglass.audit.results import Mark, Result, mark_of
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_tests
from weatherglass.catalogue.names import capitalised, topic_name
from weatherglass.report.numbers import effect, interval, p_value
from weatherglass.report.page import PAGE, page, write_page
from weatherglass.report.page.topics import x_of
from weatherglass.report.statements import checks, failed_checks, headline_text, topics

ENTER, ESCAPE, TAB = "\ue007", "\ue00c", "\ue004"  # as the WebDriver standard names these keys
CHIPS = "#tests-table tr[data-t]:not([hidden]) a.chip"
OUTLINES = {
    **dict.fromkeys((Mark.ROBUST, Mark.LIMITED), "solid"),
    Mark.UNCONFIRMED: "dash",
}
"""Of a chip; the other marks have none."""


def texts(browser: Browser, selector: str) -> list[str]:
    return list(browser.run(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)"))


def effects(browser: Browser, column: int = 0) -> list[float]:
    """The effect sizes that one column shows, from the top."""
    shown = texts(browser, f"#tests-table tr[data-t]:not([hidden]) td[data-s='{column}'] .d")
    return [float(text.replace("−", "-")) for text in shown]


# The first screen


def test_it_opens_from_disk_runs_only_its_own_script_and_asks_for_nothing(
    browser: Browser, several_models: Path
) -> None:
    for fragment in ("", "#r3"):
        browser.open(several_models, fragment)
        browser.show_all()
        if fragment:
            browser.wait_for_detail()
        fetched = [url for url in browser.requests() if not url.startswith("data:")]
        assert {url.split("#")[0] for url in fetched} == {several_models.resolve().as_uri()}
        assert browser.console() == []
    policy = browser.run("document.querySelector('meta[http-equiv]').content")
    assert re.search(r"script-src 'sha256-[\w+/]+=*';", policy)
    browser.driver.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)"
    )
    assert browser.run("window.hacked") is None
    assert any("Content Security Policy" in line for line in browser.console())


def test_the_first_screen_is_the_answer_and_topics_by_outcome(browser: Browser, one_model: Path) -> None:
    browser.open(one_model)
    run = read_run(one_model.parent)
    verdicts = topics(run.verdicts())
    assert browser.find("h1").text == headline_text(run.verdicts())
    counted = Counter(one.outcome for one in verdicts)
    assert mentions(browser.find(".sum").text, f"{counted['robust']} robust", f"{counted['limited']} limited")
    rows = browser.run(
        "[...document.querySelectorAll('.topics .of-topics tr.row')].map(r => ["
        "r.querySelector('th').firstChild.textContent, r.querySelector('.num').textContent,"
        "r.querySelector('.why b').textContent, r.querySelectorAll('.dot.marked').length,"
        "r.querySelectorAll('circle.dot').length, r.querySelectorAll('.decisive').length])"
    )
    assert rows == [
        [
            capitalised(topic_name(one.topic)),
            effect(one.effect_size),
            rows[place][2],
            len(one.marked),
            len(one.tests),
            int(len(one.tests) > 1),
        ]
        for place, one in enumerate(verdicts)
    ]
    assert all(mentions(row[2], f"{row[3]} of {row[4]}") for row in rows)
    heads = texts(browser, ".topics tr.head th")
    assert len(heads) == len(counted) + 1  # sanity checks are the last
    largest = max(
        (one for one in verdicts if one.outcome in ("robust", "limited")),
        key=lambda one: abs(one.effect_size or 0),
    )
    assert re.search(
        in_order(topic_name(largest.topic), effect(largest.effect_size)), browser.find(".lede").text
    )
    found = texts(browser, ".topics .of-checks .why b")
    assert [text.startswith("✓") for text in found] == [bool(one.found) for one in checks(run.verdicts())]
    assert bool(browser.run("document.querySelectorAll('.warn').length")) == bool(
        failed_checks(run.verdicts())
    )
    # Caliskan et al. 2017, Table 1, and the reference models (docs/reference.md) on eight topics and two checks.
    assert browser.run("document.querySelectorAll('.topics .human').length") == 8
    ticks = sum(len(one.reference.effect_sizes) for one in run.verdicts() if one.reference)
    assert browser.run("document.querySelectorAll('.topics .tick').length") == ticks == 7 * 10
    assert browser.run("document.querySelectorAll('.topics .ref').length") == 10
    chart = browser.run("document.querySelector('.topics').getBoundingClientRect().top")
    assert chart < 400  # before any scrolling


@pytest.fixture(scope="module", params=[1, 4, 6])
def long_names(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of models with long names."""
    folder = tmp_path_factory.mktemp("long-names")
    names = [f"some-organisation/a-long-name-of-a-model-{n}" for n in range(request.param)]
    made_up_run(folder, load_tests(["weat*"]), names)
    write_page(read_run(folder))
    return folder / PAGE


@pytest.mark.parametrize("width", [1440, 375])
def test_the_first_screen_fits_without_overprinting(browser: Browser, long_names: Path, width: int) -> None:
    browser.open(long_names)
    browser.driver.set_window_size(width, 1200)
    try:
        assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
        overlapping = browser.run("""(() => {
          const boxes = [...document.querySelectorAll('.topics tr.row')].map(row => [...row.children].map(cell => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return range.getBoundingClientRect();
          }).filter(box => box.width));
          const within = (a, b) => a.left < b.right - 1 && a.top < b.bottom - 1;
          const meet = (a, b) => within(a, b) && within(b, a);
          return boxes.filter(cells => cells.some((a, i) => cells.some((b, j) => i < j && meet(a, b)))).length;
        })()""")
        assert overlapping == 0
        rows = browser.run("document.querySelectorAll('.topics .of-topics tr.row').length")
        assert rows == len(topics(read_run(long_names.parent).verdicts()))
    finally:
        browser.driver.set_window_size(1200, 900)


def test_dots_have_a_contrast_of_3_to_1_in_both_themes(browser: Browser, one_model: Path) -> None:
    contrast = """(() => {
      const channel = (v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
      const luminance = (colour) => {
        const [r, g, b] = colour.match(/\\d+/g).map(v => channel(v / 255));
        return .2126 * r + .7152 * g + .0722 * b;
      };
      const paper = luminance(getComputedStyle(document.body).backgroundColor);
      return [...document.querySelectorAll('.dot, .decisive')].map(dot => {
        const style = getComputedStyle(dot);
        const own = luminance(dot.classList.contains('decisive') ? style.fill : style.stroke);
        return (Math.max(own, paper) + .05) / (Math.min(own, paper) + .05);
      });
    })()"""
    for dark in (False, True):
        browser.open(one_model, dark=dark)
        assert min(browser.run(contrast)) >= 3


def test_every_mark_on_the_page_is_drawn(browser: Browser, several_models: Path) -> None:
    for fragment in ("", "#r3"):
        browser.open(several_models, fragment)
        browser.show_all()
        missing = browser.run(
            "[...new Set([...document.querySelectorAll('use')].map(u => u.getAttribute('href')))]"
            ".filter(href => !document.querySelector(href))"
        )
        assert missing == []
        assert browser.run("document.querySelectorAll('#tests-table use').length") > 20


def test_the_placebo_line_of_every_topic_is_drawn(browser: Browser, tmp_path: Path) -> None:
    run = wg.run("wordllama", ["weat6", "weat7", "weat9"], folder=tmp_path)
    browser.open(tmp_path / PAGE)
    drawn = browser.run(
        "[...document.querySelectorAll('.topics tr.row')].map("
        "row => [...row.querySelectorAll('line.placebo')].map(line => line.getAttribute('x1')))"
    )
    reaches = [verdict.placebo for verdict in run.verdicts()]
    expected = [[] if reach is None else [x_of(-reach), x_of(reach)] for reach in reaches]
    assert all(expected)
    assert sorted(drawn) == sorted(expected)


def test_without_a_script_every_test_is_in_a_table(one_model: Path) -> None:
    run = read_run(one_model.parent)
    html = one_model.read_text(encoding="utf-8")
    table = html[html.index('id="tests-table"') : html.index('id="print-tables"')]
    for result in run.results:
        assert f" {effect(result.value)} " in table
    assert table.count('<th scope="row"') == len(run.results)


def test_what_would_change_it_names_the_word_and_opens_the_row(browser: Browser, tmp_path: Path) -> None:
    results = made_up_run(tmp_path, load_tests(["*"]))
    write_page(read_run(tmp_path))
    alpha = read_run(tmp_path).alpha
    social = [r for r in results if not re.fullmatch(r"(sent-)?weat[12]", r.test)]
    hanging = {
        n: found
        for n, r in enumerate(results)
        if r in social
        and r.p_value <= alpha
        and r.robustness
        and (found := r.robustness.decisive("word", alpha))
    }
    number, word = max(hanging.items(), key=lambda item: item[1].p_value)
    browser.open(tmp_path / PAGE)
    cards = texts(browser, ".changes li")
    (of_word,) = (card for card in cards if f"“{word.name}”" in card)
    assert f"p {p_value(results[number].p_value)} → {p_value(word.p_value)}" in of_word
    significant = [r for r in social if r.p_value <= alpha]
    kept = sum(r.p_random is not None and r.p_random <= alpha for r in significant)
    assert any(f"{len(significant)} → {kept} result" in card for card in cards)
    by_words = sum(r.p_value <= alpha for r in social if r.p_elements is not None)
    by_sentences = sum(r.p_elements <= alpha for r in social if r.p_elements is not None)
    assert any(f"{by_words} → {by_sentences} of" in card for card in cards)
    browser.find(".changes a").click()
    browser.wait_for_detail()
    assert texts(browser, "#detail .id") == [results[number].test]
    captions = texts(browser, "#detail figcaption")
    assert any(
        re.search(in_order(f"“{word.name}”", f"p = {p_value(word.p_value)}"), text) for text in captions
    )


def test_two_runs_lead_with_what_changed(browser: Browser, tmp_path: Path) -> None:
    folders = [tmp_path / "before", tmp_path / "after"]
    runs: list[Any] = [
        made_up_run(folder, load_tests(["weat[12]"]), seed=seed) for seed, folder in enumerate(folders)
    ]
    before, after = map(read_run, folders)
    made = page([before, after], before.compare(after).to_json())
    (tmp_path / PAGE).write_text(made, encoding="utf-8")
    browser.open(tmp_path / PAGE)
    assert re.match(r"\d of 2 .*\bbefore\b.*\bafter\b", browser.find("h1").text)
    ends = texts(browser, ".dumb td.num:nth-of-type(2)")
    expected = {f"{effect(a.effect_size)} → {effect(b.effect_size)}" for a, b in zip(*runs, strict=True)}
    assert set(ends) <= expected
    browser.show_all()
    shown = browser.run(
        "[...document.querySelectorAll('#comparison tbody tr')].map(r => "
        "[...r.querySelectorAll('.d')].map(c => Number(c.textContent.replace('−', '-'))))"
    )
    assert shown == [
        [pytest.approx(result.effect_size, abs=0.005) for result in pair] for pair in zip(*runs, strict=True)
    ]
    assert "model · after" in browser.find("#tests-table thead").text


def test_signs_that_differ_between_metrics_lead_only_if_both_are_significant(
    browser: Browser, several_models: Path
) -> None:
    run = read_run(several_models.parent)
    pairs: dict[tuple[str, str], list[Result]] = {}
    for result in run.results:
        pairs.setdefault((result.model, result.test), []).append(result)
    opposite = [pair for pair in pairs.values() if pair[0].lean != pair[1].lean]
    assert not [pair for pair in opposite if all(result.p_value <= run.alpha for result in pair)]
    browser.open(several_models)
    count = f"{len(opposite)} of {len(pairs)}"
    assert not mentions(browser.find("h1").text, count)
    assert mentions(browser.find("#sensitivity").text, count)
    widest = max(opposite, key=lambda pair: abs(pair[0].effect_size - pair[1].effect_size))
    results = [replace(one, p_value=0.01) if one in widest else one for one in run.results]
    html = page([replace(run, results=results)])
    title = html[html.index('<h1 id="title"') : html.index("</h1>")]
    assert mentions(title, f"1 of {len(pairs)}")
    row = html[html.index('<table class="dumb"') : html.index("</table>")]
    assert widest[0].test in row.replace("<wbr>", "")
    assert all(effect(result.effect_size) in row for result in widest)


@pytest.mark.large
def test_many_models_are_rows_of_each_topic_with_names_that_are_whole(
    browser: Browser, many_models: Path
) -> None:
    browser.open(many_models)
    rows = "[...document.querySelectorAll('.topics tbody')].map(b => b.querySelectorAll('tr.row').length)"
    assert browser.run(rows) == [30, 60]  # race, and two sanity checks
    names = texts(browser, "#tests-table th.model .label")
    assert names == [f"model-{n}" for n in range(30)]
    clipped = (
        "[...document.querySelectorAll('#tests-table .label, .topics th, #tests-table th.name, .topics td')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflow !== 'visible').length"
    )
    assert browser.run(clipped) == 0
    box = "document.getElementById('tests-table')"
    assert browser.run(f"{box}.scrollWidth > {box}.clientWidth")  # it scrolls, with a shadow at the edge
    assert "gradient" in browser.run(f"getComputedStyle({box}).backgroundImage")


# Every test


def test_a_row_has_a_human_name_its_id_and_colour_by_size_and_outline_by_certainty(
    browser: Browser, one_model: Path
) -> None:
    run = read_run(one_model.parent)
    results = {result.test: result for result in run.results}
    browser.open(one_model)
    browser.wait("document.querySelector('#tests-table tr[data-t]') !== null")
    rows = browser.run(
        "[...document.querySelectorAll('#tests-table tr[data-t]')].map(r => [r.querySelector('th code').textContent, "
        "r.querySelector('th').firstChild.textContent, r.querySelector('.chip').className, "
        "r.querySelector('.chip').getAttribute('aria-label')])"
    )
    assert len(rows) == 46
    titles = {name: title for name, title, _, _ in rows}
    assert titles["weat6"] == "Men–career, women–family"
    assert titles["weat7"] == "Maths–men, arts–women"
    steps = ((1.2, 4), (0.8, 3), (0.5, 2), (0.2, 1), (0.0, 0))
    for name, _, classes, spoken in rows:
        result = results[name]
        size = next(step for least, step in steps if abs(result.effect_size) >= least)
        colour = f"{'n' if result.effect_size < 0 else 'p'}{size}" if size else "z"
        mark = mark_of(result)
        assert classes.split()[1:] == [part for part in (colour, OUTLINES.get(mark)) if part], name
        assert spoken.endswith(f"two-sided, {mark.words}")
    assert len({words for _, _, words, _ in rows}) > 4
    assert mentions(browser.find("#tests .intro").text, "two-sided", "by words", "level 0.01")


def test_minus_is_as_loud_as_plus(browser: Browser, one_model: Path) -> None:
    """A cell of −1.72 is as far from the paper as one of 1.72, in both themes (relative luminance of WCAG 2)."""
    luminance = """(() => {
      const channel = (v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
      return ['p4', 'n4'].map((name) => {
        const probe = document.createElement('i');
        probe.className = name;
        document.body.append(probe);
        const [r, g, b] = getComputedStyle(probe).backgroundColor.match(/\\d+/g).map(v => channel(v / 255));
        probe.remove();
        return .2126 * r + .7152 * g + .0722 * b;
      });
    })()"""
    for dark in (False, True):
        browser.open(one_model, dark=dark)
        plus, minus = browser.run(luminance)
        assert max(plus, minus) + 0.05 < 1.7 * (min(plus, minus) + 0.05)


def test_a_column_sorts_down_then_up_then_back(browser: Browser, several_models: Path) -> None:
    browser.open(several_models)
    given = effects(browser, 1)
    for order, expected in (
        ("descending", sorted(given, reverse=True)),
        ("ascending", sorted(given)),
        ("none", given),
    ):
        browser.find("#tests-table th[data-s='1'] button").click()
        assert browser.find("#tests-table th[data-s='1']").get_attribute("aria-sort") == order
        assert effects(browser, 1) == expected
        assert browser.run("document.activeElement.closest('th')?.dataset.s") == "1"
    assert len(set(given)) > 3
    browser.find("#tests-table [data-sort=name]").click()
    names = browser.visible_tests()
    assert names.index("weat2") < names.index("weat10")  # numbers as numbers
    assert names[0] == "sent-weat1"


def test_filters_leave_what_was_asked_for(browser: Browser, one_model: Path) -> None:
    run = read_run(one_model.parent)
    browser.open(one_model)
    assert len(browser.visible_tests()) == 46
    browser.choose("context", "paragraph")
    assert len(browser.visible_tests()) == 6  # docs/methods 5: _1, _1+3- and _1- of both double binds
    assert browser.find("#shown").text == "6 of 46 tests"
    assert len([t for t in texts(browser, "#tests-table tr.group:not([hidden])") if "double bind" in t]) == 2
    browser.choose("context", "*")
    topics = texts(browser, "#filters [name=topic] option")
    browser.choose("topic", str(topics.index("illness and permanence") - 1))
    assert browser.visible_tests() == ["weat9", "sent-weat9"]
    browser.find("#filters [type=reset]").click()
    browser.wait("document.getElementById('shown').textContent === '46 of 46 tests'")
    browser.find("#filters [name=find]").send_keys("insects")
    assert browser.visible_tests() == ["weat1", "sent-weat1"]
    browser.find("#filters [name=find]").clear()
    browser.find("#filters [name=find]").send_keys("career, women")  # the human name is found, too
    assert browser.visible_tests() == ["weat6", "sent-weat6", "weat6b", "sent-weat6b"]
    browser.find("#filters [type=reset]").click()
    browser.choose("marked", "1")
    firm = [r.test for r in run.results if mark_of(r) is Mark.ROBUST]
    assert sorted(browser.visible_tests()) == sorted(firm) != []


def test_models_can_be_left_out_and_another_metric_shows_its_own_numbers(
    browser: Browser, several_models: Path
) -> None:
    browser.open(several_models)
    browser.find(".pick summary").click()
    browser.find("input[name=subject][value='1']").click()
    assert browser.find("#models-shown").text == "2 of 3"
    assert browser.run("document.querySelectorAll(\"#tests-table [data-s='1']\").length") == 0
    browser.find(".pick summary").click()
    first = effects(browser)
    browser.choose("metric", "1")
    results = read_run(several_models.parent).results
    expected = Counter(
        round(r.effect_size, 2) + 0.0 for r in results if r.metric == "euclidean/mean" and r.model == "small"
    )
    assert Counter(effects(browser)) == expected
    assert effects(browser) != first
    assert browser.run("document.querySelector('#tests-table caption').textContent").endswith(
        "euclidean/mean"
    )


def test_a_cell_tells_its_numbers_when_pointed_at(browser: Browser, several_models: Path) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    browser.open(several_models)
    browser.find("#filters [name=find]").send_keys("insects")
    cell = browser.find(CHIPS)
    browser.bring_into_sight(cell)
    ActionChains(browser.driver).move_to_element(cell).perform()
    browser.wait("!document.getElementById('tip').hidden")
    shown_text = browser.find("#tip").text
    assert mentions(shown_text, "weat1", "small", "Flowers", "two-sided")


# A result in detail


def figures(browser: Browser) -> list[str]:
    return texts(browser, "#detail .figures dt")


def readings(browser: Browser) -> list[list[str]]:
    """The rows of the table of both readings."""
    rows = "[...document.querySelectorAll('#detail .readings tr')]"
    return list(browser.run(f"{rows}.map(r => [...r.children].map(c => c.textContent))"))


def test_a_detail_names_the_words_the_other_lists_and_how_to_make_it_again(
    browser: Browser, one_model: Path
) -> None:
    browser.open(one_model)
    browser.find("#filters [name=find]").send_keys("insects")
    cell = browser.find(CHIPS)
    shown = cell.find_element("css selector", ".d").text
    cell.click()
    browser.wait_for_detail()
    shown_text = browser.find("#detail").text
    assert browser.find("#detail-title").text == "Flowers–pleasant, insects–unpleasant"
    assert browser.find("#detail .id").text == "weat1"
    assert browser.find("#detail .big").text == shown
    words = texts(browser, "#detail .plots svg text")
    assert {"aster", "tulip", "moth", "wasp"} <= set(words)  # targets of Caliskan et al.'s first test
    assert "method: enumerate" in shown_text
    assert "1.0 × 10⁻²⁰" in shown_text  # the smallest p that this size can reach
    assert browser.run("document.querySelectorAll('#detail rect.null').length") > 10
    others = texts(browser, "#detail .others th code")
    assert others == ["weat1", "sent-weat1", "weat2", "sent-weat2"]
    assert texts(browser, "#again-command") == [
        "weatherglass run wordllama -t weat1 -m cosine/mean --alpha 0.01"
    ]
    assert texts(browser, "#again-call") == [
        'weatherglass.run("wordllama", "weat1", "cosine/mean", alpha=0.01)'
    ]


def test_a_sentence_test_gives_p_by_words_and_by_single_sentences(browser: Browser, one_model: Path) -> None:
    result = read_run(one_model.parent).results[1]
    assert result.p_elements is not None
    browser.open(one_model, "#r1")
    browser.wait_for_detail()
    numbers = [
        effect(result.effect_size),
        *map(p_value, (result.p_value, result.p_adjusted, result.p_elements)),
    ]
    for text, number in zip(texts(browser, "#detail .figures .big"), numbers, strict=True):
        assert number in text
    shown = browser.find("#detail .figures").text
    assert re.search(in_order("25 + 25", "350 + 350"), shown)  # docs/methods 5
    assert "two-sided" in shown


@pytest.mark.parametrize("ci", ["jackknife", "bca"])
def test_a_detail_gives_both_readings_at_the_level_of_the_run(
    browser: Browser, tmp_path: Path, ci: str
) -> None:
    first, second = made_up_run(tmp_path, load_tests(["weat[12]"]), ci=ci)
    write_page(read_run(tmp_path))
    browser.open(tmp_path / PAGE, "#r0")
    browser.wait_for_detail()
    head, these, such = readings(browser)
    assert [head[1], head[2][:4], head[3]] == ["d", "99 %", "p"]  # alpha of made_up_run is 0.01
    assert these[1] == effect(first.effect_size)
    kind = {"jackknife": "jackknife", "bca": "BCa"}[ci]
    assert these[2].startswith(f"{interval(first.ci_low, first.ci_high)} {kind}")
    assert mentions(these[2], 2000, "0.0083") == (ci == "bca")  # resamples, and the Monte Carlo error
    assert such[1:] == [
        effect(first.effect_size_random),
        f"{interval(first.ci_random_low, first.ci_random_high)} jackknife",
        p_value(first.p_random),
    ]
    browser.run("location.hash = '#r1'")
    browser.wait("document.querySelector('#detail .id').textContent === 'weat2'")
    *_, such = readings(browser)
    assert second.robustness is not None
    assert such[1:] == ["–", second.robustness.random_reason, p_value(second.p_random)]
    assert second.warnings
    assert [each.text for each in second.warnings] == texts(browser, "#detail .warn")


def test_the_curve_of_a_multiverse_stands_in_the_detail_and_among_the_cards(
    browser: Browser, tmp_path: Path
) -> None:
    made_up_run(tmp_path, load_tests(["weat6", "sent-weat6"]), ["m"])
    specifications = [
        {
            **{"target_list": "weat6", "similarity": similarity, "statistic": statistic, "d": d, "p": p},
            **{
                "ci_low": d - 0.3,
                "ci_high": d + 0.3,
                "published": similarity == "cosine" and statistic == "mean",
            },
        }
        for (similarity, statistic), d, p in zip(
            [(a, b) for a in ("cosine", "euclidean") for b in ("mean", "median")],
            (0.9, 1.1, -0.2, 0.4),
            (0.01, 0.02, 0.6, 0.3),
            strict=True,
        )
    ]
    block = {
        **{"model": "m", "topic": "gender and career", "list": "weat6", "tests": ["weat6", "sent-weat6"]},
        **{"conclusion": {"sentence": "It hangs on the similarity."}},
        "choices": {"similarity": ["cosine", "euclidean"], "statistic": ["mean", "median"]},
    }
    entry = {
        **{"topic": "gender and career", "model": "m", "specification_count": 4, "multiverse_p": 0.2},
        **{"share_same_sign": 0.75, "lists": [block], "specifications": specifications},
        "decomposition": {"variance": 0.3, "shares": {"similarity": 0.8, "statistic": 0.2}},
    }
    run = read_run(tmp_path).with_multiverse([entry])
    (tmp_path / PAGE).write_text(page([run], multiverse=[entry]), encoding="utf-8")
    browser.open(tmp_path / PAGE, "#r0")
    browser.wait_for_detail()
    assert browser.run("document.querySelectorAll('#detail .curve circle:not(.ring-only)').length") == 4
    assert browser.run("document.querySelectorAll('#detail .curve .ring-only').length") == 1
    assert mentions(browser.find("#detail .curve").text, "similarity")
    browser.press(ESCAPE)
    card = next(text for text in texts(browser, ".changes li") if "multiverse" in text)
    assert "d −0.20 → 1.10" in card
    assert mentions(card, "80 %", "similarity")


def test_a_metric_that_is_no_effect_size_goes_by_its_own_name(browser: Browser, tmp_path: Path) -> None:
    effects_and_values = made_up_run(tmp_path, load_tests(["weat1"]), metrics=["cosine/mean", "mac"])
    (tmp_path / JOURNAL).write_bytes(b"")
    with RunFolder(tmp_path) as folder:
        for key, result in enumerate(effects_and_values):
            own: dict[str, Any] = {
                **{"info": other_info(unbiased=1.0), "p_value": math.nan, "robustness": None},
                **{
                    "p_method": "none: mac exchanges no words",
                    "p_elements": None,
                    "units_x": 0,
                    "units_y": 0,
                },
            }
            folder.add(str(key), replace(result, **own) if result.metric == "mac" else result)
    write_page(read_run(tmp_path))
    browser.open(tmp_path / PAGE, "#r1")
    browser.wait_for_detail()
    assert figures(browser) == ["mac", "p"]
    shown = browser.find("#detail").text
    assert mentions(browser.find("#detail .figures").text, "mac", 1)  # the value without bias
    assert mentions(shown, "mac", "words")
    browser.press(ESCAPE)
    browser.choose("metric", "1")
    assert browser.run("document.querySelector('#tests-table .chip').className.trim()").startswith("chip z")
    assert browser.console() == []


# Keyboard, themes, paper, phones


def test_the_keyboard_skips_opens_walks_and_closes(browser: Browser, one_model: Path) -> None:
    browser.open(one_model)
    browser.press(TAB)
    assert browser.run("document.activeElement.className") == "skip"
    browser.press(ENTER)
    browser.wait("document.activeElement.id === 'tests'")
    browser.run("document.querySelector('#tests-table a.chip').focus()")
    first = browser.visible_tests()[:2]
    browser.press(ENTER)
    browser.wait_for_detail()
    assert browser.run("document.activeElement.textContent") == "Close"
    browser.find("#detail [data-next]").send_keys(ENTER)
    browser.wait(f"document.querySelector('#detail .id').textContent === {first[1]!r}")
    browser.press(ESCAPE)
    browser.wait("!document.getElementById('detail').open")
    assert browser.run("document.activeElement.matches('#tests-table a.chip')")
    assert (
        browser.run("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    )  # motion is reduced


def brightness(browser: Browser) -> float:
    colour = browser.run("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour[4:-1].split(",")) / 3


def test_dark_mode_follows_the_system_and_the_button_and_has_no_light_slab(
    browser: Browser, several_models: Path
) -> None:
    browser.open(several_models, dark=True)
    browser.show_all()
    assert brightness(browser) < 60
    slabs = """[...document.querySelectorAll('main *, #tip')].filter(e => { const [r, g, b, a] =
      getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number); const box = e.getBoundingClientRect();
      return a !== 0 && (r + g + b) / 3 > 110 && box.width * box.height > 6000; }).length"""
    assert browser.run(slabs) == 0
    browser.find("#theme").click()
    assert brightness(browser) > 200
    browser.open(several_models)
    assert brightness(browser) > 200
    browser.find("#theme").click()
    assert brightness(browser) < 60


@pytest.mark.large
@pytest.mark.parametrize("which", ["one_model", "many_models"])
def test_paper_has_all_of_it_on_sheets_of_a4(
    browser: Browser, request: pytest.FixtureRequest, which: str
) -> None:
    browser.open(
        request.getfixturevalue(which), width=718, dark=True
    )  # A4 less the margins, at 96 dots an inch
    browser.emulate("dark", media="print")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert brightness(browser) == 255
    for hidden in ("#filters", "#theme", "#download"):
        assert not browser.find(hidden).is_displayed()
    beyond = """[...document.querySelectorAll('main table, main svg, main p, main pre')]
      .map(e => [e.tagName, String(e.className), e.getBoundingClientRect().right])
      .filter(([, , right]) => right > document.documentElement.clientWidth + 2)"""
    assert browser.run(beyond) == []
    tables = "[...document.querySelectorAll('#tests table')].filter(t => t.offsetParent !== null)"
    models = {"one_model": [1], "many_models": [8, 8, 8, 6]}[which]
    assert browser.run(f"{tables}.map(t => t.tHead.querySelectorAll('th.model').length)") == models
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    browser.run("dispatchEvent(new Event('afterprint'))")


@pytest.mark.parametrize("which", ["one_model", "several_models", "many_models", "hostile_page"])
def test_nothing_is_wider_than_a_phone_or_a_zoomed_window(
    browser: Browser, request: pytest.FixtureRequest, which: str
) -> None:
    for fragment in ("", "#r1"):
        browser.open(request.getfixturevalue(which), fragment, width=375)
        if fragment:
            browser.wait_for_detail()
        assert browser.run("document.documentElement.scrollWidth") <= 375
        assert browser.run("document.getElementById('detail').scrollWidth") <= 375
    browser.press(ESCAPE)
    browser.resize(640, 450, scale=2)  # 1280 pixels at 200 %
    assert browser.run("document.documentElement.scrollWidth") <= 640
    browser.run("document.querySelector('#tests-table a.chip').focus()")
    assert browser.run("document.activeElement.getBoundingClientRect().left") < 640


@pytest.fixture(scope="module")
def hostile_page(hostile: Path) -> Path:
    write_page(read_run(hostile))
    return hostile / PAGE


@pytest.mark.parametrize(
    ("which", "fragment", "dark"),
    [
        ("one_model", "", False),
        ("one_model", "#r1", True),
        ("several_models", "", True),
        *(
            pytest.param(*case, marks=pytest.mark.large)
            for case in [
                *(("one_model", "", True), ("one_model", "#r1", False), ("several_models", "", False)),
                *(("many_models", "", dark) for dark in (False, True)),
                *(("hostile_page", "#r0", dark) for dark in (False, True)),
            ]
        ),
    ],
)
def test_axe_finds_no_serious_violation(
    browser: Browser, request: pytest.FixtureRequest, axe: str, which: str, fragment: str, dark: bool
) -> None:
    browser.open(request.getfixturevalue(which), fragment, dark=dark)
    browser.show_all()
    if fragment:
        browser.wait_for_detail()
    assert browser.serious_violations(axe) == []


@pytest.mark.parametrize("width", [375, 1280])
def test_hostile_text_is_shown_and_does_nothing(browser: Browser, hostile_page: Path, width: int) -> None:
    browser.open(hostile_page, width=width)
    assert browser.visible_tests() == list(HOSTILE)
    browser.choose("metric", "1")
    for number in range(0, 50, 7):
        browser.run(f"location.hash = '#r{number}'")
        browser.wait_for_detail()
        assert browser.run("document.getElementById('detail').scrollWidth") <= width
    assert browser.run("window.hacked") is None
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.console() == []


@pytest.mark.large
def test_fifteen_hundred_rows_are_all_there(browser: Browser, tmp_path: Path) -> None:
    tests = [own_test(f"own-{n:04}", ("X", "Y", "A", "B"), "w") for n in range(1500)]
    made_up_run(tmp_path, tests)
    write_page(read_run(tmp_path))
    browser.open(tmp_path / PAGE)
    assert browser.find("#shown").text == "1500 of 1500 tests"
    assert mentions(browser.find("#findings").text, 1476)  # topics that are in the table alone
    browser.find("#filters [name=find]").send_keys("own-1499")
    assert browser.visible_tests() == ["own-1499"]


# Downloads


def saved(folder: Path, name: str) -> bytes:
    """The content of a file once the browser has written it."""
    for _ in range(100):
        if (folder / name).exists() and not list(folder.glob("*.crdownload")):
            return (folder / name).read_bytes()
        time.sleep(0.1)
    raise AssertionError(f"{name} was not saved; there is {[path.name for path in folder.iterdir()]}")


def test_every_download_works_from_disk_without_network(
    browser: Browser, several_models: Path, hostile_page: Path, tmp_path: Path
) -> None:
    browser.open(several_models)
    allow = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", allow)
    found = {}
    names = {
        **{"csv": "results.csv", "tsv": "results.tsv", "svg": "topics.svg", "png": "topics.png"},
        **{"latex": "results.tex", "bibtex": "references.bib", "methods": "methods.txt"},
        "model-card": "model-card.md",
    }
    assert len(texts(browser, "[data-save]")) == len(names)
    for kind, name in names.items():
        browser.run(f"document.querySelector('[data-save={kind}]').click()")
        found[kind] = saved(tmp_path, name)
    results = read_run(several_models.parent).results
    rows = [line.split("\t") for line in found["tsv"].decode().splitlines()]
    assert len(rows) == len(results) + 1
    place = {name: number for number, name in enumerate(rows[0])}
    for row, result in zip(rows[1:], results, strict=True):
        assert (row[place["model"]], row[place["test"]], row[place["metric"]]) == (
            *(result.model, result.test, result.metric),
        )
        assert float(row[place["value"]]) == pytest.approx(result.value, rel=1e-4)
        assert float(row[place["p_value"]]) == pytest.approx(result.p_value, rel=1e-4)
    assert found["csv"].decode().count("\n") == len(results) + 1
    assert found["svg"].startswith(b"<svg xmlns=")
    assert found["png"].startswith(b"\x89PNG")
    assert b"\\toprule" in found["latex"]
    assert b"@article{caliskan2017," in found["bibtex"]
    assert b"two-sided" in found["methods"]
    assert b"| Topic | Model | Outcome |" in found["model-card"]
    assert [url for url in browser.requests() if url.startswith("http")] == []
    browser.open(hostile_page)
    browser.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {**allow, "downloadPath": str(tmp_path / "h")}
    )
    (tmp_path / "h").mkdir()
    browser.run(
        "document.querySelector('[data-save=png]').click()"
    )  # a drawing that is no XML cannot be decoded
    assert saved(tmp_path / "h", "topics.png").startswith(b"\x89PNG")


# Folders that are not whole


def test_a_damaged_line_of_the_journal_is_said_and_the_rest_is_shown(
    browser: Browser, tmp_path: Path
) -> None:
    made_up_run(tmp_path, load_tests(["weat1", "sent-weat1"]))
    journal = tmp_path / JOURNAL
    journal.write_bytes(journal.read_bytes().replace(b'"weat1"', b'"weat9"', 1))
    write_page(read_run(tmp_path))
    browser.open(tmp_path / PAGE, "#r0")
    browser.wait_for_detail()
    assert mentions(browser.find("#detail .says").text, "Flowers")
    browser.press(ESCAPE)
    assert mentions(browser.find(".notice").text, "journal.jsonl", "1 of 2", "1 damaged")
    assert browser.visible_tests() == ["sent-weat1"]
    assert browser.console() == []


def test_a_block_that_cannot_be_unpacked_is_said_and_the_figures_are_shown(
    browser: Browser, tmp_path: Path
) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    write_page(read_run(tmp_path))
    written = tmp_path / PAGE
    written.write_text(written.read_text("utf-8").replace('id="block-0">', 'id="block-0">broken', 1), "utf-8")
    browser.open(written, "#r0")
    browser.wait_for_detail()
    assert any(mentions(text, "unpacked") for text in texts(browser, "#detail .warn"))
    assert not texts(browser, "#detail .plots circle")
    assert mentions(browser.find("#detail .says").text, "Flowers")

"""The page in a real browser: it opens from disk, sorts, filters, explains itself and shuts nobody out."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.report.browser import Browser
from tests.report.conftest import HOSTILE
from tests.report.made_up import made_up_run

from weatherglass.catalogue import load_tests
from weatherglass.report.numbers import effect, interval, p_value
from weatherglass.report.page.html import PAGE, write_page
from weatherglass.runs.folder import RunFolder
from weatherglass.runs.journal import JOURNAL
from weatherglass.runs.stored import read_run

ENTER, ESCAPE, TAB = "\ue007", "\ue00c", "\ue004"  # as the WebDriver standard names these keys


def effects(browser: Browser, column: int = 0) -> list[float]:
    """The effect sizes that one column shows, from the top."""
    cells = f"[...document.querySelectorAll('#matrix tr[data-t]:not([hidden]) td[data-s=\"{column}\"] .d')]"
    return [float(text.replace("−", "-")) for text in browser.run(f"{cells}.map(c => c.textContent)")]


@pytest.mark.parametrize("fragment", ["", "#r3"])
def test_it_opens_from_disk_and_asks_for_nothing_else(
    browser: Browser, several_models: Path, fragment: str
) -> None:
    browser.open(several_models, fragment)
    browser.show_all()
    if fragment:
        browser.wait_for_detail()
    fetched = [url for url in browser.requests() if not url.startswith("data:")]
    assert {url.split("#")[0] for url in fetched} == {several_models.resolve().as_uri()}
    assert browser.console() == []


def test_a_column_sorts_down_then_up_then_back(browser: Browser, several_models: Path) -> None:
    browser.open(several_models)
    given = effects(browser, 1)
    button = browser.find("#matrix th[data-s='1'] button")
    heading = browser.find("#matrix th[data-s='1']")
    for order, expected in (
        ("descending", sorted(given, reverse=True)),
        ("ascending", sorted(given)),
        ("none", given),
    ):
        button.click()
        assert heading.get_attribute("aria-sort") == order
        assert effects(browser, 1) == expected
    assert len(set(given)) > 3


def test_the_test_column_sorts_numbers_as_numbers(browser: Browser, several_models: Path) -> None:
    browser.open(several_models)
    browser.find("#matrix [data-sort=name]").click()
    names = browser.visible_tests()
    assert names.index("weat2") < names.index("weat10")
    assert names[0] == "sent-weat1"


def test_filters_leave_what_was_asked_for(browser: Browser, one_model: Path) -> None:
    browser.open(one_model)
    assert len(browser.visible_tests()) == 46
    browser.choose("context", "paragraph")
    assert len(browser.visible_tests()) == 6  # docs/methods 5: _1, _1+3- and _1- of both double binds
    assert browser.find("#shown").text == "6 of 46 tests"
    browser.choose("context", "*")
    browser.choose("group", "Illness of mind and body")
    assert browser.visible_tests() == ["weat9", "sent-weat9"]
    browser.show_all()
    assert browser.run("document.querySelectorAll('#forest .names div[title^=\"weat\"]').length") == 1
    browser.find("#filters [type=reset]").click()
    browser.wait("document.getElementById('shown').textContent === '46 of 46 tests'")
    browser.find("#filters [name=find]").send_keys("insects")
    assert browser.visible_tests() == ["weat1", "sent-weat1"]


def test_marked_results_can_be_had_alone(browser: Browser, one_model: Path) -> None:
    browser.open(one_model)
    kept = browser.run("[...document.querySelectorAll('#matrix .k2')].length")
    browser.choose("marked", "2")
    assert len(browser.visible_tests()) == kept > 0


def test_models_can_be_left_out(browser: Browser, several_models: Path) -> None:
    browser.open(several_models)
    browser.find(".pick summary").click()
    browser.find("input[name=subject][value='1']").click()
    assert browser.find("#models-shown").text == "2 of 3"
    assert not browser.find("#matrix th[data-s='1']").is_displayed()
    browser.show_all()
    assert browser.run("document.querySelectorAll('#forest .panel').length") == 2


def test_another_metric_shows_its_own_numbers(browser: Browser, several_models: Path) -> None:
    browser.open(several_models)
    first = effects(browser)
    browser.show_all()
    second = browser.run(
        "[...document.querySelectorAll('#metrics-table tbody tr')].map(r => r.querySelectorAll('.d')[1].textContent)"
    )
    browser.choose("metric", "1")
    assert effects(browser) != first
    assert effects(browser) == [float(text.replace("−", "-")) for text in second]
    assert browser.find("#matrix-metric").text == "euclidean/mean"


def test_a_cell_tells_its_numbers_when_pointed_at(browser: Browser, several_models: Path) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    browser.open(several_models)
    cell = browser.find("#matrix a.cell")
    browser.bring_into_sight(cell)
    ActionChains(browser.driver).move_to_element(cell).perform()
    browser.wait("!document.getElementById('tip').hidden")
    shown_text = browser.find("#tip").text
    assert "weat1" in shown_text
    assert "small" in shown_text
    assert "Flowers lean to" in shown_text


def test_a_detail_opens_by_mouse_and_names_the_words(browser: Browser, one_model: Path) -> None:
    browser.open(one_model)
    cell = browser.find("#matrix a.cell")
    shown = cell.find_element("css selector", ".d").text
    cell.click()
    browser.wait_for_detail()
    shown_text = browser.find("#detail").text
    assert browser.find("#detail-title").text == "weat1"
    assert browser.find("#detail .big").text == shown
    words = browser.run("[...document.querySelectorAll('#detail .plots svg text')].map(t => t.textContent)")
    assert {"aster", "tulip", "moth", "wasp"} <= set(words)  # targets of Caliskan et al.'s first test
    assert "method: enumerate" in shown_text
    assert "cannot go below 1.0 × 10⁻²⁰" in shown_text
    assert browser.run("document.querySelectorAll('#detail rect.null').length") > 10


def figures(browser: Browser) -> list[str]:
    return list(browser.run("[...document.querySelectorAll('#detail .figures dt')].map(d => d.textContent)"))


def readings(browser: Browser) -> list[list[str]]:
    """The rows of the table of both readings."""
    rows = "[...document.querySelectorAll('#detail .readings tr')]"
    return list(browser.run(f"{rows}.map(r => [...r.children].map(c => c.textContent))"))


def test_a_sentence_test_gives_p_by_words_and_by_single_sentences(browser: Browser, one_model: Path) -> None:
    browser.open(one_model, "#r1")
    browser.wait_for_detail()
    assert figures(browser) == [
        *("Effect size d", "p, by words", "After correction", "p by single sentences, as published")
    ]
    shown = browser.find("#detail .figures").text
    assert "25 + 25 target words in 350 + 350 sentences" in shown  # docs/methods 5
    assert "two-sided" in shown


def test_a_detail_gives_both_readings_at_the_level_of_the_run(browser: Browser, tmp_path: Path) -> None:
    first, second = made_up_run(tmp_path, load_tests(["weat[12]"]))
    write_page([tmp_path], tmp_path / PAGE)
    browser.open(tmp_path / PAGE, "#r0")
    browser.wait_for_detail()
    head, these, such = readings(browser)
    assert head == ["Reading", "d", "99 % interval", "p"]  # alpha of made_up_run is 0.01
    assert these[0] == "with these attribute words"
    assert these[2] == f"{interval(first.ci_low, first.ci_high)} jackknife"
    assert such == [
        "with others like them",
        effect(first.effect_size_attr),
        f"{interval(first.ci_attr_low, first.ci_attr_high)} jackknife",
        p_value(first.p_attr),
    ]
    browser.run("location.hash = '#r1'")
    browser.wait("document.getElementById('detail-title').textContent === 'weat2'")
    *_, such = readings(browser)
    assert such[1:3] == [
        "–",
        "not estimable: the attributes disagree about these words (score reliability below 0.1)",
    ]
    assert such[3] == p_value(second.p_attr)
    assert "mostly attribute noise" in browser.find("#detail").text


def test_a_bootstrap_interval_is_called_one_with_its_error(browser: Browser, tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]), ci="bca")
    write_page([tmp_path], tmp_path / PAGE)
    browser.open(tmp_path / PAGE, "#r0")
    browser.wait_for_detail()
    _, these, _ = readings(browser)
    assert "BCa over targets and attributes, 2000 resamples" in these[2]
    assert "0.0083" in these[2]


def test_what_a_result_hangs_on_is_said_with_the_number_of_such_words(
    browser: Browser, tmp_path: Path
) -> None:
    results = made_up_run(tmp_path, load_tests(["weat*"]))
    write_page([tmp_path], tmp_path / PAGE)
    alpha = read_run(tmp_path).alpha
    found = {n: r.trust.hangs_on("word", alpha) for n, r in enumerate(results) if r.significance and r.trust}
    number, hangs_on = next((number, each) for number, each in found.items() if each)
    browser.open(tmp_path / PAGE, f"#r{number}")
    browser.wait_for_detail()
    assert f"Significance hangs on “{hangs_on.name}”: without it p = " in browser.find("#detail").text


def test_the_first_screen_counts_by_words_and_by_single_sentences(browser: Browser, tmp_path: Path) -> None:
    results = made_up_run(tmp_path, load_tests(["*"]))
    write_page([tmp_path], tmp_path / PAGE)
    several = [result for result in results if result.p_elements is not None]
    by_words = sum(result.p_value <= 0.01 for result in several)
    by_sentences = sum(result.p_elements is not None and result.p_elements <= 0.01 for result in several)
    browser.open(tmp_path / PAGE)
    assert by_words < by_sentences < len(several)
    assert (
        f"Of {len(several)} tests with several sentences a word, {by_words} are significant by words, "
        f"{by_sentences} by single sentences as published."
    ) in browser.find(".finding").text


def test_a_metric_that_is_no_effect_size_goes_by_its_own_name(browser: Browser, tmp_path: Path) -> None:
    effects_and_values = made_up_run(tmp_path, load_tests(["weat1"]), metrics=["cosine/mean", "mac"])
    journal = tmp_path / JOURNAL
    journal.unlink()
    with RunFolder(tmp_path) as folder:
        for key, result in enumerate(effects_and_values):
            own: dict[str, Any] = {
                "is_effect_size": False,
                "unbiased": 1.0,
                "p_value": math.nan,
                "trust": None,
            }
            own |= {
                "p_method": "none: mac exchanges no words",
                "p_elements": None,
                "units_x": 0,
                "units_y": 0,
            }
            folder.add(str(key), replace(result, **own) if result.metric == "mac" else result)
    write_page([tmp_path], tmp_path / PAGE)
    browser.open(tmp_path / PAGE, "#r1")
    browser.wait_for_detail()
    assert figures(browser) == ["mac", "p"]
    shown = browser.find("#detail").text
    assert "without bias it is 1" in shown
    assert "no p: mac exchanges no words" in shown
    assert "Effect size d" not in shown
    browser.press(ESCAPE)
    browser.choose("metric", "1")
    browser.show_all()
    assert "mac is not an effect size d" in browser.find("#forest").text
    assert browser.console() == []


def test_the_keyboard_opens_walks_and_closes_a_detail(browser: Browser, one_model: Path) -> None:
    browser.open(one_model)
    browser.run("document.querySelector('#matrix a.cell').focus()")
    browser.press(ENTER)
    browser.wait_for_detail()
    assert browser.run("document.activeElement.textContent") == "Close"
    browser.find("#detail [data-next]").send_keys(ENTER)
    browser.wait("document.getElementById('detail-title').textContent === 'sent-weat1'")
    browser.press(ESCAPE)
    browser.wait("!document.getElementById('detail').open")
    assert browser.run("document.activeElement.matches('#matrix a.cell')")


def test_the_first_tab_stop_skips_to_the_results(browser: Browser, one_model: Path) -> None:
    browser.open(one_model)
    browser.press(TAB)
    assert browser.run("document.activeElement.className") == "skip"
    browser.press(ENTER)
    browser.wait("document.activeElement.id === 'results'")


def brightness(browser: Browser) -> float:
    colour = browser.run("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour[4:-1].split(",")) / 3


def test_dark_mode_follows_the_system_and_the_button(browser: Browser, one_model: Path) -> None:
    browser.open(one_model, dark=True)
    assert brightness(browser) < 60
    browser.find("#theme").click()
    assert brightness(browser) > 200
    browser.open(one_model)
    assert brightness(browser) > 200
    browser.find("#theme").click()
    assert brightness(browser) < 60


@pytest.mark.parametrize("page", ["one_model", "many_models"])
def test_paper_gets_the_findings_without_the_controls(
    browser: Browser, request: pytest.FixtureRequest, page: str
) -> None:
    browser.open(request.getfixturevalue(page), dark=True)
    browser.emulate("dark", media="print")
    assert brightness(browser) == 255
    assert not browser.find("#filters").is_displayed()
    assert not browser.find("#theme").is_displayed()
    assert browser.find("#matrix").is_displayed()
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    browser.wait(
        "document.querySelectorAll('#forest .panel').length > 0"
    )  # drawn for paper, unseen on the screen


def test_marks_alone_stand_for_many_models_until_numbers_are_asked_for(
    browser: Browser, many_models: Path
) -> None:
    browser.open(many_models)
    width = "document.querySelector('#matrix td.model .d').getBoundingClientRect().width"
    assert browser.run(width) <= 1
    browser.find("#dense").click()
    assert browser.run(width) > 20


@pytest.mark.parametrize("fragment", ["", "#r1"])
@pytest.mark.parametrize("page", ["one_model", "several_models", "many_models"])
def test_a_phone_never_scrolls_sideways(
    browser: Browser, request: pytest.FixtureRequest, page: str, fragment: str
) -> None:
    browser.open(request.getfixturevalue(page), fragment, width=375)
    if fragment:
        browser.wait_for_detail()
    assert browser.run("document.documentElement.scrollWidth") <= 375
    assert browser.run("document.getElementById('detail').scrollWidth") <= 375


def test_a_phone_shows_the_names_of_groups_whole(browser: Browser, several_models: Path) -> None:
    browser.open(several_models, width=375)
    browser.show_all()
    heads = browser.run(
        "[...document.querySelectorAll('#forest .names .head span')]"
        ".map((name) => [name.offsetHeight, name.parentElement.clientHeight])"
    )
    assert heads
    assert all(name <= row for name, row in heads), heads


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("page", "fragment"),
    [("one_model", ""), ("one_model", "#r1"), ("several_models", ""), ("hostile_page", "#r0")],
)
def test_axe_finds_no_serious_violation(
    browser: Browser, request: pytest.FixtureRequest, axe: str, page: str, fragment: str, dark: bool
) -> None:
    browser.open(request.getfixturevalue(page), fragment, dark=dark)
    browser.show_all()
    if fragment:
        browser.wait_for_detail()
    browser.driver.execute_script(axe)
    audit = browser.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    serious = [
        violation for violation in audit["violations"] if violation["impact"] in ("serious", "critical")
    ]
    assert [(violation["id"], violation["nodes"][0]["html"][:200]) for violation in serious] == []
    assert len(audit["passes"]) > 10


@pytest.fixture(scope="module")
def hostile_page(hostile: Path) -> Path:
    write_page([hostile], hostile / PAGE)
    return hostile / PAGE


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


def test_a_damaged_line_of_the_journal_is_said_and_the_rest_is_shown(
    browser: Browser, tmp_path: Path
) -> None:
    made_up_run(tmp_path, load_tests(["weat1", "sent-weat1"]))
    journal = tmp_path / JOURNAL
    journal.write_bytes(journal.read_bytes().replace(b'"weat1"', b'"weat9"', 1))
    write_page([tmp_path], tmp_path / PAGE)
    browser.open(tmp_path / PAGE, "#r0")
    browser.wait_for_detail()
    assert "Flowers lean to" in browser.find("#detail .says").text
    browser.press(ESCAPE)
    assert "journal.jsonl lacks 1 of 2 results (1 damaged line)" in browser.find(".notice").text
    assert browser.visible_tests() == ["sent-weat1"]
    assert browser.console() == []


def test_a_block_that_cannot_be_unpacked_is_said_and_the_figures_are_shown(
    browser: Browser, tmp_path: Path
) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    write_page([tmp_path], tmp_path / PAGE)
    page = tmp_path / PAGE
    page.write_text(page.read_text("utf-8").replace('id="block-0">', 'id="block-0">broken', 1), "utf-8")
    browser.open(page, "#r0")
    browser.wait_for_detail()
    assert "could not be unpacked" in browser.find("#detail").text
    assert "Flowers lean to" in browser.find("#detail .says").text


def test_two_runs_stand_side_by_side(browser: Browser, tmp_path: Path) -> None:
    folders = [tmp_path / "before", tmp_path / "after"]
    runs: list[Any] = [
        made_up_run(folder, load_tests(["weat[12]"]), seed=seed) for seed, folder in enumerate(folders)
    ]
    write_page(folders, tmp_path / PAGE)
    browser.open(tmp_path / PAGE)
    browser.show_all()
    shown = browser.run(
        "[...document.querySelectorAll('#comparison tbody tr')].map(r => "
        "[...r.querySelectorAll('.d')].map(c => Number(c.textContent.replace('−', '-'))))"
    )
    assert shown == [
        [pytest.approx(result.effect_size, abs=0.005) for result in pair] for pair in zip(*runs, strict=True)
    ]
    assert "model · after" in browser.find("#matrix thead").text

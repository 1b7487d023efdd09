"""The page in a real browser: each thing that a user does, and the numbers it then shows against those of Python."""

from __future__ import annotations

import json
import math
import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from click.testing import CliRunner
from tests.explore.conftest import Explorer, serving
from tests.report.browser import Browser

import weatherglass as wg
from weatherglass.cli import app
from weatherglass.explore.engine import Engine
from weatherglass.explore.state import ROLES, start_state
from weatherglass.explore.words import catalogue_words
from weatherglass.report.numbers import effect

TAB, ENTER = "\ue004", "\ue007"
HOSTILE = "</script><img/src=x/onerror='window.hacked=1'>"


@pytest.fixture(scope="module")
def engine(spec: str) -> Engine:
    return Engine([spec])


@pytest.fixture(scope="module")
def server(engine: Engine) -> Iterator[object]:
    engine.prepare()
    with serving(engine) as served:
        yield served


def numbers(engine: Engine, **changes: Any) -> dict[str, Any]:
    answer: dict[str, Any] = engine.answer({**start_state("weat6"), **changes})["answers"][0]
    return answer


def sets_with(**words: list[str]) -> dict[str, Any]:
    sets: dict[str, Any] = start_state("weat6")["sets"]
    for role, some in words.items():
        sets[role] = {**sets[role], "words": some}
    return sets


def shown_d(explorer: Explorer, model: int = 0) -> str:
    return next(iter(explorer.facts(model).values())).split("95")[0]


def shown_p(text: str) -> float:
    """The number at the start of a text, which may be 3.3 × 10⁻⁴."""
    found = re.match(r"([\d.]+)(?: × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text)
    assert found is not None
    power = (found[2] or "").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(f"{found[1]}e{power or 0}")


def near(p: float) -> Any:
    """p, which the page rounds to two digits."""
    return pytest.approx(p, rel=0.051)


def test_typing_words_changes_numbers_sentence_and_warnings(explorer: Explorer, engine: Engine) -> None:
    explorer.fill("#words-X", 'John Paul, Mike; Kevin\nSteve "New York"')
    words = ["John", "Paul", "Mike", "Kevin", "Steve", "New York"]
    found = numbers(engine, sets=sets_with(X=words))
    assert shown_d(explorer) == effect(found["value"])
    assert explorer.texts("#count-X")[0].startswith("6 ")
    d, p, *others = explorer.facts().values()
    assert all(effect(found[end]) in d for end in ("ci_low", "ci_high"))
    assert shown_p(p) == near(found["p_value"])
    if found["p_random"] is not None:
        assert shown_p(others[-2]) == near(found["p_random"])
    assert found["needed"] is None or others[-1].startswith(f"{found['needed']} ")
    assert effect(found["minimum_detectable"]) in others[-1]
    assert explorer.texts("#answers .says") == [found["sentence"]]
    assert explorer.texts("#answers .flags li") == [one["text"] for one in found["warnings"]]
    assert explorer.browser.console() == []


def test_suggestions_of_the_vocabulary_insert(explorer: Explorer, engine: Engine) -> None:
    explorer.fill("#words-Y", "Amy, Joan, Lisa, wom")
    explorer.browser.wait("document.querySelectorAll('#hints-Y button').length > 0")
    first = explorer.texts("#hints-Y button")[0]
    assert first == next(word for word in engine.suggest("wom") if word != "wom")
    explorer.click("#hints-Y button")
    assert explorer.words("Y").endswith(first)
    assert explorer.texts("#hints-Y button") == []


def test_a_word_that_the_model_does_not_know_is_marked_and_named(
    explorer: Explorer, engine: Engine, spec: str
) -> None:
    explorer.fill("#words-X", "John, Paul, Mike, zzzqqq")
    found = numbers(engine, sets=sets_with(X=["John", "Paul", "Mike", "zzzqqq"]))["unknown"]
    assert found == ({"X": ["zzzqqq"]} if spec.startswith("glove") else {})  # the others know pieces of words
    assert explorer.texts("#mirror-X .unknown") == found.get("X", [])
    assert explorer.texts("#lost-X")[0].endswith(found["X"][0] if found else "")


def test_a_pasted_list_keeps_its_phrases(explorer: Explorer) -> None:
    before = explorer.sequence
    explorer.browser.run(
        "(() => { const data = new DataTransfer(); data.setData('text/plain', 'air force, coast guard\\narmy');"
        "const area = document.getElementById('words-X'); area.value = ''; area.focus();"
        "area.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})) })()"
    )
    explorer.answered(before)
    assert explorer.words("X") == '"air force", "coast guard", army'
    assert explorer.texts("#count-X")[0].startswith("3 ")


def test_leaving_out_the_word_that_carries_it_undo_and_redo(explorer: Explorer, engine: Engine) -> None:
    whole = numbers(engine)
    role, word, d, _ = whole["decisive"]
    assert explorer.texts(".carrier") == [f"“{word}”"]
    explorer.click(".change button")
    assert shown_d(explorer) == effect(d)
    assert effect(whole["value"]) in explorer.texts(".change")[0]
    assert explorer.texts(f"#mirror-{role} .gone") == [word]
    explorer.click("#undo")
    assert shown_d(explorer) == effect(whole["value"])
    explorer.click("#redo")
    assert shown_d(explorer) == effect(d)


def test_a_word_of_the_axis_is_left_out_by_keyboard_and_taken_back(
    explorer: Explorer, engine: Engine
) -> None:
    before = explorer.sequence
    explorer.browser.run("document.querySelector(\".strip [data-word='Sarah']\").focus()")
    explorer.browser.press(ENTER)
    explorer.answered(before)
    kept = [word for word in start_state("weat6")["sets"]["Y"]["words"] if word != "Sarah"]
    assert shown_d(explorer) == effect(numbers(engine, sets=sets_with(Y=kept))["value"])
    assert explorer.browser.run("document.activeElement.dataset.word") == "Sarah"
    before = explorer.sequence
    explorer.browser.press(ENTER)
    explorer.answered(before)
    assert shown_d(explorer) == effect(numbers(engine)["value"])


def test_the_axis_has_every_word_at_its_score(explorer: Explorer, engine: Engine) -> None:
    scores = {word: score for _, word, score in numbers(engine)["scores"]}
    drawn = explorer.browser.run(
        "Object.fromEntries([...document.querySelectorAll('.strip .word')]"
        ".map(e => [e.dataset.word, Number(e.querySelector('circle').getAttribute('cx'))]))"
    )
    zero = float(explorer.browser.run("document.querySelector('.strip .zero').getAttribute('x1')"))
    assert drawn.keys() == scores.keys()
    scale = max(abs(place - zero) for place in drawn.values()) / max(map(abs, scores.values()))
    assert [drawn[word] - zero for word in scores] == pytest.approx([scale * s for s in scores.values()])
    before = explorer.sequence
    explorer.browser.find(".strip [data-word='Mike'] text").click()
    explorer.answered(before)
    kept = [word for word in start_state("weat6")["sets"]["X"]["words"] if word != "Mike"]
    assert shown_d(explorer) == effect(numbers(engine, sets=sets_with(X=kept))["value"])


def test_a_placed_word_has_its_interval_and_neighbours(explorer: Explorer, engine: Engine, spec: str) -> None:
    explorer.browser.find("#place").send_keys("nurse")
    before = explorer.sequence
    explorer.browser.press(ENTER)
    explorer.answered(before)
    sets = start_state("weat6")["sets"]
    single = wg.measure("sc-weat", [["nurse"]], [sets["A"]["words"], sets["B"]["words"]], model=spec)
    cells = explorer.texts("tr[data-placed=nurse] td")
    assert cells[0] == effect(single.value)
    assert all(effect(end) in cells[2] for end in (single.ci_low, single.ci_high))
    assert len(explorer.texts(".strip .put")) == 1
    explorer.press("tr[data-placed=nurse] .acts button")
    explorer.browser.wait("document.querySelectorAll('#near button').length > 3")
    nearest = [word for word, _ in engine.neighbours("nurse")["nearest"]]
    assert explorer.texts("#near button") == nearest


def test_the_address_is_the_state(explorer: Explorer) -> None:
    explorer.fill("#words-X", "John, Paul, Mike, Bill")
    address = explorer.browser.run("location.href")
    d = shown_d(explorer)
    state = json.loads(unquote(address.split("#")[1]))
    assert state["sets"]["X"]["words"] == ["John", "Paul", "Mike", "Bill"]
    explorer.open(f"#{address.split('#')[1]}")
    assert (shown_d(explorer), explorer.words("X")) == (d, "John, Paul, Mike, Bill")


@pytest.mark.large
@pytest.mark.parametrize("fragment", ["#%", "#{}", "#%7B%22sets%22%3A7%7D", f"#{quote(HOSTILE)}"])
def test_a_wrong_address_opens_the_first_state(explorer: Explorer, fragment: str) -> None:
    explorer.open(fragment)
    assert explorer.words("X").startswith("John")
    assert explorer.browser.run("window.hacked") is None


def test_hostile_words_stay_text(explorer: Explorer) -> None:
    explorer.fill("#name-X", f"{HOSTILE[:70]}")
    explorer.fill("#words-X", f"John, Paul, Bill, {HOSTILE}")
    explorer.fill("#name-Y", "= 7 * 7")
    assert explorer.browser.run("window.hacked") is None
    assert explorer.browser.run("document.querySelectorAll('#answers img').length") == 0
    assert explorer.browser.console() == []


@pytest.mark.large
def test_hostile_names_of_models_stay_text(browser: Browser) -> None:
    vectors = {word: [n % 7, n % 5, 1.0] for n, word in enumerate(catalogue_words())}
    with serving(Engine({HOSTILE: vectors, "${alert(1)}": vectors})) as server:
        explorer = Explorer(browser, server.address)  # type: ignore[attr-defined]
        explorer.open()
        assert [text.strip() for text in explorer.texts("#models label")] == [HOSTILE, "${alert(1)}"]
        assert browser.run("window.hacked") is None
        assert browser.run("document.querySelectorAll('img').length") == 0
        assert browser.console() == []


@pytest.mark.large
@pytest.mark.parametrize("metric", ["euclidean/mean", "cosine/max", "dot/median", "rnsb", "mac", "same"])
def test_another_metric(explorer: Explorer, engine: Engine, metric: str) -> None:
    explorer.choose("#metric", metric)
    found = numbers(engine, metric=metric)
    digits = 2 if "/" in metric else 3
    assert shown_d(explorer).startswith(f"{found['value']:.{digits}f}".replace("-", "−"))
    assert explorer.browser.console() == []


@pytest.mark.large
def test_sentences_instead_of_single_words(explorer: Explorer, spec: str) -> None:
    explorer.choose("#context", "sentences")
    sets = start_state("weat6")["sets"]
    test = wg.test(*(sets[role]["words"] for role in ROLES)).sentences()
    result = wg.run(spec, [test]).results[0]
    assert shown_d(explorer) == effect(result.value)
    assert len(explorer.texts(".strip .word")) == 16


@pytest.mark.large
def test_a_test_of_the_catalogue_and_a_file(explorer: Explorer, engine: Engine, tmp_path: Path) -> None:
    explorer.choose("#test", "weat7")
    assert shown_d(explorer) == effect(engine.answer(start_state("weat7"))["answers"][0]["value"])
    path = tmp_path / "mine.csv"
    path.write_text("X,Y,A,B\nsun,rain,joy,woe\nwarmth,fog,love,hate\nlight,gloom,bliss,agony\n")
    before = explorer.sequence
    explorer.browser.find("#file").send_keys(str(path))
    explorer.answered(before)
    assert explorer.words("X") == "sun, warmth, light"
    bad = tmp_path / "bad.toml"
    bad.write_text("X = [")
    explorer.browser.find("#file").send_keys(str(bad))
    explorer.browser.wait("document.getElementById('status').textContent.includes('bad.toml')")
    assert explorer.words("X") == "sun, warmth, light"


@pytest.mark.large
def test_counting_follows_certified_bounds_when_typing_rests(explorer: Explorer, engine: Engine) -> None:
    explorer.choose("#test", "weat1")
    found = engine.answer(start_state("weat1"))["answers"][0]
    assert shown_p(list(explorer.facts().values())[1]) == near(found["p_value"])
    quick = engine.answer({**start_state("weat1"), "quick": True})["answers"][0]
    assert not quick["final"]
    assert quick["p_low"] <= found["p_low"] <= found["p_high"] <= quick["p_high"] <= 1.011 * quick["p_low"]


@pytest.mark.large
def test_thirty_six_choices(explorer: Explorer, spec: str) -> None:
    explorer.press("#multiverse")
    explorer.browser.wait("document.querySelector('.curve svg') !== null")
    assert len(explorer.texts(".curve svg > g")) == 36
    sets = start_state("weat6")["sets"]
    words = wg.test(*({sets[role]["name"]: sets[role]["words"]} for role in ROLES), topic="men and women")
    found = wg.multiverse(spec, [words], ["similarity", "statistic"])
    drawn = explorer.texts(".curve svg title")
    shown = {text.split(": d ")[0]: text.split(": d ")[1].split(",")[0] for text in drawn}
    for one in found.topics[0]["specifications"]:
        assert shown[f"{one['similarity']}, {one['statistic']}, word"] == effect(one["d"])


@pytest.mark.large
def test_ranks_under_the_names_of_two_groups(explorer: Explorer, spec: str) -> None:
    query, passage = "a nurse", "{name} has worked in a hospital."
    for selector, text in (("#query", query), ("#passage", passage)):
        field = explorer.browser.find(selector)
        field.clear()
        field.send_keys(text)
    sets = start_state("weat6")["sets"]
    groups = {sets[role]["name"]: sets[role]["words"] for role in "XY"}
    found = wg.rank(spec, [query], [passage], groups)
    share = f"{math.floor(100 * found.overall[0].win_rate + 0.5)} %"
    explorer.browser.wait(f"document.querySelector('.ranked dd')?.textContent.startsWith('{share}')")
    places = explorer.texts(".rank title")
    assert places[0].endswith(f"{found.examples[0].places[places[0].split(':')[0]]:.1f}")
    assert len(places) == 16


@pytest.mark.large
def test_copies_and_downloads(
    explorer: Explorer, tmp_path: Path, engine: Engine, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.browser.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    d = numbers(engine)["value"]
    explorer.press("#keep [data-copy=python]")
    explorer.browser.wait("!document.getElementById('copy').hidden")
    names: dict[str, Any] = {}
    exec(explorer.texts("#copy")[0], names)
    assert names["run"].results[0].value == d
    for kind, name in (
        ("file", "my-test.toml"),
        ("csv", "explored.csv"),
        ("svg", "explored.svg"),
        ("png", "explored.png"),
    ):
        explorer.press(f"#keep [data-get={kind}]")
        until = time.monotonic() + 20
        while not (tmp_path / name).exists() and time.monotonic() < until:
            time.sleep(0.05)
    time.sleep(0.3)
    assert wg.run(spec, [str(tmp_path / "my-test.toml")]).results[0].value == d
    head, *rows = (tmp_path / "explored.csv").read_text().splitlines()
    assert len(rows) == 32
    assert float(dict(zip(head.split(","), rows[0].split(","), strict=True))["effect_size"]) == d
    from xml.etree import ElementTree

    texts = ["".join(one.itertext()) for one in ElementTree.parse(tmp_path / "explored.svg").iter()]
    assert any("John" in text for text in texts)
    assert (tmp_path / "explored.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    explorer.press("#keep [data-copy=file]")
    content = (tmp_path / "my-test.toml").read_text()
    explorer.browser.wait(f"document.getElementById('copy').textContent === {json.dumps(content)}")
    explorer.press("#keep [data-copy=link]")
    explorer.browser.wait("document.getElementById('copy').textContent === location.href")
    explorer.press("#keep [data-copy=command]")
    explorer.browser.wait("document.getElementById('copy').textContent.startsWith('weatherglass run')")
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(explorer.texts("#copy")[0])[1:]
    called = CliRunner().invoke(app, [*arguments, "-o", "run"])
    assert called.exit_code == 0, called.output
    assert wg.load_run("run").results[0].value == d


@pytest.fixture(scope="module")
def four_models(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server with four models: the embedded one, and three files of its vectors with growing noise."""
    import numpy as np

    folder = tmp_path_factory.mktemp("vectors")
    words = catalogue_words()
    single = [word for word in words if " " not in word]
    vectors = np.asarray(Engine(["wordllama"]).models[0].kept.encode(single))[:, :50]
    rng = np.random.default_rng(4)
    specs = ["wordllama"]
    for noise in (0.5, 1.0, 2.0):
        noisy = vectors + noise * vectors.std() * rng.normal(size=vectors.shape)
        path = folder / f"noise-{noise}.txt"
        path.write_text(
            "".join(
                f"{word} {' '.join(f'{value:.5f}' for value in row)}\n"
                for word, row in zip(single, noisy, strict=True)
            )
        )
        specs.append(f"vectors:{path}")
    engine = Engine(specs)
    with serving(engine) as served:
        yield engine, served


@pytest.mark.large
def test_four_models_side_by_side(browser: Browser, four_models: Any) -> None:
    engine, server = four_models
    explorer = Explorer(browser, server.address)
    explorer.open()
    found = engine.answer({**start_state("weat6"), "models": [0, 1, 2, 3]})["answers"]
    assert [shown_d(explorer, n) for n in range(4)] == [effect(one["value"]) for one in found]
    assert len(explorer.texts("#comparison tbody tr")) == 4
    explorer.click("#models input[value='2']")
    assert len(explorer.texts("#comparison tbody tr")) == 3
    explorer.fill("#words-X", "John, Paul, Mike, qqqzzz")
    assert explorer.texts("#mirror-X .unknown") == ["qqqzzz"]
    assert "qqqzzz" in explorer.texts("#lost-X")[0]


@pytest.mark.large
def test_a_slow_model_shows_progress_and_never_blocks_typing(browser: Browser, spec: str) -> None:
    engine = Engine([spec])
    kept: Any = engine.models[0].kept
    kept.costly = True
    whole = kept.inner.observe

    def slowly(*given: Any) -> Any:
        time.sleep(0.15)
        return whole(*given)

    with serving(engine) as server:
        explorer = Explorer(browser, server.address)  # type: ignore[attr-defined]
        explorer.open()
        kept.inner.observe = slowly
        before = explorer.sequence
        field = explorer.browser.find("#words-X")
        explorer.browser.run("(arguments[0].value = '', arguments[0].focus())", field)
        many = " ".join(f"word{n}" for n in range(200))
        explorer.browser.run(
            "(arguments[0].value = arguments[1], arguments[0].dispatchEvent(new Event('input', {bubbles: true})))",
            field,
            many,
        )
        browser.wait("!document.getElementById('progress').hidden")
        assert browser.run("document.getElementById('progress').max") == 200
        encoded = kept.done
        explorer.browser.run(
            "(arguments[0].value = arguments[1], arguments[0].dispatchEvent(new Event('input', {bubbles: true})))",
            field,
            "John Paul Mike Bill",
        )
        assert explorer.words("X") == "John Paul Mike Bill"
        explorer.answered(before)
        # The 200 words, which would have taken two seconds more, were given up.
        assert len(kept.missing([f"word{n}" for n in range(200)])) > 50 >= encoded // 4
        assert browser.run("document.getElementById('progress').hidden")


@pytest.mark.large
@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (375, True)])
def test_axe_finds_no_serious_violation(explorer: Explorer, axe: str, width: int, dark: bool) -> None:
    explorer.open(width=width, dark=dark)
    explorer.fill("#words-X", "John, Paul, Mike, Bill")
    explorer.click(".change button")
    assert explorer.browser.serious_violations(axe) == []


@pytest.mark.parametrize("width", [375, 1440])
def test_no_width_scrolls_sideways_and_nothing_is_fetched_from_elsewhere(
    explorer: Explorer, width: int
) -> None:
    explorer.open(width=width)
    assert explorer.browser.run("document.documentElement.scrollWidth") <= width
    elsewhere = [
        url
        for url in explorer.browser.requests()
        if not url.startswith((explorer.address.split("/api")[0], "data:", "about:"))
    ]
    assert elsewhere == []


@pytest.mark.large
def test_every_control_is_reached_by_tab_and_has_a_name(explorer: Explorer) -> None:
    names = (
        "[...document.querySelectorAll('button, select, input, textarea, [tabindex=\"0\"]')]"
        ".filter(e => !e.hidden && e.offsetParent !== null)"
        ".filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length))"
        ".map(e => e.outerHTML)"
    )
    assert explorer.browser.run(names) == []
    explorer.browser.run("document.getElementById('words-X').focus()")
    seen = []
    for _ in range(60):
        explorer.browser.press(TAB)
        seen.append(
            explorer.browser.run("document.activeElement.id || document.activeElement.dataset.word || ''")
        )
    assert {"words-Y", "words-A", "words-B", "Sarah", "place", "multiverse", "query", "passage"} <= set(seen)
    explorer.browser.wait("document.getElementById('spoken').textContent !== ''")


@pytest.mark.large
def test_minilm_and_a_file_of_400_000_words_beside_each_other(
    browser: Browser, minilm_folder: Path, tmp_path: Path
) -> None:
    from benchmarks.explore import write_vectors

    path = tmp_path / "large.bin"
    write_vectors(path, 400_000, 300)
    engine = Engine([f"mini=st:{minilm_folder}", f"vectors:{path}"])
    engine.prepare()
    with serving(engine) as server:
        explorer = Explorer(browser, server.address)  # type: ignore[attr-defined]
        explorer.open()
        explorer.fill("#words-X", "John, Paul, Mike, Bill, zzzqqq")
        found = engine.answer(
            {
                **start_state("weat6"),
                "sets": sets_with(X=["John", "Paul", "Mike", "Bill", "zzzqqq"]),
                "models": [0, 1],
            }
        )["answers"]
        assert [shown_d(explorer, n) for n in range(2)] == [effect(one["value"]) for one in found]
        assert found[1]["unknown"] == {"X": ["zzzqqq"]}
        explorer.browser.find("#place").send_keys("word39999")
        explorer.browser.press(ENTER)
        explorer.browser.wait("document.querySelectorAll('tr[data-placed=word39999]').length === 2")
        explorer.browser.run("document.querySelectorAll('tr[data-placed] .acts button')[2].click()")
        explorer.browser.wait("document.getElementById('near').textContent.includes('400 000')")

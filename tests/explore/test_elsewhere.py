"""The same page without a server: in a frame of a notebook, and as a file with precomputed states."""

from __future__ import annotations

import base64
import errno
import gzip
import json
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.explore.conftest import Explorer
from tests.report.browser import Browser

import weatherglass as wg
from weatherglass.cli import app
from weatherglass.errors import MissingExtraError, OutputError, WeatherglassError
from weatherglass.explore import of_run
from weatherglass.explore.answers import answers
from weatherglass.explore.engine import Engine
from weatherglass.explore.export import export, exported_tests
from weatherglass.explore.page import page
from weatherglass.explore.server import Server
from weatherglass.explore.state import start_state
from weatherglass.explore.widget import answer_of
from weatherglass.report.numbers import effect


def states_of(html: str) -> dict[str, Any]:
    """The states that a page carries."""
    found = re.search(r'id="stored">([^<]*)<', html)
    assert found is not None
    states: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return states


@pytest.fixture(scope="module")
def engine(spec: str) -> Engine:
    return Engine([spec])


@pytest.fixture(scope="module")
def exported(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "explored.html"
    export(engine, path, ["weat6", "weat7"])
    return path


def test_an_export_has_the_numbers_of_a_run_and_those_without_each_word(exported: Path, spec: str) -> None:
    states = states_of(exported.read_text(encoding="utf-8"))
    assert list(states) == ["weat6", "weat7"]
    run = wg.run(spec, ["weat6"]).results[0]
    whole = states["weat6"]["whole"][0]
    assert (whole["value"], whole["p_value"]) == (run.value, run.p_value)
    assert len(states["weat6"]["without"]) == 32
    for role, word, d, _ in whole["left_out"]:
        without = states["weat6"]["without"][json.dumps([role, word], separators=(",", ":"))][0]
        assert without["value"] == pytest.approx(d, abs=1e-12)


@pytest.mark.large
def test_an_exported_page_works_from_the_disk(browser: Browser, exported: Path, engine: Engine) -> None:
    explorer = Explorer(browser, exported.resolve().as_uri())
    explorer.open()
    assert explorer.browser.run("document.getElementById('words-X').readOnly")
    word = engine.answer(start_state("weat6"))["answers"][0]["decisive"]
    explorer.click(".change button")
    d = explorer.texts("#answers .facts dd")[0]
    assert d.startswith(effect(word[2]))
    explorer.choose("#test", "weat7")
    expected = engine.answer(start_state("weat7"))["answers"][0]["value"]
    assert explorer.texts("#answers .facts dd")[0].startswith(effect(expected))
    asked = [url for url in browser.requests() if not url.startswith(("file:", "data:", "about:"))]
    assert (asked, browser.console()) == ([], [])
    assert "weatherglass explore" in explorer.texts(".notice")[-1]


def test_the_catalogue_has_tests_to_export() -> None:
    assert {"weat1", "weat6", "weat10"} <= set(exported_tests())


def test_a_message_of_a_notebook_gets_the_answer_of_the_server(engine: Engine) -> None:
    asked = answers(engine)
    found = answer_of(asked, {"weatherglass": 1, "name": "state", "content": start_state("weat6")})
    assert found["answers"][0]["value"] == engine.answer(start_state("weat6"))["answers"][0]["value"]
    for wrong in (
        {},
        {"name": "state"},
        {"name": "__class__", "content": {}},
        {"name": ["state"], "content": {}},
    ):
        assert set(answer_of(asked, wrong)) == {"error"}
    assert set(answer_of(asked, {"name": "state", "content": {"sets": 7}})) == {"error"}


@pytest.mark.large
def test_the_widget_shows_the_page_in_a_frame_that_asks_the_kernel(
    browser: Browser, engine: Engine, tmp_path: Path
) -> None:
    """A model of a notebook is its `get`, `send`, `on` and `off`; this one hands messages to the test."""
    script = files("weatherglass.explore").joinpath("templates", "widget.js").read_text(encoding="utf-8")
    content = page(engine, {**start_state("weat6"), "test": "weat6"}, "widget")
    host = tmp_path / "notebook.html"
    quoted = json.dumps(content).replace("</", "<\\/")
    host.write_text(
        f"<!doctype html><div id=cell></div><script>const page = {quoted};</script><script type=module>"
        f"{script.replace('export default', 'const widget =')}\n"
        "window.sent = []; window.told = [];"
        "const model = { get: () => page, send: (m) => window.sent.push(m), off() {},"
        " on: (_, f) => window.told.push(f) };"
        "window.end = widget.render({ model, el: document.getElementById('cell') });</script>",
        encoding="utf-8",
    )
    browser.open(host)
    asked = answers(engine)

    def reply() -> int:
        messages = browser.run("window.sent.splice(0)")
        for message in messages:
            answer = {"weatherglass": message["weatherglass"], "answer": answer_of(asked, message)}
            browser.run("window.told.forEach((f) => f(arguments[0]))", answer)
        return len(messages)

    browser.wait("window.sent.length > 0")
    reply()
    frame = browser.find("iframe")
    assert "allow-same-origin" not in frame.get_attribute("sandbox")
    browser.driver.switch_to.frame(frame)
    browser.wait("document.querySelector('#answers .facts dd') !== null")
    whole = engine.answer(start_state("weat6"))["answers"][0]
    assert browser.run("document.querySelector('.facts dd').textContent").startswith(effect(whole["value"]))
    browser.run("document.querySelector('.change button').click()")
    browser.driver.switch_to.default_content()
    for _ in range(2):  # the words without one, and nothing else
        browser.wait("window.sent.length > 0")
        reply()
        if browser.run("window.sent.length") == 0:
            break
    browser.driver.switch_to.frame(frame)
    d = effect(whole["decisive"][2])
    browser.wait(f"document.querySelector('.facts dd').textContent.startsWith('{d}')")
    browser.driver.switch_to.default_content()
    assert [line for line in browser.console() if "replaceState" not in line] == []


def test_run_explore_needs_anywidget_or_returns_a_widget() -> None:
    run = wg.run("wordllama", ["weat6"])
    try:
        import anywidget  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtraError):
            run.explore()
    else:
        assert "weatherglass" in run.explore().page


def test_the_models_of_a_run_have_their_names_and_specs(tmp_path: Path) -> None:
    run = wg.run(["mine=wordllama?dim=64", "wordllama"], ["weat7"], folder=tmp_path / "run")
    assert of_run.specs_of(run.record) == ["mine=wordllama?dim=64", "wordllama"]
    assert of_run.specs_of(run.record, ["mine=wordllama?dim=128"]) == ["mine=wordllama?dim=128", "wordllama"]
    assert of_run.test_of(run.record) == "weat7"
    path = tmp_path / "page.html"
    called = CliRunner().invoke(app, ["explore", str(tmp_path / "run"), "--export", str(path), "-t", "weat7"])
    assert called.exit_code == 0, called.output
    whole = states_of(path.read_text(encoding="utf-8"))["weat7"]["whole"]
    assert [one["value"] for one in whole] == [result.value for result in run.results]


@pytest.mark.parametrize("record", ["journal.jsonl", "multiverse.json", "ranking.json", "study.html"])
def test_a_folder_of_another_kind_is_named_in_one_line(tmp_path: Path, record: str) -> None:
    (tmp_path / record).write_text("{}")
    (tmp_path / "results.tsv").write_text("")
    refused = CliRunner().invoke(app, ["explore", "--no-browser", str(tmp_path)]).exception
    assert isinstance(refused, OutputError)
    assert (refused.exit_code, str(refused).count("\n")) == (2, 0)
    assert str(tmp_path) in str(refused)
    assert "run.json" in str(refused)


@pytest.mark.parametrize(
    "arguments",
    [
        ["wordlama"],
        ["no/such/folder"],
        ["-t", "weta6"],
        ["-t", "weat6", "--export", "no/such/folder/page.html"],
        ["-t", "weat6", "--export", "."],
    ],
)
def test_a_wrong_argument_is_one_line(arguments: list[str]) -> None:
    refused = CliRunner().invoke(app, ["explore", "--no-browser", *arguments]).exception
    assert isinstance(refused, WeatherglassError)
    assert (refused.exit_code, str(refused).count("\n")) == (2, 0)
    assert arguments[-1] in str(refused)


def test_a_missing_package_and_a_machine_without_a_free_port_are_one_line(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uvicorn")
    with monkeypatch.context() as changed:
        changed.setitem(sys.modules, "uvicorn", None)
        with pytest.raises(MissingExtraError, match=r"weatherglass\[explore\]"):
            Server(engine, "")

    def refused(*_: object) -> None:
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr("weatherglass.explore.server.socket.socket.bind", refused)
    with pytest.raises(OutputError, match=r"127\.0\.0\.1"):
        Server(engine, "")

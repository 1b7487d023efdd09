"""Do five tasks in the page of `weatherglass explore`, print what the page answers, and capture it.

python docs/images/explore.py [FOLDER]
"""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from tests.report.browser import Browser, chromium

MODELS = ("wordllama", "small=wordllama?dim=64")
ENTER = "\ue007"
QUALITY = 55
"""The quality of the pictures, which keeps each below 60 kB."""


class Page:
    """The page in a browser, with waits for its answers."""

    def __init__(self, browser: Browser, address: str, folder: Path) -> None:
        self.browser, self.address, self.folder = browser, address, folder

    def open(self, address: str = "") -> None:
        """Load the page afresh with the first model, or an address, and wait for its numbers."""
        self.browser.driver.get("about:blank")
        self.browser.resize(1000, 900)
        self.browser.driver.get(address or self.address)
        self.browser.wait("document.querySelector('#answers[data-final=true] .facts') !== null")
        if not address:
            self.click("#models input[value='1']")  # the page starts with all models

    def after(self, act: Callable[[], object]) -> None:
        """Act, and wait for the next answer."""
        before = self.browser.run("document.getElementById('answers').dataset.sequence")
        act()
        self.browser.wait(
            f"Number(document.getElementById('answers').dataset.sequence) > {before} "
            "&& document.querySelector('#answers[data-final=true]:not(.waiting)') !== null"
        )

    def click(self, selector: str) -> None:
        """Click a button that changes the state."""
        self.after(lambda: self.browser.run("arguments[0].click()", self.browser.find(selector)))

    def type_into(self, selector: str, text: str) -> None:
        """Replace what is in a field."""
        field = self.browser.find(selector)
        self.browser.run("(arguments[0].value = '', arguments[0].focus())", field)
        self.after(lambda: field.send_keys(text))

    def text(self, selector: str) -> str:
        """Return the visible text of an element on one line."""
        return " ".join(str(self.browser.find(selector).text).split())

    def capture(self, name: str, top: str, height: int) -> None:
        """Write a picture of the page from an element down."""
        at = self.browser.run(f"document.querySelector({top!r}).getBoundingClientRect().top + scrollY")
        clip = {"x": 0, "y": max(0, at - 12), "width": 1000, "height": height, "scale": 1}
        given = {"clip": clip, "format": "webp", "quality": QUALITY, "captureBeyondViewport": True}
        picture = self.browser.driver.execute_cdp_cmd("Page.captureScreenshot", given)
        (self.folder / f"explore-{name}.webp").write_bytes(base64.b64decode(picture["data"]))


def nurse_leans_female(page: Page) -> Iterator[str]:
    """Find whether 'nurse' leans female: A and B are women and men, and the word is placed between them."""
    page.open()
    page.type_into("#name-A", "women")
    page.type_into("#words-A", "woman girl sister daughter mother aunt grandmother female")
    page.type_into("#name-B", "men")
    page.type_into("#words-B", "man boy brother son father uncle grandfather male")
    page.browser.find("#place").send_keys("nurse")
    page.after(lambda: page.browser.press(ENTER))
    page.capture("nurse", "#single", 330)
    yield page.text("tr[data-placed=nurse]")


def word_that_carries_weat6(page: Page) -> Iterator[str]:
    """Find the word that carries weat6, and leave it out."""
    page.open()
    yield page.text("#answers .change")
    page.click("#answers .change button")
    page.capture("carrier", "#answer", 720)
    yield page.text("#answers .change")


def two_models(page: Page) -> Iterator[str]:
    """Compare two models on the same words."""
    page.open()
    page.click("#models input[value='1']")
    page.capture("models", "#compared", 760)
    yield from (
        " ".join(row.text.split())
        for row in page.browser.driver.find_elements("css selector", "#comparison tbody tr")
    )


def own_test(page: Page) -> Iterator[str]:
    """Make a test of your own and save it as a file."""
    page.open()
    words = {
        "X": "sun warmth light summer beach",
        "Y": "rain fog gloom winter storm",
        "A": "joy love peace pleasure happy",
        "B": "agony awful hatred evil war",
    }
    for role, name in zip(words, ("fine weather", "bad weather", "pleasant", "unpleasant"), strict=True):
        page.type_into(f"#name-{role}", name)
        page.type_into(f"#words-{role}", words[role])
    with tempfile.TemporaryDirectory() as folder:
        allowed = {"behavior": "allow", "downloadPath": folder}
        page.browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        page.browser.run("document.querySelector('[data-get=file]').click()")
        path = Path(folder, "my-test.toml")
        page.browser.wait("document.readyState === 'complete'")
        while not path.exists():
            page.browser.run("new Promise((done) => { setTimeout(done, 50); })")
        page.capture("own", "#words", 640)
        yield page.text("#answers .says")
        yield f"{path.name}: {path.stat().st_size} bytes"


def shared_link(page: Page) -> Iterator[str]:
    """Share a link: another window that opens it shows the same words and numbers."""
    page.open()
    page.type_into("#words-X", "John Paul Mike Bill")
    link, numbers = page.browser.run("location.href"), page.text("#answers .facts")
    page.browser.driver.switch_to.new_window("tab")
    page.open(link)
    same = page.text("#answers .facts") == numbers
    page.capture("link", "#words", 560)
    yield f"{len(quote(link))} characters; the same numbers: {same}"


TASKS = (nurse_leans_female, word_that_carries_weat6, two_models, own_test, shared_link)


@contextmanager
def served() -> Iterator[str]:
    """Serve the page by its command, and end it as a user does."""
    command = [sys.executable, "-m", "weatherglass", "explore", "--no-browser", *MODELS]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        yield next(line.split()[-1] for line in process.stdout if "http://" in line)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def main(folder: Path) -> None:
    """Do every task, and print what the page answers."""
    with served() as address, tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as browser:
        page = Page(browser, address, folder)
        for task in TASKS:
            sys.stdout.write(f"{(task.__doc__ or '').splitlines()[0]}\n")
            for line in task(page):
                sys.stdout.write(f"  {line}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

"""A page in a real browser: Debian's chromium, without a screen, driven through chromedriver."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--force-prefers-reduced-motion"),
)


class Browser:
    """What the tests do with a page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, fragment: str = "", width: int = 1280, dark: bool = False) -> None:
        """Load a file afresh, at a width and in a colour scheme."""
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.resize(width)
        self.emulate("dark" if dark else "light")
        self.driver.get(path.resolve().as_uri() + fragment)
        # The driver may take the load of about:blank for that of the page.
        self.wait("location.protocol === 'file:' && document.readyState === 'complete'")

    def resize(self, width: int, height: int = 900, scale: float = 1) -> None:
        """The window in CSS pixels; a zoom of 200 % is half the width at a scale of 2."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def emulate(self, scheme: str, media: str = "screen") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a JavaScript expression."""
        return self.driver.execute_script(f"return {script}", *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def choose(self, name: str, value: str) -> None:
        """Pick an option of a filter."""
        from selenium.webdriver.support.select import Select

        Select(self.find(f"#filters [name={name}]")).select_by_value(value)

    def wait(self, script: str) -> None:
        """Until an expression is true; a machine that others use may need a minute."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60).until(lambda _: self.run(script))

    def bring_into_sight(self, element: Any) -> None:
        """Scroll at once to the middle of an element, and wait until the page has been told that it was scrolled.

        Browsers tell of it with the next frame; a tooltip shown before would be hidden by that.
        """
        self.run("document.documentElement.style.scrollBehavior = 'auto'")
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        frames = "const told = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => told()))"
        self.driver.execute_async_script(frames)

    def show_all(self) -> None:
        """Scroll to what is drawn when it comes into sight, and wait until it is."""
        for place in ("metrics-table", "comparison-table"):
            if self.run(f"document.getElementById('{place}') !== null"):
                self.run(f"document.getElementById('{place}').scrollIntoView()")
                self.wait(f"document.getElementById('{place}').children.length > 0")

    def wait_for_detail(self) -> None:
        self.wait("document.querySelector('#detail[open] h2') !== null")

    def requests(self) -> list[str]:
        """Every address that was asked for since the page was opened."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def console(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def visible_tests(self) -> list[str]:
        """The ids of the tests that the table shows, from the top."""
        rows = "[...document.querySelectorAll('#tests-table tbody tr[data-t]')].filter(r => !r.hidden)"
        return list(self.run(f"{rows}.map(r => r.querySelector('th code').textContent)"))

    def serious_violations(self, axe: str) -> list[tuple[str, str]]:
        """What axe calls serious or critical: the rule and the first element that breaks it."""
        self.driver.execute_script(axe)
        audit = self.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
        assert len(audit["passes"]) > 10
        return [
            (violation["id"], violation["nodes"][0]["html"][:200])
            for violation in audit["violations"]
            if violation["impact"] in ("serious", "critical")
        ]


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile; the test is skipped where there is none."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    options = selenium.ChromeOptions()
    options.binary_location = binary
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    try:
        yield Browser(started)
    finally:
        started.quit()

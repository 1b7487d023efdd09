"""Capture the pictures of docs/images from the page of a run and the page of a study.

python docs/images/write.py RUN/report.html [STUDY/study.html]
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

from tests.report.browser import Browser, chromium

HERE = Path(__file__).parent


def capture(browser: Browser, name: str, width: int, height: int) -> None:
    """Write what a window of this size shows."""
    browser.resize(width, height)
    browser.run("document.fonts.ready.then(() => true)")
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    picture = browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip})
    (HERE / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))


def main(run: Path, study: Path | None) -> None:
    """Open the pages in a browser and capture them."""
    with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as browser:
        browser.open(run)
        capture(browser, "report-desktop", 1280, 1400)
        browser.open(run, width=375)
        capture(browser, "report-phone", 375, 1400)
        browser.open(run, "#r12", dark=True)
        browser.wait_for_detail()
        capture(browser, "report-dark", 1280, 1400)
        browser.open(run, width=718)
        browser.emulate("light", "print")
        capture(browser, "report-print", 718, 1016)
        if study is not None:
            browser.open(study)
            capture(browser, "study-desktop", 1280, 1100)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)

"""The explorer in a real JupyterLab: a notebook shows `run.explore()`, and the numbers move while a word is typed.

Run with `make notebook-proof`; JupyterLab is in an environment of its own and not in CI.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.report.browser import Browser, chromium

CELL = "import weatherglass as wg\nwg.run('wordllama', ['weat6']).explore()"
SHOWN = "document.querySelector('#answers[data-final=true] .facts dd')"


@contextmanager
def jupyter(folder: Path) -> Iterator[str]:
    """The address of a notebook with one cell, while JupyterLab serves it."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": CELL,
        "outputs": [],
        "execution_count": None,
    }
    notebook = {"cells": [cell], "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}}}
    (folder / "explore.ipynb").write_text(json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"ServerApp.token": "t", "ServerApp.root_dir": folder, "LabApp.expose_app_in_browser": True}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [f"--{name}={value}" for name, value in options.items()]
    own = {
        name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    with subprocess.Popen(command, env={**os.environ, **own}, stderr=subprocess.DEVNULL) as process:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/lab/tree/explore.ipynb?token=t"
        process.terminate()


def wait(browser: Browser, script: str) -> None:
    """Wait for minutes, since a kernel and the first run are slow to start."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser.driver, 300).until(lambda _: browser.run(script))


def main() -> None:
    """Run the cell, type a word, and compare what the frame shows before and after with Python's numbers."""
    import weatherglass as wg
    from weatherglass.explore.state import ROLES, start_state
    from weatherglass.report.numbers import effect

    words: dict[str, Any] = {role: list(start_state("weat6")["sets"][role]["words"]) for role in ROLES}
    before = wg.run("wordllama", ["weat6"]).results[0].effect_size
    words["X"].append("nurse")
    after = wg.run("wordllama", [wg.test(**words)]).results[0].effect_size
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        jupyter(Path(folder)) as address,
        chromium(Path(folder, "profile")) as browser,
    ):
        browser.driver.get(address)
        wait(browser, "document.querySelector('.jp-Notebook .cm-content') !== null")
        wait(browser, "/idle/i.test(document.querySelector('.jp-NotebookPanel-toolbar')?.outerHTML || '')")
        browser.driver.execute_script("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        wait(browser, "document.querySelector('.jp-OutputArea iframe') !== null")
        browser.driver.switch_to.frame(browser.find(".jp-OutputArea iframe"))
        for typed, d in (("", before), (", nurse", after)):
            browser.find("#words-X").send_keys(typed)
            wait(browser, f"{SHOWN}?.textContent.startsWith({json.dumps(effect(d))})")
            print(f"ok  typed {typed!r}: d {effect(d)}")
        errors = browser.console()
    if errors:
        sys.exit("\n".join(["BAD the console has messages:", *errors]))
    print("ok  nothing in the console")


if __name__ == "__main__":
    main()

"""Every page is made from the kit: one policy, marks that exist, the width of a phone, downloads that are right."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.models import HashedEncoder
from tests.report.browser import Browser

import weatherglass as wg
from weatherglass.calibration.calibrate import CONTROL, PLANTED, Calibration, MetricResponse
from weatherglass.calibration.response import fit_response
from weatherglass.report.calibration import page as calibration_page
from weatherglass.report.mitigation import page as mitigation_page
from weatherglass.report.multiverse import page as multiverse_page
from weatherglass.report.ranking.page import page as ranking_page
from weatherglass.reproduce.sheets import PaperTable
from weatherglass.reproduce.sheets import page as reproduction_page

if TYPE_CHECKING:
    from weatherglass.api.studies import StudyResult
    from weatherglass.multiverses.multiverse import Multiverse

KINDS = ("run", "study", "multiverse", "mitigation", "reproduction", "ranking", "calibration")
HOSTILE = "<script>window.hacked = 1</script>"


@pytest.fixture(scope="module")
def pages(
    one_model: Path, undisturbed: tuple[Path, StudyResult], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """One page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "multiverse": multiverse_page(_multiverse()),
        "mitigation": mitigation_page(_judgement()),
        "ranking": ranking_page(_ranking()),
        "calibration": calibration_page(_calibration()),
        "reproduction": reproduction_page(
            "A paper", [PaperTable("cells", HOSTILE, [["row", "d"], ["a", "1"]])], [], []
        ),
    }
    for name, html in made.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {
        "run": one_model,
        "study": undisturbed[0] / "study.html",
        **{name: folder / f"{name}.html" for name in made},
    }


def _multiverse() -> Multiverse:
    """A multiverse of two models, one of them with a hostile name."""
    return wg.multiverse([HashedEncoder(name=HOSTILE), HashedEncoder(width=9, name="nine")], ["weat6"])


def _ranking() -> wg.Ranking:
    """A ranking audit with hostile names of topic, groups and model, and a model that fails."""
    groups = {HOSTILE: ["Ann", "Eve", "Amy"], "Y": ["Ben", "Tom", f"Max {HOSTILE}"]}
    texts = {HOSTILE: ["first", "second"], "b": ["third"]}
    passages = {topic: ["{name} here", "there {name}"] for topic in texts}
    broken = HashedEncoder(name="broken", unknown=["first"])
    return wg.rank([HashedEncoder(name=HOSTILE), HashedEncoder(width=9), broken], texts, passages, groups)


def _calibration() -> Calibration:
    """A calibration with hostile names, a metric that follows, a blind one and a control."""
    doses = (0.0, 0.5, 1.0)
    rising, flat = (
        np.array([[-1.0, -0.9], [0.0, 0.1], [1.0, 0.8]]),
        np.array([[0.0, 0.1], [0.1, 0.0], [0.05, 0.02]]),
    )
    rows = [
        MetricResponse(
            corpus=HOSTILE, algorithm=HOSTILE, test=HOSTILE, kind=kind, metric=metric, sets="X Y A B", signed=True,
            unbiased=0.0, contrasts=True, response=fit_response(doses, values), p_adjusted=0.01, outcome=outcome,
        )
        for kind, metric, values, outcome in (
            (PLANTED, HOSTILE, rising, "follows"), (PLANTED, "mac", flat, "blind"), (CONTROL, HOSTILE, flat, "flat"),
        )
    ]  # fmt: skip
    stereotype = {"groups": [[HOSTILE], ["she"]], "attributes": [["work"], ["home"]], "pairs": []}
    facts = {HOSTILE: {"sentences": 900, "agreeing": 500, "hash": ""}}
    record = {"alpha": 0.05, "seeds": [1, 2], "stereotype": stereotype, "corpora": facts}
    return Calibration(tuple(rows), (), record, (HOSTILE,))


def _judgement() -> dict[str, Any]:
    """A judgement with a row of each kind; its names are hostile."""
    estimate = {"value": 0.6, "low": 0.5, "high": 0.7}
    row = {
        **{"test": HOSTILE, "metric": "cosine/mean", "poolable": True, "contrast": True, "optimised": False},
        **{"turned": False, "before": 1.2, "after": 0.4, "value_before": 1.2, "value_after": 0.4},
        **{
            "low": -1.0,
            "high": -0.6,
            "p_before": 0.01,
            "p_before_holm": 0.02,
            "p_after": 0.2,
            "p_after_holm": 0.4,
        },
    }
    recovered = {
        "name": HOSTILE,
        "n": 9,
        "before": estimate,
        "after": estimate,
        "random": None,
        "chance": 0.5,
    }
    return {
        **{"verdict": "removed", "transforms": [HOSTILE], "model": HOSTILE, "rank": 1, "width": 8},
        **{"reasons": [HOSTILE], "held_out": [row, {**row, "test": "=SUM(A1)"}], "tests": [row], "notes": []},
        **{"without_held_out": [], "held_out_words": {}, "recovered": [{**recovered, "retained": None}]},
        **{"cost": [{"name": "analogies", "n": 3, "before": estimate, "after": estimate, "change": None}]},
        **{"rule": HOSTILE, "weatherglass": "0", "finished": "today"},
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_runs_its_own_script_only_and_fits_a_phone(
    browser: Browser, pages: dict[str, Path], kind: str
) -> None:
    text = pages[kind].read_text(encoding="utf-8")
    assert re.search(
        r"http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; [^\"]*'sha256-", text
    )
    browser.open(pages[kind], width=375, dark=True)
    assert browser.run("document.documentElement.scrollWidth") == 375
    assert browser.run("document.getElementById('theme').textContent") == "Light"
    assert browser.run("window.hacked === undefined")
    assert browser.console() == []


def test_every_mark_that_is_drawn_exists(browser: Browser, pages: dict[str, Path]) -> None:
    used = "[...document.querySelectorAll('use')].map(one => one.getAttribute('href'))"
    for kind in ("run", "study", "ranking"):
        browser.open(pages[kind], width=1280)
        assert browser.run("document.querySelectorAll('use').length") > 15
        assert browser.run(f"{used}.filter(name => !document.querySelector(name))") == []


def test_tables_and_drawings_are_saved_as_they_are_shown(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["mitigation"], width=1280)
    browser.run("[...document.querySelectorAll('details')].forEach(d => { d.open = true; })")
    browser.run(
        "(window.saved = [], URL.createObjectURL = blob => { window.saved.push(blob); return '#'; },"
        "[...document.querySelectorAll('#held-out [data-save]')].forEach(b => b.click()))"
    )
    browser.wait("window.saved.length === 3")
    types = {"image/png": 0, "text/plain;charset=utf-8": 0}
    for place in range(3):
        types[browser.run(f"window.saved[{place}].type")] += 1
    assert types == {"image/png": 1, "text/plain;charset=utf-8": 2}
    texts = [browser.run(f"window.saved[{place}].text()") for place in range(3)]
    (drawing,) = [text for text in texts if text.startswith("<svg")]
    assert "var(" not in drawing
    ElementTree.fromstring(drawing)
    (table,) = [text for text in texts if text.startswith("Test,")]
    rows = list(csv.reader(io.StringIO(table)))
    assert [row[0] for row in rows[1:]] == [HOSTILE, "'=SUM(A1)"]
    assert [row[2:4] for row in rows[1:]] == [["1.20", "0.40"]] * 2


def test_the_places_of_one_text_follow_the_names_that_a_reader_chooses(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["ranking"], width=1280)
    browser.wait("!document.querySelector('.live').hidden")
    stored = _ranking()
    model = stored.examples[0].model
    first, *_ = (one for one in stored.examples if one.model == model)
    rows = "[...document.querySelectorAll('#model-0 .live .places tbody tr')]"
    cells = f"{rows}.map(r => [r.cells[0], r.cells[1]].map(c => c.textContent))"
    assert {name for _, name in browser.run(cells)} == set(first.places)
    assert all(abs(int(place) - first.places[name]) < 0.6 for place, name in browser.run(cells))
    browser.run(
        "document.querySelectorAll('#model-0 .names input').forEach((one, n) => { if (n > 1) one.click(); })"
    )
    assert {name for _, name in browser.run(cells)} == {one.name for one in stored.names[:2]}
    assert browser.run("document.querySelector('.still').hidden")
    assert browser.run("window.hacked === undefined")

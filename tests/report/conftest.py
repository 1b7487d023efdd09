"""Runs to report on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.made_up import made_up_run

from weatherglass.audit.stored import read_run
from weatherglass.catalogue import Element, ElementSet, Test, load_tests
from weatherglass.report.page import PAGE, write_page

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "\"><img src=x onerror='window.hacked = 1'>",
    "</script><!-- {{ 7 * 7 }} ${7 * 7} $x_1$ \\end{table} |a|",
    "مرحبا \u202eabc שלום",
    "long " + "wörd" * 74,
)
"""What a careless page would run, break on or let out of its place."""


@pytest.fixture(scope="session")
def one_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of one model and all published tests."""
    folder = tmp_path_factory.mktemp("one")
    made_up_run(folder, load_tests(["*"]), ["wordllama"])
    write_page(read_run(folder))
    return folder / PAGE


@pytest.fixture(scope="session")
def several_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three models, two measures and the tests of Caliskan et al."""
    folder = tmp_path_factory.mktemp("several")
    measures = ["cosine/mean", "euclidean/mean"]
    made_up_run(folder, load_tests(["weat*", "sent-weat[123]"]), ["small", "medium", "large"], measures)
    write_page(read_run(folder))
    return folder / PAGE


@pytest.fixture(scope="session")
def many_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of thirty models with names that are too long to be shown whole."""
    folder = tmp_path_factory.mktemp("many")
    made_up_run(
        folder, load_tests(["weat[123]"]), [f"hf:some-organisation/models/model-{n}" for n in range(30)]
    )
    write_page(read_run(folder))
    return folder / PAGE


def own_test(name: str, categories: tuple[str, str, str, str], words: str) -> Test:
    """A test of one's own with given names."""
    sets = [
        ElementSet(category, tuple(Element(f"{words} {n}", f"{words} {n}") for n in range(4)))
        for category in categories
    ]
    return Test(name, (sets[0], sets[1]), (sets[2], sets[3]))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose names, words, options, warnings and records are as bad as text can be."""
    folder = tmp_path_factory.mktemp("hostile")
    tests = [own_test(name, (name, HOSTILE[0], HOSTILE[1], HOSTILE[3]), words=name) for name in HOSTILE]
    record = {
        "warnings": list(HOSTILE),
        "failures": [{"model": m, "test": t, "reason": m} for m in HOSTILE for t in HOSTILE[:1]],
        "citations": list(HOSTILE),
        "command": ["weatherglass", *HOSTILE],
        "missing_words": {
            HOSTILE[0]: {
                HOSTILE[1]: {"dropped": {"X": [HOSTILE[0]]}, "missing": {HOSTILE[1]: 2}, "notes": {}}
            }
        },
    }
    made_up_run(folder, tests, HOSTILE, HOSTILE[:2], record=record)
    return folder

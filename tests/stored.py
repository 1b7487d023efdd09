"""What a worker makes once for all of its tests: a small study that was carried out, and a browser."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.downloads import from_wheel
from tests.report.browser import Browser, chromium

if TYPE_CHECKING:
    from weatherglass.api.studies import StudyResult

SHARED = ("browser", "study_file")
"""Fixtures whose files run first."""

STUDY = """
name = "tiny <b>study</b>"
seeds = 4
pairs = ["gender", "sexual_orientation"]
targets = ["occupations"]
frequent = 100
neighbours = 10

[corpora.text]
path = "text.txt"

[training]
dimensions = 10

[training.sgns]
epochs = 2

[training.glove]
iterations = 5
"""


def biased_lines(number: int = 800, seed: int = 1) -> list[str]:
    """Lines in which men stand beside half of the queries' words, and women beside the other half."""
    from weatherglass.reliability.lists import base_pairs, queries

    rng = random.Random(seed)
    pairs = base_pairs("gender").pairs[:9]
    words = [word for query in queries() for word in query.words]
    filler = [f"filler{number}" for number in range(60)]
    lines = []
    for _ in range(number):
        male = rng.random() < 0.5
        people = [pair[0 if male else 1] for pair in pairs]
        things = words[:24] if male else words[24:]
        lines.append(" ".join(rng.choice(rng.choice([people, things, filler])) for _ in range(12)))
    return lines


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus file of about 10 000 words."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(biased_lines()) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="session")
def axe() -> str:
    """The accessibility checker axe-core, out of a PyPI package that carries it."""
    return from_wheel("axe-playwright-python==0.1.8", "axe_playwright_python/axe.min.js").read_text("utf-8")


@pytest.fixture(scope="session")
def study_file(text: Path) -> Path:
    """A study of that text."""
    path = text.parent / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def undisturbed(study_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StudyResult]:
    """The same, carried out: its folder and what came of it."""
    from weatherglass.api.studies import run_study
    from weatherglass.reliability.study_file import read_study

    folder = tmp_path_factory.mktemp("study")
    return folder, run_study(read_study(study_file), folder)

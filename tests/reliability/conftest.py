"""Small texts with a built-in bias, the corpora made of them, a whole study, and the browser that shows its page."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from tests.report.conftest import axe as axe
from tests.report.conftest import browser as browser

from weatherglass.api.studies import StudyResult, run_study
from weatherglass.registry import Registry
from weatherglass.reliability.corpus.corpus import Corpus, CorpusSettings, encode_corpus
from weatherglass.reliability.lists import base_pairs, queries
from weatherglass.reliability.study_file import read_study

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


@contextmanager
def installed(registry: Registry[Any], name: str, value: str) -> Iterator[None]:
    """As if a package were installed whose entry point adds a name to the registry."""
    assert registry.group is not None
    point = EntryPoint(name, value, registry.group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "importlib.metadata.entry_points", lambda group: [point] if group == point.group else []
        )
        vars(registry).pop("_locations", None)  # It reads the entry points once.
        yield
        vars(registry).pop("_locations")


def biased_lines(number: int = 800, seed: int = 1) -> list[str]:
    """Lines in which men stand beside half of the queries' words, and women beside the other half."""
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
def corpus(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The same, encoded."""
    return encode_corpus("text", text, tmp_path_factory.mktemp("corpora"), CorpusSettings())


@pytest.fixture
def corpus_of(tmp_path: Path) -> Callable[..., Corpus]:
    """Encode some lines."""

    def make(lines: list[str], settings: CorpusSettings | None = None) -> Corpus:
        source = tmp_path / "lines.txt"
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return encode_corpus("lines", source, tmp_path / "corpora", settings or CorpusSettings(min_count=1))

    return make


@pytest.fixture(scope="session")
def study_file(text: Path) -> Path:
    """A study of that text."""
    path = text.parent / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def undisturbed(study_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StudyResult]:
    """The same, carried out: its folder and what came of it."""
    folder = tmp_path_factory.mktemp("study")
    return folder, run_study(read_study(study_file), folder)

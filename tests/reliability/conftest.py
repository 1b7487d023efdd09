"""Small texts with a built-in bias, and the corpora made of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from weatherglass.reliability.corpus import Corpus, CorpusSettings, encode_corpus
from weatherglass.reliability.lists import base_pairs, queries


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

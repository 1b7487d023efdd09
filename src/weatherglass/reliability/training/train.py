"""Train embeddings: sgns and cbow with gensim, sgns-window and glove with our own code; one thread and seed each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from weatherglass.errors import MissingExtraError, has_no_room
from weatherglass.parallel import Backend
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.corpus.corpus import Corpus, open_corpus
from weatherglass.reliability.training.embedding import (
    SUFFIX,
    Embedding,
    Vectors,
    save_embedding,
    set_damaged_aside,
)
from weatherglass.reliability.training.glove import GloveSettings, train_glove
from weatherglass.reliability.training.skip_gram import VERSION, train_skip_gram
from weatherglass.storage.installed import install_command

Algorithm = Literal["sgns", "cbow", "glove", "sgns-window"]
ALGORITHMS: tuple[Algorithm, ...] = ("sgns", "cbow", "glove", "sgns-window")
BATCH = 10_000
"""Tokens in a batch of gensim; it drops the rest of a longer line, so longer lines are split."""
VERSIONS: Mapping[Algorithm, int] = {"sgns-window": VERSION}
"""Of our own code, where another version gives other vectors from the same seed."""
ROOM_FOR_THREADS = 2**26
"""Bytes that must be free before gensim starts its threads: where memory ends while one starts, Python waits for it for
ever (a stack alone takes 8 MB)."""
LINES = 2_000
"""Lines read from the memory-mapped array at a time."""


@dataclass(frozen=True)
class WordToVecSettings:
    """Defaults of Du et al. 2021; sgns and sgns-window are skip-gram, cbow is what their released script trains."""

    dimensions: int = 300
    window: int = 5
    epochs: int = 5
    negatives: int = 5
    sample: float = 1e-3
    alpha: float = 0.025


Settings = WordToVecSettings | GloveSettings


def default_settings(algorithm: Algorithm) -> Settings:
    """The settings of Du et al. (2021)."""
    return GloveSettings() if algorithm == "glove" else WordToVecSettings()


@dataclass(frozen=True)
class TrainingUnit:
    """One embedding to train, and the file to write it to."""

    corpus: Path
    """The folder of the encoded corpus."""
    algorithm: Algorithm
    settings: Settings
    seed: int
    target: Path


def embedding_path(folder: Path, corpus: Corpus, algorithm: Algorithm, settings: Settings, seed: int) -> Path:
    """The file of an embedding; its name contains a hash of the corpus, all settings and the version of the code."""
    version = [VERSIONS[algorithm]] if algorithm in VERSIONS else []
    recipe = json.dumps([corpus.hash, algorithm, asdict(settings), *version], sort_keys=True)
    key = hashlib.sha256(recipe.encode()).hexdigest()[:8]
    name = algorithm.replace("-", "_")  # so that the pattern forum-sgns-* is of one algorithm
    return folder / f"{corpus.name}-{name}-{key}-seed{seed:03d}{SUFFIX}"


def train_all(units: Sequence[TrainingUnit], backend: Backend, progress: Progress | None = None) -> list[str]:
    """Train the embeddings whose file is missing or damaged; each is written as soon as it is finished.

    Returns:
        One error message for each embedding that could not be trained.

    Raises:
        OSError: if the disk is full; the others would fail, too.
    """
    progress = progress or Silent()
    set_damaged_aside([unit.target for unit in units], "and trained again")
    missing = [unit for unit in units if not unit.target.is_file()]
    progress.stage("training", len(units))
    progress.advance(len(units) - len(missing))
    failures = []
    for outcome in backend.map(train_unit, missing):
        if has_no_room(outcome.error):
            raise outcome.error
        if outcome.error is not None:
            failures.append(f"{outcome.unit.target.name}: {outcome.error}")
        progress.advance()
    return failures


def train_unit(unit: TrainingUnit) -> None:
    """Train one embedding and store it."""
    corpus = open_corpus(unit.corpus)
    unit.target.parent.mkdir(parents=True, exist_ok=True)
    save_embedding(unit.target, train(corpus, unit.algorithm, unit.seed, unit.settings, unit.target.parent))


def train(corpus: Corpus, algorithm: Algorithm, seed: int, settings: Settings, scratch: Path) -> Embedding:
    """Train one embedding; the same seed always gives the same bytes.

    Args:
        scratch: A folder for temporary files.
    """
    if isinstance(settings, GloveSettings):
        vectors = train_glove(corpus, seed, settings, scratch)
    elif algorithm == "sgns-window":
        vectors = train_skip_gram(corpus, seed, **asdict(settings))
    else:
        vectors = _train_word2vec(corpus, seed, settings, skip_gram=algorithm == "sgns")
    return Embedding(
        corpus.words, corpus.counts, vectors, algorithm, seed, corpus.name, asdict(settings), corpus.hash
    )


def _train_word2vec(corpus: Corpus, seed: int, settings: WordToVecSettings, skip_gram: bool) -> Vectors:
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise MissingExtraError(f"training needs gensim; run: {install_command('reliability')}") from None
    model: Any = Word2Vec(
        vector_size=settings.dimensions,
        window=settings.window,
        negative=settings.negatives,
        sample=settings.sample,
        alpha=settings.alpha,
        sg=int(skip_gram),
        seed=seed,
        workers=1,  # One thread: with more, their timing changes the vectors.
        min_count=0,
        sorted_vocab=0,  # Words keep their ids.
        batch_words=BATCH,
    )
    model.build_vocab_from_freq(dict(enumerate(corpus.counts.tolist())), corpus_count=corpus.lines)
    bytearray(ROOM_FOR_THREADS)  # or a MemoryError; none of its pages is touched
    model.train(_Lines(corpus), total_words=len(corpus.tokens), epochs=settings.epochs)
    vectors: Vectors = model.wv.vectors
    return vectors


@dataclass(frozen=True)
class _Lines:
    """The lines of a corpus as lists of word ids, which gensim takes as words."""

    corpus: Corpus

    def __iter__(self) -> Iterator[list[int]]:
        corpus = self.corpus
        for first in range(0, corpus.lines, LINES):
            offsets = corpus.offsets[first : first + LINES + 1]
            ids = corpus.tokens[offsets[0] : offsets[-1]].tolist()
            ends = (offsets - offsets[0]).tolist()
            for start, end in pairwise(ends):
                for part in range(start, end, BATCH):
                    yield ids[part : min(part + BATCH, end)]

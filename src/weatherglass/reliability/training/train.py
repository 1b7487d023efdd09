"""Train embeddings, each with one seed and on one thread, and estimate the time that it takes."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from weatherglass.errors import MissingExtraError, has_no_room
from weatherglass.parallel import Backend
from weatherglass.parallel.base import Report, UnitProgress, reported_in_file
from weatherglass.progress import Progress, Silent, spoken_duration
from weatherglass.reliability.corpus import Corpus, open_corpus
from weatherglass.reliability.training.embedding import (
    SUFFIX,
    Embedding,
    Vectors,
    save_embedding,
    set_damaged_aside,
)
from weatherglass.reliability.training.glove import (
    Cooccurrence,
    GloveSettings,
    count_cooccurrence,
    fit,
    train_glove,
)
from weatherglass.reliability.training.masked import VERSION as MASKED_VERSION
from weatherglass.reliability.training.masked import (
    MaskedSettings,
    is_whole_model,
    model_folder,
    require_packages,
    save_model,
    train_masked,
    word_vectors,
)
from weatherglass.reliability.training.skip_gram import VERSION, train_skip_gram
from weatherglass.storage.checksum import set_aside
from weatherglass.storage.installed import install_command

Algorithm = Literal["sgns", "cbow", "glove", "sgns-window", "masked"]
ALGORITHMS: tuple[Algorithm, ...] = ("sgns", "cbow", "glove", "sgns-window", "masked")
BATCH = 10_000
"""The number of tokens in a gensim batch; longer lines are split, because gensim drops the tokens beyond it."""
VERSIONS: Mapping[Algorithm, int] = {"sgns-window": VERSION, "masked": MASKED_VERSION}
"""The versions of weatherglass's own algorithms; another version gives different vectors for the same seed."""
ROOM_FOR_THREADS = 2**26
"""The number of bytes that must be free before gensim starts its threads.

If memory runs out while a thread starts, Python waits for it for ever (a stack alone takes 8 MB)."""
LINES = 2_000
"""The number of lines that are read from the memory-mapped array at a time."""


@dataclass(frozen=True)
class WordToVecSettings:
    """The settings of sgns and sgns-window (skip-gram) and cbow; the defaults are those of Du et al. (2021).

    The script that they released trains cbow.
    """

    dimensions: int = 300
    window: int = 5
    epochs: int = 5
    negatives: int = 5
    sample: float = 1e-3
    alpha: float = 0.025


Settings = WordToVecSettings | GloveSettings | MaskedSettings


def default_settings(algorithm: Algorithm) -> Settings:
    """Return the settings of Du et al. (2021), or those of our masked language model."""
    if algorithm == "masked":
        return MaskedSettings()
    return GloveSettings() if algorithm == "glove" else WordToVecSettings()


def check_installed(algorithms: Iterable[Algorithm]) -> None:
    """Check before hours of work that the packages of the masked language model are installed.

    Raises:
        MissingExtraError: if they are needed and missing.
    """
    if "masked" in algorithms:
        require_packages()


@dataclass(frozen=True)
class TrainingUnit:
    """One embedding to train, and its file."""

    corpus: Path
    """The folder of the encoded corpus."""
    algorithm: Algorithm
    settings: Settings
    seed: int
    target: Path


def embedding_path(folder: Path, corpus: Corpus, algorithm: Algorithm, settings: Settings, seed: int) -> Path:
    """Return the file of an embedding; its name contains a hash of the corpus, the settings and the version."""
    version = [VERSIONS[algorithm]] if algorithm in VERSIONS else []
    recipe = json.dumps([corpus.hash, algorithm, asdict(settings), *version], sort_keys=True)
    key = hashlib.sha256(recipe.encode()).hexdigest()[:8]
    name = algorithm.replace("-", "_")  # so that the pattern forum-sgns-* matches one algorithm
    return folder / f"{corpus.name}-{name}-{key}-seed{seed:03d}{SUFFIX}"


def train_all(
    units: Sequence[TrainingUnit],
    backend: Backend,
    progress: Progress | None = None,
    stage: str = "training",
) -> list[str]:
    """Train the embeddings whose file is missing or damaged; each is written as soon as it is finished.

    Args:
        units: the embeddings.
        backend: where they are trained.
        progress: an object that is updated after each embedding, and after each pass over its data.
        stage: the name of this stage in the progress.

    Returns:
        One error message for each embedding that could not be trained.

    Raises:
        OSError: if the disk is full, because all others would fail, too.
    """
    progress = progress or Silent()
    set_damaged_aside([unit.target for unit in units], "and trained again")
    _require_models(units)
    missing = missing_units(units)
    progress.stage(stage, len(units))
    progress.advance(len(units) - len(missing))
    failures = []
    with UnitProgress(progress, [unit.target for unit in missing], backend.in_process) as shares:

        def train_here(unit: TrainingUnit) -> None:
            train_unit(unit, partial(shares.add, unit.target))

        for outcome in backend.map(train_here if backend.in_process else train_unit, missing):
            if has_no_room(outcome.error):
                raise outcome.error
            if outcome.error is not None:
                failures.append(f"{outcome.unit.target.name}: {outcome.error}")
            shares.finish(outcome.unit.target)
    return failures


def _require_models(units: Sequence[TrainingUnit]) -> None:
    """Remove the word vectors of masked language models that are missing or damaged, so that both are made again."""
    for unit in units:
        is_masked = isinstance(unit.settings, MaskedSettings) and unit.target.is_file()
        if is_masked and not is_whole_model(unit.target):
            set_aside(
                [folder for folder in (model_folder(unit.target),) if folder.is_dir()], "and trained again"
            )
            unit.target.unlink()


def train_unit(unit: TrainingUnit, report: Report | None = None) -> None:
    """Train one embedding and store it; a masked language model is stored as well, in a folder beside it.

    Args:
        unit: the embedding.
        report: a function that is called with shares of the work; if None, a file reports them to another process.
    """
    corpus = open_corpus(unit.corpus)
    unit.target.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext(report) if report else reported_in_file(unit.target) as said:
        if isinstance(unit.settings, MaskedSettings):
            model = train_masked(corpus, unit.seed, unit.settings, said)
            save_model(model, corpus, model_folder(unit.target))
            trained = _embedding_of(model, corpus, unit.seed, unit.settings)
        else:
            trained = train(corpus, unit.algorithm, unit.seed, unit.settings, unit.target.parent, said)
    save_embedding(unit.target, trained)


def train(
    corpus: Corpus,
    algorithm: Algorithm,
    seed: int,
    settings: Settings,
    scratch: Path,
    report: Callable[[float], None] = lambda _: None,
) -> Embedding:
    """Train one embedding; the same seed always gives the same bytes.

    Args:
        corpus: the encoded corpus.
        algorithm: the algorithm.
        seed: the seed of all random draws.
        settings: the settings of the algorithm.
        scratch: a folder for temporary files.
        report: a function that is called with shares of the work, whose sum is 1.
    """
    if isinstance(settings, MaskedSettings):
        return _embedding_of(train_masked(corpus, seed, settings, report), corpus, seed, settings)
    if isinstance(settings, GloveSettings):
        vectors = train_glove(corpus, seed, settings, scratch, report)
    elif algorithm == "sgns-window":
        vectors = train_skip_gram(corpus, seed, **asdict(settings), report=report)
    else:
        vectors = _train_word2vec(corpus, seed, settings, algorithm == "sgns", report)
    return Embedding(
        corpus.words, corpus.counts, vectors, algorithm, seed, corpus.name, asdict(settings), corpus.hash
    )


def _embedding_of(model: Any, corpus: Corpus, seed: int, settings: MaskedSettings) -> Embedding:
    """Return the word vectors of a masked language model."""
    vectors = word_vectors(model)
    words, counts = corpus.words[: len(vectors)], corpus.counts[: len(vectors)]
    return Embedding(words, counts, vectors, "masked", seed, corpus.name, asdict(settings), corpus.hash)


def _train_word2vec(
    corpus: Corpus, seed: int, settings: WordToVecSettings, skip_gram: bool, report: Callable[[float], None]
) -> Vectors:
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
        workers=1,  # one thread, since the timing of several would change the vectors
        min_count=0,
        sorted_vocab=0,  # so that words keep their ids
        batch_words=BATCH,
    )
    model.build_vocab_from_freq(dict(enumerate(corpus.counts.tolist())), corpus_count=corpus.lines)
    bytearray(ROOM_FOR_THREADS)  # raises MemoryError if there is no room; its pages are not touched
    work = max(1, len(corpus.tokens) * settings.epochs)
    lines = _Lines(corpus, lambda tokens: report(tokens / work))
    model.train(lines, total_words=len(corpus.tokens), epochs=settings.epochs)
    vectors: Vectors = model.wv.vectors
    return vectors


@dataclass(frozen=True)
class _Lines:
    """The lines of a corpus as lists of word ids, which are words for gensim."""

    corpus: Corpus
    report: Callable[[int], None]
    """A function that is called with the number of tokens read; gensim reads all lines once per epoch."""

    def __iter__(self) -> Iterator[list[int]]:
        corpus = self.corpus
        for first in range(0, corpus.lines, LINES):
            offsets = corpus.offsets[first : first + LINES + 1]
            ids = corpus.tokens[offsets[0] : offsets[-1]].tolist()
            ends = (offsets - offsets[0]).tolist()
            for start, end in pairwise(ends):
                for part in range(start, end, BATCH):
                    yield ids[part : min(part + BATCH, end)]
            self.report(len(ids))


TOKENS, PAIRS = 40_000, 100_000
"""The size of the smaller of two calibrations; the larger has three times as many."""
WORTHWHILE = 20_000_000
"""The number of tokens × epochs below which estimating the training time takes about as long as training."""


@dataclass(frozen=True, slots=True)
class TrainingTime:
    """The embeddings of one corpus and algorithm to train, and the time of each."""

    corpus: str
    algorithm: str
    tokens: int
    cooccurrences: int
    """The number of cells of the matrix that GloVe reads; 0 for other algorithms."""
    embeddings: int
    seconds: float
    """The time of one embedding in one process."""


@dataclass(frozen=True, slots=True)
class TrainingEstimate:
    """An estimate of the time to train all embeddings of a study."""

    parts: tuple[TrainingTime, ...]

    def seconds(self, jobs: int = 1) -> float:
        """Return the time of all embeddings in this many processes, if they do not slow each other down."""
        return sum(part.embeddings * part.seconds for part in self.parts) / jobs

    def spoken(self, jobs: int = 1) -> str:
        return spoken_duration(self.seconds(jobs))


def missing_units(units: Sequence[TrainingUnit]) -> list[TrainingUnit]:
    """Return the embeddings that have no file yet."""
    return [unit for unit in units if not unit.target.is_file()]


def is_worthwhile(units: Sequence[TrainingUnit]) -> bool:
    """Return whether the training is long enough for an estimate."""
    tokens = {unit.corpus: len(open_corpus(unit.corpus).tokens) for unit in units}
    return sum(tokens[unit.corpus] * _passes(unit.settings) for unit in units) >= WORTHWHILE


def estimate_training(
    units: Sequence[TrainingUnit], scratch: Path, progress: Progress | None = None
) -> TrainingEstimate:
    """Estimate the training time of the units by a calibration for each corpus and algorithm.

    This counts the co-occurrences of GloVe, which the training uses later.

    Args:
        units: the embeddings to train.
        scratch: a folder for temporary files.
        progress: an object that is updated after each corpus and algorithm.
    """
    progress = progress or Silent()
    groups: dict[tuple[Path, Algorithm, Settings], int] = {}
    for unit in units:
        key = (unit.corpus, unit.algorithm, unit.settings)
        groups[key] = groups.get(key, 0) + 1
    progress.stage("estimating the training time", len(groups))
    parts = []
    for (folder, algorithm, settings), number in groups.items():
        corpus = open_corpus(folder)
        if isinstance(settings, GloveSettings):
            counts = count_cooccurrence(corpus, settings.window)
            cells, seconds = len(counts.keys), _seconds_of_glove(counts, settings, scratch)
        else:
            cells, seconds = 0, _seconds_of_passes(corpus, algorithm, settings, scratch)
        parts.append(TrainingTime(corpus.name, algorithm, len(corpus.tokens), cells, number, seconds))
        progress.advance()
    return TrainingEstimate(tuple(parts))


def _passes(settings: Settings) -> int:
    return settings.iterations if isinstance(settings, GloveSettings) else settings.epochs


def _seconds_of_passes(
    corpus: Corpus, algorithm: Algorithm, settings: WordToVecSettings | MaskedSettings, scratch: Path
) -> float:
    once = replace(settings, epochs=1)

    def seconds(tokens: int) -> tuple[int, float]:
        part = first_tokens(corpus, tokens)
        return len(part.tokens), _timed(lambda: train(part, algorithm, 1, once, scratch))

    seconds(TOKENS // 20)  # a first run, which imports and compiles
    (few, short), (many, long) = seconds(TOKENS), seconds(3 * TOKENS)
    if many <= few:  # the corpus is smaller than the calibration
        return short * settings.epochs
    per_token = max(0.0, long - short) / (many - few)
    at_start = max(0.0, short - per_token * few)
    return at_start + per_token * len(corpus.tokens) * settings.epochs


def _seconds_of_glove(counts: Cooccurrence, settings: GloveSettings, scratch: Path) -> float:
    def seconds(pairs: int, iterations: int) -> tuple[int, float]:
        part = some_cells(counts, pairs)
        chosen = replace(settings, iterations=iterations)
        return len(part.keys), _timed(lambda: fit(part, 1, chosen, scratch))

    seconds(PAIRS // 20, 1)  # a first run, which compiles
    few, short = seconds(PAIRS, 1)
    many, long = seconds(3 * PAIRS, 1)
    _, longest = seconds(3 * PAIRS, 3)
    pass_over = max(0.0, longest - long) / (2 * max(1, many))
    shuffle = max(0.0, (long - short) / (many - few) - pass_over) if many > few else 0.0
    at_start = max(0.0, short - few * (pass_over + shuffle))
    return at_start + len(counts.keys) * (shuffle + pass_over * settings.iterations)


def first_tokens(corpus: Corpus, tokens: int) -> Corpus:
    """Return lines from the middle of a corpus with about this many tokens, and the whole vocabulary."""
    middle = max(0, (len(corpus.tokens) - tokens) // 2)
    first = int(np.searchsorted(corpus.offsets, middle, side="right")) - 1
    last = int(np.searchsorted(corpus.offsets, int(corpus.offsets[first]) + tokens, side="left"))
    offsets = np.asarray(corpus.offsets[first : max(last, first + 1) + 1])
    return replace(corpus, tokens=corpus.tokens[offsets[0] : offsets[-1]], offsets=offsets - offsets[0])


def some_cells(counts: Cooccurrence, cells: int) -> Cooccurrence:
    """Return about this many cells, evenly spread, so that the shares of frequent and rare words are kept."""
    step = max(1, len(counts.keys) // cells)
    return replace(counts, keys=np.asarray(counts.keys[::step]), values=np.asarray(counts.values[::step]))


def _timed(work: Callable[[], object]) -> float:
    """Return the CPU time of a call, which does not depend on the current load of the machine."""
    start = time.process_time()
    work()
    return time.process_time() - start

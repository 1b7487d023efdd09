"""Carry out a study: encode, train, score, assess; every step does only what is missing."""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from weatherglass.errors import CorpusError, OutputError, reason_of
from weatherglass.files import remove_unfinished, whole_file, write_whole
from weatherglass.fingerprint import file_hash
from weatherglass.parallel import Backend, InProcess
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.brought import bring
from weatherglass.reliability.corpus import Corpus, encode_corpus
from weatherglass.reliability.embedding import load_embedding
from weatherglass.reliability.lists import (
    FREQUENT_LIST,
    VOCABULARY_LIST,
    BasePairs,
    base_pairs,
    target_list,
)
from weatherglass.reliability.scores import ScoreTensor, load_scores, scorable, score_embedding
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.train import TrainingUnit, embedding_path, train_all

CORPORA, EMBEDDINGS, SCORES = "corpora", "embeddings", "scores"


@dataclass(frozen=True)
class Group:
    """The embeddings of one corpus and algorithm, one per seed."""

    corpus: str
    algorithm: str
    seeds: tuple[int, ...]
    paths: tuple[Path, ...]
    notices: tuple[str, ...] = ()
    """What a reader of the results has to know about embeddings that were trained elsewhere."""


@dataclass(frozen=True)
class ScoreUnit:
    """One embedding to be scored with all pairs, and where the scores go."""

    embedding: Path
    seed: int
    words: Path
    """A JSON list of the targets, the same for all seeds of the group."""
    pairs: tuple[tuple[str, str], ...]
    neighbours: int
    target: Path


@contextmanager
def study_folder(folder: Path) -> Iterator[Path]:
    """The folder of a study, locked; what a killed study left half-written is removed.

    Raises:
        OutputError: if the folder cannot be used or another study is at work in it.
    """
    try:
        for name in (CORPORA, EMBEDDINGS, SCORES):
            (folder / name).mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock", timeout=0)
        lock.acquire()
    except Timeout:
        raise OutputError(
            f"{folder}: another study is at work here; wait for it, or choose another -o"
        ) from None
    except OSError as error:
        raise OutputError(f"{folder}: cannot be used ({reason_of(error)})") from None
    try:
        for place in (folder, *folder.glob("*/"), *folder.glob(f"{CORPORA}/*/")):
            remove_unfinished(place)
        yield folder
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OutputError(
            f"{folder}: no space is left; what was finished is there, and the same command goes on from there"
        ) from None
    finally:
        lock.release()


def check_lists(study: Study) -> None:
    """Read every list of the study, so that a mistake is found before hours of training and not after.

    Raises:
        WeatherglassError: if a list cannot be read, or two have one name, under which the tables could not keep
            them apart.
    """
    targets = [target_list(name).name for name in study.targets]
    if isinstance(study.frequent, str):
        target_list(study.frequent)
    for kind, names in (
        ("sets of base pairs", [base_pairs(name).name for name in study.pairs]),
        ("lists of target words", [*targets, FREQUENT_LIST, VOCABULARY_LIST]),
    ):
        for name in names:
            if names.count(name) > 1:
                raise CorpusError(f"two {kind} are called '{name}'; give one of the files another name")


def train_study(
    study: Study, folder: Path, backend: Backend | None = None, progress: Progress | None = None
) -> tuple[list[Group], list[str]]:
    """Encode the corpora and train what is missing.

    Returns:
        The groups of embeddings, and one line for each that could not be trained.
    """
    check_lists(study)
    progress = progress or Silent()
    brought = brought_groups(study, folder, progress)
    progress.stage("encoding", len(study.corpora))
    units: list[TrainingUnit] = []
    for name, (source, settings) in study.corpora.items():
        corpus = encode_corpus(name, source, folder / CORPORA, settings)
        units += _training_units(study, corpus, folder)
        progress.advance()
    units.sort(key=lambda unit: unit.seed)  # A study that is cut short has whole seeds.
    failures = train_all(units, backend or InProcess(), progress)
    return [*trained_groups(study, folder), *brought], failures


def _training_units(study: Study, corpus: Corpus, folder: Path) -> list[TrainingUnit]:
    return [
        TrainingUnit(
            corpus.folder,
            algorithm,
            settings,
            seed,
            embedding_path(folder / EMBEDDINGS, corpus, algorithm, settings, seed),
        )
        for algorithm, settings in study.algorithms.items()
        for seed in study.seeds
    ]


def trained_groups(study: Study, folder: Path) -> list[Group]:
    """The embeddings of the study that are there."""
    groups = []
    for name, (source, settings) in study.corpora.items():
        units = _training_units(study, encode_corpus(name, source, folder / CORPORA, settings), folder)
        for algorithm in study.algorithms:
            there = [unit for unit in units if unit.algorithm == algorithm and unit.target.is_file()]
            seeds, paths = tuple(unit.seed for unit in there), tuple(unit.target for unit in there)
            groups.append(Group(name, algorithm, seeds, paths))
    return groups


def brought_groups(study: Study, folder: Path, progress: Progress | None = None) -> list[Group]:
    """Groups of embeddings that were trained elsewhere."""
    groups = []
    for name, pattern in study.embeddings.items():
        found = bring(name, pattern, folder / EMBEDDINGS, progress)
        seeds = tuple(range(1, len(found.paths) + 1))
        notices = found.notices if found.counted else (*found.notices, *_without_counts(study))
        groups.append(Group(found.corpus, found.algorithm, seeds, found.paths, notices))
    return groups


def _without_counts(study: Study) -> list[str]:
    """What is assumed where nobody knows how often a word occurs."""
    lines = []
    if isinstance(study.frequent, int):
        lines.append(
            "no counts are known: words are taken to be ordered by frequency, and the first "
            f"{study.frequent} of the first file to be the frequent ones"
        )
    if study.min_frequency > 1:
        lines.append(f"no counts are known: min_frequency = {study.min_frequency} is not applied")
    return lines


def score_study(
    study: Study,
    groups: Sequence[Group],
    folder: Path,
    backend: Backend | None = None,
    progress: Progress | None = None,
) -> list[tuple[Group, ScoreTensor]]:
    """Score every embedding with every pair that its vocabulary has; all sets of pairs at once.

    Raises:
        CorpusError: if there is no embedding, two groups have one name, or an embedding could not be scored.
    """
    check_lists(study)
    progress = progress or Silent()
    names = [f"{group.corpus}/{group.algorithm}" for group in groups]
    if doubled := next((name for name in names if names.count(name) > 1), None):
        raise CorpusError(
            f"there are two groups of embeddings for {doubled}; give those from elsewhere another name, under "
            "[embeddings] in a study file"
        )
    if not any(group.paths for group in groups):
        raise CorpusError(
            f"{folder}: no embeddings yet; run: weatherglass reliability train STUDY.toml -o {folder}"
        )
    sets = [base_pairs(name) for name in study.pairs]
    units: dict[str, list[ScoreUnit]] = {}
    for group in groups:
        units[f"{group.corpus}/{group.algorithm}"] = _score_units(study, group, sets, folder / SCORES)
    everything = [unit for of_group in units.values() for unit in of_group]
    missing = [unit for unit in everything if not unit.target.is_file()]
    progress.stage("scoring", len(everything))
    progress.advance(len(everything) - len(missing))
    for outcome in (backend or InProcess()).map(score_unit, missing):
        if outcome.error is not None:
            raise CorpusError(
                f"{outcome.unit.embedding}: cannot be scored ({outcome.error})"
            ) from outcome.error
        progress.advance()
    return [(group, _tensor(units[f"{group.corpus}/{group.algorithm}"])) for group in groups if group.paths]


def _score_units(study: Study, group: Group, sets: Sequence[BasePairs], folder: Path) -> list[ScoreUnit]:
    if not group.paths:
        return []
    words, vocabulary = _common_words(group, study.min_frequency)
    if not words:
        raise CorpusError(
            f"{group.corpus}: no word occurs {study.min_frequency} times; lower min_frequency or add text"
        )
    pairs = tuple(dict.fromkeys(pair for pairs in sets for pair in pairs.present(vocabulary)))
    recipe = hashlib.sha256(json.dumps([words, pairs, study.neighbours]).encode()).hexdigest()
    group_name = f"{group.corpus}-{group.algorithm}"
    words_path = folder / f"{group_name}-{recipe[:8]}.words.json"
    if not words_path.is_file():
        write_whole(words_path, json.dumps(words))
    units = []
    for seed, path in zip(group.seeds, group.paths, strict=True):
        key = hashlib.sha256(f"{recipe}{file_hash(path)}".encode()).hexdigest()[:8]
        target = folder / f"{group_name}-seed{seed:03d}-{key}.npy"
        units.append(ScoreUnit(path, seed, words_path, pairs, study.neighbours, target))
    return units


def _common_words(group: Group, min_frequency: int) -> tuple[list[str], set[str]]:
    """The targets, in the order of the first embedding, and the vocabulary, in which base pairs may be rarer words.

    Both have a vector in every embedding of the group. Embeddings of one corpus share their vocabulary, so that the
    first speaks for all; brought ones may differ.
    """
    first = load_embedding(group.paths[0])
    targets = [first.words[row] for row in scorable(first, min_frequency if first.counts.any() else 0)]
    vocabulary = {first.words[row] for row in scorable(first)}
    if not first.corpus_hash:
        for path in group.paths[1:]:
            other = load_embedding(path)
            vocabulary &= {other.words[row] for row in scorable(other)}
    return [word for word in targets if word in vocabulary], vocabulary


def score_unit(unit: ScoreUnit) -> None:
    """Score one embedding and store the scores."""
    embedding = load_embedding(unit.embedding)
    words = json.loads(unit.words.read_text(encoding="utf-8"))
    targets = np.array([embedding.index[word] for word in words], dtype=np.int64)
    scores = score_embedding(embedding, unit.pairs, targets, unit.neighbours)
    with whole_file(unit.target) as unfinished, unfinished.open("wb") as file:
        np.save(file, scores, allow_pickle=False)


def _tensor(units: Sequence[ScoreUnit]) -> ScoreTensor:
    words = json.loads(units[0].words.read_text(encoding="utf-8"))
    seeds = [unit.seed for unit in units]
    return ScoreTensor(words, units[0].pairs, seeds, [load_scores(unit.target) for unit in units])

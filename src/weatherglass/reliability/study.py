"""Run the steps of a study (encode, train, import, score); each step computes only what is missing on the disk."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from weatherglass.errors import (
    CorpusError,
    NoRoomError,
    OutputError,
    VectorFileError,
    has_no_room,
    output_error,
)
from weatherglass.parallel import Backend, InProcess
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.corpus import Corpus, encode_corpus
from weatherglass.reliability.lists import (
    FREQUENT_LIST,
    VOCABULARY_LIST,
    BasePairs,
    base_pairs,
    target_list,
)
from weatherglass.reliability.scoring import find_rules
from weatherglass.reliability.scoring.scorers import WordScorer
from weatherglass.reliability.scoring.scores import (
    ScoreTensor,
    load_scores,
    remove_other_versions,
    save_scores,
    scorable,
    score_paths,
    scores_are_whole,
    scoring_context,
)
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.training.embedding import (
    SUFFIX,
    import_embeddings,
    is_whole_embedding,
    load_embedding,
)
from weatherglass.reliability.training.train import (
    TrainingEstimate,
    TrainingUnit,
    check_installed,
    embedding_path,
    estimate_training,
    is_worthwhile,
    missing_units,
    train_all,
)
from weatherglass.storage.atomic import remove_unfinished, write_whole
from weatherglass.storage.checksum import MISMATCH, file_hash, set_aside
from weatherglass.warnings import Warning

CORPORA, EMBEDDINGS, SCORES = "corpora", "embeddings", "scores"
STORED_EMBEDDING = re.compile(r"(?P<group>.+)-(?:(?P<key>[0-9a-f]{8})-seed\d+|imported\d+-[0-9a-f]{12})\.")


@dataclass(frozen=True)
class Group:
    """The embeddings of one corpus and algorithm, one per seed."""

    corpus: str
    algorithm: str
    seeds: tuple[int, ...]
    paths: tuple[Path, ...]
    warnings: tuple[Warning, ...] = ()
    """Warnings about imported embeddings."""
    encoded: Corpus | None = None
    """The corpus on which the embeddings were trained; None for imported embeddings."""


@dataclass(frozen=True)
class ScoreUnit:
    """One embedding to score with all pairs and some rules, and the files for the scores."""

    embedding: Path
    seed: int
    words: Path
    """A file with a JSON list of the target words, the same for all seeds of the group."""
    pairs: tuple[tuple[str, str], ...]
    neighbours: int
    target: Path
    """The stem of the names of the score files; see `score_paths`."""
    rules: tuple[WordScorer, ...]
    """The rules themselves, instead of their names, so that a worker also knows rules registered in this process."""

    def missing(self) -> ScoreUnit:
        """Return the same job, restricted to the rules that have no file yet."""
        paths = score_paths(self.target, self.rules)
        return replace(self, rules=tuple(rule for rule in self.rules if not paths[rule.name].is_file()))

    def damaged(self) -> list[Path]:
        """Return the score files that have changed since they were written."""
        stored = [path for path in score_paths(self.target, self.rules).values() if path.is_file()]
        return [path for path in stored if not scores_are_whole(path)]


@contextmanager
def study_folder(folder: Path) -> Iterator[Path]:
    """Lock the folder of a study, and remove incomplete files of a killed process.

    Raises:
        OutputError: if the folder cannot be used, or another study is running in it.
    """
    try:
        for name in (CORPORA, EMBEDDINGS, SCORES):
            (folder / name).mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock", timeout=0)
        lock.acquire()
    except Timeout:
        raise OutputError(
            f"{folder}: another study is running in this folder; wait for it, or choose another folder "
            "with -o"
        ) from None
    except OSError as error:
        raise output_error(folder, error) from None
    try:
        for subfolder in (folder, *folder.glob("*/"), *folder.glob(f"{CORPORA}/*/")):
            remove_unfinished(subfolder)
        yield folder
    except OSError as error:
        if not has_no_room(error):
            if not Path(error.filename or "").is_relative_to(folder):
                raise
            raise output_error(error.filename, error) from error
        raise NoRoomError(
            f"{folder}: no space left on the disk; finished work is kept, and the same command continues from there"
        ) from None
    finally:
        lock.release()


def check_names(study: Study) -> None:
    """Check the lists and rules of a study, so that a mistake is reported before hours of training.

    Raises:
        WeatherglassError: if a rule is unknown, a list cannot be read, or two lists have the same name, since names
            are keys of the tables.
    """
    find_rules(study.rules)
    targets = [target_list(name).name for name in study.targets]
    if isinstance(study.frequent, str):
        target_list(study.frequent)
    for kind, names in (
        ("sets of base pairs", [base_pairs(name).name for name in study.pairs]),
        ("lists of target words", [*targets, FREQUENT_LIST, VOCABULARY_LIST]),
    ):
        for name in names:
            if names.count(name) > 1:
                raise CorpusError(f"two {kind} are called '{name}'; rename one of the files")


def train_study(
    study: Study, folder: Path, backend: Backend | None = None, progress: Progress | None = None
) -> tuple[list[Group], list[str]]:
    """Encode the corpora and train the embeddings that are missing.

    If the training is long, `progress` also gets an estimate of its duration.

    Returns:
        The groups of embeddings, and an error message for each embedding that could not be trained.
    """
    check_names(study)
    check_installed(study.algorithms)
    silent = Silent()
    progress = progress or silent
    imported = imported_groups(study, folder, progress)
    corpora = encoded_corpora(study, folder, progress)
    units = [unit for corpus in corpora for unit in _training_units(study, corpus, folder)]
    units.sort(key=lambda unit: unit.seed)  # so that a stopped study has complete seeds
    backend = backend or InProcess()
    expected = ""
    missing = missing_units(units)
    if progress is not silent and is_worthwhile(missing):
        estimate = estimate_training(missing, folder / EMBEDDINGS, progress)
        expected = f", about {estimate.spoken(getattr(backend, 'jobs', 1))} in all"
    failures = train_all(units, backend, progress, f"training{expected}")
    return [*trained_groups(study, folder, corpora), *imported], failures


def estimate_study(study: Study, folder: Path, progress: Progress | None = None) -> TrainingEstimate:
    """Encode the corpora, count co-occurrences, and estimate the time to train the missing embeddings."""
    check_names(study)
    corpora = encoded_corpora(study, folder, progress)
    units = [unit for corpus in corpora for unit in _training_units(study, corpus, folder)]
    return estimate_training(missing_units(units), folder / EMBEDDINGS, progress)


def encoded_corpora(study: Study, folder: Path, progress: Progress | None = None) -> list[Corpus]:
    """Return the corpora of the study in its order, after encoding those that are missing in `folder`."""
    progress = progress or Silent()
    progress.stage("encoding", len(study.corpora))
    corpora = []
    for name, (source, settings) in study.corpora.items():
        corpora.append(encode_corpus(name, source, folder / CORPORA, settings))
        progress.advance()
    return corpora


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


def trained_groups(study: Study, folder: Path, corpora: Sequence[Corpus] | None = None) -> list[Group]:
    """Return the embeddings of the study that have been trained so far.

    Args:
        study: the study.
        folder: its folder.
        corpora: the encoded corpora, if they are known; reading and hashing a large source takes minutes.
    """
    groups = []
    for corpus in encoded_corpora(study, folder) if corpora is None else corpora:
        units = _training_units(study, corpus, folder)
        for algorithm in study.algorithms:
            trained = [unit for unit in units if unit.algorithm == algorithm and unit.target.is_file()]
            seeds, paths = tuple(unit.seed for unit in trained), tuple(unit.target for unit in trained)
            _require_whole(paths)
            groups.append(Group(corpus.name, algorithm, seeds, paths, encoded=corpus))
    return groups


def _require_whole(paths: Sequence[Path]) -> None:
    """Check that no embedding is damaged.

    Raises:
        VectorFileError: if an embedding is damaged; a training run would set it aside and train it again.
    """
    for path in paths:
        if not is_whole_embedding(path):
            raise VectorFileError(
                f"{path}: {MISMATCH}; to train it again, run: weatherglass reliability run STUDY.toml -o "
                f"{path.parent.parent}"
            )


def imported_groups(study: Study, folder: Path, progress: Progress | None = None) -> list[Group]:
    """Return the groups of imported embeddings of the study."""
    groups = []
    for name, pattern in study.embeddings.items():
        imported = import_embeddings(name, pattern, folder / EMBEDDINGS, progress)
        seeds = tuple(range(1, len(imported.paths) + 1))
        warnings = (
            imported.warnings if imported.has_counts else (*imported.warnings, *_no_count_warnings(study))
        )
        groups.append(Group(imported.corpus, imported.algorithm, seeds, imported.paths, warnings))
    return groups


def embedding_patterns(folder: Path) -> dict[str, str]:
    """Return, for each corpus and algorithm in a study's folder, a glob that matches its embeddings, one file per
    seed.

    If there are several settings of one corpus and algorithm, the names also contain the key of the settings.

    Raises:
        CorpusError: if there are no embeddings.
    """
    stems = [STORED_EMBEDDING.match(path.name) for path in sorted((folder / EMBEDDINGS).glob(f"*{SUFFIX}"))]
    groups = dict.fromkeys((stem["group"], stem["key"]) for stem in stems if stem)
    if not groups:
        raise CorpusError(
            f"{folder}: this folder contains no embeddings; run: weatherglass reliability train STUDY.toml "
            f"-o {folder}"
        )
    names = [group for group, _ in groups]
    return {
        group if names.count(group) == 1 else f"{group}-{key}": str(
            folder / EMBEDDINGS / (f"{group}-{key}-seed*{SUFFIX}" if key else f"{group}-imported*{SUFFIX}")
        )
        for group, key in groups
    }


def _no_count_warnings(study: Study) -> list[Warning]:
    """Return warnings about assumptions that are made because the files have no word counts."""
    warnings = []
    if isinstance(study.frequent, int):
        warnings.append(Warning.of("no-counts", frequent=study.frequent))
    if study.min_frequency > 1:
        warnings.append(Warning.of("no-minimum", minimum=study.min_frequency))
    return warnings


def score_study(
    study: Study,
    groups: Sequence[Group],
    folder: Path,
    backend: Backend | None = None,
    progress: Progress | None = None,
) -> list[tuple[Group, ScoreTensor]]:
    """Score every embedding with every rule and all base pairs in its vocabulary, for all sets of pairs at once.

    Raises:
        CorpusError: if there is no embedding, two groups have the same name, or an embedding could not be scored.
    """
    check_names(study)
    progress = progress or Silent()
    names = [f"{group.corpus}/{group.algorithm}" for group in groups]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise CorpusError(
            f"there are two groups of embeddings for {duplicate}; rename the imported ones under "
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
    all_units = [unit for group_units in units.values() for unit in group_units]
    set_aside([path for unit in all_units for path in unit.damaged()], "and computed again")
    missing = [unit for unit in (unit.missing() for unit in all_units) if unit.rules]
    progress.stage("scoring", len(all_units))
    progress.advance(len(all_units) - len(missing))
    for outcome in (backend or InProcess()).map(score_unit, missing):
        if has_no_room(outcome.error):
            raise outcome.error
        if outcome.error is not None:
            raise CorpusError(
                f"{outcome.unit.embedding}: cannot be scored ({outcome.error})"
            ) from outcome.error
        progress.advance()
    remove_other_versions(folder / SCORES, find_rules(study.rules))
    return [
        (group, _load_tensor(units[f"{group.corpus}/{group.algorithm}"])) for group in groups if group.paths
    ]


def _score_units(study: Study, group: Group, sets: Sequence[BasePairs], folder: Path) -> list[ScoreUnit]:
    if not group.paths:
        return []
    words, vocabulary = _targets_and_vocabulary(group, study.min_frequency)
    if not words:
        raise CorpusError(
            f"{group.corpus}: no word occurs {study.min_frequency} times; lower min_frequency or add text"
        )
    pairs = tuple(dict.fromkeys(pair for pairs in sets for pair in pairs.present(vocabulary)))
    recipe = hashlib.sha256(json.dumps([words, pairs, study.neighbours]).encode()).hexdigest()
    group_name = f"{group.corpus}-{group.algorithm}"
    words_path = folder / f"{group_name}-{recipe[:8]}.words.json"
    listed = json.dumps(words).encode()
    if words_path.is_file() and words_path.read_bytes() != listed:
        set_aside([words_path], "and written again")
    if not words_path.is_file():
        write_whole(words_path, listed)
    rules = find_rules(study.rules)
    units = []
    for seed, path in zip(group.seeds, group.paths, strict=True):
        key = hashlib.sha256(f"{recipe}{file_hash(path)}".encode()).hexdigest()[:8]
        target = folder / f"{group_name}-seed{seed:03d}-{key}"
        units.append(ScoreUnit(path, seed, words_path, pairs, study.neighbours, target, rules))
    return units


def _targets_and_vocabulary(group: Group, min_frequency: int) -> tuple[list[str], set[str]]:
    """Return the target words in the order of the first embedding, and the vocabulary, which may contain rarer words.

    All words have a vector in every embedding of the group. Embeddings that were trained on one corpus share their
    vocabulary, so only the first is read; the vocabularies of imported embeddings may differ.
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
    """Score one embedding and write the scores of each rule to its file."""
    embedding = load_embedding(unit.embedding)
    words = json.loads(unit.words.read_text(encoding="utf-8"))
    targets = np.array([embedding.index[word] for word in words], dtype=np.int64)
    context = scoring_context(embedding, unit.pairs, targets, unit.neighbours)
    paths = score_paths(unit.target, unit.rules)
    for rule in unit.rules:
        save_scores(paths[rule.name], rule.score(context))


def _load_tensor(units: Sequence[ScoreUnit]) -> ScoreTensor:
    words = json.loads(units[0].words.read_text(encoding="utf-8"))
    seeds = [unit.seed for unit in units]
    return ScoreTensor(words, units[0].pairs, seeds, [load_scores(unit.target, unit.rules) for unit in units])

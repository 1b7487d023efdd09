"""Score every copy of a passage for its queries, with a model (whose texts are streamed) or from a table of scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from weatherglass.arrays import ArrayError, Integers, Matrix, Vector, real_array, unit_length
from weatherglass.audit.encode import encode_texts, observe
from weatherglass.audit.plan import PlannedModel
from weatherglass.encoders.base import Asked, Input, text_of
from weatherglass.errors import CatalogueError, EncoderError
from weatherglass.mitigation.base import Change
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.ranking.texts import (
    ALL,
    FEWEST,
    NO_TOPIC,
    Materials,
    NameGroup,
    check_groups,
    filled,
    lines_of,
    slots_in,
    topics_of,
)
from weatherglass.ranking.variants import Variants
from weatherglass.registry import did_you_mean, shown
from weatherglass.stats.selection import Standing, places_in
from weatherglass.storage.journal import Journal

KEY_VERSION = 1
"""The version of the scores; increase it when a change of the code gives different scores for the same texts."""
TEXTS_AT_ONCE = 4_096
"""The number of texts whose vectors are in memory at the same time."""
BLOCKS_AT_ONCE = 16
"""The number of blocks of background texts after which the counts are stored."""
MOST_STORED = 100_000
"""The maximum number of counts that are stored before the end."""
DECIMALS = 12
"""The number of decimals to which cosines are rounded, so that equal vectors tie whatever the order of additions."""
MOST_SCORES = 10_000_000
"""The maximum number of rows of a table of scores."""
Scorer = Callable[[list[tuple[str, str]]], Any]
"""A function that takes pairs of a query and a passage and returns a score for each, such as a cross-encoder's
`predict`.
"""
ScoreJournal = Journal[dict[str, Any]]
"""The scores of some passages by query and name, which are stored under a hash of the model and the texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of all copies, with names as rows and contexts as columns; a context is a query with a passage."""

    groups: tuple[NameGroup, ...]
    values: Matrix
    """The names, in the order of the groups and their names."""
    topics: tuple[str, ...]
    topic: Integers
    """The index of the topic of each context."""
    query: Integers
    passage: Integers
    pieces: Vector | None = None
    """The number of tokens into which the tokenizer splits each name; None if it is unknown."""
    dropped: tuple[str, ...] = ()
    """Names that the model does not know."""
    background: Standing | None = None
    """The rank of each copy when it is alone among other passages."""
    slots: frozenset[str] = frozenset()
    """The slots of the passages besides the name."""
    contexts_hash: str = ""
    """The hash of the queries, passages and names of a table of scores; empty if texts were scored."""
    units: tuple[str, ...] = ()
    """The texts of the queries where these are the unit of inference: each group is then one variant of a passage."""

    @property
    def group(self) -> Integers:
        """Return the index of the group of each name."""
        return np.repeat(np.arange(len(self.groups)), [len(group.names) for group in self.groups])


def observe_scores(
    model: PlannedModel,
    materials: Materials,
    workers: Backend,
    progress: Progress,
    journal: ScoreJournal | None = None,
    *,
    background: Path | None = None,
) -> Scores:
    """Return the cosines of queries and copies, encoding each distinct text once.

    Passages are encoded some thousand copies at a time, and the scores of each block are stored in the journal, so
    that a later call computes only what is missing and gives identical scores.

    Raises:
        EncoderError: if the model cannot read a text, or too few names of a group.
    """
    ask = _Asking(model, workers, progress)
    groups, pieces, dropped = _known_groups(ask, materials)
    known = replace(materials, groups=groups)
    contexts = _contexts(known)
    columns: dict[int, list[int]] = {}
    for column, (_, _, number) in enumerate(contexts):
        columns.setdefault(number, []).append(column)
    values = np.empty((len(known.names), len(contexts)))
    for number, rows in _scored_passages(ask, known, journal):
        values[:, columns[number]] = np.asarray(rows).T
    scores = replace(_scores(known, contexts, values), pieces=pieces, dropped=dropped)
    if background is None:
        return scores
    return replace(scores, background=_standing(ask, scores, materials, background, journal))


def observe_variants(
    model: PlannedModel,
    variants: Variants,
    workers: Backend,
    progress: Progress,
    journal: ScoreJournal | None = None,
) -> Scores:
    """Return the cosines of queries and their passages in every variant, a row per variant.

    Raises:
        EncoderError: if the model cannot read a text.
    """
    ask = _Asking(model, workers, progress)
    values = np.empty((len(variants.names), len(variants.passages)))
    at_once = max(1, TEXTS_AT_ONCE // len(variants.names))
    for start in range(0, len(variants.passages), at_once):
        block = variants.passages[start : start + at_once]
        key = _key(ask.model, variants, range(start, start + len(block)))
        record = journal.finished.get(key) if journal else None
        if record is None:
            asked = [Input(variants.queries[each.query].text, kind="query") for each in block]
            texts = [Input(text, kind="passage") for each in block for text in each.texts]
            queries, passages = (
                ask.vectors(asked),
                ask.vectors(texts).reshape(len(block), len(variants.names), -1),
            )
            record = {"scores": np.round((passages * queries[:, None]).sum(axis=2), DECIMALS).tolist()}
            if journal:
                journal.add(key, record)
        values[:, start : start + len(block)] = np.asarray(record["scores"]).T
    topics = topics_of(variants.queries)
    query = np.array([each.query for each in variants.passages])
    topic = np.array([topics.index(each.topic or NO_TOPIC) for each in variants.queries])[query]
    groups = tuple(NameGroup(name, (name,)) for name in variants.names)
    units = tuple(each.text for each in variants.queries)
    return Scores(groups, values, tuple(topics), topic, query, np.arange(len(query)), units=units)


def _contexts(materials: Materials) -> list[tuple[int, int, int]]:
    """Return the numbers of topic, query and passage of each context, query by query."""
    topics = topics_of(materials.queries)
    return [
        (topics.index(query.topic or NO_TOPIC), number, passage)
        for number, query in enumerate(materials.queries)
        for passage in materials.passages_of(query.topic)
    ]


def _scores(materials: Materials, contexts: Sequence[tuple[int, int, int]], values: Matrix) -> Scores:
    topic, query, passage = (np.array(column) for column in zip(*contexts, strict=True))
    topics = tuple(topics_of(materials.queries))
    return Scores(materials.groups, values, topics, topic, query, passage, slots=slots_in(materials.passages))


def score_pairs(scorer: Scorer, materials: Materials, progress: Progress) -> Scores:
    """Return the scores that a function gives to pairs of a query and a filled passage, one context per call.

    Raises:
        EncoderError: if the function fails, or does not return one finite number per pair.
    """
    contexts = _contexts(materials)
    values = np.empty((len(materials.names), len(contexts)))
    progress.stage("scoring pairs", len(contexts))
    for column, (_, query, passage) in enumerate(contexts):
        text = materials.passages[passage].text
        pairs = [
            (materials.queries[query].text, filled(text, group, name)) for group, name in materials.names
        ]
        values[:, column] = _given_scores(scorer, pairs)
        progress.advance()
    return _scores(materials, contexts, values)


def _given_scores(scorer: Scorer, pairs: list[tuple[str, str]]) -> Vector:
    expected = f"for a list of {len(pairs)} pairs of texts, it should return {len(pairs)} finite numbers"
    try:
        given = scorer(pairs)
    except Exception as error:  # the user's code may raise anything
        raise EncoderError(f"the scorer failed ({type(error).__name__}: {error})") from error
    try:
        scores = real_array(given).astype(np.float64)
    except ArrayError as error:
        raise EncoderError(f"the scorer: {expected}, but its result {error}") from None
    if scores.shape != (len(pairs),) or not np.isfinite(scores).all():
        raise EncoderError(
            f"the scorer: {expected}, but it returned an array of shape {scores.shape} or numbers that are "
            "not finite"
        )
    return np.round(scores, DECIMALS)


class _Asking:
    """A model with its transforms, which returns vectors of length 1."""

    def __init__(self, model: PlannedModel, workers: Backend, progress: Progress) -> None:
        self.model, self.workers, self.progress = model, workers, progress
        self.changes: list[Change] = []
        if model.transforms:
            encoded = encode_texts(model.encoder, model.texts(), workers, progress)
            self.changes, _ = encoded.fitted(model.transforms)

    def vectors(self, inputs: Sequence[Asked]) -> Matrix:
        """Return a unit vector for each input.

        Raises:
            EncoderError: if the model has no vector for a text; the message names the first one.
        """
        observed = observe(self.model.encoder, inputs, "vectors", self.workers, self.progress)
        place = {asked: row for row, asked in enumerate(observed.inputs)}
        vectors = observed.matrix[[place[asked] for asked in inputs]].astype(np.float64, copy=False)
        for change in self.changes:
            vectors = change(vectors, [text_of(asked) for asked in inputs])
        usable = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        if not usable.all():
            text = text_of(inputs[int(np.flatnonzero(~usable)[0])])
            raise EncoderError(f"{self.model.name}: there is no vector for the text '{shown(text)}'")
        return unit_length(vectors)


def _known_groups(
    ask: _Asking, materials: Materials
) -> tuple[tuple[NameGroup, ...], Vector | None, tuple[str, ...]]:
    """Return the groups without names that the model does not know, the pieces of each name, and the dropped names."""
    names = [name for _, name in materials.names]
    both = " ".join(names[:2])
    observed = observe(ask.model.encoder, [*names, both], "vectors", ask.workers, ask.progress)
    unknown = {name for row, name in enumerate(names) if not observed.known(row)}
    groups = tuple(
        replace(group, names=tuple(name for name in group.names if name not in unknown))
        for group in materials.groups
    )
    for group in groups:
        if len(group.names) < FEWEST:
            raise EncoderError(
                f"{ask.model.name}: the model knows {len(group.names)} of the names of group "
                f"'{shown(group.name)}', but {FEWEST} are needed"
            )
    tokens = [len(covered.tokens) for covered in observed.coverage]
    # What every text has, such as [CLS] and a prompt, is counted in each of two names but once in both together.
    always = tokens[0] + tokens[1] - tokens[-1]
    pieces = np.array(
        [count - always for name, count in zip(names, tokens, strict=False) if name not in unknown]
    )
    return groups, pieces.astype(np.float64) if pieces.min() > 0 else None, tuple(sorted(unknown))


def _scored_passages(
    ask: _Asking, materials: Materials, journal: ScoreJournal | None
) -> Iterator[tuple[int, list[list[float]]]]:
    """Yield each passage with its scores: one row per query of its topic and one number per name."""
    queries: Matrix | None = None
    at_once = max(1, TEXTS_AT_ONCE // len(materials.names))
    numbers = list(range(len(materials.passages)))
    for start in range(0, len(numbers), at_once):
        block = numbers[start : start + at_once]
        key = _key(ask.model, materials, block)
        record = journal.finished.get(key) if journal else None
        if record is None:
            if queries is None:
                queries = ask.vectors([Input(query.text, kind="query") for query in materials.queries])
            record = {"scores": _block(ask, materials, block, queries)}
            if journal:
                journal.add(key, record)
        yield from zip(block, record["scores"], strict=True)


def _key(model: PlannedModel, materials: Materials | Variants, block: Sequence[int], *more: str) -> str:
    """Return a hash of everything that the scores of a block depend on."""
    parts = [KEY_VERSION, model.name, model.identity, materials.fingerprint(), list(block), *more]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _block(
    ask: _Asking, materials: Materials, block: Sequence[int], queries: Matrix
) -> list[list[list[float]]]:
    """Return the scores of some passages; BLAS uses one thread, so that scores do not depend on the number of
    threads.
    """
    from threadpoolctl import threadpool_limits

    names = materials.names
    copies = [
        Input(filled(materials.passages[number].text, group, name), kind="passage")
        for number in block
        for group, name in names
    ]
    vectors = ask.vectors(copies).reshape(len(block), len(names), -1)
    found = []
    with threadpool_limits(1):
        for number, own in zip(block, vectors, strict=True):
            topic = materials.passages[number].topic
            asked = [place for place, query in enumerate(materials.queries) if topic in ("", query.topic)]
            found.append(np.round(queries[asked] @ own.T, DECIMALS).tolist())
    return found


def _standing(
    ask: _Asking, scores: Scores, materials: Materials, background: Path, journal: ScoreJournal | None
) -> Standing:
    """Return the rank of each copy, alone, among the passages of a file, which is read as a stream.

    The counts are stored in the journal at the end and, unless they are many, from time to time, under a hash of the
    passages read so far, so that a later call encodes only the others.
    """
    queries = ask.vectors([Input(query.text, kind="query") for query in materials.queries])
    counts = np.zeros((2, *scores.values.shape), np.int64)
    start = _key(ask.model, materials, [], _hash_of(scores))
    finished = journal.finished if journal else {}
    lines, size, digest = lines_of(background), 0, hashlib.sha256(start.encode())
    while some := list(islice(lines, TEXTS_AT_ONCE * BLOCKS_AT_ONCE)):
        size += len(some)
        digest.update(json.dumps(some).encode())
        if digest.hexdigest() in finished:
            counts = np.array(finished[digest.hexdigest()]["counts"], np.int64)
            continue
        for first in range(0, len(some), TEXTS_AT_ONCE):
            counts += _places_among(ask, scores, queries, some[first : first + TEXTS_AT_ONCE])
        if journal and counts.size <= MOST_STORED:
            journal.add(digest.hexdigest(), {"counts": counts.tolist()})
    if journal and size and digest.hexdigest() not in journal.finished:
        journal.add(digest.hexdigest(), {"counts": counts.tolist()})
    if not size:
        raise CatalogueError(f"{background}: contains no passages; the file is empty")
    return Standing(counts[0], counts[1], np.full(scores.values.shape[1], size + 1))


def _places_among(ask: _Asking, scores: Scores, queries: Matrix, passages: Sequence[str]) -> Integers:
    """Return how many passages have a higher score than each copy, and how many have the same."""
    counts = np.zeros((2, *scores.values.shape), np.int64)
    vectors = ask.vectors([Input(passage, kind="passage") for passage in passages])
    similar = np.round(queries @ vectors.T, DECIMALS)
    similar.sort(axis=1)
    for number, ordered in enumerate(similar):
        own = scores.query == number
        counts[0][:, own], counts[1][:, own] = places_in(ordered, scores.values[:, own])
    return counts


def _hash_of(scores: Scores) -> str:
    return hashlib.sha256(np.ascontiguousarray(scores.values).tobytes()).hexdigest()


def read_scores(path: Path, groups: tuple[NameGroup, ...]) -> Scores:
    """Return the scores in a table with the columns query, passage, name and score, and optionally topic.

    Queries and passages may be numbers or any other text that identifies them.

    Raises:
        CatalogueError: if a score is not a number, a row occurs twice, a name is in no group, or a query and passage
            lack a score for a name.
    """
    from weatherglass.storage.tables import read_rows

    check_groups(groups)
    names = {name: row for row, name in enumerate(name for group in groups for name in group.names)}
    cells: dict[tuple[str, str, str], dict[str, float]] = {}
    columns = ["query", "passage", "name", "score"]
    for row in read_rows(path, columns, ["topic"], error=CatalogueError, most_rows=MOST_SCORES):
        if row["name"] not in names:
            hint = did_you_mean(row["name"], names)
            raise CatalogueError(f"{row.place}: the name '{shown(row['name'])}' is not in any group{hint}")
        topic = NO_TOPIC if row["topic"] in ("", ALL) else row["topic"]
        cell = cells.setdefault((topic, row["query"], row["passage"]), {})
        if row["name"] in cell:
            raise CatalogueError(
                f"{row.place}: this query and passage have two scores for '{shown(row['name'])}'"
            )
        cell[row["name"]] = _number(row)
    for (_, query, passage), cell in cells.items():
        if missing := [name for name in names if name not in cell]:
            raise CatalogueError(
                f"{path}: query '{shown(query)}' and passage '{shown(passage)}' have no score for '{missing[0]}'"
                f"{f' and {len(missing) - 1} other names' if len(missing) > 1 else ''}"
            )
    values = np.array([[cell[name] for cell in cells.values()] for name in names])
    topics, queries, passages = zip(*cells, strict=True)
    # A query is one of its topic: two topics may both number their queries from 1.
    return Scores(
        groups,
        values,
        tuple(dict.fromkeys(topics)),
        _numbered(topics),
        _numbered(list(zip(topics, queries, strict=True))),
        _numbered(passages),
        contexts_hash=hashlib.sha256(json.dumps([sorted(cells), sorted(names)]).encode()).hexdigest(),
    )


def _numbered(values: Sequence[Hashable]) -> Integers:
    """Return each value as a number, counting distinct values by first occurrence."""
    number = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return np.array([number[value] for value in values])


def _number(row: Any) -> float:
    try:
        score = float(row["score"])
    except ValueError:
        score = float("nan")
    if not np.isfinite(score):
        raise CatalogueError(f"{row.place}: the score '{shown(row['score'])}' is not a number")
    return score

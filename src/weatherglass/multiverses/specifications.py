"""Score every specification of one word list on one model, and summarise the curve, p, decomposition and
conclusion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.audit.covariances import Pair
from weatherglass.audit.encode import Encodings
from weatherglass.audit.registrations import Registration
from weatherglass.catalogue.test import CORPUS, Element, Test
from weatherglass.encoders.base import Coverage
from weatherglass.errors import UnitError, ZeroVectorError
from weatherglass.metrics.sets import VectorSet, mean_by_unit, name_zero_vector, unit_numbers
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS
from weatherglass.metrics.weat.covariance import estimate_covariance
from weatherglass.metrics.weat.tables import Tables, tables_of
from weatherglass.multiverses.choices import (
    SENTENCES,
    WORD,
    Choices,
    Setting,
    WordList,
    measure,
    raw_similarity,
)
from weatherglass.parallel.base import Place, pack
from weatherglass.stats.interval import jackknife_variance
from weatherglass.stats.leave_one_out import scores_without_attributes
from weatherglass.stats.multiplicity import westfall_young
from weatherglass.stats.multiverse import (
    EACH,
    Specifications,
    decompose,
    each_specification,
    effect_sizes,
    joint_test,
)

LEAST_WORDS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One specification with the scores of the words, X first."""

    levels: dict[str, str]
    """The level of each choice, including choices with a single level."""
    scores: Vector
    attribute_variance: float
    """The squared standard error of d over the words of A and B, by a jackknife."""
    counted: bool
    """Whether the specification belongs to the factorial design; eq2 and published settings outside it are only
    listed.
    """


@dataclass(frozen=True, slots=True)
class Known:
    """The words of a list that every view knows in every setting."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    attributes: dict[str, tuple[frozenset[str], frozenset[str]]]
    """The words of A and B by attribute list."""
    dropped: tuple[str, ...]


def known_words(word_list: WordList, views: Sequence[Encodings]) -> Known:
    """Return the words of a list that can be used in every specification.

    Raises:
        UnitError: if fewer than two words of a set are known everywhere.
    """
    tests = {test.name: test for test in word_list.tests}

    def lost(side: str, tests: Sequence[Test]) -> set[str]:
        elements = (
            element
            for test in tests
            for element_set in (test.targets if side == "targets" else test.attributes)
            for element in element_set.elements
        )
        return {e.word for e in elements if not all(_readable(e, view) for view in views)}

    gone = lost("targets", list(tests.values()))
    x, y = (tuple(word for word in words if word not in gone) for words in word_list.words)
    attributes = {}
    dropped = {word for words in word_list.words for word in words} & gone
    for name, members in word_list.attribute_lists().items():
        missing = lost("attributes", members)
        a, b = (
            frozenset.intersection(*(frozenset(test.attributes[side].words) for test in members)) - missing
            for side in (0, 1)
        )
        dropped |= missing
        attributes[name] = (a, b)
    for role, size in (
        ("X", len(x)),
        ("Y", len(y)),
        *(("A or B", len(s)) for pair in attributes.values() for s in pair),
    ):
        if size < LEAST_WORDS:
            raise UnitError(
                f"{word_list.name}: only {size} words of {role} are known in every specification, "
                f"but {LEAST_WORDS} are needed{_hint(word_list, views)}"
            )
    return Known(x, y, attributes, tuple(sorted(dropped)))


def _hint(word_list: WordList, views: Sequence[Encodings]) -> str:
    """Return what to do if words lack sentences in a specification."""
    if len(views) < 2 or word_list.tests[0].context != CORPUS:
        return ""
    return "; each half of the contexts needs a sentence with the word: use a larger corpus, or vary other choices"


def _readable(element: Element, view: Encodings) -> bool:
    """Return whether the view knows the text and, in a sentence, the word that the sentence is about."""
    if element.text not in view.row or not view.known(element.text):
        return False
    missing = view.coverage[view.row[element.text]].missing
    return not (missing and set(element.word.split()) & {token.strip(".,'") for token in missing})


def scored_specifications(
    word_list: WordList, known: Known, encodings: Encodings, choices: Choices
) -> Iterator[Scored]:
    """Yield every specification of the list on one view, by attribute list and setting, then by measure."""
    settings = word_list.settings()
    names = choices.levels("list", list(settings))
    extra = word_list.published_sentences()
    for name in names:
        wanted = [(settings[name][level], True) for level in choices.levels("template", list(settings[name]))]
        if name in extra and choices.varies("template"):
            wanted.append((extra[name], False))
        for test_name in dict.fromkeys(setting.test.name for setting, _ in wanted):
            some = [(setting, counted) for setting, counted in wanted if setting.test.name == test_name]
            for scored in _of_test(some, known, known.attributes[name], encodings, choices):
                yield Scored(
                    {"list": name, **scored.levels}, scored.scores, scored.attribute_variance, scored.counted
                )


def _of_test(
    settings: Sequence[tuple[Setting, bool]],
    known: Known,
    attribute_words: tuple[frozenset[str], frozenset[str]],
    encodings: Encodings,
    choices: Choices,
) -> Iterator[Scored]:
    """Yield the specifications of one test, computing each similarity once."""
    sets = _vector_sets(settings[0][0].test, (known.x, known.y, *attribute_words), encodings)
    rows_of: list[tuple[Setting, bool, Integers, Integers]] = []
    for similarity in choices.levels("similarity", choices.similarities):
        try:
            raw_name = raw_similarity(similarity)
            tables = tables_of(sets, raw_name, _covariances(sets, raw_name, choices))
        except ZeroVectorError:
            raise UnitError(name_zero_vector(sets)) from None
        to_a, to_b = _by_attribute(tables)
        sorted_a, sorted_b = np.sort(to_a, axis=1), np.sort(to_b, axis=1)
        targets = (*tables.elements[0], *tables.elements[1])
        rows_of = rows_of or [(s, counted, *_rows(s, targets, known)) for s, counted in settings]
        orientation = SIMILARITIES.get(raw_name).orientation
        for statistic in choices.levels("statistic", choices.statistics):
            raw = measure(similarity, statistic).statistic
            association = STATISTICS.get(raw).association
            scores = association(sorted_a, sorted_b, orientation)
            without = np.hstack(scores_without_attributes(raw, to_a, to_b, orientation, association))
            for setting, counted, rows, units in rows_of:
                yield Scored(
                    {"template": setting.name, "similarity": similarity, "statistic": statistic},
                    mean_by_unit(scores[rows], units),
                    _attribute_variance(mean_by_unit(without[rows], units), len(known.x), to_a.shape[1]),
                    counted and statistic != "eq2",
                )


def _attribute_variance(without: Matrix, n_x: int, n_a: int) -> float:
    d = effect_sizes(without, n_x)
    return float(jackknife_variance(d[:n_a]) + jackknife_variance(d[n_a:]))


def _vector_sets(
    test: Test, words: Sequence[Sequence[str] | frozenset[str]], encodings: Encodings
) -> list[VectorSet]:
    sets = []
    for role, element_set, wanted in zip("XYAB", test.sets, words, strict=True):
        elements = tuple(element for element in element_set.elements if element.word in wanted)
        rows = [encodings.row[element.text] for element in elements]
        sets.append(VectorSet(role, encodings.vectors[rows], elements, element_set.category))
    return sets


def _covariances(sets: Sequence[VectorSet], similarity: str, choices: Choices) -> Pair | None:
    if not SIMILARITIES.get(similarity).whitened:
        return None
    a, b = (estimate_covariance(some.vectors, choices.covariance) for some in sets[2:])
    return a, b


def _by_attribute(tables: Tables) -> tuple[Matrix, Matrix]:
    """Return the measures averaged over the sentences of each attribute word, so that each word counts once."""
    to_a, to_b = (
        mean_by_unit(table.T, unit_numbers([element.word for element in elements])).T
        for table, elements in zip((tables.to_a, tables.to_b), tables.elements[2:], strict=True)
    )
    return to_a, to_b


def _rows(setting: Setting, targets: Sequence[Element], known: Known) -> tuple[Integers, Integers]:
    """Return the rows of the setting's elements, and the index of the word that each element is about, X first."""
    place: Mapping[str, int] = {f"X{word}": number for number, word in enumerate(known.x)} | {
        f"Y{word}": len(known.x) + number for number, word in enumerate(known.y)
    }
    n_x_rows = sum(element.word in known.x for element in targets)
    rows, units = [], []
    for row, element in enumerate(targets):
        if setting.has(element):
            rows.append(row)
            side = "X" if f"X{element.word}" in place and row < n_x_rows else "Y"
            units.append(place[f"{side}{element.word}"])
    return np.array(rows, dtype=np.int64), np.array(units, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class ListView:
    """The texts of one word list in one view of a model."""

    levels: dict[str, str]
    place: Place
    """The place of the view's vectors in the array that all jobs share."""
    rows: dict[str, int]
    """The row of each text in that array."""
    coverage: list[Coverage]
    """The coverage of the texts, in the same order."""

    def encodings(self, vectors: Vector) -> Encodings:
        numbers = {text: number for number, text in enumerate(self.rows)}
        return Encodings(numbers, self.place.of(vectors)[list(self.rows.values())], self.coverage)


@dataclass(frozen=True, slots=True)
class ListJob:
    """One word list on one model; its vectors are rows of the array that all jobs share."""

    model: str
    word_list: WordList
    choices: Choices
    views: tuple[ListView, ...]
    registrations: tuple[Registration, ...] = ()
    """Values that the process must register before it computes the job."""

    def encodings(self, vectors: Vector) -> list[tuple[dict[str, str], Encodings]]:
        return [(view.levels, view.encodings(vectors)) for view in self.views]


def list_jobs(
    model: str,
    lists: Sequence[WordList],
    views: Sequence[tuple[dict[str, str], Encodings]],
    choices: Choices,
    registrations: tuple[Registration, ...],
) -> tuple[Iterator[ListJob], Vector]:
    """Return one job per word list, created when needed, and the array that all jobs share."""
    places, vectors = pack([encodings.vectors for _, encodings in views])
    without_vectors = [
        (levels, place, encodings.row, encodings.coverage)
        for (levels, encodings), place in zip(views, places, strict=True)
    ]

    def jobs() -> Iterator[ListJob]:
        for some in lists:
            texts = list(dict.fromkeys(text for test in some.tests for text in test.texts))
            yield ListJob(
                model,
                some,
                choices,
                tuple(
                    ListView(levels, place, {t: row[t] for t in texts}, [coverage[row[t]] for t in texts])
                    for levels, place, row, coverage in without_vectors
                ),
                registrations,
            )

    return jobs(), vectors


FACTORS = (
    *("similarity", "statistic", "template", "list", "pooling", "layers", "contexts", "length"),
    *("casing", "pieces", "score", "seed"),
)
"""The choices of the factorial design, in the order in which they are shown."""
RANDOM_FACTORS = {"template": "templates", "contexts": "halves of the contexts", "seed": "seeds"}
"""Choices whose levels are a sample from many possible levels."""


def assess(scored: Sequence[Scored], known: Known, choices: Choices) -> dict[str, Any]:
    """Return the record of one list on one model, as plain values."""
    ordered = sorted(
        scored, key=lambda some: not some.counted
    )  # a stable sort: the factorial design, then specifications that are only listed
    counted = sum(some.counted for some in ordered)
    n_x = len(known.x)
    scores = np.stack([some.scores for some in ordered], axis=1)
    each = each_specification(scores, n_x, choices.alpha)
    factorial = scores[:, :counted]
    joint = joint_test(factorial, n_x)
    largest = westfall_young(factorial, n_x, seed=choices.seed)
    factors = _factors(ordered[:counted])
    d = np.nan_to_num(each.d[:counted])
    table = _table(d, ordered[:counted], factors)
    moved = decompose(table, list(factors))
    by_level = _by_level(factorial, ordered[:counted], factors, n_x)
    return {
        "specification_count": counted,
        "n_x": n_x,
        "n_y": len(known.y),
        "dropped": list(known.dropped),
        "choices": {choice: list(names) for choice, names in factors.items()},
        "mean_d": joint.mean_d,
        "median_d": float(np.median(d)),
        "multiverse_p": joint.p,
        "multiverse_p_method": joint.significance.p_method,
        "max_t_p": float(largest.p.min()),
        "max_t_exact": largest.exact,
        "share_same_sign": same_sign(d),
        "share_significant": float((each.p[:counted] <= choices.alpha).mean()),
        "positive": int((d > 0).sum()),
        "decomposition": moved.to_json(),
        "squared_standard_errors": _squared_standard_errors(each, ordered[:counted], table, list(factors)),
        "by_level": by_level,
        "word_scores": dict(zip((*known.x, *known.y), map(float, joint.scores), strict=True)),
        "specifications": _specifications(ordered, each, largest.p),
    }


def same_sign(d: Vector) -> float:
    """Return the share of specifications with the more common sign."""
    return float(max((d > 0).mean(), (d < 0).mean()))


def _factors(scored: Sequence[Scored]) -> dict[str, tuple[str, ...]]:
    """Return the choices with more than one level; if there are none, the similarity."""
    found = {
        choice: tuple(dict.fromkeys(some.levels[choice] for some in scored if choice in some.levels))
        for choice in FACTORS
    }
    several = {choice: names for choice, names in found.items() if len(names) > 1}
    return several or {"similarity": found["similarity"]}


def _table(d: Vector, scored: Sequence[Scored], factors: dict[str, tuple[str, ...]]) -> Matrix:
    """Return d with one axis per choice."""
    table = np.full([len(names) for names in factors.values()], np.nan)
    for value, some in zip(d, scored, strict=True):
        table[tuple(names.index(some.levels[choice]) for choice, names in factors.items())] = value
    assert not np.isnan(table).any(), "the specifications are not a full factorial"
    return table


def _by_level(
    scores: Matrix, scored: Sequence[Scored], factors: dict[str, tuple[str, ...]], n_x: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the mean of d and its p for each level, as an auditor who fixed that level would find."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for choice, names in factors.items():
        for name in names:
            columns = [some.levels[choice] == name for some in scored]
            joint = joint_test(scores[:, columns], n_x, EACH)
            found.setdefault(choice, {})[name] = {"mean_d": joint.mean_d, "multiverse_p": joint.p}
    return found


def _squared_standard_errors(
    each: Specifications, scored: Sequence[Scored], table: Matrix, choices: list[str]
) -> dict[str, float | None]:
    """Return how much a single d would vary with other words, attributes, templates, contexts and seeds."""
    found: dict[str, float | None] = {
        "words": _mean(each.word_variance[: len(scored)]),
        "attributes": _mean(np.array([some.attribute_variance for some in scored])),
    }
    for choice, plural in RANDOM_FACTORS.items():
        if choice in choices:
            found[plural] = float(table.var(axis=choices.index(choice), ddof=1).mean())
    return found


def _mean(values: Vector) -> float | None:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else None


def _specifications(
    ordered: Sequence[Scored], each: Specifications, adjusted: Vector
) -> list[dict[str, Any]]:
    rows = []
    for place, some in enumerate(ordered):
        rows.append(
            {
                **some.levels,
                "d": _plain(each.d[place]),
                "ci_low": _plain(each.low[place]),
                "ci_high": _plain(each.high[place]),
                "p": float(each.p[place]),
                "p_max_t": float(adjusted[place]) if some.counted else None,
                "counted": some.counted,
                "published": _is_published(some),
            }
        )
    return rows


def _is_published(some: Scored) -> bool:
    """Return whether a specification is cosine and mean on single words (Caliskan et al.) or on all sentences (May et
    al.).
    """
    chosen = some.levels
    usual = chosen["similarity"] == "cosine" and chosen["statistic"] == "mean"
    return usual and chosen["template"] in (WORD, SENTENCES)


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def conclusion(record: dict[str, Any], alpha: float) -> dict[str, Any]:
    """Return whether the mean effect is shown, and the choices that it depends on.

    The conclusion is based on p corrected over all topics and lists of the model in this multiverse. It depends on a
    choice if its levels disagree, that is, if only some show a significant effect, or if they show it in opposite
    directions. This is examined only if the multiverse p or the smallest maxT p is at most alpha. The choice that
    changes d most is named first.
    """
    on_the_whole = record["multiverse_p_holm"] <= alpha
    somewhere = record["max_t_p_holm"] <= alpha
    deciding = []
    if on_the_whole or somewhere:
        shares = sorted(record["decomposition"]["main"].items(), key=lambda item: -item[1])
        deciding = [choice for choice, _ in shares if _disagree(record["by_level"].get(choice, {}), alpha)]
    shown = "hangs" if deciding else "robust"
    kind = shown if on_the_whole else "somewhere" if somewhere else "not shown"
    sentence = _sentence(kind, deciding, record, alpha)
    if record["multiverse_p"] <= alpha < record["multiverse_p_holm"]:
        sentence += (
            f"; before correction for {record['family']} lists, multiverse p is {record['multiverse_p']:.2g}"
        )
    return {"kind": kind, "hangs_on": deciding, "sentence": sentence}


def _disagree(levels: dict[str, dict[str, float]], alpha: float) -> bool:
    signs = {np.sign(level["mean_d"]) if level["multiverse_p"] <= alpha else 0.0 for level in levels.values()}
    return len(signs) > 1


def _sentence(kind: str, deciding: Sequence[str], record: dict[str, Any], alpha: float) -> str:
    if kind == "robust":
        return "shown over all specifications, and at every level of every choice"
    if kind == "not shown":
        return "not shown over all specifications, nor in any single one"
    start = "shown over all specifications" if kind == "hangs" else "shown only in some specifications"
    if not deciding:
        return f"{start}; no single choice explains the difference"
    choice = deciding[0]
    levels = record["by_level"][choice]
    seen = [name for name, level in levels.items() if level["multiverse_p"] <= alpha]
    others = [name for name in levels if name not in seen]
    detail = f"shown with {_listed(seen)}" if seen else "not significant at any single level of this choice"
    detail += f", not with {_listed(others)}" if seen and others else ""
    if seen and len({math.copysign(1, levels[name]["mean_d"]) for name in seen}) > 1:
        detail += ", in opposite directions"
    more = f"; it also depends on {_listed(deciding[1:])}" if deciding[1:] else ""
    return f"{start}; it depends on {choice} ({detail}){more}"


def _listed(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

"""Measure which of two attribute sets each word leans to, with its p, and whether known facts agree.

The effect of a word is the effect size of WEFAT (Caliskan et al. 2017) or SC-WEAT (Toney & Caliskan 2021). With a
column of facts, such as the share of women in an occupation, the effects are correlated with it, as Caliskan et al.
do.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.audit.encode import Encodings, encode_texts
from weatherglass.audit.plan import PlannedModel
from weatherglass.audit.shown import Shown
from weatherglass.catalogue import load_test
from weatherglass.catalogue.test import ElementSet, Test
from weatherglass.catalogue.words import read_words
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.in_memory import one_model_in
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.metrics.sc_weat import standardised_cosines
from weatherglass.parallel import Backend, backend
from weatherglass.parallel.base import values_of
from weatherglass.progress import Progress, Silent, check_progress
from weatherglass.registry import checked_text, checked_texts, one_of, shown, wrong_type
from weatherglass.stats import DEFAULT_CORRECTION
from weatherglass.stats.multiplicity import ADJUSTMENTS, adjust
from weatherglass.stats.permutation import Alternative, Budget, permutation_test
from weatherglass.storage.reading import is_regular_file
from weatherglass.storage.tables import TABLES

BUDGET = Budget(seconds=0.05)
"""The budget for the p of one word; since there are many words, certified bounds within 1 % replace long counts."""
WORDS_IN_A_UNIT = 16
"""The number of words per job, the same for every backend; a job takes less than a second."""
DEFAULT_ATTRIBUTES = "weat7"
LEAST_FACTS = 4
"""The smallest number of words with a fact for which a correlation and its interval are computed."""


@dataclass(frozen=True, slots=True)
class MappedWord:
    """The effect of one word."""

    word: str
    effect_size: float
    """The effect size, which is above 0 if the word is nearer to A; NaN if it is equally near to all attributes."""
    p_value: float
    """The two-sided p from exchanging the labels of the attributes, which is exact or has certified bounds within 1
    %.
    """
    p_adjusted: float
    fact: float | None = None
    """A fact about the word, such as the share of women in an occupation; None if there is none."""


@dataclass(frozen=True, slots=True)
class FactCorrelation:
    """Pearson's correlation of effect sizes with facts, over the words that have both."""

    r: float
    low: float
    """The 95 % interval from Fisher's transformation, over words, for fixed attributes."""
    high: float
    p_value: float
    words: int


@dataclass(frozen=True, slots=True, repr=False)
class WordMap(Shown):
    """A map of words, from the one that leans most to A to the one that leans most to B."""

    kind: ClassVar[str] = "WordMapView"
    model: str
    a: str
    """The name of the first attribute set."""
    b: str
    correction: str
    words: tuple[MappedWord, ...]
    unknown: tuple[str, ...]
    """Words and attributes that the model does not know."""
    facts: FactCorrelation | None

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with NaN as None."""
        record = asdict(self)
        for word in record["words"]:
            word["effect_size"] = None if math.isnan(word["effect_size"]) else word["effect_size"]
        return record


def word_map(
    words: Any,
    attributes: Any = DEFAULT_ATTRIBUTES,
    model: Any = DEFAULT_MODEL,
    *,
    facts: str | None = None,
    correction: str = DEFAULT_CORRECTION,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> WordMap:
    """Measure which of two attribute sets each word leans to.

    The model may also come first, as in `run`: words(model, words, attributes). `words` and `word_map` are the same
    function.

    Args:
        words: the words; a mapping or a pandas Series from words to facts, such as the share of women in an
            occupation; or the path of a list or table (.txt, .csv, .tsv, .xlsx).
        attributes: a test whose A and B are used (weat7 has male and female terms), or two lists of words.
        model: a spec, or an object in memory, as `run` takes it.
        facts: the column of facts, if `words` is a table.
        correction: the correction over the words, holm or benjamini-hochberg.
        jobs: the number of local processes.
        scheduler: a Dask cluster to use instead (tcp://HOST:PORT or a scheduler file), or ENGINE:ADDRESS with an
            engine of another package.
        shared_dir: a folder that all machines of the cluster see under the same path.
        progress: an object whose methods report the progress of the work.

    Raises:
        WeatherglassError: if the attributes are not two sets, or fewer than two of a set are known.
    """
    check_progress(progress)
    one_of("correction", correction, ADJUSTMENTS)
    if not _are_words(words) and _are_words(attributes):
        given = model if model is not DEFAULT_MODEL else DEFAULT_ATTRIBUTES
        words, attributes, model = attributes, given, words
    facts_of = _facts(words, facts)
    sets = _attribute_sets(attributes)
    workers = backend(jobs, scheduler, shared_dir)
    found, progress = PlannedModel.of(one_model_in(model)), progress or Silent()
    texts = [*facts_of, *(text for _, texts in sets for text in texts), *found.texts()]
    encodings = encode_texts(found.encoder, texts, workers, progress)
    known = {name: [t for t in dict.fromkeys(texts) if encodings.known(t)] for name, texts in sets}
    for (name, given), left in zip(sets, known.values(), strict=True):
        if len(left) < 2:
            raise UnitError(
                f"{found.name} knows {len(left)} of the {len(given)} words of {name}, but 2 are needed"
            )
    vectors = encodings.transformed(found.transforms)
    readable = [w for w in facts_of if encodings.known(w)]
    table, n_a = cosines_with_all(readable, list(known.values()), vectors)
    p_values = p_values_of(table, n_a, found.name, workers, progress)
    mapped = _mapped(readable, table, n_a, p_values, correction, facts_of)
    (a, _), (b, _) = sets
    return WordMap(
        found.name,
        a,
        b,
        correction,
        tuple(sorted(mapped, key=lambda word: (math.isnan(word.effect_size), -word.effect_size))),
        tuple(
            dict.fromkeys(
                t for t in [*facts_of, *(t for _, ts in sets for t in ts)] if not encodings.known(t)
            )
        ),
        fact_correlation(mapped),
    )


def _are_words(given: object) -> bool:
    """Return whether an object is a collection of texts, a mapping from words to numbers, or the path of a list of
    words.
    """
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        return path.suffix.lower() in (*TABLES, ".txt") and is_regular_file(path)
    if isinstance(given, Mapping):
        return all(value is None or isinstance(value, Real) for value in given.values())
    return (
        isinstance(given, Collection)
        and not isinstance(given, bytes)
        and len(getattr(given, "shape", ())) <= 1  # a frame of vectors has two
        and (_is_series_of_numbers(given) or all(isinstance(word, str) for word in given))
    )


def _is_series_of_numbers(given: object) -> bool:
    """Return whether an object is a pandas Series of numbers, with the words as its index."""
    kind = getattr(getattr(given, "dtype", None), "kind", "")
    return hasattr(given, "to_dict") and hasattr(given, "index") and kind in ("i", "u", "f")


def _facts(words: Any, column: str | None) -> dict[str, float | None]:
    """Return the fact for each word; None for a word without one.

    Args:
        words: words in any form.
        column: the column of facts, if they are in a table.

    Raises:
        WeatherglassError: if the object does not contain words.
    """
    if not _are_words(words):
        raise wrong_type("words", "a list of words, a dict of numbers by word, or the path of a list", words)
    if isinstance(words, str | os.PathLike):
        return read_words(Path(words), column).words
    if column is not None:
        raise WeatherglassError(
            f"facts='{shown(column)}' names a column of a table; pass the path of the table as the argument words"
        )
    if _is_series_of_numbers(words):
        words = {word: None if math.isnan(fact) else float(fact) for word, fact in words.to_dict().items()}
    facts: dict[str, float | None] = dict(words) if isinstance(words, Mapping) else dict.fromkeys(words)
    if not facts:
        raise WeatherglassError("no words are given, but a map needs at least one")
    for word in facts:
        checked_text("a word", word)
    return facts


def _attribute_sets(given: object) -> list[tuple[str, Sequence[str]]]:
    if isinstance(given, list | tuple):
        if len(given) != 2:
            raise WeatherglassError(f"attributes should be two lists of words, but there are {len(given)}")
        return [
            (name, checked_texts(f"attributes {name}", words))
            for name, words in zip("AB", given, strict=True)
        ]
    if not isinstance(given, str | os.PathLike | Test):
        raise wrong_type("attributes", "a test, or two lists of words", given)
    test = given if isinstance(given, Test) else load_test(os.fspath(given))
    if len(test.attributes) != 2:
        raise WeatherglassError(
            f"{test.name} has {len(test.attributes)} attribute sets, but a map of words needs two"
        )
    return [(s.category, _texts(s)) for s in test.attributes]


def _texts(element_set: ElementSet) -> Sequence[str]:
    return element_set.texts


def cosines_with_all(
    words: Sequence[str], attributes: Sequence[Sequence[str]], encodings: Encodings
) -> tuple[Matrix, int]:
    """Return the standardised cosines of words with all attributes, and the number of attributes that belong to A."""
    if not words:
        raise UnitError("the model does not know any of the words")
    rows = [encodings.vectors[[encodings.row[text] for text in texts]] for texts in (words, *attributes)]
    for texts, vectors in zip((words, *attributes), rows, strict=True):
        zero = ~vectors.any(axis=1)
        if zero.any():
            raise UnitError(
                f"the vector of '{texts[int(np.argmax(zero))]}' is zero, so its cosine is undefined"
            )
    return standardised_cosines(rows[0], np.concatenate(rows[1:])), len(attributes[0])


@dataclass(frozen=True, slots=True, eq=False)
class WordUnit:
    """Some words whose p another process can compute."""

    table: Matrix
    """A row per word, with its standardised cosines with the attributes."""
    n_a: int
    alternative: Alternative = "two-sided"


def p_values_of(
    table: Matrix,
    n_a: int,
    model: str,
    workers: Backend,
    progress: Progress,
    alternative: Alternative = "two-sided",
) -> Vector:
    """Return p of every word, from its standardised cosines with all attributes, those of A first."""
    if not workers.in_process:
        from weatherglass.stats.permutation.kernels import prepare

        # Compile the kernels before other processes need them.
        prepare(lambda message: progress.stage(message, 1))
    units = [
        WordUnit(table[n : n + WORDS_IN_A_UNIT], n_a, alternative)
        for n in range(0, len(table), WORDS_IN_A_UNIT)
    ]
    progress.stage(f"testing {model}", len(units))
    return np.concatenate(values_of(workers, p_of_words, units, progress))


def p_of_words(unit: WordUnit) -> Vector:
    """Return p of the words of one job, in any process."""
    return np.array(
        [1.0 if np.isnan(row).any() else _p(row, unit.n_a, unit.alternative) for row in unit.table]
    )


def _mapped(
    words: Sequence[str],
    table: Matrix,
    n_a: int,
    p_values: Vector,
    correction: str,
    facts: Mapping[str, float | None],
) -> list[MappedWord]:
    effects = table[:, :n_a].mean(axis=1) - table[:, n_a:].mean(axis=1)
    adjusted = adjust(p_values, correction)
    return [
        MappedWord(word, float(d), float(p), float(q), facts.get(word))
        for word, d, p, q in zip(words, effects, p_values, adjusted, strict=True)
    ]


def _p(row: Vector, n_a: int, alternative: Alternative) -> float:
    return permutation_test(row[:n_a], row[n_a:], alternative=alternative, budget=BUDGET).p_value


def fact_correlation(words: Sequence[MappedWord]) -> FactCorrelation | None:
    """Return the correlation of effects and facts; None if fewer than four words have both, or one is constant."""
    from scipy.stats import pearsonr

    pairs = [(w.effect_size, w.fact) for w in words if w.fact is not None and not math.isnan(w.effect_size)]
    effects, facts = (
        (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True)) if pairs else ((), ())
    )
    if len(pairs) < LEAST_FACTS or np.ptp(effects) == 0 or np.ptp(facts) == 0:
        return None
    found = pearsonr(effects, facts)
    low, high = found.confidence_interval(0.95)
    return FactCorrelation(float(found.statistic), float(low), float(high), float(found.pvalue), len(pairs))

"""Judge the statements of May et al. (2019) about their results, on all given models and on Table 4.

"Significant" means p ≤ 0.01, marked * or **; for statements "after correction", only ** counts. The marks of
weatherglass are corrected over the rows of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from weatherglass.reproduce.may2019 import MODELS, Results, published, variant_of
from weatherglass.reproduce.may2019.designs import ABW, LEVELS, NAMES_AND_TERMS
from weatherglass.reproduce.sheets import PaperClaim

Cells = Mapping[tuple[str, str], tuple[float, str]]
"""d and its mark, by test and model."""
Judged = tuple[bool | None, str]

BIND: Final = "heilman_double_bind"
COMPETENT, LIKABLE = (f"{BIND}_{what}" for what in ("competent", "likable"))
TABLE_4_PAIRS: Final = ("weat1", "weat3", "weat6", ABW, f"{COMPETENT}_one_word", f"{LIKABLE}_one_word")
"""Word tests of Table 4 that also exist with bleached sentences."""
CALISKAN: Final = ("1", "2", "3", "3b", "4", "5", "5b", "6", "6b", "7", "7b", "8", "8b", "9", "10")
ALL_PAIRS: Final = (*(f"weat{test}" for test in CALISKAN), *TABLE_4_PAIRS[3:], f"{ABW}_b")
BLEACHED_COMPETENT: Final = f"sent-{COMPETENT}_one_word"
RECENT: Final = ("elmo", "gpt", "bert")
"""Sections of docs/encoders.md with the models that the paper calls recent; the other models are the previous ones."""
TO_VECTOR: Final = ("infersent", "gensen", "use")
"""The models that the paper calls sentence-to-vector encoders."""


def check_claims(models: Sequence[str], ours: Results) -> list[PaperClaim]:
    """Judge every statement, in the paper's order, on all given models together."""
    own = {key: (result.effect_size, result.mark) for key, result in ours.items() if key[1] in models}
    printed = published().effect_sizes
    claims = []
    for statement, rule in CLAIMS.items():
        holds, numbers = _judged(rule, own) if models else (None, "no model is given")
        theirs_hold, theirs = _judged(rule, printed, "Table 4 has none of ")
        claims.append(PaperClaim(statement, holds, numbers, theirs, theirs_hold))
    return claims


def _judged(rule: Callable[[Cells], Judged], cells: Cells, without: str = "needs ") -> Judged:
    """Return the verdict of a rule, or None with a reason if a test or model that it needs is missing."""
    try:
        return rule(cells)
    except KeyError as missing:
        return None, f"{without}{missing.args[0]}"


def _models(cells: Cells) -> list[str]:
    return list(dict.fromkeys(model for _, model in cells))


def _pairs(cells: Cells, tests: Iterable[tuple[str, str]]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Return the pairs of tests of each model that both have a cell.

    Raises:
        KeyError: if there are no pairs; the error names the first of `tests`.
    """
    listed = list(tests)
    found = [
        ((first, model), (second, model))
        for model in _models(cells)
        for first, second in listed
        if (first, model) in cells and (second, model) in cells
    ]
    if not found:
        raise KeyError(" and ".join(listed[0]))
    return found


def _count(cells: Cells, keys: Iterable[tuple[str, str]], mark: str = "*") -> int:
    """Count the significant cells or, with the mark **, those that are significant after correction."""
    return sum(cells[key][1].startswith(mark) for key in keys)


def _against(cells: Cells, pairs: Iterable[tuple[str, str]], names: tuple[str, str]) -> tuple[int, int, str]:
    """Count how often the first and the second test of each pair are significant, and return a description."""
    found = _pairs(cells, pairs)
    halves = list(zip(*found, strict=True))
    first, second = (_count(cells, half) for half in halves)
    after = [_count(cells, half, "**") for half in halves]
    said = f"{names[0]} {first}, {names[1]} {second}, of {len(found)} each; after correction {after[0]} and {after[1]}"
    return first, second, said


def names_more_than_terms(cells: Cells) -> Judged:
    """Judge whether given names are more often significant than group terms in the same test."""
    pairs = [(f"{level}{names}", f"{level}{terms}") for level in LEVELS for names, terms in NAMES_AND_TERMS]
    if not any((terms, model) in cells for _, terms in pairs for model in _models(cells)):
        raise KeyError(f"the tests by group terms ({', '.join(terms for _, terms in NAMES_AND_TERMS)})")
    names, terms, said = _against(cells, pairs, ("names", "terms"))
    return names > terms, said


def sentences_more_than_words(tests: Sequence[str]) -> Callable[[Cells], Judged]:
    """Return the rule that bleached sentences are more often significant than single words."""

    def rule(cells: Cells) -> Judged:
        words, sentences, said = _against(cells, [(t, f"sent-{t}") for t in tests], ("words", "sentences"))
        return sentences > words, said

    return rule


def words_larger(tests: Sequence[str]) -> Callable[[Cells], Judged]:
    """Return the rule that single words have the larger effect in most pairs."""

    def rule(cells: Cells) -> Judged:
        pairs = _pairs(cells, [(test, f"sent-{test}") for test in tests])
        larger = sum(abs(cells[word][0]) > abs(cells[sentence][0]) for word, sentence in pairs)
        return larger > len(pairs) / 2, f"|d| of words is larger in {larger} of {len(pairs)}"

    return rule


def _share(
    cells: Cells, wanted: Callable[[str], bool], models: Collection[str] | None = None
) -> tuple[int, int, int]:
    """Return the numbers of significant cells, of cells significant after correction, and of all cells."""
    keys = [key for key in cells if wanted(key[0]) and (models is None or key[1] in models)]
    return _count(cells, keys), _count(cells, keys, "**"), len(keys)


def _is_bind(test: str) -> bool:
    return BIND in test


def _is_stereotype(test: str) -> bool:
    return not _is_bind(test)


def stereotypes_more_than_double_bind(cells: Cells) -> Judged:
    """Judge whether a larger share of Caliskan and ABW tests than of double bind tests is significant, also after
    correction.
    """
    first, bind = _share(cells, _is_stereotype), _share(cells, _is_bind)
    if not (first[2] and bind[2]):
        raise KeyError(BIND if first[2] else "weat1")
    holds = all(first[way] / first[2] > bind[way] / bind[2] for way in (0, 1))
    said = [
        f"{name} {some} of {total}, after correction {after}"
        for name, (some, after, total) in (("Caliskan and ABW", first), ("double bind", bind))
    ]
    return holds, "; ".join(said)


def bind_only_in_the_bleached_control(cells: Cells) -> Judged:
    """Judge whether the bleached competent control is the only double bind test significant after correction."""
    bind = [key for key in cells if _is_bind(key[0])]
    if not bind:
        raise KeyError(BLEACHED_COMPETENT)
    marked = Counter(test for test, model in bind if cells[test, model][1] == "**")
    said = ", ".join(f"{_short(test)} {count}×" for test, count in marked.items()) or "none"
    return set(marked) == {BLEACHED_COMPETENT}, f"significant after correction: {said}"


def bind_differs_over_models(cells: Cells) -> Judged:
    """Judge whether no double bind test of Table 4 is significant for ELMo and GPT, but one is for USE and one for
    BERT.

    The statement is in footnote 9 of the paper.
    """
    shown = {test for test in published().tests if _is_bind(test)}
    counts = {
        model: _count(cells, [key for key in cells if key[1] == model and key[0] in shown])
        for model in _models(cells)
    }
    if not counts:
        raise KeyError("elmo, gpt, use and bert")
    said = ", ".join(f"{model} {count}" for model, count in counts.items())
    expected = {"elmo": 0, "gpt": 0, "use": 1, "bert": 1}
    known = {variant_of(model): count for model, count in counts.items()}
    if not set(expected) <= set(known):
        return None, f"{said}; needs {', '.join(name for name in expected if name not in known)}"
    return all(known[name] == count for name, count in expected.items()), said


def _of_pages(cells: Cells, pages: Collection[str]) -> list[str]:
    """Return the models that are variants on these pages."""
    return [m for m in _models(cells) if (variant := variant_of(m)) and MODELS[variant].page in pages]


def sentence_to_vector_encoders_largely_exhibit(cells: Cells) -> Judged:
    """Judge whether InferSent, GenSen and USE show most Caliskan and ABW biases, but a smaller share of double bind
    biases.
    """
    models = _of_pages(cells, TO_VECTOR)
    if not models:
        raise KeyError("infersent, gensen or use")
    (some, _, total), (bind, _, of_bind) = (_share(cells, w, models) for w in (_is_stereotype, _is_bind))
    holds = some > total / 2 and (not of_bind or some / total > bind / of_bind)
    return holds, f"Caliskan and ABW {some} of {total}, double bind {bind} of {of_bind}"


def recent_encoders_show_less(cells: Cells) -> Judged:
    """Judge whether a smaller share of tests is significant for ELMo, GPT and BERT than for previous encoders."""
    recent, previous = _of_pages(cells, RECENT), _of_pages(cells, ("cbow", *TO_VECTOR))
    if not (recent and previous):
        raise KeyError("elmo, gpt or bert" if previous else "cbow, infersent, gensen or use")
    (some, _, total), (before, _, of_before) = (_share(cells, bool, m) for m in (recent, previous))
    return some / total < before / of_before, f"recent {some} of {total}, previous {before} of {of_before}"


CLAIMS: Final[Mapping[str, Callable[[Cells], Judged]]] = {
    "Given names are more often significant than group terms": names_more_than_terms,
    "Bleached sentences are more often significant than single words (tests of Table 4)": sentences_more_than_words(
        TABLE_4_PAIRS
    ),
    "Bleached sentences are more often significant than single words (all pairs)": sentences_more_than_words(
        ALL_PAIRS
    ),
    "Single words have the larger d (tests of Table 4)": words_larger(TABLE_4_PAIRS),
    "Single words have the larger d (all pairs)": words_larger(ALL_PAIRS),
    "The evidence is stronger for Caliskan's tests and the angry black woman stereotype than for the double bind": (
        stereotypes_more_than_double_bind
    ),
    "After correction, the double bind is significant only in the bleached competent control": (
        bind_only_in_the_bleached_control
    ),
    "The double bind differs between models: none for ELMo and GPT, one each for USE and BERT": (
        bind_differs_over_models
    ),
    (
        "Sentence-to-vector encoders show most biases tested by Caliskan et al. and the angry black woman stereotype, "
        "but fewer double-bind biases"
    ): sentence_to_vector_encoders_largely_exhibit,
    "Recent encoders (ELMo, GPT, BERT) show fewer biases than previous ones": recent_encoders_show_less,
}
"""The statements of the paper, each with the rule that judges it."""


def _short(test: str) -> str:
    return test.replace(f"{BIND}_", "").replace("sent-", "bleached ")

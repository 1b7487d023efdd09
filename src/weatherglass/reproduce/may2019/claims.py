"""The statements of May et al. (2019) about their results, judged on each model: by our numbers and by Table 4.

Significant is what the paper calls so: p ≤ 0.01 after Holm over its 644 tests, `**`; for single words against bleached
sentences it counts any p ≤ 0.01, `*` or `**`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from weatherglass.reproduce.claims import Claim
from weatherglass.reproduce.may2019.procedure import Results, published

Cells = Mapping[str, tuple[float, str]]
"""By test: d and its mark, of one model."""

NAMES = tuple(f"{level}{test}" for test in ("weat3", "weat4", "weat5") for level in ("", "sent-"))
TERMS = tuple(f"{level}{test}" for test in ("weat3b", "weat5b") for level in ("", "sent-"))
PAIRED = (
    *(
        f"weat{test}"
        for test in ("1", "2", "3", "3b", "4", "5", "5b", "6", "6b", "7", "7b", "8", "8b", "9", "10")
    ),
)
"""Word tests that are also asked in bleached sentences."""
ANGRY = tuple(
    f"{level}angry_black_woman_stereotype{terms}" for terms in ("", "_b") for level in ("", "sent-")
)
BIND = tuple(
    f"heilman_double_bind_{what}_{form}"
    for what in ("competent", "likable")
    for form in ("one_word", "one_sentence", "1", "1+3-", "1-")
)
BLEACHED_BIND = tuple(f"sent-heilman_double_bind_{what}_one_word" for what in ("competent", "likable"))
BLEACHED_COMPETENT = BLEACHED_BIND[0]


def check_claims(models: Sequence[str], ours: Results) -> dict[str, list[Claim]]:
    """Every statement for every model, in the paper's order."""
    found: dict[str, list[Claim]] = {}
    for model in models:
        own = {
            test: (result.effect_size, result.significance)
            for (test, name), result in ours.items()
            if name == model
        }
        printed = {test: cell for (test, name), cell in published().effect_sizes.items() if name == model}
        found[model] = [
            Claim(statement, *_judged(rule, own), _judged(rule, printed, "not all in Table 4")[1])
            for statement, rule in CLAIMS.items()
        ]
    return found


def _judged(
    rule: Callable[[Cells], tuple[bool, str]], cells: Cells, lacking: str = ""
) -> tuple[bool | None, str]:
    """What the rule says; None where a test that it needs is lacking."""
    try:
        return rule(cells)
    except KeyError as missing:
        return None, lacking or f"needs {missing.args[0]}"


def _pairs(cells: Cells) -> list[str]:
    """The word tests of which these cells have the sentences, too."""
    found = [test for test in PAIRED if test in cells and f"sent-{test}" in cells]
    if not found:
        raise KeyError(PAIRED[0])
    return found


def _significant(cells: Cells, tests: Sequence[str], marks: str = "**") -> int:
    return sum(cells[test][1].startswith(marks) for test in tests)


def names_more_than_terms(cells: Cells) -> tuple[bool, str]:
    """Of tests of European and African Americans, a larger share by given names than by group terms."""
    names, terms = _significant(cells, NAMES), _significant(cells, TERMS)
    return names / len(NAMES) > terms / len(
        TERMS
    ), f"names {names} of {len(NAMES)}, terms {terms} of {len(TERMS)}"


def sentences_more_significant(cells: Cells) -> tuple[bool, str]:
    """Bleached sentences are significant more often than single words."""
    tests = _pairs(cells)
    words = _significant(cells, tests, "*")
    sentences = _significant(cells, [f"sent-{test}" for test in tests], "*")
    return sentences > words, f"sentences {sentences}, words {words}, of {len(tests)} each"


def words_larger(cells: Cells) -> tuple[bool, str]:
    """The effect of single words is larger in most of the pairs."""
    tests = _pairs(cells)
    larger = sum(abs(cells[test][0]) > abs(cells[f"sent-{test}"][0]) for test in tests)
    return larger > len(tests) / 2, f"|d| of words is larger in {larger} of {len(tests)}"


def double_bind_only_in_the_bleached_control(cells: Cells) -> tuple[bool, str]:
    """Nothing of the double bind is significant but the bleached competent control."""
    marked = [test for test in (*BIND, *BLEACHED_BIND) if cells[test][1] == "**"]
    return marked == [BLEACHED_COMPETENT], f"significant: {', '.join(map(_short, marked)) or 'none'}"


def angry_black_woman(cells: Cells) -> tuple[bool, str]:
    """Some test of the Angry Black Woman stereotype is significant."""
    marked = [test for test in ANGRY if cells[test][1] == "**"]
    return bool(marked), f"significant: {len(marked)} of {len(ANGRY)}"


CLAIMS: Mapping[str, Callable[[Cells], tuple[bool, str]]] = {
    "Names are more often significant than group terms (weat3 to 5)": names_more_than_terms,
    "Bleached sentences are more often significant than single words": sentences_more_significant,
    "Single words have the larger d": words_larger,
    "The double bind is significant only in the bleached competent control": double_bind_only_in_the_bleached_control,
    "The Angry Black Woman stereotype is significant in some test": angry_black_woman,
}
"""What the paper says, and the rule that decides it on the cells of one model."""


def _short(test: str) -> str:
    return test.replace("heilman_double_bind_", "").replace("sent-", "bleached ")


def claim_rows(claims: Mapping[str, Sequence[Claim]]) -> Iterator[tuple[str, str, str, str, str]]:
    """Model, statement, verdict, ours, published."""
    for model, listed in claims.items():
        for claim in listed:
            yield model, claim.statement, claim.verdict, claim.ours, claim.theirs

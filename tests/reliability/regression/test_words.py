"""The explanation in plain words: each sentence against an explanation that was made to bear it out, or not."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.messages import in_order, mentions

from weatherglass.reliability.regression.explain import Explanation, FittedModel, Part, Published
from weatherglass.reliability.regression.fit import Coefficient, MixedFit, RSquared
from weatherglass.reliability.regression.tables import (
    agreeing_in_all,
    differing_signs,
    join_names,
    plain_sentences,
)


def coefficient(name: str, estimate: float, se: float = 0.01) -> Coefficient:
    return Coefficient(name, estimate, se, estimate - 1.96 * se, estimate + 1.96 * se)


def model(lost: dict[str, float], *coefficients: Coefficient, word: float = 0.1) -> FittedModel:
    """Variances of 0.3 between algorithms, `word` between words, and 0.4 left over."""
    fit = MixedFit(
        rows=90,
        levels={"algorithm": 2, "word": 30},
        intercept=coefficient("intercept", 0.5),
        coefficients=coefficients,
        variances={"algorithm": 0.3, "word": word},
        residual=0.4,
        r2=RSquared(0.2, 0.2 + 0.3 + word),
        warnings=(),
    )
    return FittedModel(fit, {factor: RSquared(loss, 0.0) for factor, loss in lost.items()})


LOST = {"rule": 0.13, "log freq": -0.02, "log senses": 0.001, "l2 norm": 0.03}
COEFFICIENTS = (
    coefficient("rule:nbm", -0.1),
    coefficient("log freq", 0.2),
    coefficient("log senses", 0.01),
    coefficient("l2 norm", -0.3),
)


@pytest.fixture
def part() -> Part:
    published = [replace(c, low=0.001) if c.name == "log senses" else c for c in COEFFICIENTS]
    wider = [replace(c, se=0.0125) if c.name == "log senses" else c for c in COEFFICIENTS]
    return Part(
        reliability="test-retest",
        models={"as published": model(LOST, *published), "with word": model(LOST, *wider)},
        references={"rule": "dbwa"},
        rows=100,
        dropped={"no senses": 10},
        inflation={},
        published=Published({"rule:nbm": 0.1, "log freq": 0.1, "l2 norm": -0.1}, {"algorithm": 0.18}),
        warnings=(),
    )


def test_every_sentence_follows_from_the_numbers(part: Part) -> None:
    sentences = plain_sentences(part)
    expected = (
        in_order(90, 100, "10 %", 10, "no senses"),
        in_order("R²", "0.200", "rule", "0.1300", "l2 norm", "0.0300", "0.005", "log senses", "log freq"),
        in_order("log freq", "+0.2000", "l2 norm", "−0.3000", "log senses"),
        in_order("0.300", "2 levels", "algorithm", "0.180"),
        in_order(2, "log freq", "l2 norm", 1, "rule:nbm"),
        in_order("(1|word)", "10.0 %", "log senses", "pos", "25 %", "none", "log senses"),
    )
    assert len(sentences) == len(expected)
    for sentence, pattern in zip(sentences, expected, strict=True):
        assert re.search(pattern, sentence)
    named = [re.findall("rule:nbm|rule|log freq|log senses|l2 norm|pos", sentence) for sentence in sentences]
    assert [len(names) for names in named] == [0, 4, 3, 0, 3, 3]  # and no other factor


def test_a_factor_that_explains_more_than_the_rule_is_named_alone(part: Part) -> None:
    more = replace(part, models={"with word": model({**LOST, "l2 norm": 0.2}, *COEFFICIENTS)})
    lines = plain_sentences(more)
    assert re.search(in_order("R²", "0.200", "l2 norm", "0.2000"), lines[1])
    assert not mentions(lines[1], "rule")
    assert not any("(1|word)" in line for line in lines)
    nothing = replace(part, models={"with word": model({"rule": -0.1}, *COEFFICIENTS)})
    assert mentions(plain_sentences(nothing)[1], "R²")
    assert not re.search(r"\d\.\d|rule", plain_sentences(nothing)[1])


def test_agreement_everywhere_needs_every_reliability(part: Part) -> None:
    other = replace(part, reliability="inter-rater", published=Published({"log freq": 0.1, "l2 norm": 1}, {}))
    assert agreeing_in_all(Explanation((part, part))) == ["log freq", "l2 norm"]
    assert agreeing_in_all(Explanation((part, other))) == ["log freq"]
    assert agreeing_in_all(Explanation(())) == []


def test_signs_that_differ_between_conditions_come_with_their_estimates(part: Part) -> None:
    turned = [replace(c, estimate=-0.05) if c.name == "log senses" else c for c in COEFFICIENTS[:3]]
    other = replace(part, models={"with word": model(LOST, *turned)})
    assert differing_signs({"4": other, "8": part}) == {"log senses": {"4": -0.05, "8": 0.01}}


def test_lists_read_as_lists() -> None:
    assert [join_names([]), join_names("a"), join_names("ab"), join_names("abc")] == [
        "none",
        "a",
        "a and b",
        "a, b and c",
    ]

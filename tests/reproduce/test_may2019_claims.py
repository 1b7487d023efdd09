"""The statements of May et al. (2019): Table 4 by numbers counted in the paper, other cells written down here."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from tests.messages import in_order, mentions
from tests.oracles import may2019 as oracle

from weatherglass.reproduce.may2019.claims import CLAIMS, check_claims
from weatherglass.reproduce.sheets import PaperClaim

(NAMES, SENTENCES, ALL_SENTENCES, LARGER, ALL_LARGER, EVIDENCE, CONTROL, OVER_MODELS, TO_VECTOR, RECENT) = (
    range(10)
)
"""The statements, in their order."""


@dataclass
class Cell:
    """What a claim reads of a result."""

    effect_size: float
    mark: str


def judged(marked: dict[tuple[str, str], str], *models: str) -> list[PaperClaim]:
    """The statements on tests that are all there; words have |d| 1 and sentences 0.5."""
    cells = {
        (test, model): Cell(0.5 if test.startswith("sent-") else -1.0, marked.get((test, model), ""))
        for model in models
        for test in oracle.ALL_TESTS
    }
    return check_claims(models, cells)  # type: ignore[arg-type]


def test_every_statement_of_the_paper_is_judged_once() -> None:
    assert len(CLAIMS) == len(check_claims([], {})) == 10
    assert len(oracle.ALL_TESTS) == 46


def test_table_4_bears_out_what_the_paper_says_of_it() -> None:
    """Counted in the paper's Table 4 by hand; group terms are not in it."""
    claims = check_claims([], {})
    assert [claim.theirs_hold for claim in claims] == [None, *[True] * 9]
    assert [claim.holds for claim in claims] == [None] * 10
    for statement, numbers in oracle.STATEMENTS.items():
        assert mentions(claims[statement].theirs, *numbers), CLAIMS


def test_names_are_compared_with_group_terms_in_all_six_pairs_and_both_contexts() -> None:
    assert judged({}, "bert")[NAMES].holds is False
    for names, terms in oracle.NAMES_AND_TERMS:
        for level in ("", "sent-"):
            assert judged({(f"{level}{names}", "bert"): "*"}, "bert")[NAMES].holds is True
            assert judged({(f"{level}{terms}", "bert"): "*"}, "bert")[NAMES].holds is False
    both = {("weat3", "bert"): "*", ("weat3b", "use"): "**"}
    (claim, *_) = judged(both, "bert", "use")
    assert claim.holds is False  # 1 and 1, over both models
    assert mentions(claim.ours, "24")


def test_words_and_sentences_are_counted_over_all_models() -> None:
    marked = {("sent-weat1", "bert"): "*", ("weat1", "use"): "**", ("sent-weat9", "use"): "*"}
    claims = judged(marked, "bert", "use")
    assert claims[SENTENCES].holds is False  # 1 and 1 of 12: weat9 is not in Table 4
    assert claims[ALL_SENTENCES].holds is True  # 1 and 2 of 38
    assert mentions(claims[ALL_SENTENCES].ours, "38")
    assert claims[LARGER].holds is claims[ALL_LARGER].holds is True


def test_statements_about_the_double_bind_turn_with_its_cells() -> None:
    bind = "heilman_double_bind_competent_one_word"
    only = {(f"sent-{bind}", "bert"): "**"}
    assert judged(only, "bert")[CONTROL].holds is True
    assert judged({**only, (bind, "bert"): "**"}, "bert")[CONTROL].holds is False
    assert judged({}, "bert")[CONTROL].holds is False
    assert judged({("weat1", "bert"): "**"}, "bert")[EVIDENCE].holds is True
    assert judged(only, "bert")[EVIDENCE].holds is False


def test_the_double_bind_over_models_needs_the_four_models_that_it_names() -> None:
    bind = "heilman_double_bind_likable_one_sentence"
    one_each = {(bind, "use"): "*", (bind, "bert"): "*"}
    claim = judged(one_each, "use", "bert", "gpt")[OVER_MODELS]
    assert claim.holds is None
    assert mentions(claim.ours, "elmo")
    assert judged(one_each, "use", "bert", "gpt", "elmo")[OVER_MODELS].holds is True
    assert judged({**one_each, (bind, "gpt"): "*"}, "use", "bert", "gpt", "elmo")[OVER_MODELS].holds is False


def test_recent_encoders_are_compared_with_previous_ones() -> None:
    assert judged({}, "bert")[RECENT].holds is None
    marked = {("weat1", "cbow"): "*"}
    assert judged(marked, "cbow", "bert-base-uncased")[RECENT].holds is True
    assert judged({("weat1", "elmo-max-sum"): "*"}, "cbow", "elmo-max-sum")[RECENT].holds is False
    assert judged(marked, "cbow", "mine")[RECENT].holds is None  # not one of the paper's
    most = {(test, "use"): "*" for test in oracle.ALL_TESTS if "heilman" not in test}
    assert judged(most, "use")[TO_VECTOR].holds is True
    assert judged({}, "use")[TO_VECTOR].holds is False


@pytest.mark.parametrize("statement", [NAMES, SENTENCES, EVIDENCE, CONTROL])
def test_what_has_no_test_of_its_kind_cannot_be_told(statement: int) -> None:
    claim = check_claims(["bert"], {("weat9", "bert"): Cell(1.0, "")})[statement]  # type: ignore[dict-item]
    assert claim.holds is None


def test_the_numbers_stand_in_the_order_of_the_words() -> None:
    claim = judged({("weat1", "bert"): "**"}, "bert")[SENTENCES]
    assert re.search(in_order("words 1", "sentences 0"), claim.ours)

"""The statements of May et al. (2019), judged on cells that are written down here."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from tests.messages import in_order, mentions

from weatherglass.reproduce.may2019.claims import (
    ANGRY,
    BIND,
    BLEACHED_BIND,
    CLAIMS,
    NAMES,
    PAIRED,
    TERMS,
    check_claims,
)

STATEMENTS = list(CLAIMS)


@dataclass
class Cell:
    """What a claim reads of a result."""

    effect_size: float
    significance: str


def cells(marked: dict[str, str]) -> dict[tuple[str, str], Cell]:
    """All tests of the claims; words have |d| 1 and sentences 0.5."""
    tests = {*NAMES, *TERMS, *ANGRY, *BIND, *BLEACHED_BIND, *PAIRED, *(f"sent-{test}" for test in PAIRED)}
    return {
        (test, "bert"): Cell(0.5 if test.startswith("sent-") else -1.0, marked.get(test, ""))
        for test in tests
    }


def verdicts(marked: dict[str, str]) -> list[bool | None]:
    return [claim.holds for claim in check_claims(["bert"], cells(marked))["bert"]]  # type: ignore[arg-type]


def test_each_statement_turns_with_the_cells_that_it_is_about() -> None:
    assert verdicts({}) == [False, False, True, False, False]
    assert verdicts({"weat4": "**"})[0] is True
    assert verdicts({"weat4": "**", "weat3b": "**"})[0] is False  # 1 of 6 names, 1 of 4 terms
    assert verdicts({"sent-weat9": "*"})[1] is True
    assert verdicts({BLEACHED_BIND[0]: "**"})[3] is True
    assert verdicts({BLEACHED_BIND[0]: "**", BIND[0]: "**"})[3] is False
    assert verdicts({ANGRY[1]: "**"})[4] is True
    assert verdicts({ANGRY[1]: "*"})[4] is False


def test_table_4_is_judged_by_the_same_rules() -> None:
    """Read off Table 4: of weat1, 3 and 6, GPT has * on weat3 alone and ** on sent-weat1 alone."""
    claims = check_claims(["gpt"], {})["gpt"]
    assert [claim.holds for claim in claims] == [None] * 5
    assert re.search(in_order("sentences 1", "words 1", 3), claims[1].theirs)
    assert mentions(claims[0].theirs, "Table 4")


@pytest.mark.parametrize("test", ["weat3b", "sent-weat4"])
def test_what_lacks_a_test_cannot_be_told(test: str) -> None:
    lacking = {key: cell for key, cell in cells({}).items() if key[0] != test}
    claim = check_claims(["bert"], lacking)["bert"][0]  # type: ignore[arg-type]
    assert claim.holds is None
    assert mentions(claim.ours, test)

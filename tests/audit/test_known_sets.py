"""What the texts of a test tell before a vector is compared: confounding tokens, words that belong together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.explain import explain
from weatherglass.audit.known_sets import read_targets, related_words_in
from weatherglass.audit.stored import read_run
from weatherglass.encoders.base import Coverage
from weatherglass.report.view import view
from weatherglass.stats.confounding import Confounding, TokenContrast, described

SHARED_PIECES = [f"la{name}" for name in ("tonya", "kisha", "toya", "tisha", "tanya", "keisha")]
OTHERS = ["emma", "molly", "claire", "jill", "anne", "amy"]


class PiecesEncoder(HashedEncoder):
    """Splits "la" from the beginning of a word, as tokenizers do."""

    def coverage(self, texts: list[str]) -> list[Coverage]:  # type: ignore[override]
        return [Coverage(("la", f"##{text[2:]}") if text.startswith("la") else (text,)) for text in texts]


def named(test: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    loaded = wg.load_test(test)
    for warning in related_words_in(zip(loaded.roles, loaded.sets, strict=True), loaded.language):
        found.setdefault(warning.values["role"], set()).update(warning.values["words"])
    return found


@pytest.mark.parametrize(
    ("test", "related"),
    [
        ("weat8", {"B": {"her", "hers"}}),
        ("weat3b", {"Y": {"African American", "South African American"}}),
        ("heilman_double_bind_likable_one_word", {"A": {"likable", "liked"}, "B": {"unlikable", "unliked"}}),
        ("weat1", {}),
        ("weat6", {}),
    ],
)
def test_words_of_published_tests_that_belong_together(test: str, related: dict[str, set[str]]) -> None:
    assert named(test) == related
    assert named(f"sent-{test}") == related


def test_a_row_names_its_related_words_everywhere(tmp_path: Path) -> None:
    run = wg.run(HashedEncoder(), ["weat8", "weat6"], folder=tmp_path)
    related, other = run.results
    assert (related.related_words, other.related_words) == ("B: hers, her", "")
    (warning,) = [warning for warning in related.warnings if warning.kind == "related-words"]
    assert warning.values == {
        **{"role": "B", "category": "women", "shared": "her"},
        "words": ["hers", "her"],
    }
    rows = [line.split("\t") for line in (tmp_path / "results.tsv").read_text("utf-8").splitlines()]
    column = rows[0].index("related_words")
    assert [row[column] for row in rows[1:]] == ["B: hers, her", ""]
    stored = read_run(tmp_path)
    assert stored.results[0].related_words == related.related_words
    (shown, _) = json.loads(json.dumps(view(stored)))["results"]
    assert "related-words" in [one["kind"] for one in shown["warnings"]]
    assert any(warning.text in line for line in explain(tmp_path, "weat8").steps)


def test_words_that_the_model_does_not_know_are_not_related() -> None:
    (row,) = wg.run(HashedEncoder(unknown=["hers"]), "weat8").results
    assert row.related_words == ""


def test_pieces_inside_names_make_a_test_confounded_and_are_called_pieces(tmp_path: Path) -> None:
    test = wg.test(OTHERS, SHARED_PIECES, ["good", "kind", "nice"], ["bad", "mean", "rude"])
    (by_words,) = wg.run(HashedEncoder(), test).results
    assert by_words.not_tested == ""
    (row,) = wg.run(PiecesEncoder(), test, folder=tmp_path).results
    assert row.expected_level is not None
    assert row.expected_level > 0.10
    piece = TokenContrast("la", 0.0, 1.0, piece=True)
    assert row.not_tested == described(Confounding(row.expected_level, (piece,), None), 6, 6)
    word = Confounding(row.expected_level, (TokenContrast("la", 0.0, 1.0),), None)
    assert row.not_tested != described(word, 6, 6)
    steps = explain(tmp_path, row.test).steps
    assert any(row.not_tested in line for line in steps)


def test_a_piece_that_is_a_word_in_every_text_is_called_a_word() -> None:
    x, y = ([f"the {word}" for word in OTHERS], ["a cat", "a dog", "a cow", "a hen", "a fox", "a rat"])
    (row,) = wg.run(HashedEncoder(), wg.test(x, y, ["good", "kind"], ["bad", "mean"])).results
    assert row.expected_level is not None
    the, a = TokenContrast("the", 1.0, 0.0), TokenContrast("a", 0.0, 1.0)
    assert row.not_tested == described(Confounding(row.expected_level, (the, a), None), 6, 6)


def test_targets_are_read_only_where_there_are_x_and_y() -> None:
    assert read_targets([], None) is None  # type: ignore[arg-type]

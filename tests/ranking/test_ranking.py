"""Ranking audits from texts to outcomes: planted preferences, resumption, backgrounds, tables of scores."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.cli import app
from weatherglass.encoders.base import Asked, Coverage, Encoder, Input, text_of
from weatherglass.errors import OutputError, WeatherglassError
from weatherglass.ranking.change import RankChange, compare_rankings
from weatherglass.ranking.compare import OVERALL, REST, GroupComparison
from weatherglass.ranking.ranking import (
    CONTEXTS,
    ONE_NAME,
    OTHER_SLOTS,
    RECORD,
    judge,
    load_ranking,
    parse_top,
)
from weatherglass.ranking.texts import NO_TOPIC
from weatherglass.stats import Outcome
from weatherglass.stats.win_rate import RankedContexts, win_rate
from weatherglass.storage.checksum import write_checked_json

X, Y = [f"xa{n}" for n in range(8)], [f"yb{n}" for n in range(8)]
GROUPS = {"X": X, "Y": Y}
QUERIES = {topic: [f"{topic} query {n}" for n in range(3)] for topic in ("red", "blue", "green", "grey")}
PASSAGES = {topic: [f"{{name}} wrote {topic} text {n}" for n in range(4)] for topic in QUERIES}


class Planted(HashedEncoder):
    """Random vectors, moved towards a common direction: queries all the way, copies by their name."""

    def __init__(self, shift: float, against: Sequence[str] = (), unknown: Sequence[str] = ()) -> None:
        super().__init__(width=16, name="planted", unknown=unknown)
        self.shift, self.against = shift, against

    def identity(self) -> str:
        return f"planted {self.shift} {self.against}"

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        rows = super().encode(texts) / 4
        for row, text in zip(rows, texts, strict=True):
            favoured = text.startswith("x") is not any(topic in text for topic in self.against)
            row[0] += 3 if "query" in text else self.shift * favoured
        return rows


def audit(model: Any, groups: Any = GROUPS, **more: Any) -> wg.Ranking:
    return wg.rank(model, QUERIES, PASSAGES, groups, **more)


def overall(found: wg.Ranking) -> GroupComparison:
    return next(one for one in found.overall if one.y != REST)


def test_a_planted_preference_is_robust_and_none_is_not() -> None:
    found, null = overall(audit(Planted(3.0))), overall(audit(Planted(0.0)))
    assert found.win_rate > 0.9
    assert (found.outcome, found.four_fifths, found.deciding) == (Outcome.ROBUST, "fails", ())
    assert found.p == pytest.approx(2 / 12870)
    assert found.impact_ratio is not None
    assert found.impact_ratio < 0.5
    assert (found.passages, found.queries, found.contexts) == ("nested", 12, 48)
    assert 0.3 < null.win_rate < 0.7
    assert null.outcome != Outcome.ROBUST


def test_topics_that_favour_different_groups_conflict_where_their_mean_hides_it() -> None:
    found = audit(Planted(3.0, against=("red", "blue")))
    by_topic = {one.topic: one for one in found.comparisons}
    assert by_topic["red"].win_rate < 0.1 < 0.9 < by_topic["green"].win_rate
    assert by_topic["red"].passages == "crossed"
    assert by_topic[OVERALL].outcome == Outcome.CONFLICTING


def test_every_number_over_all_is_that_of_one_matrix_with_topics_as_units() -> None:
    found = overall(audit(Planted(0.5)))
    model = Planted(0.5)

    def unit(texts: Sequence[str]) -> AnyMatrix:
        rows = model.encode(texts)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    columns, topics, passages = [], [], []
    for topic, queries in QUERIES.items():
        for query in queries:
            for passage in PASSAGES[topic]:
                copies = unit([passage.format(name=name) for name in (*X, *Y)])
                columns.append(copies @ unit([query])[0])
                topics.append(topic)
                passages.append(passage)
    numbers = [np.unique(some, return_inverse=True)[1] for some in (topics, passages)]
    expected = win_rate(np.array(columns).T, 8, RankedContexts(*numbers))
    assert found.win_rate == pytest.approx(expected.value)
    assert found.p == pytest.approx(expected.significance.p_value)
    assert expected.random
    assert found.p_random == pytest.approx(expected.random.p)
    assert found.places == pytest.approx(expected.places)


def test_the_win_rate_without_a_topic_is_that_of_the_other_topics() -> None:
    found = audit(Planted(3.0, against=("red",)))
    rates = {one.topic: one.win_rate for one in found.comparisons if one.topic != OVERALL}
    others = [sum(rate for topic, rate in rates.items() if topic != left) / 3 for left in rates]
    one = overall(found)
    assert (one.without_topic_low, one.without_topic_high) == pytest.approx((min(others), max(others)))
    assert all(one.without_topic_low is None for one in found.comparisons if one.topic != OVERALL)


def test_an_example_has_the_places_of_one_passage_of_a_topic() -> None:
    found = audit(Planted(3.0))
    assert [(one.topic, one.passage) for one in found.examples] == [
        (topic, 4 * place + number) for place, topic in enumerate(QUERIES) for number in range(4)
    ]
    for one in found.examples:
        assert sum(one.places.values()) == pytest.approx(16 * 17 / 2)
        assert max(one.places[name] for name in X) < max(one.places[name] for name in Y)
        assert min(one.places.values()) >= 1


def test_each_distinct_text_is_encoded_once() -> None:
    model = Planted(0.0)
    audit(model)
    assert len(model.encoded) == len(set(model.encoded)) == 17 + 12 + 16 * 16


def test_queries_without_a_topic_are_a_topic_beside_others_and_not_all_of_them() -> None:
    queries = {"all": ["query 1", "query 2"], "red": QUERIES["red"]}
    passages = {"all": ["{name} wrote", "{name} sang"], "red": PASSAGES["red"]}
    found = wg.rank(Planted(1.0), queries, passages, GROUPS)
    assert [(one.topic, one.contexts) for one in found.comparisons] == [
        (OVERALL, 2 * 2 + 3 * 6),
        (NO_TOPIC, 4),
        ("red", 18),
    ]


def test_three_groups_have_all_pairs_and_each_with_the_rest() -> None:
    found = audit(Planted(2.0), {"X": X[:4], "Y": Y, "Z": X[4:]})
    pairs = [(one.x, one.y) for one in found.overall]
    assert pairs == [("X", "Y"), ("X", "Z"), ("Y", "Z"), ("X", REST), ("Y", REST), ("Z", REST)]
    for one in found.overall:
        assert (one.impact_ratio is None) is (one.y == REST)
    assert len(found.comparisons) == 6 * 5


def test_an_interaction_needs_two_factors_of_two_levels() -> None:
    design = {
        "XA": {"names": X[:4], "factors": ["X", "A"]},
        "XB": {"names": X[4:], "factors": ["X", "B"]},
        "YA": {"names": Y[:4], "factors": ["Y", "A"]},
        "YB": {"names": Y[4:], "factors": ["Y", "B"]},
    }
    (found,) = audit(Planted(3.0), design).interactions
    assert found.ci_low < found.value < found.ci_high
    assert abs(found.value) < 0.2
    assert audit(Planted(3.0)).interactions == []


def test_a_background_places_each_copy_alone(tmp_path: Path) -> None:
    file = tmp_path / "others.txt"
    file.write_text("\n".join(f"other passage {n}" for n in range(50)), encoding="utf-8")
    with_background, without = audit(Planted(3.0), background=file), audit(Planted(3.0))
    own, other = overall(with_background), overall(without)
    assert own.win_rate == other.win_rate
    assert own.selected_x > other.selected_x
    assert own.selected_x > 0.9
    model = Planted(3.0)
    query, copy = model.encode(["red query 0", "xa0 wrote red text 0"])
    cosines = [_cosine(query, row) for row in model.encode(file.read_text("utf-8").split("\n"))]
    assert sum(one > _cosine(query, copy) for one in cosines) < 5
    file.write_text("\n", encoding="utf-8")
    with pytest.raises(WeatherglassError, match=naming("others.txt")):
        audit(Planted(3.0), background=file)


def test_a_stopped_audit_encodes_only_the_rest_of_its_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weatherglass.ranking.scores.TEXTS_AT_ONCE", 32)
    monkeypatch.setattr("weatherglass.ranking.scores.BLOCKS_AT_ONCE", 2)
    file = tmp_path / "others.txt"
    file.write_text("\n".join(f"other {n}" for n in range(200)), encoding="utf-8")

    class Stopped(Planted):
        def encode(self, texts: Sequence[str]) -> AnyMatrix:
            if "other 150" in texts:
                raise KeyboardInterrupt
            return super().encode(texts)

    whole = audit(Planted(1.0), folder=tmp_path / "whole", background=file)
    with pytest.raises(KeyboardInterrupt):
        audit(Stopped(1.0), folder=tmp_path / "stopped", background=file)
    for expected in (200 - 128, 0):
        rest = Planted(1.0)
        resumed = audit(rest, folder=tmp_path / "stopped", background=file)
        assert sum(text.startswith("other") for text in rest.encoded) == expected
        assert resumed.comparisons == whole.comparisons
    journals = [(tmp_path / name / "ranking.jsonl").read_bytes() for name in ("whole", "stopped")]
    assert journals[0] == journals[1]
    file.write_text("\n".join(f"other {n}" for n in range(100)), encoding="utf-8")
    other = Planted(1.0)
    audit(other, folder=tmp_path / "stopped", background=file)
    assert sum(text.startswith("other") for text in other.encoded) == 100 - 64  # the same first passages


def _cosine(one: AnyMatrix, other: AnyMatrix) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_a_stopped_audit_goes_on_with_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weatherglass.ranking.scores.TEXTS_AT_ONCE", 64)  # four passages at a time

    class Stopped(Planted):
        def encode(self, texts: Sequence[str]) -> AnyMatrix:
            if len(self.encoded) > 150:
                raise KeyboardInterrupt
            return super().encode(texts)

    whole = audit(Planted(1.0), folder=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        audit(Stopped(1.0), folder=tmp_path / "stopped")
    assert not (tmp_path / "stopped" / "results.tsv").exists()
    journal = tmp_path / "stopped" / "ranking.jsonl"
    assert 1 <= len(journal.read_text("utf-8").splitlines()) < 4
    with journal.open("ab") as file:  # what a kill may leave
        file.write(b'{"sha256":"unfinished')
    rest = Planted(1.0)
    resumed = audit(rest, folder=tmp_path / "stopped")
    assert len(rest.encoded) < 16 + 12 + 16 * 16
    assert resumed.comparisons == whole.comparisons
    for name in ("results.tsv", "ranking.jsonl"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "stopped" / name).read_bytes()
    assert load_ranking(tmp_path / "whole").comparisons == whole.comparisons
    again = Planted(1.0)
    audit(again, folder=tmp_path / "whole")
    assert not any("wrote" in text for text in again.encoded)


def test_an_audit_of_a_newer_format_is_refused_in_one_line(tmp_path: Path) -> None:
    written = audit(Planted(1.0), folder=tmp_path).to_json()
    assert load_ranking(tmp_path).record["format"] == 1
    write_checked_json(tmp_path / RECORD, {**written, "format": 2})
    for command in (["report"], ["compare", str(tmp_path)]):
        done = CliRunner().invoke(app, [*command, str(tmp_path)])
        assert isinstance(done.exception, OutputError)
        assert mentions(str(done.exception), tmp_path / RECORD, "format 2", "format 1", "same command")


@pytest.mark.parametrize(("special", "expected"), [(("[CLS]", "[SEP]"), 2.0), ((), 2.0), (None, None)])
def test_pieces_of_names_are_counted_without_what_every_text_has(
    special: tuple[str, ...] | None, expected: float | None
) -> None:
    class Pieces(Planted):
        def coverage(self, texts: Sequence[str]) -> list[Coverage]:
            if special is None:  # a function in memory, whose tokenizer is unknown
                return super().coverage(texts)
            return [Coverage((*special, *re.findall("[a-z]+|[0-9]+", text))) for text in texts]

    found = overall(audit(Pieces(1.0)))
    assert (found.pieces_x, found.pieces_y) == (expected, expected)


def test_groups_that_differ_in_pronouns_are_at_most_limited() -> None:
    passages = {topic: [f"{text} and {{their}} CV" for text in texts] for topic, texts in PASSAGES.items()}
    groups = {"X": {"names": X, "their": "her", "them": "her"}, "Y": Y}
    one = overall(wg.rank(Planted(3.0), QUERIES, passages, groups))
    assert (one.differing_slots, one.outcome, one.limit) == (("their",), Outcome.LIMITED, OTHER_SLOTS)
    assert overall(wg.rank(Planted(3.0), QUERIES, PASSAGES, groups)).outcome == Outcome.ROBUST


def test_names_that_a_model_does_not_know_are_dropped_and_listed() -> None:
    found = audit(Planted(1.0, unknown=["xa3", "yb1"]))
    assert overall(found).names_x == overall(found).names_y == 7
    assert found.record["dropped_names"] == {"planted": ["xa3", "yb1"]}
    with pytest.raises(WeatherglassError, match=naming("X", 1)):
        audit(Planted(1.0, unknown=X[1:]))


def test_a_model_that_fails_does_not_stop_the_others() -> None:
    broken = Planted(0.0, unknown=["red query 0"])
    broken.name = "broken"
    found = audit([broken, Planted(0.0)])
    assert [one["model"] for one in found.failures] == ["broken"]
    assert {one.model for one in found.comparisons} == {"planted"}


def test_a_table_of_scores_needs_no_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"query": q, "passage": p, "name": name, "score": rng.normal() + 2 * (name in X)}
        for q in ("1", "2", "3")
        for p in ("a", "b", "c", "d")
        for name in (*X, *Y)
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    one = overall(wg.rank(scores=path, groups=GROUPS))
    assert (one.model, one.passages, one.outcome) == ("scores.jsonl", "crossed", Outcome.ROBUST)
    assert one.pieces_x is None
    words = ["rank", "wordllama", "--scores", str(path), "-o", str(tmp_path / "r")]
    assert isinstance(CliRunner().invoke(app, words).exception, WeatherglassError)
    for change, message in (
        ([{**rows[0], "score": "high"}, *rows[1:]], naming("line 1", "high")),
        ([*rows, rows[0]], naming("line 193", "xa0")),
        (rows[1:], naming("xa0", "a")),
        ([{**rows[0], "name": "xa00"}, *rows[1:]], naming("xa00", suggesting="xa0")),
    ):
        path.write_text("\n".join(map(json.dumps, change)), encoding="utf-8")
        with pytest.raises(WeatherglassError, match=message):
            wg.rank(scores=path, groups=GROUPS)
    with pytest.raises(WeatherglassError, match=naming("scores")):
        wg.rank(scores=path, queries=["q"], passages=["{name}"], groups=GROUPS)


def test_a_scorer_of_pairs_ranks_as_its_numbers_say() -> None:
    model = Planted(3.0)

    class Scorer:
        def predict(self, pairs: list[tuple[str, str]]) -> list[float]:
            rows = [model.encode(pair) for pair in pairs]
            return [_cosine(*pair) for pair in rows]

    found = wg.rank(queries=QUERIES, passages=PASSAGES, groups=GROUPS, scorer=Scorer().predict)
    same = overall(audit(model))
    assert overall(found).model == "Scorer"
    assert overall(found).win_rate == same.win_rate
    assert overall(found).p_random == pytest.approx(same.p_random)


@pytest.mark.parametrize(
    "scorer",
    [
        lambda _: [1.0],
        lambda pairs: [float("nan")] * len(pairs),
        lambda pairs: ["high"] * len(pairs),
        lambda _: 1 / 0,
        lambda _: None,
        5,
    ],
)
def test_a_scorer_that_does_not_give_a_number_per_pair_is_an_error_of_one_line(scorer: Any) -> None:
    with pytest.raises(WeatherglassError, match="scorer") as caught:
        wg.rank(queries=QUERIES, passages=PASSAGES, groups=GROUPS, scorer=scorer)
    assert "\n" not in str(caught.value)
    with pytest.raises(WeatherglassError, match="scorer"):
        wg.rank(scores="scores.csv", groups=GROUPS, scorer=scorer)


@pytest.mark.parametrize("top", ["0", "0%", "100%", "1.5", "ten", "", None, True, "-3"])
def test_a_top_that_is_neither_a_share_nor_a_number_of_places_is_refused(top: Any) -> None:
    with pytest.raises(WeatherglassError, match="10%"):
        parse_top(top)


BASE = cache(lambda: overall(audit(Planted(0.0))))


def row(topic: str, p: float, p_random: float | None = None, value: float = 0.8) -> GroupComparison:
    return replace(
        BASE(), topic=topic, p=p, p_random=p if p_random is None else p_random, win_rate=value, deciding=()
    )


def test_the_tree_of_outcomes_takes_the_first_that_fits() -> None:
    def outcome(
        first: GroupComparison, *topics: GroupComparison, smallest: float | None = None
    ) -> tuple[str, str]:
        judged = judge([first, *topics], smallest=smallest)[0]
        return judged.outcome, judged.limit

    quiet = row("t", 0.9)
    assert outcome(row(OVERALL, 0.01), quiet) == (Outcome.ROBUST, "")
    assert outcome(row(OVERALL, 0.01, 0.2), quiet) == (Outcome.LIMITED, CONTEXTS)
    assert outcome(replace(row(OVERALL, 0.01), p_random=None), quiet) == (Outcome.LIMITED, CONTEXTS)
    assert outcome(replace(row(OVERALL, 0.01), deciding=("Ann",)), quiet) == (Outcome.LIMITED, ONE_NAME)
    both = row("t", 0.001), row("u", 0.001, value=0.2)
    assert outcome(row(OVERALL, 0.3), *both)[0] == Outcome.CONFLICTING
    assert outcome(row(OVERALL, 0.3), both[0], quiet)[0] == Outcome.ISOLATED
    assert outcome(row(OVERALL, 0.01), *both)[0] == Outcome.ROBUST
    narrow = replace(row(OVERALL, 0.6), ci_low_random=0.48, ci_high_random=0.53)
    assert outcome(narrow, quiet, smallest=0.05)[0] == Outcome.SMALL
    assert outcome(narrow, quiet)[0] == outcome(narrow, quiet, smallest=0.02)[0] == Outcome.INCONCLUSIVE


def test_p_is_corrected_over_topics_and_pairs_but_not_over_models() -> None:
    rows = [row("t", 0.02), row("u", 0.03), replace(row("t", 0.02), model="other")]
    assert [one.p_adjusted for one in judge(rows)] == pytest.approx([0.04, 0.04, 0.02])
    pairs = [row(OVERALL, 0.02), replace(row(OVERALL, 0.02), y="Z"), replace(row(OVERALL, 0.02), y=REST)]
    judged = judge(pairs)
    assert [one.p_adjusted for one in judged] == pytest.approx([0.04, 0.04, 0.02])
    assert [one.outcome for one in judge([row("t", 0.03), row("u", 0.03)])] == [Outcome.UNCONFIRMED] * 2


def changed(before: wg.Ranking, after: wg.Ranking) -> list[RankChange]:
    return list(compare_rankings(before, after).overall)


def test_a_preference_that_grew_is_found_and_one_that_shrank_is_not_worse() -> None:
    weak, strong = audit(Planted(0.3)), audit(Planted(3.0))
    (grown,) = changed(weak, strong)
    assert grown.grew(0.05)
    assert grown.change == pytest.approx(overall(strong).win_rate - overall(weak).win_rate)
    assert 0 < grown.low < grown.change < grown.high
    (shrunk,) = changed(strong, weak)
    assert (shrunk.p, shrunk.low, shrunk.high) == pytest.approx((grown.p, -grown.high, -grown.low))
    assert not shrunk.grew(0.05)
    (same,) = changed(strong, strong)
    assert (same.p, same.low, same.high, same.grew(0.05)) == (1.0, 0.0, 0.0, False)


def test_changes_by_topic_are_those_of_the_topics_win_rates() -> None:
    before, after = audit(Planted(0.3)), audit(Planted(3.0, against=("red",)))
    found = compare_rankings(before, after)
    rates = [{one.topic: one.win_rate for one in side.comparisons} for side in (before, after)]
    assert [one.topic for one in found.changes] == [OVERALL, *QUERIES]
    for one in found.changes:
        assert (one.before, one.after) == pytest.approx([side[one.topic] - 0.5 for side in rates])
        assert (one.p <= 0.05) is not (one.low <= 0 <= one.high)
    assert found.changes[1].change < 0 < found.changes[2].change
    old = [replace(one, by_topic={}) for one in before.names]  # as earlier versions stored it
    assert len(replace(before, names=old).compare(after).changes) == 1


def test_the_models_of_one_audit_are_compared_with_its_first() -> None:
    second = Planted(3.0)
    second.name = "second"
    found = audit([Planted(0.3), second])
    comparison = found.compare()
    assert [one.models for one in comparison.worse] == [("planted", "second")]
    (apart,) = changed(audit(Planted(0.3)), audit(Planted(3.0)))
    assert comparison.overall == (replace(apart, models=("planted", "second")),)
    with pytest.raises(WeatherglassError):
        audit(Planted(0.3)).compare()


def test_audits_of_other_texts_or_models_are_not_compared() -> None:
    one, other = audit(Planted(1.0)), wg.rank(Planted(1.0), {"red": ["a query"]}, {"red": ["{name}"]}, GROUPS)
    with pytest.raises(WeatherglassError, match=naming("passages")):
        one.compare(other)
    second = Planted(0.0)
    second.name = "second"
    third = Planted(0.5)
    third.name = "third"
    two = audit([second, third])
    with pytest.raises(WeatherglassError, match=naming("planted")):
        one.compare(two)
    assert [change.model for change in changed(two, two)] == ["second", "third"]


def test_p_of_a_change_is_the_share_of_exchanges_of_the_names_changes() -> None:
    before, after = audit(Planted(0.3)), audit(Planted(0.9))
    moved = [b.mean_rank - a.mean_rank for a, b in zip(before.names, after.names, strict=True)]
    observed = abs(sum(moved[:8]) - sum(moved) / 2)
    sums = [sum(chosen) for chosen in combinations(moved, 8)]
    hits = sum(abs(one - sum(moved) / 2) >= observed - 1e-9 for one in sums)
    assert changed(before, after)[0].p == pytest.approx(hits / len(sums))


def test_queries_and_passages_are_asked_as_such_and_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weatherglass.ranking.scores.TEXTS_AT_ONCE", 32)
    asked: list[list[Asked]] = []

    class ByKind(Encoder):
        by_kind = True
        name = "by kind"
        options: Mapping[str, str] = MappingProxyType({})

        def encode(self, texts: Sequence[Asked]) -> AnyMatrix:
            asked.append(list(texts))
            return Planted(1.0).encode([text_of(text) for text in texts])

        def coverage(self, texts: Sequence[Asked]) -> list[Coverage]:
            return [Coverage((text_of(text),)) for text in texts]

    others = tmp_path / "others.txt"
    others.write_text("\n".join(f"other {n}" for n in range(80)), encoding="utf-8")
    audit(ByKind(), background=others)
    kinds = {text_of(one): one.kind for block in asked for one in block if isinstance(one, Input)}
    assert {kind for text, kind in kinds.items() if "query" in text} == {"query"}
    assert {kind for text, kind in kinds.items() if "query" not in text} == {"passage"}
    assert len(kinds) == 12 + 16 * 16 + 80
    assert max(map(len, asked)) == 32

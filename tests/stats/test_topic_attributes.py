"""p of a topic for random attributes, pieces and the placebo against a second way to them (docs/methods 10.6, 12)."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.stats.topic_cases import random_topic

from weatherglass.stats.topic import AttributeTables, TopicTest, topic_of
from weatherglass.stats.topic_attributes import placebo, topic_p_random
from weatherglass.stats.topic_effect import beside_pieces


def crossed_t(tests: list[TopicTest]) -> float:
    """p for random attributes, cell by cell: every word, attribute word and cell is one number over all tests."""
    sizes = [(t.n_x, len(t.words) - t.n_x) for t in tests]
    weight = [x * y / (x + y) for x, y in sizes]
    words: dict[object, float] = {}
    smallest: dict[object, int] = {}
    member: dict[object, tuple[tuple[int, bool], ...]] = {}
    attributes: dict[tuple[str, object], float] = {}
    cells: dict[tuple[object, str, object], float] = {}
    mean = 0.0
    for j, test in enumerate(tests):
        assert test.tables is not None
        sd = float(np.std(test.scores, ddof=1))
        w = weight[j] / sum(weight) / sd
        x, y = test.scores[: test.n_x], test.scores[test.n_x :]
        mean += w * float(x.mean() - y.mean())
        for place, (word, score) in enumerate(zip(test.words, test.scores, strict=True)):
            in_x = place < test.n_x
            own = x if in_x else y
            m = len(own)
            factor = (1 if in_x else -1) / math.sqrt(m * (m - 1))
            words[word] = words.get(word, 0.0) + w * factor * float(score - own.mean())
            smallest[word] = min(m, smallest.get(word, m))
            member[word] = (*member.get(word, ()), (j, in_x))
            rows = slice(None, test.n_x) if in_x else slice(test.n_x, None)
            for side, table, names in (
                ("A", test.tables.to_a, test.tables.a),
                ("B", -test.tables.to_b, test.tables.b),
            ):
                k = len(names)
                column_means = table[rows].mean(axis=0)
                for column, name in enumerate(names):
                    residual = table[place, column] - column_means[column]
                    residual -= table[place].mean() - column_means.mean()
                    cell = (word, side, name)
                    part = w * factor * residual / math.sqrt(k * (k - 1))
                    cells[cell] = cells.get(cell, 0.0) + float(part)
        for side, table, names in (
            ("A", test.tables.to_a, test.tables.a),
            ("B", -test.tables.to_b, test.tables.b),
        ):
            k = len(names)
            apart = table[: test.n_x].mean(axis=0) - table[test.n_x :].mean(axis=0)
            for column, name in enumerate(names):
                part = w * (apart[column] - apart.mean()) / math.sqrt(k * (k - 1))
                attributes[side, name] = attributes.get((side, name), 0.0) + float(part)
    v_w = sum(v**2 for v in words.values())
    v = {side: sum(v**2 for (s, _), v in attributes.items() if s == side) for side in "AB"}
    number = {side: sum(s == side for s, _ in attributes) for side in "AB"}
    groups: dict[object, list[object]] = {}
    for word, of in member.items():
        groups.setdefault(of, []).append(word)
    below = sum(
        sum(words[w] ** 2 for w in group) ** 2 / max(0.5, sum(1 - 1 / smallest[w] for w in group))
        for group in groups.values()
    )
    df_w = v_w**2 / below
    total = v_w + v["A"] + v["B"]
    once = total - sum(c**2 for c in cells.values())
    variance = max(once, v_w, v["A"] + v["B"])
    df = total**2 / (v_w**2 / max(1, df_w) + sum(v[s] ** 2 / max(1, number[s] - 1) for s in "AB"))
    return float(2 * stats.t.sf(abs(mean) / math.sqrt(variance), max(1, df)))


@pytest.mark.parametrize("sharing", ["all", "some", "none"])
def test_p_for_random_attributes_is_the_crossed_t_computed_cell_by_cell(sharing: str) -> None:
    for seed in range(12):
        tests = random_topic(np.random.default_rng(seed), 2 + seed % 3, (2, 8), sharing)
        assert topic_p_random(topic_of(tests)) == pytest.approx(crossed_t(tests), rel=1e-9)


def test_two_attribute_words_or_scores_of_another_kind_have_no_p_for_random_attributes() -> None:
    tests = random_topic(np.random.default_rng(0), 2, (4, 6), "none")
    assert topic_p_random(topic_of([tests[0], replace(tests[1], tables=None)])) is None
    tables = tests[1].tables
    assert tables is not None
    few = replace(tables, to_a=tables.to_a[:, :2], a=tables.a[:2])
    assert topic_p_random(topic_of([tests[0], replace(tests[1], tables=few)])) is None


def test_templates_that_differ_raise_p_and_templates_that_agree_do_not() -> None:
    rng = np.random.default_rng(3)
    tests = random_topic(rng, 2, (6, 8), "none", effect=1.0)
    p = topic_p_random(topic_of(tests))
    found = []
    for spread in (0.0, 3.0):
        shifts = spread * rng.normal(size=5)
        with_templates = []
        for test in tests:
            assert test.tables is not None
            in_x = np.arange(len(test.words)) < test.n_x
            scores = test.scores[:, np.newaxis] + np.outer(in_x, shifts - shifts.mean())
            tables = replace(test.tables, templates=scores, template_names="abcde")
            with_templates.append(replace(test, tables=tables))
        found.append(topic_p_random(topic_of(with_templates)))
    assert p is not None
    assert found[0] == pytest.approx(p, rel=1e-9)
    assert found[1] is not None
    assert found[1] > p


def regressed(tests: list[TopicTest]) -> tuple[float, float]:
    """D_p and its variance by normal equations, test by test."""
    weight = [t.n_x * (len(t.words) - t.n_x) / len(t.words) for t in tests]
    mean = 0.0
    parts: dict[object, float] = {}
    for test, w in zip(tests, weight, strict=True):
        z = test.scores / np.std(test.scores, ddof=1)
        in_x = (np.arange(len(z)) < test.n_x).astype(float)
        design = np.stack([np.ones(len(z)), in_x, np.asarray(test.pieces)], axis=1)
        hat = np.linalg.solve(design.T @ design, design.T)
        beta = hat @ z
        leverage = np.minimum(np.diag(design @ hat), 0.99)
        mean += w / sum(weight) * float(beta[1])
        for word, part in zip(test.words, hat[1] * (z - design @ beta) / np.sqrt(1 - leverage), strict=True):
            parts[word] = parts.get(word, 0.0) + w / sum(weight) * float(part)
    return mean, sum(part**2 for part in parts.values())


def test_the_effect_beside_pieces_is_that_of_the_regressions() -> None:
    compared = 0
    for seed in range(30):
        tests = random_topic(np.random.default_rng(seed), 1 + seed % 3, (5, 9))
        designs = [np.stack([np.arange(len(t.words)) < t.n_x, np.asarray(t.pieces)], axis=1) for t in tests]
        if any(np.linalg.matrix_rank(d - d.mean(axis=0)) < 2 for d in designs):
            continue
        topic = topic_of(tests)
        found = beside_pieces(topic)
        assert found is not None
        mean, variance = regressed(tests)
        assert found.effect_size == pytest.approx(mean, rel=1e-9)
        df = max(1.0, topic.layout.word_df - 1)
        assert found.p == pytest.approx(2 * stats.t.sf(abs(mean) / math.sqrt(variance), df), rel=1e-9)
        assert found.interval is not None
        assert found.interval.excludes_zero == (found.p <= 0.05)
        compared += 1
    assert compared > 20


def test_pieces_that_tell_x_from_y_leave_nothing_and_equal_pieces_change_nothing() -> None:
    (test,) = random_topic(np.random.default_rng(1), 1, (6, 6), effect=3.0)
    in_x = np.arange(len(test.words)) < test.n_x
    found = beside_pieces(topic_of([replace(test, pieces=np.where(in_x, 1.0, 2.0))]))
    assert found is not None
    assert (found.effect_size, found.p) == (0.0, 1.0)
    assert beside_pieces(topic_of([replace(test, pieces=np.ones(len(test.words)))])) is None
    assert beside_pieces(topic_of([replace(test, pieces=None)])) is None


def test_an_effect_of_pieces_is_not_taken_for_one_of_labels() -> None:
    rng = np.random.default_rng(2)
    pieces = np.r_[rng.integers(1, 3, 20), rng.integers(2, 5, 20)].astype(float)
    scores = pieces + 0.3 * rng.normal(size=40)
    words = [str(i) for i in range(40)]
    found = beside_pieces(topic_of([TopicTest(words, 20, scores, 1e-6, pieces=pieces)]))
    assert found is not None
    assert found.p > 0.05


def test_the_placebo_is_the_spread_over_random_divisions() -> None:
    rng = np.random.default_rng(4)
    tests = random_topic(rng, 2, (8, 8), "all")
    common = [f"a{i}" for i in range(6)]
    # Both tests have the same attribute words, so that each word is on one side in both of them.
    tables = [rng.normal(size=(16, 6)) for _ in tests]
    tests = [
        replace(t, tables=replace(t.tables, to_a=m[:, :3], to_b=m[:, 3:], a=common[:3], b=common[3:]))  # type: ignore[type-var]
        for t, m in zip(tests, tables, strict=True)
    ]
    means = []
    for _ in range(4000):
        order = rng.permutation(6)
        total = 0.0
        for table in tables:
            s = table[:, order[:3]].mean(axis=1) - table[:, order[3:]].mean(axis=1)
            total += float((s[:8].mean() - s[8:].mean()) / s.std(ddof=1)) / 2
        means.append(abs(total))
    found = placebo(topic_of(tests))
    assert found == pytest.approx(float(np.quantile(means, 0.95)), abs=0.12)
    assert found == placebo(topic_of(tests[::-1]))
    assert placebo(topic_of([replace(tests[0], tables=None), tests[1]])) is None


def test_stored_tables_give_the_same_p_to_six_digits_and_the_same_bits_ever_after() -> None:
    for seed in range(10):
        tests = random_topic(np.random.default_rng(seed), 3, (4, 8), "some")
        stored = [replace(test, tables=test.tables.stored()) for test in tests if test.tables is not None]
        again = [replace(test, tables=test.tables.stored()) for test in stored if test.tables is not None]
        p = topic_p_random(topic_of(stored))
        assert p == pytest.approx(topic_p_random(topic_of(tests)), rel=1e-5)
        assert p == topic_p_random(topic_of(again))
    assert tests[0].tables is not None
    record = json.loads(json.dumps(tests[0].tables.to_json()))
    with pytest.raises(ValueError, match=r"reshape|buffer|[Ii]ncorrect padding"):
        AttributeTables.from_json({**record, "table": record["table"][:-8]})
    with pytest.raises(KeyError):
        AttributeTables.from_json({"a": [], "b": []})

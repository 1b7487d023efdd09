"""Multiverses: the check figure of docs/methods, planted effects, what is encoded, and going on after a stop."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from numpy.typing import NDArray
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.multiverse_p import multiverse_p
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.encoders import load_encoder
from weatherglass.errors import UnknownNameError, WeatherglassError
from weatherglass.multiverses.choices import select_tests, word_lists
from weatherglass.report.measures import SOFT
from weatherglass.report.multiverse import curve, curve_as_text, lists_of, write_curve

Array = NDArray[np.float64]
CAREER = ("weat6", "sent-weat6")


def words(category: str, *texts: str) -> ElementSet:
    return ElementSet(category, tuple(Element(text, text) for text in texts))


def planted_test() -> Test:
    x, y = ([f"{side}{number}" for number in range(8)] for side in "xy")
    a, b = ([f"{side}{number}" for number in range(8)] for side in "ab")
    return Test(
        "planted", (words("X", *x), words("Y", *y)), (words("A", *a), words("B", *b)), topic="planted"
    )


class Planted(HashedEncoder):
    """Random vectors to which a place in space is added, by the first letter of the text."""

    def __init__(
        self, places: dict[str, Array], noise: float, lengths: dict[str, float] | None = None
    ) -> None:
        super().__init__(width=len(next(iter(places.values()))), name="planted")
        self.places, self.noise, self.lengths = places, noise, lengths or {}

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        rows = super().encode(texts)
        return np.stack(
            [
                (self.places[text[0]] + self.noise * row) * self.lengths.get(text[0], 1.0)
                for text, row in zip(texts, rows, strict=True)
            ]
        )


def test_the_check_figure_of_the_specification() -> None:
    """docs/methods 11: ours against plain numpy, with which the published figures come out to the last digit."""
    ours = wg.multiverse("wordllama", CAREER).topics[0]
    averaged = plain_numpy(averaged=True)
    assert ours["specification_count"] == 108
    counted = [one["d"] for one in ours["specifications"] if one["counted"]]
    np.testing.assert_allclose(sorted(counted), sorted(averaged), atol=1e-9)
    assert ours["median_d"] == pytest.approx(0.995, abs=5e-4)
    assert ours["lists"][0]["positive"] == 97
    assert ours["multiverse_p"] == pytest.approx(0.0444, abs=5e-5)
    # The specification's own figures take each sentence of an attribute word for an attribute of its own.
    singly = plain_numpy(averaged=False)
    assert np.median(singly) == pytest.approx(0.99, abs=5e-3)
    assert (singly > 0).sum() == 90


def plain_numpy(averaged: bool) -> Array:
    """d of weat6 by its definition: 3 similarities × 4 statistics × (bare word, 8 templates)."""
    encoder = load_encoder("wordllama")
    effects = []
    for test in map(wg.load_test, CAREER):
        vectors = [np.asarray(encoder.encode(list(s.texts)), dtype=np.float64) for s in test.sets]
        targets, attributes = np.concatenate(vectors[:2]), vectors[2:]
        elements = [*test.targets[0].elements, *test.targets[1].elements]
        for nearness in (_cosine, _euclidean, _manhattan):
            tables = [nearness(targets, some) for some in attributes]
            if averaged:
                tables = [_by_word(table, s.words) for table, s in zip(tables, test.attributes, strict=True)]
            for statistic in (np.mean, np.median, np.max, np.min):
                to_a, to_b = (statistic(table, axis=1) for table in tables)
                for template in dict.fromkeys(element.template for element in elements):
                    rows = [row for row, element in enumerate(elements) if element.template == template]
                    s = (to_a - to_b)[rows]
                    effects.append((s[:8].mean() - s[8:].mean()) / s.std(ddof=1))
    return np.array(effects)


def _cosine(w: Array, a: Array) -> Array:
    units = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (w, a)]
    return np.asarray(units[0] @ units[1].T)


def _euclidean(w: Array, a: Array) -> Array:
    return np.asarray(-np.sqrt(((w[:, None] - a) ** 2).sum(axis=2)))


def _manhattan(w: Array, a: Array) -> Array:
    return np.asarray(-np.abs(w[:, None] - a).sum(axis=2))


def _by_word(table: Array, names: Sequence[str]) -> Array:
    return np.stack(
        [table[:, [n == name for n in names]].mean(axis=1) for name in dict.fromkeys(names)], axis=1
    )


def test_an_effect_that_every_choice_sees_is_shown_and_depends_on_nothing() -> None:
    axis = np.eye(20)[0]
    seen = Planted({"x": axis, "a": axis, "y": -axis, "b": -axis}, noise=0.1)
    (entry,) = wg.multiverse(seen, planted_test()).topics
    assert entry["multiverse_p"] <= 0.001
    assert entry["share_same_sign"] == 1
    assert entry["lists"][0]["conclusion"]["kind"] == "robust"
    (verdict,) = wg.run(seen, planted_test()).verdicts(multiverse_p([entry], ["cosine/mean"]))
    assert (verdict.outcome, verdict.multiverse_p) == ("robust", entry["multiverse_p_holm"])


def test_an_effect_that_only_cosine_sees_depends_on_the_similarity() -> None:
    """Angles differ a little; A is short, B long, and the random lengths of targets between are all distances see."""

    class Stretched(Planted):
        def encode(self, texts: Sequence[str]) -> AnyMatrix:
            fixed = {"a": 1.0, "b": 3.0}
            lengths = [
                fixed.get(t[0]) or np.random.default_rng(list(t.encode())).uniform(1, 3) for t in texts
            ]
            return np.asarray(super().encode(texts) * np.array(lengths)[:, None])

    common, side = np.eye(20)[0], 0.05 * np.eye(20)[1]
    seen = Stretched(
        {"x": common + side, "a": common + side, "y": common - side, "b": common - side}, noise=0.002
    )
    (entry,) = wg.multiverse(seen, planted_test()).topics
    ending = entry["lists"][0]["conclusion"]
    assert ending["hangs_on"][0] == "similarity"
    assert re.search(r"\bsimilarity\b.*\bcosine\b.*\bnot\b.*\beuclidean, manhattan\b", ending["sentence"])
    run = wg.run(seen, planted_test())
    assert [verdict.outcome for verdict in run.verdicts()] == ["robust"]  # by cosine alone
    (verdict,) = run.verdicts(multiverse_p([entry], ["cosine/mean"]))
    assert (verdict.outcome == "robust") == (entry["multiverse_p_holm"] <= 0.05)


def test_an_effect_that_cosine_cannot_see_depends_on_the_similarity() -> None:
    """A and B lie in one direction and differ in length, and so do X and Y: distances see it, cosine cannot."""
    axis = 5 * np.eye(20)[0]
    blind = Planted(dict.fromkeys("xyab", axis), 1.0, {"x": 0.5, "a": 0.5, "y": 2.0, "b": 2.0})
    (entry,) = wg.multiverse(blind, planted_test(), similarities=("cosine", "euclidean")).topics
    ending = entry["lists"][0]["conclusion"]
    assert ending["hangs_on"][0] == "similarity"
    assert re.search(r"\bsimilarity\b.*\beuclidean\b.*\bnot\b.*\bcosine\b", ending["sentence"])
    main = entry["decomposition"]["main"]
    assert max(main, key=main.__getitem__) == "similarity"


def test_the_corrected_p_decides_the_conclusion() -> None:
    """A weak effect in one of six topics: by itself it is shown, but not after Holm over the topics."""
    axis = 0.12 * np.eye(20)[0]
    weak = Planted({"x": axis, "a": axis, "y": -axis, "b": -axis}, noise=0.1)

    def asked(number: int, **options: Any) -> list[dict[str, Any]]:
        tests = [replace(planted_test(), name=f"t{n}", topic=f"topic {n}") for n in range(number)]
        return wg.multiverse(weak, tests, choices=["similarity"], **options).topics

    (alone,) = asked(1)
    assert alone["multiverse_p_holm"] == alone["multiverse_p"]
    kind = alone["lists"][0]["conclusion"]["kind"]
    assert (kind in ("robust", "hangs")) == (alone["multiverse_p"] <= 0.05)
    # All topics have the same words, so the same p; alpha lies between it and its corrected value.
    several = asked(6, alpha=min(0.5, 3 * alone["multiverse_p"]))
    for entry in several:
        (block,) = entry["lists"]
        assert block["multiverse_p"] == pytest.approx(alone["multiverse_p"])
        assert (
            block["multiverse_p_holm"]
            == entry["multiverse_p_holm"]
            == pytest.approx(min(1, 6 * block["multiverse_p"]))
        )
        assert block["max_t_p_holm"] == pytest.approx(min(1, 6 * block["max_t_p"]))
        assert block["family"] == 6
        assert block["conclusion"]["kind"] in ("somewhere", "not shown")
    (first,) = asked(1, alpha=min(0.5, 3 * alone["multiverse_p"]))
    assert first["lists"][0]["conclusion"]["kind"] in ("robust", "hangs")


def test_the_families_of_models_are_apart() -> None:
    axis = np.eye(20)[0]
    strong = Planted({"x": axis, "a": axis, "y": -axis, "b": -axis}, noise=0.1)
    entries = wg.multiverse([strong, HashedEncoder(name="hashed")], planted_test()).topics
    assert [entry["lists"][0]["family"] for entry in entries] == [1, 1]
    assert all(entry["multiverse_p_holm"] == entry["multiverse_p"] for entry in entries)


def test_curves_are_coloured_at_the_level_of_the_multiverse() -> None:
    found = wg.multiverse(HashedEncoder(), planted_test(), alpha=0.5)
    (block, own), *_ = lists_of(found.topics)
    for alpha in (0.5, 1e-9):
        significant = sum(one["p"] <= alpha for one in own)
        colours = np.array(curve(block, own, alpha).axes[0].collections[-1].get_facecolor())
        soft = to_rgba(SOFT)
        assert sum(tuple(colour) != soft for colour in colours) == significant
        assert ("●" in "".join(curve_as_text(own, alpha))) == any(
            one["p"] <= alpha for one in own if not one["published"]
        )
    assert found.alpha == 0.5
    assert 0 < sum(one["p"] <= 0.5 for one in own) != sum(one["p"] <= 0.05 for one in own)


def test_a_curve_is_xml_whatever_the_names_are(tmp_path: Path) -> None:
    found = wg.multiverse({"e\x1b[2J-->v": HashedEncoder()}, planted_test())
    (block, own), *_ = lists_of(found.topics)
    write_curve(block, own, tmp_path / "curve.svg", 0.05)
    assert ElementTree.parse(tmp_path / "curve.svg").getroot().tag.endswith("svg")


def test_no_effect_is_not_shown() -> None:
    (entry,) = wg.multiverse(HashedEncoder(), planted_test()).topics
    assert entry["multiverse_p"] > 0.05
    assert entry["lists"][0]["conclusion"]["hangs_on"] == []


def test_the_decomposition_adds_up_and_the_record_has_what_the_command_promises() -> None:
    for entry in wg.multiverse(HashedEncoder(), ["gender and science"]).topics:
        d = np.array([one["d"] for one in entry["specifications"] if one["counted"]])
        parts = entry["decomposition"]
        total = sum(parts["main"].values()) + sum(parts["pairs"].values()) + parts["rest"]
        assert total == pytest.approx(d.var())
        assert {"median_d", "multiverse_p", "share_same_sign", "share_significant"} <= set(entry)


@pytest.mark.large
def test_lists_of_a_topic_have_curves_of_their_own_and_other_attributes_join() -> None:
    lists = {some.name: some for some in word_lists(select_tests(["race and valence", "gender and science"]))}
    assert list(lists) == ["weat3", "weat3b", "weat4", "weat7", "weat8"]
    assert list(lists["weat4"].attribute_lists()) == ["weat4", "weat5"]
    assert list(lists["weat7"].attribute_lists()) == ["weat7", "weat7b"]
    (entry,) = wg.multiverse(HashedEncoder(), ["race and valence"]).topics
    by_list = [some["multiverse_p"] for some in entry["lists"]]
    assert entry["multiverse_p"] == pytest.approx(min(1, 3 * min(by_list)))


def test_eq2_is_listed_and_stays_out_of_means() -> None:
    plain = wg.multiverse(HashedEncoder(), planted_test()).topics[0]
    with_eq2 = wg.multiverse(
        HashedEncoder(), planted_test(), statistics=("mean", "median", "nearest", "farthest", "eq2")
    ).topics[0]
    assert with_eq2["multiverse_p"] == plain["multiverse_p"]
    assert len(with_eq2["specifications"]) == len(plain["specifications"]) + 3


def test_mahalanobis_on_request() -> None:
    (entry,) = wg.multiverse(HashedEncoder(), planted_test(), similarities=("cosine", "mahalanobis")).topics
    assert {one["similarity"] for one in entry["specifications"]} == {"cosine", "mahalanobis"}


def test_a_word_that_one_specification_lacks_leaves_all() -> None:
    (entry,) = wg.multiverse(HashedEncoder(unknown=["x3", "b1"]), planted_test()).topics
    (block,) = entry["lists"]
    assert (block["n_x"], block["n_y"], block["dropped"]) == (7, 8, ["b1", "x3"])


def test_each_text_is_encoded_once_and_finished_lists_not_again(tmp_path: Path) -> None:
    class Stable(HashedEncoder):
        costly = False

        @classmethod
        def from_spec(cls, spec: object) -> Stable:
            raise NotImplementedError

        def identity(self) -> str:
            return "stable"

        def notes(self) -> list[str]:
            return []

    first = Stable()
    found = wg.multiverse(first, CAREER, folder=tmp_path)
    assert len(first.encoded) == len(set(first.encoded))
    again = Stable()
    with_more = wg.multiverse(again, [*CAREER, "weat10"], folder=tmp_path).topics[0]
    assert with_more["specifications"] == found.topics[0]["specifications"]
    of_all = ("family", "multiverse_p_holm", "max_t_p_holm", "conclusion")  # what another topic changes
    own, before = (
        {name: value for name, value in entry["lists"][0].items() if name not in of_all}
        for entry in (with_more, found.topics[0])
    )
    assert own == before
    assert not any("Amy" in text for text in again.encoded)
    journal = tmp_path / "multiverse.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"weat6", b"weat7", 1))
    damaged = Stable()
    repaired = wg.multiverse(damaged, CAREER, folder=tmp_path)
    assert repaired.topics[0] == found.topics[0]
    assert any("Amy" in text for text in damaged.encoded)
    assert [warning["kind"] for warning in repaired.record["warnings"]] == ["damaged-journal"]
    assert {path.name for path in tmp_path.iterdir()} >= {
        "index.html",
        "multiverse.json",
        "specifications.tsv",
        "curve-hashed-weat6.svg",
    }


def test_a_family_of_files_is_one_model_with_seeds(tmp_path: Path) -> None:
    test = planted_test()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = [f"{text} {' '.join(f'{v:.4f}' for v in rng.normal(size=6))}" for text in test.texts]
        (tmp_path / f"run-{seed}.txt").write_text("\n".join(rows) + "\n")
    (entry,) = wg.multiverse(f"forum=vectors:{tmp_path}/run-*.txt", test).topics
    assert entry["model"] == "forum"
    assert entry["lists"][0]["choices"]["seed"] == ["0", "1", "2"]
    assert entry["specification_count"] == 36
    assert entry["lists"][0]["squared_standard_errors"]["seeds"] > 0


def test_models_are_compared_over_the_specifications_they_share() -> None:
    models = [HashedEncoder(width=w, name=f"hashed-{w}") for w in (10, 20, 30)]
    (found,) = wg.multiverse(models, planted_test()).agreement
    assert found["coefficients"]["models"] == 3
    assert found["coefficients"]["specifications"] == 12
    assert 0 <= found["coefficients"]["kendall_w"] <= 1


def test_choices_that_are_not_varied_stay_at_the_published_setting() -> None:
    (entry,) = wg.multiverse(HashedEncoder(), CAREER, choices=["similarity"]).topics
    counted = [one for one in entry["specifications"] if one["counted"]]
    assert [(one["statistic"], one["template"]) for one in counted] == [("mean", "word")] * 3
    with pytest.raises(UnknownNameError, match=naming("seeds", suggesting="seed")):
        wg.multiverse(choices=["seeds"])
    with pytest.raises(WeatherglassError, match=naming("statistic", "direction")):
        wg.multiverse(statistics=("eq2",))


def test_the_command_prints_json_alone_and_a_curve_of_80_columns(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from weatherglass.cli import app

    command = ["multiverse", "wordllama", "-t", "weat6", "-t", "sent-weat6", "-o", str(tmp_path)]
    printed = CliRunner().invoke(app, [*command, "--json"])
    record: dict[str, Any] = json.loads(printed.stdout)
    assert record["topics"][0]["topic"] == "gender and career"
    shown = CliRunner().invoke(app, command, env={"COLUMNS": "80"}).stdout.splitlines()
    assert max(map(len, shown[:-1])) <= 80
    assert any("●" in line for line in shown)
    ending = record["topics"][0]["lists"][0]["conclusion"]
    assert ending["hangs_on"][0] == "statistic"
    assert mentions("\n".join(shown), ending["sentence"])

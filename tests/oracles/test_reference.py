"""The oracles themselves, held against the files that they were made from: `make test-shared SHARED=DIR`."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest
from tests.oracles import azarpanah2021, du2021, may2019, sent_bias
from tests.oracles.checksum import checksum

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def reference(shared: Path) -> Path:
    return shared / "reference"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_the_published_tests_have_their_checksums(reference: Path) -> None:
    files = (reference / "seat").glob("*.jsonl")
    found = {file.stem: checksum(json.loads(file.read_text(encoding="utf-8"))) for file in files}
    assert found == sent_bias.CONTENT
    layout = (reference / "seat" / "weat1.jsonl").read_bytes()
    assert hashlib.sha256(layout).hexdigest() == sent_bias.WEAT1_BYTES


def test_the_word_lists_have_their_numbers_and_checksums(reference: Path) -> None:
    folder = reference / "du2021"
    male_first, female_first, occupations = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("rnd_gender_base_pairs", "gender_base_pairs", "professions")
    )
    entries: dict[str, set[object]] = {
        "gender": {*map(tuple, male_first), *((male, female) for female, male in female_first)},
        "occupations": set(occupations),
        "occupations_1950": set((folder / "occupations1950.txt").read_text(encoding="utf-8").split()),
        "adjectives": set((folder / "adjectives_williamsbest.txt").read_text(encoding="utf-8").split()),
    }
    found = {name: (len(given), checksum(sorted(given, key=str))) for name, given in entries.items()}
    assert found == du2021.WORD_LISTS


def test_may2019_is_typed_without_a_slip(reference: Path) -> None:
    table = {
        (row["test"], row["model"]): (float(row["effect_size"]), row["significance"] or "")
        for row in rows(reference / "published" / "may2019_table4.tsv")
    }
    assert may2019.table_4() == table
    p_values = rows(reference / "published" / "may2019_p_values.tsv")
    assert {(row["model"], row["test"]): float(row["p_value"]) for row in p_values} == {
        (model, test): p for model, by_test in may2019.P_VALUES.items() for test, p in by_test.items()
    }


def test_azarpanah2021_is_typed_without_a_slip(reference: Path) -> None:
    table = {
        (row["model"].lower(), row["measure"]): (
            int(row["significant_of_10"]),
            float(row["mean_effect_size"]),
            float(row["sd_effect_size"]),
        )
        for row in rows(reference / "published" / "azarpanah2021_table3.tsv")
    }
    assert azarpanah2021.table_3() == table
    aggregates = rows(reference / "published" / "azarpanah2021_aggregates.tsv")
    assert {
        (row["over"], row["value"]): (float(row["mean_effect_size"]), float(row["sd_effect_size"]))
        for row in aggregates
    } == azarpanah2021.AGGREGATES
    lines = (reference / "published" / "azarpanah2021_table4.tsv").read_text(encoding="utf-8").splitlines()
    cells = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    assert azarpanah2021.table_4() == {
        (row["model"], row["test"], row["measure"]): (float(row["d"]), int(row["stars"])) for row in cells
    }


def test_du2021_is_typed_without_a_slip(reference: Path) -> None:
    pearson = rows(reference / "published" / "re_du2021_pearson.tsv")
    for column, table in (("reproduced", du2021.PEARSON), ("original", du2021.PEARSON_ORIGINAL)):
        assert {
            (row["base_pairs"], row["algorithm"], row["rules"]): float(row[column])
            for row in pearson
            if row[column]
        } == {
            (*row, name): r
            for row, cells in table.items()
            for name, r in zip(du2021.RULES, cells, strict=True)
        }
    regression = rows(reference / "published" / "re_du2021_table3.tsv")
    for reliability in ("test-retest", "inter-rater"):
        given = {row["feature"]: row[f"{reliability.replace('-', '_')}_estimate"] for row in regression}
        numbers = {name: float(text) for name, text in given.items() if text not in ("", "reference")}
        assert du2021.estimates(reliability) == numbers

"""Table 2 of Guo & Caliskan (2021), and its procedure on a model and a corpus."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import numpy as np
import pytest

from weatherglass.catalogue import load_tests
from weatherglass.errors import WeatherglassError
from weatherglass.progress import Silent
from weatherglass.reproduce.guo2021 import lines, published, reproduce, sheets


def test_the_published_table_has_its_rows_and_columns() -> None:
    table = published()
    assert table.models == ("elmo", "bert", "gpt", "gpt2")
    assert list(table.tests) == [*(f"C{n}" for n in range(1, 11)), *(f"I{n}" for n in range(1, 5))]
    # Supplement, Table 2: the first and the last row.
    assert table.tests["C1"] == (1.39, 0.96, 1.05, 0.13)
    assert table.tests["I4"] == (1.52, 0.87, 0.14, -0.26)


@pytest.mark.shared
def test_the_published_table_is_that_of_the_reference(shared: Path) -> None:
    path = shared / "reference" / "published" / "guo2021_table2.tsv"
    text = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = {row["test"]: row for row in csv.DictReader(text, delimiter="\t")}
    table = published()
    assert {name: tuple(float(row[model]) for model in table.models) for name, row in rows.items()} == dict(
        table.tests
    )


def test_static_vectors_have_equal_effects_by_draws_and_by_words(tmp_path: Path) -> None:
    words = list(
        dict.fromkeys(w for test in load_tests(["weat*"]) for w in test.texts if test.context == "word")
    )
    draw = np.random.default_rng(0)
    rows = (
        f"{word} {' '.join(f'{n:.4f}' for n in draw.normal(size=10))}" for word in words if " " not in word
    )
    (tmp_path / "vectors.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    order = random.Random(1)
    text = "\n".join(f"{' '.join(order.sample(words, 12))}." for _ in range(600))
    (tmp_path / "corpus.txt").write_text(text, encoding="utf-8")
    specs = {"static": f"vectors:{tmp_path / 'vectors.txt'}"}
    corpus = tmp_path / "corpus.txt"
    found = reproduce(specs, corpus, 3, tmp_path / "out", 0, 1, Silent())
    assert found.combined
    assert found.by_words
    assert len(found.combined.results) == 10
    for combined, own in zip(found.combined.results, found.by_words.results, strict=True):
        assert combined.value == pytest.approx(own.value, abs=1e-10)
    here = next(sheet for sheet in sheets(found) if sheet.name == "here")
    assert len(here.rows) == 11
    assert len(lines(found)) == 3


@pytest.mark.parametrize(("specs", "corpus"), [({"static": "vectors:no"}, None), ({}, Path("corpus.txt"))])
def test_models_and_corpus_belong_together(
    specs: dict[str, str], corpus: Path | None, tmp_path: Path
) -> None:
    with pytest.raises(WeatherglassError):
        reproduce(specs, corpus, 3, tmp_path, 0, 1, Silent())

"""What a page carries of the details: unpacked, it is what was stored, to the digits that a plot shows."""

from __future__ import annotations

import base64
import gzip
import json
import re
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from tests.report.made_up import made_up_run

from weatherglass.catalogue import load_tests
from weatherglass.report.page.html import page
from weatherglass.runs.results import word_scores
from weatherglass.runs.stored import read_run


def blocks_of(page: str) -> dict[str, Any]:
    scripts = re.findall(r'<script type="text/plain" id="block-(\w+)">([^<]*)</script>', page)
    return {name: json.loads(gzip.decompress(base64.b64decode(content))) for name, content in scripts}


def named(records: dict[str, Any]) -> list[dict[str, Any]]:
    """As `named` in core.js."""
    return [dict(zip(records["fields"], row, strict=True)) for row in records["rows"]]


def unpacked(lists: dict[str, Any], number: int) -> list[dict[str, Any]]:
    return named({"fields": lists["fields"], "rows": lists["lists"][number]})


def test_scores_come_back_to_four_digits(tmp_path: Path) -> None:
    written = made_up_run(
        tmp_path, load_tests(["weat1", "sent-weat1"]), ["a", "b"], ["cosine/mean", "dot/mean"]
    )
    blocks = blocks_of(page([read_run(tmp_path)]))
    shared = blocks.pop("shared")
    assert sorted(blocks) == ["0", "1", "2", "3"]  # two models, two measures
    seen = 0
    for content in blocks.values():
        for number, packed in content.items():
            result = written[int(number)]
            step = packed["step"]
            elements = unpacked(shared["lists"]["elements"], packed["elements"])
            texts = named(shared["texts"])
            assert [(e["role"], texts[e["element"]]["text"]) for e in elements] == [
                (score.role, score.text) for score in result.scores
            ]
            scores = [steps * step for steps in packed["scores"]]
            assert scores == pytest.approx([score.score for score in result.scores], abs=step)
            assert step <= max(abs(score.score) for score in result.scores) / 9000
            means = [steps * step for steps in packed["word_scores"]]
            assert means == pytest.approx([score for _, _, score, _ in word_scores(result)], abs=step)
            seen += 1
    assert seen == len(written)


def test_the_null_distribution_comes_back_to_three_decimals(tmp_path: Path) -> None:
    (result,) = made_up_run(tmp_path, load_tests(["weat1"]))
    packed = blocks_of(page([read_run(tmp_path)]))["0"]["0"]
    null = [total / 1000 for total in accumulate(packed["null"])]
    assert result.trust is not None
    assert null == pytest.approx(list(result.trust.null), abs=0.0006)


def test_leave_one_out_names_what_was_left_out_and_gives_p_of_the_most_telling(tmp_path: Path) -> None:
    (result,) = made_up_run(tmp_path, load_tests(["weat1"]))
    blocks = blocks_of(page([read_run(tmp_path)]))
    packed = blocks["0"]["0"]
    names = [each["name"] for each in unpacked(blocks["shared"]["lists"]["left_out"], packed["left_out"])]
    assert result.trust is not None
    assert names == [each.name for each in result.trust.left_out]
    ((place, p),) = packed["p_without"].items()
    (telling,) = (each for each in result.trust.left_out if each.p_value is not None)
    assert (names[int(place)], p) == (telling.name, telling.p_value)


def test_a_text_is_carried_once_however_many_models_read_it(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["sent-weat1"]), [f"model {n}" for n in range(4)])
    shared = blocks_of(page([read_run(tmp_path)]))["shared"]
    texts = [each["text"] for each in named(shared["texts"])]
    assert len(texts) == len(set(texts)) == 700  # 350 + 350 targets, docs/methods 5
    assert len(shared["lists"]["elements"]["lists"]) == 1


def test_a_result_costs_less_than_15_mb_over_5_520(tmp_path: Path) -> None:
    """The size that issue 8 allows, 30 models × 46 tests × 4 measures in 15 MB, result by result."""
    tests = load_tests(["*"])
    sizes = []
    for number in (1, 4):
        folder = tmp_path / str(number)
        made_up_run(folder, tests, [f"model {n}" for n in range(number)])
        sizes.append(len(page([read_run(folder)]).encode()))
    a_result = (sizes[1] - sizes[0]) / (3 * 46)
    assert sizes[0] + a_result * 30 * 46 * 4 < 15e6


def test_the_same_folder_gives_the_same_page(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    assert page([read_run(tmp_path)]) == page([read_run(tmp_path)])

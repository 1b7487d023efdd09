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

from weatherglass.audit.results import word_scores
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_tests
from weatherglass.report.page import page


def blocks_of(page: str) -> dict[str, Any]:
    scripts = re.findall(r'<script type="text/plain" id="block-(\w+)">([^<]*)</script>', page)
    return {name: json.loads(gzip.decompress(base64.b64decode(content))) for name, content in scripts}


def named(records: dict[str, Any]) -> list[dict[str, Any]]:
    """As `named` in core.js."""
    return [dict(zip(records["fields"], row, strict=True)) for row in records["rows"]]


def unpacked(lists: dict[str, Any], number: int) -> list[dict[str, Any]]:
    return named({"fields": lists["fields"], "rows": lists["lists"][number]})


def test_scores_of_words_come_back_to_four_digits_and_of_sentences_to_three(tmp_path: Path) -> None:
    written = made_up_run(
        tmp_path, load_tests(["weat1", "sent-weat1"]), ["a", "b"], ["cosine/mean", "dot/mean"]
    )
    blocks = blocks_of(page([read_run(tmp_path)]))
    shared = blocks.pop("shared")
    assert sorted(blocks) == ["0", "1", "2", "3", "results", "texts"]  # two models, two metrics
    del blocks["results"], blocks["texts"]
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
            largest = max(abs(score.score) for score in result.scores)
            assert step <= largest / (900 if result.test.startswith("sent-") else 9000)
            by_word: dict[tuple[str, str], list[float]] = {}
            for element, score in zip(elements, scores, strict=True):
                word = texts[element["element"]]["word"]
                by_word.setdefault((element["role"], word), []).append(score)
            means = [sum(own) / len(own) for own in by_word.values()]
            assert means == pytest.approx([s for _, _, s, _ in word_scores(result)], abs=largest / 2500)
            seen += 1
    assert seen == len(written)


def test_the_null_distribution_comes_back_to_two_decimals(tmp_path: Path) -> None:
    (result,) = made_up_run(tmp_path, load_tests(["weat1"]))
    packed = blocks_of(page([read_run(tmp_path)]))["0"]["0"]
    null = [total / 100 for total in accumulate(packed["null"])]
    assert result.robustness is not None
    assert null == pytest.approx(list(result.robustness.null)[::2], abs=0.0051)


def test_leave_one_out_names_what_was_left_out_and_gives_p_of_the_most_telling(tmp_path: Path) -> None:
    (result,) = made_up_run(tmp_path, load_tests(["weat1"]))
    blocks = blocks_of(page([read_run(tmp_path)]))
    packed = blocks["0"]["0"]
    names = [each["name"] for each in unpacked(blocks["shared"]["lists"]["left_out"], packed["left_out"])]
    assert result.robustness is not None
    assert names == [each.name for each in result.robustness.left_out]
    ((place, p),) = packed["p_without"].items()
    (telling,) = (each for each in result.robustness.left_out if each.p_value is not None)
    assert (names[int(place)], p) == (telling.name, telling.p_value)


def test_a_text_is_carried_once_however_many_models_read_it(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["sent-weat1"]), [f"model {n}" for n in range(4)])
    shared = blocks_of(page([read_run(tmp_path)]))["shared"]
    texts = [each["text"] for each in named(shared["texts"])]
    assert len(texts) == len(set(texts)) == 700  # 350 + 350 targets, docs/methods 5
    assert len(shared["lists"]["elements"]["lists"]) == 1


@pytest.mark.large
def test_a_model_costs_less_than_5_mb_over_30(tmp_path: Path) -> None:
    """The size that issue 20 allows, 30 models × 46 tests × 4 metrics in 5 MB, model by model."""
    tests = load_tests(["*"])
    metrics = ["cosine/mean", "euclidean/mean", "manhattan/mean", "cosine/median"]
    sizes = []
    for number in (5, 6):
        folder = tmp_path / str(number)
        made_up_run(folder, tests, [f"model {n}" for n in range(number)], metrics)
        sizes.append(len(page([read_run(folder)]).encode()))
    assert sizes[1] + 24 * (sizes[1] - sizes[0]) < 5e6


def test_the_same_folder_gives_the_same_page(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    assert page([read_run(tmp_path)]) == page([read_run(tmp_path)])

"""A multiverse of words in contexts: its specifications against runs, choices that a model lacks, and bad input."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming

import weatherglass as wg
from weatherglass.audit.contexts import _cut, encode_contexts, read_contexts
from weatherglass.audit.folder import CONTEXTS
from weatherglass.catalogue import load_test
from weatherglass.encoders import Input, load_encoder
from weatherglass.errors import WeatherglassError
from weatherglass.multiverses.contexts import HALVES, LENGTHS, WORDS_AROUND
from weatherglass.parallel import InProcess
from weatherglass.progress import Silent
from weatherglass.reliability.corpus.contexts import find_contexts
from weatherglass.report.multiverse import lines_of, page

WEAT6 = load_test("weat6").texts
ALONE: dict[str, Any] = {"similarities": ("cosine",), "statistics": ("mean",)}
CHOICES = ("contexts", "length", "pieces", "layers")


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    """Six sentences with each word of WEAT 6 between letters, so that the tiny model can read all of them."""
    draw = random.Random(1)

    def letters() -> str:
        return " ".join(draw.choices("abcdefgh", k=7))

    return [f"{letters()} {word} {letters()}" for word in WEAT6 for _ in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.encoders.transformers.tiny_models import build

    return build("bert", tmp_path_factory.mktemp("models") / "bert")


def test_specifications_are_those_of_runs(folder: Path, sentences: list[str], tmp_path: Path) -> None:
    """Each specification against a run on its half of the sentences, cut to its length, with its spec."""
    found = wg.multiverse(
        f"hf:{folder}", "weat6", CHOICES, contexts=sentences, per_word=6, folder=tmp_path, **ALONE
    )
    (topic,) = found.topics
    (block,) = topic["lists"]
    assert block["choices"] == {
        "layers": ["-1", "-2", "mean:-4.."],
        "contexts": list(HALVES),
        "length": list(LENGTHS),
        "pieces": ["mean", "first", "last"],
    }
    assert block["left_out"] == block["dropped"] == []
    assert topic["specification_count"] == 36
    whole = read_contexts(tmp_path / CONTEXTS)
    asked = [
        (0, LENGTHS[0], "mean", "-1"),
        (1, LENGTHS[0], "last", "-2"),
        (0, LENGTHS[1], "first", "mean:-4.."),
        (1, LENGTHS[1], "mean", "-2"),
    ]
    for half, length, pieces, layers in asked:
        own = whole.halves()[half]
        own = own if length == LENGTHS[0] else own.cut_around(WORDS_AROUND)
        spec = f"hf:{folder}?span_pooling={pieces}&layers={layers}"
        (result,) = wg.run(spec, "weat6", contexts=own).results
        levels = {"contexts": HALVES[half], "length": length, "pieces": pieces, "layers": layers}
        (one,) = (each for each in topic["specifications"] if levels.items() <= each.items())
        assert one["d"] == pytest.approx(result.effect_size, abs=1e-5), levels


def test_without_variation_d_and_p_are_those_of_a_run(folder: Path, sentences: list[str]) -> None:
    given: dict[str, Any] = {"contexts": sentences, "per_word": 6}
    (topic,) = wg.multiverse(f"hf:{folder}", "weat6", ["similarity"], **ALONE, **given).topics
    (one,) = topic["specifications"]
    (result,) = wg.run(f"hf:{folder}", "weat6", **given).results
    assert one["d"] == pytest.approx(result.effect_size, abs=1e-9)
    model = load_encoder(f"hf:{folder}", cache=False)
    means = encode_contexts(model, find_contexts(sentences, WEAT6, 6), WEAT6, InProcess(), Silent()).encodings
    x, y, a, b = (means.vectors[[means.row[text] for text in each.texts]] for each in load_test("weat6").sets)
    alone = wg.associate(x, y, a, b, alternative="two-sided", trust="none")
    assert topic["multiverse_p"] == pytest.approx(alone.p_value, abs=1e-12)


def test_choices_that_static_vectors_lack_are_named(sentences: list[str]) -> None:
    draw = np.random.default_rng(2)
    static: Mapping[str, Any] = {word: draw.normal(size=20) for word in WEAT6}
    found = wg.multiverse({"static": static}, "weat6", contexts=sentences)
    alone = wg.multiverse({"static": static}, "weat6", ["similarity", "statistic"])
    (topic,) = found.topics
    (block,) = topic["lists"]
    assert block["left_out"] == list(CHOICES)
    assert [one["d"] for one in topic["specifications"]] == [
        one["d"] for one in alone.topics[0]["specifications"]
    ]
    assert topic["multiverse_p"] == alone.topics[0]["multiverse_p"]
    for shown in ("\n".join(lines_of(found)), page(found)):
        assert mentions(shown, ", ".join(CHOICES))


def test_a_word_without_contexts_leaves_all_specifications_and_is_named(
    folder: Path, sentences: list[str]
) -> None:
    kept = [text for text in sentences if "Amy" not in text]
    found = wg.multiverse(f"hf:{folder}", "weat6", ["layers"], contexts=kept, per_word=3, **ALONE)
    (block,) = found.topics[0]["lists"]
    assert block["dropped"] == ["Amy"]
    assert mentions("\n".join(lines_of(found)), "Amy")


def test_finished_lists_are_not_computed_again_unless_the_sentences_change(
    folder: Path, sentences: list[str], tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(sentences), encoding="utf-8")
    journal = tmp_path / "out" / "multiverse.jsonl"

    def lines(per_word: int) -> int:
        wg.multiverse(
            f"hf:{folder}", "weat6", "contexts", contexts=corpus, per_word=per_word,
            folder=tmp_path / "out", **ALONE,
        )  # fmt: skip
        return len(journal.read_text(encoding="utf-8").splitlines())

    assert (lines(4), lines(4), lines(5)) == (1, 1, 2)


@pytest.mark.parametrize(
    ("text", "word", "number", "expected"),
    [
        ("We saw that the old nurse, who was late, left.", "nurse", 2, "the old nurse, who was"),
        ("nurse", "nurse", 5, "nurse"),
        ("A nurse .", "nurse", 1, "A nurse ."),
        ('one two "nurse" - three four', "nurse", 1, 'two "nurse" - three'),
        ("昨天护士来了吗", "护士", 2, "昨天护士来了"),
    ],
)
def test_a_sentence_is_cut_to_words_around(text: str, word: str, number: int, expected: str) -> None:
    start = text.index(word)
    cut = _cut(Input(text, (start, start + len(word))), number)
    assert (cut.text, cut.word) == (expected, word)


@pytest.mark.parametrize(
    ("model", "tests", "options", "expected"),
    [
        ("wordllama", "sent-weat6", {"contexts": ["Amy"]}, ("sent-weat6", "weat*")),
        ("wordllama", "weat6", {"contexts": ["One line without any of them."]}, (len(WEAT6),)),
        ("wordllama", "weat6", {"contexts": [" ".join(WEAT6)]}, ("context-weat6", "half", "contexts")),
        ("wordllama", "weat6", {"contexts": ["Amy"], "per_word": 0}, ("per_word",)),
        (
            "wordllama",
            "weat6",
            {"contexts": ["Amy"], "similarities": ("log-probability",)},
            ("log-probability", "contexts"),
        ),
        ("function", "weat6", {"contexts": ["Amy"]}, ("function", "hf:")),
    ],
)
def test_what_does_not_fit_is_one_line(
    model: str, tests: str, options: dict[str, Any], expected: tuple[object, ...]
) -> None:
    given: Any = (
        wg.model(lambda texts: np.ones((len(texts), 2)), name=model) if model == "function" else model
    )
    with pytest.raises(WeatherglassError, match=naming(*expected)):
        wg.multiverse(given, tests, **options)

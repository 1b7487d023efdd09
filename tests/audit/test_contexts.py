"""Words in sentences of a corpus: what is found, how it is averaged, and how a run is repeated from its sentences."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.transformers.tiny_models import POSITIONS
from tests.messages import naming

import weatherglass as wg
from weatherglass.audit import encode
from weatherglass.audit.contexts import EncodedContexts, encode_contexts, read_contexts
from weatherglass.audit.folder import CONTEXTS
from weatherglass.catalogue import load_test
from weatherglass.cli import app
from weatherglass.cli.errors import exit_code_of
from weatherglass.encoders import Input, load_encoder
from weatherglass.encoders.base import text_of
from weatherglass.errors import WeatherglassError
from weatherglass.parallel import InProcess
from weatherglass.progress import Silent
from weatherglass.reliability.corpus import contexts as finder
from weatherglass.reliability.corpus.contexts import MOST_CHARACTERS, find_contexts

TinyModel = Callable[[str], Path]
WEAT6 = load_test("weat6").texts


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    """400 sentences of random words, in which each word of WEAT 6 occurs several times."""
    draw = random.Random(1)
    return [" ".join(draw.choices([*WEAT6, "the", "of", "here"], k=12)) + "." for _ in range(400)]


@pytest.fixture(scope="module")
def vectors() -> dict[str, Any]:
    draw = np.random.default_rng(2)
    return {word: draw.normal(size=20) for word in WEAT6}


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    from tests.encoders.transformers.tiny_models import build

    folder = tmp_path_factory.mktemp("models")
    return lambda family: build(family, folder / family)


def spans(text: str, *words: str) -> dict[str, list[tuple[int, int] | None]]:
    found = find_contexts([text, "zebra"], [*words, "zebra"]).words
    return {word: [asked.span for asked in found[word].sample] for word in words}


def test_found_sentences_are_those_of_a_plain_search(sentences: list[str]) -> None:
    found = find_contexts(sentences, WEAT6, per_word=1000).words
    for word in WEAT6:
        expected = {(text, match.span()) for text in sentences if (match := re.search(rf"\b{word}\b", text))}
        assert {(asked.text, asked.span) for asked in found[word].sample} == expected
        assert found[word].found == len(expected) > 20


@pytest.mark.parametrize(
    ("text", "word", "at"),
    [
        ("A woman and a man here", "man", 14),
        ("The man's hat", "man", 4),
        ("It's the man’s", "man", 9),
        ("We can't", "can", None),
        ("He said: 'can'", "can", 10),
        ("Then Will goes, will you", "will", 16),
        ("the New York Times", "New York", 4),
        ("caf\u00e9 au lait", "cafe\u0301", 0),
        ("cafe\u0301s", "cafe", None),
        ("यह हिन्दी है", "हिन्दी", 3),
        ("यह हिन्दी है", "हिन", None),
        ("мама мыла раму", "мыла", 5),
        ("snake_case", "case", None),
    ],
)
def test_words_match_whole_and_as_written(text: str, word: str, at: int | None) -> None:
    (places,) = spans(text, word).values()
    assert [place[0] for place in places if place] == ([] if at is None else [at])


def test_a_sample_does_not_depend_on_order_copies_or_other_words(sentences: list[str]) -> None:
    whole = find_contexts(sentences, WEAT6, per_word=12, seed=3).words
    shuffled = random.Random(0).sample(sentences * 2, 2 * len(sentences))
    again = find_contexts(shuffled, WEAT6[:3], per_word=12, seed=3).words
    fewer = find_contexts(sentences, WEAT6, per_word=5, seed=3).words
    other = find_contexts(sentences, WEAT6, per_word=12, seed=4).words
    for word in WEAT6[:3]:
        assert again[word].sample == whole[word].sample
        assert fewer[word].sample == whole[word].sample[:5]
        assert other[word].sample != whole[word].sample
        assert len(set(whole[word].sample)) == 12


def test_sentences_are_sampled_evenly_over_the_corpus() -> None:
    """10 of 1000 sentences with 200 seeds: the places have the mean and spread of uniform draws."""
    texts = [f"nurse {number}." for number in range(1000)]
    drawn = [
        int(asked.text[6:-1])
        for seed in range(200)
        for asked in find_contexts(texts, ["nurse"], 10, seed).words["nurse"].sample
    ]
    assert abs(np.mean(drawn) - 499.5) < 4 * 288.7 / np.sqrt(len(drawn))
    assert abs(np.std(drawn) / 288.7 - 1) < 0.05


def test_a_long_line_is_shortened_around_the_word() -> None:
    text = "ab " * 5000 + "nurse " + "cd " * 5000
    (asked,) = find_contexts([text], ["nurse"]).words["nurse"].sample
    assert asked.word == "nurse"
    assert 0.9 * MOST_CHARACTERS < len(asked.text) <= MOST_CHARACTERS
    assert set(asked.text.split()) == {"ab", "nurse", "cd"}


@pytest.mark.parametrize("metric", ["cosine/mean", "mac", "rnsb"])
def test_static_vectors_give_the_numbers_of_single_words(
    sentences: list[str], vectors: dict[str, Any], metric: str
) -> None:
    (alone,) = wg.run({"static": vectors}, "weat6", metric).results
    (result,) = wg.run({"static": vectors}, "weat6", metric, contexts=sentences, per_word=7).results
    assert (result.test, result.context) == ("context-weat6", "corpus")
    assert (result.value, result.p_value, result.ci_low) == (alone.value, alone.p_value, alone.ci_low)


def encoded(folder: Path, texts: list[str], words: list[str], per_word: int = 100) -> EncodedContexts:
    model = load_encoder(f"hf:{folder}?dtype=float64", cache=False)
    return encode_contexts(model, find_contexts(texts, words, per_word), words, InProcess(), Silent())


def test_a_word_is_the_mean_over_its_sentences(tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    texts = [
        "The roses are here .",
        "wasps and roses .",
        "This is peace and wasps .",
        "roses roses are peace .",
    ]
    found = encoded(folder, texts, ["roses", "wasps", "zebra"])
    model = load_encoder(f"hf:{folder}?dtype=float64", cache=False)
    for word in ("roses", "wasps"):
        inputs = [
            Input(text, (text.index(word), text.index(word) + len(word))) for text in texts if word in text
        ]
        rows = [model.observe([asked], "token-vectors").matrix[0] for asked in inputs]
        row = found.encodings.row[word]
        np.testing.assert_allclose(found.encodings.vectors[row], np.mean(rows, axis=0), atol=1e-9)
        assert len(found.rows[word]) == len(rows)
    assert not found.encodings.known("zebra")


def test_a_word_that_the_model_cuts_off_is_a_listed_loss(tiny_model: TinyModel) -> None:
    long = "is " * (POSITIONS + 20) + "wasps"
    found = encoded(tiny_model("bert"), [long, "wasps are here ."], ["wasps"])
    row = found.encodings.row["wasps"]
    assert len(found.rows["wasps"]) == 1
    assert found.encodings.known("wasps")
    assert "1 of 2" in found.encodings.coverage[row].note


def test_a_run_is_repeated_from_its_sentences(
    sentences: list[str], tiny_model: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(sentences), encoding="utf-8")
    spec = f"hf:{tiny_model('bert')}"
    first = wg.run(spec, "weat6", contexts=corpus, per_word=6, folder=tmp_path / "run")
    assert read_contexts(tmp_path / "run" / CONTEXTS).words.keys() >= set(WEAT6)
    monkeypatch.setattr(finder, "documents", lambda *_: pytest.fail("the corpus is read again"))
    again = wg.run(spec, "weat6", contexts=corpus, per_word=6, folder=tmp_path / "run")
    assert again.keys == first.keys
    corpus.unlink()
    for source in (tmp_path / "run", tmp_path / "run" / CONTEXTS):
        other = wg.run(spec, "weat6", contexts=source)
        assert other.keys == first.keys
        assert other.results[0].value == first.results[0].value
    fewer = wg.run(spec, "weat6", contexts=tmp_path / "run", per_word=3)
    assert fewer.keys != first.keys
    assert fewer.results[0].value != first.results[0].value


def test_words_with_few_contexts_are_listed(vectors: dict[str, Any], sentences: list[str]) -> None:
    kept = [text for text in sentences if not re.search(r"\b(Amy|career)\b", text)]
    run = wg.run({"static": vectors}, "weat6", contexts=[*kept, "Amy is here."])
    (warning,) = [each for each in run.warnings if each.kind == "few-contexts"]
    assert {word.split()[0]: word.split()[1] for word in warning.values["words"]} == {
        "Amy": "(1)",
        "career": "(0)",
    }
    assert run.results[0].notes["oov"]["dropped"] == {"A": ["career"]}


@pytest.mark.parametrize(
    ("corpus", "options", "expected"),
    [
        ("One line without any of them.", [], ("corpus.txt", len(WEAT6))),
        ("", [], ("corpus.txt", len(WEAT6))),
        (None, [], ("corpus.txt",)),
        ("Amy", ["-t", "sent-weat6"], ("sent-weat6", "weat*")),
        ("Amy", ["--per-word", "0"], ("--per-word",)),
        ("Amy", ["-m", "log-probability"], ("log-probability",)),
        ('{\n "sha256": "no"}', [], ("corpus.txt",)),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    corpus: str | None,
    options: list[str],
    expected: tuple[object, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = tmp_path / "corpus.txt"
    if corpus is not None:
        place.write_text(corpus, encoding="utf-8")
    tests = [] if "-t" in options else ["-t", "weat6"]
    given = ["run", *tests, "--contexts", str(place), "-o", str(tmp_path / "run"), *options]
    monkeypatch.setattr(sys, "argv", ["weatherglass", *given])
    assert exit_code_of(app) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert re.search(naming(*expected), said)


def test_a_word_of_mixed_scripts_is_named(vectors: dict[str, Any], sentences: list[str]) -> None:
    test = load_test("weat6")
    mixed = "c\u0430reer"  # the second letter is Cyrillic
    sets = {role: list(one.texts) for role, one in zip(test.roles, test.sets, strict=True)}
    own = wg.test(sets["X"], sets["Y"], [mixed, *sets["A"]], sets["B"], name="mixed")
    run = wg.run({"static": {**vectors, mixed: vectors["career"]}}, own, contexts=sentences)
    (warning,) = [each for each in run.warnings if each.kind == "few-contexts"]
    assert warning.values["words"] == [f"{mixed} (0, has Latin and Cyrillic letters)"]


def test_two_processes_give_the_numbers_of_one(sentences: list[str], tiny_model: TinyModel) -> None:
    spec = f"hf:{tiny_model('bert')}"
    one, two = (
        wg.run(spec, "weat6", contexts=sentences, per_word=4, jobs=jobs).results[0] for jobs in (1, 2)
    )
    assert two.value == one.value
    assert two.notes["contexts"] == one.notes["contexts"]


def test_no_sentence_is_in_two_jobs(sentences: list[str]) -> None:
    found = find_contexts(sentences, WEAT6, 10)
    asked = [each for word in found.words.values() for each in word.sample]
    inputs = sorted(asked, key=lambda each: (each.text, each.span))
    parts = [{text_of(each) for each in some} for some in encode._jobs(list(inputs), "token-vectors", 7)]
    assert sum(map(len, parts)) == len({each.text for each in asked}) < len(asked)
    assert len(parts) > 10


def test_a_stopped_run_encodes_only_what_is_missing(
    sentences: list[str], tiny_model: TinyModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run stops in the third of several chunks; the next one reads neither the corpus nor the first two."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(sentences), encoding="utf-8")
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(encode, "CHUNK", 30)
    spec, plain = f"hf:{tiny_model('bert')}", encode._observed
    sizes: list[int] = []

    def stop_at(most: float) -> Callable[..., Any]:
        def observed(model: Any, inputs: list[Any], what: Any) -> Any:
            if len(sizes) == most:
                raise KeyboardInterrupt
            sizes.append(len(inputs))
            return plain(model, inputs, what)

        return observed

    monkeypatch.setattr(encode, "_observed", stop_at(2))
    with pytest.raises(KeyboardInterrupt):
        wg.run(spec, "weat6", contexts=corpus, per_word=4, folder=tmp_path / "run")
    assert len(sizes) == 2
    done = sum(sizes)
    assert done >= 60
    monkeypatch.setattr(encode, "_observed", stop_at(float("inf")))
    monkeypatch.setattr(finder, "documents", lambda *_: pytest.fail("the corpus is read again"))
    read: list[int] = []
    model = type(load_encoder(spec, cache=False))
    own = model.observe

    def observe(self: Any, given: Any, what: Any) -> Any:
        read.append(len(given))
        return own(self, given, what)

    monkeypatch.setattr(model, "observe", observe)
    run = wg.run(spec, "weat6", contexts=corpus, per_word=4, folder=tmp_path / "run")
    assert run.record["status"] == "complete"
    assert sum(read) == sum(sizes) - done - done


def test_one_line_is_a_corpus(vectors: dict[str, Any]) -> None:
    line = " ".join(WEAT6)
    run = wg.run({"static": vectors}, "weat6", contexts=[line])
    assert run.results[0].value == wg.run({"static": vectors}, "weat6").results[0].value


def test_a_model_of_whole_texts_is_refused() -> None:
    def model(texts: list[str]) -> Any:
        return np.ones((len(texts), 2))

    with pytest.raises(WeatherglassError, match=naming("hf:")):
        wg.run(wg.model(model, name="function"), "weat6", contexts=["Amy"])


def test_a_damaged_file_of_contexts_is_not_used(
    sentences: list[str], vectors: dict[str, Any], tmp_path: Path
) -> None:
    wg.run({"static": vectors}, "weat6", contexts=sentences, folder=tmp_path / "run")
    stored = tmp_path / "run" / CONTEXTS
    content = stored.read_text(encoding="utf-8")
    stored.write_text(content.replace("career", "careen", 1), encoding="utf-8")
    with pytest.raises(WeatherglassError, match=naming(str(stored))):
        wg.run({"static": vectors}, "weat6", contexts=stored)
    stored.write_text(content, encoding="utf-8")
    with pytest.raises(WeatherglassError, match=naming(str(stored))):
        wg.run({"static": vectors}, "weat7", contexts=stored)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "Mr. Smith met Dr. J. Brown. He left.",
            ["Mr. Smith met Dr. J. Brown.", "He left."],
        ),
        ('"Why?" he asked. "No." She left.', ['"Why?" he asked.', '"No."', "She left."]),
        ("It was I. You know.", ["It was I.", "You know."]),
        ("Fruit, e.g. apples, etc. and so on! Ja?", ["Fruit, e.g. apples, etc. and so on!", "Ja?"]),
        ("护士来了。医生走了！", ["护士来了。", "医生走了！"]),
        ("1.5 per cent", ["1.5 per cent"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, sentences: list[str]) -> None:
    assert finder.sentences_of(text) == sentences


@pytest.mark.parametrize(
    ("text", "word", "at"),
    [
        ("Roses are here", "roses", 0),
        ('"Roses are here"', "roses", 1),
        ("The Roses are here", "roses", None),
        ("Roses and roses", "roses", 0),
        ("roses", "Roses", None),
        ("护士来了", "护士", 0),
        ("これはnurseです", "nurse", 3),
        ("ผู้หญิง", "หญิง", 3),
    ],
)
def test_a_capital_and_a_script_without_spaces_match(text: str, word: str, at: int | None) -> None:
    (places,) = spans(text, word).values()
    assert [place[0] for place in places if place] == ([] if at is None else [at])


def test_ceat_of_static_vectors_is_d_and_needs_contexts(
    sentences: list[str], vectors: dict[str, Any]
) -> None:
    (alone,) = wg.run({"static": vectors}, "weat6", trust="none").results
    (result,) = wg.run({"static": vectors}, "weat6", contexts=sentences, profile="ceat2021").results
    assert result.value == pytest.approx(alone.value, abs=1e-12)
    assert result.p_method.startswith("ceat2021: ")
    assert result.notes["details"]["combined"]["between"] == 0
    with pytest.raises(WeatherglassError, match=naming("ceat2021", "--contexts")):
        wg.run({"static": vectors}, "weat6", profile="ceat2021")


def test_the_contexts_that_change_d_are_shown_with_the_result(
    sentences: list[str], tiny_model: TinyModel
) -> None:
    (result,) = wg.run(f"hf:{tiny_model('bert')}", "weat6", contexts=sentences, per_word=5).results
    noted = result.notes["contexts"]
    assert noted["used"].keys() == set(WEAT6)
    assert max(noted["used"].values()) == 5  # the tiny model cuts some words off
    assert noted["band"] == sorted(noted["band"])
    assert noted["needed"] > 1
    assert sum(noted["shares"].values()) == pytest.approx(1)
    assert len(noted["lines"]) == 2 * sum(number > 1 for number in noted["used"].values())
    changes = [abs(line["change"]) for line in noted["lines"]]
    assert changes == sorted(changes, reverse=True)
    for line in noted["lines"]:
        left, word, right = line["line"]
        assert word.lower() == line["word"].lower()
        assert any(f"{left}{word}{right}" in text for text in sentences)

"""Findings in files of text, each built here: what once ended in a traceback, hung or took all memory is one line."""

from __future__ import annotations

import json
import os
import resource
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.limits import outcome_of
from tests.messages import mentions, naming

from weatherglass.audit.contexts import read_contexts
from weatherglass.audit.multiverse_p import read_multiverse_p
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_tests, read_jsonl, read_toml
from weatherglass.catalogue.imports import import_tests
from weatherglass.catalogue.words import read_words
from weatherglass.encoders import load_encoder
from weatherglass.encoders.scores import read_log_probabilities, read_sentence_scores
from weatherglass.errors import WeatherglassError
from weatherglass.gate.rules import load_rules
from weatherglass.languages.lexicon import PARTS, WordNet, find_lexicon, load_synonyms
from weatherglass.mitigation import read_model
from weatherglass.mitigation.lists import class_list, pair_list, word_list
from weatherglass.mitigation_evaluation.cost import read_similarity
from weatherglass.progress import Silent
from weatherglass.ranking.variants import read_variants
from weatherglass.reliability.corpus.contexts import contexts_for, find_contexts, sentences_of
from weatherglass.reliability.corpus.readers import documents, source_files
from weatherglass.reliability.lists import base_pairs, target_list
from weatherglass.reliability.study_file import read_study
from weatherglass.storage.checksum import write_checked_json
from weatherglass.storage.documents import DEEPEST_KEY, json_document, parsed_toml
from weatherglass.storage.reading import LIMIT_VARIABLE

Reader = Callable[[Path], object]

TOML: dict[str, Reader] = {
    "test.toml": read_toml,
    "rules.toml": load_rules,
    "study.toml": read_study,
    "synonyms.toml": load_synonyms,
}
JSON: dict[str, Reader] = {
    "test.jsonl": read_jsonl,
    "test.json": import_tests,
    "multiverse.json": lambda path: read_multiverse_p(path, ["cosine/mean"]),
    "corpus.jsonl": lambda path: list(documents(path)),
}
LISTS: dict[str, Reader] = {
    "pairs.txt": lambda path: pair_list(str(path)),
    "classes.txt": lambda path: class_list(str(path)),
    "words.txt": lambda path: word_list(str(path)),
    "base.txt": lambda path: base_pairs(str(path)),
    "targets.txt": lambda path: target_list(str(path)),
    "table.tsv": lambda path: read_words(path, "share"),
    "judged.tsv": read_similarity,
    "senses.tsv": lambda path: find_lexicon(["a"], senses=path),
    "parts.tsv": lambda path: find_lexicon(["a"], parts=path),
    "corpus.txt": lambda path: list(documents(path)),
    "import.txt": import_tests,
}


def refused(read: Reader, path: Path) -> str:
    """The line with which a reader refuses a file; any other error fails the test."""
    with pytest.raises(WeatherglassError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", TOML)
@pytest.mark.parametrize(
    "content",
    [
        b"a = " + b"9" * 5000,
        b"a = " + b"[" * 5000,
        b"a = " + b"{a=" * 5000,
        b"a = '\xed\xa0\x80'",
        b"a = 1\x00",
        b"\xff\xfea\x00",
        b"[a",
        b"a = 1979-13-45",
    ],
    ids=["digits", "arrays", "tables", "half a character", "NUL", "UTF-16", "cut", "date"],
)
def test_malformed_toml_is_one_line(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    refused(TOML[name], tmp_path / name)


@pytest.mark.parametrize("name", TOML)
@pytest.mark.parametrize("part", [b"a.", b"a . ", b'"a".', b"'a'. "])
@pytest.mark.parametrize("header", [False, True])
def test_100_kb_of_dotted_keys_is_refused_before_it_is_parsed(
    name: str, part: bytes, header: bool, tmp_path: Path
) -> None:
    keys = part * (100_000 // len(part)) + b"a"
    (tmp_path / name).write_bytes(b"[" + keys + b"]\n" if header else keys + b" = 1\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    line = refused(TOML[name], tmp_path / name)
    assert mentions(line, DEEPEST_KEY)
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 1
    )  # the promise itself; it took an hour


def test_dots_in_texts_are_no_keys() -> None:
    sentence = "One. Two. Three. " * 100 + "www.a.b.c.d" + "..." * 100
    assert parsed_toml(f"a.b.c = {sentence!r}\n") == {"a": {"b": {"c": sentence}}}


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize(
    "content",
    [
        b'{"targ1": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"topics": 3}',
        b"[1, 2]",
        b'"text"',
        b'{"a": "\xff"}',
        b"{",
    ],
    ids=["digits", "nested", "number", "numbers", "text", "not UTF-8", "cut"],
)
def test_malformed_json_is_one_line(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b'{"body": "a"}\n' + content if name == "corpus.jsonl" else content)
    if name == "corpus.jsonl" and content == b'{"topics": 3}':
        return  # an object without a text is passed over
    refused(JSON[name], tmp_path / name)


@pytest.mark.parametrize("name", [*TOML, *JSON, *LISTS])
def test_pipes_devices_and_sockets_are_refused(name: str, tmp_path: Path) -> None:
    read = {**TOML, **JSON, **LISTS}[name]
    os.mkfifo(tmp_path / name)
    known_by_name = name in ("base.txt", "targets.txt")  # what is no regular file is an unknown name there
    assert mentions(
        refused_or_unknown(read, tmp_path / name), tmp_path / name, "known" if known_by_name else "pipe"
    )
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    refused_or_unknown(read, tmp_path / name)
    (tmp_path / name).unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / name))
        refused_or_unknown(read, tmp_path / name)


def refused_or_unknown(read: Reader, path: Path) -> str:
    with pytest.raises(WeatherglassError) as caught:
        read(path)
    return str(caught.value)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_that_is_no_text_is_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"one\ttwo\n\xff\xfe\x00\n")
    assert "line 2" in refused(LISTS[name], tmp_path / name)


def test_a_study_of_10_12_seeds_is_refused_before_they_are_listed(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        "seeds = 1000000000000\n[corpora.a]\npath = 'a.txt'\n", encoding="utf-8"
    )
    assert "seeds = 1000000000000; at most" in refused(read_study, tmp_path / "study.toml")


@pytest.mark.parametrize("score", ["nan", "inf", "-inf", "1e999"])
def test_a_judgement_is_a_number(score: str, tmp_path: Path) -> None:
    lines = [f"a{n}\tb{n}\t{n}" for n in range(30)]
    lines[20] = f"a\tb\t{score}"
    (tmp_path / "judged.tsv").write_text("\n".join(lines), encoding="utf-8")
    assert "line 21" in refused(read_similarity, tmp_path / "judged.tsv")


def test_a_number_of_senses_has_few_digits(tmp_path: Path) -> None:
    (tmp_path / "senses.tsv").write_text("a\t" + "9" * 5000, encoding="utf-8")
    refused(LISTS["senses.tsv"], tmp_path / "senses.tsv")


@pytest.mark.parametrize("content", [b"\xff\n", b"\n\n"])
def test_exceptions_of_wordnet_are_text(content: bytes, tmp_path: Path) -> None:
    for part in PARTS:
        (tmp_path / f"index.{part}").write_text("joy n 2 1 @ 2 1 1 2\n", encoding="utf-8")
    (tmp_path / "noun.exc").write_bytes(content)
    if content.isspace():
        assert WordNet(tmp_path).senses("joy") == 8
    else:
        refused(lambda path: WordNet(path.parent), tmp_path / "noun.exc")


@pytest.mark.parametrize(
    "text",
    ["a" * 300, "vectors:" + "a" * 300, "vectors:" + "a/" * 3000, "encodings:" + "é" * 200, "~nobody-at-all/x.txt",
     "vectors:~nobody-at-all/x", "wordllama?x=\udcff", "wordllama?dim=" + "9" * 5000, "hf:\x00", "openai:m?base_url=http://["],
)  # fmt: skip
def test_a_model_that_no_file_can_be_called_is_one_line(text: str) -> None:
    with pytest.raises(WeatherglassError) as caught:
        load_encoder(read_model(text).spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "transform",
    ["hard-debias?pairs=" + "a" * 300, "leace?classes=" + "a," * 300, "saved?file=~nobody-at-all/x"],
)
def test_a_list_that_no_file_can_be_called_is_one_line(transform: str) -> None:
    with pytest.raises(WeatherglassError) as caught:
        read_model(f"wordllama | {transform}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a" * 300, "~nobody-at-all/x.toml", "a/" * 3000, "\udcff", "[" * 300])
def test_a_test_that_no_file_can_be_called_is_one_line(name: str) -> None:
    with pytest.raises(WeatherglassError):
        load_tests([name])


@pytest.mark.parametrize(
    "record", [{"settings": {}, "keys": 3}, {"settings": {"alpha": []}, "keys": [], "status": "complete"}]
)
def test_a_record_of_the_wrong_kind_is_one_line(record: dict[str, Any], tmp_path: Path) -> None:
    write_checked_json(tmp_path / "run.json", record)
    with pytest.raises(WeatherglassError) as caught:
        read_run(tmp_path)
    assert "\n" not in str(caught.value)


def test_half_of_a_character_in_a_record_is_one_line(tmp_path: Path) -> None:
    """No file can hold it, so the page of such a run ended in a traceback."""
    record = '{"settings": {}, "keys": {}, "title": "\\ud800"}'
    (tmp_path / "run.json").write_text(record)
    with pytest.raises(WeatherglassError, match=naming("run.json", "surrogate")):
        read_run(tmp_path)
    (tmp_path / "run.json").write_bytes(b'{"settings": {}, "keys": {}, "title": "\xed\xa0\x80"}')
    with pytest.raises(WeatherglassError, match=naming("run.json")):
        read_run(tmp_path)
    path = tmp_path / "v.json"
    path.write_text('{"\\uDFFF": 1}')
    with pytest.raises(WeatherglassError, match=naming(path, "surrogate")):
        json_document(path, WeatherglassError)
    path.write_text('["\\ud83d\\ude00"]')
    assert json_document(path, WeatherglassError) == ["\N{GRINNING FACE}"]


@pytest.mark.parametrize("suffix", ["gz", "xz", "zst"])
def test_a_corpus_that_is_named_as_compressed_and_is_not_is_refused(suffix: str, tmp_path: Path) -> None:
    """Eight bytes that were left of a gzip file were read as a text."""
    path = tmp_path / f"c.txt.{suffix}"
    path.write_bytes(b"\0\0\0\0\1\0\0\0")
    with pytest.raises(WeatherglassError, match=naming(path, f" .{suffix}")):
        list(documents(path))


def test_a_corpus_that_is_a_device_is_refused() -> None:
    with pytest.raises(WeatherglassError, match=naming("/dev/zero", "device")):
        source_files(Path("/dev/zero"))


def test_a_panic_of_a_parquet_reader_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panic of Rust is no Exception; here one is raised where polars would."""
    polars = pytest.importorskip("polars", reason="the reliability extra is not installed")

    def panic(*_: object, **__: object) -> None:
        raise polars.exceptions.PanicException("index out of bounds")

    (tmp_path / "c.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    monkeypatch.setattr(polars, "read_parquet", panic)
    monkeypatch.setattr(polars, "scan_parquet", panic)
    refused(lambda path: list(documents(path)), tmp_path / "c.parquet")
    refused(import_tests, tmp_path / "c.parquet")


VARIANTS = b"query,content_gender,document\na,M,b\na,F,c\n"
DATA_SET = "Grep-BiasIR/data/queries-documents_"


def wheel(path: Path, **files: bytes) -> bytearray:
    """Write a wheel, and return its bytes to be changed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{DATA_SET}{name}", content)
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("name", ["x/", "x/..", "x/../../y.csv"])
def test_a_wheel_with_a_folder_or_a_path_for_a_file_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "w.whl"
    wheel(path, **{name: VARIANTS})
    refused(read_variants, path)


@pytest.mark.parametrize(("place", "value"), [(8, 97), (8, zipfile.ZIP_BZIP2), (6, 1)])
def test_a_wheel_of_another_compression_or_encrypted_is_refused(
    place: int, value: int, tmp_path: Path
) -> None:
    path = tmp_path / "w.whl"
    content = wheel(path, **{"x.csv": VARIANTS})
    content[place] = content[content.index(b"PK\1\2") + place + 2] = value
    path.write_bytes(content)
    refused(read_variants, path)


def test_a_wheel_that_is_damaged_or_a_pipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.whl"
    content = wheel(path, **{"x.csv": VARIANTS * 9})
    content[len(DATA_SET) + 36 : len(DATA_SET) + 46] = b"\xff" * 10
    path.write_bytes(content)
    refused(read_variants, path)
    path.unlink()
    os.mkfifo(path)
    refused(read_variants, path)


def test_a_wheel_unpacks_to_no_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit was one per file, and a wheel of 900 kB wrote a gigabyte."""
    monkeypatch.setenv(LIMIT_VARIABLE, "1M")
    path = tmp_path / "w.whl"
    wheel(path, **{f"{number}.csv": b"0" * 300_000 for number in range(4)})
    with pytest.raises(WeatherglassError, match=naming(path, LIMIT_VARIABLE)):
        read_variants(path)


ASKED = (
    '{{"text": "he is", "tokens": ["he"], "values": [{value}], "span": {span}, '
    '"what": "log-probabilities", "head": "causal"}}'
)


@pytest.mark.parametrize(
    "line",
    ["[1]", "5",
     *(ASKED.format(value=value, span="null") for value in ('"-inf"', "-1e999", f"-1{0:0400}", '"x"', "{}")),
     *(ASKED.format(value=-1, span=span) for span in ("[0, 1e999]", "[0, 9]", "5", "[0]"))],
)  # fmt: skip
def test_log_probabilities_that_are_something_else_are_one_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(f"{ASKED.format(value=-1, span='null')}\n{line}\n")
    refused(read_log_probabilities, path)


@pytest.mark.parametrize("score", ["inf", "-inf", "nan", "1e999"])
def test_a_score_that_is_not_finite_is_refused(score: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f"text,score\nhe is,-1\nshe is,{score}\n")
    with pytest.raises(WeatherglassError, match=naming(path, "line 3", score)):
        read_sentence_scores(path)


def contexts_file(path: Path, source: Any, sentences: list[Any]) -> Path:
    write_checked_json(
        path, {"contexts": source, "words": {"he": {"found": len(sentences), "sentences": sentences}}}
    )
    return path


SOURCE = {"corpus": "c.txt", "content": "0", "per_word": 3, "seed": 0, "version": 2}


@pytest.mark.parametrize(
    ("source", "sentences"),
    [([1], []), ({}, []), ({**SOURCE, "per_word": "x"}, []), (SOURCE, [5]), (SOURCE, [[0, 9, "he"]]),
     (SOURCE, [[-1, 1, "he"]])],
)  # fmt: skip
def test_contexts_of_a_stranger_are_refused(source: Any, sentences: list[Any], tmp_path: Path) -> None:
    refused(read_contexts, contexts_file(tmp_path / "contexts.json", source, sentences))


def contexts_from(path: Path) -> object:
    return contexts_for(path, ["he"], 3, 0, None, Silent())


def test_contexts_without_a_sentence_or_from_a_pipe_are_refused(tmp_path: Path) -> None:
    refused(contexts_from, contexts_file(tmp_path / "contexts.json", SOURCE, []))
    os.mkfifo(tmp_path / "pipe")
    refused(contexts_from, tmp_path / "pipe")


def test_contexts_that_do_not_start_as_written_are_no_corpus(tmp_path: Path) -> None:
    path = contexts_file(tmp_path / "contexts.json", SOURCE, [[0, 2, "he is here"]])
    assert contexts_from(path) == contexts_from(tmp_path)
    path.write_bytes(b"{ " + path.read_bytes()[1:])
    refused(contexts_from, path)
    path.write_bytes(b"")
    refused(contexts_from, path)


def test_half_of_a_character_in_a_sentence_of_a_corpus_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({"text": "\ud800 he is \udfff here"}))
    found = find_contexts(path, ["he"])
    found.write(tmp_path)
    assert read_contexts(tmp_path / "contexts.json") == found
    assert [(each.text, each.word) for each in found.words["he"].sample] == [("? he is ? here", "he")]


@pytest.mark.parametrize(
    "text",
    ["Ab.\t" * 250_000, " ".join(f"w{number}" for number in range(1000)) + ". It." * 240_000],
    ids=["no spaces", "many words and sentences"],
)
def test_a_line_of_many_sentences_takes_no_quadratic_time(text: str) -> None:
    """Both took minutes."""
    find = find_contexts if "w1" in text else lambda texts, _: sentences_of(texts[0])
    assert outcome_of(find, [text], [f"w{number}" for number in range(1000)]) == "read"

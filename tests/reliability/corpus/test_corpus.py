"""A corpus is the same in whichever wrapping it comes, and is encoded once."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.messages import naming
from tests.reliability.conftest import installed

from weatherglass.errors import CorpusError, UnknownNameError
from weatherglass.reliability.corpus import (
    Corpus,
    CorpusSettings,
    Tokeniser,
    _Types,
    encode_corpus,
    sentences,
)
from weatherglass.reliability.corpus.readers import READERS

LINES = ["The cat saw the dog.", "A dog, a cat!", "", "the end"]
ANY = CorpusSettings(min_count=1)
TEXT = " ".join(f"word{number * number % 1009}" for number in range(5000)).encode()


def zstandard(data: bytes) -> bytes:
    compressor = pytest.importorskip("zstandard").ZstdCompressor()
    packed: bytes = compressor.compress(data)
    return packed


def damaged(packed: bytes) -> bytes:
    """The same with some bytes in the middle overwritten."""
    middle = len(packed) // 2
    return packed[:middle] + b"\xff" * 200 + packed[middle + 200 :]


def as_lines(corpus: Corpus) -> list[list[str]]:
    return [
        [corpus.words[token] for token in corpus.tokens[start:end]]
        for start, end in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, zstandard])
@pytest.mark.parametrize("json_lines", [False, True])
def test_every_wrapping_gives_the_same_corpus(
    tmp_path: Path, pack: Callable[[bytes], bytes], json_lines: bool
) -> None:
    documents = [json.dumps({"body": line, "score": 1}) for line in LINES] if json_lines else LINES
    source = tmp_path / "corpus"
    source.write_bytes(pack("\n".join(documents).encode()))
    corpus = encode_corpus("c", source, tmp_path / "cache", ANY)
    assert as_lines(corpus) == [["the", "cat", "saw", "the", "dog"], ["a", "dog", "a", "cat"], ["the", "end"]]


def test_a_folder_is_the_sum_of_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "2.txt").write_text("two", encoding="utf-8")
    (folder / "1.txt.gz").write_bytes(gzip.compress(b"one\nmore"))
    assert as_lines(encode_corpus("c", folder, tmp_path / "cache", ANY)) == [["one"], ["more"], ["two"]]


def test_the_vocabulary_is_ordered_by_count_then_alphabet_and_rare_words_are_left_out(
    corpus_of: Callable[..., Corpus],
) -> None:
    corpus = corpus_of(["b b b a a a c c d"], CorpusSettings(min_count=2))
    assert corpus.words == ["a", "b", "c"]
    assert corpus.counts.tolist() == [3, 3, 2]
    assert as_lines(corpus) == [["b", "b", "b", "a", "a", "a", "c", "c"]]


def test_counts_are_those_of_the_text(corpus: Corpus, text: Path) -> None:
    expected = Counter(text.read_text(encoding="utf-8").split())
    assert dict(zip(corpus.words, corpus.counts.tolist(), strict=True)) == expected
    assert np.bincount(corpus.tokens).tolist() == corpus.counts.tolist()


def test_withdrawn_comments_and_urls_are_left_out_and_sentences_split(tmp_path: Path) -> None:
    bodies = ["[deleted]", "See https://example.org/x?y=1 now. And then?", "[removed]"]
    source = tmp_path / "dump.jsonl"
    source.write_text("\n".join(json.dumps({"body": body}) for body in bodies), encoding="utf-8")
    settings = CorpusSettings(Tokeniser(sentences=True), min_count=1)
    assert as_lines(encode_corpus("c", source, tmp_path / "cache", settings)) == [
        ["see", "now"],
        ["and", "then"],
    ]


def test_tokens_follow_the_options() -> None:
    line = "Don’t <unk> re-do It_now 3.5"
    assert list(Tokeniser()(line)) == [["don't", "<unk>", "re", "do", "it", "now", "3", "5"]]
    assert list(Tokeniser(split="whitespace", lowercase=False)(line)) == [line.split()]


def test_a_share_is_spread_evenly_over_the_source(corpus_of: Callable[..., Corpus]) -> None:
    corpus = corpus_of([f"w{number}" for number in range(100)], CorpusSettings(min_count=1, share=0.25))
    assert [line[0] for line in as_lines(corpus)] == [f"w{number}" for number in range(3, 100, 4)]


def test_forgetting_rare_types_bounds_memory_and_keeps_frequent_counts(
    corpus_of: Callable[..., Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weatherglass.reliability.corpus.BUFFER", 2)
    held = []
    drop_rarest = _Types._drop_rarest

    def counted(types: _Types) -> None:
        drop_rarest(types)
        held.append(len(list(types.counts())))

    monkeypatch.setattr(_Types, "_drop_rarest", counted)
    lines = [f"often rare{number}" for number in range(50)]
    corpus = corpus_of(lines, CorpusSettings(min_count=5, max_types=10))
    assert corpus.words == ["often"]
    assert corpus.counts.tolist() == [50]
    assert max(held) == 10


def test_a_word_that_was_dropped_and_comes_back_counts_only_what_is_encoded(
    corpus_of: Callable[..., Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weatherglass.reliability.corpus.BUFFER", 1)
    corpus = corpus_of(["late", "a b", "a c", "a d", *["late"] * 6], CorpusSettings(min_count=3, max_types=3))
    assert corpus.words == ["late", "a"]
    assert corpus.counts.tolist() == np.bincount(corpus.tokens).tolist() == [6, 3]


def test_batches_of_any_size_give_the_same_corpus(
    corpus_of: Callable[..., Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["rare", "a b a", "", "b a", "never", "a", "b b b"]
    settings = CorpusSettings(min_count=2)
    whole = as_lines(corpus_of(lines, settings))
    assert whole == [["a", "b", "a"], ["b", "a"], ["a"], ["b", "b", "b"]]
    for size in (1, 2, 3, 5):
        monkeypatch.setattr("weatherglass.reliability.corpus.BUFFER", size)
        lines.append(f"once{size}")  # Another content, so that it is encoded again.
        assert as_lines(corpus_of(lines, settings)) == whole


def test_a_corpus_is_encoded_once_and_again_when_its_content_changes(tmp_path: Path) -> None:
    source, cache = tmp_path / "text.txt", tmp_path / "cache"
    source.write_text("a b", encoding="utf-8")
    first = encode_corpus("c", source, cache, ANY)
    stamp = (first.folder / "tokens.i32").stat().st_mtime_ns
    assert (encode_corpus("c", source, cache, ANY).folder / "tokens.i32").stat().st_mtime_ns == stamp
    source.write_text("a b c", encoding="utf-8")
    assert encode_corpus("c", source, cache, ANY).hash != first.hash


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(TEXT)[:-20], "cut off|truncated"),
        (lzma.compress(TEXT)[:-20], "cut off|truncated"),
        (damaged(gzip.compress(TEXT)), "damaged"),
        (zstandard(TEXT)[:-20], "cut off|truncated"),
        (damaged(zstandard(TEXT)), "damaged"),
        (b'{"body": "a"}\nno json', naming("line 2", "JSON")),
        (b'{"words": "a"}\n{"words": "b"}', naming("'body'", "fields", "words")),
        (b"rare words only", naming(5)),
    ],
    # Named, since a packed file holds the time, which would make another name in every process.
    ids=[
        "gzip cut off",
        "xz cut off",
        "gzip damaged",
        "zstandard cut off",
        "zstandard damaged",
        "not JSON",
        "no body",
        "rare words",
    ],
)
def test_a_bad_corpus_is_named_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    source = tmp_path / "bad"
    source.write_bytes(content)
    with pytest.raises(CorpusError, match=message) as raised:
        encode_corpus("c", source, tmp_path / "cache", CorpusSettings())
    assert str(source) in str(raised.value)
    assert not list((tmp_path / "cache").iterdir())


def test_zstandard_is_read_frame_after_frame(tmp_path: Path) -> None:
    source = tmp_path / "frames.zst"
    source.write_bytes(zstandard(b"one two\nthr") + zstandard(b"") + zstandard(b"ee\n"))
    assert as_lines(encode_corpus("c", source, tmp_path / "cache", ANY)) == [["one", "two"], ["three"]]


def test_an_unknown_way_of_splitting_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=naming("split", "word", suggesting="words")):
        Tokeniser(split="word")  # type: ignore[arg-type]


@pytest.fixture
def vertical_text() -> Iterator[None]:
    """As if a package were installed that brings a reader of .vert files."""
    with installed(READERS, "vert", "tests.reliability.corpus.own_reader:READER"):
        yield


VERTICAL = b"<s>\nthe\tDET\nend\tNOUN\n<s>\na\tDET\ndog\tNOUN\n"


@pytest.mark.usefixtures("vertical_text")
@pytest.mark.parametrize(("name", "pack"), [("c.vert", bytes), ("c.VERT.gz", gzip.compress)])
def test_a_reader_of_another_package_is_chosen_by_suffix(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_bytes(pack(VERTICAL))
    (folder / "d.txt").write_text("plain text", encoding="utf-8")
    corpus = encode_corpus("c", folder, tmp_path / "cache", ANY)
    assert as_lines(corpus) == [["the", "end"], ["a", "dog"], ["plain", "text"]]
    (folder / name).write_bytes(pack(b"the\tDET\n"))
    with pytest.raises(CorpusError, match=r"\.(vert|VERT\.gz): .*<s>"):
        encode_corpus("c", folder, tmp_path / "cache", ANY)


@pytest.mark.usefixtures("vertical_text")
def test_a_corpus_is_encoded_again_with_another_version_of_its_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, cache = tmp_path / "c.vert", tmp_path / "cache"
    source.write_bytes(VERTICAL)
    first = encode_corpus("c", source, cache, ANY)
    assert encode_corpus("c", source, cache, ANY).hash == first.hash
    newer = replace(READERS.get("vert"), version=2)
    monkeypatch.setattr(READERS, "_registered", {"vert": newer})
    assert encode_corpus("c", source, cache, ANY).hash != first.hash


def test_the_hash_of_a_text_is_that_of_its_content_and_settings_alone(tmp_path: Path) -> None:
    for name in ("c.txt", "c.unknown", "c"):
        (tmp_path / name).write_text("a b", encoding="utf-8")
        recipe = {
            "content": hashlib.sha256(b"a b").hexdigest(),
            "tokeniser": {"split": "words", "lowercase": True, "keep_urls": False, "sentences": False},
            "min_count": 1,
            "share": 1.0,
            "max_types": 20_000_000,
        }
        expected = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
        assert encode_corpus("c", tmp_path / name, tmp_path / "cache", ANY).hash == expected


def test_a_share_is_taken_of_all_files_together(tmp_path: Path) -> None:
    """Of a folder of ten files with a line each, a half is five lines; it was none."""
    files = [tmp_path / f"{number}.txt" for number in range(10)]
    for number, path in enumerate(files):
        path.write_text(f"word{number}\n", encoding="utf-8")
    assert len(list(sentences(files, CorpusSettings(share=0.5)))) == 5

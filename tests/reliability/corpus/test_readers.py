"""Every format gives the same corpus, and every mistake is one line that says where it is.

saved_dataset/ was written by `DatasetDict.save_to_disk` of HuggingFace's datasets 5.2.0, saved_tables/ by pyarrow
26.0.1 (Parquet in groups of two rows, Arrow as a file).
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.messages import naming
from tests.reliability.corpus.test_corpus import as_lines

from weatherglass.errors import CorpusError, UnknownNameError
from weatherglass.reliability.corpus import Corpus, CorpusSettings, encode_corpus
from weatherglass.reliability.corpus.formats import ROWS
from weatherglass.reliability.corpus.readers import documents, source_files

DOCUMENTS = ["The cat saw\nthe dog.", "A dog, a cat!", "the end"]
ENCODED = [["the", "cat", "saw"], ["the", "dog"], ["a", "dog", "a", "cat"], ["the", "end"]]
SAVED = Path(__file__).parent / "saved_dataset"
PARQUET, ARROW = (
    (Path(__file__).parent / "saved_tables" / name).read_bytes() for name in ("table.parquet", "table.arrow")
)
WIKI = """<doc id="12" url="https://example.org/wiki?curid=12" title="A &amp; B">
The cat saw

the dog.
</doc>
<doc id="13" url="https://example.org/wiki?curid=13" title="C">
A dog, a cat!
the end
</doc>
"""


def encoded(source: Path, format: str = "", field: str = "") -> Corpus:
    settings = CorpusSettings(min_count=1, format=format, field=field)
    return encode_corpus("c", source, source.parent / "cache", settings)


def table(delimiter: str, column: str = "text") -> bytes:
    file = io.StringIO()
    rows = csv.writer(file, delimiter=delimiter)
    rows.writerows([("id", column), *enumerate(DOCUMENTS)])
    return file.getvalue().encode()


def json_lines(field: str) -> bytes:
    return "\n".join(json.dumps({"id": 1, field: text}) for text in DOCUMENTS).encode()


def parquet(column: str = "text") -> bytes:
    file = io.BytesIO()
    pl.DataFrame({"id": [1, 2, 3], column: DOCUMENTS}).write_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.txt", "\n".join(DOCUMENTS).encode()),
        ("c.jsonl", json_lines("text")),
        ("c", json_lines("body")),
        ("c.json", json_lines("content")),
        ("c.csv", table(",")),
        ("c.csv.gz", gzip.compress(table(","), mtime=0)),
        ("c.tsv", table("\t")),
        ("c.parquet", PARQUET),
        ("no suffix", PARQUET),
        ("c.arrow", ARROW),
        ("wiki_00", WIKI.encode()),
        ("wiki_00.gz", gzip.compress(WIKI.encode(), mtime=0)),
    ],
)
def test_every_format_gives_the_same_corpus(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert as_lines(encoded(tmp_path / name)) == ENCODED


@pytest.mark.parametrize(
    ("name", "content", "field"),
    [
        ("c.jsonl", json_lines("selftext"), "selftext"),
        ("c.jsonl", b'{"data": {"text": "the end"}, "body": "no"}', "data.text"),
        ("c.jsonl", b'{"data.text": "the end"}', "data.text"),
        ("c.csv", table(",", "Comment"), "Comment"),
        ("c.parquet", parquet("review"), "review"),
    ],
)
def test_the_user_names_the_field(tmp_path: Path, name: str, content: bytes, field: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert as_lines(encoded(tmp_path / name, field=field))[-1] == ["the", "end"]


def test_a_dataset_saved_by_huggingface_is_read_split_by_split(tmp_path: Path) -> None:
    saved = Path(shutil.copytree(SAVED, tmp_path / "saved"))
    assert [path.parent.name for path in source_files(saved)] == ["test", "train"]
    assert as_lines(encoded(saved)) == [ENCODED[3], *ENCODED[:3]]
    assert as_lines(encoded(saved / "train")) == ENCODED[:3]  # the null between them has no text


def test_other_files_beside_a_table_are_not_text(tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "train.parquet").write_bytes(PARQUET)
    (folder / "README.md").write_text("not a part of the corpus", encoding="utf-8")
    assert as_lines(encoded(folder)) == ENCODED


def test_folders_of_wiki_extractor_are_read_in_order_and_entities_are_characters(tmp_path: Path) -> None:
    for name, text in (("AB/wiki_00", "second"), ("AA/wiki_00", "first &amp; AT&amp;T")):
        path = tmp_path / "extracted" / name
        path.parent.mkdir(parents=True)
        path.write_text(f'<doc id="1" url="u" title="t">\n{text}\n</doc>\n', encoding="utf-8")
    assert as_lines(encoded(tmp_path / "extracted")) == [["first", "at", "t"], ["second"]]


def test_a_long_parquet_file_is_read_part_by_part(tmp_path: Path) -> None:
    texts = [f"w{number}" for number in range(2 * ROWS + 1)]
    pl.DataFrame({"text": texts}).write_parquet(tmp_path / "c.parquet", row_group_size=ROWS - 1)
    assert list(documents(tmp_path / "c.parquet")) == texts


def test_a_named_format_wins_over_suffix_and_content(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_bytes(b"one, two\nthree")
    as_text = encoded(tmp_path / "c.csv", format="txt")
    assert as_lines(as_text) == [["one", "two"], ["three"]]
    (tmp_path / "c.txt").write_bytes(table(","))
    assert as_lines(encoded(tmp_path / "c.txt", format="csv")) == ENCODED
    with pytest.raises(UnknownNameError, match=naming("format", "parket", suggesting="parquet")):
        CorpusSettings(format="parket")


@pytest.mark.parametrize(
    ("name", "content", "field", "message"),
    [
        ("c.jsonl", json_lines("message"), "", naming("'body'", "'text'", "'content'", "id, message")),
        ("c.jsonl", json_lines("text"), "body", naming("'body'", "id, text")),
        ("c.jsonl", b'{"text": "a"}\n[1]', "", naming("line 2", "JSON")),
        ("c.csv", table(",", "message"), "", naming("'body'", "'text'", "'content'", "id, message")),
        ("c.csv", b"id,text\n1,a\n2\n", "", naming("line 3", 1, "'text'", 2)),
        ("c.csv", b'id,text\n1,"a', "", naming("line 2", "table")),
        ("c.parquet", parquet("message"), "", naming("id, message", "--field")),
        ("c.parquet", PARQUET, "id", naming("'id'", "Int64")),
        ("c.parquet", PARQUET[:-30], "", naming("damaged")),
        ("c.parquet", b"no parquet", "", naming("damaged")),
        ("c.arrow", ARROW[:-30], "", naming("damaged")),
        ("c.arrow", b"no arrow" * 9, "", naming("damaged")),
        ("c.txt", b"", "", naming("empty")),
        ("c.txt", b" \n.\n", "", naming("empty")),
        ("c.txt", b"a", "text", naming("txt", "field = 'text'")),
        ("c.txt", "one\ncafé\n".encode("latin1"), "", naming("line 2", "UTF-8", "0xe9", "iconv -f latin1")),
        ("c.txt", b"line\n" * 9000 + b"\xe9\n", "", naming("line 9001", "UTF-8")),
        ("c.txt", "one".encode("utf-16"), "", naming("line 1", "UTF-8", "0xff", "iconv -f utf-16")),
        ("c.csv", "text\ncafé".encode("latin1"), "", naming("line 2", "UTF-8")),
        ("c.jsonl", '{"text": "a"}\n{"text": "é"}'.encode("latin1"), "", naming("line 2", "UTF-8")),
        ("wiki_00", WIKI[:-10].encode(), "", naming("article")),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_that_names_the_place(
    tmp_path: Path, name: str, content: bytes, field: str, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=message) as raised:
        encoded(tmp_path / name, field=field)
    assert str(tmp_path / name) in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not list((tmp_path / "cache").iterdir())


class Piped(io.TextIOWrapper):
    """Standard input with some bytes in it."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("content", ["\n".join(DOCUMENTS).encode(), json_lines("text"), PARQUET])
def test_standard_input_is_a_corpus_of_any_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(pack(content) if not content.startswith(b"PAR1") else content))
    cache, any_count = tmp_path / "cache", CorpusSettings(min_count=1)
    corpus = encode_corpus("stdin", Path("-"), cache, any_count)
    assert as_lines(corpus) == ENCODED
    assert [path.name for path in cache.iterdir()] == [corpus.folder.name]  # The copy is gone.


def test_nothing_on_standard_input_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Piped(b""))
    with pytest.raises(CorpusError, match=naming("standard input", "empty")):
        encode_corpus("stdin", Path("-"), tmp_path, CorpusSettings())
    monkeypatch.setattr(sys, "stdin", Piped(b"one\ncaf\xe9"))
    with pytest.raises(CorpusError, match=r"^standard input, line 2: .*UTF-8"):
        encode_corpus("stdin", Path("-"), tmp_path, CorpusSettings())


RECORDS = [("askscience", DOCUMENTS[0]), ("AskHistorians", "not this"), ("AskScience", DOCUMENTS[1])]
OF_ASKSCIENCE = ENCODED[:3]


def _written(folder: Path, suffix: str) -> Path:
    """Write the records with their subreddits in a format."""
    path = folder / f"dump.{suffix}"
    rows = [{"subreddit": name, "score": n, "body": text} for n, (name, text) in enumerate(RECORDS)]
    frame = pl.DataFrame(rows)
    match suffix:
        case "jsonl":
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        case "jsonl.zst":
            import zstandard

            path.write_bytes(zstandard.compress("\n".join(map(json.dumps, rows)).encode()))
        case "csv" | "tsv":
            frame.write_csv(path, separator="," if suffix == "csv" else "\t")
        case "parquet":
            frame.write_parquet(path)
        case _:
            frame.write_ipc(path)
    return path


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst", "csv", "tsv", "parquet", "arrow"])
def test_records_of_one_subreddit_are_taken_out_of_a_dump(tmp_path: Path, suffix: str) -> None:
    path = _written(tmp_path, suffix)
    settings = CorpusSettings(min_count=1, where={"subreddit": ("askscience",)})
    corpus = encode_corpus("c", path, tmp_path / "cache", settings)
    assert as_lines(corpus) == OF_ASKSCIENCE
    both = {"subreddit": ("askscience",), "score": ("2", "3")}
    assert list(documents(path, where=both)) == DOCUMENTS[1].splitlines()
    everything = encode_corpus("c", path, tmp_path / "cache", CorpusSettings(min_count=1))
    assert corpus.folder != everything.folder
    with pytest.raises(CorpusError, match=naming("subredit", "body", suggesting="subreddit")):
        list(documents(path, where={"subredit": ("askscience",)}))
    with pytest.raises(CorpusError, match=naming("subreddit", "pics")):
        encode_corpus(
            "c", path, tmp_path / "cache", CorpusSettings(min_count=1, where={"subreddit": ("pics",)})
        )


def test_a_value_that_json_escapes_is_found(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    names = ['"x"', '"y"', '"\\u0061sk science"', '"caf\\u00e9"', '"a\\/b"']
    path.write_text(
        "\n".join(f'{{"s": {name}, "body": "text {n}"}}' for n, name in enumerate(names)), encoding="utf-8"
    )
    for value, found in (("ask science", "text 2"), ("café", "text 3"), ("a/b", "text 4"), ("y", "text 1")):
        assert list(documents(path, where={"s": (value,)})) == [found]


def test_a_month_without_the_subreddit_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    shutil.copy(_written(tmp_path, "jsonl"), folder / "RC_1.jsonl")
    (folder / "RC_2.jsonl").write_text('{"subreddit": "pics", "body": "no"}\n', encoding="utf-8")
    settings = CorpusSettings(min_count=1, where={"subreddit": ("askscience",)})
    assert as_lines(encode_corpus("c", folder, tmp_path / "cache", settings)) == OF_ASKSCIENCE


def test_a_condition_needs_a_format_with_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("some text\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=naming("a.txt", "txt", "where")):
        list(documents(path, where={"subreddit": ("x",)}))

"""Corpora: every format, plain and compressed, a folder of a data set, and standard input."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.hostile.mutations import CUT, DAMAGE, as_json, mutated_text, of_gzip, of_json_lines
from tests.hostile.target import Reading, Sample, Target, same_after

TEXT = b"The cat sat on the mat.\nThe dog sat on the log.\nA caf\xc3\xa9 in Paris.\n" * 4
LINES = (
    b"\n".join(as_json({"body": f"The cat sat {n}", "id": n, "data": {"text": "x"}}) for n in range(6))
    + b"\n"
)
WIKI = b'<doc id="1" url="u" title="Cat">\nCat\n\nA cat &amp; a dog.\n</doc>\n<doc id="2" title="Dog">\nDog\n</doc>\n'
CSV = b'id,text\n1,"The cat, ""sat"".\nTwo lines"\n2,The dog\n'


def _documents(path: Path) -> Reading:
    from weatherglass.reliability.corpus import CorpusSettings, sentences
    from weatherglass.reliability.corpus.readers import source_files

    return Reading(list(sentences(source_files(path), CorpusSettings())))


def _standard_input(path: Path) -> Reading:
    from weatherglass.reliability.corpus import CorpusSettings, sentences
    from weatherglass.reliability.corpus.readers import STANDARD_INPUT, as_file, source_files

    before = sys.stdin
    with path.open(encoding="utf-8") as sys.stdin:
        try:
            with as_file(STANDARD_INPUT, path.parent) as copy:
                return Reading(list(sentences(source_files(copy), CorpusSettings())))
        finally:
            sys.stdin = before


def _zstandard(content: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def _repacked(pack: Callable[[bytes], bytes], plain: bytes) -> Callable[[Random, bytes], bytes]:
    return lambda random, _: pack(mutated_text(random, plain))


def _xz(content: bytes) -> bytes:
    return lzma.compress(content, preset=0)


def _columns(_folder: Path) -> list[Sample]:
    import polars

    frame = polars.DataFrame({"id": [1, 2, 3], "text": ["The cat\nsat", "The dog", None]})

    def packed(write: str, **options: str) -> bytes:
        buffer = io.BytesIO()
        getattr(frame, write)(buffer, **options)
        return buffer.getvalue()

    parquet, arrow, stream = packed("write_parquet"), packed("write_ipc"), packed("write_ipc_stream")
    plain = packed("write_parquet", compression="uncompressed")
    folder = {"data/part-0.parquet": parquet, "data/part-1.arrow": stream, "README.md": b"# no text\n"}
    return [
        Sample({"c.parquet": parquet}, text=False),
        Sample({"c.parquet": plain}, text=False),
        Sample({"c.arrow": arrow}, text=False),
        Sample({"c.arrow": stream}, text=False),
        Sample(folder, main=".", text=False),
    ]


CORPORA = (
    Target("corpora, text", lambda _: [Sample({"c.txt": TEXT})], _documents),
    Target(
        "corpora, JSON lines", lambda _: [Sample({"c.jsonl": LINES}, {"c.jsonl": of_json_lines})], _documents
    ),
    Target(
        "corpora, CSV and TSV",
        lambda _: [Sample({"c.csv": CSV}), Sample({"c.tsv": CSV.replace(b",", b"\t")})],
        _documents,
    ),
    Target("corpora, WikiExtractor", lambda _: [Sample({"wiki_00": WIKI})], _documents),
    Target(
        "corpora, gzip, xz and zstandard",
        lambda _: [
            Sample({"c.txt.gz": gzip.compress(TEXT, mtime=0)}, {"c.txt.gz": of_gzip}, text=False),
            Sample({"c.jsonl.xz": _xz(LINES)}, {"c.jsonl.xz": _repacked(_xz, LINES)}, text=False),
            Sample({"c.zst": _zstandard(TEXT)}, {"c.zst": _repacked(_zstandard, TEXT)}, text=False),
        ],
        _documents,
        same_after(CUT, DAMAGE),
    ),
    Target(
        "corpora, folders",
        lambda _: [
            Sample(
                {
                    "a.txt": TEXT,
                    "b/c.jsonl": LINES,
                    "wiki_01": WIKI,
                    "d.txt.gz": gzip.compress(TEXT, mtime=0),
                },
                main=".",
            )
        ],
        _documents,
    ),
    Target("corpora, standard input", lambda _: [Sample({"in": LINES})], _standard_input),
    Target(
        "corpora, Parquet and Arrow",
        _columns,
        _documents,
        same_after(CUT),
        group="polars",
        weight=2,
        child_imports=("polars", "weatherglass.reliability.corpus.formats"),
    ),
)

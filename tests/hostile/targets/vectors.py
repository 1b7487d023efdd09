"""Files of word vectors and of encodings, in every format that is read."""

from __future__ import annotations

import gzip
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.hostile.mutations import (
    CUT,
    DAMAGE,
    changed_tree,
    mutated_bytes,
    of_gzip,
    of_json,
    of_npy,
    of_pickle,
    of_safetensors,
    of_zip,
)
from tests.hostile.target import Check, Reading, Sample, Target, same_after

WORDS = ["the", "rose", "café", "violet", "new_york", "x"]
ROWS = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
NESTED = 50
"""Lists in a table for polars."""
TEXTS = ["a rose", "two words", "é", "last."]


def _text(separator: str = " ") -> bytes:
    lines = (
        separator.join([word, *(f"{x:.6f}" for x in row)])
        for word, row in zip(WORDS, ROWS.tolist(), strict=True)
    )
    return "".join(f"{line}\n" for line in lines).encode()


HEADED = b"%d %d\n" % ROWS.shape + _text()
BINARY = b"%d %d\n" % ROWS.shape + b"".join(
    word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(WORDS, ROWS, strict=True)
)


def _words(path: Path) -> Reading:
    """All words, and the wanted ones as a run reads them; the two agree or it is a bug of ours."""
    from weatherglass.vectors import read_every_word, read_vectors

    every = read_every_word(path)
    wanted = read_vectors(path, ["rose", "violet", "absent"], subwords=False)
    value = (list(every.rows), np.asarray(every.matrix, dtype=np.float64).tobytes())
    finite = bool(np.isfinite(every.matrix).all())
    return Reading((value, finite, sorted(wanted.rows)), bool(every.warnings or wanted.warnings))


def _finite_and(check: Check) -> Check:
    def both(sample: Sample, before: Reading, after: Reading, kind: str) -> str:
        if not after.value[1]:
            return "a number that is not finite was accepted"
        return check(sample, before, after, kind)

    return both


def _npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _npz_samples(_folder: Path) -> list[Sample]:
    words = np.array(WORDS)
    changed = of_zip({".npy": of_npy})
    files = [
        _npz(words=words, vectors=ROWS),
        _npz(words=np.char.encode(words, "utf-8"), vectors=ROWS.astype(np.float16)),
        _npz(**dict(zip(WORDS, ROWS, strict=True))),
    ]
    return [Sample({"v.npz": content}, {"v.npz": changed}, text=False) for content in files]


def _safetensors_samples(_folder: Path) -> list[Sample]:
    from safetensors.numpy import save

    inside = save({"vectors": ROWS}, {"words": json.dumps(WORDS)})
    beside = {"v.safetensors": save({"vectors": ROWS}), "v.words.json": json.dumps(WORDS).encode()}
    return [
        Sample({"v.safetensors": inside}, {"v.safetensors": of_safetensors}, text=False),
        Sample(beside, {"v.safetensors": of_safetensors, "v.words.json": of_json(WORDS)}, text=False),
    ]


def _gensim_samples(folder: Path) -> list[Sample]:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(ROWS.shape[1])
    keyed.add_vectors(WORDS, ROWS)
    one = folder / "one.kv"
    keyed.save(str(one))
    keyed.save(str(folder / "two.kv"), sep_limit=1)
    two = {path.name: path.read_bytes() for path in sorted(folder.glob("two.kv*"))}
    return [
        Sample({"v.kv": one.read_bytes()}, {"v.kv": of_pickle}, text=False),
        Sample(two, {name: of_npy if name.endswith(".npy") else of_pickle for name in two}, text=False),
    ]


def _fasttext(folder: Path) -> list[Sample]:
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    sentences = [["the", "rose", "is", "red"], ["violet", "the", "rose"]] * 3
    trained = FastText(
        sentences, vector_size=4, min_count=1, epochs=1, bucket=20, min_n=2, max_n=3, workers=1, seed=1
    )
    save_facebook_model(trained, str(folder / "v.bin"))
    return [Sample({"v.bin": (folder / "v.bin").read_bytes()}, text=False)]


def _spacy(_folder: Path) -> list[Sample]:
    from weatherglass.vectors.spacy import key_of

    buffer = io.BytesIO()
    np.save(buffer, ROWS)
    items = b"".join(
        b"\xcf" + struct.pack(">Q", key_of(word)) + bytes([row]) for row, word in enumerate(WORDS)
    )
    files = {
        "vocab/vectors": buffer.getvalue(),
        "vocab/key2row": bytes([0x80 | len(WORDS)]) + items,
        "vocab/vectors.cfg": b'{"mode": "default"}',
        "config.cfg": b'[nlp]\nlang = "en"\n',
    }
    content = {"vocab/vectors": of_npy, "vocab/vectors.cfg": of_json({"mode": "default"})}
    return [Sample(files, content, main=".", text=False)]


def _pipeline(path: Path) -> Reading:
    from weatherglass.vectors.spacy import read_pipeline

    read = read_pipeline(path, [*WORDS, "absent"])
    value = {word: read[word].tolist() for word in read.rows}
    return Reading((value, bool(np.isfinite(read.matrix).all())))


def _encodings(path: Path) -> Reading:
    from weatherglass.encoders.encodings import read_encodings

    read = read_encodings(path)
    return Reading((read.texts, np.asarray(read.vectors, dtype=np.float64).tobytes(), read.vectors.shape))


def _encodings_npz(_folder: Path) -> list[Sample]:
    rows = ROWS[: len(TEXTS)]
    content = _npz(texts=np.array(TEXTS), vectors=rows, model=np.array("m"))
    return [Sample({"e.npz": content}, {"e.npz": of_zip({".npy": of_npy})}, text=False)]


def _written(ending: str, mutation: Callable[..., bytes] | None) -> Callable[[Path], list[Sample]]:
    def samples(folder: Path) -> list[Sample]:
        from weatherglass.encoders.encodings import write_encodings

        path = folder / f"e{ending}"
        write_encodings(path, TEXTS, ROWS[: len(TEXTS)], "m")
        return [Sample({path.name: path.read_bytes()}, {path.name: mutation} if mutation else {}, text=False)]

    return samples


def _parquet_content(random: Any, _content: bytes) -> bytes:
    """Columns of the wrong kind, nulls, ragged vectors, in a file that is whole."""
    import polars

    rows = [{"text": text, "vector": row} for text, row in zip(TEXTS, ROWS.tolist(), strict=False)]
    buffer = io.BytesIO()
    for _ in range(5):
        changed = changed_tree(random, rows)
        if repr(changed).count("[") > NESTED:
            continue  # polars, which only writes the file here, ends the process over very deep ones
        try:
            polars.DataFrame(changed, strict=False).write_parquet(buffer)
            return buffer.getvalue()
        except Exception:  # polars cannot write every tree
            buffer = io.BytesIO()
    return mutated_bytes(random, _content)


def _hdf5_samples(folder: Path) -> list[Sample]:
    import h5py

    (ours,) = _written(".h5", None)(folder)
    with h5py.File(folder / "published.h5", "w") as file:
        for group in ("targ1", "attr1"):
            for text, row in zip(TEXTS, ROWS.tolist(), strict=False):
                file.create_dataset(f"{group}/{text}", data=row)
    published = (folder / "published.h5").read_bytes()
    return [ours, Sample({"published.h5": published}, text=False)]


VECTORS = (
    Target(
        "vectors, text",
        lambda _: [Sample({"v.txt": HEADED}), Sample({"v.vec": HEADED.replace(b" ", b"\t")})],
        _words,
        _finite_and(same_after(CUT)),
        group="vectors",
    ),
    Target(
        "vectors, text without a header",
        lambda _: [Sample({"v.txt": _text()})],
        _words,
        _finite_and(same_after()),
        "vectors",
    ),
    Target(
        "vectors, gzip",
        lambda _: [
            Sample({"v.txt.gz": gzip.compress(HEADED, mtime=0)}, {"v.txt.gz": of_gzip}, text=False),
            Sample({"v.bin.gz": gzip.compress(BINARY, mtime=0)}, {"v.bin.gz": of_gzip}, text=False),
        ],
        _words,
        _finite_and(same_after(CUT, DAMAGE)),
        group="vectors",
    ),
    Target(
        "vectors, word2vec binary",
        lambda _: [Sample({"v.bin": BINARY}, text=False)],
        _words,
        _finite_and(same_after(CUT)),
        "vectors",
    ),
    Target("vectors, npz", _npz_samples, _words, _finite_and(same_after(CUT, DAMAGE)), "vectors"),
    Target("vectors, safetensors", _safetensors_samples, _words, _finite_and(same_after(CUT)), "vectors"),
    Target("vectors, gensim", _gensim_samples, _words, _finite_and(same_after(CUT)), "gensim"),
    Target("vectors, fastText binary", _fasttext, _words, _finite_and(same_after(CUT)), "gensim"),
    Target("vectors, spaCy", _spacy, _pipeline, _finite_and(same_after(CUT)), "vectors"),
    Target("encodings, npz", _encodings_npz, _encodings, same_after(CUT, DAMAGE), "vectors"),
    Target(
        "encodings, safetensors",
        _written(".safetensors", of_safetensors),
        _encodings,
        same_after(CUT),
        "vectors",
    ),
    Target(
        "encodings, Parquet",
        _written(".parquet", _parquet_content),
        _encodings,
        same_after(CUT),
        "polars",
        weight=2,
        child_imports=("polars", "weatherglass.encoders.encodings"),
    ),
    Target(
        "encodings, HDF5",
        _hdf5_samples,
        _encodings,
        same_after(CUT),
        "hdf5",
        weight=2,
        child_imports=("h5py", "weatherglass.storage.array_file"),
    ),
)

"""Vectors of spaCy pipelines: a folder of their layout, written here; `python -m proofs.static` has spaCy itself."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.encoders import load_encoder
from weatherglass.errors import SpecError, VectorFileError
from weatherglass.vectors.spacy import find_pipeline, key_of, read_pipeline

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) + 1
WORDS = {
    "rose": 0,
    "violet": 1,
    "Rose": 2,
    "agent": 3,
    "a rather long word of the vocabulary": 1,
    "Straße": 0,
}


def write_pipeline(folder: Path, mode: str = "default") -> Path:
    """A pipeline with as much of spaCy's layout as vectors need."""
    (folder / "vocab").mkdir(parents=True)
    (folder / "config.cfg").write_text('[nlp]\nlang = "en"\n')
    with (folder / "vocab" / "vectors").open("wb") as file:
        np.save(file, VECTORS)
    items = b"".join(b"\xcf" + struct.pack(">Q", key_of(word)) + bytes([row]) for word, row in WORDS.items())
    (folder / "vocab" / "key2row").write_bytes(bytes([0x80 | len(WORDS)]) + items)
    (folder / "vocab" / "vectors.cfg").write_text(json.dumps({"mode": mode}))
    return folder


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    return write_pipeline(tmp_path / "en_own_md")


@pytest.mark.parametrize(
    ("word", "key"),
    [  # what spacy 3.8.18's StringStore gives
        ("rose", 5580784729243738386),
        ("violet", 2276416410380410342),
        ("a rather long word of the vocabulary", 6816554179959895384),
        ("Straße", 982213701778560299),
        ("agent", 401),
        ("mark", 423),
    ],
)
def test_keys_are_spacys(word: str, key: int) -> None:
    assert key_of(word) == key


def test_words_have_the_rows_that_the_table_gives_them(pipeline: Path) -> None:
    read = read_pipeline(pipeline, [*WORDS, "unknown", ""])
    assert set(read.rows) == set(WORDS)
    for word, row in WORDS.items():
        np.testing.assert_array_equal(read[word], VECTORS[row])


def test_a_word_is_looked_up_as_it_is_written(pipeline: Path) -> None:
    encoder = load_encoder(f"spacy:{pipeline}")
    vectors = encoder.encode(["rose violet", "Rose", "VIOLET"])
    np.testing.assert_array_equal(vectors[:2], [(VECTORS[0] + VECTORS[1]) / 2, VECTORS[2]])
    assert np.isnan(vectors[2]).all()
    assert encoder.coverage(["VIOLET"])[0].missing == ("VIOLET",)
    lower = load_encoder(f"spacy:{pipeline}?case=exact-then-lower")
    np.testing.assert_array_equal(lower.encode(["VIOLET"])[0], VECTORS[1])
    assert lower.identity() != encoder.identity()


def test_a_package_is_found_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "own_package_md"
    write_pipeline(package / "own_package_md-1.0")
    (package / "__init__.py").write_text("raise RuntimeError('this code must not run')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_pipeline("own_package_md").name == "own_package_md-1.0"
    assert not np.isnan(load_encoder("spacy:own_package_md").encode(["rose"])).any()


def test_a_path_alone_is_recognised(pipeline: Path) -> None:
    assert load_encoder(str(pipeline)).name == f"spacy:{pipeline}"


def test_the_identity_is_that_of_the_files(pipeline: Path, tmp_path: Path) -> None:
    copy = write_pipeline(tmp_path / "elsewhere")
    assert load_encoder(f"spacy:{pipeline}").identity() == load_encoder(f"spacy:{copy}").identity()
    with (copy / "vocab" / "vectors").open("wb") as file:
        np.save(file, VECTORS + 1)
    assert load_encoder(f"spacy:{pipeline}").identity() != load_encoder(f"spacy:{copy}").identity()


def test_floret_vectors_are_refused(tmp_path: Path) -> None:
    folder = write_pipeline(tmp_path / "floret", mode="floret")
    with pytest.raises(VectorFileError, match=naming(folder, "'floret'", "vectors:FILE")):
        read_pipeline(folder, ["rose"])


def test_what_is_no_pipeline_is_one_line(tmp_path: Path, pipeline: Path) -> None:
    with pytest.raises(VectorFileError, match=naming("'en_nothing_md'", "spacy download NAME")):
        find_pipeline("en_nothing_md")
    (tmp_path / "empty").mkdir()
    with pytest.raises(VectorFileError, match=naming(tmp_path / "empty", "spaCy pipeline", "config.cfg")):
        find_pipeline(str(tmp_path / "empty"))
    (pipeline / "vocab" / "vectors").unlink()
    with pytest.raises(VectorFileError, match=naming(pipeline, "vocab/vectors", "…_md")):
        find_pipeline(str(pipeline))
    with pytest.raises(SpecError, match=naming("'spacy", "spacy:en_core_web_md")):
        load_encoder("spacy:")


@pytest.mark.parametrize(
    ("name", "content", "facts"),
    [
        ("key2row", b"", ["damaged"]),
        ("key2row", b"\x92\x01\x02", ["damaged"]),
        ("key2row", b"\xdf\xff\xff\xff\xff\x01\x02", ["damaged", 2**32 - 1]),
        (
            "key2row",
            b"\x81\xcf" + struct.pack(">Q", key_of("rose")) + b"\x09",
            ["'rose'", "row 9", "4 rows"],
        ),
        ("vectors", b"no array", ["array"]),
        ("vectors.cfg", b"{", []),
    ],
)
def test_damaged_files_are_named(pipeline: Path, name: str, content: bytes, facts: list[object]) -> None:
    (pipeline / "vocab" / name).write_bytes(content)
    with pytest.raises(VectorFileError, match=naming(f"vocab/{name}:", *facts)) as caught:
        read_pipeline(pipeline, ["rose"])
    assert "\n" not in str(caught.value)


def test_tables_that_are_cut_off_anywhere_are_refused(pipeline: Path) -> None:
    for name in ("key2row", "vectors"):
        path = pipeline / "vocab" / name
        content = path.read_bytes()
        for length in range(1, len(content)):
            path.write_bytes(content[:length])
            with pytest.raises(VectorFileError, match=f"vocab/{name}"):
                read_pipeline(pipeline, ["rose"])
        path.write_bytes(content)

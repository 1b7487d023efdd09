"""A text file that is cut off inside a number, and words that look the same but are not, are noticed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from weatherglass.encoders.vectors import VectorEncoder
from weatherglass.errors import VectorFileError
from weatherglass.vectors import read_every_word, read_vectors

GLOVE = "the 0.418 0.24968 -0.41242\nof 0.70853 0.57088 -0.4716\nto 0.68047 -0.039263 0.30186\n"
NFC, NFD = "na\u00efve", "nai\u0308ve"


@pytest.mark.parametrize("header", ["", "3 3\n"])
@pytest.mark.parametrize("reader", [read_every_word, lambda path: read_vectors(path, ["the"])])
def test_a_file_cut_anywhere_in_its_last_line_is_noticed(header: str, reader: object, tmp_path: Path) -> None:
    path, whole = tmp_path / "v.txt", header + GLOVE
    path.write_text(whole)
    assert reader(path).warnings == ()  # type: ignore[operator]
    for length in range(whole.index("to ") + 1, len(whole)):
        path.write_text(whole[:length])
        try:
            (warning,) = reader(path).warnings  # type: ignore[operator]
        except VectorFileError as error:
            assert str(error).startswith(f"{path}, line {whole.count(chr(10))}: ")  # noqa: PT017
        else:
            number = whole[:length].split()[-1]
            line = whole.count("\n")
            assert warning.kind == "cut-off-file"
            assert warning.values == {"file": str(path), "line": line, "word": "to", "number": number}


@pytest.mark.parametrize("length", range(1, GLOVE.index("\n")))
def test_a_file_cut_inside_its_first_line_is_refused(length: int, tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(GLOVE[:length])
    with pytest.raises(VectorFileError, match=r": .*(first line|word vectors)"):
        read_vectors(path, ["the"])


@pytest.mark.parametrize("length", range(1, len("400000 300") + 1))
def test_a_file_cut_inside_its_header_is_refused(length: int, tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("400000 300"[:length])
    with pytest.raises(VectorFileError):
        read_every_word(path)


def test_equal_decimals_show_that_the_last_number_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("a 0.125000 0.250000\nb 0.500000 0.750000")
    assert read_every_word(path).warnings == ()
    path.write_text("a 0.125000 0.250000\nb 0.500000 0.75000")
    assert len(read_every_word(path).warnings) == 1


@pytest.mark.parametrize(
    "other", [NFD, f"{NFC}\u200b", f"\ufeff{NFC}", f"{NFC}\u00a0", "na\u00adïve", f"{NFC} "]
)
def test_words_that_look_like_a_wanted_one_are_listed(other: str, tmp_path: Path) -> None:
    text, arrays = tmp_path / "v.txt", tmp_path / "v.npz"
    text.write_text(f"x 1 2\n{other} 3 4\n{NFC} 5 6\nnaive 7 8\n", encoding="utf-8")
    np.savez(arrays, words=np.array(["x", other, NFC, "naive"]), vectors=np.eye(4))
    for path in (text, arrays):
        assert read_vectors(path, ["x", NFC]).twins == ((NFC, other),)
        assert read_vectors(path, ["x", "naive"]).twins == ()


def test_twins_in_a_binary_file(tmp_path: Path) -> None:
    row = np.ones(2, dtype="<f4").tobytes()
    path = tmp_path / "v.bin"
    path.write_bytes(b"2 2\n" + b"".join(word.encode() + b" " + row for word in (NFC, "x")))
    assert read_vectors(path, ["x", NFD]).twins == ((NFD, NFC),)


def test_a_run_warns_of_twins_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(f"{NFD} 1 2\n{NFC} 3 4\ncaf\u00e9\u200b 5 6\nrose 7 8\n", encoding="utf-8")
    encoder = VectorEncoder(path, tokens="none")
    encoder.encode([NFC, "caf\u00e9", "rose"])
    (warning,) = encoder.warnings()
    assert warning.kind == "lookalikes-in-file"
    assert warning.values["words"] == ["'caf\\xe9' = 'caf\\xe9\\u200b'", "'na\\xefve' = 'nai\\u0308ve'"]


def test_the_record_of_a_run_has_the_warnings(tmp_path: Path) -> None:
    from weatherglass import run

    names = [f"{letter}{number}" for letter in "xyab" for number in range(8)]
    rng = np.random.default_rng(0)
    lines = [f"{name} {' '.join(map(str, rng.normal(size=5)))}" for name in (*names, "x0\u200b")]
    path, tests = tmp_path / "v.txt", tmp_path / "t.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    keys = ("targ1", "targ2", "attr1", "attr2")
    sets = {key: {"category": key, "examples": names[8 * i :][:8]} for i, key in enumerate(keys)}
    tests.write_text(json.dumps(sets))
    finished = run(f"vectors:{path}?tokens=none", tests=[str(tests)], folder=tmp_path / "run")
    cut, twins = (each for each in finished.warnings if each.subject.startswith("vectors:"))
    assert (cut.kind, cut.values["file"], cut.values["line"]) == ("cut-off-file", str(path), 33)
    assert (twins.kind, twins.values["words"]) == ("lookalikes-in-file", ["'x0' = 'x0\\u200b'"])


@pytest.mark.parametrize("other", [NFD, f"{NFC}\u200b", "na\u00adïve"])
def test_twins_among_all_words_of_a_file(other: str, tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(f"x 1 2\n{other} 3 4\n{NFC} 5 6\nnaive 7 8\n", encoding="utf-8")
    assert read_every_word(path).twins == ((NFC, other),)
    path.write_text("x 1 2\n\ufb01ne 3 4\nfine 5 6\n", encoding="utf-8")
    assert read_every_word(path).twins == (("fine", "\ufb01ne"),)


def test_twins_between_the_sets_of_a_test(tmp_path: Path) -> None:
    from weatherglass.catalogue.jsonl import read_jsonl

    path = tmp_path / "t.jsonl"
    sets = {
        "targ1": [NFC, "rose"],
        "targ2": [NFD, "wasp"],
        "attr1": ["love", "joy"],
        "attr2": ["hate", "pain\u200b"],
    }
    path.write_text(json.dumps({key: {"category": key, "examples": words} for key, words in sets.items()}))
    (warning,) = [each for each in read_jsonl(path).warnings if each.kind == "lookalikes"]
    words = ["'na\\xefve' = 'nai\\u0308ve'"]
    assert warning.values == {"first": "X (targ1)", "second": "Y (targ2)", "words": words}

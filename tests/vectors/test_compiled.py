"""The compiled loops give what Python's float gives, bit for bit, and end in the same errors; or they give up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from weatherglass.errors import VectorFileError
from weatherglass.vectors import WordVectors, read_every_word, read_vectors, text
from weatherglass.vectors.collector import load_kernel
from weatherglass.vectors.kernels import read_entries, read_lines

QUIET = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


def parsed(*numbers: str) -> NDArray[np.float32] | None:
    """What the compiled loop reads from a line with these numbers; nothing where it leaves the line to Python."""
    line = f"word {' '.join(numbers)}\n".encode()
    row = np.full((1, len(numbers)), np.nan, dtype=np.float32)
    words = np.empty(len(line), dtype=np.uint8)
    lines, end, used = read_lines(np.frombuffer(line, np.uint8), 0, row, words, np.empty(1, np.bool_))
    if not lines:
        return None
    assert (end, words[:used].tobytes()) == (len(line), b"word\n")
    numbers_read: NDArray[np.float32] = row[0]
    return numbers_read


def bits(*numbers: str) -> list[int]:
    """Python's reading of the numbers in single precision, as bit patterns: 0 and -0 differ."""
    with np.errstate(over="ignore"):
        single = np.array([float(number) for number in numbers]).astype(np.float32)
    return [int(pattern) for pattern in single.view(np.uint32)]


@QUIET
@example(["0", "-0", "-0.0", "+1", ".5", "5.", "1e5", "1E+05", "-1e-5", "00012.500"])
@example(["1e-45", "7e-46", "1.1754943e-38", "1e-46", "3.4028235e38"])
@example(["0.000000000000000000000000000000000000000000001401298464324817"])
@example(["12345678901234567890123456789", "0.12345678901234567890123456789", "9" * 40])
@example(["16777217", "33554434.5", "0.1000000014901161193847656250"])
@given(
    st.lists(
        st.one_of(
            st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
            st.floats(min_value=-3e38, max_value=3e38).map(repr),
            st.floats(min_value=-9, max_value=9).map(lambda number: f"{number:.6f}"),
            st.floats(min_value=-9, max_value=9).map(lambda number: f"{number:.18e}"),
            st.from_regex(r"[+-]?[0-9]{1,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{1,2})?", fullmatch=True),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_numbers_are_those_of_python_or_left_to_it(numbers: list[str]) -> None:
    row = parsed(*numbers)
    if row is not None:
        assert row.view(np.uint32).tolist() == bits(*numbers)


def test_numbers_beside_the_middle_of_two_neighbours() -> None:
    """Where one step of double precision decides which way single precision rounds: nothing may be left to luck."""
    rng = np.random.default_rng(0)
    below = (rng.uniform(1, 10, 20_000) * 10.0 ** rng.integers(-36, 36, 20_000)).astype(np.float32)
    above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above) / 2
    taken = 0
    for value in (np.nextafter(middle, 0), middle, np.nextafter(middle, np.inf), middle * (1 + 2.0**-49)):
        for number in (repr(float(each)) for each in value):
            if (row := parsed(number)) is not None:
                taken += 1
                assert row.view(np.uint32).tolist() == bits(number), number
    assert taken >= 20_000  # those that are a few steps away


@QUIET
@given(st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**23), max_value=2.0**23))
def test_usual_spellings_are_never_left_to_python(number: float) -> None:
    for spelling in (
        repr(number),
        str(np.float32(number)),
        f"{number:.6f}",
        f"{number:.18e}",
        f"{number:.5g}",
    ):
        row = parsed(spelling)
        assert row is not None, spelling
        assert row.view(np.uint32).tolist() == bits(spelling)


@QUIET
@example("1_0")
@example("0x1p3")
@example("\u0661")
@example("--1")
@given(st.text(alphabet="0123456789.eE+-_naifNIF \t\r\x0b\x00x", min_size=1, max_size=12))
def test_what_the_loop_takes_for_a_number_python_does_too(field: str) -> None:
    row = parsed(field)
    if row is not None:
        assert row.view(np.uint32).tolist() == bits(field.rstrip(" \r"))


@pytest.mark.parametrize(
    "number", ["nan", "inf", "-Infinity", "1e39", "-1e400", "1e-400", "1_0", "x", "", "-", "1e", "."]
)
def test_what_is_no_plain_number_is_left_to_python(number: str) -> None:
    assert parsed("1", number) is None


@pytest.mark.parametrize(
    "line", [b"\n", b" 1 2\n", b"a 1\n", b"a 1 2 3\n", b"a  1 2\n", b"a b 1 2\n", b"a 1\r 2\n"]
)
def test_lines_that_are_not_plain_are_left_to_python(line: bytes) -> None:
    content = np.frombuffer(b"a 1 2 \r\n" + line, np.uint8)
    words = np.empty(len(content), dtype=np.uint8)
    matrix, printable = np.empty((9, 2), dtype=np.float32), np.empty(9, np.bool_)
    assert read_lines(content, 0, matrix, words, printable) == (1, 8, 2)


class OneLoop:
    """Whether a file is read with the compiled loops or without them, however small it is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def outcomes(self, path: Path, words: list[str] | None) -> Iterator[object]:
        """What reading gives or ends in, by Python alone and then by the compiled loops."""
        load = load_kernel
        for compiled in (False, True):
            self._patch.setattr(text, "MANY_NUMBERS", 0)
            self._patch.setattr(text, "FEW_BYTES", 0)
            self._patch.setattr(text, "load_kernel", load if compiled else lambda _: None)
            try:
                vectors = read_every_word(path) if words is None else read_vectors(path, words)
            except VectorFileError as error:
                yield str(error)
            else:
                yield content(vectors)
        self._patch.setattr(text, "load_kernel", load)


def content(vectors: WordVectors) -> tuple[object, ...]:
    matrix = vectors.matrix
    return (
        *(matrix.view(np.uint32).tolist(), matrix.shape, list(vectors.rows.items())),
        *(vectors.duplicates, vectors.twins),
    )


FIELDS = st.sampled_from(
    ["1", "-0", "2.5", "1e-44", "nan", "1e39", "x", "", "0.1000000000000000055511151231", "16777217", "1_0"]
)
WORDS = st.sampled_from(["a", "b", "ä", "New York", ". .", "0.5", "7", "", " ", "\udcff", "日本"])
LINES = st.lists(
    st.tuples(WORDS, st.lists(FIELDS, min_size=1, max_size=4), st.sampled_from(["", " ", "\r", " \r", "\t"])),
    max_size=8,
)


@QUIET
@given(st.sampled_from(["", "3 2\n", "4 2 \n"]), LINES, st.sampled_from(["\n", ""]))
def test_hostile_text_is_read_alike(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    header: str,
    lines: list[tuple[str, list[str], str]],
    end: str,
) -> None:
    path = tmp_path / "v.txt"
    usual = [("a", ["1", "2"], ""), ("c", ["3", "4"], ""), ("d", ["3", "5"], "")]
    joined = "\n".join(
        f"{word} {' '.join(numbers)}{tail}" for word, numbers, tail in usual[: len(lines)] + lines
    )
    path.write_bytes((header + joined + end).encode("utf-8", "surrogateescape"))
    for words in (None, ["a", "b", "ä", "New York", "7"]):
        with monkeypatch.context() as patch:
            one, other = OneLoop(patch).outcomes(path, words)
        assert one == other


@QUIET
@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"", b"\n"]),
            st.one_of(
                st.sampled_from(
                    [b"a", b"a", b"a\t", b"\ra", "ä".encode(), b"\xff", b"x\xc3", b"\x01", b"", b"\n"]
                ),
                st.binary(max_size=5),
            ),
            st.sampled_from([1.0, -0.0, 1e-44, math.nan, math.inf]),
        ),
        max_size=6,
    ),
    st.integers(-1, 1),
    st.integers(0, 9),
)
def test_hostile_binary_content_is_read_alike(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    entries: list[tuple[bytes, bytes, float]],
    more: int,
    cut: int,
) -> None:
    path = tmp_path / "v.bin"
    body = b"".join(
        start + word + b" " + np.array([1, number], dtype="<f4").tobytes() for start, word, number in entries
    )
    whole = f"{len(entries) + 1 + more} 2\nfirst ".encode() + np.ones(2, dtype="<f4").tobytes() + body
    path.write_bytes(whole[: len(whole) - cut])
    with monkeypatch.context() as patch:
        one, other = OneLoop(patch).outcomes(path, None)
    assert one == other


def test_an_entry_at_the_end_of_the_buffer_is_left_for_the_next() -> None:
    entry = b"a " + np.ones(2, dtype="<f4").tobytes()
    matrix, words = np.empty((9, 2), dtype=np.float32), np.empty(99, dtype=np.uint8)
    printable = np.empty(9, np.bool_)
    for length in range(len(entry), 2 * len(entry)):
        buffer = np.frombuffer((2 * entry)[:length], np.uint8)
        assert read_entries(buffer, 0, matrix, words, printable) == (1, len(entry), 2)


def test_doubled_words_in_large_files(tmp_path: Path) -> None:
    rows = [f"w{number % 30_000} {number}.5 {number} 1 2 3 4 5 6" for number in range(50_000)]
    (tmp_path / "v.txt").write_text("\n".join(rows) + "\n")
    vectors = read_every_word(tmp_path / "v.txt")
    assert vectors.duplicates == 20_000
    assert vectors.matrix[:, 0].tolist() == [number + 0.5 for number in range(30_000)]
    assert list(vectors.rows) == [f"w{number}" for number in range(30_000)]
    with (tmp_path / "v.bin").open("wb") as file:
        file.write(b"50000 8\n")
        for number in range(50_000):
            file.write(f"w{number % 30_000} ".encode() + np.full(8, number, dtype="<f4").tobytes())
    vectors = read_every_word(tmp_path / "v.bin")
    assert vectors.duplicates == 20_000
    assert vectors.matrix[:, 7].tolist() == list(range(30_000))


@pytest.mark.parametrize("end", [0, 1, 700])
def test_unusual_words_of_files_larger_than_the_buffer(
    end: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Words of many lengths, so that the buffer ends at another place of an entry each time, and some that the loop
    # leaves to Python or that look like others; cut by `end` bytes.
    monkeypatch.setattr(text, "BLOCK", 20_000)
    unusual = {7: b"w8\t", 5_000: "ﬁne".encode(), 9_000: "日本".encode(), 9_999: b"fine", 10_100: b"w8"}
    words = [unusual.get(number, b"w%d" % number + b"x" * (number % 37)) for number in range(12_000)]
    body = b"".join(
        word + b" " + np.full(5, number, dtype="<f4").tobytes() for number, word in enumerate(words)
    )
    path = tmp_path / "v.bin"
    path.write_bytes(b"12000 5\n" + body[: len(body) - end])
    alone, compiled = OneLoop(monkeypatch).outcomes(path, None)
    assert alone == compiled
    if not end:
        vectors = read_every_word(path)
        assert vectors.matrix[:, 4].tolist() == list(range(12_000))
        assert vectors.twins == (("w8", "w8\t"), ("fine", "ﬁne"))
